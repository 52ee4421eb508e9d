"""Scripts that several runs wrote again, each for itself: work that belongs into the skill."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skill_assay.graders.outputs import Unreadable, read_text
from skill_assay.improve.consistency import output_files
from skill_assay.model.benchmark import Run
from skill_assay.model.transcript import Event, ToolCall

__all__ = ["ENDINGS", "Repeated", "repeated_scripts", "scripts_in"]

ENDINGS = frozenset({".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".r", ".ps1", ".sql"})
ALIKE = 0.6
"""Share of common runs of four words from which two scripts are nearly the same."""
LEAST_LINES = 5
_SHINGLE = 4
_MOST = 200
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?([^\n]*)\n(.*?)\n\s*\1\b", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Repeated:
    """One script in several runs."""

    runs: tuple[str, ...]
    files: tuple[str, ...]
    """What they called it."""
    similarity: float
    """The least of the pairs that tie the group together."""
    lines: int
    """Of the longest."""
    text: str
    """The longest of them, for whoever moves it into the skill."""


@dataclass(frozen=True, slots=True)
class _Script:
    run: str
    file: str
    text: str
    shingles: frozenset[tuple[str, ...]]


def scripts_in(events: Iterable[Event]) -> Iterator[tuple[str, str]]:
    """Scripts an agent wrote on the way: files of a script's ending, and here-documents of its commands."""
    for event in events:
        if not isinstance(event, ToolCall):
            continue
        path = next(
            (event.input[key] for key in ("file_path", "path", "filename") if isinstance(event.input.get(key), str)), ""
        )
        content = next(
            (event.input[key] for key in ("content", "file_text") if isinstance(event.input.get(key), str)), ""
        )
        if content and PurePosixPath(path).suffix.lower() in ENDINGS:
            yield PurePosixPath(path).name, content
        command = event.input.get("command")
        if isinstance(command, str):
            for match in _HEREDOC.finditer(command[:200_000]):
                yield "here-document", match[3]


def repeated_scripts(
    root: Path, runs: Sequence[Run], scripts: Mapping[str, Iterable[tuple[str, str]]]
) -> list[Repeated]:
    """Groups of nearly the same script in at least two runs, the most frequent first.

    Args:
        root: the iteration.
        runs: of the arm that has the skill.
        scripts: run folder → further scripts (name, text) beside those among the outputs.
    """
    found = [one for run in runs for one in _of_run(root, run.folder, scripts.get(run.folder, ()))][:_MOST]
    leader = list(range(len(found)))
    weakest: dict[int, float] = {}
    for i, first in enumerate(found):
        for j in range(i + 1, len(found)):
            alike = _similarity(first, found[j])
            if alike >= ALIKE:
                a, b = _root(leader, i), _root(leader, j)
                low = min(alike, weakest.get(a, 1.0), weakest.get(b, 1.0))
                leader[b] = a
                weakest[a] = low
    groups: dict[int, list[_Script]] = {}
    for i, one in enumerate(found):
        groups.setdefault(_root(leader, i), []).append(one)
    made = [_group(rows, weakest.get(key, 1.0)) for key, rows in groups.items() if len({one.run for one in rows}) > 1]
    return sorted(made, key=lambda one: (-len(one.runs), one.files))


def _of_run(root: Path, folder: str, more: Iterable[tuple[str, str]]) -> Iterator[_Script]:
    texts: dict[str, str] = {}
    for name in output_files(root / folder):
        if PurePosixPath(name).suffix.lower() in ENDINGS:
            try:
                texts[name] = read_text(root / folder / "outputs", name)
            except Unreadable:
                continue
    for name, text in (*texts.items(), *more):
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) >= LEAST_LINES:
            yield _Script(folder, name, text, _shingles(text))


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = re.findall(r"\w+|[^\w\s]", text)[:20_000]
    return frozenset(tuple(words[i : i + _SHINGLE]) for i in range(max(1, len(words) - _SHINGLE + 1)))


def _similarity(first: _Script, second: _Script) -> float:
    common = len(first.shingles & second.shingles)
    return common / (len(first.shingles) + len(second.shingles) - common)


def _root(leader: list[int], index: int) -> int:
    while leader[index] != index:
        index = leader[index]
    return index


def _group(rows: Sequence[_Script], similarity: float) -> Repeated:
    longest = max(rows, key=lambda one: len(one.text))
    return Repeated(
        tuple(dict.fromkeys(one.run for one in rows)),
        tuple(dict.fromkeys(one.file for one in rows)),
        similarity,
        len(longest.text.splitlines()),
        longest.text,
    )
