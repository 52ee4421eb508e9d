"""`assay judge-check`: people's labels against the judge's, and a correction only where the labels can carry it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.benchmark.judge_check import Judged, check_judge, draw_sample
from skill_assay.cli.judge_check import command
from skill_assay.errors import AssayError, NotFoundError
from tests.runner.small import run_small, settings, write_skill
from tests.runner.test_judging import EVALS, POLITE, judge


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def labelled(arm: str, judged: str, people: str) -> list[Judged]:
    marks: dict[str, Any] = {"p": True, "f": False, "?": None}
    rows = zip(judged, people, strict=True)
    return [Judged(f"{arm}-{n}", 0, arm, "t", marks[j], person=marks[p]) for n, (j, p) in enumerate(rows)]


ARMS = ("with_skill", "without_skill")


def both(judged: str, people: str) -> list[Judged]:
    return [one for arm in ARMS for one in labelled(arm, judged, people)]


def test_a_random_sample_that_is_large_enough_corrects_the_effect() -> None:
    """With: 18 of 20 true passes passed, 15 of 20 true fails failed; without: no error at all."""
    rows = labelled("with_skill", "p" * 18 + "f" * 2 + "p" * 5 + "f" * 15, "p" * 20 + "f" * 20)
    rows += labelled("without_skill", "p" * 20 + "f" * 20, "p" * 20 + "f" * 20)
    found = check_judge(rows, ARMS, [one.key for one in rows])
    assert found.reported["with_skill"] == pytest.approx(23 / 40)
    assert found.corrected == {"with_skill": pytest.approx(0.5), "without_skill": pytest.approx(0.5)}
    assert found.effect == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("rows", "drawn", "word"),
    [
        (both("p" * 19 + "f" * 20, "p" * 19 + "f" * 20), True, "19 true passes"),
        (both("p" * 20 + "f" * 20, "p" * 20 + "f" * 20), False, "no random sample"),
        (both("p" * 20 + "f" * 21, "p" * 20 + "f" * 20 + "?"), True, "not labelled yet"),
        (both("p" * 40, "p" * 20 + "f" * 20), True, "no better than chance"),
    ],
)
def test_otherwise_nothing_is_corrected_and_it_is_said_why(rows: list[Judged], drawn: bool, word: str) -> None:
    found = check_judge(rows, ARMS, [one.key for one in rows] if drawn else [])
    assert found.effect is None and not found.corrected and word in (found.why_not or "")


def test_the_sample_is_drawn_from_each_arm_without_the_judges_word() -> None:
    rows = both("pf" * 50, "?" * 100)
    sample = draw_sample(rows, 30, 7)
    assert len(sample["items"]) == 60 and draw_sample(rows, 30, 7) == sample != draw_sample(rows, 30, 8)
    assert all(set(item) == {"run_id", "index", "text"} for item in sample["items"])


def test_from_labels_in_feedback_to_figures(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, EVALS)
    spec = judge(tmp_path, {"verdicts": {POLITE: "pass"}})
    result = run_small(skill, tmp_path / "w", settings(judge=spec, trials=2))
    place = str(result.iteration.path)
    with pytest.raises(NotFoundError, match="nobody decided"):
        run(place)
    assert "label-sample.json" in run(place, "--sample", "2").output
    ids = [f"eval-1-{arm}-run-{k}" for arm in ("with_skill", "without_skill") for k in (1, 2)]
    reviews = [{"run_id": name, "expectations": [{"index": 1, "passed": name != ids[3]}]} for name in ids]
    result.iteration.feedback_path.write_text(json.dumps({"reviews": reviews}))
    text = run(place).output
    assert "All: agree in 3 of 4" in text and f"{ids[3]}: {POLITE}: the judge passed it, a person failed it" in text
    assert "The effect is not corrected: with_skill has 2 true passes" in text
    figures = json.loads(run(place, "--format", "json").stdout)
    assert figures["overall"]["sensitivity"] == 1.0 and figures["overall"]["specificity"] == 0.0
    assert figures["overall"]["kappa"] == 0.0, "the judge passed everything: no better than chance"


def test_without_a_judge_there_is_nothing_to_check(tmp_path: Path) -> None:
    run_small(write_skill(tmp_path), tmp_path / "w", settings(trials=1))
    with pytest.raises(NotFoundError, match="no judge"):
        run(str(tmp_path / "w"))
