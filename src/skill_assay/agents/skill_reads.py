"""Sees an agent read a skill's SKILL.md by itself, with a tool that reads files or in the shell. Exact paths only."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from skill_assay.model.transcript import SkillUse, ToolCall, ToolResult

__all__ = ["Readers", "SkillReads", "files_read"]

_READERS = frozenset(
    ("awk", "bat", "batcat", "cat", "head", "less", "more", "nl", "od", "sed", "strings", "tac", "tail", "xxd")
)
"""Programs that print a file. `grep` shows lines that match, `ls` and `wc` none: no reads."""
_SPLITS = frozenset({"&&", "||", ";", "|", "|&", "&", "(", ")", "{", "}", "\n", "do", "then", "else"})


@dataclass(frozen=True, slots=True)
class Readers:
    """How an agent reads files, and where its skills lie."""

    folders: tuple[str, ...]
    """Skills folders below the working directory."""
    tools: Mapping[str, str]
    """Tool that reads a file → its argument that holds the path."""
    shells: tuple[str, ...]
    """Tools that run the command line in their argument `command`."""
    mute: frozenset[str] = frozenset()
    """Tools whose results are printed without the text they brought: success alone is the proof."""


class SkillReads:
    """Follows calls and their results; a read counts once its result came and is no error.

    Args:
        work: the working directory, from which relative paths are resolved.
        home: the home folder, for `~` and `$HOME`.
        readers: the agent's tools and skills folders.
    """

    def __init__(self, work: str, home: str, readers: Readers) -> None:
        self._work, self._home = work.replace("\\", "/"), home.replace("\\", "/")
        self._readers = readers
        folders = "|".join(re.escape(folder) for folder in readers.folders)
        # Without a known working directory (a recording's) any such folder will do.
        base = re.escape(posixpath.normpath(self._work)) + "/" if self._work else "(?:.*/)?"
        self._skill = re.compile(rf"{base}(?:{folders})/[^/]+/SKILL\.md")
        self._asked: dict[str, tuple[list[str], bool]] = {}

    def called(self, call: ToolCall) -> None:
        """Note what a call is about to read."""
        if call.name in self._readers.tools:
            argument = str(call.input.get(self._readers.tools[call.name], ""))
            paths = [_resolve(argument.replace("\\", "/"), self._work, self._home)]
        elif call.name in self._readers.shells and "SKILL.md" in str(call.input.get("command", "")):
            paths = files_read(str(call.input.get("command", "")), self._work, self._home)
        else:
            return
        # Only the working directory's own skills folder: a namesake elsewhere is another skill.
        found = [path for path in paths if self._skill.fullmatch(path)]
        if found:
            self._asked[call.id] = found, call.name in self._readers.mute

    def answered(self, result: ToolResult) -> Iterator[SkillUse]:
        """The skills whose text a result brought."""
        paths, mute = self._asked.pop(result.call_id, ((), False))
        came = not result.is_error and (mute or bool(result.text.strip()))
        for path in paths:
            name = path.split("/")[-2]
            yield SkillUse(name, "read", came, call_id=result.call_id, path=path, parent=result.parent)


def files_read(command: str, work: str, home: str) -> list[str]:
    """The absolute paths a shell command prints, in order, as far as its words show: `cd` is followed, globs of
    a skill's folder and variables are not."""
    folder, found = work, []
    for words in _simple_commands(command):
        program = posixpath.basename(words[0])
        if program == "cd" and len(words) > 1:
            folder = _resolve(words[1], folder, home)
        elif program in _READERS:
            found += [_resolve(word, folder, home) for word in _inputs(words[1:])]
    return found


def _simple_commands(command: str) -> Iterator[list[str]]:
    words: list[str] = []
    for word in _words(command):
        if word in _SPLITS:
            if words:
                yield words
            words = []
        elif words or not re.fullmatch(r"[A-Za-z_]\w*=.*", word):
            words.append(word)
    if words:
        yield words


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # an open quote: a here-document, say
        return command.split()


def _inputs(words: list[str]) -> Iterator[str]:
    """Arguments that are read; a redirection's target is read only after `<`."""
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in (">", ">>", ">&", "&>", "<<", "<<<"):
            skip = True
        elif word != "<" and not word.startswith("-"):
            yield word


def _resolve(path: str, folder: str, home: str) -> str:
    for sign in ("~/", "$HOME/", "${HOME}/"):
        if path.startswith(sign):
            path = f"{home}/{path[len(sign) :]}"
    return posixpath.normpath(posixpath.join(folder, path))
