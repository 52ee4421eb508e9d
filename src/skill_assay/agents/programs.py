"""Where an agent's program is on this machine, and which version it is."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.agent import Detected, SignIn

__all__ = ["Program", "refuse_argument"]

_VERSION = re.compile(r"\d+(?:\.\d+)+\S*")


@dataclass(frozen=True, slots=True)
class Program:
    """An agent's program."""

    title: str
    """As people call it."""
    command: str
    """Its name on PATH."""
    variable: str
    """The variable that names another place."""
    package: str
    """In npm."""
    tested: str
    """The version our knowledge of it rests on; `assay doctor` tries any other."""

    def find(self, env: Mapping[str, str]) -> str | None:
        """Its path: what the variable names, else what PATH has.

        Raises:
            InputError: the variable names no program.
        """
        named = env.get(self.variable)
        if not named:
            return shutil.which(self.command, path=env.get("PATH"))
        found = shutil.which(named, path=env.get("PATH"))
        if found is None:
            raise InputError(f"{self.variable} names no program", found=named, expected=f"a path to {self.title}")
        return str(Path(found).absolute())

    def require(self, env: Mapping[str, str]) -> str:
        """Its path.

        Raises:
            InputError: it is not here; the message says how to get it.
        """
        program = self.find(env)
        if program is None:
            raise InputError(f"{self.title} is not installed here", hint=self.advice)
        return program

    @property
    def advice(self) -> str:
        """What to do where it is missing."""
        return (
            f"Install it (`npm install -g {self.package}`), or point {self.variable} to its program; "
            "or choose another agent: --agent 'command: my-agent {prompt_file}', --agent simulated."
        )

    def detect(
        self, name: str, env: Mapping[str, str], sign_in: Callable[[Mapping[str, str]], SignIn]
    ) -> Detected | None:
        """What is on this machine; how it would sign in is unknown where it can't."""
        program = self.find(env)
        if program is None:
            return None
        try:
            signed: SignIn | None = sign_in(env)
        except InputError:
            signed = None
        return Detected(name, _version(program, Path(program).stat().st_mtime_ns, env.get("PATH")), program, signed)


def refuse_argument(name: str, spec: str) -> None:
    """For an agent that is named by its name alone.

    Raises:
        InputError: something follows the name's colon.
    """
    if spec:
        raise InputError(f"`{name}` takes nothing after its name", found=spec, hint=f"Use --agent {name}.")


@cache
def _version(program: str, changed: int, path: str | None) -> str:  # noqa: ARG001
    """What `--version` says, asked once for a program that stays the same file."""
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    found = _VERSION.search((done.stdout or done.stderr).decode("utf-8", "replace"))
    return found[0].rstrip(".") if found else "unknown"
