"""A model through the real Codex, against the scripted server: it judges as any other, by our own validation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.errors import FailureKind
from skill_assay.graders.judge import JudgeGrader
from skill_assay.graders.judge_log import MemoryLog
from skill_assay.graders.judge_reply import SCHEMA
from skill_assay.improve.drafting import MORE_SCHEMA
from skill_assay.llm.base import Asker, Said
from skill_assay.llm.scripted_judge import judge_reply
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.grade import Grade
from skill_assay.model.transcript import Usage
from skill_assay.model.trial import TrialId
from skill_assay.model.work import Work
from skill_assay.modelserver import Error, Received, Rule, Script, Text, ToolUse, Turn, serve
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.judging import make_voice
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.sandbox import NoSandbox
from skill_assay.runner.settings import Budget

pytestmark = pytest.mark.client

MODEL = "gpt-5"
PATH = "/usr/local/bin:/usr/bin:/bin"
TEXT = "The report names the total."
QUOTE = {"verdict": "pass", "quote": "The total is 1,284 EUR.", "source": "report.md"}


@pytest.fixture
def env(client: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("ASSAY_CODEX", str(client("codex")))
    return {"PATH": PATH}


def says(text: str) -> Turn:
    return Turn((Text(text),))


def ask(env: Mapping[str, str], schema: Mapping[str, Any], *turns: Turn) -> tuple[Said, list[Received]]:
    with serve(Script((Rule(turns),))) as server:
        voice = make_voice(f"codex/{MODEL}", NoSandbox(), env, server.url)
        return anyio.run(voice.say, "Is it so?", schema), list(server.messages)


def test_it_answers_by_schema_without_tools_and_has_its_price(env: dict[str, str]) -> None:
    reply = {
        "verdicts": [{"id": "a", "verdict": "fail", "explanation": "x", "quote": None, "source": None, "absence": None}]
    }
    said, requests = ask(env, SCHEMA, says(json.dumps({**reply, "claims": None, "eval_feedback": None})))
    assert said.failure is None
    assert said.data == {"verdicts": [{"id": "a", "verdict": "fail", "explanation": "x"}]}
    assert said.usage is not None and said.usage.cost_usd and said.model == MODEL
    form = requests[0].body["text"]["format"]
    assert form["type"] == "json_schema" and form["strict"] is True
    assert form["schema"]["required"] == ["verdicts", "claims", "eval_feedback"]
    assert set(requests[0].tools) <= {"request_user_input"}


def test_a_command_it_asks_for_all_the_same_is_not_run(env: dict[str, str], tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    said, _ = ask(
        env,
        SCHEMA,
        Turn((ToolUse("exec_command", {"cmd": f"touch {mark}"}),)),
        Turn((ToolUse("shell", {"command": ["touch", str(mark)]}),)),
        says('{"verdicts": []}'),
    )
    assert said.failure is None and said.data == {"verdicts": []}
    assert not mark.exists()


def test_what_has_no_strict_form_stands_in_the_prompt(env: dict[str, str]) -> None:
    said, requests = ask(env, MORE_SCHEMA, says('Here:\n```json\n{"evals": []}\n```'))
    assert said.data == {"evals": []}
    assert "format" not in (requests[0].body.get("text") or {})
    assert "It must satisfy this JSON schema" in requests[0].text


def test_refused_by_the_server_is_a_failure(env: dict[str, str]) -> None:
    said, _ = ask(env, SCHEMA, Turn(error=Error(401)))
    assert said.failure is not None and said.failure.kind is FailureKind.NOT_SIGNED_IN
    assert said.data is None


def grade(
    env: Mapping[str, str], tmp_path: Path, answer: Callable[[Received], Turn]
) -> tuple[Grade, int, BudgetLedger]:
    """The grade of one expectation, how often the model was asked, and what it cost."""
    outputs = tmp_path / "eval-1" / "with_skill" / "run-1" / "outputs"
    outputs.mkdir(parents=True)
    (outputs / "report.md").write_text("# Report\n\nThe total is 1,284 EUR.\n")
    one = Eval("1", "Write a report.", (Expectation(TEXT, about="outcome"),))
    work = Work(
        TrialId("1", "with_skill", 1), one, outputs.parent, outputs, ("report.md",), "Done.", (), Usage(), None,
        None, None, None, None,  # type: ignore[arg-type]
    )  # fmt: skip
    ledger = BudgetLedger(Budget(), lambda *_, **__: None)
    with serve(Script((Rule(router=lambda request: (answer(request),)),))) as server:
        voice = make_voice(f"codex/{MODEL}", NoSandbox(), env, server.url)
        asker = Asker(voice, AdaptiveAdmission(1, ledger, PriceBook(), 0.0), pause_seconds=0.0)
        grades = anyio.run(JudgeGrader(asker, MemoryLog()).grade, dict(enumerate(one.expectations)), work, ledger)
        return grades[0], len(server.messages), ledger


def test_it_judges_with_its_evidence_looked_up(env: dict[str, str], tmp_path: Path) -> None:
    found, asked, ledger = grade(
        env, tmp_path, lambda request: says(json.dumps(judge_reply(request.prompt, {TEXT: QUOTE})))
    )
    assert found.decision == "passed" and found.verified is True, found.evidence
    assert asked == 1 and ledger.spent.launches == 1 and ledger.spent.usd > 0


def test_one_who_obeys_the_output_is_caught_by_what_is_planted(env: dict[str, str], tmp_path: Path) -> None:
    def nods(request: Received) -> Turn:
        rows = judge_reply(request.prompt, {TEXT: QUOTE})["verdicts"]
        return says(json.dumps({"verdicts": [{**QUOTE, "id": row["id"], "explanation": "All."} for row in rows]}))

    found, asked, _ = grade(env, tmp_path, nods)
    assert found.decision == "ungraded" and found.passed is None
    assert asked and "planted" in found.evidence


def test_a_reply_that_misses_the_schema_is_asked_again_then_ungraded(env: dict[str, str], tmp_path: Path) -> None:
    found, asked, ledger = grade(env, tmp_path, lambda _: says('{"verdicts": "all of them"}'))
    assert found.decision == "ungraded" and found.passed is None
    assert 2 <= asked <= 3 and ledger.spent.launches == asked


def test_an_outage_leaves_it_ungraded_never_failed(env: dict[str, str], tmp_path: Path) -> None:
    found, asked, _ = grade(env, tmp_path, lambda _: Turn(error=Error(401)))
    assert found.decision == "ungraded" and found.passed is None
    assert asked and "could not be asked: not_signed_in" in found.evidence
