"""OpenAI Chat Completions, as the scripted model server speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skill_assay.modelserver.script import Error, Hang, Received, Text, ToolUse, Turn, Wait
from skill_assay.modelserver.wire import as_list, blocks, catalogue_in, event, pieces, said_text

__all__ = ["failure", "received", "speaks", "stream", "wants_stream", "whole"]

_ERROR_TYPES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
_STOPS = {"max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}


def speaks(path: str) -> bool:
    """`…/chat/completions`."""
    return path.endswith("/chat/completions")


def wants_stream(request: Received) -> bool:
    """The body says."""
    return bool(request.body.get("stream"))


def failure(error: Error) -> dict[str, Any]:
    """The body of an HTTP error."""
    kind = _ERROR_TYPES.get(error.status, "server_error" if error.status >= 500 else "invalid_request_error")
    return {"error": {"message": error.message or kind, "type": kind, "code": kind, "param": None}}


def received(path: str, headers: Mapping[str, str], body: Mapping[str, Any], text: str) -> Received:
    """What scripts ask about a request."""
    messages = [message for message in as_list(body.get("messages")) if isinstance(message, dict)]
    said = [said_text(message.get("content")) for message in messages if message.get("role") == "user"]
    told = [said_text(message.get("content")) for message in messages if message.get("role") in ("system", "developer")]
    tools = [tool.get("function") for tool in as_list(body.get("tools")) if isinstance(tool, dict)]
    system, prompt = "\n".join(told), "\n".join(said)
    described = "\n".join(str(tool.get("description", "")) for tool in tools if isinstance(tool, dict))
    return Received(
        path=path,
        headers=headers,
        body=body,
        model=str(body.get("model", "")),
        prompt=prompt,
        last=said[-1] if said else "",
        system=system,
        rounds=sum(bool(message.get("tool_calls")) for message in messages if message.get("role") == "assistant"),
        tools=tuple(str(tool.get("name", "")) for tool in tools if isinstance(tool, dict)),
        catalogue=catalogue_in("\n".join((system, prompt, described))),
        text=text,
    )


def whole(turn: Turn, request: Received, ident: str) -> dict[str, Any]:
    """The answer in one piece."""
    texts = [block.text for block in blocks(turn) if isinstance(block, Text)]
    calls = [_call(block, ident, n) for n, block in enumerate(_calls(turn))]
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    if calls:
        message["tool_calls"] = calls
    choice = {"index": 0, "message": message, "finish_reason": _stop(turn)}
    return {**_head(request, ident, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def stream(turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
    """The answer's server-sent events, with the pauses between them."""
    head = _head(request, ident, "chat.completion.chunk")
    yield _chunk(head, {"role": "assistant", "content": ""})
    calls = 0
    for item in turn.items:
        match item:
            case Wait() | Hang():
                yield item
            case Text(text):
                for piece in pieces(text):
                    yield _chunk(head, {"content": piece})
            case ToolUse():
                yield from _call_chunks(head, item, ident, calls)
                calls += 1
    yield _chunk(head, {}, _stop(turn))
    yield event({**head, "choices": [], "usage": _usage(turn)})
    yield b"data: [DONE]\n\n"


def _call_chunks(head: Mapping[str, Any], call: ToolUse, ident: str, number: int) -> Iterator[bytes]:
    named = _call(call, ident, number)
    begun = {**named, "function": {"name": call.name, "arguments": ""}, "index": number}
    yield _chunk(head, {"tool_calls": [begun]})
    for piece in pieces(named["function"]["arguments"]):
        yield _chunk(head, {"tool_calls": [{"index": number, "function": {"arguments": piece}}]})


def _chunk(head: Mapping[str, Any], delta: Mapping[str, Any], stop: str | None = None) -> bytes:
    return event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})


def _calls(turn: Turn) -> list[ToolUse]:
    return [block for block in blocks(turn) if isinstance(block, ToolUse)]


def _call(call: ToolUse, ident: str, number: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(dict(call.input))}
    return {"id": f"call_{ident}_{number}", "type": "function", "function": function}


def _head(request: Received, ident: str, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{ident}", "object": kind, "created": 1767225600, "model": request.model}


def _stop(turn: Turn) -> str:
    if turn.stop_reason:
        return _STOPS.get(turn.stop_reason, "stop")
    return "tool_calls" if _calls(turn) else "stop"


def _usage(turn: Turn) -> dict[str, Any]:
    tokens_in = turn.usage.input + turn.usage.cache_read + turn.usage.cache_write
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": turn.usage.output,
        "total_tokens": tokens_in + turn.usage.output,
        "prompt_tokens_details": {"cached_tokens": turn.usage.cache_read},
    }
