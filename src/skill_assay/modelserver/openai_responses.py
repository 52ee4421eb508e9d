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
        tools=tuple(str(tool.get("name") or tool.get("type")) for tool in as_list(body.get("tools")) if kind_of(tool)),
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
    output = [_item(block, f"{ident}_{n}", done=True) for n, block in enumerate(blocks(turn))]
    return _response(turn, request, ident, output)


def stream(turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
    """The answer's server-sent events, with the pauses between them."""
    begun = _response(turn, request, ident, [])
    yield _event("response.created", response={**begun, "status": "in_progress", "usage": None})
    output: list[dict[str, Any]] = []
    for item in turn.items:
        if isinstance(item, Wait | Hang):
            yield item
            continue
        yield from _item_events(item, len(output), f"{ident}_{len(output)}")
        output.append(_item(item, f"{ident}_{len(output)}", done=True))
    yield _event("response.completed", response=_response(turn, request, ident, output))


def _item_events(block: Text | ToolUse, index: int, ident: str) -> Iterator[bytes]:
    yield _event("response.output_item.added", output_index=index, item=_item(block, ident, done=False))
    if isinstance(block, Text):
        for piece in pieces(block.text):
            yield _event("response.output_text.delta", output_index=index, item_id=ident, content_index=0, delta=piece)
    else:
        for piece in pieces(json.dumps(dict(block.input))):
            yield _event("response.function_call_arguments.delta", output_index=index, item_id=ident, delta=piece)
    yield _event("response.output_item.done", output_index=index, item=_item(block, ident, done=True))


def _item(block: Text | ToolUse, ident: str, *, done: bool) -> dict[str, Any]:
    status = "completed" if done else "in_progress"
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
