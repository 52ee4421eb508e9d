"""What a person sees after a run, golden at a fixed width."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from rich.console import Console

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.errors import FailureKind
from skill_assay.model.benchmark import Benchmark
from skill_assay.model.trial import Arm
from skill_assay.reports.terminal import print_benchmark, render_benchmark
from skill_assay.workspace.discovery import discover
from tests.made import made_eval, made_iteration, made_plan, made_trial


@pytest.fixture
def found(tmp_path: Path) -> Benchmark:
    """Three evals, one trial lost, one expectation that says nothing, one trial missing."""
    trials = [
        *(
            made_trial("messy-dates", repeat=k, marks="ppp", seconds=40 + k, tokens=31000 + k, used=True)
            for k in (1, 2, 3)
        ),
        *(
            made_trial("messy-dates", "without_skill", k, mark, seconds=33, tokens=22000)
            for k, mark in enumerate(("ppp", "pff", "pff"), 1)
        ),
        *(
            made_trial("refund-rows", repeat=k, marks=mark, seconds=50, tokens=35000, used=k > 1)
            for k, mark in enumerate(("ppp", "ppf", "pff"), 1)
        ),
        made_trial("refund-rows", "without_skill", 1, "pff", seconds=20, tokens=20000),
        made_trial("refund-rows", "without_skill", 2, failure=FailureKind.RATE_LIMITED),
    ]
    plan = made_plan(
        ("messy-dates", "refund-rows"), 3, settings={"thresholds": {"min_pass_rate": 0.8, "min_improvement_ratio": 1.0}}
    )
    evals = [made_eval(name, known_issue="slow" if name == "refund-rows" else None) for name in plan.eval_ids]
    return aggregate(discover(made_iteration(tmp_path, plan, trials, evals).path))


def test_the_whole_report(found: Benchmark) -> None:
    assert render_benchmark(found, place="pdf-workspace/iteration-1", width=110) == snapshot("""\
  With Skill:  83% ± 28% pass rate, 46s ± 4s, 33001 ± 2190 tokens
  Without:     50% ± 33% pass rate, 30s ± 6s, 21500 ± 1000 tokens
  Delta:       +33pp pass rate, +16s time, +11501 tokens      345 tokens a point

  eval         with      without    Δ  skill used  trials  notes
  messy-dates  ●●● 100%  ●◐◐ 56%  +44  3/3         3+3     low reliability
  refund-rows  ●◐◐ 67%   ◐× 33%   +33  2/3         3+1     low reliability; 1 excluded: rate limit; 1 missing;
                                                           known issue: slow

Trials completed: 10 of 12; excluded: 1 rate limit; 1 missing
Skill used: 5 of 6 trials of with_skill
Threshold min_pass_rate 0.80: 1.00, met
Threshold min_improvement_ratio 1.00: 1.80, met
Worth a look
  · partial: 1 of 12 trials missing; `assay run SKILL --resume` runs them
  · refund-rows lost one trial of without_skill: rate limit; `assay run SKILL --resume` would run it again
  · "one" of messy-dates passes in both arms every time: it cannot show what the skill adds
  · "one" of refund-rows passes in both arms every time: it cannot show what the skill adds
  · the skill was used in 5 of 6 trials of with_skill
  · low reliability, outcomes vary from trial to trial: messy-dates, refund-rows
  · unreliable, fewer than two completed trials in an arm: refund-rows
  · known issues, in no threshold but the verdict: refund-rows
Results: pdf-workspace/iteration-1
""")


@pytest.mark.slow
@pytest.mark.parametrize("unicode", [True, False])
def test_no_figure_is_cut_however_narrow_the_terminal_is(found: Benchmark, unicode: bool) -> None:
    for width in range(31, 121):
        lines = render_benchmark(found, width=width, unicode=unicode).splitlines()
        rows = lines[4 : lines.index("", 4)]
        for name, figures in (("  messy", {"100%", "56%", "+44"}), ("  refun", {"67%", "33%", "+33"})):
            row = next(row for row in rows if row.startswith(name))
            assert figures <= set(row.split()) and len(row) <= width, (width, row)
        assert {"low", "excluded:", "missing;"} <= set(" ".join(rows).split()), "what has no room stands below"


def test_on_40_columns_only_what_matters_less_gives_way(found: Benchmark) -> None:
    lines = render_benchmark(found, width=40).splitlines()
    assert lines[4:9] == snapshot(
        [
            "  eval         with      without    Δ",
            "  messy-dates  ●●● 100%  ●◐◐ 56%  +44",
            "  refund-rows  ●◐◐ 67%   ◐× 33%   +33",
            "  messy-dates: low reliability",
            "  refund-rows: low reliability; 1 excluded: rate limit; 1 missing; known issue: slow",
        ]
    )


def test_the_verdict_stands_first_and_only_when_there_is_one(found: Benchmark) -> None:
    first = render_benchmark(found, headline="Better with the skill: +31 points").splitlines()[0]
    assert first == "Better with the skill: +31 points"
    text = render_benchmark(found).lower()
    assert not any(word in text for word in ("better", "worse", "significant"))
    assert text.startswith("  with skill:")


def test_a_terminal_that_knows_ascii_only_gets_ascii(found: Benchmark) -> None:
    text = render_benchmark(found, unicode=False, width=110)
    assert text.isascii()
    assert text.splitlines()[4:7] == snapshot(
        [
            "  eval         with      without  diff  skill used  trials  notes",
            "  messy-dates  ### 100%  #++ 56%   +44  3/3         3+3     low reliability",
            "  refund-rows  #++ 67%   +x 33%    +33  2/3         3+1     low reliability; 1 excluded: rate limit; 1",
        ]
    )


@pytest.mark.parametrize(("encoding", "plain"), [("ascii", True), ("cp1252", True), ("utf-8", False)])
def test_fault_26_the_terminals_encoding_decides(found: Benchmark, encoding: str, plain: bool) -> None:
    class Terminal(StringIO):
        pass

    Terminal.encoding = property(lambda self: encoding)  # type: ignore[assignment,method-assign]
    file = Terminal()
    print_benchmark(found, Console(file=file, width=110, no_color=True))
    assert file.getvalue().isascii() == plain


def test_one_arm_has_no_delta(tmp_path: Path) -> None:
    plan = made_plan(arms=(Arm("with_skill", "primary", "x"),))
    text = render_benchmark(aggregate(discover(made_iteration(tmp_path, plan, [made_trial(tokens=None)]).path)))
    assert text == snapshot("""\
  With Skill:  50% ± 0% pass rate, 10s ± 0s

  eval   with   skill used  trials  notes
  dates  ◐ 50%  –           1

Trials completed: 1 of 1
""")


def test_nothing_measured_shows_no_figure(tmp_path: Path) -> None:
    trials = [made_trial(arm=arm, failure=FailureKind.NOT_SIGNED_IN) for arm in ("with_skill", "without_skill")]
    text = render_benchmark(aggregate(discover(made_iteration(tmp_path, made_plan(), trials).path)))
    assert "0%" not in text
    assert text.splitlines()[:3] == snapshot(
        [
            "  With Skill:  nothing measured",
            "  Without:     nothing measured",
            "  Delta:       not measured in both arms",
        ]
    )


def test_an_untrusted_name_can_not_steer_the_terminal(tmp_path: Path) -> None:
    one = made_eval(name="[bold]x\x1b[2J\u202e\n[/]y")
    text = render_benchmark(aggregate(discover(made_iteration(tmp_path, made_plan(), [made_trial()], [one]).path)))
    assert "\x1b" not in text and "\u202e" not in text
    assert "[bold]x[2J [/]y" in text


def test_many_trials_are_counted_instead_of_drawn(tmp_path: Path) -> None:
    trials = [made_trial(repeat=k, marks="p" if k % 2 else "f") for k in range(1, 13)]
    text = render_benchmark(aggregate(discover(made_iteration(tmp_path, made_plan(trials=12), trials).path)))
    assert "6/12 50%" in text
