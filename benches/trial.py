"""What a trial costs beyond the agent's own process: sandbox, launcher, parsing, collecting, grading, recording.

One worker, so that wall time is the cost. Two runs of different length are compared, which takes the start of `assay`
and the plan out; the bare start of the simulated agent's process is then taken off.
"""

from __future__ import annotations

import json
import marshal
import statistics
import subprocess
import tempfile
from pathlib import Path

from benches.figures import ASSAY, Figure, Ran, run, timed

NAME = "trial"
SHORT, LONG, ARMS, ROUNDS = 5, 55, 2, 3
EVALS = {
    "skill_name": "bench",
    "evals": [
        {
            "id": 1,
            "prompt": "Write the report.",
            "expectations": [
                {"text": "A report is there", "check": {"file_exists": "report.md"}},
                {"text": "It has a total", "check": {"contains": {"text": "total", "in": "report.md"}}},
            ],
        }
    ],
}
SCRIPT = {"evals": {"*": {"*": [{"write": {"report.md": "total: 3\n"}, "say": "Done.", "tokens": 1000}]}}}


def make_skill(parent: Path) -> Path:
    skill = parent / "bench"
    (skill / "evals").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: bench\ndescription: Writes reports.\n---\nWrite.\n", encoding="utf-8")
    (skill / "evals" / "evals.json").write_text(json.dumps(EVALS), encoding="utf-8")
    (skill / "evals" / "simulated.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    return skill


def run_of(trials: int) -> Ran:
    with tempfile.TemporaryDirectory() as scratch:
        skill = make_skill(Path(scratch))
        options = ["--agent", "simulated", "--workers", "1", "--yes", "--no-progress", "--trials", str(trials)]
        return run([*ASSAY, "run", str(skill), *options])


def bare_start() -> float:
    """The simulated agent's process with nothing to play."""
    from skill_assay.agents.simulated import _PYTHON, _SOURCE

    argv = [_PYTHON, "-I", "-S", "-X", "utf8", "-c", _SOURCE]
    nothing = marshal.dumps([])
    return statistics.median(
        timed(lambda: subprocess.run(argv, input=nothing, capture_output=True, check=True)) for _ in range(50)
    )


def measure() -> list[Figure]:
    bare = bare_start() * 1000
    wall, cpu = [], []
    for _ in range(ROUNDS):
        short, long = run_of(SHORT), run_of(LONG)
        more = (LONG - SHORT) * ARMS
        wall.append((long.seconds - short.seconds) * 1000 / more)
        cpu.append((long.cpu_seconds - short.cpu_seconds) * 1000 / more)
    whole = statistics.median(wall)
    note = f"{whole:.1f} ms a trial ({statistics.median(cpu):.1f} ms CPU), bare process start {bare:.1f} ms"
    return [Figure("our own cost of a trial", whole - bare, "ms", 15, note=note)]
