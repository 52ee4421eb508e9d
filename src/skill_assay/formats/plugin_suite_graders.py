"""The six kinds of grader of `claude plugin eval` as expectations: checks where there are, else words for a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from skill_assay.formats.fields import Fields
from skill_assay.formats.js_regex import from_js
from skill_assay.formats.notes import shown
from skill_assay.formats.suggest import did_you_mean
from skill_assay.model.evals import Check, Expectation

__all__ = ["TYPES", "read_grader", "skill_pattern"]

_NAMED_SKILL = re.compile(r'\^?"skill"\\s\*:\\s\*"\(\?:\[\\w-\]\+:\)\?(?P<name>[\w-]+)"')
_SHARED = ("type", "weight", "arm")


def skill_pattern(name: str) -> str:
    """The pattern by which a grader finds the use of one skill, in the form the manual gives."""
    return rf'"skill"\s*:\s*"(?:[\w-]+:)?{name}"'


def read_grader(name: str, fields: Fields, body: str, place: str) -> Expectation | None:
    """One grader; `None` when there is nothing here that it could be, which is noted.

    Args:
        name: its own, the file's without ending.
        fields: its keys.
        body: what stands below them: a rubric, a pattern, or words of the author.
        place: where it is, for messages.
    """
    kind = fields.raw.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        remedy = (did_you_mean(kind, TYPES) if isinstance(kind, str) else "") or f"One of: {', '.join(TYPES)}."
        where = fields.at("type") if "type" in fields.raw else fields.path
        fields.notes.error("unknown-grader", "there is no such type of grader", where, found=shown(kind), remedy=remedy)
        return None
    keys, read = TYPES[kind]
    for key in fields.raw:
        if key not in keys and key not in _SHARED:
            guess = did_you_mean(key, (*keys, *_SHARED))
            fields.notes.warn("unknown-key", f"{key} means nothing to a {kind} grader", fields.at(key), remedy=guess)
    found = read(fields, body)
    if found is None:
        return None
    text, checks = found
    _weight(fields)
    info = _arm(fields, kind)
    return Expectation(text, checks, "info" if info else "required", id=name, place=place)


def _weight(fields: Fields) -> None:
    weight = fields.positive("weight")
    if weight is not None and weight != 1:
        message = "every expectation counts alike here; the weight is not read"
        fields.notes.warn("no-counterpart", message, fields.at("weight"))


def _arm(fields: Fields, kind: str) -> bool:
    """Whether it is reported only, as one about the use of a skill is there where nothing else is said."""
    arm = fields.raw.get("arm")
    of_skill = kind == "tool_used" and fields.raw.get("tool") == "Skill"
    if arm not in (None, "with-only", "both"):
        fields.wrong("arm", "with-only or both")
    if arm == "both" and of_skill:
        message = "whether a skill was used enters no rate here, in neither arm; arm: both is not read"
        fields.notes.info("no-counterpart", message, fields.at("arm"))
    return arm == "with-only" or (of_skill and arm != "both")


_Read = tuple[str, tuple[Check, ...]] | None


def _regex(fields: Fields, body: str) -> _Read:
    written = fields.text("pattern")
    pattern = written or body
    if not pattern:
        fields.notes.error("no-pattern", "the grader has no pattern", fields.path, remedy='Write "pattern: …".')
        return None
    flags = fields.text("flags") or ""
    words = (body if written else "") or f"{_seen(fields.raw.get('target'))} {_matching(fields)} /{pattern}/{flags}"
    place, spoken = _place(fields, "target")
    if place is None and not spoken:
        return None
    ours = from_js(pattern, flags)
    if place is None or ours is None or set(flags) - set("dgimsu"):
        reason = "looks at what no check looks at" if place is None else "is a pattern that Python can't read alike"
        return _for_a_judge(fields, reason, words)
    arguments = {"pattern": ours, "in": place}
    if kept := "".join(letter for letter in "ims" if letter in flags):
        arguments["flags"] = kept
    match = fields.text("match") or "contains"
    if match == "contains":
        return words, (Check("matches", arguments),)
    if match in ("not_contains", "count:0"):
        return words, (Check("matches", arguments, negated=True),)
    count = re.fullmatch(r"count:([0-9]{1,9})", match)
    if count is None:
        fields.wrong("match", "contains, not_contains or count:N")
        return None
    least = Check("matches", {**arguments, "min_count": int(count[1])})
    return words, (least, Check("matches", {**arguments, "min_count": int(count[1]) + 1}, negated=True))


def _matching(fields: Fields) -> str:
    match = fields.raw.get("match", "contains")
    if match == "not_contains":
        return "does not match"
    return f"matches {match[6:]} times" if isinstance(match, str) and match.startswith("count:") else "matches"


def _seen(target: Any) -> str:
    if isinstance(target, Mapping):
        return f"The file {target.get('path')}"
    names = {"trace": "The transcript", "files": "The list of the files it made", "mock_calls": "A call"}
    return names.get(str(target), "The answer")


def _place(fields: Fields, key: str) -> tuple[str | None, bool]:
    """Where a check looks for it; else `None`, and whether words can still say it."""
    target = fields.raw.get(key, "last_message")
    if target == "last_message":
        return "answer", True
    if target == "trace":
        message = "the transcript is looked at as text, not as lines of JSON: quotes in it have no backslash"
        fields.notes.warn("trace", message, fields.at(key))
        return "transcript", True
    if target == "files":
        return None, True
    if target == "mock_calls":
        message = "stand-ins for MCP servers have no counterpart here, so the grader is left out"
        fields.notes.warn("no-counterpart", message, fields.at(key))
        return None, False
    path = target.get("path") if isinstance(target, Mapping) and target.get("source") == "file" else None
    if not isinstance(path, str) or not path.strip():
        fields.wrong(key, "last_message, trace, files or {source: file, path: …}")
        return None, False
    place = _one_file(path)
    if place is None:
        fields.notes.error("outside", "the path leads out of the working directory", fields.at(key), found=shown(path))
    return place, False


def _one_file(path: str) -> str | None:
    """The pattern that means this one path."""
    if path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/") or re.match(r"[A-Za-z]:", path):
        return None
    return "./" + re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", path.removeprefix("./"))


def _for_a_judge(fields: Fields, reason: str, words: str) -> _Read:
    remedy = "Without a judge it stays ungraded; a check of our own decides it in evals.json."
    fields.notes.warn("no-counterpart", f"{reason}, so its words are left to a judge", fields.path, remedy=remedy)
    return words, ()


def _tool_used(fields: Fields, body: str) -> _Read:
    step = _step({key: fields.raw[key] for key in ("tool", "input_match") if key in fields.raw}, fields, fields.path)
    least, most = _count(fields, "min"), _count(fields, "max")
    if step is None or -1 in (least, most):
        return None
    if most is not None and most < (1 if least is None else least):
        remedy = "min is 1 where it is left out." if least is None else ""
        fields.notes.error("never", "no number of calls is within min and max", fields.at("max"), remedy=remedy)
        return None
    never = most == 0
    named = _NAMED_SKILL.fullmatch(str(fields.raw.get("input_match", "")))
    words = body or f"The tool {_step_words(step)} is {'never ' if never else ''}called"
    if step["tool"] == "Skill" and named and (never or (least in (None, 1) and most is None)):
        expected: dict[str, Any] = {"name": named["name"]} | ({"expected": False} if never else {})
        words = body or f"The skill {named['name']} is {'not ' if never else ''}used"
        return words, (Check("skill_used", expected),)
    if never:
        return words, (Check("tool_not_called", step),)
    bounds = {key: value for key, value in (("min", least), ("max", most)) if value is not None}
    return words, (Check("tool_called", step | bounds),)


def _step_words(step: Mapping[str, str]) -> str:
    given = f" with /{step['input_matches']}/" if "input_matches" in step else ""
    return f"{step['tool']}{given}"


def _count(fields: Fields, key: str) -> int | None:
    """A whole number from 0; -1 for what is none, which is noted."""
    value = fields.raw.get(key)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9:
        return value
    fields.wrong(key, "a whole number from 0")
    return -1


def _step(raw: Any, fields: Fields, at: str) -> dict[str, str] | None:
    """A tool with what its input matches, as our checks name it."""
    raw = {"tool": raw} if isinstance(raw, str) else raw
    tool = raw.get("tool") if isinstance(raw, Mapping) else None
    pattern = raw.get("input_match") if isinstance(raw, Mapping) else None
    if not isinstance(tool, str) or not tool.strip() or not isinstance(pattern, str | None):
        expected = "the name of a tool, or {tool: …, input_match: …}"
        fields.notes.error("wrong-type", "the tool can't be read", at, found=shown(raw), expected=expected)
        return None
    step = {"tool": re.sub(r"[*?\[]", lambda found: f"[{found[0]}]", tool)}
    if pattern is None:
        return step
    ours = from_js(pattern)
    if ours is None:
        found = shown(pattern)
        fields.notes.error("bad-pattern", "Python can't read this pattern, so nothing decides it", at, found=found)
        return None
    return step | {"input_matches": ours}


def _tool_order(fields: Fields, body: str) -> _Read:
    steps = [_step(fields.raw.get(key), fields, fields.at(key)) for key in ("before", "after")]
    before, after = steps
    if before is None or after is None:
        return None
    message = "read as tool_order: some call after another, where there the first call of each is compared"
    fields.notes.info("tool-order", message, fields.path)
    words = body or f"The tool {_step_words(before)} is called before {_step_words(after)}"
    tools = [step if "input_matches" in step else step["tool"] for step in (before, after)]
    return words, (Check("tool_order", {"tools": tools}),)


def _file_exists(fields: Fields, body: str) -> _Read:
    path, exists = fields.text("path"), fields.flag("exists")
    if path is None:
        if not isinstance(fields.raw.get("path"), int | float | list | dict):
            fields.notes.error("no-path", "the grader has no path", fields.path, remedy='Write "path: report.md".')
        return None
    absent = exists is False
    words = body or f"{path} is {'not ' if absent else ''}there"
    outside = path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/")
    if outside or re.search(r"\{[^{}]*,[^{}]*\}", path):
        return _for_a_judge(fields, "has a path that no pattern of ours means", words)
    plain = path.replace("[", "[[]")
    pattern = plain.removeprefix("**/") if plain.startswith("**/") else "./" + plain.removeprefix("./")
    check = (
        Check("file_absent", {"path": pattern}) if absent else Check("file_exists", {"path": pattern, "min_bytes": 0})
    )
    return words, (check,)


def _llm(fields: Fields, body: str) -> _Read:
    criteria = fields.text("criteria") or body
    if not criteria:
        fields.notes.error("no-criteria", "the grader has no criteria", fields.path, remedy="Write them below.")
        return None
    focus = fields.raw.get("focus", "last_message")
    if focus == "mock_calls":
        _place(fields, "focus")
        return None
    if isinstance(focus, Mapping):
        if _place(fields, "focus")[0] is None:
            return None
        return f"In {focus['path']}: {criteria}", ()
    if focus not in ("last_message", "trace", "files"):
        fields.wrong("focus", "last_message, trace, files or {source: file, path: …}")
        return None
    return criteria, ()


def _baseline(fields: Fields, body: str) -> _Read:
    criteria = fields.text("criteria") or body
    if not criteria:
        fields.notes.error("no-criteria", "the grader has no criteria", fields.path, remedy="Write them below.")
        return None
    message = "a transcript to be held against has no counterpart here; a judge decides by the criteria alone"
    fields.notes.warn("no-counterpart", message, fields.path, remedy="assay compare  judges two arms side by side.")
    return criteria, ()


TYPES: Mapping[str, tuple[tuple[str, ...], Callable[[Fields, str], _Read]]] = {
    "regex": (("target", "pattern", "flags", "match"), _regex),
    "tool_used": (("tool", "input_match", "min", "max"), _tool_used),
    "tool_order": (("before", "after"), _tool_order),
    "file_exists": (("path", "exists"), _file_exists),
    "llm": (("criteria", "focus"), _llm),
    "baseline": (("baseline_file", "criteria"), _baseline),
}
"""Each type with the keys of its own, and how it is read."""
