"""How long `assay --help` takes: what every use of the command pays."""

from __future__ import annotations

import statistics

from benches.figures import ASSAY, Figure, median, run

NAME = "start"


def measure() -> list[Figure]:
    cpu: list[float] = []

    def once() -> float:
        ran = run([*ASSAY, "--help"])
        cpu.append(ran.cpu_seconds * 1000)
        return ran.seconds * 1000

    help_ms = median(once, 15)
    bare_ms = median(lambda: run([ASSAY[0], "-c", "pass"]).seconds * 1000, 15)
    note = f"{statistics.median(cpu):.0f} ms CPU; Python alone {bare_ms:.0f} ms"
    return [Figure("assay --help", help_ms, "ms", 150, note=note)]
