"""The built-in agent and a server that goes away: what was not answered is no answer, and what was not asked is free."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest

pytest.importorskip("pydantic_ai", reason="the extra `api` is not installed")

from skill_assay.agents import api_program
from skill_assay.agents.api_parser import ApiParser
from skill_assay.agents.api_tools import Toolbox
from skill_assay.errors import Failure
from skill_assay.errors import FailureKind as Kind
from skill_assay.model.transcript import Tokens


def ask(model: str, address: str) -> Failure | None:
    task = {"model": model, "keys": {}, "address": address, "tools": True, "turns": [], "max_turns": None}
    return anyio.run(api_program._Agent({**task, "prompt": "x"}, [], Toolbox(Path(), [], {})).carry_out)


CHUNK = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USED = {"input_tokens": 5, "output_tokens": 1}
BEGUN = {"type": "message", "id": "m", "role": "assistant", "model": "m", "content": [], "usage": USED}
PART = {"id": "i", "type": "message", "role": "assistant", "content": [], "status": "in_progress"}
HALVES: dict[str, list[dict[str, Any]]] = {
    "openai": [{**CHUNK, "choices": [{"index": 0, "delta": {"content": "half an"}, "finish_reason": None}]}],
    "anthropic": [
        {"type": "message_start", "message": BEGUN},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "half an"}},
    ],
    "openai-responses": [
        {"type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": PART},
        {
            **{"type": "response.output_text.delta", "sequence_number": 2, "item_id": "i", "output_index": 0},
            **{"content_index": 0, "delta": "half an", "logprobs": []},
        },
    ],
}


@pytest.fixture
def stops_halfway() -> Iterator[Callable[[list[dict[str, Any]]], str]]:
    """A server that ends its stream in good order before the answer has ended."""
    lines = b""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(lines)))
            self.end_headers()
            self.wfile.write(lines)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()

    def says(events: list[dict[str, Any]]) -> str:
        nonlocal lines
        named = [(f"event: {event['type']}\n" if "type" in event else "", json.dumps(event)) for event in events]
        lines = "".join(f"{name}data: {data}\n\n" for name, data in named).encode()
        return f"http://127.0.0.1:{server.server_port}"

    yield says
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("provider", HALVES)
@pytest.mark.parametrize("empty", [False, True])
def test_half_an_answer_is_none_although_the_connection_was_closed_in_good_order(
    stops_halfway: Callable[[list[dict[str, Any]]], str], provider: str, empty: bool
) -> None:
    url = stops_halfway([] if empty else HALVES[provider])
    address = url if provider == "anthropic" else f"{url}/v1"
    failure = ask(f"{provider}:m", address)
    assert failure is not None and failure.kind is Kind.CONNECTION


def test_an_end_without_a_reason_is_one_where_tokens_are_counted(
    stops_halfway: Callable[[list[dict[str, Any]]], str],
) -> None:
    used = {**CHUNK, "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}
    assert ask("openai:m", f"{stops_halfway([*HALVES['openai'], used])}/v1") is None


def test_a_server_that_is_not_there_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[tuple[str, Any]] = []
    monkeypatch.setattr(api_program, "_print", lambda kind, **fields: printed.append((kind, fields)))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        failure = ask("openai:m", address)
    assert failure is not None and failure.kind is Kind.CONNECTION
    assert printed == [("usage", {"tokens": {"input": 0, "output": 0}})]


def test_fault_16_one_answer_of_an_unknown_price_leaves_the_whole_price_unknown(
    stops_halfway: Callable[[list[dict[str, Any]]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sum of the others would be told as the bill, and a budget would take it for one."""
    told = {"tokens": {"input": 5, "output": 2}, "turns": 1}
    printed: list[tuple[str, Any]] = [("started", {"assay": 1, "model": "openai:gpt-5"}), ("usage", told)]
    monkeypatch.setattr(api_program, "_print", lambda kind, **fields: printed.append((kind, fields)))
    failure = ask("openai:m", f"{stops_halfway(HALVES['openai'])}/v1")
    assert failure is not None
    usages, parsers = [], (ApiParser(), ApiParser())
    for parser, lines in zip(parsers, (printed[:2], printed), strict=True):
        for kind, fields in lines:
            list(parser.feed(json.dumps({"type": kind, **fields}).encode()))
        usages.append(parser.end(1, "").usage)
    assert usages[0].tokens == Tokens(5, 2) and usages[0].cost_usd
    assert (usages[1].tokens, usages[1].cost_usd, usages[1].turns) == (None, None, 2)
