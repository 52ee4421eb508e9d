"""Triggering with the real Claude Code, where others read 0 %: the scripted model chooses by the catalogue it is sent.

Few launches, each decides several things: one evaluation asks every kind of query at once, eight at a time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from skill_assay.errors import FailureKind
from skill_assay.model.trial import Limits
from skill_assay.model.trigger_results import QueryResult, RunState, TriggerResults
from skill_assay.modelserver import Error, Rule, Script, Text, ToolUse, Turn, serve
from skill_assay.modelserver.script import Received
from skill_assay.modelserver.server import ModelServer
from skill_assay.runner.progress import Silent
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.evaluate import evaluate, open_evaluation, trigger_results
from skill_assay.triggering.subject import read_subject
from skill_assay.workspace.trigger_store import TriggerWorkspace
from tests.triggering.asking import query, write_neighbour, write_skill

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]

SKILL, OTHER, NAMESAKE = "stamp-note", "file-note", "THE-USERS-NAMESAKE"
USE, USE_OTHER = ToolUse("Skill", {"skill": SKILL}), ToolUse("Skill", {"skill": OTHER})
LOOK = ToolUse("Bash", {"command": "ls", "description": "Look"})
READ = ToolUse("Bash", {"command": f"cat .claude/skills/{SKILL}/SKILL.md", "description": "Read"})
DONE = Turn((Text("That is done."),))
HAND_ON = ToolUse(
    "Agent", {"description": "Stamp", "prompt": "SUBTASK of stamping", "subagent_type": "general-purpose"}
)


@pytest.fixture(autouse=True)
def _real_claude(claude_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(claude_binary))


def settings(**changes: object) -> RunSettings:
    base = RunSettings(
        agent="claude-code",
        trials=1,
        workers=8,
        limits=Limits(seconds=90.0, turns=20),
        retrying=Retrying(attempts=1, base_seconds=0.05, cap_seconds=0.1),
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def ask(
    skill: Path, workspace: Path, server: ModelServer, choice: TriggerChoice | None = None, home: Path | None = None
) -> TriggerResults:
    choice = choice or TriggerChoice()
    environment = {**os.environ, **({"HOME": str(home)} if home else {})}
    subject = read_subject(skill, choice, ("${CLAUDE_CONFIG_DIR:-~/.claude}/skills",), environment)
    place = TriggerWorkspace.create(workspace)
    with open_evaluation(
        subject, choice, settings(), place, environment=environment, base_url=server.url
    ) as evaluation:
        result = anyio.run(evaluate, evaluation, Silent())
        return trigger_results(evaluation, result)


PLAYS: dict[str, tuple[bool, Sequence[Turn]]] = {
    "AT-ONCE": (True, [Turn((USE,)), DONE]),
    "BASH-FIRST": (True, [Turn((LOOK,)), Turn((USE,)), DONE]),
    "OTHER-FIRST": (True, [Turn((USE_OTHER,)), Turn((USE,)), DONE]),
    "TEXT-FIRST": (True, [Turn((Text("First a look."), LOOK)), Turn((Text("Now then."), USE)), DONE]),
    "BESIDE-BASH": (True, [Turn((LOOK, USE)), DONE]),
    "READS-IT": (True, [Turn((READ,)), DONE]),
    "HANDS-ON": (True, [Turn((HAND_ON,)), DONE]),
    "FOURTH-TURN": (True, [*[Turn((LOOK,))] * 3, Turn((USE,)), DONE]),
    "TOO-LATE": (False, [*[Turn((LOOK,))] * 5, Turn((USE,)), DONE]),
    "NAMESPACED": (False, [Turn((ToolUse("Skill", {"skill": f"other-plugin:{SKILL}"}),)), DONE]),
    "ONLY-OTHER": (False, [Turn((USE_OTHER,)), DONE]),
    "SILENT": (False, [DONE]),
    "CRASH": (False, [Turn(error=Error(400, "That is done."))]),
}
SUBTASK = Rule((Turn((USE,)), DONE), last="SUBTASK")
IN_CONTEXT = "SAME-AGAIN"


def play(request: Received) -> Sequence[Turn] | None:
    if IN_CONTEXT in request.prompt:
        return [Turn((USE,)), DONE] if "EARLIER-TURN" in request.prompt else [DONE]
    return next((turns for mark, (_, turns) in PLAYS.items() if mark in request.prompt), None)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, claude_binary: Path) -> tuple[TriggerResults, str]:
    """Every kind of query once, and all that was sent to the model."""
    root = tmp_path_factory.mktemp("asked")
    queries = [query(f"{mark}: a note, please", wanted, id=mark) for mark, (wanted, _) in PLAYS.items()]
    earlier = {"turns": ["EARLIER-TURN: stamp the first."], "files": ["evals/triggers.json"]}
    queries.append(query(f"{IN_CONTEXT}: and another", True, id=IN_CONTEXT, context=earlier))
    skill = write_skill(root / "project", queries, name=SKILL)
    write_neighbour(root / "home" / ".claude" / "skills", SKILL, NAMESAKE)
    write_neighbour(root / "home" / ".claude" / "skills", OTHER, "Files a note.")
    with pytest.MonkeyPatch.context() as patch, serve(Script((SUBTASK, Rule(router=play)))) as server:
        patch.setenv("ASSAY_CLAUDE_CODE", str(claude_binary))
        found = ask(skill, root / "ws", server, TriggerChoice(catalog=("installed",)), root / "home")
        return found, "\n".join(request.text for request in server.messages)


def of(found: TriggerResults, mark: str) -> QueryResult:
    return next(one for one in found.queries if one.query.id == mark)


@pytest.mark.parametrize("mark", [mark for mark, (wanted, _) in PLAYS.items() if wanted])
def test_fault_5_a_use_is_seen_wherever_it_comes(asked: tuple[TriggerResults, str], mark: str) -> None:
    (run,) = of(asked[0], mark).runs
    assert run.state is RunState.TRIGGERED and run.decided_by == "use", run
    assert SKILL in run.fired and (OTHER in run.fired) is (mark == "OTHER-FIRST")
    assert run.decided_seconds is not None


@pytest.mark.parametrize(
    ("mark", "fired", "refused", "by"),
    [
        ("SILENT", (), (), "answer"),
        ("ONLY-OTHER", (OTHER,), (), "answer"),
        ("NAMESPACED", (), (f"other-plugin:{SKILL}",), "answer"),
        ("TOO-LATE", (), (), "turns"),
    ],
)
def test_fault_6_nothing_else_is_taken_for_a_use(
    asked: tuple[TriggerResults, str], mark: str, fired: tuple[str, ...], refused: tuple[str, ...], by: str
) -> None:
    (run,) = of(asked[0], mark).runs
    assert run.state is RunState.NOT_TRIGGERED, run
    assert (run.fired, run.refused, run.decided_by) == (fired, refused, by)


def test_fault_1_a_crash_counts_for_nothing(asked: tuple[TriggerResults, str]) -> None:
    found = of(asked[0], "CRASH")
    assert (found.runs[0].state, found.runs[0].failure) == (RunState.ERROR, FailureKind.BAD_REQUEST)
    assert found.passed is None and asked[0].scores.accuracy.n == len(PLAYS)
    assert asked[0].scores.accuracy.value == 1.0


def test_fault_4_a_namesake_in_the_users_home_takes_no_part(asked: tuple[TriggerResults, str]) -> None:
    found, sent = asked
    assert NAMESAKE not in sent and "Files a note." in sent
    assert any("name of the skill under test" in note for note in found.notes)


def test_a_query_comes_with_its_earlier_turns(asked: tuple[TriggerResults, str]) -> None:
    assert of(asked[0], IN_CONTEXT).runs[0].state is RunState.TRIGGERED
    assert asked[0].by_context["with context"].accuracy.n == 1


def test_what_was_wanted_stands_against_what_fired(asked: tuple[TriggerResults, str]) -> None:
    found = asked[0]
    rows = {row.wanted: dict(zip(found.matrix.columns, row.counts, strict=True)) for row in found.matrix.rows}
    positives = sum(wanted for wanted, _ in PLAYS.values()) + 1
    assert rows[SKILL] == {SKILL: positives, OTHER: 1, None: 0}
    assert rows[None] == {SKILL: 0, OTHER: 1, None: 3}


def by_words(request: Received) -> Sequence[Turn]:
    """Uses the skill when a long word of the query stands in its description, as the catalogue tells it."""
    told = set(re.findall(r"\w{6,}", request.catalogue.get(SKILL, "").lower()))
    asked = set(re.findall(r"\w{6,}", request.last.lower()))
    return [Turn((USE,)), DONE] if told & asked else [DONE]


def test_another_description_really_changes_what_fires(tmp_path: Path) -> None:
    """Fault 3: it is the description in the catalogue that the model reads."""
    queries = [query("sort my receipts", True), query("what is the weather like", False)]
    skill = write_skill(tmp_path / "project", queries, name=SKILL)
    with serve(Script((Rule(router=by_words),))) as server:
        own = ask(skill, tmp_path / "ws", server)
        tried = ask(skill, tmp_path / "ws", server, TriggerChoice(description="Sorts receipts."))
    assert [one.rate for one in own.queries] == [0.0, 0.0]
    assert [one.rate for one in tried.queries] == [1.0, 0.0]
    assert (own.scores.recall.value, tried.scores.recall.value) == (0.0, 1.0)
