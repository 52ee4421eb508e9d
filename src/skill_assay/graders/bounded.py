"""Work whose length an untrusted text decides, done in a worker process that can be ended.

A regular expression can take for ever on a text made for it, and no thread of our own can stop it. So patterns,
JSON paths, schemas and language detection run in one of a few worker processes, within `SECONDS`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_process
from anyio.lowlevel import RunVar

__all__ = ["SECONDS", "NoAnswer", "TooLong", "WorkerDied", "bounded"]

SECONDS = 60.0
"""How long one look may take; generous, since a loaded machine must not turn a check into an error."""

T = TypeVar("T")

_limiter: RunVar[anyio.CapacityLimiter] = RunVar("skill_assay_look_limiter")


class NoAnswer(Exception):
    """The worker gave none; the message says why."""


class TooLong(NoAnswer):
    """It was not done in time; the worker was ended."""


class WorkerDied(NoAnswer):
    """The worker ended by itself, or by the system for the memory it took."""


async def bounded(look: Callable[..., T], *arguments: object, seconds: float | None = None) -> T:
    """`look(*arguments)` in a worker process; everything passed and returned is pickled.

    Raises:
        TooLong: it was not done within `seconds` (`SECONDS` when `None`), counted from its start.
        WorkerDied: the process ended before it was done.
    """
    limit = SECONDS if seconds is None else seconds
    async with _workers():
        try:
            with anyio.fail_after(limit):
                return await anyio.to_process.run_sync(_undisturbed, look, *arguments, cancellable=True)
        except TimeoutError as error:
            raise TooLong(f"it took more than {limit:g} seconds and was ended") from error
        except anyio.BrokenWorkerProcess as error:
            raise WorkerDied("the process it ran in ended, perhaps for want of memory") from error


def _undisturbed(look: Callable[..., T], *arguments: object) -> T:
    # Ctrl-C reaches every process of the terminal; a waiting worker would answer it with a stray exception.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return look(*arguments)


def _workers() -> anyio.CapacityLimiter:
    # Ours is taken before the clock starts: waiting for a worker must not count as looking.
    try:
        return _limiter.get()
    except LookupError:
        limiter = anyio.CapacityLimiter(os.cpu_count() or 2)
        _limiter.set(limiter)
        return limiter
