"""An agent that does everything wrong, one fault a mode: `python -I -S faulty_agent.py MODE [ARGUMENT …]`.

Strays carry their token in their command line, so a test can look for them whatever session, parent or environment
they have.
"""

# Without pathlib it starts in half the time.
# ruff: noqa: PTH110, PTH123, PTH208
from __future__ import annotations

import os
import resource
import signal
import sys
import time

STRAY_SECONDS = 120.0
"""How long anything here lives at most."""
LINE = b'{"type": "text", "text": "working"}\n'


def say(text: str) -> None:
    print(text, flush=True)


def hang() -> None:
    time.sleep(STRAY_SECONDS)


def ignore_term() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def mode_hang() -> None:
    say("ready")
    hang()


def mode_stubborn() -> None:
    """Ignores the end signal."""
    ignore_term()
    say("ready")
    hang()


def mode_polite() -> None:
    """Says goodbye on the end signal, with a last line."""

    def bye(number: int, frame: object) -> None:
        # Not print: the signal may come while that still holds its buffer.
        os.write(1, b"bye\n")
        os._exit(7)

    signal.signal(signal.SIGTERM, bye)
    signal.signal(signal.SIGINT, bye)
    say("ready")
    hang()


def mode_strays(token: str, then: str = "hang", *kinds: str) -> None:
    """Leaves grandchildren of every kind, then hangs, or exits at once."""
    for kind in kinds or ("session", "daemon", "naked", "refork"):
        if os.fork() == 0:
            stray(kind, token)
    while then != "exit-quickly" and not all_ready(token, kinds or ("session", "daemon", "naked", "refork")):
        time.sleep(0.005)
    say("ready")
    if then == "hang":
        hang()


def all_ready(token: str, kinds: tuple[str, ...]) -> bool:
    return all(os.path.exists(f"ready-{token}-{kind}") for kind in kinds)


def stray(kind: str, token: str) -> None:
    ignore_term()
    os.setsid()
    if kind in ("daemon", "naked") and os.fork():
        os._exit(0)
    environment = {} if kind == "naked" else dict(os.environ)
    os.execve(sys.executable, [sys.executable, "-I", "-S", __file__, "stray", kind, token], environment)


def mode_stray(kind: str, token: str) -> None:
    ignore_term()
    open(f"ready-{token}-{kind}", "w").close()
    # Were it to survive its test, it must not hold the machine for ever.
    give_up = time.monotonic() + STRAY_SECONDS
    while kind == "refork" and time.monotonic() < give_up:
        if os.fork():
            os._exit(0)
    if kind != "refork":
        hang()


def mode_flood(count: str) -> None:
    """A flood of lines on both streams, then a last one."""
    block = LINE * 1000
    for _ in range(int(count) // len(block)):
        os.write(1, block)
        os.write(2, b"x" * 500 + b"\n")
    say("done")


def mode_half() -> None:
    """Lines in pieces, some of them split inside a character."""
    for piece in ("dé".encode()[:2], "é".encode()[1:] + b"but\n", b"second", b" half\r", b"\nlast without end"):
        os.write(1, piece)
        time.sleep(0.01)


def mode_long(count: str) -> None:
    """One line of many bytes between two short ones."""
    say("before")
    sys.stdout.write("x" * int(count) + "\n")
    say("after")


def mode_invalid() -> None:
    """Bytes that are no UTF-8, on both streams."""
    os.write(1, b'{"text": "\xff\xfe\xc3"}\nfine\n')
    os.write(2, b"\xc3\x28 oops\n")


def mode_error0() -> None:
    """An error, and a status that says all is well."""
    sys.stderr.write("Error: 401 Unauthorized\n")


def mode_midwrite() -> None:
    """Dies in the middle of a line."""
    os.write(1, b'{"type": "text"}\n{"type": "tex')
    os.kill(os.getpid(), signal.SIGKILL)


def mode_fill(path: str, cap: str) -> None:
    """Writes until the disk (here: a cap on the size of a file) takes no more."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(cap), int(cap)))
    with open(path, "wb", buffering=0) as file:
        while file.write(b"x" * 65536):
            pass


def mode_echo() -> None:
    """Says what it was told."""
    data = sys.stdin.buffer.read()
    say(f"{len(data)} {data[:20]!r}")


def mode_open_stdout(token: str) -> None:
    """Ends while a grandchild in a session of its own keeps the standard output open."""
    mode_strays(token, "exit", "daemon")


def mode_descriptors() -> None:
    """Says which descriptors it was born with, and what it ignores."""
    say(",".join(sorted(os.listdir("/proc/self/fd"), key=int)))
    with open("/proc/self/status") as file:
        say(next(line.split()[1] for line in file if line.startswith("SigIgn")))
    say(f"{os.getsid(0) == os.getpid()} {os.getpgid(0) == os.getpid()}")


if __name__ == "__main__":
    globals()[f"mode_{sys.argv[1]}"](*sys.argv[2:])
