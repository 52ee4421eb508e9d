"""The tools of the built-in agent. Files are those of the working directory and no others, links included.

Whatever a tool gives back is bounded. A shell command sees the environment it is handed, which holds no credential.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from typing import IO, Any

from skill_assay.agents.api_skills import Installed, opened

__all__ = ["TOOLS", "ToolError", "Toolbox", "sendable"]

_TEXT = 40_000
"""Characters of a result."""
_LINE = 2_000
_LINES = 2_000
_ENTRIES = 1_000
_FILE_BYTES = 20_000_000
_SECONDS, _MOST_SECONDS = 120, 600
_PIPE = 1 << 16
"""Bytes that can lie in a pipe: so much of a command's own output may be there when it has ended."""


class ToolError(Exception):
    """A call failed or was refused; the model is told why."""


def _tool(name: str, description: str, needed: Mapping[str, str], more: Mapping[str, Any] | None = None) -> Any:
    properties = {key: {"type": "string", "description": about} for key, about in needed.items()}
    schema = {"type": "object", "properties": {**properties, **(more or {})}, "required": list(needed)}
    return name, description, {**schema, "additionalProperties": False}


_WHERE = "Path, relative to the working directory"
TOOLS: Sequence[tuple[str, str, Mapping[str, Any]]] = (
    _tool(
        "read",
        "Read a text file of the working directory.",
        {"path": _WHERE},
        {
            "offset": {"type": "integer", "description": "First line, counted from 1"},
            "limit": {"type": "integer", "description": f"Number of lines; at most {_LINES}"},
        },
    ),
    _tool("write", "Write a file, in place of any there was.", {"path": _WHERE, "content": "Its whole text"}),
    _tool(
        "edit",
        "Replace a piece of text in a file. It must be there exactly once, unless all is true.",
        {"path": _WHERE, "old": "The text there is", "new": "The text to put in its place"},
        {"all": {"type": "boolean", "description": "Replace it wherever it is"}},
    ),
    _tool(
        "list",
        "List a folder of the working directory.",
        {},
        {"path": {"type": "string", "description": f"{_WHERE}; the working directory itself if left out"}},
    ),
    _tool(
        "bash",
        "Run a shell command in the working directory; its output and errors come back together.",
        {"command": "The command line"},
        {"timeout": {"type": "integer", "description": f"Seconds; {_SECONDS} if left out, at most {_MOST_SECONDS}"}},
    ),
    _tool(
        "skill",
        "Open a skill: its instructions come back. Call it before anything else when a skill fits the task.",
        {"name": "Name of the skill, as it is listed"},
    ),
)
"""Name, description and JSON schema of the input, the same in every arm."""


class Toolbox:
    """Carries out tool calls, one at a time.

    Args:
        work: the working directory.
        skills: those that can be opened.
        env: the environment of shell commands.
    """

    def __init__(self, work: Path, skills: Sequence[Installed], env: Mapping[str, str]) -> None:
        self._root = Path(os.path.realpath(work))
        self._skills = skills
        self._env = dict(env)
        self._calls: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
            "read": self._read,
            "write": self._write,
            "edit": self._edit,
            "list": self._list,
            "bash": self._bash,
            "skill": lambda given: opened(self._skills, _text(given, "name")),
        }

    def call(self, name: str, given: Mapping[str, Any]) -> tuple[str, bool]:
        """What a call gives back, and whether it is an error. Never raises."""
        call = self._calls.get(name)
        if call is None:
            return f"Unknown tool: {name}", True
        try:
            return sendable(call(given)), False
        except LookupError as error:
            return sendable(str(error.args[0])), True
        except (ToolError, OSError, ValueError) as error:
            return sendable(str(error)), True

    def _inside(self, path: str) -> Path:
        """The file meant, links followed to their end."""
        real = Path(os.path.realpath(self._root / path))
        if not real.is_relative_to(self._root):
            raise ToolError(f"{path} lies outside the working directory, which is all that can be reached")
        return real

    def _file(self, path: str) -> Path:
        file = self._inside(path)
        if file.is_dir():
            raise ToolError(f"{path} is a folder")
        if not file.is_file():
            raise ToolError(f"{path} is no file" if os.path.lexists(file) else f"There is no file {path}")
        if file.stat().st_size > _FILE_BYTES:
            raise ToolError(f"{path} is too large ({file.stat().st_size} bytes)")
        return file

    def _read(self, given: Mapping[str, Any]) -> str:
        path = _text(given, "path")
        data = self._file(path).read_bytes()
        if b"\0" in data[:8192]:
            raise ToolError(f"{path} is no text ({len(data)} bytes)")
        first = max(1, _whole(given, "offset", 1))
        count = min(_LINES, max(1, _whole(given, "limit", _LINES)))
        lines = data.decode("utf-8", "replace").splitlines()
        shown, room = list[str](), _TEXT
        for line in lines[first - 1 : first - 1 + count]:
            cut = line if len(line) <= _LINE else f"{line[:_LINE]} [… {len(line) - _LINE} more characters]"
            room -= len(cut) + 1
            if room < 0:
                break
            shown.append(cut)
        after = first + len(shown)
        if after <= len(lines):
            shown.append(f"[{len(lines) - after + 1} more lines; read on with offset={after}]")
        return "\n".join(shown) or "[empty]"

    def _write(self, given: Mapping[str, Any]) -> str:
        path, content = _text(given, "path"), _text(given, "content").encode("utf-8", "surrogatepass")
        self._put(path, content)
        return f"Wrote {len(content)} bytes to {path}"

    def _put(self, path: str, content: bytes) -> None:
        file = self._inside(path)
        if file.exists() and not file.is_file():
            raise ToolError(f"{path} is no file")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def _edit(self, given: Mapping[str, Any]) -> str:
        path, old, new = (_text(given, key) for key in ("path", "old", "new"))
        # Bytes that are no UTF-8 stay as they are.
        text = self._file(path).read_bytes().decode("utf-8", "surrogateescape")
        if old not in text and "\r\n" in text:
            # Reading shows lines without the ends they have in the file.
            old, new = (piece.replace("\r\n", "\n").replace("\n", "\r\n") for piece in (old, new))
        times = text.count(old) if old else 0
        if not times:
            raise ToolError(f"That text is not in {path}")
        if times > 1 and given.get("all") is not True:
            raise ToolError(f"That text is in {path} {times} times; give more of it, or all=true")
        self._put(path, text.replace(old, new).encode("utf-8", "surrogateescape"))
        return f"Replaced {times} {'piece' if times == 1 else 'pieces'} in {path}"

    def _list(self, given: Mapping[str, Any]) -> str:
        path = str(given.get("path") or ".")
        folder = self._inside(path)
        if not folder.is_dir():
            raise ToolError(f"There is no folder {path}")
        names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in os.scandir(folder))
        more = [f"[{len(names) - _ENTRIES} more]"] if len(names) > _ENTRIES else []
        return "\n".join([*names[:_ENTRIES], *more]) or "[empty]"

    def _bash(self, given: Mapping[str, Any]) -> str:
        seconds = min(_MOST_SECONDS, max(1, _whole(given, "timeout", _SECONDS)))
        output, status = _run(_text(given, "command"), self._root, self._env, seconds)
        if status is None:
            raise ToolError(f"{output}\n[ended after {seconds} seconds]".lstrip())
        if status != 0:
            raise ToolError(f"{output}\n[exit code {status}]".lstrip())
        return output or "[no output]"


def _run(command: str, folder: Path, env: Mapping[str, str], seconds: float) -> tuple[str, int | None]:
    """Output and exit code; `None`: ended at its time limit. What it leaves in the background is not waited for."""
    shell = shutil.which("bash", path=env.get("PATH")) or "/bin/sh"
    process = subprocess.Popen(
        [shell, "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    kept, limit = _Kept(), time.monotonic() + seconds
    left = _follow(process, process.stdout, kept, limit)
    status = process.poll()
    if status is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if left:
        # What goes on in the background writes on, and would be ended or held up by a pipe that nobody reads.
        Thread(target=_discard, args=(process.stdout,), daemon=True).start()
    else:
        process.stdout.close()
    return kept.text(), status


def _follow(process: subprocess.Popen[bytes], pipe: IO[bytes], kept: _Kept, limit: float) -> bool:
    """Keep what a command prints until it ends, or the limit; whether another still holds the pipe open."""
    room, closed = _PIPE, False
    while time.monotonic() < limit and room > 0:
        ended = process.poll() is not None
        if not closed and select.select([pipe], [], [], 0 if ended else 0.02)[0]:
            data = os.read(pipe.fileno(), _PIPE)
            kept.add(data)
            closed = not data
            room -= len(data) if ended else 0
        elif ended:
            break
        elif closed:
            time.sleep(0.02)
    return not closed


def _discard(pipe: IO[bytes]) -> None:
    with pipe:
        while os.read(pipe.fileno(), _PIPE):
            pass


class _Kept:
    """The beginning and the end of an output of any length."""

    def __init__(self) -> None:
        self._head, self._tail, self._left_out = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        room = _TEXT // 2 - len(self._head)
        self._head += data[:room]
        self._tail += data[max(0, room) :]
        over = max(0, len(self._tail) - _TEXT // 2)
        self._left_out += over
        del self._tail[:over]

    def text(self) -> str:
        """With a note in the middle where something is missing."""
        note = f"\n[… {self._left_out} bytes left out …]\n".encode() if self._left_out else b""
        return bytes(self._head + note + self._tail).decode("utf-8", "replace").rstrip("\n")


def sendable(text: str) -> str:
    """Without what no request can hold: a file's name may be of bytes that are no text."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _text(given: Mapping[str, Any], key: str) -> str:
    value = given.get(key)
    if not isinstance(value, str):
        raise ToolError(f"The input needs {key}, a text")
    return value


def _whole(given: Mapping[str, Any], key: str, default: int) -> int:
    value = given.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else default
