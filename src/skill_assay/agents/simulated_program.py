"""The simulated agent's process: plays the steps it is given, one after the other.

It is started for every simulated attempt, so it imports nothing it does not need just then; the steps come by
standard input as `marshal` data, which is the cheapest form between two processes of one interpreter. What is in
them was decided by `skill_assay.agents.simulated`; nothing here is random.

Steps: ("print", line) · ("write", path, content) · ("run", call id, command) · ("read", path, line if it can be
read, line if not) · ("sleep", seconds) · ("exit", code, message).
"""

# A path object would double the start.
# ruff: noqa: PTH103, PTH120, PTH123
import marshal
import sys

__all__ = ["play"]

_OUTPUT_LIMIT = 20_000


def play(steps: list) -> None:  # type: ignore[type-arg]
    """Play every step; each line is flushed, as an agent's is."""
    for step in steps:
        _STEPS[step[0]](*step[1:])


def _print(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


def _write(path: str, content: bytes) -> None:
    import os

    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def _run(call_id: str, command: str) -> None:
    import json
    import subprocess

    done = subprocess.run(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    text = (done.stdout + done.stderr)[-_OUTPUT_LIMIT:].decode("utf-8", "replace")
    result = {"type": "tool_result", "call_id": call_id, "text": text, "is_error": done.returncode != 0}
    _print(json.dumps(result).encode())


def _read(path: str, readable: bytes, unreadable: bytes) -> None:
    try:
        with open(path, "rb") as file:
            file.read()
    except OSError:
        _print(unreadable)
    else:
        _print(readable)


def _sleep(seconds: float) -> None:
    import time

    time.sleep(seconds)


def _exit(code: int, message: str) -> None:
    sys.stderr.write(message)
    sys.exit(code)


_STEPS: dict = {"print": _print, "write": _write, "run": _run, "read": _read, "sleep": _sleep, "exit": _exit}  # type: ignore[type-arg]

if __name__ == "__main__":
    play(marshal.loads(sys.stdin.buffer.read()))
