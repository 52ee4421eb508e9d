"""Several jobs at the same time, of which one that fails does not undo the others."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable

import anyio

__all__ = ["together"]


async def together(jobs: Iterable[Awaitable[None]]) -> None:
    """Carry all of them out, and then raise what the first that failed raised.

    A group of tasks of its own would cancel the others, whose questions are paid for, and raise a group of errors that
    is no message for a person.
    """
    failed: list[Exception] = []

    async def one(job: Awaitable[None]) -> None:
        try:
            await job
        except Exception as error:
            failed.append(error)

    async with anyio.create_task_group() as group:
        for job in jobs:
            group.start_soon(one, job)
    if failed:
        raise failed[0]
