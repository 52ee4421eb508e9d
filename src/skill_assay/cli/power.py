"""`assay power`: what so many evals and trials can see, and what they cost; or what so many trigger queries can."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from skill_assay.benchmark.design import Measured, eval_designs, measured, query_designs
from skill_assay.cli.options import output_options
from skill_assay.errors import InputError
from skill_assay.model.power import PowerTable
from skill_assay.reports.power import power_text, simulation_text

__all__ = ["command"]

EVALS, TRIALS, EFFECTS = (6, 8, 15, 30, 60), (1, 3, 5), (0.05, 0.10, 0.20, 0.30)
QUERIES, RUNS = (8, 20, 40, 80), (1, 3, 5)
SIMULATED_EVALS, SIMULATED_EFFECTS = (5, 8, 15, 30), (0.0, 0.16, 0.30)
MOST_SIMULATED = 0.45
EQUIVALENCE = 60, 10
"""Evals and trials enough for `equivalent` to be found at all, shown at no difference and at one of the margin."""
EARLY_EVALS, EARLY_ROUNDS = 20, 5


@click.command()
@click.argument("place", type=click.Path(), required=False)
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--evals", multiple=True, type=click.IntRange(1, 2000), metavar="N", help="Number of evals (repeatable).")
@click.option("--trials", multiple=True, type=click.IntRange(1, 100), metavar="N", help="Trials an arm (repeatable).")
@click.option(
    "--effect",
    "effects",
    multiple=True,
    type=click.FloatRange(0, 1, min_open=True),
    metavar="SHARE",
    help="True effect (0.1 = 10 points; repeatable).",
)
@click.option("--queries", multiple=True, type=click.IntRange(1, 2000), metavar="N", help="Queries of a trigger set.")
@click.option("--runs", multiple=True, type=click.IntRange(1, 100), metavar="N", help="Runs of each query.")
@click.option("--triggers", is_flag=True, help="Plan a trigger set; implied by --queries and --runs.")
@click.option("--price", type=click.FloatRange(0), metavar="USD", help="Price of a launch, where nothing was measured.")
@click.option("--simulate", is_flag=True, help="Run the verdict rule on simulated benchmarks of known truth.")
@click.option(
    "--samples", type=click.IntRange(1), default=1000, metavar="N", help="Simulated benchmarks of each kind (1000)."
)
@click.option("--seed", type=int, default=42, metavar="N", help="Fixes what is simulated (42).")
@output_options(["text", "json"])
def command(
    place: str | None,
    workspace: str | None,
    evals: tuple[int, ...],
    trials: tuple[int, ...],
    effects: tuple[float, ...],
    queries: tuple[int, ...],
    runs: tuple[int, ...],
    triggers: bool,
    price: float | None,
    simulate: bool,
    samples: int,
    seed: int,
    format_: str,
    output: str | None,
) -> int:
    """What a design can see, from the spread PLACE (a skill, a workspace or an iteration) measured, else a prior.

    Prints a table of evals × trials × true effect with power, launches and price; `-o FILE.svg` draws it. With
    --triggers, or a trigger set as PLACE, the same for a trigger set. With --simulate it shows on simulated benchmarks
    how often the verdict is wrong.
    """
    if simulate:
        _write(_simulated(evals, trials, effects, samples, seed, format_), output)
        return 0
    wanted = sorted(set(effects or EFFECTS))
    if triggers or queries or runs or _is_query_file(place):
        if evals or trials:
            raise click.UsageError("--evals and --trials plan a benchmark; a trigger set has --queries and --runs.")
        sizes = queries or ((*QUERIES, _query_count(place)) if place else QUERIES)
        table = query_designs(sorted(set(sizes)), sorted(set(runs or RUNS)), wanted, price=price, seed=seed)
    else:
        table = _evals(place, workspace, evals, trials, wanted, price)
    text = json.dumps(table.to_dict(), indent=2) + "\n" if format_ == "json" else power_text(table)
    if output and Path(output).suffix.lower() == ".svg":
        _draw(table, output)
        output = None
    _write(text, output)
    return 0


def _is_query_file(place: str | None) -> bool:
    if place is None or not Path(place).is_file():
        return False
    from skill_assay.formats.sniff import Kind, sniff

    return sniff(Path(place)) is Kind.TRIGGERS


def _query_count(place: str) -> int:
    """How many queries the trigger set has, or that of the skill."""
    from skill_assay.formats.triggers import find_queries, load_queries

    path = Path(place)
    return len(load_queries(path if path.is_file() else find_queries(path)).queries)


def _evals(
    place: str | None,
    workspace: str | None,
    evals: tuple[int, ...],
    trials: tuple[int, ...],
    effects: Sequence[float],
    price: float | None,
) -> PowerTable:
    past = _past(place, workspace) if place else None
    sizes = evals or ((*EVALS, past.evals) if past else EVALS)
    repeats = trials or ((*TRIALS, past.trials) if past else TRIALS)
    cost = past.cost_per_launch if past and past.cost_per_launch is not None else price
    return eval_designs(sorted(set(sizes)), sorted(set(repeats)), effects, past=past, price=cost)


def _past(place: str, workspace: str | None) -> Measured | None:
    """What the place's newest iteration measured; `None` for a skill that was never run."""
    from skill_assay.benchmark.cells import outcome_of
    from skill_assay.workspace.discovery import discover
    from skill_assay.workspace.resolve import iteration_of, resolve_place

    named = resolve_place(place, Path(workspace) if workspace else None)
    if named.kind == "skill" and named.iteration is None:
        click.echo(f"No iteration of {named.path} yet; the spread is assumed.", err=True)
        return None
    found = discover(iteration_of(named).path)
    arms = {arm.role: arm.name for arm in found.arms}
    if "primary" not in arms or "baseline" not in arms:
        raise InputError(
            "there is no pair of arms to learn the spread from",
            file=place,
            found=", ".join(arm.name for arm in found.arms),
            hint="Leave the place out to plan from the assumed spread.",
        )
    return measured([outcome_of(run) for run in found.runs], arms["primary"], arms["baseline"])


def _simulated(
    evals: tuple[int, ...], trials: tuple[int, ...], effects: tuple[float, ...], samples: int, seed: int, format_: str
) -> str:
    from skill_assay.stats.calibrate import calibrate, calibrate_early
    from skill_assay.stats.simulate import world_of

    if max(effects, default=0.0) > MOST_SIMULATED:
        raise InputError(
            "is more than the simulated tasks leave room for",
            file="--effect",
            found=f"{max(effects):g}",
            expected=f"at most {MOST_SIMULATED:g}",
        )
    truths = sorted({0.0, *(effects or SIMULATED_EFFECTS)})
    click.echo(f"Simulating {samples:,} benchmarks of each kind (seed {seed})", err=True)
    fixed = [
        calibrate(world_of(effect), evals=n, trials=t, samples=samples, seed=seed)
        for effect in truths
        for n in sorted(set(evals or SIMULATED_EVALS))
        for t in sorted(set(trials or (3,)))
    ]
    n, t = EQUIVALENCE
    fixed += [calibrate(world_of(effect), evals=n, trials=t, samples=samples, seed=seed) for effect in (0.0, 0.05)]
    early = [
        calibrate_early(world_of(effect), evals=EARLY_EVALS, rounds=EARLY_ROUNDS, samples=samples, seed=seed)
        for effect in (0.0, 0.20)
    ]
    if format_ == "json":
        return json.dumps({"verdicts": list(map(asdict, fixed)), "early": list(map(asdict, early))}, indent=2) + "\n"
    return simulation_text(fixed, early)


def _draw(table: PowerTable, output: str) -> None:
    from skill_assay.reports.charts import power_svg

    _write(power_svg(table), output)
    click.echo(f"Plot: {output}", err=True)


def _write(text: str, output: str | None) -> None:
    if output is None:
        click.echo(text.encode(), nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError("can't be written", file=output, found=error.strerror or str(error)) from error
