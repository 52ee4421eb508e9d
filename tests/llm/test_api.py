"""Models over HTTP, against the scripted server, in both dialects."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from skill_assay.errors import FailureKind, InputError
from skill_assay.llm.base import Said
from skill_assay.modelserver import Error, Rule, Script, ToolUse, Turn, serve

pytest.importorskip("pydantic_ai", reason="the extra `api` is not installed")

from skill_assay.llm.api import ApiVoice

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def ask(provider: str, turn: Turn, model: str) -> tuple[Said, str]:
    with serve(Script((Rule((turn,)),))) as server:
        url = server.url if provider == "anthropic" else f"{server.url}/v1"
        said = anyio.run(ApiVoice(provider, model, url).say, "Is it so?", SCHEMA)
        return said, server.messages[0].prompt


@pytest.mark.parametrize(
    ("provider", "model", "tool"),
    [("anthropic", "claude-opus-4-1", "final_result"), ("openai", "gpt-4o", "final_result")],
)
def test_a_structured_reply_comes_with_its_bill(provider: str, model: str, tool: str) -> None:
    said, prompt = ask(provider, Turn((ToolUse(tool, {"ok": True}),)), model)
    assert said.failure is None and said.data == {"ok": True}
    assert "Is it so?" in prompt
    assert said.usage is not None and said.usage.tokens is not None and said.usage.tokens.total == 1242
    assert said.usage.cost_usd is not None and 0 < said.usage.cost_usd < 1


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_refusal_is_a_failure_of_its_kind(provider: str) -> None:
    said, _ = ask(provider, Turn(error=Error(401)), "some-model")
    assert said.failure is not None and said.failure.kind is FailureKind.NOT_SIGNED_IN


@pytest.mark.slow
def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    said = anyio.run(ApiVoice("openai", "m", "http://127.0.0.1:9/v1").say, "Is it so?", SCHEMA)
    assert said.failure is not None and said.failure.kind is FailureKind.CONNECTION


class Like:
    """A server that only resembles OpenAI's: it answers every request with what it is given."""

    def __init__(self, answer: bytes, *, pause: float = 0.0) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                with contextlib.suppress(OSError):
                    for byte in answer:
                        self.wfile.write(bytes((byte,)))
                        self.wfile.flush()
                        time.sleep(pause)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> str:
        self._thread.start()
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def answer(choices: Any = None, **usage: Any) -> bytes:
    called = {"name": "final_result", "arguments": '{"ok": true}'}
    message = {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": called}]}
    chosen = [{"index": 0, "finish_reason": "tool_calls", "message": message}] if choices is None else choices
    about = {"id": "1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": chosen}
    return json.dumps({**about, **({"usage": {"total_tokens": 9, **usage}} if usage else {})}).encode()


NO_USAGE = [
    answer(),
    answer(prompt_tokens=0, completion_tokens=0),
    answer(prompt_tokens=10**18, completion_tokens=5),
    answer(prompt_tokens=10**400, completion_tokens=5),
    answer(prompt_tokens=-10, completion_tokens=-5),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("odd", NO_USAGE, ids=["none", "nothing", "absurd", "huge", "negative"])
def test_fault_16_an_answer_without_a_bill_has_an_unknown_price_and_not_none(odd: bytes) -> None:
    with Like(odd) as url:
        said = anyio.run(ApiVoice("openai", "gpt-5", url).say, "Is it so?", SCHEMA)
    assert (said.data, said.failure, said.usage) == ({"ok": True}, None, None)


@pytest.mark.parametrize("odd", [b"", b"[]", b"null", b"<html>", b'{"id": "1"}', answer([]), answer({}), answer()[:90]])
def test_an_answer_that_makes_no_sense_is_a_failure_and_never_raises(odd: bytes) -> None:
    with Like(odd) as url:
        said = anyio.run(ApiVoice("openai", "gpt-5", url).say, "Is it so?", SCHEMA)
    assert said.data is None and said.failure is not None


def test_an_answer_that_never_ends_is_not_waited_for_for_ever() -> None:
    with Like(answer(), pause=1.0) as url:
        said = anyio.run(ApiVoice("openai", "gpt-5", url, seconds=0.5).say, "Is it so?", SCHEMA)
    assert said.failure is not None and said.failure.kind is FailureKind.CONNECTION


def test_what_is_missing_is_said_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY"):
        ApiVoice("anthropic", "claude-opus-4-1")
    with pytest.raises(InputError, match="No model"):
        ApiVoice("openai", "", "http://127.0.0.1:9/v1")
