from __future__ import annotations

from pathlib import Path

from inline_snapshot import snapshot

from skill_assay.benchmark.aggregate import aggregate
from skill_assay.errors import FailureKind
from skill_assay.reports.markdown import benchmark_markdown
from skill_assay.workspace.discovery import discover
from tests.made import made_eval, made_iteration, made_plan, made_trial


def test_the_whole_page(tmp_path: Path) -> None:
    trials = [
        made_trial(marks="pp", used=True),
        made_trial(marks="pf", repeat=2, used=True),
        made_trial(arm="without_skill", marks="pf"),
        made_trial(arm="without_skill", repeat=2, failure=FailureKind.CRASHED),
    ]
    plan = made_plan(
        trials=2, settings={"thresholds": {"min_pass_rate": 0.8}}, agents={"with_skill": {"simulated": True}}
    )
    found = aggregate(discover(made_iteration(tmp_path, plan, trials).path))
    text = benchmark_markdown(found, headline="Cannot tell yet").replace(found.timestamp, "TIME")
    assert text == snapshot("""\
# Benchmark of pdf

Iteration 1 · TIME · agent simulated · model-1 · **simulated: no real agent did this work**

**Cannot tell yet**

## Summary

| metric | current | previous | delta | threshold | status |
|---|---|---|---|---|---|
| pass rate | 75% | – | – | 0.80 | **missed**: dates 75 % |
| tokens | 1000 | – | – | – | – |
| time | 10 s | – | – | – | – |
| effect | – |  |  | – | – |
| improvement ratio | 1.50 |  |  | – | – |
| skill used | 2 of 2 |  |  | – | – |
| excluded | 1 of 4 |  |  | – | – |

| arm | mean ± sample standard deviation | trials | skill used |
|---|---|---|---|
| With Skill | 75% ± 35% pass rate, 10s ± 0s, 1000 ± 0 tokens | 2 of 2 | 2 of 2 |
| Without | 50% ± 0% pass rate, 10s ± 0s, 1000 ± 0 tokens | 1 of 2 | – |
| Delta | +25pp pass rate, 0s time, 0 tokens | | |

## Per-eval detail

| eval | with\\_skill | without\\_skill | trials | reliability |
|---|---|---|---|---|
| dates | ●◐ 75% | ◐× 50% | 2+1 | low |

## Variance analysis

| eval | arm | sd | least | greatest | all passed | pass@2 | pass^2 | reliability |
|---|---|---|---|---|---|---|---|---|
| dates | with\\_skill | 0.35 | 50% | 100% | 1/2 | 100% | 0% | low |
| dates | without\\_skill | 0.00 | 50% | 50% | 0/1 | – | – | unreliable |

- with\\_skill: the suite's mean moves by 0.354 (sd) from repeat to repeat: not stable
- without\\_skill: too few repeats to say how the suite's mean moves

## Left out

- dates, without\\_skill, run 2: agent crashed

## Recommendations

- min\\_pass\\_rate is 0.75, asked 0.80: begin with dates 75 %
- dates: outcomes vary from trial to trial; read a passing and a failing transcript side by side, and make the instruction that decides between them explicit
- dates: fewer than two completed trials in an arm say nothing of reliability; add trials
- 1 expectation always passes in both arms ("one" of dates): ask more of it, or drop it

## Worth a look

- simulated: no real agent did any of this work
- dates lost one trial of without\\_skill: agent crashed; \\`assay run SKILL --resume\\` would run it again
- "one" of dates passes in both arms every time: it cannot show what the skill adds
- low reliability, outcomes vary from trial to trial: dates
- unreliable, fewer than two completed trials in an arm: dates
""")


def test_untrusted_names_are_plain_text(tmp_path: Path) -> None:
    one = made_eval(name="a|b <script>x</script> [link](http://x) **bold**\n# head")
    page = benchmark_markdown(aggregate(discover(made_iteration(tmp_path, made_plan(), [made_trial()], [one]).path)))
    rows = [line for line in page.splitlines() if "script" in line]
    assert len(rows) > 3
    assert all(r"a\|b \<script\>x\</script\> \[link\](http://x) \*\*bold\*\* \# head" in row for row in rows)
    row = next(row for row in rows if row.startswith("|"))
    assert row.startswith(r"| a\|b \<script\>x\</script\> \[link\](http://x) \*\*bold\*\* \# head |")
