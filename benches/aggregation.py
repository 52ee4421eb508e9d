"""How long it takes to derive the numbers of a large tree of graded runs, and with how much memory."""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

from benches.figures import ASSAY, Figure, Ran, run

NAME = "aggregation"
EVALS, ARMS, RUNS, EXPECTATIONS = 100, {"with_skill": 0.85, "without_skill": 0.6}, 100, 6
ROUNDS = 3
ALONE = """
import sys
from pathlib import Path
from skill_assay.benchmark.aggregate import aggregate
from skill_assay.workspace.discovery import discover
print(aggregate(discover(Path(sys.argv[1]))).trials)
"""


def grow(iteration: Path) -> int:
    """A tree as other tools write it: one `grading.json` and `timing.json` a run."""
    draw = random.Random(1)
    count = 0
    for number in range(1, EVALS + 1):
        folder = iteration / f"eval-{number}"
        for arm, chance in ARMS.items():
            for repeat in range(1, RUNS + 1):
                place = folder / arm / f"run-{repeat}"
                place.mkdir(parents=True)
                (place / "grading.json").write_text(json.dumps(grading(draw, chance)), encoding="utf-8")
                (place / "timing.json").write_text(json.dumps(timing(draw)), encoding="utf-8")
                count += 1
        metadata = {"eval_id": number, "eval_name": f"eval {number}", "prompt": "Write the report.", "assertions": []}
        (folder / "eval_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    return count


def grading(draw: random.Random, chance: float) -> dict[str, object]:
    marks = [draw.random() < chance for _ in range(EXPECTATIONS)]
    expectations = [
        {"text": f"Expectation {index} holds", "passed": mark, "evidence": f"seen in outputs/report.md, line {index}"}
        for index, mark in enumerate(marks)
    ]
    passed = sum(marks)
    summary = {"passed": passed, "failed": len(marks) - passed, "total": len(marks), "pass_rate": passed / len(marks)}
    return {"expectations": expectations, "summary": summary}


def timing(draw: random.Random) -> dict[str, object]:
    seconds = round(draw.uniform(20, 60), 1)
    return {
        "total_tokens": draw.randrange(10_000, 40_000),
        "duration_ms": int(seconds * 1000),
        "total_duration_seconds": seconds,
    }


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        iteration = Path(scratch) / "bench-workspace" / "iteration-1"
        count = grow(iteration)
        alone = _middle([sys.executable, "-c", ALONE, str(iteration)])
        whole = _middle([*ASSAY, "benchmark", str(iteration)])
    note = f"{count} runs of {EXPECTATIONS} expectations, "
    return [
        Figure("aggregation", alone.seconds, "s", 3.5, note=f"{note}{alone.cpu_seconds:.1f} s CPU"),
        Figure("aggregation, peak memory", alone.peak_mb, "MB", 200),
        Figure("assay benchmark, inference too", whole.seconds, "s", 6, note=f"{note}{whole.cpu_seconds:.1f} s CPU"),
        Figure("assay benchmark, peak memory", whole.peak_mb, "MB", 200),
    ]


def _middle(argv: list[str]) -> Ran:
    """The median round by time; the first, which warms the file cache, is thrown away."""
    ran = [run(argv) for _ in range(ROUNDS + 1)][1:]
    return sorted(ran, key=lambda each: each.seconds)[ROUNDS // 2]
