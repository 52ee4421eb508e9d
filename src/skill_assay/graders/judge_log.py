"""Questions to judges and their replies, kept beside the work they are about and used again instead of asking twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from skill_assay.llm.base import ModelFailed
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.protocols import LanguageModel, Ledger

__all__ = ["JudgeLog", "MemoryLog", "RememberingModel"]


class JudgeLog(Protocol):
    """Where they are kept."""

    def add(self, run_folder: Path, number: int, record: Mapping[str, Any]) -> None:
        """Keep a record in the file `number` of a trial."""
        ...

    def records(self, run_folder: Path) -> Iterable[Mapping[str, Any]]:
        """All records of a trial, oldest first."""
        ...


@dataclass(slots=True)
class MemoryLog:
    """Keeps them in memory only."""

    kept: dict[Path, list[Mapping[str, Any]]] = field(default_factory=dict)

    def add(self, run_folder: Path, number: int, record: Mapping[str, Any]) -> None:
        self.kept.setdefault(run_folder, []).append(record)

    def records(self, run_folder: Path) -> Iterable[Mapping[str, Any]]:
        return tuple(self.kept.get(run_folder, ()))


@dataclass(frozen=True, slots=True)
class RememberingModel:
    """Asks a model, unless the very same question was answered before."""

    model: LanguageModel
    log: JudgeLog
    fresh: bool = False
    """Ask although an answer is there."""

    async def ask(
        self,
        prompt: str,
        schema: Mapping[str, Any],
        ledger: Ledger,
        *,
        run_folder: Path,
        number: int,
        attached: Attached = NOTHING,
        **facts: Any,
    ) -> Mapping[str, Any]:
        """The reply's data.

        Args:
            prompt: the question.
            schema: of the reply.
            ledger: for the journal.
            run_folder: the trial it is about.
            number: the vote, from 1.
            attached: what goes with it; the record keeps its names and digest.
            facts: further facts for the record (the name, version and digest of the instructions).

        Raises:
            ModelFailed: no valid reply came.
        """
        key = self._key(prompt, schema, number, attached)
        known = None if self.fresh else self._known(run_folder, key)
        if known is not None:
            return known
        record = {
            "kind": "question",
            "key": key,
            "judge": self.model.name,
            **facts,
            "request": prompt,
            **_named(attached),
        }
        try:
            reply = await self.model.ask(prompt, schema, ledger, attached)
        except ModelFailed as failed:
            self.log.add(run_folder, number, {**record, "failure": str(failed)})
            raise
        usage = {"cost_usd": reply.usage.cost_usd, "tokens": reply.usage.tokens.total if reply.usage.tokens else None}
        self.log.add(run_folder, number, {**record, "model": reply.model, "reply": dict(reply.data), "usage": usage})
        return reply.data

    def copy(
        self, prompt: str, schema: Mapping[str, Any], data: Mapping[str, Any], *, run_folder: Path, number: int
    ) -> None:
        """Keep another trial's reply here too, so that grading this one again has all it needs beside it."""
        key = self._key(prompt, schema, number)
        if self._known(run_folder, key) is None:
            self.log.add(
                run_folder, number, {"kind": "copy", "key": key, "judge": self.model.name, "reply": dict(data)}
            )

    def _key(self, prompt: str, schema: Mapping[str, Any], number: int, attached: Attached = NOTHING) -> str:
        parts = [self.model.name, str(number), json.dumps(schema, sort_keys=True), prompt]
        parts += [attached.digest] if attached.digest else []
        return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()

    def _known(self, run_folder: Path, key: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = None
        for record in self.log.records(run_folder):
            reply = record.get("reply")
            if record.get("key") == key and isinstance(reply, Mapping):
                found = reply
        return found


def _named(attached: Attached) -> dict[str, Any]:
    if not attached.digest:
        return {}
    names = {"pictures": [one.name for one in attached.pictures], "files": sorted(attached.files)}
    return {"attached": {**{kind: found for kind, found in names.items() if found}, "digest": attached.digest}}
