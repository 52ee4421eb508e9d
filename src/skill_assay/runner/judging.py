"""Judges for a run: which one, how it is reached, where its questions are kept, and what they are expected to cost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_assay.agents.api_model import split_address
from skill_assay.agents.registry import create_agent, signed_in
from skill_assay.errors import InputError
from skill_assay.formats.feedback import feedback_from_dict
from skill_assay.graders.judge import JudgeGrader
from skill_assay.graders.person import PersonGrader
from skill_assay.llm.agent_cli import AgentVoice
from skill_assay.llm.base import Asker, Voice
from skill_assay.model.agent import SignIn
from skill_assay.model.evals import Eval
from skill_assay.model.grade import Grade
from skill_assay.model.money import Spend
from skill_assay.model.place import Place
from skill_assay.model.protocols import Admission, Agent, Grader, Sandbox
from skill_assay.model.trial import TrialSpec
from skill_assay.runner.prices import Priors
from skill_assay.runner.sandbox import base_environment, make_place, remove_place
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.run_folder import read_json
from skill_assay.workspace.store import Iteration, RunFolder
from skill_assay.workspace.writing import Writer

__all__ = [
    "JUDGE",
    "JUDGE_PRIORS",
    "StoredLog",
    "check_judge",
    "judge_purposes",
    "judge_words",
    "make_asker",
    "make_judges",
    "make_voice",
    "priors_of",
    "promised",
    "signed_in_judge",
    "with_judge",
]

JUDGE = "judge"
"""The purpose under which questions to judges are admitted and priced."""
JUDGE_PRIORS = Priors(Spend(0.03, 9_000, 1), Spend(0.3, 90_000, 1), 15.0)
_APIS = ("anthropic", "openai")
_AUTO = "claude-code"


def check_judge(spec: str, env: Mapping[str, str], mode: str = "inline") -> None:
    """Whether a judge named by a person is here and signed in, and can judge in this way.

    Raises:
        InputError: it is not; the message says what to do.
    """
    if spec == "auto":
        raise InputError("name a judge", found="--judge auto", expected="none, claude-code/MODEL, anthropic:MODEL, …")
    if spec != "none":
        voice = make_voice(spec, _NO_WALL, env, check=True)
        if mode == "agent" and not voice.reads_files:
            raise InputError(
                "this judge can't be limited to reading files, so it can't look for itself",
                found=f"--judge {spec} --judge-mode agent",
                hint="Use --judge claude-code with it, or --judge-mode inline.",
            )


def with_judge(settings: RunSettings, agent: Agent, env: Mapping[str, str], recorded: str | None = None) -> RunSettings:
    """The settings with `auto` replaced by the judge that is here, and with a note about it.

    Args:
        settings: with `judge` as it was asked for.
        agent: the agent under test.
        env: the user's environment.
        recorded: the judge of the plan that is gone on with.

    Raises:
        InputError: the judge asked for by name can't be had.
    """
    if settings.judge == "auto" and recorded is not None:
        return replace(settings, judge=recorded)
    if settings.judge == "auto":
        judge, note = _found(agent, settings.model, env)
        return replace(settings, judge=judge, judge_note=note)
    check_judge(settings.judge, env, settings.judge_mode)
    same = settings.judge in (agent.name, f"{agent.name}/{settings.model}")
    return replace(settings, judge_note="the judge is the agent's own model" if same else "")


def signed_in_judge(env: Mapping[str, str]) -> str:
    """The judge that is here without being named.

    Raises:
        InputError: there is none.
    """
    detected = create_agent(_AUTO).detect(env)
    if detected is None or detected.sign_in is None:
        why = "is not installed" if detected is None else "is not signed in"
        hint = "Sign in, or name a model: --judge anthropic:MODEL, --judge openai:MODEL@URL, --judge 'command: …'."
        raise InputError(f"There is no model to ask: Claude Code {why}", hint=hint)
    return _AUTO


def _found(agent: Agent, model: str | None, env: Mapping[str, str]) -> tuple[str, str]:
    """Claude Code where it is signed in, with another model than the agent's."""
    if agent.capabilities.simulated:
        return "none", ""
    try:
        detected = create_agent(_AUTO).detect(env)
    except InputError:
        detected = None
    if detected is None or detected.sign_in is None:
        why = "is not here" if detected is None else "is not signed in"
        return "none", f"no judge: Claude Code {why}; name one with --judge"
    other = "opus" if "sonnet" in (model or "") else "sonnet"
    return f"{_AUTO}/{other}", ""


def make_voice(
    spec: str, sandbox: Sandbox, env: Mapping[str, str], base_url: str | None = None, *, check: bool = False
) -> Voice:
    """The voice that a specification names.

    Args:
        spec: `claude-code`, `claude-code/MODEL`, another agent likewise, `command: …`, `anthropic:MODEL`,
            `openai:MODEL` (either with `@URL` after it), or `scripted: FILE`.
        sandbox: the wall for agents.
        env: the user's environment.
        base_url: a model server of our own.
        check: whether it must be here and signed in.

    Raises:
        InputError: there is no such thing.
    """
    name, _, rest = spec.partition(":")
    if name.strip() == "scripted":
        from skill_assay.llm.scripted import voice_from_file

        return voice_from_file(Path(rest.strip()))
    if name.strip() in _APIS:
        from skill_assay.llm.api import ApiVoice

        model, url = split_address(rest.strip())
        return ApiVoice(name.strip(), model, url or base_url, env)
    return _agent_voice(spec, sandbox, env, base_url, check)


def _agent_voice(spec: str, sandbox: Sandbox, env: Mapping[str, str], base_url: str | None, check: bool) -> AgentVoice:
    name, model = (spec, "") if spec.startswith("command") else spec.split("/", 1) if "/" in spec else (spec, "")
    try:
        agent = create_agent(name)
    except InputError as error:
        expected = (
            "auto, none, claude-code/MODEL, codex/MODEL, anthropic:MODEL, openai:MODEL, command: …, scripted: FILE"
        )
        raise InputError("There is no such judge", found=spec, expected=expected) from error
    if agent.capabilities.simulated:
        raise InputError("a simulated agent can't judge", found=spec, hint="Use --judge 'scripted: FILE.json'.")
    if check and agent.detect(env) is None:
        raise InputError(f"the judge {name} was not found on this machine", found=f"--judge {spec}")
    try:
        sign_in = SignIn("none", "scripted server") if base_url else signed_in(agent, model or None, env)
    except InputError:
        if check:
            raise
        # A stored reply needs no sign-in; a question will say that there is none.
        sign_in = SignIn("none", "")
    seen = {**base_environment(env), **sign_in.env}
    return AgentVoice(agent, sandbox, _place, model or None, seen, base_url)


@contextmanager
def _place() -> Iterator[Place]:
    place = make_place()
    try:
        yield place
    finally:
        remove_place(place)


class _NoWall:
    """Only for looking whether a judge is here."""

    name = "none"

    def inner(self, place: Place) -> Place:
        return place

    def wrap(self, launch: Any, place: Place) -> Any:
        return launch


_NO_WALL = _NoWall()


def make_asker(
    spec: str,
    admission: Admission,
    sandbox: Sandbox,
    env: Mapping[str, str] | None = None,
    base_url: str | None = None,
    *,
    check: bool = False,
) -> Asker:
    """A model to ask, through the run's own admission."""
    environment = dict(os.environ if env is None else env)
    pause = float(environment.get("ASSAY_RETRY_BASE_SECONDS") or 2.0)
    return Asker(make_voice(spec, sandbox, environment, base_url, check=check), admission, JUDGE, pause)


def make_judges(
    settings: RunSettings,
    iteration: Iteration,
    admission: Admission,
    sandbox: Sandbox,
    env: Mapping[str, str] | None = None,
    base_url: str | None = None,
) -> list[Grader]:
    """A person's verdicts where there are any, then the judge where one is asked for."""
    judges: list[Grader] = []
    if iteration.feedback_path.is_file():
        file = iteration.feedback_path
        judges.append(PersonGrader(feedback_from_dict(read_json(file), file=str(file))))
    if settings.judge not in ("none", "auto"):
        asker = make_asker(settings.judge, admission, sandbox, env, base_url)
        log = StoredLog(iteration.writer)
        judges.append(JudgeGrader(asker, log, settings.judge_votes, settings.judge_again, settings.judge_mode))
    return judges


@dataclass(frozen=True, slots=True)
class StoredLog:
    """Implements `graders.judge_log.JudgeLog` in the trials' own folders."""

    writer: Writer

    def add(self, run_folder: Path, number: int, record: Mapping[str, Any]) -> None:
        RunFolder(run_folder, self.writer).append_judge(number, record)

    def records(self, run_folder: Path) -> Iterable[Mapping[str, Any]]:
        return RunFolder(run_folder, self.writer).judge_records()


class _Promise:
    """Stands for a judge before there is one, where only is asked what could be decided."""

    name = JUDGE

    async def grade(self, expectations: Any, work: Any, ledger: Any) -> Mapping[int, Grade]:
        return {}


def promised(settings: RunSettings) -> list[Grader]:
    """What stands for the judges of a run that has not begun."""
    return [] if settings.judge in ("none", "auto") else [_Promise()]


def judge_purposes(specs: Iterable[TrialSpec], settings: RunSettings, graders: Sequence[Grader]) -> list[str]:
    """One `judge` for every question these trials are expected to bring, for the estimate."""
    if settings.judge in ("none", "auto"):
        return []
    covering = [grader for grader in graders if hasattr(grader, "covers")]
    needed: dict[str, bool] = {}
    count = 0
    for spec in specs:
        if spec.eval.id not in needed:
            needed[spec.eval.id] = _needs_judge(spec.eval, covering)
            count += needed[spec.eval.id] and any(one.about is None for one in spec.eval.expectations)
        count += settings.judge_votes * needed[spec.eval.id]
    return [JUDGE] * count


def _needs_judge(one: Eval, graders: Sequence[Any]) -> bool:
    covered = frozenset[int]().union(*(frozenset(grader.covers(one)) for grader in graders))
    return len(covered) < len(one.expectations)


def judge_words(evals: Iterable[Eval], settings: RunSettings) -> list[str]:
    """What a person should know before a run: the judge, or why there is none; nothing where none is needed."""
    if all(one.checks for each in evals for one in each.expectations):
        return []
    named = [f"judge {settings.judge}"] if settings.judge not in ("none", "auto") else []
    return [*named, *([settings.judge_note] if settings.judge_note else [])]


def priors_of(settings: RunSettings) -> Mapping[str, Priors]:
    """The judge costs, even beside an agent that does not; a scripted one costs nothing."""
    return {} if settings.judge in ("none", "auto") or settings.judge.startswith("scripted") else {JUDGE: JUDGE_PRIORS}
