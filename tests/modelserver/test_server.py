"""The scripted model server, asked over its own sockets."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

from skill_assay.model.transcript import Tokens
from skill_assay.modelserver import (
    Cut,
    Error,
    Hang,
    ModelServer,
    Received,
    Rule,
    Script,
    Text,
    ToolUse,
    Turn,
    Wait,
    serve,
)

CATALOGUE = "The following skills are available for use with the Skill tool:\n\n- pdf: Fills: forms.\n- p:csv\n\nToday"


def ask(server: ModelServer, *messages: dict[str, Any], stream: bool = True, path: str = "/v1/messages", **body: Any):
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    fields = {"model": "m", "messages": list(messages) or [user("hello")], "stream": stream, **body}
    connection.request("POST", path, json.dumps(fields), {"x-api-key": "dummy"})
    return connection.getresponse()


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def round_trip(number: int) -> list[dict[str, Any]]:
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}]}
    return [call, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}]}]


def events(raw: bytes) -> list[dict[str, Any]]:
    return [json.loads(part.split("data: ", 1)[1]) for part in raw.decode().split("\n\n") if "data: " in part]


def text_of(raw: bytes) -> str:
    return "".join(event["delta"].get("text", "") for event in events(raw) if event["type"] == "content_block_delta")


def serving(*turns: Turn) -> Any:
    return serve(Script((Rule(turns),)))


def test_a_stream_tells_text_tool_call_stop_and_usage() -> None:
    turn = Turn((Text("word " * 20), ToolUse("Skill", {"skill": "pdf"})), usage=Tokens(10, 20, 30, 40))
    with serving(turn) as server:
        told = events(ask(server).read())
    assert [told[0]["type"], told[-2]["type"], told[-1]["type"]] == ["message_start", "message_delta", "message_stop"]
    assert told[0]["message"]["usage"]["cache_read_input_tokens"] == 30
    assert told[-2]["delta"]["stop_reason"] == "tool_use" and told[-2]["usage"] == {"output_tokens": 20}
    deltas = [event["delta"] for event in told if event["type"] == "content_block_delta"]
    assert "".join(delta.get("text", "") for delta in deltas) == "word " * 20
    assert json.loads("".join(delta.get("partial_json", "") for delta in deltas)) == {"skill": "pdf"}
    assert len(deltas) > 3


def test_without_a_stream_the_same_answer_comes_whole() -> None:
    with serving(Turn((Text("a"), ToolUse("Bash", {"command": "ls"})))) as server:
        message = json.loads(ask(server, stream=False).read())
    assert [block["type"] for block in message["content"]] == ["text", "tool_use"]
    assert message["stop_reason"] == "tool_use"


def test_the_turn_follows_from_the_rounds_so_a_repeated_request_gets_the_same_answer() -> None:
    with serving(Turn((Text("one"),)), Turn((Text("two"),)), Turn((Text("last"),))) as server:
        rounds = [[message for number in range(n) for message in round_trip(number)] for n in (0, 1, 1, 0, 2, 9)]
        said = [text_of(ask(server, user("x"), *messages).read()) for messages in rounds]
    assert said == ["one", "two", "two", "one", "last", "last"]


def test_rules_choose_by_prompt_catalogue_tools_and_code() -> None:
    def route(request: Received) -> tuple[Turn, ...] | None:
        chosen = next((name for name, about in request.catalogue.items() if "forms" in about), None)
        return (Turn((Text(f"use {chosen}"),)),) if chosen else None

    rules = (
        Rule((Turn((Text("sub"),)),), prompt="SUBTASK"),
        Rule((Turn((Text("has csv"),)),), skill="p:csv", last="table"),
        Rule(router=route),
        Rule((Turn((Text("tool"),)),), tool="Bash"),
        Rule((Turn((Text("without"),)),), without="pdf"),
    )
    with serve(Script(rules)) as server:
        assert text_of(ask(server, user("SUBTASK"), user(CATALOGUE)).read()) == "sub"
        assert text_of(ask(server, user(CATALOGUE), user("a table")).read()) == "has csv"
        assert text_of(ask(server, user(CATALOGUE)).read()) == "use pdf"
        assert text_of(ask(server, tools=[{"name": "Bash"}]).read()) == "tool"
        assert text_of(ask(server).read()) == "without"


def test_everything_received_is_kept_with_its_headers() -> None:
    with serving(Turn((Text("x"),))) as server:
        ask(
            server, {"role": "system", "content": CATALOGUE}, user("hello"), system=[{"type": "text", "text": "S"}]
        ).read()
        (request,) = server.requests
    assert request.headers["x-api-key"] == "dummy"
    assert dict(request.catalogue) == {"pdf": "Fills: forms.", "p:csv": ""}
    assert (request.prompt, request.model, request.path) == ("hello", "m", "/v1/messages")
    assert request.system.startswith("S") and '"hello"' in request.text


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
def test_errors_carry_status_and_retry_after(status: int) -> None:
    with serving(Turn(error=Error(status, retry_after=7))) as server:
        answer = ask(server)
        assert (answer.status, answer.getheader("retry-after")) == (status, "7")
        assert json.loads(answer.read())["type"] == "error"


def test_an_error_limited_in_number_gives_way() -> None:
    with serving(Turn((Text("fine"),), error=Error(529, count=2))) as server:
        assert [ask(server).status for _ in range(4)] == [529, 529, 200, 200]


@pytest.mark.parametrize("after", [1, 4])
def test_a_cut_stream_ends_in_the_middle(after: int) -> None:
    with serving(Turn((Text("never whole " * 9),), cut=Cut(after))) as server:
        answer = ask(server)
        with pytest.raises(http.client.IncompleteRead) as broken:
            answer.read()
    assert len(events(broken.value.partial)) == after


def test_a_cut_before_the_first_byte_and_of_a_whole_answer() -> None:
    with serving(Turn((Text("x"),), cut=Cut(0))) as server:
        for stream in (True, False):
            with pytest.raises((http.client.RemoteDisconnected, ConnectionResetError)):
                ask(server, stream=stream)


def test_a_hang_ends_with_the_server_and_waits_take_their_time() -> None:
    with serving(Turn((Wait(0.05), Text("slow"), Hang(), Text("never")))) as server:
        begin = time.monotonic()
        answer = ask(server)
        first = [answer.readline() for _ in range(9)]
        assert b"slow" in b"".join(first) and time.monotonic() - begin >= 0.05
        before = threading.active_count()
    for _ in range(100):
        if threading.active_count() < before:
            break
        time.sleep(0.02)
    assert threading.active_count() < before


def test_eight_clients_at_once_each_get_their_own_answer() -> None:
    rules = tuple(Rule((Turn((Wait(0.02), Text(f"answer {n}"))),), last=f"question {n}.") for n in range(8))

    def one(number: int) -> list[str]:
        return [text_of(ask(server, user(f"question {number}.")).read()) for _ in range(5)]

    with serve(Script(rules)) as server, ThreadPoolExecutor(8) as pool:
        said = list(pool.map(one, range(8)))
        assert len(server.messages) == 40
    assert said == [[f"answer {n}"] * 5 for n in range(8)]


def test_tokens_models_and_unknown_paths() -> None:
    with serving(Turn((Text("x"),))) as server:
        assert json.loads(ask(server, path="/v1/messages/count_tokens").read())["input_tokens"] > 5
        assert ask(server, path="/v1/other").status == 404
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["data"][0]["id"]
        assert [request.path for request in server.messages] == []


def test_strange_bodies_get_an_answer() -> None:
    with serving(Turn((Text("x"),))) as server:
        for body in (
            b"",
            b"[]",
            b"{",
            b"\xff",
            b'{"messages": "x"}',
            b'{"messages": 5}',
            b'{"messages": [1], "tools": [2], "system": 3}',
        ):
            connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
            connection.request("POST", "/v1/messages", body)
            assert connection.getresponse().status == 200


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    before = {thread.name for thread in threading.enumerate()}
    yield
    left = {thread.name for thread in threading.enumerate()} - before
    assert "scripted model" not in left
