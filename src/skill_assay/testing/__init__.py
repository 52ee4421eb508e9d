"""For people who write an adapter: what every adapter must get right, run against its real program and a scripted
model. How to use it: docs/how-to/write-an-adapter.md."""

from skill_assay.modelserver.canary import DIALECTS, Dialect
from skill_assay.testing.bench import Ran, Subject
from skill_assay.testing.cases import CASES, Case, check

__all__ = ["CASES", "DIALECTS", "Case", "Dialect", "Ran", "Subject", "check"]
