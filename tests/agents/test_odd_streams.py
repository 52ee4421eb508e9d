"""Recordings of the real CLIs with odd values in them, lines lost, doubled, cut: nothing raises, no figure is absurd."""

from __future__ import annotations

import dataclasses
import json
import math
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skill_assay import errors
from skill_assay.agents.api_parser import ApiParser
from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.agents.event_lines import ProgramParser
from skill_assay.model import transcript
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import Finished, Tokens
from skill_assay.runner.watch import Watch
from tests.agents.test_other_streams import PARSERS

ALL: dict[str, Callable[..., Parser]] = {**PARSERS, "claude": ClaudeCodeParser}
NO_MORE = 10**30
OWN_LINES: tuple[dict[str, Any], ...] = (
    {"type": "started", "assay": 1, "model": "openai:gpt-5", "version": "1", "tools": ["read"], "skills": ["a"]},
    {"type": "text", "text": "hello", "parent": None},
    {"type": "tool_call", "id": "1", "name": "skill", "input": {"name": "a"}, "parent": None},
    {"type": "tool_result", "call_id": "1", "text": "Base", "is_error": False},
    {"type": "skill_use", "name": "a", "how": "tool", "confirmed": True},
    {"type": "retrying", "status": 429, "message": "wait", "retry_after": 3, "wait_seconds": 2},
    {"type": "usage", "tokens": {"input": 3, "output": 4, "cache_read": 1}, "cost_usd": 0.1, "turns": 2},
    {"type": "usage", "tokens": {"input": 3, "output": 4, "cache_write": 1}, "cost_usd": 0.1, "api_seconds": 2},
    {"type": "finished", "answer": "done", "models": ["a"], "structured": {"a": 1}},
    {"type": "error", "kind": "overloaded", "status": 529, "retry_after": 5, "message": "x"},
)
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


def is_of(value: Any, declared: Any) -> bool:
    """Whether a value is of the type that its field declares; a figure must be one that sums can be made of."""
    inner, origin = typing.get_args(declared), typing.get_origin(declared)
    if declared is Any or value is None:
        return declared is Any or declared is type(None) or type(None) in inner
    if origin in (typing.Union, types.UnionType):
        return any(is_of(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and all(is_of(one, inner[0]) for one in value)
    if declared in (int, float):
        kinds = int if declared is int else int | float
        return isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value < NO_MORE
    return isinstance(value, origin or declared) and (not dataclasses.is_dataclass(value) or not misfits(value))


def misfits(told: Any) -> list[str]:
    """The fields of an event that hold another thing than they declare."""
    declared = typing.get_type_hints(type(told), {**vars(errors), **vars(transcript), "Mapping": Mapping})
    return [f"{type(told).__name__}.{name}" for name, kind in declared.items() if not is_of(getattr(told, name), kind)]


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


def own_lines(random: Random) -> list[bytes]:
    """What a program of one's own may print: any line any number of times, the first one most often whole."""
    first, *others = (json.dumps(one).encode() for one in OWN_LINES)
    return [first, *random.choices(others, k=random.randrange(20))]


@pytest.mark.parametrize("agent", [*ALL, "program", "api"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(seed=st.integers(0, 2**32))
def test_what_an_event_holds_is_what_its_fields_declare(agent: str, shared_data: Path, seed: int) -> None:
    """A list in the place of a text would end the whole run where the transcript is written."""
    random, watch = Random(seed), Watch()
    parser: Parser
    if agent in ALL:
        recordings = sorted((shared_data / "streams").glob(f"{agent}*.jsonl"), key=lambda one: one.stat().st_size)
        lines = [line for line in random.choice(recordings[:20]).read_bytes().splitlines() if line.startswith(b"{")]
        parser = ALL[agent](work="/home/dev/trial/ws", home="/home/dev/trial/home")
    else:
        lines = own_lines(random)
        parser = ApiParser() if agent == "api" else ProgramParser()
    kept = lines[:1] if random.random() < 0.8 else []
    for line in (*kept, *damaged(lines[len(kept) :], random)):
        for event in parser.feed(line):
            assert not misfits(event)
            watch.see(event)
    assert 0 <= getattr(parser, "tokens_so_far", 0) < NO_MORE
    assert not misfits(parser.end(random.choice([0, 1, None]), ""))


ODD_FIGURES = [-1, -0.5, math.nan, math.inf, 1e300, 10**400, "7", True, [1]]


@pytest.mark.parametrize("agent", ["program", "api"])
@pytest.mark.parametrize("strange", ODD_FIGURES, ids=lambda one: str(one)[:9])
def test_a_line_with_a_figure_that_none_can_be_is_not_added(agent: str, strange: Any) -> None:
    parser = ApiParser() if agent == "api" else ProgramParser()
    start, fine = OWN_LINES[0], {"type": "usage", "tokens": {"input": 3}, "cost_usd": 0.5, "turns": 1}
    odd: list[dict[str, Any]] = [{**fine, name: strange} for name in ("cost_usd", "turns", "api_seconds")]
    odd.append({**fine, "tokens": {"input": strange}})
    for one in (start, *odd, fine, *odd, {"type": "finished", "answer": "done"}):
        list(parser.feed(json.dumps(one).encode()))
    usage = parser.end(0, "").usage
    assert (usage.tokens, usage.turns) == (Tokens(3), 1)
