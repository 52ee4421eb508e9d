from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.model.money import Spend
from skill_assay.workspace.journal import Journal, JournalState, Lock, replay
from skill_assay.workspace.writing import Writer


def journal(path: Path) -> Journal:
    return Journal(path, Writer(), clock=lambda: 0.0)


def test_a_line_is_readable_at_once_and_dated(tmp_path: Path) -> None:
    journal(tmp_path / "j.jsonl").write("opened", shard=None)
    [line] = (tmp_path / "j.jsonl").read_text().splitlines()
    assert json.loads(line) == {"at": "1970-01-01T00:00:00.000000Z", "what": "opened", "shard": None}


def test_fault_08_a_line_is_synced_before_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append((tmp_path / "j.jsonl").read_bytes()))
    journal(tmp_path / "j.jsonl").write("opened")
    assert [b'"opened"' in content for content in synced] == [True]


def test_fault_08_replay_knows_attempts_money_states_and_what_still_runs(tmp_path: Path) -> None:
    log = journal(tmp_path / "j.jsonl")
    log.write("reserved", reservation=1, usd=0.5, tokens=10, launches=1)
    log.write("attempt_started", trial="e/a/1", attempt=1, pid=10, pid_started=1.5, pgid=10, host="h")
    log.write("attempt_ended", trial="e/a/1", attempt=1, failure="overloaded")
    log.write("settled", reservation=1, usd=0.25, tokens=7, launches=1)
    log.write("reserved", reservation=2, usd=0.5, tokens=10, launches=1)
    log.write("attempt_started", trial="e/a/1", attempt=2, pid=11, pid_started=2.5, pgid=11, host="h")
    log.write("trial_state", trial="e/b/1", state="completed")
    state = replay(tmp_path / "j.jsonl")
    assert state.attempts == {"e/a/1": 2}
    assert state.states == {"e/b/1": "completed"}
    assert state.spent == Spend(0.25, 7, 1)
    assert state.unsettled == Spend(0.5, 10, 1, assumed_usd=0.5)
    [running] = state.running
    assert (running.pid, running.started, running.pgid, running.attempt) == (11, 2.5, 11, 2)
    log.write("reaped", pid=11)
    assert replay(tmp_path / "j.jsonl").running == ()


def test_what_no_bill_told_is_known_as_such_in_later_sessions(tmp_path: Path) -> None:
    log = journal(tmp_path / "j.jsonl")
    log.write("settled", usd=0.75, tokens=7, launches=1, assumed_usd=0.5)
    log.write("settled", usd=0.25, tokens=7, launches=1)
    assert replay(tmp_path / "j.jsonl").spent == Spend(1.0, 14, 2, assumed_usd=0.5)


def test_fault_08_a_torn_last_line_spoils_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal(path).write("attempt_started", trial="t", attempt=1)
    with path.open("ab") as file:
        file.write(b'{"at": "x", "what": "attempt_star')
    assert replay(path).attempts == {"t": 1}
    journal(path).write("attempt_started", trial="t", attempt=2)
    state = replay(path)
    assert state.attempts == {"t": 2}
    assert state.unreadable == 1


def test_no_journal_tells_nothing_and_shards_are_joined(tmp_path: Path) -> None:
    assert replay(tmp_path / "none.jsonl") == JournalState()
    journal(tmp_path / "1").write("settled", usd=1.0, tokens=1, launches=1)
    journal(tmp_path / "2").write("settled", usd=2.0, tokens=1, launches=1)
    assert replay([tmp_path / "1", tmp_path / "2"]).spent == Spend(3.0, 2, 2)


FACTS = st.sampled_from(["attempt_started", "attempt_ended", "reserved", "settled", "trial_state", "reaped"])
ODD = st.sampled_from(["null", "Infinity", "[]", "{}", '"x"', "1", "-1e999"])
LINE = st.builds('{{"what": "{}", "trial": {}, "attempt": {}, "pid": {}, "usd": {}}}'.format, FACTS, ODD, ODD, ODD, ODD)


@given(st.lists(st.binary(max_size=60) | LINE.map(str.encode), max_size=8))
def test_replay_survives_any_content(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("j") / "j.jsonl"
    path.write_bytes(b"\n".join(lines))
    state = replay(path)
    assert 0 <= state.unreadable <= state.lines <= sum(line.count(b"\n") + 1 for line in lines)


HOLD = """
import sys, time
from pathlib import Path
from skill_assay.workspace.journal import Lock
with Lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_the_second_is_told_who_holds_it_and_a_dead_holder_holds_nothing(tmp_path: Path) -> None:
    lock = tmp_path / "journal.lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(InputError, match=f"process {holder.pid} on "):
            Lock(lock).acquire()
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.communicate()
    with Lock(lock):
        pass


def test_a_lock_keeps_out_the_same_process_too_and_opens_again(tmp_path: Path) -> None:
    with Lock(tmp_path / "l"), pytest.raises(InputError, match=f"process {os.getpid()}"):
        Lock(tmp_path / "l").acquire()
    with Lock(tmp_path / "l"):
        pass
