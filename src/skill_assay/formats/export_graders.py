"""Our checks as graders of `claude plugin eval`, where there is one that decides the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from skill_assay.formats.js_regex import to_js
from skill_assay.formats.plugin_suite_graders import skill_pattern
from skill_assay.model.evals import Check, Expectation

__all__ = ["Grader", "NoCounterpart", "graders_of"]


class NoCounterpart(Exception):
    """Nothing there decides this; the message says why."""


@dataclass(frozen=True, slots=True)
class Grader:
    """One grader file."""

    keys: Mapping[str, Any]
    """Its frontmatter."""
    differs: tuple[str, ...] = field(default=())
    """In what it decides otherwise than ours."""


def graders_of(expectation: Expectation, skill_name: str) -> tuple[list[Grader], list[str]]:
    """The graders an expectation becomes, and why parts of it become none.

    Args:
        expectation: without checks it is one for a judge.
        skill_name: of the skill under test.
    """
    arm = {"arm": "with-only"} if expectation.severity == "info" else {}
    if not expectation.checks:
        return [_for_a_judge(expectation, arm)], []
    if count := _exact_count(expectation.checks):
        one, number = count
        try:
            found = _matches(one, skill_name)
        except NoCounterpart as reason:
            return [], [str(reason)]
        return [Grader({**found.keys, "match": f"count:{number}", **arm}, found.differs)], []
    graders: list[Grader] = []
    reasons: list[str] = []
    for check in expectation.checks:
        try:
            write = _WRITERS.get(check.kind)
            if write is None:
                raise NoCounterpart(f"no grader there decides {check.kind}")
            found = write(check, skill_name)
            graders.append(Grader({**found.keys, **arm}, found.differs))
        except NoCounterpart as reason:
            reasons.append(str(reason))
    return graders, reasons


def _for_a_judge(expectation: Expectation, arm: Mapping[str, str]) -> Grader:
    if expectation.about == "process":
        return Grader({"type": "llm", "focus": "trace", **arm})
    return Grader({"type": "llm", **arm}, ("a judge there sees the final message only, unless its focus says more",))


def _exact_count(checks: tuple[Check, ...]) -> tuple[Check, int] | None:
    """Two checks that together ask for so many matches and no more."""
    if (
        len(checks) != 2
        or {check.kind for check in checks} != {"matches"}
        or checks[0].negated
        or not checks[1].negated
    ):
        return None
    least, more = (dict(check.arguments) for check in checks)
    number, above = least.pop("min_count", 1), more.pop("min_count", 1)
    return (Check("matches", least), number) if least == more and above == number + 1 else None


def _matches(check: Check, _skill: str) -> Grader:
    arguments = check.arguments
    flags = str(arguments.get("flags", ""))
    if set(flags) - set("ims"):
        raise NoCounterpart(f"the flags {flags} mean nothing in JavaScript")
    if arguments.get("ignore_case") is True and "i" not in flags:
        flags += "i"
    if arguments.get("min_count", 1) != 1:
        raise NoCounterpart("no grader there asks for a least number of matches")
    if check.kind == "contains":
        pattern = re.sub(r"[\\^$.*+?()\[\]{}|]", r"\\\g<0>", str(arguments.get("text", "")))
    else:
        written = str(arguments.get("pattern", ""))
        if inline := re.match(r"\(\?([ims]+)\)", written):
            written = written[inline.end() :]
            flags += "".join(letter for letter in inline[1] if letter not in flags)
        pattern = to_js(written, flags) or ""
    if not pattern:
        raise NoCounterpart("JavaScript can't say this pattern")
    target, differs = _target(arguments.get("in"))
    keys = {"type": "regex", "pattern": pattern}
    keys |= {"flags": flags} if flags else {}
    keys |= {"match": "not_contains"} if check.negated else {}
    return Grader(keys | target, differs)


def _target(where: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    if isinstance(where, list | tuple) and len(where) == 1:
        where = where[0]
    if where is None:
        return {}, ("it is looked for in the final message only, not in the files",)
    if where == "answer":
        return {}, ()
    if where == "transcript":
        return {"target": "trace"}, ("the transcript there is lines of JSON, with a backslash before each quote",)
    if not isinstance(where, str) or where == "files":
        raise NoCounterpart("a grader there looks at one place")
    plain = re.sub(r"\[([*?\[])\]", "", where)
    if re.search(r"[*?\[{]", plain) or where.endswith("/"):
        raise NoCounterpart("a grader there looks into one file by its path, not into a pattern")
    path = re.sub(r"\[([*?\[])\]", r"\1", where.removeprefix("./"))
    anywhere = () if where.startswith("./") else ("the file is looked for in the top folder only",)
    return {"target": {"source": "file", "path": path}}, anywhere


def _file(check: Check, _skill: str) -> Grader:
    absent = (check.kind == "file_absent") != check.negated
    least = check.arguments.get("min_bytes", 1 if check.kind == "file_exists" else 0)
    if least not in (0, 1) or check.arguments.get("max_bytes") is not None:
        raise NoCounterpart("no grader there asks how large a file is")
    written = str(check.arguments.get("path", ""))
    plain = written.replace("[[]", "\0")
    if re.search(r"[\[{]", plain):
        raise NoCounterpart("the pattern means something else there: [ and { are plain letters")
    pattern = plain.replace("\0", "[") + ("**" if written.endswith("/") else "")
    path = pattern.removeprefix("./") if pattern.startswith("./") else f"**/{pattern}"
    differs = ("an empty file counts as there",) if least == 1 else ()
    return Grader({"type": "file_exists", "path": path, **({"exists": False} if absent else {})}, differs)


def _tool(check: Check, _skill: str) -> Grader:
    step, differs = _step(check.arguments)
    bounds = {key: check.arguments[key] for key in ("min", "max") if check.arguments.get(key) is not None}
    if check.negated != (check.kind == "tool_not_called"):
        if bounds.get("min", 1) != 1 or "max" in bounds:
            raise NoCounterpart("no grader there says how often a tool is not called")
        bounds = {"min": 0, "max": 0}
    return Grader({"type": "tool_used", **step, **bounds}, differs)


def _step(arguments: Any) -> tuple[dict[str, str], tuple[str, ...]]:
    arguments = {"tool": arguments} if isinstance(arguments, str) else arguments
    tool, pattern = str(arguments.get("tool", "")), arguments.get("input_matches")
    name = re.sub(r"\[([*?\[])\]", r"\1", tool)
    if re.search(r"[*?\[]", re.sub(r"\[[*?\[]\]", "", tool)):
        raise NoCounterpart("a grader there names one tool, not a pattern")
    if pattern is None:
        return {"tool": name}, ()
    written = to_js(str(pattern))
    if written is None:
        raise NoCounterpart("JavaScript can't say this pattern")
    tied = ("the input is matched as JSON only, so ^ and $ mean its ends",) if re.search(r"[\^$]", written) else ()
    return {"tool": name, "input_match": written}, tied


def _order(check: Check, _skill: str) -> Grader:
    tools = check.arguments.get("tools")
    if check.negated or not isinstance(tools, list | tuple) or len(tools) != 2:
        raise NoCounterpart("a grader there orders two tools")
    (before, one), (after, two) = (_step(step) for step in tools)
    keys = {"type": "tool_order", "before": _short(before), "after": _short(after)}
    return Grader(keys, (*one, *two, "the first calls of the two are compared"))


def _short(step: dict[str, str]) -> Any:
    return step if "input_match" in step else step["tool"]


def _skill_used(check: Check, skill: str) -> Grader:
    name = str(check.arguments.get("name") or skill)
    if not re.fullmatch(r"[\w-]+", name):
        raise NoCounterpart("this name of a skill can't be matched there")
    used = (check.arguments.get("expected", True) is not False) != check.negated
    keys = {"type": "tool_used", "tool": "Skill", "input_match": skill_pattern(name)}
    return Grader(keys | ({} if used else {"min": 0, "max": 0}))


_WRITERS: Mapping[str, Callable[[Check, str], Grader]] = {
    "contains": _matches,
    "matches": _matches,
    "file_exists": _file,
    "file_absent": _file,
    "tool_called": _tool,
    "tool_not_called": _tool,
    "tool_order": _order,
    "skill_used": _skill_used,
}
