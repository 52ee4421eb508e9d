"""`assay compare`: two arms' outputs side by side, judged blind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.benchmark.votes import Votes, count_votes
from skill_assay.cli.asking import Desk, asking
from skill_assay.cli.model_options import model_options
from skill_assay.cli.options import output_options
from skill_assay.errors import IncompleteError, NotFoundError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.reports.figures import count
from skill_assay.runner.comparing import Pair, compare_runs, mask_of, pair_record, pairs_of
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.judgements import write_comparisons
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.resolve import iteration_of, resolve_place
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.writing import Writer

__all__ = ["command"]


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--primary", metavar="ARM", help="The arm whose worth is asked, where it can't be told.")
@click.option("--baseline", metavar="ARM", help="The arm it is compared with.")
@click.option("--mask", "masks", multiple=True, metavar="WORD", help="Mask this too on both sides (repeatable).")
@click.option("--seed", type=int, default=42, show_default=True, help="Draws which side is shown first.")
@model_options
@output_options(["text", "json"])
def command(place: str, workspace: str | None, format_: str, output: str | None, **options: Any) -> int:
    """Judge the outputs of PLACE blind: run k of one arm with run k of the other, each pair in both orders.

    A side wins a pair only when it wins in both orders. The judge sees neither arms nor paths; the skill's name is
    masked on both sides.
    """
    named = iteration_of(resolve_place(place, Path(workspace) if workspace else None))
    found = discover(named.path, primary=options["primary"], baseline=options["baseline"])
    found = found.only(options["eval_ids"]) if options["eval_ids"] else found
    iteration = Iteration(found.root, Writer(Redactor([])))
    pairs = pairs_of(found)
    if not pairs:
        raise NotFoundError("no two runs to compare here", file=str(found.root), expected="run k in both arms")
    with asking(iteration, options, 2 * len(pairs)) as desk:
        done = anyio.run(_compare, found, pairs, desk, options)
        judge = desk.asker.name
    records = [record for record in (pair_record(pair, judge) for pair in done) if record]
    votes = _votes(done)
    summary = _summary(votes, judge)
    write_comparisons(iteration, records, summary)
    _show(summary, votes, found, format_, output)
    if not records:
        raise IncompleteError(f"No pair could be compared: {next(pair.failed for pair in done)}")
    return 3 if votes.failed else 0


async def _compare(found: Found, pairs: list[Pair], desk: Desk, options: dict[str, Any]) -> list[Pair]:
    return await compare_runs(
        found,
        pairs,
        desk.model,
        desk.ledger,
        seed=options["seed"],
        mask=mask_of(found, options["masks"]),
        expected=_expected(found),
    )


def _expected(found: Found) -> dict[str, str]:
    """What the evals' author expects, where the skill is still there."""
    root = Path(found.plan.skill_path) if found.plan else None
    if root is None or not root.is_dir():
        return {}
    evals = load_evals(find_evals(root), skill_root=root)
    return {one.id: one.expected_output for one in evals.evals if one.expected_output}


def _votes(pairs: list[Pair]) -> Votes:
    outcomes: dict[str, list[int]] = {}
    for pair in pairs:
        if pair.compared is not None:
            value = {"primary": 1, "baseline": -1}.get(pair.compared.winner or "", 0)
            outcomes.setdefault(pair.primary.eval.key, []).append(value)
    flips = sum(pair.compared.flipped for pair in pairs if pair.compared is not None)
    return count_votes(outcomes, flips, sum(pair.compared is None for pair in pairs))


def _summary(votes: Votes, judge: str) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "judge": judge,
        "evals": {"won": votes.wins, "tied": votes.ties, "lost": votes.losses},
        "p": votes.p,
        "pairs": votes.pairs,
        "flips": votes.flips,
        "flip_rate": votes.flip_rate,
        "failed": votes.failed,
        "by_eval": votes.by_eval,
    }


def _show(summary: dict[str, Any], votes: Votes, found: Found, form: str, output: str | None) -> None:
    text = json.dumps(summary, indent=2, ensure_ascii=False) if form == "json" else _words(votes, found)
    if output:
        Path(output).write_text(text + "\n", encoding="utf-8")
    else:
        click.echo(text)


def _words(votes: Votes, found: Found) -> str:
    arms = {arm.role: arm.name for arm in found.arms}
    first, second = arms.get("primary", "primary"), arms.get("baseline", "baseline")
    lines = [
        f"{first} against {second}, blind: {count(votes.wins, 'eval')} won, {votes.ties} tied, {votes.losses} lost "
        f"(exact sign test: p = {votes.p:.3g})",
    ]
    if votes.flip_rate is not None:
        lines.append(
            f"In {votes.flips} of {votes.pairs} pairs ({votes.flip_rate:.0%}) the order decided: those are ties"
        )
    if votes.failed:
        lines.append(f"{count(votes.failed, 'pair')} could not be compared")
    words = {1: "won", 0: "tied", -1: "lost"}
    lines += [f"  {name}: {words[value]}" for name, value in votes.by_eval.items()]
    return "\n".join(lines)
