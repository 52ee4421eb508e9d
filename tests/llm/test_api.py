"""Models over HTTP, against the scripted server, in both dialects."""

from __future__ import annotations

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


def test_a_server_that_is_not_there_is_a_lost_connection() -> None:
    said = anyio.run(ApiVoice("openai", "m", "http://127.0.0.1:9/v1").say, "Is it so?", SCHEMA)
    assert said.failure is not None and said.failure.kind is FailureKind.CONNECTION


def test_what_is_missing_is_said_before_anything_is_asked() -> None:
    with pytest.raises(InputError, match="ANTHROPIC_API_KEY"):
        ApiVoice("anthropic", "claude-opus-4-1")
    with pytest.raises(InputError, match="No model"):
        ApiVoice("openai", "", "http://127.0.0.1:9/v1")
