"""What a command says before and after a run, and the questions it asks."""

from __future__ import annotations

import sys

import click

from skill_assay.errors import ConfirmationError
from skill_assay.reports.figures import count, launches
from skill_assay.runner.estimate import CONFIRM_LAUNCHES, CONFIRM_USD, Estimate
from skill_assay.runner.judging import judge_words
from skill_assay.runner.session import Session

__all__ = ["confirm", "estimate_line", "head_line", "launches_line"]


def head_line(session: Session) -> str:
    """The skill, the agent, how it is invoked, the seed."""
    skill, settings = session.inputs.skill, session.settings
    version = session.detected.version if session.detected else ""
    agent = f"{session.agent.name} {version}".strip() + (f" ({settings.model})" if settings.model else "")
    parts = [f"{skill.name} {skill.digest[:7]}", agent, settings.invoke, f"seed {settings.seed}"]
    if session.agent.capabilities.simulated:
        parts.append("simulated: no real agent's work")
    parts += judge_words(session.inputs.chosen, settings)
    return " · ".join(parts)


def launches_line(session: Session, left: int, expected: Estimate) -> str:
    """How many launches, and what they are expected to take."""
    plan = session.plan
    whole = len(plan.order)
    shape = " × ".join(
        count(n, noun) for n, noun in ((len(plan.eval_ids), "eval"), (len(plan.arms), "arm"), (plan.trials, "trial"))
    )
    even = whole == len(plan.eval_ids) * len(plan.arms) * plan.trials
    shape += f" = {launches(whole)}" if even else f" at most, {launches(whole)} in all"
    if left != whole:
        shape += f", {left} of them still to be run"
    return f"{shape}, {estimate_line(expected)}"


def estimate_line(expected: Estimate) -> str:
    """Money and time, and what that rests on."""
    minutes = expected.seconds / 60
    time = f"{round(minutes)} min" if minutes >= 1.5 else f"{max(1, round(expected.seconds))} s"
    basis = "from past trials" if expected.measured else "prior; no history yet"
    if expected.spend.usd == 0:
        return f"no cost expected, about {time} ({basis})"
    return f"about ${expected.spend.usd:.2f} and {time} ({basis})"


def confirm(expected: Estimate, yes: bool, smaller: str = "--trials, --eval or --budget") -> None:
    """Ask before a costly run.

    Args:
        expected: what it is expected to take.
        yes: `--yes`.
        smaller: the options that make it smaller, in words.

    Raises:
        ConfirmationError: it was declined, or there is no terminal to ask at.
    """
    if yes or not expected.needs_confirmation:
        return
    limit = f"above {CONFIRM_LAUNCHES} launches or ${CONFIRM_USD:.0f}"
    if not sys.stdin.isatty() or not sys.stderr.isatty():
        raise ConfirmationError(
            f"This run is {limit} ({estimate_line(expected)}): it needs your word, and there is no terminal to ask at",
            hint=f"Add --yes, or make it smaller with {smaller}.",
        )
    if not click.confirm("Go on?", default=False, err=True):
        raise ConfirmationError("Nothing was launched")
