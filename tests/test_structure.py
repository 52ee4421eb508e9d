"""The house rules that a machine can hold: sizes, exports, layers, words that must not appear."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "skill_assay"
FILE_CAP = 400
FUNCTION_CAP = 60
NOTES = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
HOSTS = re.compile(
    r"(pypi|npmjs|pythonhosted|debian|ubuntu|docker|quay|ghcr|crates|rubygems|conda|anaconda)\.(org|com|io)", re.I
)
TEXTS = (".py", ".md", ".toml", ".txt", ".json", ".sh", ".html", ".css", ".js", ".j2", ".yaml", ".yml", "")


@cache
def tracked() -> tuple[Path, ...]:
    """Every text file of ours, by git where there is a checkout, else by a walk over what is shipped."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
            timeout=30,
        ).stdout.decode()
        paths = [ROOT / name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for top in ("src", "tests", "docs", "tools") for path in (ROOT / top).rglob("*")]
    return tuple(path for path in sorted(paths) if path.is_file() and path.suffix in TEXTS)


def python_files() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".py"]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def module_name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_stay_under_the_cap() -> None:
    long = {module_name(path): lines for path in python_files() if (lines := path.read_bytes().count(b"\n")) > FILE_CAP}
    assert not long, f"split these by idea (cap {FILE_CAP} lines): {long}"


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function; a text of several lines (what a page should look like, say) is data and counts as one."""
    texts = [each for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return lines(node) - sum(lines(each) - 1 for each in texts)


def lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Constant) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def test_functions_stay_under_the_cap() -> None:
    long = {
        f"{module_name(path)}:{node.lineno} {node.name}": length(node)
        for path in python_files()
        for node in functions(path)
        if length(node) > FUNCTION_CAP
    }
    assert not long, f"give the steps names of their own (cap {FUNCTION_CAP} lines): {long}"


def source_modules() -> list[Path]:
    return [path for path in python_files() if SOURCE in path.parents]


def exported(path: Path) -> list[str] | None:
    """The names in `__all__`, or `None` where the module has none."""
    for node in tree(path).body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            value: list[str] = ast.literal_eval(node.value)
            return value
    return None


def defined(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def is_program(path: Path) -> bool:
    """Whether it is only ever run, so that nobody imports a name from it."""
    ends = tree(path).body[-1]
    return path.name == "__main__.py" or (isinstance(ends, ast.If) and "__name__" in ast.unparse(ends.test))


def export_faults(path: Path) -> Iterator[str]:
    names = exported(path)
    if names is None:
        yield "no __all__"
        return
    if len(set(names)) < len(names):
        yield "a name twice"
    if "__getattr__" not in defined(path):
        yield from (f"{name} is not there" for name in set(names) - defined(path))


def test_exports_are_exact() -> None:
    """Each module says what it offers, and offers it. (ruff holds the order.)"""
    modules = [path for path in source_modules() if len(tree(path).body) > 1 and not is_program(path)]
    faults = [f"{module_name(path)}: {fault}" for path in modules for fault in export_faults(path)]
    assert not faults, faults


def test_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    result = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def unwanted(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1):
        for match in (NOTES.search(line), HOSTS.search(line)):
            if match:
                yield f"{module_name(path)}:{number}: {match.group()}"


def test_no_notes_to_self_and_no_registry_hosts() -> None:
    found = [fault for path in tracked() for fault in unwanted(path)]
    assert not found, found


def test_modules_say_what_they_are_for() -> None:
    silent = [module_name(path) for path in source_modules() if tree(path).body and not ast.get_docstring(tree(path))]
    assert not silent, f"begin with a sentence that says what the module is for: {silent}"
