"""How long it takes until `assay view` has shown the first page of a large iteration, and then the matrix."""

from __future__ import annotations

import random
import statistics
import subprocess
import tempfile
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

import psutil

from benches.figures import ASSAY, Figure, timed
from skill_assay.model.evals import Eval, Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.plan import Plan
from skill_assay.model.transcript import Tokens, Usage
from skill_assay.model.trial import Arm, Attempt, Limits, State, Trial, TrialId
from skill_assay.workspace.store import Iteration, Workspace

NAME = "viewer"
EVALS, TRIALS, EXPECTATIONS, ROUNDS = 100, 25, 6, 3
ARMS = {"with_skill": 0.85, "without_skill": 0.6}


def grow(place: Path) -> int:
    """An iteration of ours, through the store's own writers."""
    draw = random.Random(1)
    iteration = Workspace.create(place / "bench-workspace").next_iteration()
    evals = {f"e{n}": Eval(f"e{n}", "Do it.", tuple(map(Expectation, _texts()))) for n in range(EVALS)}
    arms = (
        Arm("with_skill", "primary", "simulated", skill=Path("skill")),
        Arm("without_skill", "baseline", "simulated"),
    )
    order = tuple(TrialId(name, arm.name, k) for k in range(1, TRIALS + 1) for name in evals for arm in arms)
    iteration.write_plan(Plan("bench", "skill", 1, arms, order, TRIALS, 42, Limits(), eval_ids=tuple(evals)))
    for one in order:
        _record(iteration, one, evals[one.eval_id], draw)
    return len(order)


def _texts() -> list[str]:
    return [f"Expectation {index} holds" for index in range(1, EXPECTATIONS + 1)]


def _record(iteration: Iteration, one: TrialId, asked: Eval, draw: random.Random) -> None:
    seconds = draw.uniform(20, 60)
    usage = Usage(Tokens(output=draw.randrange(10_000, 40_000)), 0.01, seconds=seconds)
    attempt = Attempt(1, None, answer="done", usage=usage, models=("model-1",), wall_seconds=seconds)
    grades = tuple(
        Grade(text, Decision.PASSED if draw.random() < ARMS[one.arm] else Decision.FAILED, "seen in answer.md", "check")
        for text in _texts()
    )
    iteration.record(Trial(one, State.COMPLETED, (attempt,), grades, arm_agent="simulated"), asked)


def _once(place: Path) -> tuple[float, float, float]:
    """Seconds until the first page, CPU seconds by then, and seconds of the matrix after it."""
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    server: list[subprocess.Popen[str]] = []
    address: list[str] = []

    def first() -> None:
        argv = [*ASSAY, "view", str(place), "--no-open"]
        server.append(subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        with opener.open((server[0].stdout or iter(())).__next__().strip()) as answer:
            answer.read()
            address.append(answer.url.rsplit("/", 1)[0])

    try:
        seconds = timed(first)
        spent = psutil.Process(server[0].pid).cpu_times()
        matrix = timed(lambda: opener.open(f"{address[0]}/evals").read())
    finally:
        server[0].terminate()
        server[0].wait(timeout=20)
    return seconds, spent.user + spent.system, matrix


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as scratch:
        count = grow(Path(scratch))
        rounds = [_once(Path(scratch) / "bench-workspace") for _ in range(ROUNDS + 1)][1:]
    seconds, cpu, matrix = (statistics.median(column) for column in zip(*rounds, strict=True))
    return [
        Figure("viewer, first page", seconds, "s", 2, note=f"{count} trials, {cpu:.1f} s CPU"),
        Figure("viewer, the matrix after it", matrix, "s", 0.5, note="50 evals of 50 trials"),
    ]
