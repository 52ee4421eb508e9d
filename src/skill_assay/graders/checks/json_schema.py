"""`json_schema`: a JSON file against a schema (draft 2020-12 unless it names another)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.absent import absent
from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import Root, evals_file, glob
from skill_assay.graders.checks.verdict import Answer, Verdict, broken, nothing, said
from skill_assay.graders.json_text import NotJson, parse_json
from skill_assay.graders.outputs import Unreadable, matching, place, read_bytes, read_text
from skill_assay.graders.words import counted, listed, shortened, shown
from skill_assay.model.work import Work

__all__ = ["JsonSchema", "schema_reader"]


def schema_reader(value: Any, root: Root) -> dict[str, Any]:
    """A schema, written here or in a file of the evals folder."""
    schema = _from_file(value, root) if isinstance(value, str) else value
    if not isinstance(schema, dict):
        raise BadArgument("this is no schema", found=shown(schema), expected="an object, or the path of a schema file")
    problem = _problem(schema)
    if problem:
        raise BadArgument(f"this is no valid schema: {problem}")
    return schema


def _from_file(value: str, root: Root) -> Any:
    path = evals_file(value, root)
    try:
        return parse_json(read_bytes(path.parent, path.name))
    except (NotJson, Unreadable) as reason:
        raise BadArgument(f"the schema file {reason}", found=shown(value)) from None


def _problem(schema: dict[str, Any]) -> str | None:
    from jsonschema import Draft202012Validator, SchemaError, validators

    try:
        validators.validator_for(schema, default=Draft202012Validator).check_schema(schema)
    except SchemaError as error:
        return shortened(f"at {error.json_path}: {error.message}", 200)
    remote = next((ref for ref in _references(schema) if "://" in ref and "json-schema.org/" not in ref), None)
    return f"it refers to {remote}, and nothing is fetched from elsewhere" if remote else None


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        reference = value.get("$ref")
        if isinstance(reference, str):
            yield reference
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


@dataclass(frozen=True)
class JsonSchema:
    """Some JSON file that matches the pattern satisfies the schema."""

    kind: ClassVar = "json_schema"
    schema: dict[str, Any] = argument(schema_reader)
    file: str = argument(glob, default="*.json")

    async def decide(self, work: Work) -> Verdict:
        """Yes on the first file that satisfies it."""
        files = matching(work.files, self.file)
        if not files:
            return absent(work, self.file)
        return await bounded(look_into, work.outputs, files, self.schema)


def look_into(root: Path, files: tuple[str, ...], schema: dict[str, Any]) -> Verdict:
    """The first file that satisfies the schema, else what is wrong with the others."""
    verdicts = []
    for name in files:
        verdict = _look_at(root, name, schema)
        if verdict.answer in (Answer.YES, Answer.BROKEN):
            return verdict
        verdicts.append(verdict)
    answer = Answer.NO if any(verdict.answer is Answer.NO for verdict in verdicts) else Answer.NOTHING
    chosen = [verdict for verdict in verdicts if verdict.answer is answer][:5]
    places = tuple(place for verdict in chosen for place in verdict.places)
    return Verdict(answer, " ".join(verdict.evidence for verdict in chosen), places)


def _look_at(root: Path, name: str, schema: dict[str, Any]) -> Verdict:
    from jsonschema import Draft202012Validator, validators
    from jsonschema.exceptions import relevance
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        document = parse_json(read_text(root, name))
        # An empty registry: the default one would fetch references from the network.
        validator = validators.validator_for(schema, default=Draft202012Validator)(schema, registry=Registry())
        errors = sorted(validator.iter_errors(document), key=relevance, reverse=True)
    except (Unreadable, NotJson) as reason:
        return nothing(f"{name} {reason}.")
    except Unresolvable as error:
        return broken(f"The schema refers to something that is not in it: {shortened(str(error))}.")
    except RecursionError:
        return broken(f"{name} nests too deeply to be checked.")
    if not errors:
        return said(True, f"{name} satisfies the schema.", (place(name),))
    problems = listed((f"at {error.json_path}: {shortened(error.message)}" for error in errors), 3)
    return said(False, f"{name} has {counted(len(errors), 'problem')}: {problems}.", (place(name),))
