"""The example is sound: its references pass, doing nothing fails, and its simulated truth shows what the tool shows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import anyio
import pytest

from skill_assay.agents.simulated import SimulatedAgent
from skill_assay.formats.evals import load_evals
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import load_queries
from skill_assay.graders.checks import CheckGrader
from skill_assay.model.agent import Request
from skill_assay.model.evals import Eval, EvalSet
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.place import Place
from skill_assay.model.trial import TrialId
from skill_assay.model.work import Work

EXAMPLE = Path(__file__).parents[2] / "examples" / "expense-report"


@pytest.fixture(scope="module")
def suite() -> EvalSet:
    return load_evals(EXAMPLE / "evals" / "evals.json", skill_root=EXAMPLE)


Play = Callable[..., Work | None]


@pytest.fixture
def play(suite: EvalSet, tmp_path: Path) -> Play:
    """Plays one attempt, without the runner. Returns nothing where it failed."""
    skill = read_skill(EXAMPLE)
    count = iter(range(10_000))

    def played(agent: SimulatedAgent, one: Eval, arm: str, repeat: int = 1) -> Work | None:
        root = tmp_path / str(next(count))
        folders = {name: root / name for name in ("work", "home", "config", "tmp")}
        for folder in folders.values():
            folder.mkdir(parents=True)
        place = Place(root, **folders)
        before = set()
        for source, target in resolve_fixtures(one, EXAMPLE):
            shutil.copy(source, place.work / target)
            before.add(target)
        request = Request(
            one.prompt,
            place,
            work=str(place.work),
            home=str(place.home),
            tmp=str(place.tmp),
            env={"PATH": os.environ["PATH"]},
            key={"seed": 42, "eval": one.id, "arm": arm, "repeat": repeat, "attempt": 1},
        )
        if arm == "with_skill":
            installed = agent.skills_folder(place) / skill.folder
            for name in skill.files:
                (installed / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(skill.root / name, installed / name)
            request = replace(
                request, skill_folder=skill.folder, skill_name=skill.name, skill_path=str(installed), any_skills=True
            )
        launch = agent.launch(request)
        done = subprocess.run(
            launch.argv, env=launch.env, cwd=launch.cwd, input=launch.stdin or b"", capture_output=True, check=False
        )
        parser = agent.parser(request)
        events = [event for line in done.stdout.splitlines() for event in parser.feed(line)]
        end = parser.end(done.returncode, done.stderr.decode())
        if end.failure is not None:
            return None
        shutil.rmtree(place.work / ".agents", ignore_errors=True)
        files = sorted(path.relative_to(place.work).as_posix() for path in place.work.rglob("*") if path.is_file())
        return Work(
            id=TrialId(one.id, arm, repeat),
            eval=one,
            run_folder=root,
            outputs=place.work,
            files=tuple(name for name in files if name not in before),
            answer=end.answer or "",
            events=events,
            usage=end.usage,
            seconds=end.usage.seconds,
            skill_name=skill.name,
            skill_used=None,
            evals_root=suite.root,
            code=None,  # type: ignore[arg-type]
        )

    return played


def graded(suite: EvalSet, works: list[Work | None]) -> dict[TrialId, list[Grade]]:
    grader = CheckGrader(suite.root)
    grader.prepare(suite)
    ledger: Any = None

    async def grade_all() -> dict[TrialId, list[Grade]]:
        found = {}
        for work in works:
            if work is not None:
                grades = await grader.grade(dict(enumerate(work.eval.expectations)), work, ledger)
                assert len(grades) == len(work.eval.expectations)
                found[work.id] = list(grades.values())
        return found

    return anyio.run(grade_all)


def bound(argument: str, suite: EvalSet) -> SimulatedAgent:
    agent = SimulatedAgent(argument)
    agent.bind(EXAMPLE, suite)
    return agent


def score(grades: list[Grade]) -> float:
    return mean(grade.decision is Decision.PASSED for grade in grades if grade.severity == "required")


def test_it_has_eight_evals_with_checks_fixtures_and_references(suite: EvalSet) -> None:
    assert len(suite.evals) == 8
    assert suite.findings == ()
    for one in suite.evals:
        assert one.reference is not None
        assert one.files
        assert all(expectation.checks for expectation in one.expectations)


@pytest.mark.slow
def test_the_ceiling_passes_everything(suite: EvalSet, play: Play) -> None:
    agent = bound("ceiling", suite)
    works = [play(agent, one, arm) for one in suite.evals for arm in ("with_skill", "without_skill")]
    for key, grades in graded(suite, works).items():
        assert [grade for grade in grades if grade.decision is not Decision.PASSED] == [], key


def test_the_floor_fails_everything_that_counts(suite: EvalSet, play: Play) -> None:
    agent = bound("floor", suite)
    for key, grades in graded(suite, [play(agent, one, "with_skill") for one in suite.evals]).items():
        for grade in grades:
            assert grade.decision is Decision.FAILED or grade.severity == "info", (key, grade)


@pytest.mark.slow
def test_the_simulated_truth_shows_what_the_tool_shows(suite: EvalSet, play: Play) -> None:
    agent = bound("", suite)
    ids = [TrialId(one.id, arm, n) for one in suite.evals for arm in ("with_skill", "without_skill") for n in (1, 2, 3)]
    by_id = {one.id: one for one in suite.evals}
    trials = graded(suite, [play(agent, by_id[key.eval_id], key.arm, key.repeat) for key in ids])
    assert [key for key in ids if key not in trials] == [TrialId("refund-rows", "without_skill", 3)]

    def rate(arm: str, eval_id: str) -> float:
        return mean(score(grades) for key, grades in trials.items() if (key.arm, key.eval_id) == (arm, eval_id))

    rates = {eval_id: (rate("with_skill", eval_id), rate("without_skill", eval_id)) for eval_id in by_id}
    effect = mean(with_skill - without for with_skill, without in rates.values())
    assert 0.25 <= effect <= 0.35, (effect, rates)
    assert 0 < rates["two-currencies"][0] < 1
    always = {(key.eval_id, grade.text) for key, grades in trials.items() for grade in grades}
    for key, grades in trials.items():
        always -= {(key.eval_id, grade.text) for grade in grades if grade.decision is not Decision.PASSED}
    assert always == {("messy-dates", "summary.json exists"), ("clean-table", "It took at most two minutes")}


def test_the_trigger_queries_have_both_labels() -> None:
    queries = load_queries(EXAMPLE / "evals" / "triggers.json")
    assert queries.findings == ()
    assert [query.should_trigger for query in queries.queries].count(True) == len(queries.queries) / 2 == 6
