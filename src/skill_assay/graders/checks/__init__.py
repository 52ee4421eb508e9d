"""Machine checks: one idea a file, one class a kind, each on one screen. What they mean: docs/reference/checks.md."""

from skill_assay.graders.checks.compiling import KINDS, CompiledChecks, check_problems, compile_checks
from skill_assay.graders.checks.grader import CheckGrader

__all__ = ["KINDS", "CheckGrader", "CompiledChecks", "check_problems", "compile_checks"]
