"""One that fails does not undo the others."""

from __future__ import annotations

import anyio
import pytest

from skill_assay.errors import IncompleteError
from skill_assay.runner.together import together


def test_the_others_end_and_then_the_first_error_is_raised_alone() -> None:
    ended = []

    async def one(number: int) -> None:
        if number in (1, 3):
            await anyio.sleep(0.01 * number)
            raise IncompleteError(f"number {number}")
        await anyio.sleep(0.1)
        ended.append(number)

    with pytest.raises(IncompleteError, match="number 1"):
        anyio.run(together, [one(number) for number in range(5)])
    assert sorted(ended) == [0, 2, 4]


def test_an_interrupt_ends_all() -> None:
    ended = []

    async def never_ends() -> None:
        await anyio.sleep(60)
        ended.append(1)

    async def main() -> None:
        with anyio.move_on_after(0.05):
            await together([never_ends(), never_ends()])

    anyio.run(main)
    assert not ended
