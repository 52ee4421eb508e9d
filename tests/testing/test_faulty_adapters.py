"""The conformance suite finds what is wrong with an adapter: Codex's, spoilt in one way each."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pytest

from skill_assay.agents.codex import Codex
from skill_assay.model.agent import Request
from skill_assay.model.place import Launch
from skill_assay.model.protocols import Parser
from skill_assay.model.transcript import Event, Finished, SkillUse, Tokens, ToolCall, Usage
from skill_assay.testing import CASES, DIALECTS, Subject, check

pytestmark = [pytest.mark.client, pytest.mark.slow]


class Spoilt:
    """A parser around the real one."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def feed(self, line: bytes) -> Iterable[Event]:
        return self.parser.feed(line)

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        return self.parser.end(exit_code, stderr)


class Trusting(Spoilt):
    """Takes every mention in a command for a use."""

    def feed(self, line: bytes) -> Iterable[Event]:
        for event in self.parser.feed(line):
            yield event
            if isinstance(event, ToolCall) and "assay-singing" in str(event.input):
                yield SkillUse("assay-singing", "read", confirmed=True)


class Cheerful(Spoilt):
    """Takes whatever was said last for an answer."""

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        finished = self.parser.end(exit_code, stderr)
        return Finished(finished.answer or "all is well", finished.usage)


class Thrifty(Spoilt):
    """Forgets the tokens of all answers but the first."""

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        return dataclasses.replace(self.parser.end(exit_code, stderr), usage=Usage(tokens=Tokens(1200, 42)))


class Wasteful(Spoilt):
    """Takes what a cache held for fresh input."""

    def end(self, exit_code: int | None, stderr: str) -> Finished:
        finished = self.parser.end(exit_code, stderr)
        tokens = finished.usage.tokens or Tokens()
        return dataclasses.replace(finished, usage=Usage(tokens=Tokens(tokens.total - tokens.output, tokens.output)))


class AtHome(Codex):
    """Launches with the user's own home."""

    def launch(self, request: Request) -> Launch:
        launch = super().launch(request)
        return dataclasses.replace(launch, env={**launch.env, "HOME": self._env["HOME"]})


class Hasty(Codex):
    """Gives the prompt to a shell's mercy: as an argument without its line ends."""

    def launch(self, request: Request) -> Launch:
        launch = super().launch(request)
        return dataclasses.replace(launch, stdin=" ".join(request.prompt.split()).encode())


def spoilt(parser: Callable[[Parser], Parser]) -> type[Codex]:
    class Bad(Codex):
        def parser(self, request: Request) -> Parser:
            return parser(super().parser(request))

    return Bad


@pytest.mark.parametrize(
    ("adapter", "case", "said"),
    [
        (spoilt(Trusting), "skill-unused", "skills used"),
        (spoilt(Cheerful), "error-401", "a failure has an answer"),
        (spoilt(Thrifty), "skill-first", "tokens"),
        (AtHome, "skill-first", "of the user's own home"),
        (spoilt(Cheerful), "time-limit", "has an answer"),
        (spoilt(Wasteful), "skill-later", "from a cache"),
        (Hasty, "text-only", "did not reach the model as it is"),
    ],
    ids=["trusting", "cheerful", "thrifty", "at-home", "cheerful-late", "wasteful", "hasty"],
)
def test_a_fault_is_found(adapter: type[Codex], case: str, said: str, client: Callable[[str], Path]) -> None:
    env = {"PATH": os.environ["PATH"], "ASSAY_CODEX": str(client("codex"))}

    def create(user: Mapping[str, str]) -> Codex:
        return adapter(env=user)

    (chosen,) = [one for one in CASES if one.name == case]
    assert any(said in wrong for wrong in check(Subject(create, DIALECTS["codex"], env), chosen))
