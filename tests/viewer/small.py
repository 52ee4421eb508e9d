"""A small iteration with files, transcripts and grades, and a client that talks to the viewer without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

from skill_assay.model.grade import Decision, Evidence, Grade
from skill_assay.model.transcript import SkillUse, Started, Text, ToolCall, ToolResult
from skill_assay.model.trial import Arm, Trial
from skill_assay.viewer.security import Door
from skill_assay.viewer.server import make_app
from skill_assay.viewer.site import Site
from skill_assay.workspace.resolve import resolve_place
from skill_assay.workspace.store import Iteration
from tests.made import made_eval, made_iteration, made_plan, made_trial

ARMS = (
    Arm("with_skill", "primary", "claude-code", skill=Path("skill")),
    Arm("without_skill", "baseline", "claude-code"),
)
EVENTS = (
    Started("model-1", "1.0"),
    Text("I will look."),
    SkillUse("pdf", "tool", True),
    ToolCall("1", "Bash", {"command": "ls -l"}),
    ToolResult("1", "total 0"),
)


def graded(trial: Trial, *places: tuple[str, str, Evidence | None]) -> Trial:
    """The trial with these grades: (text, `p` or `f`, where)."""
    grades = tuple(
        Grade(
            text,
            Decision.PASSED if mark == "p" else Decision.FAILED,
            f"seen: {text}",
            "check",
            places=(place,) if place else (),
        )
        for text, mark, place in places
    )
    return replace(trial, grades=grades)


def small_iteration(tmp_path: Path, evals: int = 2, trials: int = 2) -> Iteration:
    """Evals `e1`, `e2`, … where the skill passes all but one trial and the baseline fails half."""
    names = [f"e{number}" for number in range(1, evals + 1)]
    made = []
    for name in names:
        for repeat in range(1, trials + 1):
            bad = name == "e2" and repeat == 1
            place = Evidence("outputs/deep/report.md", 3)
            texts = ("has a total", "f" if bad else "p", place), ("says why", "p", Evidence("answer.md", 1))
            one = made_trial(name, "with_skill", repeat, used=True, outputs=("deep/report.md", "data.json"))
            made.append(graded(one, *texts))
            made.append(made_trial(name, "without_skill", repeat, "pf", used=False))
    evals_made = [made_eval(name, ("has a total", "says why"), tags=("odd",) if name == "e1" else ()) for name in names]
    iteration = made_iteration(tmp_path, made_plan(names, trials, ARMS), made, evals_made)
    files = {"deep/report.md": b"# Report\n\nTotal: 12\n", "data.json": b'{"a": [1, 2, {"b": null}]}\n'}
    for trial in made:
        if trial.id.arm == "with_skill":
            run = iteration.run_folder(trial.id)
            write(run.outputs, files)
            run.write_transcript(made_eval(trial.id.eval_id), EVENTS)
    return iteration


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def site_of(iteration: Iteration) -> Site:
    return Site.of(resolve_place(iteration.path))


DOOR = Door(4242, "the-token")
HOST = "127.0.0.1:4242"
ORIGIN = {"origin": f"http://{HOST}"}


def client_of(site: Site, *, signed_in: bool = True) -> TestClient:
    """A browser that came in by the right door, or one that did not."""
    client = TestClient(make_app(site, DOOR), base_url=f"http://{HOST}", follow_redirects=False)
    if signed_in:
        client.cookies.set(DOOR.cookie, DOOR.token)
    return client
