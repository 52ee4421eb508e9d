"""Gemini `generateContent` and `streamGenerateContent`, as the scripted model server speaks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skill_assay.modelserver.script import Error, Hang, Received, Text, ToolUse, Turn, Wait
from skill_assay.modelserver.wire import as_list, blocks, catalogue_in, event, pieces

__all__ = ["failure", "received", "speaks", "stream", "wants_stream", "whole"]

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
}
_STOPS = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def speaks(path: str) -> bool:
    """`…/models/NAME:generateContent` and its streaming kin."""
    return path.endswith((":generateContent", ":streamGenerateContent"))


def wants_stream(request: Received) -> bool:
    """The path says."""
    return request.path.endswith(":streamGenerateContent")


def failure(error: Error) -> dict[str, Any]:
    """The body of an HTTP error."""
    status = _STATUSES.get(error.status, "INTERNAL")
    return {"error": {"code": error.status, "message": error.message or status, "status": status}}


def received(path: str, headers: Mapping[str, str], body: Mapping[str, Any], text: str) -> Received:
    """What scripts ask about a request."""
    contents = [content for content in as_list(body.get("contents")) if isinstance(content, dict)]
    asked = [content for content in contents if content.get("role") != "model"]
    said = [_said(content) for content in asked if not _holds(content, "functionResponse")]
    told = body.get("systemInstruction") or body.get("system_instruction")
    system, prompt = _said(told) if isinstance(told, dict) else "", "\n".join(said)
    tools = [tool for group in as_list(body.get("tools")) if isinstance(group, dict) for tool in _declared(group)]
    described = "\n".join(str(tool.get("description", "")) for tool in tools)
    return Received(
        path=path,
        headers=headers,
        body=body,
        model=path.rpartition("/")[2].partition(":")[0],
        prompt=prompt,
        last=said[-1] if said else "",
        system=system,
        rounds=sum(content.get("role") == "model" and _holds(content, "functionCall") for content in contents),
        tools=tuple(str(tool.get("name", "")) for tool in tools),
        catalogue=catalogue_in("\n".join((system, prompt, described))),
        text=text,
    )


def _declared(group: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    declared = group.get("functionDeclarations") or group.get("function_declarations")
    return [tool for tool in as_list(declared) if isinstance(tool, dict)]


def _said(content: Mapping[str, Any]) -> str:
    parts = [part for part in as_list(content.get("parts")) if isinstance(part, dict)]
    return "\n".join(str(part["text"]) for part in parts if "text" in part)


def _holds(content: Mapping[str, Any], what: str) -> bool:
    return any(isinstance(part, dict) and what in part for part in as_list(content.get("parts")))


def whole(turn: Turn, request: Received, ident: str) -> dict[str, Any]:
    """The answer in one piece."""
    return _answer(turn, request, ident, [_part(block) for block in blocks(turn)], last=True)


def stream(turn: Turn, request: Received, ident: str) -> Iterator[bytes | Wait | Hang]:
    """The answer's server-sent events, with the pauses between them."""
    for item in turn.items:
        match item:
            case Wait() | Hang():
                yield item
            case Text(text):
                for piece in pieces(text):
                    yield event(_answer(turn, request, ident, [{"text": piece}], last=False))
            case ToolUse():
                yield event(_answer(turn, request, ident, [_part(item)], last=False))
    yield event(_answer(turn, request, ident, [{"text": ""}], last=True))


def _part(block: Text | ToolUse) -> dict[str, Any]:
    if isinstance(block, ToolUse):
        return {"functionCall": {"name": block.name, "args": dict(block.input)}}
    return {"text": block.text}


def _answer(turn: Turn, request: Received, ident: str, parts: list[dict[str, Any]], *, last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": request.model, "responseId": ident}
    if last:
        tokens_in = turn.usage.input + turn.usage.cache_read + turn.usage.cache_write
        candidate["finishReason"] = _STOPS.get(turn.stop_reason or "", "STOP")
        answer["usageMetadata"] = {
            "promptTokenCount": tokens_in,
            "cachedContentTokenCount": turn.usage.cache_read,
            "candidatesTokenCount": turn.usage.output,
            "totalTokenCount": tokens_in + turn.usage.output,
        }
    return answer
