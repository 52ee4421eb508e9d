"""The built-in agent: how it is launched, what its program prints, what is read of that."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("pydantic_ai", reason="the extra `api` is not installed")

from skill_assay.agents import api, api_program
from skill_assay.agents.api import Api
from skill_assay.agents.api_model import MOVABLE
from skill_assay.agents.api_parser import ApiParser
from skill_assay.agents.api_tools import Toolbox
from skill_assay.agents.environment import DUMMY_KEY
from skill_assay.agents.process import run
from skill_assay.agents.registry import signed_in
from skill_assay.errors import FailureKind as Kind
from skill_assay.errors import InputError
from skill_assay.llm.api import ApiVoice
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.transcript import Finished, SkillUse, Text, Tokens, ToolCall, ToolResult
from skill_assay.modelserver import Cut, Error, ModelServer, Rule, Script, ToolUse, Turn, serve
from skill_assay.modelserver import Text as Said
from skill_assay.runner.judging import make_voice
from skill_assay.runner.sandbox import NoSandbox

PROVIDERS = ("anthropic", "openai", "openai-responses")
DONE = Turn((Said("All done."),))
KEY = "sk-made-up-for-this-test"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path, *(tmp_path / name for name in ("work", "home", "config", "tmp")))
    for folder in (found.work, found.home, found.config, found.tmp):
        folder.mkdir()
    skill = found.work / ".agents" / "skills" / "sing"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: sing\ndescription: Sings.\n---\nSing LOUD.\n", encoding="utf-8")
    return found


def request(place: Place, **more: Any) -> Request:
    values: dict[str, Any] = {"model": "openai:gpt-4o", **more}
    return Request("Sing.", place, str(place.work), str(place.home), str(place.tmp), **values)


Asked = Callable[..., tuple[list[Any], Finished, ModelServer]]


@pytest.fixture
def ask(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """The program within this process, so that its libraries are imported once."""
    monkeypatch.chdir(place.work)
    lines: list[bytes] = []

    def keep(kind: str, /, **fields: Any) -> None:
        lines.append(json.dumps({"type": kind, **{k: v for k, v in fields.items() if v is not None}}).encode())

    monkeypatch.setattr(api_program, "_print", keep)

    def asked(
        provider: str, *turns: Turn, named: str = "gpt-4o", **more: Any
    ) -> tuple[list[Any], Finished, ModelServer]:
        with serve(Script((Rule(turns),))) as server:
            launch = Api(env={"PATH": os.environ["PATH"]}).launch(
                request(place, model=f"{provider}:{named}", base_url=server.url, **more)
            )
            task = json.loads(launch.stdin or b"")
            skills = api_program.find_skills(place.work)
            lines.clear()
            keep("started", assay=1, model=task["model"])
            agent = api_program._Agent(task, skills, Toolbox(place.work, skills, dict(launch.env)))
            failure = anyio.run(agent.carry_out)
            if failure is not None:
                told = {"kind": str(failure.kind), "message": failure.message, "status": failure.status}
                keep("error", **told, retry_after=failure.retry_after)
            parser = ApiParser(work=str(place.work), home=str(place.home))
            events = [event for line in lines for event in parser.feed(line)]
            return events, parser.end(1 if failure else 0, ""), server

    yield asked


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
def test_it_acts_and_answers(ask: Asked, place: Place, provider: str) -> None:
    used = Tokens(1000, 50, 200, 100)
    turns = [
        Turn((Said("First the skill."), ToolUse("skill", {"name": "sing"})), usage=used),
        Turn((ToolUse("write", {"path": "a", "content": "A"}), ToolUse("bash", {"command": "cat a"})), usage=used),
        Turn((ToolUse("read", {"path": ".agents/skills/sing/SKILL.md"}),), usage=used),
        dataclasses.replace(DONE, usage=used),
    ]
    events, finished, server = ask(provider, *turns)
    assert finished.answer == "All done." and finished.failure is None
    uses = [(use.name, use.how, use.confirmed) for use in events if isinstance(use, SkillUse)]
    assert uses == [("sing", "tool", True), ("sing", "read", True)]
    assert [call.name for call in events if isinstance(call, ToolCall)] == ["skill", "write", "bash", "read"]
    assert [event.text for event in events if isinstance(event, Text)] == ["First the skill.", "All done."]
    assert (place.work / "a").read_text(encoding="utf-8") == "A"
    assert "Sing LOUD." in server.messages[1].text
    tokens = finished.usage.tokens
    assert tokens is not None and tokens.total == 4 * used.total and tokens.cache_read == 800
    assert finished.usage.turns == 4
    if provider != "anthropic":
        assert finished.usage.cost_usd is not None and 0 < finished.usage.cost_usd < 1
    assert finished.models == ("gpt-4o",)


@pytest.mark.slow
@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("turn", "kind", "status"),
    [
        (Turn(error=Error(400, "prompt is too long: 300000 tokens > 200000 maximum")), Kind.BAD_REQUEST, 400),
        (Turn(error=Error(401, "no")), Kind.NOT_SIGNED_IN, 401),
        (Turn(error=Error(403, "no")), Kind.NOT_SIGNED_IN, 403),
        (Turn(error=Error(404, "no such model")), Kind.UNKNOWN_MODEL, 404),
        (Turn(error=Error(500, "broken")), Kind.SERVER_ERROR, 500),
        (Turn(error=Error(529, "busy")), Kind.OVERLOADED, 529),
        (Turn((Said("half an answer, " * 9),), cut=Cut(4)), Kind.CONNECTION, None),
        (Turn(cut=Cut(0)), Kind.CONNECTION, None),
    ],
    ids=["too-long", "401", "403", "404", "500", "529", "cut", "dropped"],
)
def test_a_failure_is_named_by_the_table_and_not_repeated(
    ask: Asked, provider: str, turn: Turn, kind: Kind, status: int | None
) -> None:
    _, finished, server = ask(provider, turn)
    assert finished.answer is None
    assert finished.failure is not None
    assert (finished.failure.kind, finished.failure.status) == (kind, status)
    assert len(server.messages) == 1
    if status is not None:
        # What was refused was not billed, and is not charged by what a trial usually costs.
        assert finished.usage.cost_usd == 0.0 and finished.usage.tokens == Tokens() and not finished.models


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_rate_limit_is_told_with_its_wait(ask: Asked, provider: str) -> None:
    _, finished, server = ask(provider, Turn(error=Error(429, "slow down", retry_after=7)))
    assert finished.failure is not None and finished.failure.kind is Kind.RATE_LIMITED
    assert finished.failure.retry_after == 7 and "slow down" in finished.failure.message
    assert len(server.messages) == 1


def test_no_credit_is_told_from_a_bad_request(ask: Asked) -> None:
    _, finished, _ = ask("anthropic", Turn(error=Error(400, "Your credit balance is too low to access the API")))
    assert finished.failure is not None and finished.failure.kind is Kind.NO_CREDIT


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
@pytest.mark.parametrize("reason", ["refusal", "max_tokens"])
def test_what_was_said_up_to_a_limit_is_an_answer(ask: Asked, provider: str, reason: str) -> None:
    _, finished, _ = ask(provider, Turn((Said("I won't."),), stop_reason=reason))
    assert finished.failure is not None and finished.failure.kind is Kind.AGENT_LIMIT
    assert finished.answer == "I won't."


def test_turns_are_limited(ask: Asked) -> None:
    _, finished, server = ask("anthropic", Turn((Said("On I go."), ToolUse("list", {}))), max_turns=3)
    assert finished.failure is not None and finished.failure.kind is Kind.AGENT_LIMIT
    assert len(server.messages) == 3 and finished.answer == "On I go."


def test_a_call_of_broken_json_or_of_no_tool_goes_back_to_the_model(ask: Asked) -> None:
    events, finished, _ = ask("openai", Turn((ToolUse("fly", {"to": "the moon"}), ToolUse("read", {}))), DONE)
    assert finished.answer == "All done."
    assert [event.is_error for event in events if hasattr(event, "is_error")] == [True, True]


def test_earlier_messages_stand_before_the_prompt_and_a_judge_has_no_tools(ask: Asked) -> None:
    _, _, server = ask("openai", DONE, turns=("Good morning.",), tools=False)
    (asked,) = server.messages
    assert asked.tools == () and asked.system.strip() == ""
    assert asked.prompt.index("Good morning.") < asked.prompt.index("Sing.")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_names_that_are_no_text_do_not_stop_a_request(ask: Asked, place: Place, provider: str) -> None:
    (place.work / ".agents" / "skills" / "sing").rename(place.work / ".agents" / "skills" / os.fsdecode(b"caf\xe9"))
    _, finished, server = ask(provider, Turn((ToolUse("list", {"path": ".agents/skills"}),)), DONE, turns=("\ud800",))
    assert finished.answer == "All done." and "caf?" in server.messages[0].text


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_failed_call_is_told_as_one(ask: Asked, provider: str) -> None:
    calls = ToolUse("read", {"path": "nothing"}), ToolUse("read", {"path": ".agents/skills/sing/SKILL.md"})
    events, finished, server = ask(provider, Turn(calls), DONE)
    assert [event.is_error for event in events if isinstance(event, ToolResult)] == [True, False]
    assert finished.answer == "All done."
    told = server.messages[1].text
    assert "There is no file nothing" in told and "Sing LOUD." in told
    if provider == "anthropic":
        results = [part for part in server.messages[1].body["messages"][-1]["content"] if part["type"] == "tool_result"]
        assert [part.get("is_error", False) for part in results] == [True, False]


def test_a_provider_that_is_none_or_lacks_its_library_stops_the_run(place: Place) -> None:
    for provider, address in (("nowhere", None), ("groq", None), ("openai-chat-responses", "http://127.0.0.1:1")):
        task = {"model": f"{provider}:m", "keys": {"GROQ_API_KEY": KEY}, "address": address, "tools": False}
        failure = anyio.run(api_program._Agent(task, [], Toolbox(place.work, [], {})).carry_out)
        assert failure is not None and failure.kind is Kind.UNKNOWN_MODEL, failure


def test_the_key_goes_by_standard_input_alone(place: Place) -> None:
    user = {"PATH": "/bin", "OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "sk-another"}
    agent = Api(env=user)
    launch = agent.launch(request(place, env=dict(agent.sign_in(user).env)))
    assert KEY not in str(launch.env) + str(launch.argv) and "sk-another" not in str(launch)
    assert json.loads(launch.stdin or b"")["keys"] == {"OPENAI_API_KEY": KEY}
    assert launch.secrets == (KEY,)


def test_a_scripted_server_sees_no_real_key(place: Place) -> None:
    user = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "https://elsewhere.example/v1"}
    launch = Api(env=user).launch(request(place, base_url="http://127.0.0.1:1", env=user))
    assert KEY not in str(launch) and "elsewhere" not in str(launch)
    task = json.loads(launch.stdin or b"")
    assert task["keys"] == {"OPENAI_API_KEY": DUMMY_KEY}
    assert task["address"] == "http://127.0.0.1:1/v1"


OTHERS = (
    "azure",
    "bedrock",
    "cohere",
    "gateway/openai",
    "google",
    "google-cloud",
    "groq",
    "huggingface",
    "mistral",
    "xai",
)


@pytest.mark.parametrize("provider", OTHERS)
def test_a_provider_that_can_not_be_sent_elsewhere_is_not_asked_by_a_scripted_server(
    place: Place, provider: str
) -> None:
    user = {**dict.fromkeys(api._KEYS, KEY), f"{provider.upper()}_BASE_URL": "http://127.0.0.1:2"}
    with pytest.raises(InputError, match=f"Models of {provider} can't be asked at another address"):
        Api(env=user).launch(request(place, model=f"{provider}:m", base_url="http://127.0.0.1:1"))
    with pytest.raises(InputError, match=f"Models of {provider} can't be asked at another address"):
        Api(env=user).launch(request(place, model=f"{provider}:m@http://127.0.0.1:2"))


@pytest.mark.parametrize("provider", ["groq", "google"])
def test_an_address_that_would_not_be_used_is_no_sign_in(provider: str) -> None:
    user = {f"{provider.upper()}_BASE_URL": "http://127.0.0.1:2"}
    with pytest.raises(InputError, match="There is no key"):
        Api(env=user).sign_in_for(f"{provider}:m", user)
    with pytest.raises(InputError, match="has no key"):
        Api(env=user).sign_in(user)


@pytest.mark.parametrize("provider", sorted({*MOVABLE, "openai-chat", "openai-responses"}))
def test_what_can_be_sent_elsewhere_asks_there_and_nowhere_else(
    ask: Asked, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    # The suite lets nobody connect beyond loopback; an attempt would be the failure that is reported.
    for name in ("MOONSHOTAI", "SAMBANOVA", "OLLAMA", "VLLM", "OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_BASE_URL", "https://elsewhere.example/v1")
    named = "openai/gpt-4o" if provider == "openrouter" else "gpt-4o"
    _, finished, server = ask(provider, Turn((ToolUse("list", {}),)), DONE, named=named)
    assert finished.failure is None and finished.answer == "All done."
    assert len(server.messages) == 2
    assert any(DUMMY_KEY in value for value in server.messages[0].headers.values())


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "DEEPSEEK_BASE_URL", "ANTHROPIC_BASE_URL"])
def test_a_server_of_ones_own_needs_no_key(place: Place, name: str) -> None:
    user = {name: "http://127.0.0.1:11434/v1"}
    agent, model = Api(env=user), f"{name.partition('_')[0].lower()}:qwen3"
    assert agent.sign_in(user).how == agent.sign_in_for(model, user).how == "none"
    task = json.loads(agent.launch(request(place, model=model)).stdin or b"")
    assert task["address"] == user[name] and task["keys"] == {}


@pytest.mark.parametrize("model", ["qwen3", "@cf/qwen/qwen3", "claude@2026"])
def test_a_server_is_named_after_the_model_as_for_judges(place: Place, model: str) -> None:
    user = {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    spec = f"openai:{model}@http://127.0.0.1:11434/v1"
    assert signed_in(Api(env={}), spec, {}).how == "none"
    task = json.loads(Api(env=user).launch(request(place, model=spec)).stdin or b"")
    assert (task["model"], task["address"]) == (f"openai:{model}", "http://127.0.0.1:11434/v1")
    judge = make_voice(spec, NoSandbox(), {})
    assert isinstance(judge, ApiVoice)
    assert (judge.model, judge.base_url) == (model, "http://127.0.0.1:11434/v1")


def test_only_the_key_of_the_model_signs_in() -> None:
    user = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": "sk-another"}
    assert signed_in(Api(env=user), "openai:gpt-4o", user).env == {"OPENAI_API_KEY": KEY}


@pytest.mark.parametrize("model", [None, "gpt-4o", ":gpt-4o", "openai:", "openai:@http://127.0.0.1:1"])
def test_a_model_needs_its_provider(place: Place, model: str | None) -> None:
    with pytest.raises(InputError, match="named with its provider"):
        Api(env={"OPENAI_API_KEY": KEY}).sign_in_for(model, {"OPENAI_API_KEY": KEY})


def test_a_missing_key_is_told_before_anything_is_launched() -> None:
    with pytest.raises(InputError, match="no GOOGLE_API_KEY nor GEMINI_API_KEY"):
        Api(env={}).sign_in_for("google:gemini-2.5-pro", {"OPENAI_API_KEY": KEY})
    with pytest.raises(InputError, match="has no key"):
        Api(env={}).sign_in({})


def test_without_the_extra_it_is_not_here(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "find_spec", lambda name: None)
    agent = Api(env={"OPENAI_API_KEY": KEY})
    assert agent.detect({}) is None
    assert "skill-assay[api]" in agent.capabilities.install
    with pytest.raises(InputError, match=r"skill-assay\[api\]"):
        agent.launch(request(place))


@pytest.mark.slow
def test_a_command_can_read_the_key_nowhere_and_files_of_the_work_are_not_imported(place: Place) -> None:
    """The program as it is launched: its memory is closed, and a `json.py` beside it is the agent's own affair."""
    for name in ("json.py", "asyncio.py", "pydantic_ai.py", "sitecustomize.py"):
        (place.work / name).write_text("raise SystemExit('imported')", encoding="utf-8")
    look = "env; cat /proc/$PPID/environ /proc/$PPID/cmdline | tr '\\0' '\\n'; ls -l /proc/$PPID/fd; true"
    lines: list[bytes] = []

    def line(text: bytes) -> str | None:
        lines.append(text)
        return None

    async def go(url: str) -> None:
        user = {"PATH": os.environ["PATH"], "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1"}
        agent = Api(env=user)
        launch = agent.launch(request(place, env=dict(agent.sign_in(user).env)))
        end = await run(launch, on_line=line, time_limit=60)
        assert end.exit_code == 0, end.stderr

    with serve(Script((Rule((Turn((ToolUse("bash", {"command": look}),)), DONE)),))) as server:
        anyio.run(go, server.url)
        assert server.messages[0].headers["authorization"] == f"Bearer {KEY}"
    printed = b"\n".join(lines).decode()
    assert "HOME=" in printed and KEY not in printed
    assert ApiParser().feed(lines[-1]) == [] and json.loads(lines[-1])["answer"] == "All done."
