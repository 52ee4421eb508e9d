"""A trial's room: a throwaway sandbox with fixtures and skill laid out, and afterwards what the agent left in it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from skill_assay.errors import Failure, FailureKind
from skill_assay.formats.skill import installable_files
from skill_assay.formats.user_notes import NOTES_FILE
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.trial import Attempt, Outcome, TrialSpec
from skill_assay.runner.collect import Snapshot, changes_since, take_snapshot
from skill_assay.runner.install import install_skill, place_fixtures
from skill_assay.runner.prompt import build_prompt, uses_slash
from skill_assay.runner.rig import ArmKit, Rig
from skill_assay.runner.sandbox import base_environment, make_place, remove_place

__all__ = ["Room", "collect", "prepare"]

_SETUP_SECONDS = 300.0


@dataclasses.dataclass(frozen=True, slots=True)
class Room:
    """One attempt's sandbox, ready for the agent."""

    place: Place
    skills: Path | None
    """Where skills lie for the agent, as the harness sees it."""
    request: Request
    before: Snapshot
    failure: Failure | None = None
    """The eval's own setup failed: nothing may be launched."""


@asynccontextmanager
async def prepare(spec: TrialSpec, rig: Rig) -> AsyncIterator[Room]:
    """Make the sandbox, place fixtures, install the skill, run the setup; everything is removed at the end."""
    kit = rig.arms[spec.arm.name]
    place = make_place()
    try:
        skills = kit.agent.skills_folder(place)
        place_fixtures(spec.fixtures, place.work)
        _install(spec, kit, skills)
        failure = await _setup(spec, place, rig)
        yield Room(place, skills, _request(spec, kit, place, skills, rig), take_snapshot(place.work, skills), failure)
    finally:
        if not rig.settings.keep_sandboxes:
            remove_place(place)


def collect(spec: TrialSpec, attempt: Attempt, room: Room, rig: Rig) -> Outcome:
    """Store every file the agent made or changed."""
    changes = changes_since(room.before, room.place.work, room.skills, spec.limits.output_bytes)
    run = rig.iteration.run_folder(spec.id)
    run.clear_outputs()
    kept, notes = [], list(changes.notes)
    omitted = {run.output_name(name): size for name, size in changes.omitted.items()}
    if spec.notes:
        omitted.pop(NOTES_FILE, None)  # no output, so not one that a grader misses
    for name in changes.files:
        if spec.notes and name == NOTES_FILE:
            if why := run.write_notes(room.place.work / name):
                notes.append(f"not collected, it {why}: {name}")
            continue
        stored = run.output_name(name)
        why = run.add_output(stored, room.place.work / name)
        if why is not None:
            notes.append(f"not collected, it {why}: {stored}")
            omitted[stored] = (room.place.work / name).lstat().st_size
            continue
        kept.append(stored)
        if stored != name:
            notes.append(f"kept under another name: {stored}")
    return Outcome(attempt, tuple(kept), tuple(notes), omitted)


def _install(spec: TrialSpec, kit: ArmKit, skills: Path) -> None:
    if kit.skill_source is not None and kit.folder is not None:
        install_skill(kit.skill_source, kit.skill_files, skills / kit.folder)
    for neighbour in spec.neighbours:
        install_skill(neighbour, installable_files(neighbour), skills / neighbour.name)


async def _setup(spec: TrialSpec, place: Place, rig: Rig) -> Failure | None:
    if spec.eval.setup is None:
        return None
    end = await rig.code.run_in(place, spec.eval.setup, timeout=_SETUP_SECONDS)
    if end.exit_code == 0:
        return None
    how = "did not end in time" if end.timed_out else f"ended with status {end.exit_code}"
    return Failure(FailureKind.SETUP, f"the eval's setup {how}: {(end.stderr or end.stdout).strip()[-300:]}")


def _request(spec: TrialSpec, kit: ArmKit, place: Place, skills: Path, rig: Rig) -> Request:
    inner = rig.sandbox.inner(place)
    installed = kit.folder is not None
    seen = inner.work / skills.relative_to(place.work) if skills.is_relative_to(place.work) else skills
    return Request(
        prompt=build_prompt(spec, kit.folder),
        place=place,
        work=str(inner.work),
        home=str(inner.home),
        tmp=str(inner.tmp),
        skill_folder=kit.folder,
        skill_name=spec.arm.skill_name if installed else None,
        skill_path=str(seen / kit.folder) if kit.folder else None,
        any_skills=installed or bool(spec.neighbours),
        slash=uses_slash(spec, kit.agent.capabilities),
        model=spec.arm.model,
        max_turns=spec.limits.turns,
        max_cost_usd=spec.limits.cost_usd,
        allow=spec.allow,
        mcp_config=spec.mcp_config,
        env=_passed(spec, kit, rig),
        turns=spec.eval.turns,
        base_url=rig.base_url,
        key={"seed": spec.seed, "eval": spec.id.eval_id, "arm": spec.id.arm, "repeat": spec.id.repeat},
    )


def _passed(spec: TrialSpec, kit: ArmKit, rig: Rig) -> dict[str, str]:
    """The allow-listed environment, the variables the user passes by name, and the sign-in: both arms alike.

    An eval may name variables, but only those the user also named are passed.
    """
    named = {name: rig.environment[name] for name in spec.pass_env if name in rig.environment}
    return {**base_environment(rig.environment), **named, **({} if rig.base_url else kit.sign_in.env)}
