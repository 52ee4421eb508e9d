from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import AssayError, NotFoundError
from skill_assay.workspace.discovery import Found, discover
from tests.made import foreign, grading

TIMES = {"total_tokens": 100, "total_duration_seconds": 2.5}


def keys(found: Found) -> list[tuple[object, str, int]]:
    return [(run.eval.id, run.arm, run.number) for run in found.runs]


LAYOUTS: dict[str, dict[str, Any]] = {
    "canonical": {
        f"eval-1/{arm}/run-{k}/grading.json": grading("pf") for arm in ("with_skill", "without_skill") for k in (1, 2)
    },
    "runs_between": {
        f"eval-1/{arm}/runs/run-{k}/grading.json": grading("pf")
        for arm in ("with_skill", "without_skill")
        for k in (1, 2)
    },
    "by_arm_first": {
        f"{arm}/eval-1/run-{k}/grading.json": grading("pf") for arm in ("with_skill", "without_skill") for k in (1, 2)
    },
    "runs_inside": {
        f"eval-1/{arm}/grading.json": {"condition": arm, "eval_id": 1, "runs": [grading("pf"), grading("pf")]}
        for arm in ("with_skill", "without_skill")
    },
    "arms_inside": {
        "eval-1/grading.json": {
            "eval_id": 1,
            "with_skill": [{"run": 1, **grading("pf")}, {"run": 2, **grading("pf")}],
            "without_skill": [{"run": 1, **grading("pf")}, {"run": 2, **grading("pf")}],
        }
    },
    "below_an_iteration": {
        f"deep/iteration-3/eval-1/{arm}/run-{k}/grading.json": grading("pf")
        for arm in ("with_skill", "without_skill")
        for k in (1, 2)
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fault_12_every_layout_is_read_by_one_module(tmp_path: Path, layout: str) -> None:
    found = discover(foreign(tmp_path, LAYOUTS[layout]))
    assert keys(found) == [
        (1, "with_skill", 1),
        (1, "with_skill", 2),
        (1, "without_skill", 1),
        (1, "without_skill", 2),
    ]
    assert found.skipped == ()


FLAT: dict[str, dict[str, Any]] = {
    "flat": {f"eval-1/{arm}/grading.json": grading("p") for arm in ("with_skill", "without_skill")},
    "flat_by_arm": {f"{arm}/eval-1/grading.json": grading("p") for arm in ("with_skill", "without_skill")},
    "named_files": {f"{arm}/eval-1-grading.json": grading("p") for arm in ("with_skill", "without_skill")},
}


@pytest.mark.parametrize("layout", FLAT)
def test_fault_12_flat_layouts_are_run_1(tmp_path: Path, layout: str) -> None:
    assert keys(discover(foreign(tmp_path, FLAT[layout]))) == [(1, "with_skill", 1), (1, "without_skill", 1)]


def test_folders_without_eval_and_arms_nobody_knows(tmp_path: Path) -> None:
    root = foreign(tmp_path, {f"messy-dates/{arm}/run-1/grading.json": grading("p") for arm in ("opus", "haiku")})
    found = discover(root, primary="opus", baseline="haiku")
    assert keys(found) == [("messy-dates", "opus", 1), ("messy-dates", "haiku", 1)]
    with pytest.raises(AssayError, match="--primary"):
        discover(root)


def test_fault_12_the_prompt_is_found_from_the_run_folder_upwards(tmp_path: Path) -> None:
    files = {"eval-x/with_skill/run-1/grading.json": grading("p")}
    for place in ("", "eval-x/", "eval-x/with_skill/", "eval-x/with_skill/run-1/"):
        files[f"{place}eval_metadata.json"] = {"eval_id": 7, "eval_name": place, "prompt": f"at {place}"}
        [run] = discover(foreign(tmp_path, files)).runs
        assert (run.eval.id, run.eval.prompt) == (7, f"at {place}"), "the nearest one counts"


@pytest.mark.parametrize(
    "document",
    [
        {"expectations": [{"text": "x", "passed": True, "evidence": "y"}]},
        {"assertions": [{"name": "x", "passed": True, "reason": "y"}]},
        {"assertion_results": [{"assertion": "x", "pass": "PASS", "details": "y"}]},
    ],
)
def test_fault_13_grades_are_read_under_every_name(tmp_path: Path, document: Any) -> None:
    [run] = discover(foreign(tmp_path, {"eval-1/with_skill/grading.json": document})).runs
    [one] = run.expectations
    assert (one.text, one.passed, one.evidence) == ("x", True, "y")


def test_a_null_is_ungraded_and_a_run_of_nulls_is_left_out(tmp_path: Path) -> None:
    files = {"eval-1/with_skill/grading.json": grading("pu"), "eval-2/with_skill/grading.json": grading("uu")}
    first, second = discover(foreign(tmp_path, files)).runs
    assert first.score == 1.0
    assert second.score is None
    assert second.excluded == "nothing was graded"


def test_fault_14_a_summary_is_recomputed_and_a_wrong_one_reported(tmp_path: Path) -> None:
    wrong = grading("pf", summary={"passed": 44, "failed": 0, "total": 44, "pass_rate": 5000})
    found = discover(foreign(tmp_path, {"eval-1/with_skill/grading.json": wrong}))
    assert found.runs[0].score == found.runs[0].shown_rate == 0.5
    [mismatch] = found.mismatches
    assert "44 of 44" in mismatch.reason and "1 of 2" in mismatch.reason


def test_a_rate_that_is_merely_rounded_is_kept_for_shared_figures(tmp_path: Path) -> None:
    rounded = grading("pff", summary={"passed": 1, "failed": 2, "total": 3, "pass_rate": 0.33})
    found = discover(foreign(tmp_path, {"eval-1/with_skill/grading.json": rounded}))
    assert found.runs[0].shown_rate == 0.33
    assert found.runs[0].score == 1 / 3
    assert found.mismatches == ()


def test_fault_16_unknown_is_unknown_and_characters_are_no_tokens(tmp_path: Path) -> None:
    files = {
        "eval-1/with_skill/grading.json": grading("p", execution_metrics={"output_chars": 5000}),
        "eval-1/with_skill/timing.json": {"total_tokens": None, "duration_ms": None, "total_duration_seconds": None},
        "eval-2/with_skill/grading.json": grading("p"),
        "eval-2/with_skill/timing.json": {"total_tokens": 0, "total_duration_seconds": float("nan")},
        "eval-3/with_skill/grading.json": grading("p"),
        "eval-3/with_skill/timing.json": TIMES,
    }
    runs = discover(foreign(tmp_path, files)).runs
    assert [(run.tokens, run.seconds) for run in runs] == [(None, None), (None, None), (100, 2.5)]


def test_what_is_skipped_is_listed_with_its_reason(tmp_path: Path) -> None:
    files = {
        "eval-1/with_skill/run-1/grading.json": grading("p"),
        "eval-1/with_skill/run-2/grading.json": "{ not json",
        "eval-1/with_skill/run-3/outputs/x.md": "made, never graded",
        "eval-1/with_skill/run-4/grading.json": [1, 2],
        "eval-1/with_skill/run-5/grading.json": {"passed": True},
        "grading.json": grading("p"),
        "eval-2/with_skill/eval_metadata.json": {"eval_id": 1},
        "eval-2/with_skill/run-1/grading.json": grading("p"),
    }
    found = discover(foreign(tmp_path, files))
    assert keys(found) == [(1, "with_skill", 1)]
    reasons = {one.place: one.reason for one in found.skipped}
    assert "does not parse" in reasons["eval-1/with_skill/run-2/grading.json"]
    assert reasons["eval-1/with_skill/run-3"] == "has outputs and no grading"
    assert "is a list" in reasons["eval-1/with_skill/run-4/grading.json"]
    assert "no list of expectations" in reasons["eval-1/with_skill/run-5/grading.json"]
    assert "name an arm" in reasons["grading.json"]
    assert "the same eval, arm and run number" in reasons["eval-2/with_skill/run-1"]


@pytest.mark.parametrize(
    "files", [{}, {"notes.md": "x"}, {"eval-1/with_skill/grading.json": "{"}, {"benchmark.json": "{}"}]
)
def test_fault_02_nothing_found_is_an_error_and_never_an_empty_benchmark(tmp_path: Path, files: Any) -> None:
    with pytest.raises(NotFoundError, match="no graded run"):
        discover(foreign(tmp_path, files))


def test_of_several_iterations_the_newest_is_read(tmp_path: Path) -> None:
    files = {f"iteration-{n}/eval-1/with_skill/grading.json": grading("p" * n) for n in (2, 10, 9)}
    found = discover(foreign(tmp_path, files))
    assert found.root == tmp_path / "iteration-10"
    assert [one.place for one in found.skipped] == ["iteration-2", "iteration-9"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = foreign(tmp_path / "outside", {"eval-2/with_skill/grading.json": grading("p")})
    root = foreign(tmp_path / "ws", {"eval-1/with_skill/grading.json": grading("p")})
    (root / "more").symlink_to(outside)
    (root / "loop").symlink_to(root)
    assert keys(discover(root)) == [(1, "with_skill", 1)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just(10**400),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "expectations",
                    "assertions",
                    "text",
                    "passed",
                    "evidence",
                    "summary",
                    "total",
                    "runs",
                    "run",
                    "with_skill",
                    "eval_id",
                    "timing",
                    "total_duration_seconds",
                    "execution_metrics",
                    "condition",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(graded=JSON, timed=JSON, described=JSON)
def test_any_json_gives_a_run_or_a_reason(
    tmp_path_factory: pytest.TempPathFactory, graded: Any, timed: Any, described: Any
) -> None:
    root = foreign(
        tmp_path_factory.mktemp("ws"),
        {
            "eval-1/with_skill/grading.json": grading("p"),
            "eval-2/with_skill/run-1/grading.json": graded,
            "eval-2/with_skill/run-1/timing.json": timed,
            "eval-2/eval_metadata.json": described,
            "eval-3/grading.json": graded,
        },
    )
    found = discover(root)
    assert {run.eval.id for run in found.runs} >= {1}
    for run in found.runs:
        assert run.score is None or 0 <= run.score <= 1


@pytest.mark.parametrize(
    "text", ["", "\x00\x01", "\ufeff{}", "[" * 100_000, '{"expectations": [' + "1," * 3, '"\ud83d"']
)
def test_broken_files_are_reasons(tmp_path: Path, text: str) -> None:
    root = foreign(tmp_path, {"eval-1/with_skill/grading.json": grading("p")})
    (root / "eval-2" / "with_skill").mkdir(parents=True)
    (root / "eval-2" / "with_skill" / "grading.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    found = discover(root)
    assert len(found.runs) == 1
    assert len(found.skipped) == 1
