"""OpenAI Responses, as the scripted model server speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skill_assay.modelserver.openai_chat import failure
from skill_assay.modelserver.script import Hang, Received, Text, ToolUse, Turn, Wait
from skill_assay.modelserver.wire import as_list, blocks, catalogue_in, event, kind_of, pieces, said_text

__all__ = ["failure", "received", "speaks", "stream", "wants_stream", "whole"]

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def speaks(path: str) -> bool:
    """`…/responses`."""
    return path.endswith("/responses")


def wants_stream(request: Received) -> bool:
    """The body says."""
    return bool(request.body.get("stream"))


def received(path: str, headers: Mapping[str, str], body: Mapping[str, Any], text: str) -> Received:
    """What scripts ask about a request."""
    asked = body.get("input")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else as_list(asked)
    items = [item for item in items if isinstance(item, dict)]
    said = [_said(item) for item in items if item.get("role") == "user"]
    told = [_said(item) for item in items if item.get("role") in ("system", "developer")]
    system = "\n".join([str(body.get("instructions") or ""), *told])
    prompt = "\n".join(said)
    return Received(
        path=path,
        headers=headers,
        body=body,
        model=str(body.get("model", "")),
        prompt=prompt,
        last=said[-1] if said else "",
        system=system,
        rounds=_rounds(items),
        tools=tuple(str(tool.get("name") or tool["type"]) for tool in _tools(body)),
        catalogue=catalogue_in(system + "\n" + prompt),
        text=text,
    )


def _said(item: Mapping[str, Any]) -> str:
    return said_text(item.get("content"), ("input_text", "text"))


def _rounds(items: list[dict[str, Any]]) -> int:
    """Answers with calls: several calls in a row belong to one answer."""
    calls = [kind_of(item) in _CALLS for item in items]
    return sum(now and not before for before, now in zip([False, *calls], calls, strict=False))


def whole(turn: Turn, request: Received, ident: str) -> dict[str, Any]:
    """The answer in one piece."""
    programs = _programs(request)
    output = [_item(block, f"{ident}_{n}", programs, done=True) for n, block in enumerate(blocks(turn))]
    return _response(turn, request, ident, output)


def stream(turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
    """The answer's server-sent events, with the pauses between them."""
    begun = _response(turn, request, ident, [])
    yield _event("response.created", response={**begun, "status": "in_progress", "usage": None})
    output: list[dict[str, Any]] = []
    programs = _programs(request)
    for item in turn.items:
        if isinstance(item, Wait | Hang):
            yield item
            continue
        yield from _item_events(item, len(output), f"{ident}_{len(output)}", programs)
        output.append(_item(item, f"{ident}_{len(output)}", programs, done=True))
    yield _event("response.completed", response=_response(turn, request, ident, output))


def _item_events(block: Text | ToolUse, index: int, ident: str, programs: frozenset[str]) -> Iterator[bytes]:
    yield _event("response.output_item.added", output_index=index, item=_item(block, ident, programs, done=False))
    if isinstance(block, Text):
        for piece in pieces(block.text):
            yield _event("response.output_text.delta", output_index=index, item_id=ident, content_index=0, delta=piece)
    else:
        whole_input, kind = _input(block, programs)
        for piece in pieces(whole_input):
            yield _event(f"response.{kind}.delta", output_index=index, item_id=ident, delta=piece)
    yield _event("response.output_item.done", output_index=index, item=_item(block, ident, programs, done=True))


def _tools(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every tool offered: at the top, in an item of the conversation, or in a group of either."""
    more = [item for item in as_list(body.get("input")) if kind_of(item) == "additional_tools"]
    found = [tool for place in (body, *more) for tool in as_list(place.get("tools")) if kind_of(tool)]
    groups = [tool for tool in found if tool["type"] == "namespace"]
    inner = [tool for group in groups for tool in as_list(group.get("tools")) if kind_of(tool)]
    return [*(tool for tool in found if tool["type"] != "namespace"), *inner]


def _programs(request: Received) -> frozenset[str]:
    """The tools that take free text and no arguments."""
    return frozenset(str(tool.get("name")) for tool in _tools(request.body) if tool["type"] == "custom")


def _input(block: ToolUse, programs: frozenset[str]) -> tuple[str, str]:
    """A call's input as it is sent, and the event that carries it; for free text the argument `input` holds it."""
    if block.name in programs:
        return str(block.input.get("input", "")), "custom_tool_call_input"
    return json.dumps(dict(block.input)), "function_call_arguments"


def _item(block: Text | ToolUse, ident: str, programs: frozenset[str], *, done: bool) -> dict[str, Any]:
    status = "completed" if done else "in_progress"
    if isinstance(block, ToolUse) and block.name in programs:
        text = _input(block, programs)[0] if done else ""
        call = {"type": "custom_tool_call", "id": f"ctc_{ident}", "call_id": f"call_{ident}", "status": status}
        return {**call, "name": block.name, "input": text}
    if isinstance(block, ToolUse):
        arguments = json.dumps(dict(block.input)) if done else ""
        call = {"type": "function_call", "id": f"fc_{ident}", "call_id": f"call_{ident}"}
        return {**call, "name": block.name, "arguments": arguments, "status": status}
    content = [{"type": "output_text", "text": block.text, "annotations": []}] if done else []
    return {"type": "message", "id": f"msg_{ident}", "role": "assistant", "status": status, "content": content}


def _response(turn: Turn, request: Received, ident: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    used = turn.usage
    tokens_in = used.input + used.cache_read + used.cache_write
    usage = {
        "input_tokens": tokens_in,
        "input_tokens_details": {"cached_tokens": used.cache_read},
        "output_tokens": used.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": tokens_in + used.output,
    }
    head = {"id": f"resp_{ident}", "object": "response", "created_at": 1767225600, "model": request.model}
    return {**head, "status": "completed", "error": None, "output": output, "usage": usage}


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)
