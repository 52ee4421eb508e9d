"""`assay run DIR` with many skills."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from skill_assay.benchmark.inference import infer
from skill_assay.benchmark.library import ranked
from skill_assay.cli.library import skills_below
from skill_assay.cli.main import main
from skill_assay.model.benchmark_inputs import TrialOutcome
from skill_assay.model.inference import Inference
from skill_assay.model.library import LibraryRow
from tests.runner.small import write_skill


def inference(losses: int, wins: int) -> Inference:
    """Evals won and lost by varying amounts, so that the p value is that of the sign flips."""
    scores = [(f"w{n}", 0.5 + n / 100, 0.0) for n in range(wins)] + [(f"l{n}", 0.0, 0.5) for n in range(losses)]
    outcomes = [
        TrialOutcome(name, arm, 1, score)
        for name, ours, theirs in scores
        for arm, score in (("with_skill", ours), ("without_skill", theirs))
    ]
    return infer(outcomes, "with_skill", "without_skill")


def test_fault_17_verdicts_are_corrected_for_their_number_and_the_worst_comes_first() -> None:
    lucky = inference(0, 6)
    assert lucky.verdict == "better" and lucky.p is not None and 0.03 < lucky.p < 0.04
    noise = replace(inference(3, 3))
    worse = inference(12, 0)
    rows = [LibraryRow("lucky", inference=lucky), LibraryRow("worse", inference=worse)]
    rows += [LibraryRow(f"noise-{n}", inference=noise) for n in range(4)]
    rows.append(LibraryRow("broken", error="no"))
    found = ranked(rows)
    assert [row.skill for row in found][:2] == ["worse", "broken"]
    by_name = {row.skill: row for row in found}
    assert (by_name["lucky"].verdict, by_name["lucky"].taken_back) == ("inconclusive", True), "one of six by chance"
    assert by_name["worse"].verdict == "worse"
    alone = ranked([LibraryRow("lucky", inference=lucky)])
    assert alone[0].verdict == "better"


def test_skills_are_found_and_what_lies_inside_one_is_not(tmp_path: Path) -> None:
    for place in ("a", "group/b", "a/inner", "a-workspace/c", "node_modules/d"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "SKILL.md").write_text("---\nname: x\n---\n")
    assert [path.relative_to(tmp_path).as_posix() for path in skills_below(tmp_path)] == ["a", "group/b"]
    assert skills_below(tmp_path / "a") == ()


@pytest.mark.slow
def test_a_folder_of_skills_is_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in os.environ if name.startswith("ASSAY_") and name != "ASSAY_DATA"]:
        monkeypatch.delenv(name)
    root = tmp_path / "skills"
    for name in ("one", "two"):
        write_skill(root / name, count=1)
    (root / "bare").mkdir()
    (root / "bare" / "SKILL.md").write_text("---\nname: bare\ndescription: None.\n---\n")
    broken = write_skill(root / "three", count=1)
    (broken / "evals" / "evals.json").write_text("{")
    monkeypatch.setattr(
        sys,
        "argv",
        ["assay", "run", str(root), "--agent", "simulated", "--trials", "1", "--no-progress", "--format", "json"],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    skills = {Path(row["skill"]).parent.name: row for row in json.loads(out)["skills"]}
    assert set(skills) == {"one", "two", "three"}
    assert skills["one"]["effect"] == 1.0 and "error" in skills["three"]
    assert ended.value.code == 3, "one could not be measured"
    assert "2 skills, 4 launches" in err and "bare: it has no evals" in err
