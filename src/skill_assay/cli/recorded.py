"""Going on with an iteration: what a person does not say again is as it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from skill_assay.cli.resolve import Resolved
from skill_assay.errors import NotFoundError
from skill_assay.model.trial import Limits
from skill_assay.runner.settings import Budget, RunSettings

__all__ = ["as_recorded"]


def _same(value: Any) -> Any:
    return value


def _file(value: str | None) -> Path | None:
    if value and not Path(value).exists():
        raise NotFoundError(
            "is not there any more: the iteration's evals were read from it",
            file=value,
            hint="Put it back, or name where it is now with --evals.",
        )
    return Path(value) if value else None


_FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "agent": ("agent", _same),
    "model": ("model", _same),
    "judge": ("judge", _same),
    "judge_votes": ("judge_votes", _same),
    "judge_mode": ("judge_mode", _same),
    "baseline": ("baselines", tuple),
    "invoke": ("invoke", _same),
    "trials": ("trials", _same),
    "seed": ("seed", _same),
    "allow": ("allow", tuple),
    "mcp_config": ("mcp_config", lambda value: Path(value) if value else None),
    "pass_env": ("pass_env", tuple),
    "sandbox": ("sandbox", _same),
    "budget": ("budget", lambda value: Budget(**value)),
    "timeouts": ("timeouts", _same),
    "margin": ("margin", _same),
    "grader": ("grader", _same),
    "notes": ("notes", _same),
    "ungraded": ("ungraded", _same),
    "evals": ("evals_file", _file),
    "allow_outside_files": ("allow_outside_files", _same),
    "allow_unequal": ("allow_unequal", _same),
}
"""Option → field of the settings, and how its recorded form is read."""


def as_recorded(resolved: Resolved, recorded: Mapping[str, Any] | None) -> RunSettings:
    """The settings to go on with: those somebody set, and for the others those of a plan.

    So `--resume` alone goes on with the agent, the limits and the budget there were. `--keep-secrets` is never taken
    over: it is asked for each time.
    """
    settings = resolved.settings
    if recorded is None:
        return settings
    unsaid = {name for name, one in resolved.origins.items() if one.origin == "default"}
    changes = {
        field: read(recorded[field]) for name, (field, read) in _FIELDS.items() if name in unsaid and field in recorded
    }
    return replace(settings, **changes, limits=_limits(settings.limits, recorded.get("limits"), unsaid))


def _limits(now: Limits, recorded: Mapping[str, Any] | None, unsaid: set[str]) -> Limits:
    if recorded is None:
        return now
    said = {field: getattr(now, field) for name, field in _LIMITS.items() if name not in unsaid}
    return replace(Limits(**recorded), **said)


_LIMITS = {"timeout": "seconds", "max_turns": "turns"}
