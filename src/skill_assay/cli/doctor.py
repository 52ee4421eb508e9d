"""`assay doctor`: what is on this machine, what it can do, and whether our detection reads it rightly."""

from __future__ import annotations

import json
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import anyio
import click

from skill_assay import __version__
from skill_assay.agents.registry import agent_names, create_agent
from skill_assay.errors import InputError
from skill_assay.model.agent import Detected
from skill_assay.model.protocols import Agent
from skill_assay.modelserver.canary import cases
from skill_assay.runner.bwrap import bwrap_available
from skill_assay.runner.canary import CanaryReport, run_canary
from skill_assay.runner.sandbox import ALLOWED, base_environment

__all__ = ["command"]

_NOT_LISTED = ("command", "simulated")


@dataclass(frozen=True, slots=True)
class _Looked:
    """One agent, as found."""

    name: str
    agent: Agent
    detected: Detected | None
    sign_in: str
    problem: str | None = None


@click.command()
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only this agent (repeatable).")
@click.option("--no-canary", is_flag=True, help="Leave the self-test out.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
def command(agents: tuple[str, ...], no_canary: bool, format_: str) -> int:
    """Show which agent CLIs are here, how they are signed in, and try our detection on them (no tokens, seconds)."""
    looked = [_look(name) for name in agents or [name for name in agent_names() if name not in _NOT_LISTED]]
    reports = {} if no_canary else anyio.run(_canaries, looked)
    facts = _facts(looked, reports)
    click.echo(json.dumps(facts, indent=2) if format_ == "json" else _text(looked, reports, facts))
    if any(report.failures for report in reports.values()):
        return 3
    return 0 if any(one.detected for one in looked) else 2


def _look(name: str) -> _Looked:
    agent = create_agent(name)
    detected = agent.detect(os.environ)
    if detected is None:
        return _Looked(name, agent, None, "")
    try:
        sign_in = agent.sign_in(os.environ)
    except InputError as error:
        return _Looked(name, agent, detected, "not signed in", str(error))
    return _Looked(name, agent, detected, f"{sign_in.how} ({sign_in.source})")


async def _canaries(looked: list[_Looked]) -> dict[str, CanaryReport]:
    return {
        one.name: await run_canary(one.agent, one.detected)
        for one in looked
        if one.detected is not None and cases(one.name)
    }


def _facts(looked: list[_Looked], reports: Mapping[str, CanaryReport]) -> dict[str, Any]:
    bwrap, why = bwrap_available()
    return {
        "versions": {"skill_assay": __version__, "python": platform.python_version(), "platform": platform.platform()},
        "sandbox": {"bwrap": bwrap, "reason": why, "strays": _strays()},
        "environment": {"allowed": list(ALLOWED), "passed": sorted(base_environment(os.environ))},
        "programs": {name: shutil.which(name) for name in ("git", "bwrap")},
        "agents": [
            {
                "name": one.name,
                "found": one.detected is not None,
                "version": one.detected.version if one.detected else None,
                "path": one.detected.path if one.detected else None,
                "signed_in": one.sign_in or None,
                "problem": one.problem,
                "capabilities": asdict(one.agent.capabilities),
                "canary": _canary_facts(reports.get(one.name)),
            }
            for one in looked
        ],
    }


def _strays() -> str:
    if platform.system() == "Linux":
        return "a launcher per trial ends everything an agent starts"
    return "process groups and a polled tree: a daemon that leaves its group may survive"


def _canary_facts(report: CanaryReport | None) -> dict[str, Any] | None:
    return None if report is None else {**asdict(report), "passed": report.passed}


def _text(looked: list[_Looked], reports: Mapping[str, CanaryReport], facts: Mapping[str, Any]) -> str:
    versions, sandbox = facts["versions"], facts["sandbox"]
    lines = [f"skill-assay {versions['skill_assay']} · Python {versions['python']} · {versions['platform']}", ""]
    for one in looked:
        lines += _agent_lines(one, reports.get(one.name))
    can = "available" if sandbox["bwrap"] else f"not available: {sandbox['reason']}"
    lines += ["", f"Sandbox bwrap: {can}", f"Without a sandbox: {sandbox['strays']}"]
    lines.append(f"Environment of every trial: {', '.join(facts['environment']['passed'])}")
    return "\n".join(lines)


def _agent_lines(one: _Looked, report: CanaryReport | None) -> list[str]:
    if one.detected is None:
        install = one.agent.capabilities.install.partition(";")[0]
        return [f"{one.name}: not found{f'. {install}' if install else ''}"]
    lines = [f"{one.name} {one.detected.version}", f"  at {one.detected.path}", f"  signed in: {one.sign_in}"]
    if one.problem:
        lines += [f"  {line}" for line in one.problem.splitlines()]
    can = [name for name, value in asdict(one.agent.capabilities).items() if value is True]
    lines.append(f"  can: {', '.join(can)}")
    if one.problem is None:
        how = "by schema" if one.agent.capabilities.schema else "the schema told in words"
        lines.append(f"  can judge and propose: --judge {one.name}/MODEL, {how}")
    if report is None:
        return lines
    mark = "✓" if not report.failures else "×"
    lines.append(f"  {mark} detection self-test: {report.passed} of {len(report.results)} in {report.seconds:g} s")
    lines += [f"    × {case.name}: {case.wrong}" for case in report.failures]
    lines.append(f"  {_key_words(report)}")
    return lines


def _key_words(report: CanaryReport) -> str:
    if report.key_in_tools:
        return "a tool call has the key in its own environment: use a key with a spending limit"
    if report.key_in_parent:
        return "a tool call that looks for it can read the key from its parent process: use a key with a spending limit"
    if report.key_in_tools is None or report.key_in_parent is None:
        return "whether a tool call can read the key is not known: it could not look"
    return "a tool call cannot read the key"
