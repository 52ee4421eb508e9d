"""The author's own code, run in the trial's sandbox by way of `driver.py`: never in our process, never with keys."""

from __future__ import annotations

import dataclasses
import io
import json
import re
import secrets
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.graders.words import shortened
from skill_assay.model.transcript import Event, Other
from skill_assay.model.work import CodeResult, Work

__all__ = ["SECONDS", "AuthorCodeError", "evals_files", "run_driver", "transcript_as_data"]

SECONDS = 120.0
"""How long one launch of the author's code may take."""
EVALS_LIMIT = 20_000_000
"""Bytes of the evals folder sent along: Python files first, then the smallest."""
TRANSCRIPT_LIMIT = 20_000_000

_DRIVER = Path(__file__).with_name("driver.py")
_LEFT_OUT = {"__pycache__", ".git", ".venv", "node_modules"}


class AuthorCodeError(Exception):
    """The author's code could not be run to its end; the message says how it ended."""


async def run_driver(work: Work, request: Mapping[str, Any], *, timeout: float = SECONDS) -> list[dict[str, Any]]:
    """Run the driver in a copy of the outputs.

    Args:
        work: the trial.
        request: `{"calls": [{key, function, mapped?, arguments}]}` or `{"program": argv}`.
        timeout: seconds.

    Returns:
        What it told, one object a verdict. Of calls that it did not come to, the error says which one ended it.

    Raises:
        AuthorCodeError: it was ended by the time limit, or ended without telling anything.
    """
    token, marker = secrets.token_hex(8), f"assay-{secrets.token_hex(16)}:"
    driver, bundle = f".assay-{token}.py", f".assay-{token}.zip"
    result = await work.code.run(
        [sys.executable, "-I", driver, bundle, marker],
        files=work.outputs if work.outputs.is_dir() else None,
        extra={driver: _DRIVER.read_bytes(), bundle: _bundle(work, request)},
        timeout=timeout,
    )
    lines = list(_told(result, marker))
    told = [line for line in lines if "started" not in line]
    started = [str(line["started"]) for line in lines if "started" in line]
    calls = request.get("calls", ())
    if not started and not told:
        raise AuthorCodeError(_how_it_ended(result, timeout))
    return [*told, *_undone(calls[len(told) :], started[-1:], _how_it_ended(result, timeout))]


def _told(result: CodeResult, marker: str) -> Iterator[dict[str, Any]]:
    for line in result.stdout.splitlines():
        if line.startswith(marker):
            try:
                yield json.loads(line.removeprefix(marker))
            except ValueError:
                continue


def _undone(calls: Sequence[Mapping[str, Any]], last: Sequence[str], ended: str) -> Iterator[dict[str, Any]]:
    """Errors for the call that never came back, and for those after it, which name it: they are not at fault."""
    for place, call in enumerate(calls):
        reason = f"not called: {last[0]}() came before it, and {ended}" if place and last else ended
        yield {"key": call["key"], "error": reason}


def _how_it_ended(result: CodeResult, timeout: float) -> str:
    if result.timed_out:
        return f"it took more than {timeout:g} seconds and was ended"
    last = result.stderr.strip().splitlines()[-1:] or [""]
    said = f": {shortened(last[0], 200)}" if last[0] else ""
    return f"it ended with exit code {result.exit_code} before it decided anything{said}"


def _bundle(work: Work, request: Mapping[str, Any]) -> bytes:
    whole = {**request, "answer": work.answer, "eval": _eval_as_data(work)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("request.json", json.dumps(whole))
        archive.writestr("transcript.json", json.dumps(transcript_as_data(work.events), default=str))
        for name, path in evals_files(work.evals_root):
            archive.write(path, f"evals/{name}")
    return buffer.getvalue()


def evals_files(root: Path | None) -> Iterator[tuple[str, Path]]:
    """What of the evals folder goes along: regular files, and no link that leads out of it."""
    if root is None or not root.is_dir():
        return
    files = []
    for path in root.rglob("*"):
        parts = path.relative_to(root).parts
        if path.is_file() and not _LEFT_OUT.intersection(parts):
            files.append((path.suffix != ".py", path.stat().st_size, "/".join(parts), path))
    left = EVALS_LIMIT
    for _, size, name, path in sorted(files, key=lambda file: file[:3]):
        left -= size
        if left >= 0 and path.resolve().is_relative_to(root.resolve()):
            yield name, path


def _eval_as_data(work: Work) -> dict[str, Any]:
    one = work.eval
    return {
        "id": one.original_id if one.original_id is not None else one.id,
        "name": one.name,
        "prompt": one.prompt,
        "expected_output": one.expected_output,
        "expectations": [expectation.text for expectation in one.expectations],
        "files": list(one.files),
        "tags": list(one.tags),
    }


def transcript_as_data(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The events as objects with a `type` (`text`, `tool_call`, `tool_result`, `skill_use`, `finished`, …)."""
    left, data = TRANSCRIPT_LIMIT, []
    for event in events:
        if isinstance(event, Other):
            continue
        kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
        fields = {"type": kind, **dataclasses.asdict(event)}
        left -= len(str(fields))
        if left < 0:
            data.append({"type": "cut"})
            break
        data.append(fields)
    return data
