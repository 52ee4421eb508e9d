"""Options, variables, the configuration file and defaults, resolved to the settings of a run, with their origins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_assay.cli.members import members_of
from skill_assay.cli.options import DEFAULTS
from skill_assay.errors import InputError
from skill_assay.formats.config import Configuration, Setting, find_config, load_config, resolve_settings
from skill_assay.model.suite import Member
from skill_assay.model.trial import Limits
from skill_assay.runner.settings import Budget, Retrying, RunSettings
from skill_assay.workspace.places import skill_folder

__all__ = ["Resolved", "resolve"]

_FILE_ONLY: dict[str, Any] = {
    "skill_name": None,
    "skill_path": None,
    "baseline_type": None,
    "previous_benchmark": None,
    "kind": None,
}
_PLACES: dict[str, Any] = {"evals": None, "eval": (), "tag": (), "workspace": None}
_FLAGS = ("notes", "ungraded", "allow_outside_files", "allow_unequal", "keep_secrets", "keep_sandboxes")


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings of a run and where each came from."""

    settings: RunSettings
    origins: Mapping[str, Setting]
    configuration: Configuration | None
    thresholds: Mapping[str, Any]
    evals_path: Path | None = None
    workspace: Path | None = None
    members: tuple[Member, ...] = ()
    """Every agent with every model asked for; the settings are those of the first."""

    def place(self, name: str) -> Path | None:
        """A setting that is a path: from the configuration it is found from that file's folder."""
        return _place(name, self.origins, self.configuration)

    def show(self, form: str = "text") -> str:
        """Every setting with its value and origin, and the thresholds."""
        if form == "json":
            facts = {name: {"value": one.value, "origin": one.origin} for name, one in self.origins.items()}
            return json.dumps({**facts, "thresholds": dict(self.thresholds)}, indent=2, default=str)
        width = max(len(name) for name in self.origins)
        lines = [f"{name:<{width}}  {_worded(one.value):<24}  {one.origin}" for name, one in self.origins.items()]
        lines += [f"thresholds.{name}  {limit}" for name, limit in self.thresholds.items()]
        return "\n".join(lines)


def resolve(
    skill: Path,
    options: Mapping[str, Any],
    env: Mapping[str, str] | None = None,
    *,
    further: Mapping[str, Any] | None = None,
    several: bool = False,
) -> Resolved:
    """The settings of a run.

    Args:
        skill: the skill's folder, which may hold a configuration.
        options: as click gives them; `None`, empty or false is "not given".
        env: the environment.
        several: whether more than one agent or model means something to the command.
        further: defaults of a command's own: of settings only it has, and in place of the usual ones.

    Raises:
        InputError: a value can't be read, wherever it came from.
    """
    environment = os.environ if env is None else env
    configuration = _configuration(skill, options)
    defaults = {**DEFAULTS, **_PLACES, **_FILE_ONLY, **dict.fromkeys(_FLAGS, False), **(further or {})}
    given = {**options, "eval": options.get("eval_ids"), "tag": options.get("tags")}
    given |= {name: given.get(name) or None for name in _FLAGS}
    found = resolve_settings(given, environment, configuration, defaults)
    members = members_of(found["agent"].value, found["model"].value)
    if len(members) > 1 and not several:
        raise InputError(
            "Several agents or models are for `assay run` on one skill",
            found=", ".join(member.label or "the agent found here" for member in members),
            hint="Name one with --agent and --model.",
        )
    found |= _one_each(found, members)
    values = {name: one.value for name, one in found.items()} | {"agent": members[0].agent, "model": members[0].model}
    settings = _settings(values, configuration, environment)
    settings = replace(settings, evals_file=_absolute(_place("evals", found, configuration)))
    return Resolved(
        settings=settings,
        origins={name: one for name, one in found.items() if one.origin != "default" or name not in _FILE_ONLY},
        configuration=configuration,
        thresholds=dict(configuration.thresholds) if configuration else {},
        evals_path=settings.evals_file,
        workspace=_place("workspace", found, configuration),
        members=members,
    )


def _one_each(found: Mapping[str, Setting], members: Sequence[Member]) -> dict[str, Setting]:
    """Agent and model as one word where there is one; a model that came with its agent has that one's origin."""
    if len(members) > 1:
        return {}
    agent, model, only = found["agent"], found["model"], members[0]
    origin = agent.origin if only.model and not model.value else model.origin
    return {"agent": Setting(only.agent or None, agent.origin), "model": Setting(only.model, origin)}


def _configuration(skill: Path, options: Mapping[str, Any]) -> Configuration | None:
    named = options.get("config") or os.environ.get("ASSAY_CONFIG")
    path = Path(named) if named else find_config(skill_folder(skill))
    return load_config(path) if path else None


def _settings(values: Mapping[str, Any], configuration: Configuration | None, env: Mapping[str, str]) -> RunSettings:
    base = float(env.get("ASSAY_RETRY_BASE_SECONDS") or Retrying().base_seconds)
    caps = values["budget"] or {}
    return RunSettings(
        agent=values["agent"] or "",
        model=values["model"],
        baselines=_baselines(values, configuration),
        invoke=values["invoke"],
        trials=values["trials"],
        workers=values["workers"],
        seed=values["seed"],
        limits=Limits(seconds=values["timeout"], turns=values["max_turns"]),
        allow=tuple(values["allow"]),
        mcp_config=Path(values["mcp_config"]).absolute() if values["mcp_config"] else None,
        pass_env=tuple(values["pass_env"]),
        sandbox=values["sandbox"],
        budget=Budget(caps.get("usd"), caps.get("tokens"), caps.get("trials")),
        retrying=Retrying(base_seconds=base, timeouts=values["retry_timeouts"]),
        timeouts=values["timeouts"],
        margin=values["margin"],
        grader=values["grader"],
        judge=values["judge"],
        judge_votes=values["judge_votes"],
        judge_mode=values["judge_mode"],
        eval_ids=tuple(values["eval"]),
        tags=tuple(values["tag"]),
        thresholds=dict(configuration.thresholds) if configuration else None,
        previous_benchmark=configuration.place("previous_benchmark") if configuration else None,
        notes=bool(values["notes"]),
        ungraded=bool(values["ungraded"]),
        allow_outside_files=bool(values["allow_outside_files"]),
        allow_unequal=bool(values["allow_unequal"]),
        keep_secrets=bool(values["keep_secrets"]),
        keep_sandboxes=bool(values["keep_sandboxes"]),
    )


def _absolute(path: Path | None) -> Path | None:
    return path.absolute() if path else None


def _baselines(values: Mapping[str, Any], configuration: Configuration | None) -> tuple[str, ...]:
    """`baseline` where anybody set it; else what `baseline_type` stands for."""
    named = tuple(values["baseline"])
    if values["baseline_type"] != "old_skill" or named != DEFAULTS["baseline"]:
        return named
    previous = configuration.place("previous_benchmark") if configuration else None
    if previous is not None:
        snapshot = (previous if previous.is_dir() else previous.parent) / "skill.tar"
        if snapshot.is_file():
            return (str(snapshot),)
    return ("previous",)


def _place(name: str, found: Mapping[str, Setting], configuration: Configuration | None) -> Path | None:
    setting = found[name]
    if setting.value is None:
        return None
    from_file = configuration is not None and setting.origin == str(configuration.source)
    return configuration.place(name) if from_file and configuration else Path(setting.value)


def _worded(value: Any) -> str:
    if value is None or value == ():
        return "-"
    return ", ".join(str(item) for item in value) if isinstance(value, (tuple, list)) else str(value)
