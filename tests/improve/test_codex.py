"""Proposals through the real Codex, against the scripted server: of a skill's text and of its description."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.errors import IncompleteError
from skill_assay.llm.base import Asker
from skill_assay.modelserver import Error, ModelServer, Received, Rule, Script, Text, ToolUse, Turn, serve
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.judging import make_voice
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.sandbox import NoSandbox
from skill_assay.runner.settings import Budget
from skill_assay.triggering.proposer import AGAIN, Attempted, Brief, Missed, Proposal, propose
from tests.cli.test_improve import ANALYST, BETTER, run
from tests.runner.small import BODY, run_small, settings, write_skill

pytestmark = [pytest.mark.client, pytest.mark.xdist_group("client")]

SPEC = "codex/gpt-5"
CHANGE = {"path": "SKILL.md", "content": BETTER, "reason": "The agent did not see why."}


@pytest.fixture(autouse=True)
def _codex(client: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CODEX", str(client("codex")))
    monkeypatch.setenv("CODEX_API_KEY", "sk-made-up-for-this-test")


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    made = write_skill(tmp_path)
    run_small(made, tmp_path / "hello-note-workspace", settings(trials=1))
    return made


def says(data: Any) -> Turn:
    return Turn((Text(json.dumps(data)),))


@pytest.fixture
def proposes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ModelServer]]:
    """A server that explains, and then proposes what it is given, one proposal after the other."""
    with ExitStack() as stack:

        def started(*proposals: Turn) -> ModelServer:
            left = list(proposals)

            def answer(request: Received) -> tuple[Turn, ...]:
                if "You explain why runs" in request.prompt:
                    return (says(ANALYST),)
                return (left.pop(0) if len(left) > 1 else left[0],)

            server = stack.enter_context(serve(Script((Rule(router=answer),))))
            monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
            return server

        yield started


def test_it_proposes_a_better_skill_and_touches_nothing(
    skill: Path, proposes: Callable[..., ModelServer], tmp_path: Path
) -> None:
    server = proposes(says({"changes": [CHANGE], "summary": "It says why.", "unneeded": None}))
    result = run(str(skill), "--judge", SPEC, "--yes")
    assert "SKILL.md: The agent did not see why." in result.output
    assert (skill / "SKILL.md").read_text(encoding="utf-8") == BODY
    folder = skill.parent / "hello-note-workspace/iteration-1"
    kept = json.loads((folder / "candidate/changes.json").read_text(encoding="utf-8"))
    assert [one["path"] for one in kept["changes"]] == ["SKILL.md"] and kept["model"] == SPEC
    analysis = json.loads((folder / "analysis.json").read_text(encoding="utf-8"))
    assert analysis["model"] == SPEC and analysis["improvement_suggestions"][0]["evidence_verified"] is True
    explained, proposed = server.messages
    assert proposed.body["text"]["format"]["type"] == "json_schema"
    assert set(explained.tools) | set(proposed.tools) <= {"request_user_input"}
    assert "Write hello.txt." in proposed.text and "sk-made-up" not in proposed.text


def test_what_is_no_version_of_the_skill_is_sent_back_once(skill: Path, proposes: Callable[..., ModelServer]) -> None:
    bad = {"changes": [{**CHANGE, "path": "../x"}], "summary": "s", "unneeded": None}
    server = proposes(says(bad), says({"changes": [CHANGE], "summary": "s", "unneeded": []}))
    run(str(skill), "--judge", SPEC, "--yes")
    assert len(server.messages) == 3 and "It could not be used" in server.messages[-1].prompt


def test_an_outage_changes_nothing(skill: Path, proposes: Callable[..., ModelServer]) -> None:
    proposes(Turn(error=Error(401)))
    with pytest.raises(IncompleteError, match="could not be asked"):
        run(str(skill), "--judge", SPEC, "--yes")
    assert not (skill.parent / "hello-note-workspace/iteration-1/candidate").exists()
    assert (skill / "SKILL.md").read_text(encoding="utf-8") == BODY


BRIEF = Brief("hello-note", BODY, Attempted("Does hello.", 1, 2, (Missed("greet me", True, 0, 3),)))


def described(*turns: Turn) -> tuple[Proposal, list[Received], BudgetLedger]:
    left = list(turns)
    ledger = BudgetLedger(Budget(), lambda *_, **__: None)
    with serve(Script((Rule(router=lambda _: (left.pop(0) if len(left) > 1 else left[0],)),))) as server:
        voice = make_voice(SPEC, NoSandbox(), {"PATH": "/usr/local/bin:/usr/bin:/bin"}, server.url)
        asker = Asker(voice, AdaptiveAdmission(1, ledger, PriceBook(), 0.0), pause_seconds=0.0)
        return anyio.run(propose, asker, BRIEF, ("Does hello.",), ledger), list(server.messages), ledger


def test_it_proposes_a_description() -> None:
    found, asked, ledger = described(
        says({"description": "Does hello."}), says({"description": "Use when someone asks for a greeting."})
    )
    assert found.description == "Use when someone asks for a greeting."
    assert len(found.refused) == 1 and "tried before" in asked[1].prompt
    assert '"greet me" (used in 0 of 3 runs)' in asked[0].prompt
    assert ledger.spent.launches == 2 and ledger.spent.usd > 0


def test_what_never_is_a_description_is_none(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    found, asked, _ = described(says({"description": "<b>"}))
    assert found.description is None and len(asked) == AGAIN + 1 and "angle brackets" in found.skipped
    found, _, _ = described(
        Turn((ToolUse("exec_command", {"cmd": f"touch {mark}"}),)), says({"description": "Greets."})
    )
    assert found.description == "Greets." and not mark.exists()
