"""From inputs and settings to the trials in order, and to what fixes them."""

from __future__ import annotations

import hashlib
import json
import platform
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from skill_assay import __version__
from skill_assay.model.evals import Eval
from skill_assay.model.plan import Plan
from skill_assay.model.trial import Arm, TrialId, TrialSpec
from skill_assay.runner.arms import ArmSource
from skill_assay.runner.inputs import Inputs, eval_digest, tree_digest
from skill_assay.runner.prompt import build_prompt
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.writing import utc_now

__all__ = ["differences", "interleave", "make_plan", "make_specs", "plain_settings"]

_FIXING = ("agent", "agent_version", "model", "invoke")
"""What of an arm's agent must be the same for trials to belong together."""

_SETTINGS = ("allow", "mcp_config", "notes", "pass_env", "sandbox")
"""And of the settings."""

_LIMITS = {"seconds": "the time limit", "turns": "the limit of turns", "output_bytes": "the cap for outputs"}


def interleave(eval_ids: Sequence[str], arms: Sequence[str], trials: int, seed: int) -> tuple[TrialId, ...]:
    """All trials in one seeded order: repeats of evals shuffled, and within each the arms side by side.

    So no arm runs hours before another, a cap leaves the arms balanced, and adding repeats later changes nothing
    about the order of those that were there.
    """
    order: list[TrialId] = []
    for repeat in range(1, trials + 1):
        rng = random.Random(f"{seed}/{repeat}")
        evals = list(eval_ids)
        rng.shuffle(evals)
        for eval_id in evals:
            side_by_side = list(arms)
            rng.shuffle(side_by_side)
            order += [TrialId(eval_id, arm, repeat) for arm in side_by_side]
    return tuple(order)


def make_plan(
    inputs: Inputs,
    sources: Sequence[ArmSource],
    settings: RunSettings,
    agents: Mapping[str, Mapping[str, Any]],
    iteration: int,
    graders_digest: str,
) -> Plan:
    """The plan of a new iteration."""
    eval_ids = tuple(one.id for one in inputs.chosen)
    digests = {
        "skill": inputs.skill.digest,
        "evals": inputs.evals.digest,
        "graders": graders_digest,
        "fixtures": _fixtures_digest(inputs),
        "prompts": _prompts_digest(inputs, sources, settings),
        **{f"eval:{one.id}": eval_digest(one, inputs.fixtures[one.id]) for one in inputs.chosen},
        **{f"arm:{source.arm.name}": source.arm.skill_digest or "" for source in sources},
        **{f"also:{word}": value for word, value in inputs.fixing.items()},
    }
    return Plan(
        skill_name=inputs.skill.name,
        skill_path=str(inputs.skill.root),
        iteration=iteration,
        arms=tuple(source.arm for source in sources),
        order=interleave(eval_ids, [source.arm.name for source in sources], settings.trials, settings.seed),
        trials=settings.trials,
        seed=settings.seed,
        limits=settings.limits,
        digests=digests,
        agents=agents,
        settings=plain_settings(settings),
        eval_ids=eval_ids,
        versions={"skill_assay": __version__, "python": platform.python_version()},
        platform=platform.platform(),
        created_at=utc_now(),
    )


def plain_settings(settings: RunSettings) -> dict[str, Any]:
    """The options as a plan records them."""
    found = _plain(asdict(settings))
    assert isinstance(found, dict)
    return found


def _fixtures_digest(inputs: Inputs) -> str:
    digest = hashlib.sha256()
    for one in inputs.chosen:
        digest.update(one.id.encode() + b"\0" + tree_digest(inputs.fixtures[one.id]))
    return digest.hexdigest()


def _prompts_digest(inputs: Inputs, sources: Sequence[ArmSource], settings: RunSettings) -> str:
    """Over the very words each arm's agent is given."""
    digest = hashlib.sha256()
    for source in sources:
        for one in inputs.chosen:
            trial = TrialId(one.id, source.arm.name, 1)
            spec = TrialSpec(trial, one, source.arm, settings.limits, settings.seed, notes=settings.notes)
            digest.update(build_prompt(spec, source.folder).encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()


def make_specs(plan: Plan, inputs: Inputs, settings: RunSettings, arms: Mapping[str, Arm]) -> tuple[TrialSpec, ...]:
    """One specification a trial of the chosen evals, in the plan's order."""
    evals = {one.id: one for one in inputs.chosen}
    digest = plan_digest(plan)
    return tuple(
        TrialSpec(
            id=trial,
            eval=evals[trial.eval_id],
            arm=arms[trial.arm],
            limits=_limits(settings, evals[trial.eval_id]),
            seed=plan.seed,
            allow=settings.allow,
            mcp_config=settings.mcp_config,
            notes=settings.notes,
            pass_env=settings.pass_env,
            fixtures=inputs.fixtures[trial.eval_id],
            neighbours=inputs.neighbours,
            plan_digest=digest,
        )
        for trial in plan.order
        if trial.eval_id in evals
    )


def plan_digest(plan: Plan) -> str:
    """SHA-256 over what fixes the trials, whatever their number."""
    facts = {"digests": dict(plan.digests), "agents": _fixing(plan.agents), "seed": plan.seed}
    return hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()


def differences(old: Plan, new: Plan) -> list[str]:
    """What changed between a recorded plan and what would be run now, in words; empty when they fit together.

    Only evals present in both are compared: adding evals or trials is no change.
    """
    found = []
    words = {"skill": "the skill", "graders": "the graders"}
    for key, word in words.items():
        if old.digests.get(key) != new.digests.get(key):
            found.append(f"{word} changed ({_short(old.digests.get(key))} before, {_short(new.digests.get(key))} now)")
    for key in sorted(old.digests.keys() | new.digests.keys()):
        if key.startswith("also:") and old.digests.get(key) != new.digests.get(key):
            was, is_now = (_short(plan.digests.get(key)) for plan in (old, new))
            found.append(f"{key[5:]} changed ({was} before, {is_now} now)")
    for key in sorted(old.digests.keys() & new.digests.keys()):
        if key.startswith("eval:") and old.digests[key] != new.digests[key]:
            found.append(f"the eval {key[5:]} changed")
        if key.startswith("arm:") and key != "arm:with_skill" and old.digests[key] != new.digests[key]:
            found.append(f"the skill of the arm {key[4:]} changed")
    if [arm.name for arm in old.arms] != [arm.name for arm in new.arms]:
        found.append(f"the arms were {_names(old.arms)}, now {_names(new.arms)}")
    before, now = _fixing(old.agents), _fixing(new.agents)
    for arm in sorted(before.keys() & now.keys()):
        found += [
            f"{fact.replace('_', ' ')} of {arm} was {before[arm][fact]}, now {now[arm][fact]}"
            for fact in _FIXING
            if before[arm][fact] != now[arm][fact]
        ]
    if old.seed != new.seed:
        found.append(f"the seed was {old.seed}, now {new.seed}")
    return found + _other_settings(old, new)


def _other_settings(old: Plan, new: Plan) -> list[str]:
    """Limits and grants: trials under other ones are no repeats of the same thing."""
    pairs = [
        (word, getattr(old.limits, name), getattr(new.limits, name))
        for name, word in _LIMITS.items()
        if getattr(old.limits, name) != getattr(new.limits, name)
    ]
    pairs += [
        (f"--{name.replace('_', '-')}", old.settings.get(name), new.settings.get(name))
        for name in _SETTINGS
        if (old.settings.get(name) or None) != (new.settings.get(name) or None)
    ]
    return [f"{word} was {_said(before)}, now {_said(now)}" for word, before, now in pairs]


def _said(value: Any) -> Any:
    return "given" if value is True else value or "not given"


def _fixing(agents: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    return {arm: {fact: facts.get(fact) for fact in _FIXING} for arm, facts in agents.items()}


def _limits(settings: RunSettings, one: Eval) -> Any:
    return replace(settings.limits, seconds=one.timeout_seconds) if one.timeout_seconds else settings.limits


def _names(arms: Iterable[Arm]) -> str:
    return ", ".join(arm.name for arm in arms)


def _short(digest: str | None) -> str:
    return (digest[:7] if len(digest) == 64 else digest) if digest else "none"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
