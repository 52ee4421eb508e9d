"""What must be readable for a program to run: itself, its interpreter, and the packages it is installed with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

__all__ = ["runtime_folders"]

_DEPTH = 4
"""A script's interpreter may itself be a script; not for ever."""


def runtime_folders(program: str, env: Mapping[str, str]) -> list[Path]:
    """Files and folders to show read-only, never a whole home or project.

    Args:
        program: path or name, looked up on the PATH of `env`.
    """
    search = env.get("PATH", os.defpath)
    shown: list[Path] = []
    name: str | None = program
    for _ in range(_DEPTH):
        found = shutil.which(name, path=search) if name else None
        if not found:
            break
        path = Path(found).absolute()
        shown += [path, *_installed_with(path), *_installed_with(path.resolve())]
        name = _interpreter(path)
    return list(dict.fromkeys(shown))


def _installed_with(path: Path) -> list[Path]:
    """The outermost `node_modules` it lies in; its virtual environment with the Python below; its runtime's prefix."""
    modules = [parent for parent in path.parents if parent.name == "node_modules"]
    if modules:
        return [modules[-1]]
    prefix = path.parent.parent
    if path.parent.name != "bin" or prefix == Path(prefix.anchor):
        return [path]
    if (prefix / "pyvenv.cfg").is_file():
        return [prefix, *_base_python(prefix)]
    return [prefix] if _is_runtime(prefix) else [path]


def _is_runtime(prefix: Path) -> bool:
    """A Python or Node of its own, and not a folder such as `~/.local` that holds many things besides."""
    if prefix == Path.home() or prefix == Path.home() / ".local":
        return False
    library = prefix / "lib"
    return (library / "node_modules" / "npm").is_dir() or any(library.glob("python3*/os.py"))


def _base_python(venv: Path) -> list[Path]:
    """The installation a virtual environment was made from."""
    try:
        lines = (venv / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    homes = [Path(value.strip()) for key, _, value in (line.partition("=") for line in lines) if key.strip() == "home"]
    real = [(home / "python3").resolve().parent for home in homes]
    return [home.parent for home in dict.fromkeys([*homes, *real]) if home.name == "bin" and _is_runtime(home.parent)]


def _interpreter(path: Path) -> str | None:
    """What the first line of a script names."""
    try:
        with path.open("rb") as file:
            first = file.readline(500) if file.read(2) == b"#!" else b""
    except OSError:
        return None
    words = first.decode("utf-8", "replace").split()
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else None
