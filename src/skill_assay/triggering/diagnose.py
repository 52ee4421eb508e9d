"""Every positive silent, every negative passed: is our detection broken, or is the skill not picked up?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from skill_assay.model.trigger_results import Diagnosis, TriggerResults, TriggerRun
from skill_assay.runner.canary import CanaryReport

__all__ = ["diagnose", "is_silent"]


def is_silent(found: TriggerResults) -> bool:
    """Whether no run of any positive triggered, and every decided negative passes."""
    positives = [one for one in found.queries if one.query.should_trigger and one.decided]
    negatives = [one for one in found.queries if not one.query.should_trigger and one.decided]
    return bool(positives) and not any(one.triggers for one in positives) and all(one.passed for one in negatives)


def diagnose(found: TriggerResults, canary: CanaryReport | None) -> Diagnosis:
    """What a fresh self-test says about it.

    Args:
        found: results for which `is_silent` holds.
        canary: run after them; `None` for an agent without one.
    """
    if canary is not None and canary.failures:
        first = canary.failures[0]
        sentence = (
            f"Our detection is broken on {canary.agent} {canary.version}, so these results say nothing: "
            f"{first.sentence} ({first.name}): {first.wrong}."
        )
        return Diagnosis("broken", sentence, ("Use the version named in the docs, or update Skill Assay.",))
    causes = tuple(_causes(found))
    if canary is None:
        return Diagnosis(
            "untested", "The skill was never picked up. (This agent has no self-test of detection.)", causes
        )
    cases = len(canary.results)
    sentence = f"The skill is not picked up; detection works (self-test just now: {canary.passed} of {cases})."
    return Diagnosis("works", sentence, causes)


def _causes(found: TriggerResults) -> Iterator[str]:
    own, check = found.skill, found.catalogue
    silent = [
        run for one in found.queries if one.query.should_trigger for run in one.runs if run.state.outcome is False
    ]
    if own not in check.skills:
        yield "SKILL.md says disable-model-invocation, so the agent does not tell its model of the skill: remove it."
    elif own in check.dropped:
        yield (
            f"The catalogue is over the budget of about {check.budget} characters, so the model sees this skill's name "
            "and no description: shorten descriptions, or install fewer skills."
        )
    elif own in check.cut:
        yield f"The model sees only {check.per_skill} characters of the description: begin with when to use it."
    others = Counter(name for run in silent for name in run.fired)
    if others:
        name, times = others.most_common(1)[0]
        yield f"{name} fired instead in {times} of {len(silent)} runs: say in both descriptions where the line is."
    alone = _alone(silent)
    if alone:
        yield (
            f"In {alone} of {len(silent)} runs the agent answered by itself, without any skill: it may be able to do "
            "this alone. Ask what needs the skill, with the files and earlier turns of a real session (context)."
        )
    yield (
        'The description may not say when to use it, in the words of a user: try another with --description "… Use '
        'when …"; the skill is not edited by that.'
    )


def _alone(silent: list[TriggerRun]) -> int:
    return sum(not run.fired and run.decided_by == "answer" for run in silent)
