"""The canary: cases a user's own agent CLI is run through against the scripted model, and what must be read in each.

Only data and the comparison; who launches the CLI (with a fresh home and a dummy key) is elsewhere. A case that is
read wrongly means that this version of the CLI speaks differently from what the adapter knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skill_assay.errors import FailureKind
from skill_assay.model.transcript import Finished, SkillUse
from skill_assay.modelserver.script import Error, Received, Rule, Script, Text, ToolUse, Turn

__all__ = ["DIALECTS", "KEY_MARK", "CanaryCase", "Dialect", "Expected", "cases", "key_probe", "key_seen", "misread"]

SKILL = "assay-canary"
OTHER = "assay-canary-other"
ANSWER = "The canary has sung."
KEY_MARK = "sk-ant-"
"""How the dummy key begins: `key_seen` looks for it in what tools gave back."""
_NAMESAKE = "THE-USERS-NAMESAKE"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a CLI's model calls its tools."""

    skills: str
    """Where skills lie below the working directory."""
    user_skills: str
    """Where the user's own lie below HOME."""
    skill_tool: str
    skill_argument: str
    read_tool: str
    read_argument: str
    shell_tool: str
    shell_extra: Mapping[str, str] = field(default_factory=dict)

    def use(self, name: str) -> ToolUse:
        """A call of a skill."""
        return ToolUse(self.skill_tool, {self.skill_argument: name})

    def read(self, path: str) -> ToolUse:
        """A read of a file."""
        return ToolUse(self.read_tool, {self.read_argument: path})

    def shell(self, command: str) -> ToolUse:
        """A shell command."""
        return ToolUse(self.shell_tool, {"command": command, **self.shell_extra})


DIALECTS: Mapping[str, Dialect] = {
    "claude-code": Dialect(
        skills=".claude/skills",
        user_skills=".claude/skills",
        skill_tool="Skill",
        skill_argument="skill",
        read_tool="Read",
        read_argument="file_path",
        shell_tool="Bash",
        shell_extra={"description": "Look around"},
    ),
}


@dataclass(frozen=True, slots=True)
class Expected:
    """What must be read."""

    uses: tuple[tuple[str, str, bool], ...] = ()
    """(name, how, confirmed), in order."""
    answer: str | None = ANSWER
    failure: FailureKind | None = None
    reaches: str | None = None
    """A text that must be in some request."""
    never_reaches: str | None = None


@dataclass(frozen=True, slots=True)
class CanaryCase:
    """One case."""

    name: str
    sentence: str
    """What it shows, for a person."""
    script: Script
    expected: Expected
    skills: Mapping[str, str] = field(default_factory=dict)
    """Installed in the working directory: folder → SKILL.md."""
    user_skills: Mapping[str, str] = field(default_factory=dict)
    """Installed in the fresh home, as a user's own."""
    prompt: str = "Sing, please."


def _skill(name: str, mark: str) -> str:
    about = f"Sings when asked to sing ({mark})."
    return f"---\nname: {name}\ndescription: {about}\n---\n\n# {name}\n\nSing. {mark}\n"


def _case(
    name: str,
    sentence: str,
    turns: Sequence[Turn],
    expected: Expected,
    *,
    user_skills: Mapping[str, str] | None = None,
) -> CanaryCase:
    installed = {SKILL: _skill(SKILL, "MARK-OWN"), OTHER: _skill(OTHER, "MARK-OTHER")}
    return CanaryCase(name, sentence, Script((Rule(tuple(turns)),)), expected, installed, user_skills or {})


def cases(agent: str) -> tuple[CanaryCase, ...]:
    """The cases for an agent; none for one whose dialect is unknown."""
    say = DIALECTS.get(agent)
    if say is None:
        return ()
    done, use = Turn((Text(ANSWER),)), Turn((say.use(SKILL),))
    own = (SKILL, "tool", True)
    path = f"{say.skills}/{SKILL}/SKILL.md"
    return (
        _case("fires", "A skill that is used is seen", [use, done], Expected((own,), reaches="MARK-OWN")),
        _case(
            "fires-later",
            "A skill used after another tool is seen",
            [Turn((Text("First a look."), say.shell("ls"))), use, done],
            Expected((own,)),
        ),
        _case(
            "another-skill",
            "Another skill is not taken for it",
            [Turn((say.use(OTHER),)), done],
            Expected(((OTHER, "tool", True),)),
        ),
        _case(
            "reads",
            "Reading its SKILL.md is seen",
            [Turn((say.read(path),)), done],
            Expected(((SKILL, "read", True),)),
        ),
        _case("silent", "Nothing is seen where nothing was used", [Turn((say.shell("ls"),)), done], Expected()),
        _case(
            "api-error",
            "A failure of the API is not taken for an answer",
            [Turn(error=Error(400, ANSWER))],
            Expected(answer=None, failure=FailureKind.BAD_REQUEST),
        ),
        _case(
            "namesake",
            "A skill of the same name in the user's home does not take its place",
            [use, done],
            Expected((own,), reaches="MARK-OWN", never_reaches=_NAMESAKE),
            user_skills={SKILL: _skill(SKILL, _NAMESAKE)},
        ),
    )


def key_probe(agent: str) -> CanaryCase | None:
    """A case that judges nothing: what a shell command can find of the key. Read it with `key_seen`."""
    say = DIALECTS.get(agent)
    if say is None:
        return None
    own = say.shell(f"env | grep -o '{KEY_MARK}' | sed 's/^/own:/' || true")
    parent = say.shell(f"tr '\\0' '\\n' < /proc/$PPID/environ | grep -o '{KEY_MARK}' | sed 's/^/parent:/' || true")
    return _case(
        "key",
        "Whether a shell command can read the key",
        [Turn((own,)), Turn((parent,)), Turn((Text(ANSWER),))],
        Expected(),
    )


def key_seen(requests: Sequence[Received]) -> tuple[bool, bool]:
    """Whether a shell command saw the key in its own environment, and in that of its parent process."""
    results = "\n".join(_results(request) for request in requests)
    return f"own:{KEY_MARK}" in results, f"parent:{KEY_MARK}" in results


def _results(request: Received) -> str:
    """What tools gave back, calls left out: the calls hold the words that are looked for."""
    found = []
    for message in request.body.get("messages", ()):
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            result = isinstance(block, dict) and block.get("type") == "tool_result"
            found.append(str(block.get("content")) if result else "")
    return "\n".join(found)


def misread(case: CanaryCase, uses: Sequence[SkillUse], finished: Finished, requests: Sequence[Received]) -> str | None:
    """What was read wrongly in a case, as one sentence; `None` when all was read as it is."""
    want, sent = case.expected, "\n".join(request.text for request in requests)
    seen = tuple((use.name, use.how, use.confirmed) for use in uses)
    if seen != want.uses:
        return f"skill uses read as {_told(seen)}, where there were {_told(want.uses)}"
    kind = finished.failure.kind if finished.failure else None
    if kind != want.failure:
        return f"the end read as {kind or 'an answer'}, where it was {want.failure or 'an answer'}"
    if finished.answer != want.answer:
        return f"the answer read as {finished.answer!r}, where it was {want.answer!r}"
    if want.reaches is not None and want.reaches not in sent:
        return "the installed skill's text did not reach the model"
    if want.never_reaches is not None and want.never_reaches in sent:
        return "a skill of the user's own home reached the model"
    return None


def _told(uses: Sequence[tuple[str, str, bool]]) -> str:
    words = [f"{name} ({how}{'' if confirmed else ', refused'})" for name, how, confirmed in uses]
    return ", ".join(words) or "none"
