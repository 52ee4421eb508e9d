"""A run from its inputs to recorded trials: everything is resolved and checked here, then the engine goes to work."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from skill_assay.agents.registry import create_agent, detect_default, signed_in
from skill_assay.errors import InputError
from skill_assay.graders.author import evals_files
from skill_assay.graders.program import program_files
from skill_assay.llm.prompt import prompts_digest
from skill_assay.model.agent import Detected, SignIn
from skill_assay.model.plan import Plan
from skill_assay.model.protocols import Agent
from skill_assay.model.trial import TrialId, TrialSpec
from skill_assay.runner.arms import AGAIN, ArmSource, build_arms
from skill_assay.runner.bwrap import bwrap_available
from skill_assay.runner.inputs import Inputs
from skill_assay.runner.install import keep_fixtures
from skill_assay.runner.judging import with_judge
from skill_assay.runner.plan import differences, interleave, make_plan, make_specs
from skill_assay.runner.rig import ArmKit
from skill_assay.runner.settings import Retrying, RunSettings
from skill_assay.workspace.journal import Lock
from skill_assay.workspace.store import Iteration, Workspace

__all__ = ["Mode", "Session", "newest", "open_session"]

Mode = Literal["new", "resume", "add"]
"""Begin an iteration, go on with the newest one, or add trials or evals to it."""


@dataclass(slots=True)
class Session:
    """A resolved run, before anything is launched or written."""

    inputs: Inputs
    settings: RunSettings
    workspace: Workspace
    agent: Agent
    detected: Detected | None
    plan: Plan
    specs: tuple[TrialSpec, ...]
    """The trials still to be run, in order."""
    kits: Mapping[str, ArmKit]
    mode: Mode
    iteration: Iteration | None
    """`None` until a new one is made."""
    environment: Mapping[str, str]
    graded_by: Path
    """A private copy of what in the evals folder decides: checks.py, reference files, schemas, programs in it."""
    base_url: str | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def close(self) -> None:
        """Remove the private copies."""
        self._stack.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open_session(
    inputs: Inputs,
    settings: RunSettings,
    workspace: Workspace,
    mode: Mode = "new",
    *,
    again: bool = False,
    fresh: bool = False,
    going_on: Iteration | None = None,
    before: int | None = None,
    environment: Mapping[str, str] | None = None,
    base_url: str | None = None,
) -> Session:
    """Resolve a run. Writes nothing in the workspace and launches nothing.

    Args:
        inputs: the skill, its evals and fixtures.
        settings: the options.
        workspace: where iterations lie.
        mode: begin, go on, or add.
        again: compare the skill with itself (A/A).
        fresh: begin a new iteration although the newest one is unfinished.
        going_on: the iteration to go on with or add to, where it is not the newest.
        before: the iteration whose elders are "previous"; the one gone on with or begun unless given.
        environment: the user's environment.
        base_url: a model server of our own; then nobody is signed in and no credential is passed.

    Raises:
        InputError: something is missing, changed or contradictory; the message says what to do.
    """
    env = os.environ if environment is None else environment
    stack = ExitStack()
    try:
        private = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-arms-")))
        inputs = replace(inputs, fixtures=keep_fixtures(inputs.fixtures, private / "fixtures"))
        kept = _keep_graders(inputs, private / "graders")
        last = going_on or newest(workspace)
        agent = _agent(settings, inputs, env)
        settings = _settled_settings(settings, agent, env, None if mode == "new" else last)
        detected = _detected(agent, env)
        again = again or (mode != "new" and _is_aa(last))
        begun = before or (last.number if last and mode != "new" else None)
        sources = build_arms(inputs.skill, settings, workspace, private, again=again, begun=begun)
        sign_in = SignIn("none", "scripted server") if base_url else signed_in(agent, settings.model, env)
        _refuse_sandbox(settings, sign_in)
        kits = {source.arm.name: _kit(source, agent, detected, sign_in) for source in sources}
        facts = {source.arm.name: _facts(source, agent, detected, kits[source.arm.name]) for source in sources}
        _refuse_shared(last)
        number = (last.number if last else 0) + (1 if mode == "new" else 0)
        plan = make_plan(inputs, sources, settings, facts, number, _graders_digest(inputs, settings))
        if mode == "new":
            _point_out_unfinished(last, plan, fresh)
        else:
            plan = _continued(last, plan, mode, {one.id for one in inputs.evals.evals})
        arms = {source.arm.name: source.arm for source in sources}
        iteration = last if mode != "new" else None
        specs = make_specs(plan, inputs, settings, arms)
        if not specs:
            raise InputError("The plan has no trial: nothing would be run")
        return Session(
            inputs, settings, workspace, agent, detected, plan, specs, kits, mode, iteration, env, kept, base_url, stack
        )
    except BaseException:
        stack.close()
        raise


def _settled_settings(
    settings: RunSettings, agent: Agent, env: Mapping[str, str], begun: Iteration | None
) -> RunSettings:
    """The settings with what follows from the agent, and with the judge of an iteration that goes on."""
    settings = replace(settings, agent=settings.agent or agent.name)
    if agent.capabilities.simulated:
        settings = replace(settings, retrying=SIMULATED_RETRYING)
    return with_judge(settings, agent, env, _judge_of(begun))


SIMULATED_RETRYING = Retrying(base_seconds=0.01, cap_seconds=0.05)
"""No real server needs the wait."""


def _agent(settings: RunSettings, inputs: Inputs, env: Mapping[str, str]) -> Agent:
    agent = create_agent(settings.agent) if settings.agent else detect_default(env)
    bind = getattr(agent, "bind_queries" if inputs.queries else "bind", None)
    if bind is not None:
        bind(inputs.skill.root, inputs.evals)
    if settings.invoke == "slash" and not agent.capabilities.slash:
        raise InputError(f"{agent.name} has no slash commands for skills", hint="Use --invoke told or auto.")
    if settings.mcp_config is not None and not agent.capabilities.mcp:
        raise InputError(f"{agent.name} takes no MCP servers", hint="Leave --mcp-config out, or use another agent.")
    if any(one.turns for one in inputs.chosen) and not agent.capabilities.turns:
        named = ", ".join(one.id for one in inputs.chosen if one.turns)
        raise InputError(f"{agent.name} can't be given earlier user messages, which {named} asks for")
    return agent


def _detected(agent: Agent, env: Mapping[str, str]) -> Detected | None:
    detected = agent.detect(env)
    if detected is None:
        raise InputError(
            f"{agent.name} was not found on this machine",
            hint=agent.capabilities.install
            or "Install it, or name another with --agent; assay run --agent simulated needs none.",
        )
    return detected


def _refuse_sandbox(settings: RunSettings, sign_in: SignIn) -> None:
    """Inside bwrap the user's own home is out of reach, so a sign-in that lives there is too."""
    if settings.sandbox != "bwrap":
        return
    there, why = bwrap_available()
    if not there:
        raise InputError(f"--sandbox bwrap can't be had here: {why}", hint="Install bubblewrap, or use --sandbox none.")
    if sign_in.how == "home":
        raise InputError(
            "--sandbox bwrap hides your home, and with it the agent's sign-in",
            found=f"signed in by {sign_in.source}",
            expected="a key or a token in a variable",
            hint="Set ANTHROPIC_API_KEY, or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`).",
        )


def _refuse_shared(last: Iteration | None) -> None:
    """Another `assay` at work on the newest iteration holds its lock; say who that is."""
    if last is not None and last.lock_path().exists():
        with Lock(last.lock_path()):
            pass


def _kit(source: ArmSource, agent: Agent, detected: Detected | None, sign_in: SignIn) -> ArmKit:
    return ArmKit(
        agent=agent,
        sign_in=sign_in,
        skill_source=source.copy,
        skill_files=source.files,
        folder=source.folder,
        version=detected.version if detected else "",
    )


def _facts(source: ArmSource, agent: Agent, detected: Detected | None, kit: ArmKit) -> dict[str, Any]:
    return {
        "agent": source.arm.agent,
        "agent_version": detected.version if detected else None,
        "model": source.arm.model,
        "invoke": source.arm.invoke if source.arm.skill else None,
        "signed_in": f"{kit.sign_in.how} ({kit.sign_in.source})",
        "simulated": agent.capabilities.simulated,
    }


def newest(workspace: Workspace) -> Iteration | None:
    """The newest iteration that was begun."""
    iterations = [iteration for iteration in workspace.iterations() if iteration.has_plan]
    return iterations[-1] if iterations else None


def _is_aa(last: Iteration | None) -> bool:
    """Whether an iteration compares the skill with itself, so that going on with it does so too."""
    return last is not None and any(arm.origin == AGAIN for arm in last.read_plan().arms)


def _judge_of(last: Iteration | None) -> str | None:
    return str(last.read_plan().settings.get("judge") or "none") if last else None


def missing(iteration: Iteration, plan: Plan) -> list[TrialId]:
    """The plan's trials that have no record yet."""
    return [trial for trial in plan.order if not iteration.is_done(trial)]


def _point_out_unfinished(last: Iteration | None, plan: Plan, fresh: bool) -> None:
    if last is None or fresh:
        return
    recorded = last.read_plan()
    left = missing(last, recorded)
    if left and not differences(recorded, plan):
        done = len(recorded.order) - len(left)
        raise InputError(
            f"{last.path.name} of this skill is unfinished: {done} of {len(recorded.order)} trials are recorded",
            hint="Go on with --resume, or begin another with --new.",
        )


def _continued(last: Iteration | None, plan: Plan, mode: Mode, known: Collection[str]) -> Plan:
    if last is None:
        raise InputError("There is no iteration to go on with", hint="Leave --resume and --add out to begin one.")
    recorded = last.read_plan()
    changed = [f"the eval {name} is gone" for name in recorded.eval_ids if name not in known]
    changed += differences(recorded, plan)
    if changed:
        raise InputError(
            f"{last.path.name} can't be continued, its trials would not belong together: {'; '.join(changed)}",
            hint="Undo the change, or begin a new iteration with --new.",
        )
    if mode == "resume":
        return recorded
    if recorded.settings.get("stop_early"):
        raise InputError(
            f"{last.path.name} fixed its rounds before the first trial, for --stop early: nothing can be added"
        )
    return _extended(recorded, plan)


def _extended(recorded: Plan, plan: Plan) -> Plan:
    """The recorded plan with the evals and repeats that are new, its own order kept; other evals get no repeats."""
    eval_ids = tuple(dict.fromkeys([*recorded.eval_ids, *plan.eval_ids]))
    trials = max(recorded.trials, plan.trials)
    known = set(recorded.order)
    everything = interleave(plan.eval_ids, [arm.name for arm in recorded.arms], trials, recorded.seed)
    added = tuple(trial for trial in everything if trial not in known)
    if not added:
        raise InputError("There is nothing to add: the iteration already has these evals and as many trials")
    return replace(
        recorded,
        eval_ids=eval_ids,
        trials=trials,
        order=(*recorded.order, *added),
        digests={**plan.digests, **recorded.digests},
    )


def _graders_digest(inputs: Inputs, settings: RunSettings) -> str:
    digest = hashlib.sha256((settings.grader or "").encode())
    if settings.judge != "none":
        digest.update(f"\0{settings.judge} {settings.judge_votes} {prompts_digest('judge', 'classify')}".encode())
    script = inputs.evals_root / "checks.py"
    digest.update(script.read_bytes() if script.is_file() else b"")
    program = program_files(settings.grader, inputs.evals_root) if settings.grader else []
    for path in (*_files_of_checks(inputs), *program):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _keep_graders(inputs: Inputs, into: Path) -> Path:
    """Copies, so that editing one of them during a run leaves all trials of it decided by the same.

    A grader program that lies outside the evals folder is not among them: what it imports beside it is not known.
    """
    root = inputs.evals_root
    if inputs.queries:
        return root
    named = [(str(path.relative_to(root)), path) for path in _files_of_checks(inputs) if path.is_relative_to(root)]
    for name, path in dict([*evals_files(root), *named]).items():
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, place)
    into.mkdir(exist_ok=True)
    return into


def _files_of_checks(inputs: Inputs) -> Sequence[Path]:
    names: set[str] = set()
    for one in inputs.evals.evals:
        for expectation in one.expectations:
            for check in expectation.checks:
                named = (check.arguments.get("reference_file"), check.arguments.get("schema"))
                names |= {value for value in named if isinstance(value, str)}
    return [path for path in (inputs.evals_root / name for name in sorted(names)) if path.is_file()]
