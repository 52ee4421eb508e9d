"""`equals`: a file's whole content."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from skill_assay.graders.checks.absent import absent
from skill_assay.graders.checks.arguments import ABSENT, Absent, BadArgument, argument
from skill_assay.graders.checks.readers import anything, choice, evals_file, glob
from skill_assay.graders.checks.verdict import Verdict, said
from skill_assay.graders.json_text import NotJson, json_equal, parse_json
from skill_assay.graders.outputs import Unreadable, matching, place, read_bytes
from skill_assay.graders.words import quoted, shown
from skill_assay.model.work import Work

__all__ = ["Equals"]


@dataclass(frozen=True)
class Equals:
    """Some file that matches the pattern has exactly this content."""

    kind: ClassVar = "equals"
    file: str = argument(glob)
    value: Any = argument(anything, default=ABSENT)
    reference_file: Path | None = argument(evals_file, default=None)
    normalise: str = argument(choice("none", "whitespace", "json"), default="none")

    def __post_init__(self) -> None:
        if (self.value is ABSENT) == (self.reference_file is None):
            raise BadArgument("exactly one of 'value' and 'reference_file' is needed")
        if self.normalise != "json" and not isinstance(self.value, str | Absent):
            hint = 'Write "normalise": "json" to compare as JSON.'
            raise BadArgument("this is no text", at=".value", found=shown(self.value), expected="a text", hint=hint)
        if self.normalise == "json":
            self._read_wanted()

    def _read_wanted(self) -> None:
        try:
            self._wanted()
        except (NotJson, Unreadable) as error:
            raise BadArgument(f"the reference {error}", at=".reference_file", expected="JSON") from None

    async def decide(self, work: Work) -> Verdict:
        """Yes on the first file that is equal."""
        files = matching(work.files, self.file)
        if not files:
            return absent(work, self.file)
        wanted, differences = self._wanted(), []
        for name in files:
            difference = self._difference(work, name, wanted)
            if difference is None:
                return said(True, f"{name} is equal to {self._what()}.", (place(name),))
            differences.append(f"{name} {difference}")
        return said(False, "; ".join(differences[:5]) + ".", tuple(place(name) for name in files[:10]))

    def _what(self) -> str:
        return f"evals/{self.reference_file.name}" if self.reference_file else "the value given"

    def _wanted(self) -> Any:
        """Bytes, or with `json` the value."""
        if self.reference_file is None:
            return self.value if self.normalise == "json" else str(self.value).encode()
        data = read_bytes(self.reference_file.parent, self.reference_file.name)
        return parse_json(data) if self.normalise == "json" else data

    def _difference(self, work: Work, name: str, wanted: Any) -> str | None:
        try:
            data = read_bytes(work.outputs, name)
            if self.normalise == "json":
                value = parse_json(data)
                return None if json_equal(value, wanted) else f"holds {shown(value)}, expected {shown(wanted)}"
        except (Unreadable, NotJson) as reason:
            return str(reason)
        if self.normalise == "whitespace":
            return None if data.split() == wanted.split() else _first_difference(data, wanted)
        return None if data == wanted else _first_difference(data, wanted)


def _first_difference(data: bytes, wanted: bytes) -> str:
    if data.split() == wanted.split():
        return 'differs only in white space or line ends (set "normalise": "whitespace" if they do not matter)'
    ours, theirs = (one.decode("utf-8", errors="replace").splitlines() for one in (data, wanted))
    pairs = zip(ours, theirs, strict=False)
    line = next((number for number, (a, b) in enumerate(pairs, 1) if a.split() != b.split()), None)
    if line is None:
        return f"has {len(ours):,} lines, expected {len(theirs):,}"
    return f"differs from line {line}: found {quoted(ours[line - 1])}, expected {quoted(theirs[line - 1])}"
