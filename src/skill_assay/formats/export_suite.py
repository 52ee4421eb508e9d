"""Evals as a suite of `claude plugin eval`: a folder for each, with prompt.md, graders and what is laid out before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.formats.export import Exported, Loss, quoted
from skill_assay.formats.export_graders import graders_of
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.plugin_suite_setup import COPY_FILES
from skill_assay.model.evals import Environment, Eval, EvalSet, Expectation, slug

__all__ = ["TOOLS", "export_suite"]

TOOLS = ("Read", "Glob", "Grep", "Skill", "Write", "Edit", "Bash")
"""What an exported case asks for: there, a tool that a case does not name is not given."""
_MAX_TURNS = 50
"""Cases end after 10 there unless they say more; ours end when the agent does."""
_LONGEST_SECONDS = 3600
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}(?<!\.)")
_TAKEN = frozenset({"node_modules", "results", "mocks", "con", "nul", "aux", "prn"})


def export_suite(evals: EvalSet, *, skill_name: str, skill_root: Path, allow_outside: bool = False) -> Exported:
    """The files of the suite, with all that has no counterpart there.

    Args:
        evals: what is written.
        skill_name: of the skill under test.
        skill_root: its folder, from which fixtures are found.
        allow_outside: also take fixtures that lie elsewhere, as those of a plugin's suite do.

    Raises:
        InputError: a fixture is missing or outside the skill, or nothing is left to be written.
    """
    losses: list[Loss] = []
    texts: dict[str, str] = {}
    copies: dict[str, Path] = {}
    folders: set[str] = set()
    for one in evals.evals:
        place = f"eval {one.id}"
        graders, lost = _graders(one, skill_name)
        losses += lost
        if not graders:
            losses.append(Loss(place, "left out: no grader there decides any of it"))
            continue
        folder = _folder(one, folders)
        if folder != one.id:
            losses.append(Loss(place, f"its id can't name a folder; it is called {folder} there"))
        folders.add(folder.lower())
        losses += [Loss(place, reason) for reason in _unsaid(one)]
        case, files = _case(one, folder, resolve_fixtures(one, skill_root, allow_outside=allow_outside))
        texts |= {f"{folder}/{name}": text for name, text in (case | graders).items()}
        copies |= {f"{folder}/files/{name}": source for name, source in files.items()}
    if not texts:
        hint = f"{losses[0].place}: {losses[0].reason}." if losses else None
        raise InputError("no eval can be written as a case", file=str(evals.source), hint=hint)
    _refuse_surrogates(texts)
    return Exported(texts, tuple(dict.fromkeys(losses)), copies)


def _folder(one: Eval, taken: set[str]) -> str:
    if _SAFE.fullmatch(one.id) and one.id.lower() not in _TAKEN | taken:
        return one.id
    name, number = one.folder, 2
    while name.lower() in taken:
        name, number = f"{one.folder}-{number}", number + 1
    return name


def _case(one: Eval, folder: str, fixtures: Iterable[tuple[Path, str]]) -> tuple[dict[str, str], dict[str, Path]]:
    """The files beside the graders, and the fixtures by their place."""
    keys: dict[str, object] = {"name": one.name} if one.name else {}
    keys |= {"tags": list(one.tags)} if one.tags else {}
    keys |= {"expected_outcome": one.expected_output} if one.expected_output else {}
    keys |= {"timeout_seconds": _seconds(one)} if one.timeout_seconds else {}
    keys |= {"max_turns": _MAX_TURNS, "allowed_tools": list(TOOLS)}
    texts = {"prompt.md": _prose(keys, one.prompt)}
    files = {place: source for source, place in fixtures}
    if files or one.setup:
        script = ["#!/bin/bash"]
        script += ["# Puts the files of the eval in place.", COPY_FILES] if files else []
        script += [one.setup.strip()] if one.setup else []
        texts["scaffold.sh"] = "\n".join(script) + "\n"
        name = quoted(one.name or folder)
        texts["case.yaml"] = f'schema_version: "1.1"\nname: {name}\ncontext:\n  scaffold_script: scaffold.sh\n'
    return texts, files


def _seconds(one: Eval) -> int:
    return max(1, min(_LONGEST_SECONDS, round(one.timeout_seconds or 0)))


def _prose(keys: dict[str, object], body: str) -> str:
    front = "".join(f"{key}: {quoted(value)}\n" for key, value in keys.items())
    return f"---\n{front}---\n\n{body.strip()}\n"


def _graders(one: Eval, skill_name: str) -> tuple[dict[str, str], list[Loss]]:
    """The grader files by their place in the case, numbered so that they keep their order."""
    texts: dict[str, str] = {}
    losses: list[Loss] = []
    for index, expectation in enumerate(one.expectations, 1):
        place = f"eval {one.id}, expectation {index}"
        found, reasons = graders_of(expectation, skill_name)
        losses += [Loss(place, reason) for reason in reasons]
        if found and reasons:
            losses.append(Loss(place, "only a part of its checks is decided there"))
        if len(found) > 1:
            losses.append(Loss(place, f"its {len(found)} checks are graders of their own there"))
        if found and expectation.severity == "info" and "with-only" in str(found[0].keys.get("arm")):
            losses.append(Loss(place, "what is only reported is told for the arm with the skill alone there"))
        for part, grader in enumerate(found, 1):
            losses += [Loss(place, reason) for reason in grader.differs]
            number = f"{index:02}" + (f"-{part}" if len(found) > 1 else "")
            texts[f"graders/{number}-{_words(expectation)}.md"] = _prose(dict(grader.keys), expectation.text)
    return texts, losses


def _words(expectation: Expectation) -> str:
    return slug(expectation.id or expectation.text, 40)


def _unsaid(one: Eval) -> Iterable[str]:
    """What an eval says that a case can't."""
    there = {
        "turns": one.turns,
        "environment": one.environment != Environment(),
        "weight": one.weight != 1,
        "known_issue": one.known_issue,
        "reference": one.reference,
        "should_trigger": one.should_trigger is not None,
        "expected_skill": one.expected_skill,
        **{key: not key.startswith(("_", "$")) for key in one.extra},
    }
    yield from (f"{key} is not written" for key, said in there.items() if said)
    if one.timeout_seconds and _seconds(one) != one.timeout_seconds:
        yield f"timeout_seconds is {_seconds(one)} there, a whole number up to {_LONGEST_SECONDS}"
    if one.files or one.setup:
        yield "its files and setup are laid out by a script there, which runs only with --scaffold"


def _refuse_surrogates(texts: dict[str, str]) -> None:
    for name, text in texts.items():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            found = f"U+{ord(text[error.start]):04X}"
            raise InputError("can't be written: half a character", file=name, found=found) from error
