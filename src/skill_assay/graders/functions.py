"""The functions of `evals/checks.py`, known without running a line of it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from skill_assay.errors import InputError
from skill_assay.graders.words import shortened

__all__ = ["FILE", "Functions", "Signature", "read_functions"]

FILE = "checks.py"
_LIMIT = 2_000_000


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes besides the context."""

    accepts: tuple[str, ...]
    needs: tuple[str, ...]
    anything: bool
    """Whether it takes `**arguments`."""

    def problem(self, given: Mapping[str, object]) -> str | None:
        """Why a call with these arguments would fail."""
        surplus = [name for name in given if name not in self.accepts]
        if surplus and not self.anything:
            return f"takes no argument {surplus[0]!r}"
        missing = [name for name in self.needs if name not in given]
        return f"needs the argument {missing[0]!r}" if missing else None


@dataclass(frozen=True, slots=True)
class Functions:
    """What `evals/checks.py` offers."""

    signatures: Mapping[str, Signature]
    """Top-level functions by name."""
    mapped: tuple[str, ...]
    """The keys of `CHECKS`: texts or ids of expectations."""


def read_functions(evals_root: Path | None) -> Functions | None:
    """The functions of `evals/checks.py`, or `None` where there is no such file.

    Raises:
        InputError: it can't be read, is no Python, or its `CHECKS` is no plain table.
    """
    path = evals_root / FILE if evals_root else None
    if path is None or not path.is_file():
        return None
    stat = path.stat()
    if stat.st_size > _LIMIT:
        raise InputError("the file is too large to be a module of checks", file=str(path))
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=64)
def _read(path: Path, _modified: int, _size: int) -> Functions:
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except SyntaxError as error:
        raise InputError(f"not valid Python: {error.msg}", file=str(path), line=error.lineno) from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"can't be read: {error}", file=str(path)) from None
    signatures = {node.name: _signature(node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Functions(signatures, tuple(_mapped(tree, path)))


def _signature(node: ast.FunctionDef) -> Signature:
    arguments = node.args
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    optional = positional[len(positional) - len(arguments.defaults) :] if arguments.defaults else []
    pairs = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    needed = [one for one in positional[1:] if one not in optional]
    needed += [one.arg for one, default in pairs if default is None]
    accepted = (*positional[1:], *(one.arg for one in arguments.kwonlyargs))
    return Signature(accepted, tuple(needed), arguments.kwarg is not None)


def _mapped(tree: ast.Module, path: Path) -> list[str]:
    for node in tree.body:
        value = _assigned(node)
        if value is None:
            continue
        keys = [key.value for key in value.keys if isinstance(key, ast.Constant)] if isinstance(value, ast.Dict) else []
        texts = [key for key in keys if isinstance(key, str)]
        if not isinstance(value, ast.Dict) or len(texts) != len(value.keys):
            raise InputError(
                "CHECKS is read without running the file, so it must be a plain table",
                file=str(path),
                line=node.lineno,
                found=shortened(ast.unparse(value), 80),
                expected='{"text or id of an expectation": function, …}',
            )
        return texts
    return []


def _assigned(node: ast.stmt) -> ast.expr | None:
    """What the statement assigns to `CHECKS`."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return None
    return node.value if any(isinstance(one, ast.Name) and one.id == "CHECKS" for one in targets) else None
