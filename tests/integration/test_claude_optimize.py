"""A search with the real Claude Code: as the proposer, and as the agent whose choice follows from the description."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from skill_assay.model.money import Spend
from skill_assay.model.optimisation import Optimisation
from skill_assay.model.trial import Limits
from skill_assay.modelserver import Rule, Script, Text, ToolUse, Turn, serve
from skill_assay.modelserver.script import Received
from skill_assay.runner.progress import Silent
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.triggering.checkpoint import StoredCheckpoint
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.measuring import Measurer
from skill_assay.triggering.optimise import Problem, Search
from skill_assay.triggering.proposing import ProposerDesk, proposer_of
from skill_assay.triggering.split import split_queries
from skill_assay.triggering.subject import read_subject
from skill_assay.workspace.optimise_store import next_optimisation
from skill_assay.workspace.trigger_store import TriggerWorkspace
from tests.triggering.asking import query, write_neighbour, write_skill
from tests.triggering.searches import FakeMeasure, Kept, by_side, problem

pytestmark = [pytest.mark.client, pytest.mark.slow, pytest.mark.xdist_group("client")]

SKILL, GOOD = "stamp-note", "Use when a note has to be STAMPED."
DONE = Turn((Text("That is done."),))


@pytest.fixture(autouse=True)
def _real_claude(claude_binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CLAUDE_CODE", str(claude_binary))


def replies(*descriptions: str) -> Rule:
    """What the proposer says: the first reply, and the next once the one before was refused."""

    def router(request: Received) -> Sequence[Turn] | None:
        if "StructuredOutput" not in request.tools:
            return None
        refused = request.prompt.count("Your last reply was refused")
        return [Turn((ToolUse("StructuredOutput", {"description": descriptions[refused]}),))]

    return Rule(router=router)


def by_catalogue(request: Received) -> Sequence[Turn] | None:
    """A model that uses the skill for notes, once its description speaks of stamping."""
    described = request.catalogue.get(SKILL, "")
    if "STAMPED" in described and "note" in request.prompt:
        return [Turn((ToolUse("Skill", {"skill": SKILL}),)), DONE]
    return [DONE]


SETTINGS = RunSettings(
    agent="claude-code",
    trials=1,
    workers=4,
    limits=Limits(seconds=90.0, turns=20),
    retrying=Retrying(attempts=1, base_seconds=0.05, cap_seconds=0.1),
)


def searched(
    root: Path,
    script: Script,
    *,
    real_runs: bool = True,
) -> tuple[Optimisation, Spend, list[str]]:
    """The search, what the proposer cost, and all that the model was sent."""
    queries = [query(f"write note {n} for me", True) for n in range(2)]
    queries += [query(f"what is the time in city {n}", False) for n in range(2)]
    skill = write_skill(root / "project", queries, name=SKILL)
    write_neighbour(root / "project", SKILL, "Does things.")
    choice, settings = TriggerChoice(), SETTINGS
    subject = read_subject(skill, choice, (), os.environ)
    whole = Problem(SKILL, subject.skill.body, "Does things.", split_queries(subject.queries), runs=1, rounds=2)
    folder = next_optimisation(TriggerWorkspace(root / "ws", TriggerWorkspace.create(root / "ws").writer))

    async def run(url: str) -> tuple[Optimisation, Spend]:
        measurer = Measurer(subject, choice, settings, folder, Silent(), dict(os.environ), url)
        ids = [one.id for one in subject.queries]
        with measurer.open("round-1", "Does things.", ids) as evaluation:
            session = evaluation.session
            spec = proposer_of(None, session)
        with ProposerDesk(spec, folder, session, settings, lambda: measurer.spent) as desk:
            measurer.asked = lambda: desk.spent
            asked = desk.propose(lambda text: None)
            if real_runs:
                search = Search(whole, measurer, asked, StoredCheckpoint(folder))
            else:
                shows = by_side(original=(2, 4), **{GOOD: (6, 8)})
                search = Search(problem(rounds=2), FakeMeasure(shows), asked, Kept())
            return await search.run(), desk.spent

    with serve(script) as server:
        found, spent = anyio.run(run, server.url)
        return found, spent, [request.text for request in server.messages]


def test_fault_18_claude_is_asked_by_schema_and_again_with_the_reason(tmp_path: Path) -> None:
    found, spent, sent = searched(tmp_path, Script((replies("<b>Use it</b>", GOOD),)), real_runs=False)
    assert found.round(2).description == GOOD and found.chosen == 2
    assert found.round(2).refused == ("it has angle brackets, which a description must not have",)
    assert spent.launches == 2 and spent.usd > 0
    assert "train text" in sent[0] and not any("test text" in text for text in sent)
    assert "Your last reply was refused" not in sent[0] and "angle brackets, which" in sent[-1]


def test_fault_3_a_description_really_changes_what_fires(tmp_path: Path) -> None:
    """The candidate lies in each run's sandbox as the skill's own, and the model reads it in its catalogue."""
    found, _, _ = searched(tmp_path, Script((replies(GOOD), Rule(router=by_catalogue))))
    first, second = found.rounds
    assert (first.score("train").passed, first.score("test").passed) == (1, 1)
    assert (second.score("train").passed, second.score("test").passed) == (2, 2)
    assert (found.exit, found.chosen) == ("all_passed", 2)
    assert "Does things." in (tmp_path / "project" / SKILL / "SKILL.md").read_text("utf-8")
