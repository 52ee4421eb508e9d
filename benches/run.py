"""Run the benches, or those named, and print medians beside their goals.

    python benches/run.py [start] [parsing] [aggregation] [inference] [trial] [viewer]

Nothing fails here: a figure depends on the machine and on what else it does. Compare with one from the same machine.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benches import aggregation, inference, parsing, start, trial, viewer
from benches.figures import Figure

BENCHES = (start, parsing, aggregation, inference, trial, viewer)


def line(figure: Figure) -> str:
    value = "not measured" if figure.value is None else f"{figure.value:.1f} {figure.unit}"
    goal = f"{'≥' if figure.more_is_better else '≤'} {figure.goal:g} {figure.unit}"
    word = {True: "met", False: "missed", None: "–"}[figure.met]
    return f"{figure.name:<26} {value:>14}   goal {goal:<11} {word:<7} {figure.note}"


def main() -> None:
    wanted = set(sys.argv[1:])
    unknown = wanted - {bench.NAME for bench in BENCHES}
    if unknown:
        sys.exit(f"no such bench: {', '.join(sorted(unknown))}; there are {', '.join(b.NAME for b in BENCHES)}")
    for bench in BENCHES:
        if not wanted or bench.NAME in wanted:
            for figure in bench.measure():
                print(line(figure), flush=True)


if __name__ == "__main__":
    main()
