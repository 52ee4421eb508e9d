"""How long `assay --help` takes: what every use of the command pays."""

from __future__ import annotations

from benches.figures import ASSAY, Figure, median, run

NAME = "start"


def measure() -> list[Figure]:
    help_ms = median(lambda: run([*ASSAY, "--help"]).seconds * 1000, 15)
    bare_ms = median(lambda: run([ASSAY[0], "-c", "pass"]).seconds * 1000, 15)
    return [Figure("assay --help", help_ms, "ms", 150, note=f"Python alone {bare_ms:.0f} ms")]
