"""Anthropic Messages, as the scripted model server speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from skill_assay.modelserver.script import Error, Hang, Item, Received, Text, ToolUse, Turn, Wait
from skill_assay.modelserver.wire import as_list, blocks, catalogue_in, event, kind_of, pieces, said_text

__all__ = ["failure", "models", "received", "speaks", "stream", "wants_stream", "whole"]

_ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ERROR_WORDS = {401: "invalid x-api-key", 429: "This request would exceed your rate limit", 529: "Overloaded"}


def speaks(path: str) -> bool:
    """`/v1/messages`."""
    return path == "/v1/messages"


def wants_stream(request: Received) -> bool:
    """The body says."""
    return bool(request.body.get("stream"))


def received(path: str, headers: Mapping[str, str], body: Mapping[str, Any], text: str) -> Received:
    """What scripts ask about a request."""
    messages = [message for message in as_list(body.get("messages")) if isinstance(message, dict)]
    said = [said_text(message.get("content")) for message in messages if message.get("role") == "user"]
    system = "\n".join(
        [said_text(body.get("system"))] + [said_text(m.get("content")) for m in messages if m.get("role") == "system"]
    )
    prompt = "\n".join(said)
    return Received(
        path=path,
        headers=headers,
        body=body,
        model=str(body.get("model", "")),
        prompt=prompt,
        last=said[-1] if said else "",
        system=system,
        rounds=sum(_calls_tool(message) for message in messages),
        tools=tuple(str(tool.get("name", "")) for tool in as_list(body.get("tools")) if isinstance(tool, dict)),
        catalogue=catalogue_in(system + "\n" + prompt),
        text=text,
    )


def _calls_tool(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    return (
        message.get("role") == "assistant"
        and isinstance(content, list)
        and any(kind_of(block) == "tool_use" for block in content)
    )


def failure(error: Error) -> dict[str, Any]:
    """The body of an HTTP error."""
    kind = _ERROR_TYPES.get(error.status, "api_error")
    words = error.message or _ERROR_WORDS.get(error.status, "Internal server error")
    return {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_scripted"}


def models(names: Iterable[str]) -> dict[str, Any]:
    """The list of models."""
    rows = [{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"} for name in names]
    return {"data": rows, "has_more": False, "first_id": rows[0]["id"] if rows else None}


def whole(turn: Turn, request: Received, ident: str) -> dict[str, Any]:
    """A whole answer, for a request that asked for no stream."""
    content = [_block(item, f"{ident}_{index}") for index, item in enumerate(blocks(turn))]
    return {**_head(request, ident), "content": content, "stop_reason": _stop(turn), "usage": _usage(turn)}


def stream(turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
    """The answer's server-sent events, with the pauses between them."""
    usage = {**_usage(turn), "output_tokens": 1}
    yield _event("message_start", message={**_head(request, ident), "usage": usage})
    index = 0
    for item in turn.items:
        if isinstance(item, Wait | Hang):
            yield item
            continue
        yield from _block_events(item, index, f"{ident}_{index}")
        index += 1
    delta = {"stop_reason": _stop(turn), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": turn.usage.output})
    yield _event("message_stop")


def _block_events(item: Text | ToolUse, index: int, ident: str) -> Iterator[bytes]:
    if isinstance(item, Text):
        empty: dict[str, Any] = {"type": "text", "text": ""}
        said, kind, key = item.text, "text_delta", "text"
    else:
        empty = {**_block(item, ident), "input": {}}
        said, kind, key = json.dumps(item.input), "input_json_delta", "partial_json"
    yield _event("content_block_start", index=index, content_block=empty)
    for piece in pieces(said):
        yield _event("content_block_delta", index=index, delta={"type": kind, key: piece})
    yield _event("content_block_stop", index=index)


def _block(item: Item, ident: str) -> dict[str, Any]:
    if isinstance(item, ToolUse):
        return {"type": "tool_use", "id": f"toolu_{ident}", "name": item.name, "input": dict(item.input)}
    return {"type": "text", "text": item.text if isinstance(item, Text) else ""}


def _head(request: Received, ident: str) -> dict[str, Any]:
    return {
        "id": f"msg_{ident}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _stop(turn: Turn) -> str:
    if turn.stop_reason:
        return turn.stop_reason
    return "tool_use" if any(isinstance(item, ToolUse) for item in turn.items) else "end_turn"


def _usage(turn: Turn) -> dict[str, int]:
    return {
        "input_tokens": turn.usage.input,
        "cache_creation_input_tokens": turn.usage.cache_write,
        "cache_read_input_tokens": turn.usage.cache_read,
        "output_tokens": turn.usage.output,
    }


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)
