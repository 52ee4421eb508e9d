"""Pages that change the skill: a proposal piece by piece, and the trigger set."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.errors import InputError
from skill_assay.formats.skill import folder_digest, read_skill
from skill_assay.improve.keeping import keep_proposal
from skill_assay.improve.proposal import Change, Proposal, laid_over
from skill_assay.viewer.improve import improve_page
from skill_assay.viewer.site import Site
from skill_assay.workspace.laid_out import write_files
from skill_assay.workspace.places import default_workspace
from skill_assay.workspace.resolve import resolve_place
from skill_assay.workspace.store import Iteration
from skill_assay.workspace.trigger_set import read_trigger_set, save_trigger_set
from tests.runner.small import BODY, run_small, settings, write_skill
from tests.viewer.browser import Watched, axe_source, running
from tests.viewer.small import ORIGIN, client_of, site_of

LONG = BODY + "".join(f"Line {number}.\n" for number in range(20))
CHANGED = LONG.replace("Line 3.", "Line <b>three</b>.").replace("Line 15.", "Line </pre><script>x()</script>.")
URL = "/i/iteration-1"
SET = [
    {"query": "greet me", "should_trigger": True, "id": "a", "split": "train", "mine": {"kept": [1]}},
    {"query": "what is a greeting?", "should_trigger": False, "tags": ["near"]},
]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """A measured skill with a proposal of three pieces."""
    root = write_skill(tmp_path, count=1)
    (root / "SKILL.md").write_text(LONG)
    (root / "evals" / "triggers.json").write_text(json.dumps(SET))
    iteration = run_small(root, default_workspace(root), settings(trials=1)).iteration
    changes = (Change("SKILL.md", CHANGED, "because"), Change("scripts/new.py", "print(1)\n", "said twice"))
    files = laid_over(read_skill(root), changes)
    write_files(tmp_path / "made" / root.name, files)
    digest = folder_digest(tmp_path / "made" / root.name)
    keep_proposal(iteration, read_skill(root), Proposal(changes, "Better.", files, digest), "m", "i")
    return root


def site(skill: Path) -> Site:
    return Site.of(resolve_place(skill))


def candidate_of(skill: Path) -> Path:
    return default_workspace(skill) / "iteration-1" / "candidate"


# A proposal


def test_pieces_are_written_as_they_were_accepted(skill: Path) -> None:
    client = client_of(site(skill))
    text = client.get(f"{URL}/improve").text
    assert [f'data-piece="{name}"' in text for name in ("SKILL.md#0", "SKILL.md#1", "scripts/new.py#0")] == [True] * 3
    answer = client.post(f"{URL}/candidate", json={"accepted": ["SKILL.md#0"]}, headers=ORIGIN)
    assert (answer.status_code, answer.json()) == (200, {"applied": ["SKILL.md"]})
    assert (skill / "SKILL.md").read_text() == LONG.replace("Line 3.", "Line <b>three</b>.")
    assert not (skill / "scripts").exists() and (candidate_of(skill) / "before.tar").is_file()
    after = client.get(f"{URL}/improve").text
    assert "data-decide>" not in after and "the skill changed since this was proposed" in after


@pytest.mark.parametrize("accepted", [None, [], "SKILL.md#0", [3], ["SKILL.md#7"], ["../../etc/passwd#0"]])
def test_what_is_no_choice_changes_nothing(skill: Path, accepted: Any) -> None:
    answer = client_of(site(skill)).post(f"{URL}/candidate", json={"accepted": accepted}, headers=ORIGIN)
    assert answer.status_code == 409 and answer.json()["error"]
    assert (skill / "SKILL.md").read_text() == LONG


def test_a_skill_that_changed_meanwhile_is_left_alone(skill: Path) -> None:
    (skill / "SKILL.md").write_text(LONG + "Mine.\n")
    client = client_of(site(skill))
    answer = client.post(f"{URL}/candidate", json={"accepted": ["SKILL.md#0"]}, headers=ORIGIN)
    assert answer.status_code == 409 and "changed since" in answer.json()["error"]
    assert (skill / "SKILL.md").read_text() == LONG + "Mine.\n"


@pytest.mark.parametrize("what", ["candidate", "queries"])
def test_fault_23_only_the_page_itself_may_change_the_skill(skill: Path, what: str) -> None:
    client = client_of(site(skill))
    facts = {"accepted": ["SKILL.md#0"], "queries": [], "digest": ""}
    assert client.post(f"{URL}/{what}", json=facts, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post(f"{URL}/{what}", content="x", headers=ORIGIN).status_code in (400, 403, 415)
    stranger = client_of(site(skill), signed_in=False)
    assert stranger.post(f"{URL}/{what}", json=facts, headers=ORIGIN).status_code == 403
    assert (skill / "SKILL.md").read_text() == LONG


def test_a_plan_that_names_somebody_s_folder_changes_nothing_there(skill: Path, tmp_path: Path) -> None:
    """A workspace from elsewhere can claim any folder as its skill; only the skill it lies beside is written to."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = default_workspace(skill).rename(elsewhere / "other-workspace")
    found = Site.of(resolve_place(moved))
    assert found.skill is None and Site.of(resolve_place(skill, moved)).skill == skill
    page = improve_page(found.open("iteration-1"), found.skill)
    assert page.present and not page.decidable and page.files[0].lines
    answer = client_of(found).post(f"{URL}/candidate", json={"accepted": ["SKILL.md#0"]}, headers=ORIGIN)
    assert answer.status_code == 409 and "not known" in answer.json()["error"]
    answer = client_of(found).post(f"{URL}/queries", json={"queries": SET, "digest": ""}, headers=ORIGIN)
    assert answer.status_code == 409 and (skill / "SKILL.md").read_text() == LONG


def test_a_workspace_beside_its_skill_may_be_named_itself(skill: Path) -> None:
    iteration = Iteration(default_workspace(skill) / "iteration-1")
    assert site_of(iteration).skill == skill


# The trigger set


def test_what_an_editor_does_not_know_is_kept(skill: Path) -> None:
    before = read_trigger_set(skill)
    rows = [
        {"at": 1, "query": "what is a greeting?", "should_trigger": True},
        {"at": 0, "query": "greet me now", "should_trigger": True},
        {"query": "new one", "should_trigger": False},
    ]
    path = save_trigger_set(skill, rows, before.digest)
    assert path == skill / "evals" / "triggers.json"
    assert json.loads(path.read_text()) == [
        {**SET[1], "should_trigger": True},
        {**SET[0], "query": "greet me now"},
        {"query": "new one", "should_trigger": False},
    ]


def test_sets_in_other_shapes_become_ours_with_all_they_say(skill: Path) -> None:
    (skill / "evals" / "triggers.json").write_text(
        json.dumps({"should_trigger": ["a b c"], "should_not_trigger": ["d"]})
    )
    before = read_trigger_set(skill)
    assert [one["query"] for one in before.entries] == ["a b c", "d"]
    save_trigger_set(skill, [{"at": at, **dict(one)} for at, one in enumerate(before.entries)], before.digest)
    saved = json.loads((skill / "evals" / "triggers.json").read_text())
    assert [(one["query"], one["should_trigger"]) for one in saved] == [("a b c", True), ("d", False)]


ENTRY = {"query": "greet me", "should_trigger": True, "rationale": "why", "id": 7}


@pytest.mark.parametrize(
    ("written", "saved"),
    [
        (
            {"skill_name": "hello-note", "about": ["greet us"], "queries": [ENTRY]},
            {"skill_name": "hello-note", "about": ["greet us"], "queries": [ENTRY]},
        ),
        ([ENTRY, ENTRY, {"prompt": "b", "should_trigger": False, "note": "n"}], [ENTRY, {"query": "b", "note": "n"}]),
        ({"should_trigger": [{"query": "a", "note": "n"}], "should_not_trigger": []}, [{"query": "a", "note": "n"}]),
        ([{**ENTRY, "query": "one\r\ntwo"}], [{**ENTRY, "query": "one\r\ntwo"}]),
        ({"owners": [], "queries": [ENTRY]}, {"owners": [], "queries": [ENTRY]}),
        ({"cases": [ENTRY], "seen_in": [ENTRY]}, {"seen_in": [ENTRY], "queries": [ENTRY]}),
    ],
)
def test_an_author_s_own_words_stay_in_every_shape(skill: Path, written: Any, saved: Any) -> None:
    path = skill / "evals" / "triggers.json"
    path.write_text(json.dumps(written))
    before = read_trigger_set(skill)
    rows = [
        {"at": at, "query": one["query"].replace("\r\n", "\n"), "should_trigger": one["should_trigger"]}
        for at, one in enumerate(before.entries)
    ]
    save_trigger_set(skill, rows, before.digest)
    found = json.loads(path.read_text())
    assert type(found) is type(saved)
    pairs = zip(*((one["queries"] if isinstance(one, dict) else one) for one in (found, saved)), strict=True)
    assert all({**one, **other} == one for one, other in pairs)
    assert not isinstance(saved, dict) or found == saved


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"query": "", "should_trigger": True}],
        [{"query": "a", "should_trigger": "yes"}],
        [{"query": "a", "should_trigger": True}, {"query": "a", "should_trigger": False}],
    ],
)
def test_what_is_no_trigger_set_is_not_written(skill: Path, rows: list[Any]) -> None:
    path = skill / "evals" / "triggers.json"
    before = path.read_bytes()
    with pytest.raises(InputError):
        save_trigger_set(skill, rows, read_trigger_set(skill).digest)
    assert path.read_bytes() == before


def test_a_set_that_changed_on_the_disk_is_not_overwritten(skill: Path) -> None:
    digest = read_trigger_set(skill).digest
    (skill / "evals" / "triggers.json").write_text(json.dumps(SET[:1]))
    with pytest.raises(InputError, match="changed on the disk"):
        save_trigger_set(skill, SET, digest)
    assert json.loads((skill / "evals" / "triggers.json").read_text()) == SET[:1]


def test_a_skill_without_a_set_gets_its_first(skill: Path) -> None:
    (skill / "evals" / "triggers.json").unlink()
    before = read_trigger_set(skill)
    assert (before.entries, before.digest) == ((), "")
    save_trigger_set(skill, SET, "")
    assert len(read_trigger_set(skill).entries) == 2


# In a browser


@pytest.mark.browser
def test_pieces_are_refused_by_keys_and_the_rest_is_written(skill: Path, watched: Watched) -> None:
    with running(site(skill)) as viewer:
        page = watched.page
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/improve")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("r")
        assert page.locator("[data-taken]").inner_text() == "2"
        page.reload()
        assert page.locator("[data-taken]").inner_text() == "2", "what was refused is remembered until it is decided"
        page.locator("[data-decide]").click()
        page.get_by_text("Written: scripts/new.py, SKILL.md").wait_for()
    assert (skill / "SKILL.md").read_text() == LONG.replace("Line 3.", "Line <b>three</b>.")
    assert (skill / "scripts" / "new.py").read_text() == "print(1)\n"
    assert not watched.dialogs and not watched.errors


@pytest.mark.browser
def test_fault_24_the_trigger_set_is_saved_or_kept(skill: Path, watched: Watched) -> None:
    path = skill / "evals" / "triggers.json"
    with running(site(skill)) as viewer:
        page = watched.page
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/triggers")
        page.get_by_label("Query 1", exact=True).fill("greet me <now>")
        page.get_by_label("Query 2 should fire").check()
        page.locator("[data-add]").click()
        page.keyboard.type("another")
        page.reload()
        page.get_by_text("Your changes are here again, not saved yet").wait_for()
        page.locator("[data-save-set]").click()
        page.get_by_text("Saved: evals/triggers.json").wait_for()
        assert json.loads(path.read_text()) == [
            {**SET[0], "query": "greet me <now>"},
            {**SET[1], "should_trigger": True},
            {"query": "another", "should_trigger": True},
        ]
        page.get_by_label("Remove query 3").click()
        path.write_text(json.dumps(SET))
        page.locator("[data-save-set]").click()
        page.get_by_text("Not saved: ").wait_for()
        assert json.loads(path.read_text()) == SET
    page.locator("[data-save-set]").click()
    page.get_by_text("Not saved: the viewer is not running").wait_for()


@pytest.mark.browser
def test_fault_24_a_draft_takes_nothing_back_that_came_meanwhile(skill: Path, watched: Watched) -> None:
    path = skill / "evals" / "triggers.json"
    with running(site(skill)) as viewer:
        page = watched.page
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/triggers")
        page.get_by_label("Query 1", exact=True).fill("greet me now")
        page.locator("[data-add]").click()
        page.keyboard.type("mine")
        theirs = {"query": "</textarea><script>x()</script>", "should_trigger": False, "tags": ["theirs"]}
        path.write_text(json.dumps([theirs, *SET]))
        page.locator("[data-save-set]").click()
        page.get_by_text("Not saved: ").wait_for()
        page.reload()
        page.get_by_text("The file was changed meanwhile (new: </textarea><script>x()</script>)").wait_for()
        page.locator("[data-save-set]").click()
        page.get_by_text("Saved: evals/triggers.json").wait_for()
    assert json.loads(path.read_text()) == [
        theirs,
        {**SET[0], "query": "greet me now"},
        SET[1],
        {"query": "mine", "should_trigger": True},
    ]
    assert not watched.dialogs and not watched.errors


@pytest.mark.browser
def test_what_was_removed_meanwhile_stays_removed(skill: Path, watched: Watched) -> None:
    path = skill / "evals" / "triggers.json"
    with running(site(skill)) as viewer:
        page = watched.page
        page.goto(viewer.door.url)
        page.goto(f"{viewer.base}/triggers")
        page.locator("[data-add]").click()
        page.keyboard.type("mine")
        path.write_text(json.dumps([{**SET[0], "should_trigger": False}]))
        page.reload()
        page.get_by_text("gone: what is a greeting?; label changed: greet me").wait_for()
        page.locator("[data-save-set]").click()
        page.get_by_text("Saved: evals/triggers.json").wait_for()
    assert [(one["query"], one["should_trigger"]) for one in json.loads(path.read_text())] == [
        ("greet me", False),
        ("mine", True),
    ]


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_editors_are_accessible(skill: Path, watched: Watched, scheme: Any) -> None:
    page = watched.page
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 380, "height": 800})
    with running(site(skill)) as viewer:
        page.goto(viewer.door.url)
        for name in ("improve", "triggers"):
            page.goto(f"{viewer.base}/{name}")
            page.evaluate(axe_source())
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
            assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
