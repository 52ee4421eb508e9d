"""Throwaway places for attempts, the environment they see, and the two walls that are none of our own making.

A place is one short folder under a clean parent, removed after the attempt:

    <temporary folder>/assay-XXXXXXXX/
    ├── .assay.json     who made it: by this `assay clean` knows the leftovers of dead runs
    ├── work/           the agent's working directory, a git root
    ├── home/           its HOME
    ├── config/         for the CLI's own configuration folder
    └── tmp/            its TMPDIR
"""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from skill_assay.agents.launcher import start_time
from skill_assay.errors import InputError
from skill_assay.model.place import Launch, Place

__all__ = [
    "ALLOWED",
    "INSTRUCTIONS",
    "NoSandbox",
    "PrefixSandbox",
    "base_environment",
    "leftovers",
    "make_place",
    "remove_place",
]

ALLOWED = (
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "SHELL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "SYSTEMROOT",
    "COMSPEC",
    "PATHEXT",
)
"""Variables every trial sees: to find programs, speak the user's language and reach a server. None is a secret; a
proxy whose address holds a password is left out and can be passed by name."""

INSTRUCTIONS = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    "QWEN.md",
    ".agents",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".git",
    ".github",
    ".mcp.json",
    ".opencode",
    ".pi",
    ".qwen",
)
"""What agents read from the parents of their working directory: it would reach every trial, so none may hold it."""

_MARKER = ".assay.json"
_PREFIX = "assay-"
_LONGEST_PARENT = 40
"""Longer temporary folders would push socket paths in TMPDIR past the system's limit of about 100 bytes."""


def base_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The part of the user's environment that every trial sees: the allow-list, and nothing that is a credential.

    Relative parts of PATH are dropped: they would find programs among the agent's own files.
    """
    passed = {name: value for name, value in env.items() if _allowed(name) and not _has_password(name, value)}
    if "PATH" in passed:
        passed["PATH"] = os.pathsep.join(part for part in passed["PATH"].split(os.pathsep) if Path(part).is_absolute())
    return passed


def _allowed(name: str) -> bool:
    upper = name.upper()
    known = upper if upper.endswith("_PROXY") or os.name == "nt" else name
    return known in ALLOWED or name.startswith("LC_")


def _has_password(name: str, value: str) -> bool:
    return name.upper().endswith("_PROXY") and "@" in value


def make_place(parent: Path | None = None) -> Place:
    """A fresh place. Only its owner can look inside.

    Args:
        parent: where to make it; by default the first clean temporary folder with a short path.

    Raises:
        InputError: no folder was usable; the message says which file would have leaked into every trial.
    """
    root = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent or _clean_parent()))
    place = Place(root, root / "work", root / "home", root / "config", root / "tmp")
    marker = {"pid": os.getpid(), "started": start_time(os.getpid())}
    (root / _MARKER).write_text(json.dumps(marker), encoding="utf-8")
    for folder in (place.work, place.home, place.config, place.tmp):
        folder.mkdir()
    _make_git_root(place.work)
    return place


def _make_git_root(folder: Path) -> None:
    """What git needs to take the folder for a repository, at a hundredth of the price of `git init`."""
    git = folder / ".git"
    for part in ("objects", "refs"):
        (git / part).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    (git / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = false\n", encoding="utf-8")


def _clean_parent() -> Path:
    problems: list[str] = []
    for candidate in _parents():
        leaks = [str(folder / name) for folder in (candidate, *candidate.parents) for name in _present(folder)]
        if not leaks and os.access(candidate, os.W_OK | os.X_OK):
            return candidate
        problems += leaks or [f"{candidate} cannot be written to"]
    raise InputError(
        "There is no temporary folder in which trials would be undisturbed.",
        found="; ".join(dict.fromkeys(problems)),
        expected="a folder none of whose parents holds instructions for agents",
        hint="Remove that file or set TMPDIR to another folder with a short path.",
    )


def _present(folder: Path) -> list[str]:
    # A user's home may be a parent of TMPDIR set by hand; what lies there is exactly what must not leak.
    return [name for name in INSTRUCTIONS if os.path.lexists(folder / name)]


def _parents() -> Iterator[Path]:
    usual = Path(tempfile.gettempdir()).resolve()
    if len(str(usual)) <= _LONGEST_PARENT:
        yield usual
    for name in ("/tmp", "/var/tmp"):
        folder = Path(name).resolve()
        if folder.is_dir() and folder != usual:
            yield folder
    if len(str(usual)) > _LONGEST_PARENT:
        yield usual


def remove_place(place: Place) -> bool:
    """Remove it with everything in it, read-only files included; whether nothing is left. Never raises."""
    return _remove(place.root)


def _remove(root: Path) -> bool:
    # The marker goes last: killed halfway, the place is still known for a leftover.
    for name in ("work", "home", "config", "tmp"):
        shutil.rmtree(root / name, ignore_errors=True)
    shutil.rmtree(root, ignore_errors=True)
    if not os.path.lexists(root):
        return True
    for folder, names, _ in os.walk(root):
        for name in (".", *names):
            path = Path(folder, name)
            if not path.is_symlink():
                _make_writable(path)
    shutil.rmtree(root, ignore_errors=True)
    return not os.path.lexists(root)


def _make_writable(path: Path) -> None:
    try:
        path.chmod(stat.S_IRWXU)
    except OSError:
        pass


def leftovers(parent: Path | None = None) -> list[Path]:
    """Places whose maker is gone, wherever this machine's places are made."""
    found: list[Path] = []
    for folder in [parent] if parent else list(_parents()):
        found += [path for path in sorted(folder.glob(f"{_PREFIX}*")) if _is_leftover(path)]
    return found


def _is_leftover(path: Path) -> bool:
    try:
        if path.is_symlink() or path.stat().st_uid != os.getuid():
            return False
        marker = json.loads((path / _MARKER).read_text(encoding="utf-8"))
        pid, started = int(marker["pid"]), marker["started"]
    except (OSError, ValueError, TypeError, KeyError):
        return False
    now = start_time(pid)
    return now is None if started is None or now is None else abs(now - float(started)) > 2.0


class NoSandbox:
    """No wall: what the agent does, it does as the user. The place is all there is."""

    name = "none"

    def inner(self, place: Place) -> Place:
        return place

    def wrap(self, launch: Launch, place: Place) -> Launch:
        return launch


class PrefixSandbox:
    """Any command line put before the agent's, such as `docker run --rm -v {workdir}:{workdir} image`.

    `{workdir}` and `{home}` are replaced; what the command shows inside must have the same paths. The environment is
    the command's own, so it is up to the command to hand it on.
    """

    def __init__(self, prefix: str) -> None:
        try:
            self._words = shlex.split(prefix)
        except ValueError as error:
            raise InputError(f"The sandbox's command line cannot be read: {error}.", found=prefix) from error
        if not self._words:
            raise InputError("The sandbox's command line is empty.", expected="none, bwrap or a command")
        self.name = prefix

    def inner(self, place: Place) -> Place:
        return place

    def wrap(self, launch: Launch, place: Place) -> Launch:
        values = {"{workdir}": str(place.work), "{home}": str(place.home)}
        words = list(self._words)
        for key, value in values.items():
            words = [word.replace(key, value) for word in words]
        return dataclasses.replace(launch, argv=[*words, *launch.argv])
