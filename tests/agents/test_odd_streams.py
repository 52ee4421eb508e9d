"""Recordings of the real CLIs with odd values in them, lines lost, doubled, cut: nothing raises, no figure is absurd."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import Finished
from tests.agents.test_other_streams import PARSERS

ALL: dict[str, Callable[..., Parser]] = {**PARSERS, "claude": ClaudeCodeParser}
ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, -5.5, 1e308, 10**400, math.nan, math.inf, "", "x", "429", "\ud800"),
    *([], {}, [None], [[]], ["text"], {"a": 1}, {"type": "text"}),
)


def with_odd_values(value: Any, random: Random, share: float) -> Any:
    """The same, with about this share of its values replaced or lost."""
    if random.random() < share:
        return random.choice(ODD)
    if isinstance(value, dict):
        return {key: with_odd_values(item, random, share) for key, item in value.items() if random.random() > share / 3}
    if isinstance(value, list):
        return [with_odd_values(item, random, share) for item in value if random.random() > share / 3]
    return value


def damaged(lines: list[bytes], random: Random) -> Iterator[bytes]:
    """The stream as a broken pipe, disk or newer version may make it."""
    share = random.choice([0, 0.01, 0.05, 0.2])
    for one in lines:
        match random.randrange(30):
            case 0:
                continue
            case 1:
                yield one[: random.randrange(len(one) + 1)]
            case 2:
                yield from (one, one)
            case 3:
                yield from (b"\xff\xfe\0 no text", one)
            case _:
                yield json.dumps(with_odd_values(json.loads(one), random, share)).encode() if share else one


def figures(finished: Finished) -> list[float]:
    usage, tokens = finished.usage, finished.usage.tokens
    counts = [tokens.input, tokens.output, tokens.cache_read, tokens.cache_write] if tokens else []
    return [one for one in (*counts, usage.cost_usd, usage.turns, usage.api_seconds) if one is not None]


@pytest.mark.parametrize("agent", list(ALL))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32), exit_code=st.sampled_from([0, 1, None, -15]))
def test_what_can_be_told_of_a_damaged_stream_is_sane(
    agent: str, shared_data: Path, seed: int, exit_code: int | None
) -> None:
    random = Random(seed)
    recordings = sorted((shared_data / "streams").glob(f"{agent}*.jsonl"))
    lines = [line for line in random.choice(recordings).read_bytes().splitlines() if line.startswith(b"{")]
    parser = ALL[agent](work="/home/dev/trial/ws", home="/home/dev/trial/home")
    for line in damaged(lines, random):
        list(parser.feed(line))
    finished = parser.end(exit_code, random.choice(["", "Error: 500"]))
    assert finished.answer is None or isinstance(finished.answer, str)
    assert finished.failure is None or isinstance(finished.failure.message, str)
    assert finished.answer is not None or finished.failure is not None
    assert all(math.isfinite(one) and one >= 0 for one in figures(finished))
