"""Blind comparison: nothing tells the arms apart before the choice, everything after it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from skill_assay.errors import FailureKind
from skill_assay.formats.feedback import Feedback
from skill_assay.viewer.compare import compare_page, pairs_of
from skill_assay.viewer.outputs import Caps
from tests.made import made_iteration, made_plan, made_trial
from tests.viewer.small import ORIGIN, client_of, site_of, small_iteration, write

URL = "/i/iteration-1/compare"


def test_pairs_are_mixed_and_stay_as_they_are(tmp_path: Path) -> None:
    site = site_of(small_iteration(tmp_path, evals=12))
    pairs = pairs_of(site.open("iteration-1"))
    assert len(pairs) == 24
    assert {pair.swapped for pair in pairs} == {True, False}
    assert [pair.primary.folder for pair in pairs] != sorted(pair.primary.folder for pair in pairs)
    assert pairs == pairs_of(site.open("iteration-1"))
    assert all(pair.primary.arm == "with_skill" and pair.baseline.arm == "without_skill" for pair in pairs)


def test_the_page_is_blind_until_a_choice_is_written(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    site = site_of(iteration)
    client = client_of(site)
    page = client.get(URL).text
    main = page[page.index("<main") : page.index("</main")]
    pair = re.search(r'data-pair="([^"]+)"', main)
    assert pair is not None
    blind = main.replace(pair[0], "")
    assert not re.search(r"with_skill|without_skill|With Skill|Without", blind)
    assert client.post(
        "/i/iteration-1/feedback", json={"preference": {"pair": pair[1], "side": "left"}}, headers=ORIGIN
    ).is_success
    after = client.get(f"{URL}?pair=1").text
    assert "You preferred" in after and "With Skill" in after and "Without" in after


def test_the_comparators_view_is_told_after_the_choice(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    site = site_of(iteration)
    opened = site.open("iteration-1")
    pair = pairs_of(opened)[0]
    labels = {
        "A": {"arm": pair.baseline.arm, "run": pair.baseline.folder},
        "B": {"arm": "with_skill", "run": pair.primary.folder},
    }
    record = json.dumps({"winner": "B", "labels": labels}).encode()
    write(iteration.path, {"comparison-1.json": record, "comparison-2.json": b"[]"})
    assert compare_page(opened, Feedback(), Caps(), 1).judged is None
    side = "left" if pair.sides[0] is pair.primary else "right"
    client = client_of(site)
    client.post("/i/iteration-1/feedback", json={"preference": {"pair": pair.id, "side": side}}, headers=ORIGIN)
    page = client.get(f"{URL}?pair=1").text
    assert "The comparator chose With Skill" in page and "agree on 1 of 1" in page


def test_a_trial_that_never_came_to_its_end_is_in_no_pair(tmp_path: Path) -> None:
    trials = [
        made_trial(repeat=1),
        made_trial(arm="without_skill", repeat=1, failure=FailureKind.RATE_LIMITED),
        made_trial(repeat=2, marks="uu"),
        made_trial(arm="without_skill", repeat=2),
    ]
    site = site_of(made_iteration(tmp_path, made_plan(trials=2), trials))
    assert [pair.primary.number for pair in pairs_of(site.open("iteration-1"))] == [2]


def test_one_arm_has_nothing_to_compare(tmp_path: Path) -> None:
    write(
        tmp_path / "w/eval-1/with_skill/run-1",
        {"grading.json": b'{"expectations": [{"text": "t", "passed": true, "evidence": "e"}]}'},
    )
    from skill_assay.viewer.site import Site
    from skill_assay.workspace.resolve import resolve_place

    client = client_of(Site.of(resolve_place(tmp_path / "w")))
    assert "nothing to compare" in client.get("/i/w/compare").text
    assert "Compare" not in client.get("/i/w/overview").text.partition("<main")[0]
