"""Many skills measured in one go, a row each."""

from __future__ import annotations

from dataclasses import dataclass

from skill_assay.model.benchmark import Benchmark
from skill_assay.model.gate import Gate
from skill_assay.model.inference import Inference
from skill_assay.stats.results import Verdict

__all__ = ["LibraryRow", "standing"]

_ORDER = {"worse": 0, "inconclusive": 2, "equivalent": 3, "better": 4}


def standing(inference: Inference | None, adjusted_p: float | None) -> Verdict | None:
    """A verdict among many: better and worse need the adjusted p, the others stand as they are."""
    if inference is None:
        return None
    stands = adjusted_p is not None and adjusted_p <= 0.05 + 1e-9
    return inference.verdict if inference.verdict not in ("better", "worse") or stands else "inconclusive"


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """One skill of a library."""

    skill: str
    """Its folder, as the user named the library."""
    benchmark: Benchmark | None = None
    inference: Inference | None = None
    gate: Gate | None = None
    adjusted_p: float | None = None
    """Benjamini-Hochberg over the skills with a p value."""
    error: str | None = None
    """Why it was not measured."""
    code: int = 0

    @property
    def verdict(self) -> Verdict | None:
        """The skill's own verdict where it stands among so many: better and worse need the adjusted p."""
        return standing(self.inference, self.adjusted_p)

    @property
    def taken_back(self) -> bool:
        """Whether the verdict fell to the correction."""
        return self.inference is not None and self.verdict != self.inference.verdict

    @property
    def rank(self) -> tuple[int, float, str]:
        """Worst first: worse, not measured, inconclusive, equivalent, better; each by effect."""
        effect = self.inference.effect if self.inference and self.inference.effect is not None else 0.0
        return (_ORDER[self.verdict] if self.verdict else 1, effect, self.skill)
