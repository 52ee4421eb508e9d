"""The self-test of detection: the user's own CLI against a scripted model, before anything is measured with it.

No token is used and no credential is passed: every case has a fresh home, a dummy key and a server on loopback.
What was found is remembered per version of the CLI and of ours.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from skill_assay import __version__
from skill_assay.agents.process import Exit, run
from skill_assay.errors import IncompleteError
from skill_assay.model.agent import Detected, Request
from skill_assay.model.place import Place
from skill_assay.model.protocols import Agent, Parser, Sandbox
from skill_assay.modelserver import ModelServer, serve
from skill_assay.modelserver.canary import DIALECTS, CanaryCase, cases, key_probe, key_seen, misread
from skill_assay.reports.plain import harmless
from skill_assay.runner.sandbox import NoSandbox, base_environment, make_place, remove_place
from skill_assay.runner.watch import Watch

__all__ = ["CanaryReport", "CaseResult", "ensure_canary", "remembered", "run_canary"]

_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How one case was read."""

    name: str
    sentence: str
    wrong: str | None
    """What was read wrongly; `None`: read as it is."""


@dataclass(frozen=True, slots=True)
class CanaryReport:
    """What the self-test found about one version of a CLI."""

    agent: str
    version: str
    results: tuple[CaseResult, ...]
    seconds: float
    key_in_tools: bool | None
    """Whether a tool call finds the key in its own environment; `None`: not tried, or it could not look."""
    key_in_parent: bool | None
    """Whether it finds it in the environment of the process that started it; `None` likewise."""

    @property
    def passed(self) -> int:
        """Cases read rightly."""
        return sum(result.wrong is None for result in self.results)

    @property
    def failures(self) -> tuple[CaseResult, ...]:
        """Cases read wrongly."""
        return tuple(result for result in self.results if result.wrong is not None)


async def run_canary(agent: Agent, detected: Detected, sandbox: Sandbox | None = None) -> CanaryReport:
    """Run every case; none for an agent whose dialect the canary does not know."""
    wall = sandbox or NoSandbox()
    began = time.monotonic()
    results = [await _case(agent, case, wall) for case in cases(agent.name)]
    probe = key_probe(agent.name)
    own = parent = None
    if probe is not None:
        own, parent = await _probe(agent, probe, wall)
    seconds = round(time.monotonic() - began, 1)
    return CanaryReport(agent.name, detected.version, tuple(results), seconds, own, parent)


async def ensure_canary(agent: Agent, detected: Detected, sandbox: Sandbox | None = None) -> CanaryReport | None:
    """The self-test, run once per version of the CLI; `None` for an agent that has none.

    Raises:
        IncompleteError: a case was read wrongly, so nothing may be measured with this CLI.
    """
    if not cases(agent.name):
        return None
    report = remembered(agent, detected)
    if report is None:
        report = await run_canary(agent, detected, sandbox)
        if not report.failures:
            _remember(report, detected)
    if report.failures:
        first = report.failures[0]
        raise IncompleteError(
            f"The self-test of detection failed on {agent.name} {detected.version}: {first.sentence} "
            f"({first.name}): {first.wrong}. Nothing was measured",
            hint="If the program works by itself, this version of it speaks differently from what is known: use the "
            "version named in the docs, or update Skill Assay. `assay doctor` runs the self-test alone.",
        )
    return report


async def _case(agent: Agent, case: CanaryCase, sandbox: Sandbox) -> CaseResult:
    with serve(case.script) as server:
        watch, end, parser = await _launch(agent, case, sandbox, server)
        finished = parser.end(end.exit_code, end.stderr)
        wrong = misread(case, watch.uses, finished, server.requests)
        if wrong is not None and not server.requests:
            # What was read of a program that does not work at all would only hide why.
            wrong = f"the program asked the model nothing; {_how(end)}"
    if wrong is None and end.timed_out:
        wrong = f"it did not end within {_SECONDS:g} seconds"
    return CaseResult(case.name, case.sentence, wrong)


def _how(end: Exit) -> str:
    if end.timed_out:
        return f"it did not end within {_SECONDS:g} seconds"
    said = next((line.strip() for line in end.stderr.splitlines() if line.strip()), "")
    return f"it ended with status {end.exit_code}" + (f": {harmless(said)[:200]}" if said else "")


async def _probe(agent: Agent, probe: CanaryCase, sandbox: Sandbox) -> tuple[bool | None, bool | None]:
    with serve(probe.script) as server:
        await _launch(agent, probe, sandbox, server)
        return key_seen(server.requests)


async def _launch(agent: Agent, case: CanaryCase, sandbox: Sandbox, server: ModelServer) -> tuple[Watch, Exit, Parser]:
    place = make_place()
    try:
        request = _request(agent, case, place, sandbox, server.url)
        parser, watch = agent.parser(request), Watch()

        def line(text: bytes) -> None:
            for event in parser.feed(text):
                watch.see(event)

        end = await run(sandbox.wrap(agent.launch(request), place), on_line=line, time_limit=_SECONDS)
        return watch, end, parser
    finally:
        remove_place(place)


def _request(agent: Agent, case: CanaryCase, place: Place, sandbox: Sandbox, url: str) -> Request:
    skills = agent.skills_folder(place)
    for folder, text in case.skills.items():
        _write(skills / folder / "SKILL.md", text)
    say = DIALECTS.get(agent.name)
    for folder, text in case.user_skills.items():
        _write(place.home / ((say and say.user_skills) or ".") / folder / "SKILL.md", text)
    inner = sandbox.inner(place)
    return Request(
        prompt=case.prompt,
        place=place,
        work=str(inner.work),
        home=str(inner.home),
        tmp=str(inner.tmp),
        any_skills=True,
        model=say.model if say else None,
        max_turns=8,
        env=base_environment(os.environ),
        base_url=url,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _memory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "skill-assay" / "canary.json"


def _key(agent: str, detected: Detected) -> str:
    return f"{agent} {detected.version} {detected.path} / {__version__}"


def remembered(agent: Agent, detected: Detected) -> CanaryReport | None:
    """What was found about this version before, if it was tried."""
    facts = _known().get(_key(agent.name, detected))
    if not isinstance(facts, dict):
        return None
    try:
        results = tuple(CaseResult(**result) for result in facts.pop("results"))
        return CanaryReport(**facts, results=results)
    except (TypeError, KeyError):
        return None


def _remember(report: CanaryReport, detected: Detected) -> None:
    path = _memory()
    known: Mapping[str, object] = {**_known(), _key(report.agent, detected): asdict(report)}
    try:
        _write(path, json.dumps(known, indent=1))
    except OSError:
        # Only a memory: without it the self-test runs again next time.
        return


def _known() -> dict[str, object]:
    try:
        known = json.loads(_memory().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
