"""Lines of a type that is not known pass through, are counted in the trial's record, and are told."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from skill_assay.agents.process import Exit
from skill_assay.agents.registry import agent_names, create_agent, stored_parser
from skill_assay.benchmark.derive import derive
from skill_assay.runner.attempt import _Reader, _sum_up
from tests.runner.small import run_small, settings, write_skill

UNKNOWN = b'{"type": "from_the_future", "data": {}}'
SPECS = [name if name != "command" else "command: cat" for name in agent_names() if name != "simulated"]


@pytest.mark.parametrize("spec", SPECS)
def test_every_adapter_s_are_counted_in_the_attempt(spec: str) -> None:
    reader = _Reader(stored_parser(create_agent(spec)), None, None, None)  # type: ignore[arg-type]
    reader.line(b'{"assay": 1, "type": "started"}')
    before = reader.watch.unknown
    for _ in range(3):
        assert reader.line(UNKNOWN) is None
    attempt = _sum_up(1, "", Exit(1, 1.0), reader, 0.0)
    assert attempt.unknown_events - before == 3


def test_they_are_in_the_trial_s_record_and_told(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    lines = [{"assay": 1, "type": "started"}, json.loads(UNKNOWN), {"type": "finished", "answer": "Done."}]
    program.write_text("".join(f"print({json.dumps(line)!r})\n" for line in lines), encoding="utf-8")
    agent = f"command: {shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    result = run_small(write_skill(tmp_path), tmp_path / "ws", settings(agent=agent))
    trials = list(result.iteration.trials())
    assert trials and all(trial.attempts[-1].unknown_events == 1 for trial in trials)
    told = [note for note in derive(result.iteration.path).benchmark.notes if "not known here" in note]
    assert len(told) == 1
    assert told[0].startswith(f"the agent printed {len(trials)} lines of a type not known here, in {len(trials)} of ")
