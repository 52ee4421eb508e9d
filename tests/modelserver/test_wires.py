"""Each wire protocol says the same turn, and tells scripts the same about a request."""

from __future__ import annotations

import http.client
import json
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import pytest

from skill_assay.model.transcript import Tokens
from skill_assay.modelserver import Error, ModelServer, Rule, Script, Text, ToolUse, Turn, serve
from skill_assay.modelserver.wire import catalogue_in

SAID = "Now I read the skill, from its beginning."
CALL = {"path": "x/SKILL.md"}
TURNS = (Turn((Text(SAID), ToolUse("read", CALL)), usage=Tokens(10, 20, 30, 40)), Turn((Text("Done."),)))


def responses(rounds: int, stream: bool) -> tuple[str, dict[str, Any]]:
    call = {"type": "function_call", "name": "read", "arguments": "{}"}
    result = {"type": "function_call_output", "output": "ok"}
    items: list[dict[str, Any]] = [{"role": "developer", "content": "rules"}]
    items.append({"role": "user", "content": [{"type": "input_text", "text": "hello"}]})
    for number in range(rounds):
        # Two calls of one answer are one round.
        items += [{**call, "call_id": f"{number}a"}, {**call, "call_id": f"{number}b"}, result, result]
    tools = [{"type": "function", "name": "read"}]
    return "/v1/responses", {"model": "m", "input": items, "stream": stream, "tools": tools}


def chat(rounds: int, stream: bool) -> tuple[str, dict[str, Any]]:
    call = [{"id": "c", "function": {"name": "read", "arguments": "{}"}}]
    messages: list[dict[str, Any]] = [{"role": "system", "content": "rules"}, {"role": "user", "content": "hello"}]
    for _ in range(rounds):
        messages += [{"role": "assistant", "tool_calls": call}, {"role": "tool", "content": "ok"}]
    tools = [{"type": "function", "function": {"name": "read"}}]
    return "/v1/chat/completions", {"model": "m", "messages": messages, "stream": stream, "tools": tools}


def gemini(rounds: int, stream: bool) -> tuple[str, dict[str, Any]]:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "hello"}]}]
    for _ in range(rounds):
        contents.append({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {}}}]})
        contents.append({"role": "user", "parts": [{"functionResponse": {"name": "read", "response": {}}}]})
    verb = "streamGenerateContent?alt=sse" if stream else "generateContent"
    body = {"contents": contents, "systemInstruction": {"parts": [{"text": "rules"}]}}
    return f"/v1beta/models/m:{verb}", {**body, "tools": [{"functionDeclarations": [{"name": "read"}]}]}


def anthropic(rounds: int, stream: bool) -> tuple[str, dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    for _ in range(rounds):
        messages.append(
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "read", "input": {}}]}
        )
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]})
    body = {"model": "m", "system": "rules", "messages": messages, "stream": stream, "tools": [{"name": "read"}]}
    return "/v1/messages", body


def told(raw: str) -> list[dict[str, Any]]:
    parts = [part.split("data: ", 1)[1] for part in raw.split("\n\n") if "data: " in part]
    return [json.loads(part) for part in parts if part != "[DONE]"]


def read_responses(answer: dict[str, Any], events: list[dict[str, Any]]) -> tuple[str, Any, int]:
    if events:
        text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        answer = events[-1]["response"]
        assert [event["type"] for event in events][:1] == ["response.created"]
        assert text == answer["output"][0]["content"][0]["text"]
    text = answer["output"][0]["content"][0]["text"]
    calls = [json.loads(item["arguments"]) for item in answer["output"] if item["type"] == "function_call"]
    return text, calls, answer["usage"]["total_tokens"]


def read_chat(answer: dict[str, Any], events: list[dict[str, Any]]) -> tuple[str, Any, int]:
    if not events:
        message = answer["choices"][0]["message"]
        calls = [json.loads(call["function"]["arguments"]) for call in message.get("tool_calls", [])]
        return message["content"], calls, answer["usage"]["total_tokens"]
    deltas = [event["choices"][0]["delta"] for event in events if event["choices"]]
    pieces = [call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", [])]
    text = "".join(delta.get("content") or "" for delta in deltas)
    return text, [json.loads("".join(pieces))] if pieces else [], events[-1]["usage"]["total_tokens"]


def read_gemini(answer: dict[str, Any], events: list[dict[str, Any]]) -> tuple[str, Any, int]:
    parts = [part for one in events or [answer] for part in one["candidates"][0]["content"]["parts"]]
    calls = [part["functionCall"]["args"] for part in parts if "functionCall" in part]
    used = (events or [answer])[-1]["usageMetadata"]["totalTokenCount"]
    return "".join(part.get("text", "") for part in parts), calls, used


def read_anthropic(answer: dict[str, Any], events: list[dict[str, Any]]) -> tuple[str, Any, int]:
    if not events:
        usage = answer["usage"]
        text, calls = answer["content"][0]["text"], [block["input"] for block in answer["content"][1:]]
    else:
        usage = {**events[0]["message"]["usage"], **events[-2]["usage"]}
        deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        text = "".join(delta.get("text", "") for delta in deltas)
        pieces = "".join(delta.get("partial_json", "") for delta in deltas)
        calls = [json.loads(pieces)] if pieces else []
    return text, calls, sum(usage.values())


WIRES = {
    "anthropic": (anthropic, read_anthropic),
    "responses": (responses, read_responses),
    "chat": (chat, read_chat),
    "gemini": (gemini, read_gemini),
}


def ask(server: ModelServer, path: str, body: dict[str, Any]) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.request("POST", path, json.dumps(body))
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("name", WIRES)
def test_a_turn_is_said_whole_and_the_request_is_understood(name: str, stream: bool) -> None:
    build, read = WIRES[name]
    with serve(Script((Rule(TURNS),))) as server:
        said = []
        for rounds in (0, 1, 3):
            status, raw = ask(server, *build(rounds, stream))
            assert status == 200
            said.append(read({}, told(raw)) if stream else read(json.loads(raw), []))
        requests = server.messages
    assert said[0] == (SAID, [CALL], 100)
    assert said[1] == said[2] == ("Done.", [], 1242)
    assert [request.rounds for request in requests] == [0, 1, 3]
    for request in requests:
        assert (request.model, request.prompt.strip(), request.tools) == ("m", "hello", ("read",))
        assert "rules" in request.system


@pytest.mark.parametrize("name", WIRES)
def test_an_error_is_said_in_the_protocols_own_words(name: str) -> None:
    build, _ = WIRES[name]
    with serve(Script((Rule((Turn(error=Error(429, "slow down")),)),))) as server:
        status, raw = ask(server, *build(0, True))
    assert status == 429 and json.loads(raw)["error"]["message"] == "slow down"


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("body", [{}, {"input": 3, "messages": {}, "contents": [1], "tools": [1, {}], "system": 1}])
def test_a_strange_body_gets_an_answer(name: str, body: dict[str, Any]) -> None:
    build, _ = WIRES[name]
    with serve(Script((Rule((Turn((Text("x"),)),)),))) as server:
        assert ask(server, build(0, False)[0], body)[0] == 200


@pytest.mark.parametrize(
    "text",
    [
        "The following skills are available for use with the Skill tool:\n\n- pdf: Fills forms.\n- p:csv: Tables.\n\nx",
        "## Skills\n### Available skills\n- pdf: Fills forms.\n- p:csv: Tables.\n</skills>\n- other: no",
        "<available_skills>\n<skill><name>pdf</name><description>Fills forms.</description></skill>\n"
        "<skill>\n<name>\np:csv\n</name>\n<description>\nTables.\n</description>\n</skill></available_skills>"
        "<name>other</name><description>no</description>",
    ],
)
def test_the_catalogue_is_read_as_each_cli_lists_it(text: str) -> None:
    assert catalogue_in(text) == {"pdf": "Fills forms.", "p:csv": "Tables."}


@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_takes_a_program_is_called_with_text(stream: bool) -> None:
    """Codex's models are offered one, in a group of tools, in an item of the conversation."""
    group = {"type": "namespace", "name": "functions", "tools": [{"type": "custom", "name": "exec"}]}
    offered = {"type": "additional_tools", "tools": [group, {"type": "function", "name": "wait"}]}
    body = {"model": "m", "input": [offered, {"role": "user", "content": "hello"}], "stream": stream}
    with serve(Script((Rule((Turn((ToolUse("exec", {"input": "text(1 + 1)"}),)),)),))) as server:
        request = urllib.request.Request(f"{server.url}/v1/responses", json.dumps(body).encode())
        answer = urllib.request.urlopen(request).read().decode()
        assert server.messages[0].tools == ("wait", "exec")
    assert '"custom_tool_call"' in answer and '"input": "text(1 + 1)"' in answer
    assert "function_call_arguments" not in answer
