"""A wall of Linux namespaces (bubblewrap): a trial sees the system's programs, its own folders and the network.

Inside, paths are the same for every trial, so none can be told from another by its names:

    /trial/work  /trial/home  /trial/config     the place's folders, writable
    /tmp                                        memory of its own, sized
    /usr, /bin, /lib …, a few files of /etc     read-only, as is everything else that exists at all

All capabilities are dropped, for with them root could remount what is read-only. The arguments, which hold the
environment and so the key, are read from a descriptor; bubblewrap's own environment is empty, because inside it can
be read as that of process 1. No trial's process outlives the first of its process namespace.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.model.place import Launch, Place
from skill_assay.runner.runtime import runtime_folders

__all__ = ["BwrapSandbox", "bwrap_available"]

TMP_BYTES = 1 << 30
_TRIAL = Path("/trial")
_UID = "1000"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
_ETC = (
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "hosts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "pki",
    "protocols",
    "resolv.conf",
    "services",
    "ssl",
    "timezone",
)
_WALL = (
    "--die-with-parent",
    "--new-session",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
)
_USER = ("--unshare-user", "--uid", _UID, "--gid", _UID)
_PASSWD = "root:x:0:0::/root:/bin/sh\ntrial:x:1000:1000::/trial/home:/bin/bash\n"
_GROUP = "root:x:0:\ntrial:x:1000:\n"
_WRAPPERS = 2
"""bubblewrap itself and the first process of the namespace."""


class BwrapSandbox:
    """Each launch in namespaces of its own."""

    name = "bwrap"

    def __init__(self, readable: Iterable[Path] = ()) -> None:
        """
        Args:
            readable: further files and folders that may be read inside, under the paths they have outside. The
                program launched and the runtime it needs are always among them.

        Raises:
            InputError: bubblewrap is missing or not allowed here; the message says why.
        """
        ok, reason = bwrap_available()
        if not ok:
            raise InputError(
                "--sandbox bwrap can't be used here.",
                found=reason,
                hint="Install bubblewrap (Linux) or allow user namespaces, or run with  --sandbox none",
            )
        self._readable = tuple(Path(path) for path in readable)

    def inner(self, place: Place) -> Place:
        """The fixed names; only `tmp` is no folder of the place, but memory that goes with the trial."""
        return Place(_TRIAL, _TRIAL / "work", _TRIAL / "home", _TRIAL / "config", Path("/tmp"))

    def wrap(self, launch: Launch, place: Place) -> Launch:
        """The same launch behind the wall."""
        program = _program(launch, place)
        seen = [*self._readable, *launch.readable, *runtime_folders(program, launch.env)]
        arguments = [
            *_options(_user_namespace()),
            *_system(place),
            *_readable(seen),
            *_own(place),
            *("--remount-ro", "/", "--chdir", str(_inside(launch.cwd or place.work, place)), "--clearenv"),
            *(word for name, value in launch.env.items() for word in ("--setenv", name, value)),
        ]
        return dataclasses.replace(
            launch,
            argv=[_bwrap(), "--args", "{feed}", "--", program, *launch.argv[1:]],
            env={},
            cwd=None,
            feed=b"".join(os.fsencode(word) + b"\0" for word in arguments),
            wrappers=launch.wrappers + _WRAPPERS,
        )


def bwrap_available() -> tuple[bool, str]:
    """Whether bubblewrap runs here, found out by running it; else the reason."""
    if not _bwrap():
        return False, "bubblewrap (bwrap) is not installed"
    try:
        _user_namespace()
    except InputError as error:
        return False, error.found or error.message
    return True, ""


@cache
def _bwrap() -> str:
    return shutil.which("bwrap") or ""


@cache
def _user_namespace() -> bool:
    """Whether it works with a user namespace; without one only root can use it. Raises when it does not work at all."""
    reasons = []
    for wanted in (True, False):
        words = [_bwrap(), *_options(wanted), *_system(None), "--remount-ro", "/", "--", "/bin/true"]
        try:
            done = subprocess.run(words, env={}, capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.TimeoutExpired) as error:
            reasons.append(str(error))
            continue
        if done.returncode == 0:
            return wanted
        reasons.append(done.stderr.decode("utf-8", "replace").strip())
    raise InputError("bubblewrap does not work here", found=reasons[0])


def _options(user_namespace: bool) -> list[str]:
    return [*_WALL, *(_USER if user_namespace else ())]


def _system(place: Place | None) -> list[str]:
    """What every program needs: the system's programs and libraries, name resolution, certificates, devices."""
    words: list[str] = []
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            words += ["--ro-bind", name, name]
    for name in _ETC:
        target = Path("/etc", name)
        if target.exists():
            words += ["--ro-bind", str(target.resolve()), str(target)]
    if place is not None:
        for name, text in (("passwd", _PASSWD), ("group", _GROUP)):
            file = place.root / name
            file.write_text(text, encoding="utf-8")
            words += ["--ro-bind", str(file), f"/etc/{name}"]
    return [*words, "--proc", "/proc", "--dev", "/dev", "--size", str(TMP_BYTES), "--tmpfs", "/tmp"]


def _readable(paths: Sequence[Path]) -> list[str]:
    """Read-only, under their own names; what a link points to is shown too."""
    words: list[str] = []
    for path in dict.fromkeys(paths):
        real = path.resolve()
        if not real.exists() or any(real.is_relative_to(top) for top in _SYSTEM):
            continue
        words += ["--ro-bind", str(real), str(real)]
        if path.is_symlink() and path.parent.resolve() == path.parent:
            words += ["--symlink", str(real), str(path)]
    return words


def _own(place: Place) -> list[str]:
    folders = ((place.work, "work"), (place.home, "home"), (place.config, "config"))
    return [word for folder, name in folders for word in ("--bind", str(folder), str(_TRIAL / name))]


def _inside(path: Path, place: Place) -> Path:
    return _TRIAL / path.relative_to(place.root) if path.is_relative_to(place.root) else path


def _program(launch: Launch, place: Place) -> str:
    """The program as it is named inside: found now, for PATH may name folders that are not there."""
    search: Mapping[str, str] = launch.env
    found = shutil.which(launch.argv[0], path=search.get("PATH", os.defpath))
    return str(_inside(Path(found), place)) if found else launch.argv[0]
