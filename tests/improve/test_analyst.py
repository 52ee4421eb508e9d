"""The analyst without a model: what the numbers say, each thing from runs made for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from skill_assay.improve.analyst import Analysis, analyse, analysis_to_dict
from skill_assay.improve.consistency import jaccard
from skill_assay.improve.repeated import scripts_in
from skill_assay.model.benchmark import ExpectationResult, FoundArm, FoundEval, Run
from skill_assay.model.transcript import Text, ToolCall
from skill_assay.workspace.discovery import Found

EVAL = FoundEval("dates", "dates")
ARMS = (FoundArm("with_skill", "primary"), FoundArm("without_skill", "baseline"))
SCRIPT = "import csv\n\nrows = list(csv.reader(open('in.csv')))\ntotal = sum(float(row[1]) for row in rows)\nfor row in rows:\n    print(row)\nprint(total)\n"


def made(
    arm: str, number: int, marks: str, *, seconds: float = 10, tokens: int = 1000, used: bool | None = None
) -> Run:
    results = [ExpectationResult(f"t{k}", {"p": True, "f": False, "u": None}[m], "e") for k, m in enumerate(marks)]
    folder = f"eval-dates/{arm}/run-{number}"
    return Run(EVAL, arm, number, folder, tuple(results), seconds=seconds, tokens=tokens, skill_used=used)


def looked(root: Path, *runs: Run, files: Mapping[str, str] | None = None) -> Analysis:
    for name, text in (files or {}).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return analyse(Found(root, ARMS, (EVAL,), runs))


def kinds(analysis: Analysis) -> set[tuple[str, str | None]]:
    return {(one.kind, one.expectation) for one in analysis.findings}


def test_fault_29_expectations_that_tell_nothing_and_those_that_tell_most(tmp_path: Path) -> None:
    runs = [made("with_skill", k, "pfpfp") for k in (1, 2)] + [
        made("without_skill", k, "pffp" + "pf"[k - 1]) for k in (1, 2)
    ]
    assert kinds(looked(tmp_path, *runs)) == {
        ("always_passes", "t0"),
        ("always_fails", "t1"),
        ("only_with", "t2"),
        ("only_without", "t3"),
    }


def test_what_was_not_decided_says_nothing(tmp_path: Path) -> None:
    assert not kinds(looked(tmp_path, made("with_skill", 1, "u"), made("without_skill", 1, "u")))


def test_spread_use_and_price(tmp_path: Path) -> None:
    runs = [
        made("with_skill", 1, "pp", seconds=30, tokens=2000, used=True),
        made("with_skill", 2, "ff", seconds=30, tokens=2000, used=False),
        made("without_skill", 1, "ff", seconds=20),
        made("without_skill", 2, "ff", seconds=20),
    ]
    found = {one.kind: one for one in looked(tmp_path, *runs).findings if one.kind != "dearer"}
    assert found["high_spread"].numbers["scores"] == [1.0, 0.0]
    assert found["skill_not_used"].runs == ("eval-dates/with_skill/run-2",)
    prices = {one.numbers["unit"]: one.numbers for one in looked(tmp_path, *runs).findings if one.kind == "dearer"}
    assert prices["seconds"] == {
        "unit": "seconds",
        "difference": 10,
        "ratio": 1.5,
        "pass_rate_difference": 0.5,
        "per_point": 0.2,
    }
    assert prices["tokens"]["difference"] == 1000


def test_output_consistency_by_arm_with_its_difference(tmp_path: Path) -> None:
    runs = [made(arm, k, "p") for arm in ("with_skill", "without_skill") for k in (1, 2)]
    files = {}
    for k in (1, 2):
        files[f"eval-dates/with_skill/run-{k}/outputs/a/out.json"] = json.dumps({"x": 1, "y": [{"z": k}]})
        files[f"eval-dates/without_skill/run-{k}/outputs/out-{k}.json"] = json.dumps({"x": 1, f"y{k}": 2})
        files[f"eval-dates/without_skill/run-{k}/outputs/t.csv"] = f"a,b{k}\n1,2\n"
    analysis = looked(tmp_path, *runs, files=files)
    ours, theirs = analysis.consistency["with_skill"], analysis.consistency["without_skill"]
    assert (ours.paths, ours.json_keys, ours.csv_headers) == (1.0, 1.0, None)
    assert theirs.paths == pytest.approx(1 / 3) and theirs.json_keys == pytest.approx(1 / 3)
    assert theirs.csv_headers == pytest.approx(1 / 3)
    better = [one.numbers for one in analysis.findings if one.kind == "more_consistent"]
    assert [numbers["of"] for numbers in better] == ["paths", "json_keys"]
    assert analysis_to_dict(analysis)["output_consistency"]["without_skill"]["paths"] == theirs.paths


def test_scripts_that_several_runs_wrote_again_belong_into_the_skill(tmp_path: Path) -> None:
    runs = [made("with_skill", k, "p") for k in (1, 2, 3)]
    files = {
        "eval-dates/with_skill/run-1/outputs/sum.py": SCRIPT,
        "eval-dates/with_skill/run-2/outputs/work/total.py": "\n".join(f"other_{n}[{n}] = {n}" for n in range(9)),
        "eval-dates/with_skill/run-3/outputs/other.py": "\n".join(f"call_{n}(value_{n}, {n})" for n in range(8)),
    }
    assert not looked(tmp_path, *runs, files=files).repeated
    files["eval-dates/with_skill/run-2/outputs/work/total.py"] = SCRIPT.replace("rows", "lines")
    [one] = looked(tmp_path, *runs, files=files).repeated
    assert one.runs == ("eval-dates/with_skill/run-1", "eval-dates/with_skill/run-2")
    assert one.files == ("sum.py", "work/total.py") and 0.6 <= one.similarity < 1


def test_scripts_are_found_on_the_way_too() -> None:
    heredoc = f"cat > x.py <<'EOF'\n{SCRIPT}EOF\npython x.py"
    events = [
        Text("I write a script."),
        ToolCall("1", "Write", {"file_path": "/w/sum.py", "content": SCRIPT}),
        ToolCall("2", "Write", {"file_path": "/w/note.md", "content": "no script"}),
        ToolCall("3", "Bash", {"command": heredoc}),
        ToolCall("4", "Bash", {"command": "ls << nothing"}),
    ]
    found = list(scripts_in(events))
    assert [name for name, _ in found] == ["sum.py", "here-document"]
    assert found[1][1] + "\n" == SCRIPT


def test_nothing_in_common_is_no_number() -> None:
    assert jaccard(frozenset(), frozenset()) is None
    assert jaccard(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
