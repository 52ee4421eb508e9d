"""`assay init --from` and `--more`: drafts that can be read, marked for a person, and never over a file that is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.init import command
from skill_assay.errors import AssayError, IncompleteError, InputError
from skill_assay.formats.evals import load_evals
from skill_assay.formats.skill import read_skill
from skill_assay.formats.triggers import load_queries
from tests.runner.small import run_small, settings, write_skill

SKILL_MD = "---\nname: tea-maker\ndescription: Writes tea recipes. Use for tea.\n---\n\nWrite tea.md.\n"
EVAL: dict[str, Any] = {
    "id": "green",
    "prompt": "Write me a green tea recipe into tea.md.",
    "expectations": [
        {"text": "tea.md is there", "check": {"file_exists": "tea.md"}},
        {"text": "It is short", "check": None},
    ],
}
TRIGGERS = [
    {"query": "How do I brew oolong?", "should_trigger": True},
    {"query": "Fix my teapot.", "should_trigger": False},
]
DRAFT = {"skill_md": SKILL_MD, "evals": [EVAL], "triggers": TRIGGERS}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(command, list(arguments), standalone_mode=False)
    if isinstance(result.exception, AssayError):
        raise result.exception
    assert result.exception is None, result.exception
    return result


def model(folder: Path, *replies: Any) -> str:
    rules = [{"when": "It could not be used" if len(replies) > 1 else "", "reply": replies[-1]}, {"reply": replies[0]}]
    (folder / "model.json").write_text(json.dumps(rules), encoding="utf-8")
    return f"scripted: {folder / 'model.json'}"


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "spec.md").write_text("We want tea recipes.")
    return tmp_path / "spec.md"


def test_a_spec_becomes_a_skill_with_evals_and_queries_marked_as_drafts(tmp_path: Path, spec: Path) -> None:
    root = tmp_path / "tea-maker"
    result = run(str(root), "--from", str(spec), "--judge", model(tmp_path, DRAFT))
    assert "These are drafts" in result.output
    assert read_skill(root).name == "tea-maker"
    evals = load_evals(root / "evals/evals.json", skill_root=root)
    assert [one.id for one in evals.evals] == ["green"] and len(evals.evals[0].expectations[0].checks) == 1
    assert len(load_queries(root / "evals/triggers.json").queries) == 2
    for name in ("evals", "triggers"):
        assert "Look through it" in json.loads((root / f"evals/{name}.json").read_text())["_draft"]


@pytest.mark.parametrize(
    "bad",
    [
        {**DRAFT, "skill_md": "no frontmatter"},
        {**DRAFT, "skill_md": SKILL_MD.replace("tea-maker", "other")},
        {**DRAFT, "evals": [{**EVAL, "expectations": [{"text": "x", "check": {"no_such_check": 1}}]}]},
        {**DRAFT, "evals": [EVAL, EVAL]},
        {**DRAFT, "triggers": [TRIGGERS[0], TRIGGERS[0]]},
    ],
)
def test_a_draft_that_can_not_be_read_is_sent_back_once(tmp_path: Path, spec: Path, bad: Any) -> None:
    root = tmp_path / "tea-maker"
    with pytest.raises(IncompleteError, match="can't be used"):
        run(str(root), "--from", str(spec), "--judge", model(tmp_path, bad))
    assert not root.exists()
    run(str(root), "--from", str(spec), "--judge", model(tmp_path, bad, DRAFT))
    assert (root / "SKILL.md").is_file()


def test_nothing_that_is_there_is_overwritten(tmp_path: Path, spec: Path) -> None:
    root = tmp_path / "tea-maker"
    (root / "evals").mkdir(parents=True)
    (root / "evals/evals.json").write_text("mine")
    run(str(root), "--from", str(spec), "--judge", model(tmp_path, DRAFT))
    assert (root / "evals/evals.json").read_text() == "mine"
    with pytest.raises(InputError, match="a skill here already"):
        run(str(root), "--from", str(spec), "--judge", model(tmp_path, DRAFT))


def test_more_evals_lie_beside_and_know_the_results(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    run_small(skill, tmp_path / "hello-note-workspace", settings(trials=1))
    before = (skill / "evals/evals.json").read_bytes()
    run(str(skill), "--more", "3", "--judge", model(tmp_path, {"evals": [EVAL]}))
    assert (skill / "evals/evals.json").read_bytes() == before
    drafts = load_evals(skill / "evals/drafts-1.json", skill_root=skill)
    assert [one.id for one in drafts.evals] == ["green"]
    run(str(skill), "--more", "3", "--judge", model(tmp_path, {"evals": [EVAL]}))
    assert (skill / "evals/drafts-2.json").is_file()
    with pytest.raises(IncompleteError, match="taken: 1"):
        run(str(skill), "--more", "3", "--judge", model(tmp_path, {"evals": [{**EVAL, "id": "1"}]}))
