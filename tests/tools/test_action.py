"""The script of the GitHub action, without GitHub: a local server stands for its API."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.runner.small import BODY, write_skill
from tools.action import main

ROOT = Path(__file__).parents[2]


class Api(ThreadingHTTPServer):
    """Keeps the comments of one pull request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.comments: list[dict[str, Any]] = [{"id": 1, "body": "Looks fine to me"}]
        self.asked: list[str] = []


class Handler(BaseHTTPRequestHandler):
    server: Api

    def do_GET(self) -> None:
        self._answer(self.server.comments)

    def do_POST(self) -> None:
        self.server.comments.append({"id": len(self.server.comments) + 1, **self._body()})
        self._answer({})

    def do_PATCH(self) -> None:
        number = int(self.path.rpartition("/")[2])
        self.server.comments[number - 1].update(self._body())
        self._answer({})

    def _body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def _answer(self, value: Any) -> None:
        self.server.asked.append(f"{self.command} {self.path}")
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


@pytest.fixture
def api() -> Iterator[Api]:
    server = Api()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.slow
def test_it_runs_gates_and_keeps_one_comment_a_skill(tmp_path: Path, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    skill = write_skill(tmp_path, count=1)
    event = tmp_path / "event.json"
    event.write_text('{"pull_request": {"number": 7}}')
    env = {
        "INPUT_SKILL": str(skill),
        "INPUT_ARGS": "--agent simulated --trials 1",
        "INPUT_ASSAY": f"{sys.executable} -m skill_assay",
        "INPUT_WORKSPACE": str(tmp_path / "kept"),
        "INPUT_REUSE_BASELINE": "true",
        "INPUT_TOKEN": "t",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REPOSITORY": "a/b",
        "GITHUB_API_URL": f"http://127.0.0.1:{api.server_port}",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    assert main(env) == 0
    assert (tmp_path / "output").read_text("utf-8") == "exit-code=0\nreports=skill-assay-reports\n"
    assert "Gate passed" in (tmp_path / "summary.md").read_text("utf-8")
    assert len(api.comments) == 2 and "Gate passed" in api.comments[1]["body"]
    (skill / "SKILL.md").write_text(BODY + "\nMore.\n", encoding="utf-8")
    (skill / "evals" / "benchmark.config.json").write_text('{"thresholds": {"max_avg_tokens": 5}}')
    assert main(env) == 1, "the gate's code is the action's"
    assert len(api.comments) == 2 and "Gate failed" in api.comments[1]["body"]
    assert api.asked[-1] == "PATCH /repos/a/b/issues/comments/2"
    second = json.loads((tmp_path / "kept" / "iteration-2" / "benchmark.json").read_text("utf-8"))
    assert second["provenance"]["reused_baseline"]["from"] == "iteration-1"
    assert {path.name for path in (tmp_path / "skill-assay-reports").iterdir()} == {
        "junit.xml",
        "gate.json",
        "comment.md",
    }


def test_without_a_skill_it_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main({}) == 2
    assert "names no skill" in capsys.readouterr().out


def test_the_action_hands_over_every_input_that_the_script_reads() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    [step] = [step for step in action["runs"]["steps"] if step.get("id") == "assay"]
    read = set(re.findall(r"INPUT_[A-Z_]+", (ROOT / "tools" / "action.py").read_text("utf-8")))
    assert read - set(step["env"]) == {"INPUT_ASSAY", "INPUT_REPORTS"}, "these two are for tests"
    given = {name for value in step["env"].values() for name in re.findall(r"inputs\.([a-z-]+)", value)}
    assert given <= set(action["inputs"])
    assert os.access(ROOT / "tools" / "action.py", os.R_OK)
