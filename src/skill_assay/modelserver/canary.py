"""The canary: cases a user's own agent CLI is run through against the scripted model, and what must be read in each.

Only data and the comparison; who launches the CLI (with a fresh home and a dummy key) is elsewhere. A case that is
read wrongly means that this version of the CLI speaks differently from what the adapter knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from skill_assay.errors import FailureKind
from skill_assay.model.transcript import Finished, SkillUse
from skill_assay.modelserver.script import Error, Received, Rule, Script, Text, ToolUse, Turn

__all__ = [
    "DIALECTS",
    "KEY_MARK",
    "CanaryCase",
    "Dialect",
    "Expected",
    "cases",
    "cases_for",
    "key_probe",
    "key_seen",
    "misread",
]

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
    shell_tool: str
    shell_argument: str = "command"
    shell_extra: Mapping[str, str] = field(default_factory=dict)
    skill_tool: str | None = None
    """`None`: it has none, and a skill is used by reading its SKILL.md."""
    skill_argument: str = "name"
    read_tool: str | None = None
    """`None`: files are read in the shell."""
    read_argument: str = "path"
    user_skills: str | None = None
    """Where the user's own lie below HOME, where a sign-in may keep that; `None`: its HOME is always a fresh one."""
    model: str | None = None
    """A model to name, where the default one calls tools in another way."""

    @property
    def how(self) -> Literal["tool", "read"]:
        """How a use shows."""
        return "tool" if self.skill_tool else "read"

    def use(self, name: str) -> ToolUse:
        """A call of a skill."""
        if self.skill_tool:
            return ToolUse(self.skill_tool, {self.skill_argument: name})
        return self.read(f"{self.skills}/{name}/SKILL.md")

    def read(self, path: str) -> ToolUse:
        """A read of a file."""
        if self.read_tool:
            return ToolUse(self.read_tool, {self.read_argument: path})
        return self.shell(f"cat {path}")

    def shell(self, command: str) -> ToolUse:
        """A shell command."""
        return ToolUse(self.shell_tool, {self.shell_argument: command, **self.shell_extra})


_ABOUT = {"description": "Look around"}
DIALECTS: Mapping[str, Dialect] = {
    "api": Dialect(
        skills=".agents/skills",
        shell_tool="bash",
        skill_tool="skill",
        read_tool="read",
        model="anthropic:scripted",
    ),
    "claude-code": Dialect(
        skills=".claude/skills",
        shell_tool="Bash",
        shell_extra=_ABOUT,
        skill_tool="Skill",
        skill_argument="skill",
        read_tool="Read",
        read_argument="file_path",
        user_skills=".claude/skills",
    ),
    "codex": Dialect(
        skills=".agents/skills",
        shell_tool="exec_command",
        shell_argument="cmd",
        # Its newest models call tools from a program of their own; an unknown model is given plain ones.
        model="scripted",
    ),
    "copilot": Dialect(
        skills=".agents/skills",
        shell_tool="bash",
        shell_extra={**_ABOUT, "mode": "sync"},
        skill_tool="skill",
        skill_argument="skill",
        read_tool="view",
    ),
    "gemini": Dialect(
        skills=".gemini/skills",
        shell_tool="run_shell_command",
        shell_extra=_ABOUT,
        skill_tool="activate_skill",
        read_tool="read_file",
        read_argument="file_path",
    ),
    "opencode": Dialect(
        skills=".agents/skills",
        shell_tool="bash",
        shell_extra=_ABOUT,
        skill_tool="skill",
        read_tool="read",
        read_argument="filePath",
    ),
    "pi": Dialect(skills=".pi/skills", shell_tool="bash", read_tool="read"),
    "qwen": Dialect(
        # Its tool for reading wants absolute paths, which are not known here.
        skills=".qwen/skills",
        shell_tool="run_shell_command",
        shell_extra=_ABOUT,
        skill_tool="skill",
        skill_argument="skill",
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
    return cases_for(say) if say else ()


def cases_for(say: Dialect) -> tuple[CanaryCase, ...]:
    """The cases in a dialect."""
    done, use, own = Turn((Text(ANSWER),)), Turn((say.use(SKILL),)), (SKILL, say.how, True)
    path = f"{say.skills}/{SKILL}/SKILL.md"
    found = [
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
            Expected(((OTHER, say.how, True),)),
        ),
        _case(
            "reads",
            "Reading its SKILL.md in the shell is seen" if say.read_tool is None else "Reading its SKILL.md is seen",
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
    ]
    if say.user_skills is not None:
        namesake = _case(
            "namesake",
            "A skill of the same name in the user's home does not take its place",
            [use, done],
            Expected((own,), reaches="MARK-OWN", never_reaches=_NAMESAKE),
            user_skills={SKILL: _skill(SKILL, _NAMESAKE)},
        )
        found.append(namesake)
    return tuple(found)


def key_probe(agent: str) -> CanaryCase | None:
    """A case that judges nothing: what a shell command can find of the key. Read it with `key_seen`."""
    say = DIALECTS.get(agent)
    if say is None:
        return None
    own = say.shell(f"(env | grep -o '{KEY_MARK}' || echo none) | sed 's/^/own:/'")
    looked = f"tr '\\0' '\\n' < /proc/$PPID/environ | grep -o '{KEY_MARK}' || echo none"
    parent = say.shell(f"if [ -d /proc/$PPID ]; then ({looked}) | sed 's/^/parent:/'; fi")
    return _case(
        "key",
        "Whether a shell command can read the key",
        [Turn((own,)), Turn((parent,)), Turn((Text(ANSWER),))],
        Expected(),
    )


def key_seen(requests: Sequence[Received]) -> tuple[bool | None, bool | None]:
    """Whether a shell command saw the key in its own environment, and in that of its parent process.

    `None` where it did not look, or could not.
    """
    # Only what was found joins the two words: the commands themselves hold them apart.
    sent = "\n".join(request.text for request in requests)
    own, parent = (
        True if f"{place}:{KEY_MARK}" in sent else False if f"{place}:none" in sent else None
        for place in ("own", "parent")
    )
    return own, parent


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
