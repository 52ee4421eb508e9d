"""A model through a coding agent's own program, in a fresh place.

By `claude -p --json-schema` or `codex exec --output-schema`; others are told the schema in words.
It has no tools; where files are attached it has those that read them, and nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_assay.agents.process import Exit, run
from skill_assay.agents.strict_schema import asked_in_words
from skill_assay.errors import AssayError, Failure, FailureKind, InputError
from skill_assay.llm.base import Said
from skill_assay.model.agent import Request
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.place import Place
from skill_assay.model.protocols import Agent, Sandbox
from skill_assay.model.transcript import Finished

__all__ = ["AgentVoice", "json_in"]

_SECONDS = 300.0
_TURNS = 8
"""A reply by schema is itself a tool call, and one that misses the schema is sent back by the CLI."""
_READING_TURNS = 40
"""Each look at a file is one."""


@dataclass(slots=True)
class AgentVoice:
    """Implements `Voice`.

    Args:
        agent: the adapter; where it takes no schema, the schema stands in the prompt.
        sandbox: the wall.
        places: makes a fresh place and removes it.
        model: in the agent's own words.
        env: what the program sees, its sign-in included.
        base_url: a model server of our own.
        max_cost_usd: the CLI's own cap for one question.
    """

    agent: Agent
    sandbox: Sandbox
    places: Callable[[], AbstractContextManager[Place]]
    model: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    base_url: str | None = None
    max_cost_usd: float | None = None
    seconds: float = _SECONDS

    @property
    def name(self) -> str:
        """`claude-code`, or `claude-code/MODEL`."""
        return f"{self.agent.name}/{self.model}" if self.model else self.agent.name

    @property
    def sees_pictures(self) -> bool:
        """As the adapter declares."""
        return self.agent.capabilities.pictures

    @property
    def reads_files(self) -> bool:
        """As the adapter declares."""
        return self.agent.capabilities.reads_only

    async def say(self, prompt: str, schema: Mapping[str, Any], attached: Attached = NOTHING) -> Said:
        """Launch it once."""
        native = self.agent.capabilities.schema
        asked = prompt if native else asked_in_words(prompt, schema)
        with self.places() as place:
            _lay_out(attached.files, place.work)
            request = self._request(asked, schema if native else None, place, attached)
            parser = self.agent.parser(request)

            def line(text: bytes) -> None:
                for _ in parser.feed(text):
                    pass

            try:
                launch = self.sandbox.wrap(self.agent.launch(request), place)
            except AssayError as error:
                return Said(failure=Failure(FailureKind.CRASHED, str(error)))
            end = await run(launch, on_line=line, time_limit=self.seconds)
            finished = parser.end(end.exit_code, end.stderr)
        data = finished.structured if finished.structured is not None else json_in(finished.answer)
        models = finished.models
        return Said(data, finished.usage, models[0] if models else self.model, _failure(end, finished))

    def _request(self, prompt: str, schema: Mapping[str, Any] | None, place: Place, attached: Attached) -> Request:
        inner = self.sandbox.inner(place)
        return Request(
            prompt=prompt,
            place=place,
            work=str(inner.work),
            home=str(inner.home),
            tmp=str(inner.tmp),
            model=self.model,
            max_turns=_READING_TURNS if attached.files else _TURNS,
            max_cost_usd=self.max_cost_usd,
            env=self.env,
            schema=schema,
            base_url=self.base_url,
            tools=bool(attached.files),
            reads_only=bool(attached.files),
            pictures=attached.pictures,
        )


def _lay_out(files: Mapping[str, bytes], folder: Path) -> None:
    """A copy to read; nobody's own file lies there."""
    for name, data in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError("leads out of the judge's folder", found=repr(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o400)


def json_in(answer: str | None) -> Any:
    """The JSON object a model wrote as text, fenced or bare; `None` where there is none."""
    if not answer:
        return None
    fenced = re.findall(r"```(?:json)?\s*\n(.*?)```", answer, re.DOTALL)
    start, end = answer.find("{"), answer.rfind("}")
    for text in (*reversed(fenced), answer, answer[start : end + 1] if 0 <= start < end else ""):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            return found
    return None


def _failure(end: Exit, finished: Finished) -> Failure | None:
    if end.launch_error is not None:
        return Failure(FailureKind.CRASHED, f"could not be started: {end.launch_error}")
    if end.timed_out:
        return Failure(FailureKind.CONNECTION, "gave no answer in time")
    return finished.failure
