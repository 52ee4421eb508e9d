"""`assay lint`: what was understood in a skill, evals, trigger set or configuration, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from skill_assay.errors import InputError
from skill_assay.formats.lint.examine import Report, lint
from skill_assay.model.evals import Expectation
from skill_assay.model.findings import Finding, Severity

__all__ = ["command"]

_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


@click.command(name="lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), metavar="PATH…")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", help="Output format.")
@click.option("--strict", is_flag=True, help="Warnings count as errors.")
@click.option("-q", "--quiet", is_flag=True, help="Errors and warnings only.")
def command(paths: tuple[str, ...], format_: str, strict: bool, quiet: bool) -> int:
    """Say what was understood in each PATH (a skill's folder, its SKILL.md, evals, trigger set or configuration),
    what was repaired while reading, and what is wrong and how to mend it.

    Nothing is run and nothing is changed. Exit code 1 when there are errors (with --strict, warnings too), 2 when a
    PATH is nothing that can be judged.
    """
    reports, unknown = _reports(paths)
    if reports or not unknown:
        click.echo(_as_json(reports) if format_ == "json" else _as_text(reports, quiet=quiet))
    if unknown:
        for error in unknown[:-1]:
            click.echo(str(error), err=True)
        raise unknown[-1]
    bad = (Severity.ERROR, Severity.WARNING) if strict else (Severity.ERROR,)
    return int(any(finding.severity in bad for report in reports for finding in report.findings))


def _reports(paths: Sequence[str]) -> tuple[list[Report], list[InputError]]:
    """Every path's reports; one that is nothing of ours does not hide what is wrong in the others."""
    reports: list[Report] = []
    unknown: list[InputError] = []
    for path in dict.fromkeys(paths):
        try:
            reports += lint(Path(path), _check_problems)
        except InputError as error:
            unknown.append(error)
    return reports, unknown


def _check_problems(expectation: Expectation, evals_root: Path) -> Sequence[InputError]:
    if not expectation.checks:
        return ()
    from skill_assay.graders.checks import check_problems

    return check_problems(expectation, evals_root=evals_root)


def _as_json(reports: Sequence[Report]) -> str:
    files = [
        {
            "file": report.file,
            "kind": report.kind,
            "understood": report.understood,
            "findings": [asdict(finding) for finding in report.findings],
        }
        for report in reports
    ]
    return json.dumps({"schema_version": 1, "files": files, "totals": _totals(reports)}, indent=2, ensure_ascii=False)


def _totals(reports: Sequence[Report]) -> dict[str, Any]:
    findings = [finding for report in reports for finding in report.findings]
    return {severity.value: sum(finding.severity is severity for finding in findings) for severity in _ORDER}


def _as_text(reports: Sequence[Report], *, quiet: bool) -> str:
    blocks = [_block(report, quiet) for report in reports]
    totals = _totals(reports)
    counted = [_plural(totals[severity.value], _WORDS[severity]) for severity in _ORDER if totals[severity.value]]
    return _plain("\n".join([*blocks, ", ".join(counted) if counted else "Nothing to mend."]))


def _plain(text: str) -> str:
    """Somebody's file must not steer the terminal: what can't be printed is shown as its number."""
    return "".join(each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text)


def _block(report: Report, quiet: bool) -> str:
    kind = f"{report.kind}, " if report.kind else ""
    lines = [f"{report.file}: {kind}{report.understood}"]
    shown = [finding for finding in report.findings if not (quiet and finding.severity is Severity.INFO)]
    for finding in sorted(shown, key=lambda finding: (_ORDER.index(finding.severity), finding.line or 0)):
        lines += _lines(finding)
    return "\n".join([*lines, ""])


def _lines(finding: Finding) -> list[str]:
    place = " ".join(part for part in (f"line {finding.line}" if finding.line else "", finding.json_path) if part)
    pairs = (("found", finding.found), ("expected", finding.expected))
    detail = ", ".join(f"{word} {value}" for word, value in pairs if value)
    text = finding.message + (f" ({detail})" if detail else "")
    head = f"  {_WORDS[finding.severity]:<7} {place}{': ' if place else ''}{text}  [{finding.rule}]"
    return [head, f"          {finding.remedy}"] if finding.remedy else [head]


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
