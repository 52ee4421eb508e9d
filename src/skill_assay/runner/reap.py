"""Ends what an earlier, killed `assay` may have left running, by the names written down when it was started.

The launcher of a trial ends everything when its `assay` dies, however it dies. Only when both were killed at once can
something be left. A pid alone is given out again, so nothing is touched whose start time does not match as well.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

from skill_assay.agents.launcher import start_time
from skill_assay.agents.process import Identity

__all__ = ["reap"]

_SLACK = 2.0
"""Seconds by which the same start may be told differently after the system's clock was set."""
_PATIENCE = 10.0


def reap(identities: Iterable[Identity], patience: float = _PATIENCE) -> list[int]:
    """End what is left of these attempts.

    A launcher that still runs is asked to end its trial, and killed with the trial if it does not. The program's own
    group is ended when its launcher is gone.

    Args:
        identities: what was recorded when the attempts were launched.
        patience: seconds a launcher may take over it.

    Returns:
        The pids that were signalled: launchers, or leaders of groups.
    """
    if os.name != "posix":
        return []
    ended: list[int] = []
    for identity in identities:
        if _is(identity.pid, identity.started):
            _end_launcher(identity, patience)
            ended.append(identity.pid)
        if _is(identity.pgid, identity.program_started):
            _signal_group(identity.pgid)
            ended.append(identity.pgid)
    return ended


def _is(pid: int, started: float | None) -> bool:
    """Whether this pid is still that process; an unknown start time is no match."""
    now = start_time(pid)
    return started is not None and now is not None and abs(now - started) <= _SLACK and not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
    except (OSError, IndexError):
        return False


def _end_launcher(identity: Identity, patience: float) -> None:
    _signal(identity.pid, signal.SIGCONT)
    _signal(identity.pid, signal.SIGTERM)
    limit = time.monotonic() + patience
    while _is(identity.pid, identity.started) and time.monotonic() < limit:
        time.sleep(0.02)
    if _is(identity.pid, identity.started):
        _signal(identity.pid, signal.SIGKILL)


def _signal_group(leader: int) -> None:
    """The group and every session mate: the program began a session of its own, so all are of this attempt."""
    for pid in _session(leader):
        _signal(pid, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    members = [leader]
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdecimal() and os.getsid(int(entry.name)) == leader:
                members.append(int(entry.name))
        except OSError:
            continue
    return members


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass
