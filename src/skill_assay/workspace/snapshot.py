"""A skill as an archive, so that neither agents nor other viewers find a skill inside a workspace."""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from skill_assay.errors import InputError

__all__ = ["extract", "pack"]

_CAP = 200_000_000


def pack(root: Path, files: Iterable[str]) -> bytes:
    """The archive of some files of a folder: the same bytes for the same content, whenever and whoever packs it.

    Args:
        root: the skill's folder.
        files: paths relative to it, `/`-separated. Links are followed only to content inside `root`.
    """
    held = root.resolve()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            source = root / name
            if not source.resolve().is_relative_to(held):
                raise InputError("leads out of the skill's folder", file=str(source), expected="a file of the skill")
            data = source.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            entry.mode = 0o755 if source.stat().st_mode & stat.S_IXUSR else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def extract(archive: Path, into: Path) -> Path:
    """Unpack a snapshot into a folder. Refuses links, devices, paths that leave the folder, and huge ones.

    Returns:
        `into`.
    """
    try:
        with tarfile.open(archive, mode="r:") as opened:
            members = opened.getmembers()
            _refuse_unsafe(members, archive)
            into.mkdir(parents=True, exist_ok=True)
            for member in members:
                _write(opened, member, into)
    except (tarfile.TarError, EOFError) as error:
        raise InputError(f"is no readable archive ({error})", file=str(archive), expected="a snapshot") from error
    return into


def _refuse_unsafe(members: Iterable[tarfile.TarInfo], archive: Path) -> None:
    total = 0
    for member in members:
        path = PurePosixPath(member.name)
        outside = path.is_absolute() or ".." in path.parts or "\\" in member.name or ":" in member.name
        if outside or not (member.isreg() or member.isdir()):
            raise InputError(
                "holds an unsafe entry", file=str(archive), found=repr(member.name), expected="plain files"
            )
        total += member.size
    if total > _CAP:
        raise InputError(
            "is too large to unpack", file=str(archive), found=f"{total} bytes", expected=f"at most {_CAP}"
        )


def _write(opened: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    target = into / member.name
    if member.isdir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    content = opened.extractfile(member)
    if content is None or target.is_symlink():
        raise InputError("holds an unsafe entry", file=member.name)
    target.write_bytes(content.read())
    target.chmod(0o755 if member.mode & stat.S_IXUSR else 0o644)
