"""Say what the test suite lacks: parts missing on this machine, fault kinds and modules without a test.

    python tools/doctor_tests.py

Reads the tests' source only; runs nothing.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALL_FAULTS = frozenset(range(1, 34))
"""The kinds of known faults that the tests cite by number (docs/explanation/faults.md)."""
CITED = re.compile(r"(?<![a-z])faults?(?: kinds?)?[ _](\d+(?:(?:, ?| and |_)\d+)*)", re.IGNORECASE)


def test_functions() -> Iterator[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield path, node


def faults_tested() -> Mapping[int, list[str]]:
    """Fault number to the tests that cite it, in their name or docstring."""
    found: dict[int, list[str]] = {}
    for path, node in test_functions():
        where = f"{path.relative_to(ROOT).as_posix()}::{node.name}"
        for match in CITED.finditer(f"{node.name}\n{ast.get_docstring(node) or ''}"):
            for number in re.findall(r"\d+", match.group(1)):
                found.setdefault(int(number), []).append(where)
    return found


def modules_untested() -> list[str]:
    """Source modules that no test file mirrors and none of whose public names occurs in a test."""
    words = set(re.findall(r"\w+", "\n".join(p.read_text(encoding="utf-8") for p in (ROOT / "tests").rglob("*.py"))))
    source = ROOT / "src" / "skill_assay"
    return [
        path.relative_to(source).as_posix()
        for path in sorted(source.rglob("*.py"))
        if not (ROOT / "tests" / path.relative_to(source).parent / f"test_{path.stem}.py").exists()
        and (names := public_names(path))
        and not names & words
    ]


def public_names(path: Path) -> set[str]:
    """What `__all__` names, and the module itself; none for a package or a program."""
    if path.name.startswith("__"):
        return set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return {path.stem, *ast.literal_eval(node.value)}
    return {path.stem}


def parts_missing() -> Iterator[str]:
    data = Path(os.environ.get("ASSAY_DATA") or ROOT.parent / "shared" / "data")
    if not data.is_dir():
        yield f"shared data: not at {data} (set ASSAY_DATA)"
    if not list((ROOT / "tests" / "clients" / "node_modules").glob("@anthropic-ai/claude-code-*/claude")):
        yield "agent CLIs: tests/clients/node_modules has no claude (make test installs it, with npm)"
    for program, package in (("bwrap", "bubblewrap"), ("chromium", "chromium"), ("git", "git")):
        if not shutil.which(program):
            yield f"{program}: not on PATH (install the package {package})"


def main() -> None:
    faults = sorted(ALL_FAULTS - set(faults_tested()))
    sections = {
        "Parts missing on this machine": list(parts_missing()),
        "Fault kinds without a test": [", ".join(map(str, faults))] if faults else [],
        "Modules without a test": modules_untested(),
    }
    for title, lines in sections.items():
        print(f"{title}: {'' if lines else 'none'}")
        for line in lines:
            print(f"  {line}")
    sys.exit(any(sections.values()))


if __name__ == "__main__":
    main()
