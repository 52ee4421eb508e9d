"""`assay judge-check`: does the judge decide as people do?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from skill_assay.benchmark.judge_check import Check, Judged, check_judge, draw_sample
from skill_assay.cli.options import output_options
from skill_assay.errors import NotFoundError
from skill_assay.formats.feedback import Feedback, feedback_from_dict
from skill_assay.graders.person import run_id
from skill_assay.stats.results import Agreement
from skill_assay.workspace.discovery import Found, discover
from skill_assay.workspace.judgements import read_sample, write_sample
from skill_assay.workspace.resolve import iteration_of, resolve_place
from skill_assay.workspace.run_folder import RunFolder, read_json
from skill_assay.workspace.store import Iteration

__all__ = ["command"]

_SHOWN = 20


@click.command()
@click.argument("place", type=click.Path())
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where the skill's results lie.")
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="Draw N expectations of each arm for people to decide."
)
@click.option("--seed", type=int, default=42, show_default=True, help="Draws the sample.")
@output_options(["text", "json"])
def command(place: str, workspace: str | None, sample: int | None, seed: int, format_: str, output: str | None) -> int:
    """Hold the judge's verdicts in PLACE against those of people in feedback.json.

    Says kappa, alpha, sensitivity, specificity and where they disagree. The effect is corrected for the judge's errors
    only with a random sample, wholly labelled, of at least 20 true passes and 20 true fails in each arm.
    """
    iteration = iteration_of(resolve_place(place, Path(workspace) if workspace else None))
    found = discover(iteration.path)
    judged = list(_judged(found, _feedback(iteration)))
    if not judged:
        raise NotFoundError(
            "no judge decided anything here", file=str(found.root), hint="Name one: assay grade --judge"
        )
    if sample:
        path = write_sample(iteration, draw_sample(judged, sample, seed))
        click.echo(f"Decide these, in {iteration.feedback_path.name} or in assay view: {path}")
        return 0
    if all(one.person is None for one in judged):
        hint = "Draw some to decide with  assay judge-check PLACE --sample 60"
        raise NotFoundError("nobody decided an expectation here yet", file=str(iteration.feedback_path), hint=hint)
    drawn = [(row["run_id"], row["index"]) for row in (read_sample(iteration) or {}).get("items", ())]
    checked = check_judge(judged, _arms(found), drawn)
    text = json.dumps(asdict(checked), indent=2, ensure_ascii=False) if format_ == "json" else _words(checked)
    if output:
        Path(output).write_text(text + "\n", encoding="utf-8")
    else:
        click.echo(text)
    return 0


def _feedback(iteration: Iteration) -> Feedback:
    file = iteration.feedback_path
    return feedback_from_dict(read_json(file), file=str(file)) if file.is_file() else Feedback()


def _arms(found: Found) -> tuple[str, str] | None:
    arms: dict[str, str] = {arm.role: arm.name for arm in found.arms}
    return (arms["primary"], arms["baseline"]) if {"primary", "baseline"} <= arms.keys() else None


def _judged(found: Found, feedback: Feedback) -> Iterator[Judged]:
    """The judge's last verdict on each expectation, from its own log: a person's verdict replaces it in the grades."""
    for run in found.runs:
        folder = found.root / run.folder
        last: dict[int, dict[str, Any]] = {}
        for record in RunFolder(folder).judge_records():
            if record.get("kind") == "verdicts":
                last |= {row["index"]: row for row in record["verdicts"]}
        name = run_id(folder)
        review = feedback.of(name)
        said = {one.index: one.passed for one in review.expectations} if review else {}
        for index, row in sorted(last.items()):
            if row["decision"] in ("passed", "failed"):
                passed = row["decision"] == "passed"
                yield Judged(name, index, run.arm, row["text"], passed, row["evidence"], said.get(index))


def _words(found: Check) -> str:
    lines = [f"All: {_agreement(found.overall)}"]
    lines += [f"{arm}: {_agreement(one)}" for arm, one in found.by_arm.items()]
    if found.disagreements:
        lines.append("They disagree about:")
        for one in found.disagreements[:_SHOWN]:
            said, other = ("passed", "failed") if one.judge else ("failed", "passed")
            lines.append(f"  {one.run_id}: {one.text}: the judge {said} it, a person {other} it ({one.evidence[:200]})")
        if len(found.disagreements) > _SHOWN:
            lines.append(f"  and {len(found.disagreements) - _SHOWN} more")
    if found.effect is not None:
        rates = ", ".join(f"{arm} {found.reported[arm]:.0%} → {rate:.0%}" for arm, rate in found.corrected.items())
        lines.append(
            f"Corrected for the judge's errors: {rates}; effect {100 * found.effect:+.0f} points (judged ones only)"
        )
    else:
        lines.append(f"The effect is not corrected: {found.why_not}")
    return "\n".join(lines)


def _agreement(one: Agreement) -> str:
    shown = [f"agree in {one.agreed} of {one.n}"]
    for name in ("kappa", "alpha", "sensitivity", "specificity"):
        value = getattr(one, name)
        shown.append(f"{name} {'not defined' if value is None else f'{value:.2f}'}")
    return ", ".join(shown)
