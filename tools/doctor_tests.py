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
    """Source modules that no test file mirrors and no test imports."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    source = ROOT / "src"
    modules = (path for path in source.rglob("*.py") if not path.name.startswith("__"))
    names = {path: ".".join(path.relative_to(source).with_suffix("").parts) for path in modules}
    return sorted(
        name
        for path, name in names.items()
        if not re.search(rf"\b{re.escape(name)}\b|{re.escape(name.rpartition('.')[0])} import .*\b{path.stem}\b", texts)
        and not (ROOT / "tests" / path.relative_to(source / "skill_assay").parent / f"test_{path.stem}.py").exists()
    )


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
