"""Any program as an agent: `command: my-agent --task {prompt_file}`."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from skill_assay.agents.event_lines import ProgramParser
from skill_assay.errors import InputError
from skill_assay.model.agent import Capabilities, Detected, Request, SignIn
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["PLACEHOLDERS", "CommandAgent"]

PLACEHOLDERS: Mapping[str, str] = {
    "prompt": "the task's text, as one argument",
    "prompt_file": "a file with the task's text, outside the working directory",
    "workdir": "the working directory, in which the program is started",
    "skill_dir": "the installed skill's folder; empty in an arm without the skill",
    "model": "what `--model` says; empty without it",
}

# In the home, since a sandbox may have a temporary folder that we can't write to.
_PROMPT_FILE = ".prompt.md"
_MAX_ARGUMENT = 128_000
"""Linux takes no single argument of 128 KiB or more."""


class CommandAgent:
    """Starts the given program once per attempt, in the trial's working directory.

    The text is split into arguments first and the placeholders are filled in afterwards, each within its own
    argument and without a shell, so nothing in a prompt can become a second argument or a command.

    Args:
        argument: the command line, with `PLACEHOLDERS`.

    Raises:
        InputError: the command is empty, can't be split, misspells a placeholder or names a program that is not there.
    """

    name = "command"
    capabilities = Capabilities(
        skill_signs=False,
        cost=True,
        tokens=True,
        network=False,
        note="Price, tokens, tool calls and skill use are known only where the program prints event lines.",
    )

    def __init__(self, argument: str) -> None:
        self._argv = _split(argument)
        for part in self._argv:
            _check_placeholders(part)
        self._program = self._argv[0] if "{" in self._argv[0] else _find(self._argv[0])

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """The program itself; its version is not asked for, since every program answers that differently."""
        return Detected(self.name, "unknown", self._program, self.sign_in(env))

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """None of ours: a program that needs a key gets it by `--pass-env NAME`."""
        return SignIn("none", "variables passed by name")

    def skills_folder(self, place: Place) -> Path:
        """The folder that several CLIs read."""
        return place.work / ".agents" / "skills"

    def launch(self, request: Request) -> Launch:
        """The filled-in command line; without `{prompt}` and `{prompt_file}` the prompt is standard input."""
        _check_prompt(request.prompt, self._uses("prompt"))
        if self._uses("prompt_file"):
            (request.place.home / _PROMPT_FILE).write_text(request.prompt, encoding="utf-8", newline="")
        values = {
            "prompt": request.prompt,
            "prompt_file": f"{request.home}/{_PROMPT_FILE}",
            "workdir": request.work,
            "skill_dir": request.skill_path or "",
            "model": request.model or "",
        }
        told = self._uses("prompt") or self._uses("prompt_file")
        return Launch(
            argv=[_fill(part, values) for part in (self._program, *self._argv[1:])],
            env={**request.env, "HOME": request.home, "TMPDIR": request.tmp},
            cwd=Path(request.work),
            stdin=None if told else request.prompt.encode(),
        )

    def parser(self, request: Request) -> Parser:
        """Reads event lines, or plain text."""
        return ProgramParser()

    def _uses(self, placeholder: str) -> bool:
        return any(f"{{{placeholder}}}" in part for part in self._argv)


def _split(argument: str) -> list[str]:
    try:
        argv = shlex.split(argument)
    except ValueError as error:
        raise InputError(f"The agent's command line can't be split: {error}", found=argument) from error
    if not argv:
        raise InputError("The agent `command` needs a command line", hint=_EXAMPLE)
    return argv


def _check_placeholders(part: str) -> None:
    for name in re.findall(r"\{([a-z_]+)\}", part):
        near = get_close_matches(name, PLACEHOLDERS, n=1, cutoff=0.8)
        if name not in PLACEHOLDERS and near:
            known = ", ".join(f"{{{word}}}" for word in PLACEHOLDERS)
            raise InputError(
                f"Unknown placeholder {{{name}}} in the agent's command; did you mean {{{near[0]}}}?",
                expected=f"one of {known}",
            )


def _find(program: str) -> str:
    # Resolved here and now: the agent's own working directory is another one.
    found = shutil.which(os.path.expanduser(program))  # noqa: PTH111 - a Path would lose "./"
    if found is None:
        raise InputError(
            f"The agent's program {program!r} was not found or can't be executed",
            hint="Give its full path, or a name on PATH. " + _EXAMPLE,
        )
    return str(Path(found).absolute())


def _check_prompt(prompt: str, as_argument: bool) -> None:
    if as_argument and ("\0" in prompt or len(prompt.encode()) > _MAX_ARGUMENT):
        raise InputError(
            "This prompt can't be an argument of a program (it is too long or holds a zero byte)",
            found=f"{len(prompt.encode())} bytes",
            expected=f"at most {_MAX_ARGUMENT} bytes",
            hint="Use {prompt_file} in place of {prompt} in the agent's command.",
        )


def _fill(part: str, values: Mapping[str, str]) -> str:
    # One pass, so that a placeholder's name inside a prompt stays as it is.
    return re.sub(r"\{([a-z_]+)\}", lambda match: values.get(match[1], match[0]), part)


_EXAMPLE = "For example: --agent 'command: my-agent --task {prompt_file}'"
