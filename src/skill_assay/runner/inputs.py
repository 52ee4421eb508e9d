"""What a run is made from, read and checked before anything is launched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.evals import find_evals, load_evals
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.skill import read_skill
from skill_assay.graders.checks import compile_checks
from skill_assay.model.evals import Eval, EvalSet, Expectation
from skill_assay.model.skill import Skill
from skill_assay.runner.answers import refuse_answers

__all__ = ["Inputs", "choose_evals", "eval_digest", "load_inputs", "tree_digest"]

Fixtures = tuple[tuple[Path, str], ...]


@dataclass(frozen=True, slots=True)
class Inputs:
    """A skill with its evals, fixtures resolved and checks understood."""

    skill: Skill
    evals: EvalSet
    chosen: tuple[Eval, ...]
    """The evals this run is about, in file order."""
    fixtures: Mapping[str, Fixtures]
    """By eval id."""
    neighbours: tuple[Path, ...] = ()
    """Folders of further skills installed beside it, each under its own name."""
    fixing: Mapping[str, str] = field(default_factory=dict)
    """What else fixes the trials: in words, with a digest or a value."""
    queries: bool = False
    """Whether these are trigger queries, which ask only if the skill is picked up."""

    @property
    def evals_root(self) -> Path:
        """The folder of the evals file, where checks.py and reference files lie."""
        return self.evals.root


def load_inputs(
    skill_path: Path,
    evals_path: Path | None = None,
    *,
    eval_ids: Iterable[str] = (),
    tags: Iterable[str] = (),
    allow_outside: bool = False,
) -> Inputs:
    """Read a skill and its evals; every mistake in them is found here, before the first launch.

    Raises:
        InputError: with file, JSON path, what was found and what was expected.
    """
    skill = read_skill(skill_path)
    evals = load_evals(evals_path or find_evals(skill.root), skill_root=skill.root)
    chosen = choose_evals(evals, tuple(eval_ids), tuple(tags))
    for one in chosen:
        for expectation in one.expectations:
            _compiled(expectation, evals)
    fixtures = {one.id: _fixtures(one, evals, skill.root, allow_outside) for one in chosen}
    refuse_answers(skill, evals, fixtures)
    return Inputs(skill, evals, chosen, fixtures)


def _compiled(expectation: Expectation, evals: EvalSet) -> None:
    try:
        compile_checks(expectation, evals_root=evals.root)
    except InputError as error:
        error.file = error.file or _file(evals)
        raise


def _fixtures(one: Eval, evals: EvalSet, root: Path, allow_outside: bool) -> Fixtures:
    try:
        return resolve_fixtures(one, root, allow_outside=allow_outside)
    except InputError as error:
        known = next((finding for finding in evals.findings if finding.message == error.message), None)
        if known:
            error.file, error.json_path, error.line = known.file, known.json_path, known.line
        error.file = error.file or _file(evals)
        raise


def _file(evals: EvalSet) -> str:
    """The evals file, or their folder where several files are one set."""
    return str(evals.root if evals.read else evals.source)


def choose_evals(evals: EvalSet, eval_ids: tuple[str, ...], tags: tuple[str, ...]) -> tuple[Eval, ...]:
    """The evals named by `--eval` and `--tag` (either is enough); all of them when nothing is named.

    Raises:
        NotFoundError: a name stands for no eval, or nothing is left.
    """
    known = {one.id: one for one in evals.evals}
    known |= {one.name: one for one in evals.evals if one.name and one.name not in known}
    unknown = [name for name in eval_ids if name not in known]
    if unknown:
        raise NotFoundError(
            f"no eval is called {', '.join(unknown)}",
            file=str(evals.source),
            expected=", ".join(one.id for one in evals.evals[:20]),
        )
    if not eval_ids and not tags:
        return evals.evals
    wanted = {known[name].id for name in eval_ids}
    chosen = tuple(one for one in evals.evals if one.id in wanted or set(one.tags) & set(tags))
    if not chosen:
        raise NotFoundError(f"no eval has the tag {', '.join(tags)}", file=str(evals.source))
    return chosen


def eval_digest(one: Eval, fixtures: Fixtures) -> str:
    """SHA-256 over what fixes one eval: its own words, checks and fixtures. What only people read is left out."""
    facts = asdict(one)
    for name in ("name", "tags", "extra", "known_issue", "weight", "original_id"):
        facts.pop(name)
    for expectation in facts["expectations"]:
        expectation.pop("place")
    words = json.dumps(facts, sort_keys=True, default=str).encode()
    return hashlib.sha256(words + tree_digest(fixtures)).hexdigest()


def tree_digest(fixtures: Fixtures) -> bytes:
    """SHA-256 over files and folders: where they will lie, and every byte of them."""
    digest = hashlib.sha256()
    for source, place in fixtures:
        digest.update(place.encode() + b"\0")
        for path in sorted([source] if source.is_file() else source.rglob("*")):
            if path.is_file():
                digest.update(path.relative_to(source.parent).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.digest()
