"""`command_ran`: shell commands the agent ran, and that it ran no others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import list_of, regex, whole
from skill_assay.graders.checks.tools import calls_of, matched
from skill_assay.graders.checks.verdict import Verdict, said
from skill_assay.graders.words import counted, listed, quoted, shortened
from skill_assay.model.transcript import ToolCall
from skill_assay.model.work import Work

__all__ = ["SHELL_TOOLS", "CommandRan", "commands_of", "simple_commands"]

SHELL_TOOLS = frozenset(
    {
        "bash",
        "command_execution",
        "container.exec",
        "exec",
        "exec_command",
        "execute_command",
        "local_shell",
        "powershell",
        "run_command",
        "run_shell_command",
        "run_terminal_cmd",
        "shell",
        "terminal",
    }
)
"""Names, in lower case, under which agents offer a shell."""


_REDIRECTION = re.compile(r"[<>]&|&>|>\|")
_HIDE = str.maketrans("&|", "\ue000\ue001")
_SHOW = {to: chr(sign) for sign, to in _HIDE.items()}


def commands_of(calls: Sequence[ToolCall]) -> list[str]:
    """The command lines handed to a shell tool, in order."""
    return [line for call in calls if call.name.lower() in SHELL_TOOLS for line in _line(call)]


def _line(call: ToolCall) -> Iterator[str]:
    given = next((call.input[key] for key in ("command", "cmd", "script") if key in call.input), None)
    if isinstance(given, str):
        yield given
    elif isinstance(given, list | tuple):
        words = [str(word) for word in given]
        # ["bash", "-lc", "…"] hands a line to a shell; anything else is the command itself.
        wrapped = len(words) == 3 and words[1] in ("-c", "-lc")
        yield words[2] if wrapped else shlex.join(words)


def simple_commands(line: str) -> list[str]:
    """The commands a shell line consists of, split at `&&`, `||`, `;`, `|`, `&` and line ends outside quotes."""
    # `2>&1`, `&>` and `>|` redirect; their signs part no commands.
    hidden = _REDIRECTION.sub(lambda found: found[0].translate(_HIDE), line.replace("\n", " ; "))
    lexer = shlex.shlex(hidden, posix=False, punctuation_chars=";&|")
    lexer.whitespace_split = True
    lexer.commenters = ""
    commands: list[list[str]] = [[]]
    try:
        for token in lexer:
            if set(token) <= set(";&|"):
                commands.append([])
            else:
                commands[-1].append(token)
    except ValueError:
        # An unclosed quote (a here-document, say): taken apart more coarsely.
        return [part.strip() for part in re.split(r"&&|\|\||[;|&\n]", line) if part.strip()]
    return [" ".join(words).translate(_SHOW) for words in commands if words]


@dataclass(frozen=True)
class CommandRan:
    """A command that matches was run so many times; with `only`, nothing outside that list was."""

    kind: ClassVar = "command_ran"
    pattern: str | None = argument(regex, default=None)
    min: int = argument(whole, default=1)
    max: int | None = argument(whole, default=None)
    only: tuple[str, ...] = argument(list_of(regex, single=True), default=())

    def __post_init__(self) -> None:
        if self.pattern is None and not self.only:
            raise BadArgument("one of 'pattern' and 'only' is needed")
        if self.max is not None and self.max < self.min:
            raise BadArgument(f"no number is at least {self.min} and at most {self.max}")

    async def decide(self, work: Work) -> Verdict:
        """Counts command lines that match, then looks for simple commands outside `only`."""
        calls, verdict = calls_of(work)
        if verdict:
            return verdict
        lines = commands_of(calls)
        ran = f"Ran: {listed(quoted(line, 60) for line in lines)}." if lines else "No command was run."
        if self.only:
            outside = await bounded(outside_of, self.only, lines)
            if outside:
                return said(False, f"Ran besides: {listed(quoted(line, 60) for line in outside)}.")
        if self.pattern is None:
            return said(True, f"Nothing else was run. {ran}")
        count = sum(await bounded(matched, self.pattern, lines))
        yes = count >= self.min and (self.max is None or count <= self.max)
        return said(yes, f"/{shortened(self.pattern, 80)}/ was run {counted(count, 'time')}. {ran}")


def _substituted(line: str) -> list[str]:
    """Commands inside `$(…)` and backticks, innermost ones."""
    return [inner for pair in re.findall(r"\$\(([^()]*)\)|`([^`]*)`", line) for inner in pair if inner.strip()]


def outside_of(only: Sequence[str], lines: Sequence[str]) -> list[str]:
    """The simple commands that begin with none of the patterns; runs in a worker process."""
    patterns = [re.compile(pattern) for pattern in only]
    return [
        command
        for line in lines
        for part in (line, *_substituted(line))
        for command in simple_commands(part)
        if not any(pattern.match(command) for pattern in patterns)
    ]
