"""Under a budget the first launch of each arm runs alone: what it costs decides how many follow it at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_assay.runner.engine import Ending
from skill_assay.runner.settings import Budget, RunSettings
from tests.runner.small import run_small, settings, trials, write_skill

DEAR = """#!/usr/bin/env python3
import json
def say(kind, **facts):
    print(json.dumps({"type": kind, **facts}), flush=True)
say("started", assay=1, model="m")
%ssay("finished", answer="done")
"""


def dear(folder: Path, bill: str, **changes: Any) -> RunSettings:
    """A program whose launch costs three times what is set aside for it."""
    program = folder / "dear.py"
    program.write_text(DEAR % bill, encoding="utf-8")
    program.chmod(0o755)
    return settings(agent=f"command: {program}", workers=8, trials=1, **changes)


TOLD = 'say("usage", tokens={"input": 900_000, "output": 0}, cost_usd=2.0)\n'


@pytest.mark.slow
@pytest.mark.parametrize("budget", [Budget(usd=10.0), Budget(tokens=4_000_000)])
def test_fault_7_a_price_far_above_what_is_assumed_does_not_pass_the_cap(tmp_path: Path, budget: Budget) -> None:
    result = run_small(write_skill(tmp_path, count=8), tmp_path / "ws", dear(tmp_path, TOLD, budget=budget))
    assert result.stopped.ending is Ending.BUDGET and result.launched >= 2
    assert budget.usd is None or result.spent.usd <= budget.usd
    assert budget.tokens is None or result.spent.tokens <= budget.tokens


@pytest.mark.slow
def test_a_price_that_never_comes_holds_up_nothing(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, count=4)
    result = run_small(skill, tmp_path / "ws", dear(tmp_path, "", budget=Budget(usd=100.0)))
    assert result.stopped.ending is Ending.DONE and len(trials(result)) == 8
