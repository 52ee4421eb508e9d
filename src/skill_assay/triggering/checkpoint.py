"""What a search keeps so that it can go on: what fixes it, and every proposal. Runs are kept by their evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_assay.errors import InputError
from skill_assay.formats.record import from_plain, to_plain
from skill_assay.triggering.proposer import Proposal
from skill_assay.workspace.optimise_store import OptimisationFolder

__all__ = ["StoredCheckpoint", "refuse_other_search"]


class StoredCheckpoint:
    """Implements `triggering.optimise.Checkpoint` in a search's folder.

    Raises:
        InputError: the record is damaged.
    """

    def __init__(self, folder: OptimisationFolder) -> None:
        self._folder = folder
        raw = folder.read_proposals()
        file = str(folder.path / "proposals.json")
        known = raw.get("proposals") if isinstance(raw, Mapping) else {} if raw is None else raw
        if not isinstance(known, Mapping):
            raise InputError("the record is damaged", file=file, json_path="$.proposals", expected="an object")
        self._known = {int(number): from_plain(Proposal, one, file=file) for number, one in known.items()}

    def proposal(self, number: int) -> Proposal | None:
        """That of a round."""
        return self._known.get(number)

    def keep(self, number: int, proposal: Proposal) -> None:
        """On the disk when it returns."""
        self._known[number] = proposal
        record = {str(one): to_plain(known) for one, known in sorted(self._known.items())}
        self._folder.write_proposals({"schema_version": 1, "proposals": record})


def refuse_other_search(recorded: Any, fixing: Mapping[str, Any], file: str) -> None:
    """Refuse to go on with a search that was fixed otherwise: its rounds would not belong together.

    Raises:
        InputError: naming what differs.
    """
    known = recorded if isinstance(recorded, Mapping) else {}
    changed = [
        f"{name} was {known.get(name)!r} and is {value!r}" for name, value in fixing.items() if known.get(name) != value
    ]
    if changed:
        raise InputError(
            f"this search can't go on, its rounds would not belong together: {'; '.join(changed)}",
            file=file,
            hint="Undo the change, or begin another search with --new.",
        )
