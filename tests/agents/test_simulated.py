"""The simulated agent plays what its script says, as a real process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.simulated import SimulatedAgent
from skill_assay.errors import FailureKind, InputError, NotFoundError
from skill_assay.model.agent import Request
from skill_assay.model.evals import Eval, EvalSet
from skill_assay.model.place import Place
from skill_assay.model.transcript import Event, Finished, SkillUse, Started, Text, ToolCall, ToolResult

KEY = {"seed": 42, "eval": "a", "arm": "with_skill", "repeat": 1, "attempt": 1}


@dataclass
class Room:
    root: Path

    def request(self, *, skill: bool = False, **key: Any) -> Request:
        folders = {name: self.root / name for name in ("work", "home", "config", "tmp")}
        for folder in folders.values():
            folder.mkdir(exist_ok=True)
        place = Place(self.root, **folders)
        request = Request(
            "Do it.",
            place,
            work=str(place.work),
            home=str(place.home),
            tmp=str(place.tmp),
            env={"PATH": os.environ["PATH"]},
            key={**KEY, "arm": "with_skill" if skill else "without_skill", **key},
        )
        if not skill:
            return request
        installed = place.work / ".agents" / "skills" / "expense-report"
        installed.mkdir(parents=True, exist_ok=True)
        (installed / "SKILL.md").write_text("---\nname: expense-report\n---\n", encoding="utf-8")
        (installed / "hello.sh").write_text("echo from the skill > made.txt; echo done", encoding="utf-8")
        return replace(request, skill_folder="expense-report", skill_name="expense-report", skill_path=str(installed))

    def agent(self, behaviours: Any, **more: Any) -> SimulatedAgent:
        path = self.root / "script.json"
        path.write_text(json.dumps({"evals": {"*": {"*": behaviours}}, **more}), encoding="utf-8")
        return SimulatedAgent(str(path))


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def run(agent: SimulatedAgent, request: Request) -> tuple[list[Event], Finished]:
    launch = agent.launch(request)
    done = subprocess.run(
        launch.argv, env=launch.env, cwd=launch.cwd, input=launch.stdin or b"", capture_output=True, check=False
    )
    parser = agent.parser(request)
    events = [event for line in done.stdout.split(b"\n")[:-1] for event in parser.feed(line)]
    return events, parser.end(done.returncode, done.stderr.decode())


def evals(root: Path, *items: Eval) -> EvalSet:
    return EvalSet("s", items, root / "evals" / "evals.json", "")


def test_it_really_writes_runs_and_speaks(room: Room) -> None:
    agent = room.agent(
        {"run": ["echo hi > ran.txt; cat ran.txt", "exit 3"], "write": {"deep/é.txt": "ü"}, "say": "Done."}
    )
    events, finished = run(agent, room.request())
    work = room.root / "work"
    assert (work / "ran.txt").read_text(encoding="utf-8") == "hi\n"
    assert (work / "deep" / "é.txt").read_text(encoding="utf-8") == "ü"
    assert [event for event in events if isinstance(event, ToolCall | ToolResult | Text)] == [
        ToolCall("call-1", "Bash", {"command": "echo hi > ran.txt; cat ran.txt"}),
        ToolResult("call-1", "hi\n"),
        ToolCall("call-2", "Bash", {"command": "exit 3"}),
        ToolResult("call-2", "", is_error=True),
        ToolCall("call-3", "Write", {"file_path": "deep/é.txt", "content": "ü"}),
        ToolResult("call-3", "Wrote 2 bytes to deep/é.txt"),
        Text("Done."),
    ]
    assert isinstance(events[0], Started)
    assert events[0].model == "simulated (script)"
    assert finished.answer == "Done."
    assert finished.usage.turns == 4


def test_what_is_not_scripted_is_unknown(room: Room) -> None:
    usage = run(room.agent({"say": "x"}), room.request())[1].usage
    assert (usage.tokens, usage.cost_usd, usage.seconds) == (None, None, None)


def test_it_runs_the_installed_skills_own_script(room: Room) -> None:
    agent = room.agent({"use_skill": True, "run": 'sh "$SKILL_DIR/hello.sh"', "say": "ok"})
    events, _ = run(agent, room.request(skill=True))
    assert (room.root / "work" / "made.txt").read_text(encoding="utf-8") == "from the skill\n"
    assert SkillUse("expense-report", "tool", confirmed=True, call_id="call-1") in events
    assert ToolResult("call-2", "done\n") in events


def test_without_the_skill_nothing_is_used(room: Room) -> None:
    events, _ = run(room.agent({"use_skill": True, "say": "ok"}), room.request())
    assert not [event for event in events if isinstance(event, SkillUse | ToolCall)]


def test_a_skill_that_is_not_there_is_asked_for_and_not_confirmed(room: Room) -> None:
    events, _ = run(room.agent({"use_skill": "other", "say": "ok"}), room.request(skill=True))
    assert SkillUse("other", "tool", confirmed=False, call_id="call-1") in events
    assert ToolResult("call-1", "Unknown skill: other", is_error=True) in events


def test_amounts_come_out_as_scripted(room: Room) -> None:
    agent = room.agent({"say": "x", "tokens": 31204, "seconds": 41.5, "cost_usd": 0.25, "turns": 9})
    usage = run(agent, room.request())[1].usage
    assert usage.tokens is not None
    assert (usage.tokens.total, usage.tokens.output) == (31204, 3120)
    assert (usage.seconds, usage.cost_usd, usage.turns) == (41.5, 0.25, 9)


def test_only_the_key_decides(room: Room) -> None:
    agent = room.agent([{"say": str(number), "tokens": [1000, 100]} for number in range(50)])

    def stdin(**key: Any) -> bytes | None:
        return agent.launch(room.request(**key)).stdin

    assert stdin(repeat=2) == stdin(repeat=2)
    again = SimulatedAgent(str(room.root / "script.json"))
    assert again.launch(room.request(repeat=2)).stdin == stdin(repeat=2)
    for changed in ({"seed": 1}, {"eval": "b"}, {"arm": "bare"}, {"repeat": 3}, {"attempt": 2}):
        assert stdin(**{"repeat": 2, **changed}) != stdin(repeat=2), changed


def draws(agent: SimulatedAgent, room: Room, count: int) -> list[str]:
    import marshal

    found = []
    for repeat in range(1, count + 1):
        steps = marshal.loads(agent.launch(room.request(repeat=repeat)).stdin or b"")
        found.append(json.loads(steps[-1][1]).get("answer"))
    return found


def test_weights_are_the_truth(room: Room) -> None:
    said = draws(
        room.agent([{"weight": 3, "say": "often"}, {"say": "seldom"}, {"weight": 0, "say": "never"}]), room, 800
    )
    assert "never" not in said
    # 800 draws at 3/4: a standard deviation of 12; four of them.
    assert abs(said.count("often") - 600) < 50


def test_amounts_have_the_scripted_mean_and_spread(room: Room) -> None:
    import marshal

    agent = room.agent({"say": "x", "seconds": [40, 8]})
    seconds = []
    for repeat in range(1, 401):
        for step in marshal.loads(agent.launch(room.request(repeat=repeat)).stdin or b""):
            line = json.loads(step[1])
            if line["type"] == "usage":
                seconds.append(line["seconds"])
    assert len(seconds) == 400
    assert abs(statistics.mean(seconds) - 40) < 1.6
    assert abs(statistics.stdev(seconds) - 8) < 1.2


def test_named_repeats_play_there_and_nowhere_else(room: Room) -> None:
    agent = room.agent([{"say": "rest"}, {"repeats": [2, 4], "say": "named"}])
    assert draws(agent, room, 5) == ["rest", "named", "rest", "named", "rest"]


def test_a_repeat_left_out_is_an_error(room: Room) -> None:
    agent = room.agent([{"repeats": [2], "say": "named"}])
    with pytest.raises(InputError, match="not repeat 1"):
        agent.launch(room.request(repeat=1))


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded", "not_signed_in", "crashed", "unreadable"])
def test_a_failure_strikes_before_any_work(room: Room, kind: str) -> None:
    fail = {"kind": kind, "message": "no luck"}
    events, finished = run(room.agent({"fail": fail, "write": {"x.txt": "y"}, "say": "z"}), room.request())
    assert finished.answer is None
    assert finished.failure is not None
    assert finished.failure.kind is FailureKind(kind)
    assert not (room.root / "work" / "x.txt").exists()
    assert not [event for event in events if isinstance(event, Text)]


def test_an_agents_own_limit_comes_after_its_work(room: Room) -> None:
    agent = room.agent({"fail": {"kind": "agent_limit"}, "write": {"x.txt": "y"}, "tokens": 5})
    _, finished = run(agent, room.request())
    assert finished.failure is not None
    assert finished.failure.kind is FailureKind.AGENT_LIMIT
    assert (room.root / "work" / "x.txt").exists()
    assert finished.usage.tokens is not None


def test_a_failure_ends_after_its_attempts_and_the_behaviour_stays(room: Room) -> None:
    fail = {"kind": "rate_limited", "attempts": 2, "retry_after": 0.5}
    agent = room.agent([{"say": str(number), "fail": fail} for number in range(50)])
    ends = [run(agent, room.request(attempt=attempt))[1] for attempt in (1, 2, 3, 4)]
    assert [end.failure and end.failure.retry_after for end in ends] == [0.5, 0.5, None, None]
    assert ends[2].answer == ends[3].answer is not None


def test_floor_does_nothing(room: Room) -> None:
    agent = SimulatedAgent("floor")
    agent.bind(room.root, evals(room.root, Eval("a", "p")))
    events, finished = run(agent, room.request())
    assert len(events) == 1
    assert (finished.answer, finished.failure) == ("", None)
    assert list((room.root / "work").iterdir()) == []


def reference_suite(root: Path, *, reference: str = "evals/references/a") -> EvalSet:
    folder = root / "evals" / "references" / "a"
    (folder / "sub").mkdir(parents=True)
    (folder / "summary.json").write_bytes(b'{"total": 12}\r\n')
    (folder / "sub" / "picture.bin").write_bytes(b"\x00\xff")
    (folder / "answer.md").write_text("The total is 12 €.", encoding="utf-8")
    (root / "evals" / "references" / "one.txt").write_text("forty-two", encoding="utf-8")
    return evals(
        root,
        Eval("a", "p", reference=reference),
        Eval("b", "p", reference="references/one.txt"),
        Eval("c", "p"),
    )


def test_ceiling_plays_the_reference(room: Room) -> None:
    agent = SimulatedAgent("ceiling")
    agent.bind(room.root, reference_suite(room.root))
    _, finished = run(agent, room.request())
    work = room.root / "work"
    assert finished.answer == "The total is 12 €."
    assert (work / "summary.json").read_bytes() == b'{"total": 12}\r\n'
    assert (work / "sub" / "picture.bin").read_bytes() == b"\x00\xff"
    assert not (work / "answer.md").exists()
    _, finished = run(agent, room.request(eval="b"))
    assert finished.answer == "forty-two"
    assert (work / "one.txt").read_text(encoding="utf-8") == "forty-two"


def test_ceiling_does_not_pretend_to_know_an_eval_without_a_reference(room: Room) -> None:
    agent = SimulatedAgent("ceiling")
    agent.bind(room.root, reference_suite(room.root))
    _, finished = run(agent, room.request(eval="c"))
    assert finished.failure is not None
    assert "names no reference" in finished.failure.message


def test_fault_31_a_reference_reaches_the_ceilings_process_only(room: Room) -> None:
    suite = reference_suite(room.root)
    for argument in ("", "floor"):
        (room.root / "evals" / "simulated.json").write_text('{"evals": {"*": {"*": {"say": "x"}}}}', encoding="utf-8")
        agent = SimulatedAgent(argument)
        agent.bind(room.root, suite)
        launch = agent.launch(room.request())
        reach = repr((launch.argv, dict(launch.env), launch.stdin))
        assert "total" not in reach
        assert "references" not in reach
    ceiling = SimulatedAgent("ceiling")
    ceiling.bind(room.root, suite)
    launch = ceiling.launch(room.request())
    assert "references" not in repr((launch.argv, dict(launch.env), launch.stdin))
    assert list((room.root / "work").iterdir()) == []


@pytest.mark.parametrize("reference", ["nowhere", "../outside.txt", "evals/references/link"])
def test_a_reference_that_is_missing_or_outside_is_refused(tmp_path: Path, reference: str) -> None:
    (tmp_path / "outside.txt").write_text("secret", encoding="utf-8")
    root = tmp_path / "skill"
    suite = reference_suite(root, reference=reference)
    (root / "evals" / "references" / "link").symlink_to(tmp_path / "outside.txt")
    with pytest.raises(InputError, match=r"does not exist|outside the skill"):
        SimulatedAgent("ceiling").bind(root, suite)


def test_ceiling_without_any_reference_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no eval names one"):
        SimulatedAgent("ceiling").bind(tmp_path, evals(tmp_path, Eval("a", "p")))


def test_the_script_lies_beside_the_evals(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    suite = evals(tmp_path, Eval("a", "p"))
    with pytest.raises(NotFoundError):
        SimulatedAgent().bind(tmp_path, suite)
    path = tmp_path / "evals" / "simulated.json"
    path.write_text(json.dumps({"evals": {"a": {"with_skill": {"say": "x"}}}}), encoding="utf-8")
    with pytest.raises(InputError, match="without_skill"):
        SimulatedAgent().bind(tmp_path, suite)
    path.write_text(json.dumps({"evals": {"a": {"*": {"say": "x"}}}}), encoding="utf-8")
    SimulatedAgent().bind(tmp_path, suite)


@pytest.mark.parametrize("argument", ["", "ceiling"])
def test_an_agent_that_was_not_bound_says_so(room: Room, argument: str) -> None:
    with pytest.raises(InputError, match="was not told"):
        SimulatedAgent(argument).launch(room.request())


def test_its_version_follows_its_script(room: Room) -> None:
    def version(behaviours: Any) -> str:
        found = room.agent(behaviours).detect({})
        assert found is not None
        return found.version

    assert version({"say": "x"}) == version({"say": "x"}) != version({"say": "y"})


def test_it_is_labelled(room: Room) -> None:
    capabilities = SimulatedAgent("floor").capabilities
    assert capabilities.simulated
    assert not capabilities.network


def test_secrets_of_ours_do_not_reach_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    env: Mapping[str, str] = room.agent({"say": "x"}).launch(room.request()).env
    assert set(env) == {"PATH", "HOME", "TMPDIR", "SKILL_DIR"}
