"""Whatever an agent does, we hear what it said, and nothing of it is left."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from skill_assay.agents.launcher import start_time
from skill_assay.agents.process import Exit, Identity, run
from skill_assay.model.place import Launch
from tests.agents.stray_tools import alive, faulty, fresh_token, go

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not here: the strays are looked for in /proc")


@pytest.fixture
def token() -> Iterator[str]:
    with fresh_token() as text:
        yield text


def test_an_ordinary_end() -> None:
    seen: list[Identity] = []
    end, lines = go(Launch(["/bin/sh", "-c", "echo one; echo two; echo oops >&2; exit 3"]), on_start=seen.append)
    assert (end.exit_code, lines, end.stderr, end.timed_out, end.ended_early) == (
        3,
        [b"one", b"two"],
        "oops\n",
        False,
        None,
    )
    assert seen == [end.identity]
    assert 0 < (end.first_line_seconds or 0) <= end.wall_seconds


def test_standard_error_can_be_followed_line_by_line() -> None:
    errors: list[bytes] = []

    def see(line: bytes) -> str | None:
        errors.append(line)
        return "enough" if line == b"two" else None

    launch = Launch(["/bin/sh", "-c", "echo out; echo one >&2; echo two >&2; sleep 60"])
    end, lines = go(launch, on_error_line=see)
    assert (end.ended_early, errors, lines, end.stderr) == ("enough", [b"one", b"two"], [b"out"], "one\ntwo\n")


def test_the_last_piece_of_standard_error_is_a_line() -> None:
    errors: list[bytes] = []
    go(Launch(["/bin/sh", "-c", "printf last >&2"]), on_error_line=errors.append)
    assert errors == [b"last"]


def test_the_identity_names_the_launcher_and_the_programs_group() -> None:
    checked: list[bool] = []

    def look(identity: Identity) -> None:
        group = os.getpgid(identity.pgid)
        checked.append(group == identity.pgid != os.getpgid(0))
        checked.append(start_time(identity.pid) == identity.started is not None)
        checked.append(start_time(identity.pgid) == identity.program_started is not None)

    go(faulty("hang"), lambda line: "seen", on_start=look)
    assert checked == [True, True, True]


def test_the_program_is_born_clean() -> None:
    _, lines = go(faulty("descriptors"))
    # The fourth is the folder being listed. Python ignores SIGPIPE (13) and SIGXFSZ (25) of its own accord.
    ignored = int(lines[1], 16) & 0x7FFF_FFFF
    assert (lines[0], ignored, lines[2]) == (b"0,1,2,3", 1 << 12 | 1 << 24, b"True True")


def test_its_environment_is_the_launchs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hidden")
    _, lines = go(Launch(["/usr/bin/env"], {"ONE": "1", "BYTES": "\udcff"}))
    assert sorted(lines) == [b"BYTES=\xff", b"ONE=1"]


@pytest.mark.parametrize("argv", [["no-such-program"], ["/no/such/program"], ["/etc/passwd"]])
def test_what_cannot_be_launched_says_why(argv: list[str]) -> None:
    end, lines = go(Launch(argv, {"PATH": "/usr/bin"}))
    assert end.launch_error and argv[0] in end.launch_error
    assert (end.exit_code, end.identity, lines) == (None, None, [])


def test_a_missing_working_directory_is_a_launch_error() -> None:
    end, _ = go(Launch(["/bin/true"], cwd=Path("/no/such/folder")))
    assert end.launch_error and "/no/such/folder" in end.launch_error


def test_the_time_limit_ends_it() -> None:
    end, lines = go(faulty("hang"), time_limit=0.5)
    assert (end.timed_out, end.exit_code, lines) == (True, -signal.SIGTERM, [b"ready"])


def test_a_limit_of_nothing_ends_it_before_it_starts() -> None:
    end, lines = go(faulty("hang"), time_limit=0.0)
    assert (end.timed_out, end.exit_code, end.identity, lines) == (True, None, None, [])


def test_the_end_signal_is_the_launchs() -> None:
    end, _ = go(Launch(["/bin/sleep", "60"], end_signal="INT"), time_limit=0.2)
    assert (end.timed_out, end.exit_code) == (True, -signal.SIGINT)


def test_one_that_ignores_the_end_signal_is_killed_after_the_grace() -> None:
    end, _ = go(faulty("stubborn"), lambda line: "enough", grace=0.3)
    assert (end.ended_early, end.timed_out, end.exit_code) == ("enough", False, -signal.SIGKILL)
    assert end.wall_seconds >= 0.3


def test_a_text_from_on_line_ends_it_and_its_last_words_are_heard() -> None:
    end, lines = go(faulty("polite"), lambda line: f"saw {line.decode()}", grace=20)
    assert (end.ended_early, end.exit_code, lines) == ("saw ready", 7, [b"ready", b"bye"])


def test_what_on_line_raises_comes_out_and_the_program_is_ended(token: str, tmp_path: Path) -> None:
    def broken(line: bytes) -> str | None:
        raise ValueError(line)

    with pytest.raises(ValueError, match="ready"):
        go(faulty("strays", token, "hang", "daemon", cwd=tmp_path), broken)
    assert not alive(token)


def test_a_flood_is_read_as_it_comes() -> None:
    count = 0

    def tally(line: bytes) -> None:
        nonlocal count
        count += 1

    async def main() -> Exit:
        return await run(faulty("flood", "30000000"), on_line=tally, time_limit=60, stderr_limit=1000)

    end = anyio.run(main)
    assert end.exit_code == 0
    assert (count, end.stdout_bytes) == (30_000_000 // 36_000 * 1000 + 1, 30_000_000 // 36_000 * 36_000 + 5)
    assert len(end.stderr) == 1000 < end.stderr_bytes


def test_a_slow_reader_holds_the_program_back() -> None:
    """Back-pressure: the output waits in the pipe, not in our memory."""
    end, lines = go(
        faulty("flood", "3000000"),
        lambda line: time.sleep(0.05) if len(lines_seen) < 3 and not lines_seen.append(1) else None,
    )
    assert (end.exit_code, lines[-1]) == (0, b"done")


lines_seen: list[int] = []


def test_half_lines_are_joined() -> None:
    _, lines = go(faulty("half"))
    assert lines == ["début".encode(), b"second half", b"last without end"]


def test_a_line_of_50_mb_comes_whole() -> None:
    end, lines = go(faulty("long", "50000000"))
    assert (list(map(len, lines)), end.overlong_lines) == ([6, 50_000_000, 5], 0)


def test_a_line_over_the_limit_is_cut_and_reported() -> None:
    end, lines = go(faulty("long", "50000"), max_line=1000)
    assert (list(map(len, lines)), end.overlong_lines) == ([6, 1000, 5], 1)


def test_invalid_utf8_harms_nothing() -> None:
    end, lines = go(faulty("invalid"))
    assert lines == [b'{"text": "\xff\xfe\xc3"}', b"fine"]
    assert end.stderr == "\ufffd( oops\n"


def test_an_error_with_status_0_keeps_its_error() -> None:
    end, lines = go(faulty("error0"))
    assert (end.exit_code, lines, end.stderr) == (0, [], "Error: 401 Unauthorized\n")


def test_one_that_dies_in_the_middle_of_a_line() -> None:
    end, lines = go(faulty("midwrite"))
    assert (end.exit_code, lines) == (-signal.SIGKILL, [b'{"type": "text"}', b'{"type": "tex'])


def test_one_that_fills_the_disk(tmp_path: Path) -> None:
    end, _ = go(faulty("fill", str(tmp_path / "big"), "1000000"))
    assert end.exit_code == 1
    assert "File too large" in end.stderr


def test_standard_input_is_handed_over() -> None:
    _, lines = go(faulty("echo", stdin=b"ab" * 1_000_000))
    assert lines == [b"2000000 b'abababababababababab'"]


def test_standard_input_is_closed_otherwise() -> None:
    assert go(faulty("echo"))[1] == [b"0 b''"]


def test_one_that_reads_no_standard_input_is_not_waited_for() -> None:
    end, _ = go(Launch(["/bin/true"], stdin=b"x" * 10_000_000))
    assert end.exit_code == 0


def test_the_feed_is_read_from_a_descriptor_and_seen_nowhere() -> None:
    line = "cat /dev/fd/$1; tr '\\0' ' ' < /proc/$$/cmdline"
    words = ["/bin/sh", "-c", line, "{feed} stays", "{feed}", "{feed}"]
    _, lines = go(Launch(words, {"PATH": "/usr/bin:/bin"}, feed=b"hidden\n"))
    shown = b"".join(lines[1:]).decode()
    assert lines[0] == b"hidden"
    assert "hidden" not in shown
    first, second = shown.split()[-2:]
    assert first.isdecimal()
    assert second == "{feed}"
    assert "{feed} stays" in shown
