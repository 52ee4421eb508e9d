"""Reads whatever lies at a path, and has every rule look at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skill_assay.errors import AssayError, InputError, NotFoundError
from skill_assay.formats.config import examine_config
from skill_assay.formats.document import parse_document
from skill_assay.formats.evals import examine_evals, located_in
from skill_assay.formats.frontmatter import read_frontmatter
from skill_assay.formats.jsontext import parse_json
from skill_assay.formats.lint.eval_rules import EVAL_RULES
from skill_assay.formats.lint.other_rules import CONFIG_RULES, QUERY_RULES
from skill_assay.formats.lint.skill_rules import SKILL_RULES
from skill_assay.formats.lint.subject import Subject
from skill_assay.formats.notes import Notes
from skill_assay.formats.openai_yaml import OPENAI_YAML, codex_use, examine_openai_yaml
from skill_assay.formats.plugin_suite import case_folders, find_suite, is_suite, plugin_skill
from skill_assay.formats.reading import decode, read_source
from skill_assay.formats.skill import examine_skill
from skill_assay.formats.sniff import Kind, sniff
from skill_assay.formats.triggers import examine_queries
from skill_assay.model.evals import EvalSet, Expectation
from skill_assay.model.findings import Finding, Severity
from skill_assay.model.skill import Skill

__all__ = ["CheckProblems", "Report", "lint"]

CheckProblems = Callable[[Expectation, Path], Sequence[InputError]]
"""What is wrong with an expectation's checks, given the evals' folder. Handed in, since graders lie above."""


@dataclass(frozen=True, slots=True)
class Report:
    """One file: what was understood, and what was found."""

    file: str
    kind: Kind | None
    understood: str
    findings: tuple[Finding, ...]


def lint(path: Path, check_problems: CheckProblems) -> list[Report]:
    """Everything there is to say about a skill's folder, or one file of it.

    Raises:
        NotFoundError: there is nothing to read.
    """
    if not path.exists():
        raise NotFoundError("there is nothing here", file=str(path))
    path = plugin_skill(path)
    kind = sniff(path)
    if path.is_dir():
        return _folder(path, kind, check_problems)
    if case_folders(path):
        return _suite(path, _owner(path.parent), check_problems)
    if kind is None:
        expected = "a skill, evals, a trigger set or a configuration"
        raise InputError("is none of the files that are known here", file=str(path), expected=expected)
    return [_file(path, kind, _owner(path), check_problems)]


def _folder(path: Path, kind: Kind | None, check_problems: CheckProblems) -> list[Report]:
    """A skill's folder, or a folder of evals and trigger sets."""
    evals = path / "evals" if kind is Kind.SKILL or (path / "evals").is_dir() else path
    files = [file for file in sorted(evals.glob("*")) if file.is_file()] if evals.is_dir() else []
    known = [(file, found) for file in files if (found := sniff(file)) not in (None, Kind.SKILL)]
    suite = None if any(found is Kind.EVALS for _, found in known) else _suite_at(path, kind)
    if kind is not Kind.SKILL and not known and suite is None:
        hint = "A skill is a folder with a SKILL.md; `assay init` begins one."
        raise NotFoundError("there is no SKILL.md here, nor evals", file=str(path), hint=hint)
    skill_file = path / "SKILL.md"
    reports = [_file(skill_file, Kind.SKILL, None, check_problems)] if kind is Kind.SKILL else []
    if reports and suite is None and not any(found is Kind.EVALS for _, found in known):
        reports[0] = replace(reports[0], findings=(*reports[0].findings, _no_evals(path)))
    if reports and (path / OPENAI_YAML).is_file():
        reports.append(_file(path / OPENAI_YAML, Kind.OPENAI, _owner(path / OPENAI_YAML), check_problems))
    owner = _owner(evals / "evals.json")
    reports += _suite(suite, owner, check_problems) if suite else []
    return reports + [_file(file, found, owner, check_problems) for file, found in known if found]


def _suite_at(path: Path, kind: Kind | None) -> Path | None:
    """The suite of `claude plugin eval` that tests a skill, or that a folder is."""
    if kind is Kind.SKILL:
        return find_suite(path)
    return next((folder for folder in (path / "evals", path) if is_suite(folder)), None)


def _suite(path: Path, owner: Skill | None, check_problems: CheckProblems) -> list[Report]:
    """Many files, judged as one set; what is in one of them is told under its name."""
    root = owner.root if owner else path.absolute().parent
    evals, findings = examine_evals(path, skill_root=root)
    notes = Notes(str(evals.root))
    for rule in EVAL_RULES:
        rule(Subject(evals, owner, root), notes)
    for one in evals.evals:
        for expectation in one.expectations:
            for error in check_problems(expectation, evals.root):
                file = str(evals.root / expectation.place.split(" ")[0])
                findings += (replace(_as_finding(error, file, "check-argument"), file=file, json_path=""),)
    found = _needed(findings) + notes.findings
    files = [file for file in dict.fromkeys(each.file for each in found) if file not in (str(path), notes.file)]
    whole = tuple(each for each in found if each.file not in files)
    parts = [(file, tuple(each for each in found if each.file == file)) for file in files]
    first = Report(str(path), Kind.EVALS, _evals_understood(evals), whole)
    return [first, *(Report(file, Kind.EVALS, "part of this suite", part) for file, part in parts)]


def _no_evals(root: Path) -> Finding:
    remedy = f"assay init {root}  writes a first evals/evals.json to fill in."
    message = "there are no evals, so nothing can be measured yet"
    return Finding(Severity.INFO, "no-evals-file", message, remedy=remedy, file=str(root / "SKILL.md"))


def _owner(path: Path) -> Skill | None:
    """The skill whose `evals/` a file lies in."""
    try:
        return examine_skill(path.absolute().parent.parent)[0]
    except AssayError:
        return None


def _file(path: Path, kind: Kind, owner: Skill | None, check_problems: CheckProblems) -> Report:
    try:
        if kind is Kind.SKILL:
            return _skill(path)
        if kind is Kind.EVALS:
            return _evals(path, owner, check_problems)
        if kind is Kind.OPENAI:
            return _openai(path, owner)
        return _queries(path, owner) if kind is Kind.TRIGGERS else _config(path, owner)
    except InputError as error:
        return Report(str(path), kind, "could not be read", (_as_finding(error, str(path)),))


def _as_finding(error: InputError, file: str, rule: str = "unreadable") -> Finding:
    return Finding(
        Severity.ERROR,
        rule,
        error.message,
        remedy=error.hint or "",
        file=error.file or file,
        json_path=error.json_path or "",
        line=error.line,
        found=error.found or "",
        expected=error.expected or "",
    )


def _skill(path: Path) -> Report:
    skill, findings = examine_skill(path if path.name == "SKILL.md" else path.parent)
    if skill is None:
        return Report(str(path), Kind.SKILL, "could not be used", findings)
    file = str(path)
    notes = Notes(file, read_frontmatter(decode(skill.raw, file)[0], file).yaml.line)
    for rule in SKILL_RULES:
        rule(Subject(skill, skill, skill.root), notes)
    lines = skill.body.count("\n") + 1 if skill.body.strip() else 0
    understood = (
        f"{skill.name}: description of {len(skill.description.strip())} characters, "
        f"body of {lines} lines, {_count(len(skill.files), 'file')} for the agent"
    )
    return Report(file, Kind.SKILL, understood, findings + notes.findings)


def _evals(path: Path, owner: Skill | None, check_problems: CheckProblems) -> Report:
    root = owner.root if owner else path.absolute().parent.parent
    evals, findings = examine_evals(path, skill_root=root)
    parsed = parse_document(read_source(path))
    notes = Notes(str(path), parsed.line)
    located = located_in(parsed, Notes("")).evals
    places = (
        {one.id: at for one, (_, at) in zip(evals.evals, located, strict=False)} if _all_read(evals, located) else {}
    )
    for rule in EVAL_RULES:
        rule(Subject(evals, owner, root, places), notes)
    for one in evals.evals:
        for expectation in one.expectations:
            for error in check_problems(expectation, evals.root):
                found = _as_finding(error, str(path), "check-argument")
                line = parsed.line(found.json_path) if found.json_path else None
                findings += (replace(found, file=str(path), line=line),)
    return Report(str(path), Kind.EVALS, _evals_understood(evals), _needed(findings) + notes.findings)


def _all_read(evals: EvalSet, located: Sequence[object]) -> bool:
    return len(evals.evals) == len(located)


def _needed(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """A missing fixture is an error here: a run would refuse it."""
    return tuple(
        replace(finding, severity=Severity.ERROR) if finding.rule == "fixture-missing" else finding
        for finding in findings
    )


def _evals_understood(evals: EvalSet) -> str:
    expectations = [each for one in evals.evals for each in one.expectations]
    checked = sum(bool(each.checks) for each in expectations)
    texts = len(expectations) - checked
    return (
        f"{_count(len(evals.evals), 'eval')}, {_count(len(expectations), 'expectation')}: "
        f"{checked} decided by a machine, {texts} by a judge or a script"
    )


def _queries(path: Path, owner: Skill | None) -> Report:
    queries, findings = examine_queries(path, skill_name=owner.name if owner else None)
    notes = Notes(str(path))
    if queries.queries:
        for rule in QUERY_RULES:
            rule(Subject(queries, owner), notes)
    positive = sum(query.should_trigger for query in queries.queries)
    total = len(queries.queries)
    understood = f"{total} quer{'y' if total == 1 else 'ies'}: {positive} should trigger, {total - positive} should not"
    return Report(str(path), Kind.TRIGGERS, understood, findings + notes.findings)


def _openai(path: Path, owner: Skill | None) -> Report:
    values, findings = examine_openai_yaml(path, owner.name if owner else None)
    means = {
        "itself": "",
        "name": "; Codex never picks the skill up by itself",
        "never": "; the skill is not there for Codex, only for other products",
    }[codex_use(path.absolute().parent.parent)]
    return Report(str(path), Kind.OPENAI, f"{', '.join(map(str, values)) or 'nothing'}{means}", findings)


def _config(path: Path, owner: Skill | None) -> Report:
    configuration, findings = examine_config(path)
    notes = Notes(str(path), parse_json(read_source(path).text, str(path)).line)
    for rule in CONFIG_RULES:
        rule(Subject(configuration, owner), notes)
    understood = f"{_count(len(configuration.values), 'setting')}, {_count(len(configuration.thresholds), 'threshold')}"
    return Report(str(path), Kind.CONFIG, understood, findings + notes.findings)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
