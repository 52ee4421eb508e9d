"""Runs the real Claude Code against a script, in a place of its own, without the runner."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.transcript import Event, Finished, SkillUse, Text, ToolCall
from skill_assay.modelserver import Received, Script, serve

BODY = "MARKER-OF-THE-BODY"
DESCRIPTION = "Turns a table of expenses into a report. Use it for expense reports."


@dataclass(frozen=True)
class Ran:
    """What came of one launch."""

    events: Sequence[Event]
    finished: Finished
    exit_code: int
    stderr: str
    stdout: str
    requests: Sequence[Received]
    """Everything the model was asked."""
    place: Place

    @property
    def uses(self) -> list[SkillUse]:
        return [event for event in self.events if isinstance(event, SkillUse)]

    @property
    def calls(self) -> list[str]:
        return [event.name for event in self.events if isinstance(event, ToolCall)]

    @property
    def texts(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Text)]

    def sent(self) -> str:
        """All that reached the model, headers included, as one text to search."""
        return "\n".join(f"{dict(request.headers)}\n{request.text}" for request in self.requests)


@contextmanager
def fresh_place() -> Iterator[Place]:
    """A place with a short path below a clean parent, the working directory a git root."""
    root = Path(tempfile.mkdtemp(prefix="a-", dir="/tmp"))
    place = Place(root, root / "work", root / "home", root / "config", root / "tmp")
    try:
        for folder in (place.work, place.home, place.config, place.tmp):
            folder.mkdir()
        subprocess.run(["git", "init", "-q"], cwd=place.work, check=True)
        yield place
    finally:
        shutil.rmtree(root, ignore_errors=True)


def install(folder: Path, name: str, *, body: str = BODY, description: str = DESCRIPTION, extra: str = "") -> None:
    """Write a small skill of our own below a skills folder."""
    (folder / name).mkdir(parents=True)
    text = f"---\nname: {name}\ndescription: {description}\n{extra}---\n\n# {name}\n\n{body}-{name}\n"
    (folder / name / "SKILL.md").write_text(text, encoding="utf-8")


def run_claude(
    binary: Path,
    script: Script,
    place: Place,
    *,
    skill: str | None = "expense-report",
    env: Mapping[str, str] | None = None,
    user: Mapping[str, str] | None = None,
    base_url: bool = True,
    timeout: float = 180,
    without: Sequence[str] = (),
    **request: Any,
) -> Ran:
    """Launch through the adapter and parse what comes.

    Args:
        skill: installed unless it is there already; `None` for an arm without.
        env: passed to the trial (`Request.env`).
        user: the user's own environment, for the sign-in by home.
        base_url: whether the request names the server itself (as the canary does).
        without: options taken out of the command line, to show what they are for.
    """
    with serve(script) as server:
        variables = {"PATH": "/usr/local/bin:/usr/bin:/bin", "ASSAY_CLAUDE_CODE": str(binary), **(user or {})}
        if not base_url:
            variables["ANTHROPIC_BASE_URL"] = server.url
        agent = ClaudeCode(env=variables)
        skills = agent.skills_folder(place)
        if skill and not (skills / skill).exists():
            install(skills, skill)
        asked = Request(
            prompt="Make the expense report.",
            place=place,
            work=str(place.work),
            home=str(place.home),
            tmp=str(place.tmp),
            skill_folder=skill,
            skill_name=skill,
            skill_path=str(skills / skill) if skill else None,
            any_skills=skill is not None,
            base_url=server.url if base_url else None,
            env={"PATH": variables["PATH"], **(env or {})},
            max_turns=20,
        )
        asked = replace(asked, **request)
        launch = agent.launch(asked)
        assert launch.cwd is not None
        done = subprocess.run(
            _stripped(launch.argv, without),
            env=dict(launch.env),
            cwd=launch.cwd,
            input=launch.stdin or b"",
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        parser = agent.parser(asked)
        events = [event for line in done.stdout.splitlines() for event in parser.feed(line)]
        stderr = done.stderr.decode("utf-8", "replace")
        finished = parser.end(done.returncode, stderr)
        stdout = done.stdout.decode("utf-8", "replace")
        return Ran(events, finished, done.returncode, stderr, stdout, server.messages, place)


def _stripped(argv: Sequence[str], without: Sequence[str]) -> list[str]:
    """The command line without some options and their values."""
    kept: list[str] = []
    skipping = False
    for word in argv:
        skipping = word in without or (skipping and not word.startswith("--"))
        kept += [] if skipping else [word]
    return kept
