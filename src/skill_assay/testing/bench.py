"""Launches an adapter's program once against a scripted model, in a fresh place, and keeps all there is to judge."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from skill_assay.agents.patience import Patience, error_reader
from skill_assay.agents.process import Exit, run
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.protocols import Agent, Parser
from skill_assay.model.transcript import Event, Finished, SkillUse, ToolCall, ToolResult
from skill_assay.modelserver import Received, Rule, Script, Turn, serve
from skill_assay.modelserver.canary import Dialect
from skill_assay.runner.sandbox import base_environment, make_place, remove_place

__all__ = ["SECONDS", "NothingAskedError", "Ran", "Subject", "fresh_place", "launch", "skill_text"]

SECONDS = 120.0
"""Until a launch is given up."""
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Subject:
    """An adapter under test."""

    create: Callable[[Mapping[str, str]], Agent]
    """Makes the adapter from the user's environment."""
    dialect: Dialect
    """How its model calls its tools."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The user's environment: where the program is, a PATH."""


class NothingAskedError(Exception):
    """The program did not get as far as its model; says why."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of one launch."""

    events: Sequence[Event]
    finished: Finished
    end: Exit | None
    """`None`: it was cancelled."""
    requests: Sequence[Received]
    """What the model was asked, in order."""
    agent: Agent

    @property
    def first(self) -> Received:
        """What the model was asked first.

        Raises:
            NothingAskedError: it was asked nothing.
        """
        if not self.requests:
            said = (self.end.stderr if self.end else "")[-500:].strip()
            raise NothingAskedError(f"the model was asked nothing: {self.finished.failure or said}")
        return self.requests[0]

    @property
    def uses(self) -> list[tuple[str, bool]]:
        """Skills asked for, and whether the text came."""
        return [(event.name, event.confirmed) for event in self.events if isinstance(event, SkillUse)]

    @property
    def calls(self) -> list[ToolCall]:
        """Tool calls in order."""
        return [event for event in self.events if isinstance(event, ToolCall)]

    @property
    def results(self) -> list[ToolResult]:
        """Their results."""
        return [event for event in self.events if isinstance(event, ToolResult)]

    @property
    def sent(self) -> str:
        """All that reached the model, to search."""
        return "\n".join(request.text for request in self.requests)


def skill_text(name: str, mark: str) -> str:
    """A SKILL.md whose description holds `ABOUT-mark` and whose body holds `BODY-mark`."""
    return (
        f"---\nname: {name}\ndescription: Sings when asked to (ABOUT-{mark}).\n---\n\n# {name}\n\nSing. BODY-{mark}\n"
    )


@contextmanager
def fresh_place(agent: Agent, skills: Mapping[str, str], files: Mapping[str, str]) -> Iterator[Place]:
    """A place with skills (folder → SKILL.md) and files in the working directory."""
    place = make_place()
    try:
        for folder, text in skills.items():
            write(agent.skills_folder(place) / folder / "SKILL.md", text)
        for name, text in files.items():
            write(place.work / name, text)
        yield place
    finally:
        remove_place(place)


def launch(
    subject: Subject,
    turns: Sequence[Turn],
    *,
    prompt: str,
    skills: Mapping[str, str],
    user_skills: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    until: str | None = None,
    seconds: float = SECONDS,
) -> Ran:
    """Launch once and follow it to its end.

    Args:
        subject: the adapter.
        turns: what the model says.
        prompt: the task.
        skills: installed where the agent discovers them.
        user_skills: installed where the user keeps theirs: none may be seen.
        files: in the working directory.
        until: cancelled as soon as this file is in the working directory.
        seconds: its time limit.
    """
    with TemporaryDirectory(prefix="assay-user-") as home:
        agent = subject.create({"PATH": os.environ.get("PATH", os.defpath), **subject.env, "HOME": home})
        for folder in agent.capabilities.user_skills:
            # "${NAME:-~/.x}/skills" and "~/.x/skills" alike: the variable is not set here.
            below = folder.replace("}", "").rpartition("~/")[2]
            for name, text in (user_skills or {}).items():
                write(Path(home) / below / name / "SKILL.md", text)
        with fresh_place(agent, skills, files or {}) as place, serve(Script((Rule(tuple(turns)),))) as server:
            request = _request(subject, place, server.url, prompt, bool(skills))
            parser, events = agent.parser(request), list[Event]()
            patience, mark = Patience(), place.work / until if until else None
            end = anyio.run(_follow, agent, request, parser, events, patience, mark, seconds)
            finished = parser.end(end.exit_code, end.stderr) if end else parser.end(None, "")
            if patience.lost:
                finished = replace(finished, answer=None, failure=patience.lost)
            return Ran(tuple(events), finished, end, tuple(server.messages), agent)


def _request(subject: Subject, place: Place, url: str, prompt: str, skills: bool) -> Request:
    return Request(
        prompt=prompt,
        place=place,
        work=str(place.work),
        home=str(place.home),
        tmp=str(place.tmp),
        any_skills=skills,
        model=subject.dialect.model,
        env=base_environment(os.environ),
        base_url=url,
    )


async def _follow(
    agent: Agent,
    request: Request,
    parser: Parser,
    events: list[Event],
    patience: Patience,
    until: Path | None,
    seconds: float,
) -> Exit | None:
    end: list[Exit] = []

    def see(found: Iterable[Event]) -> str | None:
        enough = None
        for event in found:
            events.append(event)
            enough = enough or patience.see(event)
        return enough

    async def go() -> None:
        ended = await run(
            agent.launch(request),
            on_line=lambda line: see(parser.feed(line)),
            on_error_line=error_reader(parser, see),
            time_limit=seconds,
        )
        end.append(ended)
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(go)
        while until is None or not until.exists():
            await anyio.sleep(_POLL_SECONDS)
        group.cancel_scope.cancel()
    return end[0] if end else None


def write(path: Path, text: str) -> None:
    """Write a text, folders included."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
