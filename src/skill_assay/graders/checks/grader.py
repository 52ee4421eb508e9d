"""The grader for expectations with checks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from skill_assay.graders.checks.compiling import CompiledChecks, compile_checks
from skill_assay.model.evals import Eval, EvalSet, Expectation
from skill_assay.model.grade import Grade
from skill_assay.model.protocols import Ledger
from skill_assay.model.work import Work

__all__ = ["CheckGrader"]


class CheckGrader:
    """Decides expectations that carry checks.

    Args:
        evals_root: the skill's `evals/`.
    """

    name = "check"

    def __init__(self, evals_root: Path | None) -> None:
        self._evals_root = evals_root
        self._compiled: dict[int, CompiledChecks] = {}

    def prepare(self, evals: EvalSet) -> None:
        """Read every argument of every check now.

        Raises:
            InputError: the first that can't be used.
        """
        for one in evals.evals:
            for expectation in one.expectations:
                self._ready(expectation, str(evals.source))

    def covers(self, one: Eval) -> frozenset[int]:
        """The expectations it can decide."""
        return frozenset(index for index, expectation in enumerate(one.expectations) if expectation.checks)

    async def grade(self, expectations: Mapping[int, Expectation], work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for those that carry checks."""
        grades = {}
        for index, expectation in expectations.items():
            if expectation.checks:
                started = time.perf_counter()
                grade = await self._ready(expectation).decide(work)
                grades[index] = replace(grade, seconds=time.perf_counter() - started)
        return grades

    def _ready(self, expectation: Expectation, file: str | None = None) -> CompiledChecks:
        # Keyed by identity (arguments are not hashable); the compiled checks keep the expectation alive.
        known = self._compiled.get(id(expectation))
        if known is None or known.expectation is not expectation:
            known = compile_checks(expectation, evals_root=self._evals_root, file=file)
            self._compiled[id(expectation)] = known
        return known
