"""Nothing fired: is our detection broken, or is the skill not picked up? And what a skill's kind changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.model.trigger_results import CatalogueCheck, SkillKind, TriggerResults
from skill_assay.runner.canary import CanaryReport, CaseResult
from skill_assay.triggering.advice import advise
from skill_assay.triggering.choice import TriggerChoice
from skill_assay.triggering.diagnose import diagnose, is_silent
from tests.triggering.asking import NAME, NO, YES, ask, query, write_neighbour, write_skill


def canary(wrong: str | None) -> CanaryReport:
    results = (
        CaseResult("fires", "A skill that is used is seen", wrong),
        CaseResult("silent", "Nothing is seen", None),
    )
    return CanaryReport("claude-code", "9.9", results, 1.0, None, None)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> TriggerResults:
    root = tmp_path_factory.mktemp("silent")
    skill = write_skill(root / "a", play={YES: {"instead": {"bills": 0.5}}, "*": 0})
    write_neighbour(root / "more", "bills", "Writes bills.")
    return ask(skill, root / "ws", TriggerChoice(catalog=(str(root / "more"),)))


def test_only_a_set_of_which_nothing_fired_is_silent(silent: TriggerResults, tmp_path: Path) -> None:
    assert is_silent(silent)
    assert not is_silent(ask(write_skill(tmp_path / "a", play={YES: 0.5, "*": 0}), tmp_path / "a-ws"))
    loud = write_skill(tmp_path / "b", play={YES: 0, NO: 1})
    assert not is_silent(ask(loud, tmp_path / "b-ws"))
    crashed = write_skill(tmp_path / "c", play={YES: {"fail": {"kind": "crashed"}}, NO: 0})
    assert not is_silent(ask(crashed, tmp_path / "c-ws"))


def test_a_self_test_that_fails_means_that_the_results_say_nothing(silent: TriggerResults) -> None:
    found = diagnose(silent, canary("skill uses read as none"))
    assert found.detection == "broken" and "these results say nothing" in found.sentence
    assert "skill uses read as none" in found.sentence


def test_a_self_test_that_passes_means_that_the_skill_is_not_picked_up(silent: TriggerResults) -> None:
    found = diagnose(silent, canary(None))
    assert found.detection == "works" and "2 of 2" in found.sentence
    causes = "\n".join(found.causes)
    assert "bills fired instead" in causes and "answered by itself" in causes and "--description" in causes
    assert diagnose(silent, None).detection == "untested"


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (CatalogueCheck((NAME,), 9000, 8000, 1536, (), (NAME,)), "over the budget of about 8000"),
        (CatalogueCheck((NAME,), 900, 8000, 1536, (NAME,), ()), "only 1536 characters"),
        (CatalogueCheck((), 0, 8000, 1536), "disable-model-invocation"),
    ],
)
def test_what_the_model_was_not_told_comes_first(silent: TriggerResults, check: CatalogueCheck, words: str) -> None:
    assert words in diagnose(replace(silent, catalogue=check), None).causes[0]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("capability", ("assay run", "1 of 2 positive queries are bare lines")),
        ("preference", ("bare request", "1 of 2 positive queries come with context")),
    ],
)
def test_the_kind_of_a_skill_decides_how_it_is_read(tmp_path: Path, kind: SkillKind, words: tuple[str, ...]) -> None:
    queries = [query(YES, True), query("and this", True, context={"files": ["evals/triggers.json"]}), query(NO, False)]
    skill = write_skill(tmp_path, queries, {NO: 0, "*": 1})
    found = ask(skill, tmp_path / "ws", TriggerChoice(kind=kind))
    text = "\n".join(found.advice)
    assert all(word in text for word in words), text
    assert {group: scores.accuracy.n for group, scores in found.by_context.items()} == {"bare": 2, "with context": 1}
    assert advise(replace(found, kind=None)) == ()
