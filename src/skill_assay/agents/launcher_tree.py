"""The process tree by polling, where the kernel has no subreapers (macOS).

It remembers every process once seen below the launcher, by pid and start time, so that one whose parent has died
since is still found. What is born and orphaned between two polls is missed: `assay doctor` says so.
"""

from __future__ import annotations

import psutil

__all__ = ["PolledTree"]


class PolledTree:
    """All that was ever seen below the calling process."""

    def __init__(self) -> None:
        self._me = psutil.Process()
        self._seen: set[psutil.Process] = set()

    def look(self) -> None:
        """Take note of what there is now."""
        roots = [self._me, *self._seen]
        for root in roots:
            try:
                self._seen.update(root.children(recursive=True))
            except psutil.Error:
                continue

    def members(self) -> list[int]:
        """Pids of those still alive; psutil compares start times, so a pid given out again is not among them."""
        self.look()
        self._seen = {process for process in self._seen if _alive(process)}
        return [process.pid for process in self._seen]


def _alive(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False
