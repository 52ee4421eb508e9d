"""The neighbours found, and what of the catalogue the model is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.agents.claude_code import ClaudeCode
from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.skill import read_skill
from skill_assay.model.agent import Listing
from skill_assay.model.skill import Skill
from skill_assay.triggering.catalogue import check_catalogue, copy_neighbours, find_neighbours, listing_warnings
from tests.triggering.asking import write_neighbour

LISTING = Listing(per_skill=100, total=200, other_totals={"[1m]": 1000})


def skills(root: Path, **descriptions: str) -> list[Skill]:
    return [read_skill(write_neighbour(root, name, text)) for name, text in descriptions.items()]


def test_a_small_catalogue_is_told_whole(tmp_path: Path) -> None:
    check = check_catalogue(skills(tmp_path, b="x" * 50, a="y" * 50), LISTING, None)
    assert (check.skills, check.cut, check.dropped, check.budget) == (("a", "b"), (), (), 200)
    assert check.used == len("- a: \n- b: \n") + 100 and not listing_warnings(check, "a", None)


def test_over_the_budget_later_names_lose_their_description(tmp_path: Path) -> None:
    many = skills(tmp_path, a="x" * 80, b="x" * 80, c="x" * 80, d="z")
    check = check_catalogue(many, LISTING, None)
    assert check.dropped == ("c", "d")
    (warning,) = listing_warnings(check, "d", None)
    assert "dropped from c on, that of d among them: the model sees only its name" in warning
    assert "its usual model" in warning and "d among" not in listing_warnings(check, "a", "opus")[0]
    assert not check_catalogue(many, LISTING, "sonnet[1m]").dropped


def test_a_long_description_is_cut(tmp_path: Path) -> None:
    check = check_catalogue(skills(tmp_path, a="x" * 101, b="x" * 100), LISTING, None)
    assert check.cut == ("a",) and check.used <= 220
    assert listing_warnings(check, "a", None)[0].startswith("Its own description is longer than the 100 characters")
    assert listing_warnings(check, "b", None)[0].startswith("Descriptions are longer")


def test_the_budgets_of_claude_code_by_model() -> None:
    """As measured with the real program against a scripted model, for the names a user may give."""
    listing = ClaudeCode(env={}).capabilities.listing
    assert listing is not None and listing.per_skill == 1536
    names = (None, "sonnet", "haiku", "sonnet[1m]", "claude-sonnet-4-5", "claude-opus-4-6", "claude-haiku-4-5")
    assert [listing.budget(name) for name in names] == [30_000] * 4 + [8_000] * 3


def test_skills_only_their_user_calls_are_not_told(tmp_path: Path) -> None:
    hidden = write_neighbour(tmp_path, "h", "x")
    (hidden / "SKILL.md").write_text("---\nname: h\ndescription: x\ndisable-model-invocation: true\n---\n", "utf-8")
    assert check_catalogue([read_skill(hidden)], LISTING, None).skills == ()


def test_an_agent_of_unknown_habits_has_no_budget(tmp_path: Path) -> None:
    check = check_catalogue(skills(tmp_path, a="x"), None, None)
    assert check.budget is None and not check.dropped and not listing_warnings(check, "a", None)


def test_places_are_skills_or_folders_of_skills(tmp_path: Path) -> None:
    own = read_skill(write_neighbour(tmp_path / "own", "pdf", "x"))
    one = write_neighbour(tmp_path, "one", "x")
    write_neighbour(tmp_path / "many", "two", "x")
    write_neighbour(tmp_path / "many", "three", "x")
    (tmp_path / "many" / "broken").mkdir()
    (tmp_path / "many" / "broken" / "SKILL.md").write_text("no frontmatter", encoding="utf-8")
    found, notes = find_neighbours([str(one), str(tmp_path / "many")], own, (), {})
    assert [skill.name for skill in found] == ["one", "three", "two"]
    assert len(notes) == 1 and "can't be read" in notes[0]
    with pytest.raises(NotFoundError, match="holds no skill"):
        find_neighbours([str(tmp_path / "none")], own, (), {})


def test_the_users_own_set_is_found_where_the_agent_looks(tmp_path: Path) -> None:
    own = read_skill(write_neighbour(tmp_path / "own", "pdf", "x"))
    write_neighbour(tmp_path / ".claude" / "skills", "home", "x")
    write_neighbour(tmp_path / "moved" / "skills", "moved", "x")
    places = ClaudeCode(env={}).capabilities.user_skills
    home = {"HOME": str(tmp_path)}
    assert [skill.name for skill in find_neighbours(["installed"], own, places, home)[0]] == ["home"]
    moved = {**home, "CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    assert [skill.name for skill in find_neighbours(["installed"], own, places, moved)[0]] == ["moved"]
    with pytest.raises(InputError, match="not known where"):
        find_neighbours(["installed"], own, (), home)


def test_copies_hold_what_an_agent_gets_and_their_digest_follows_the_content(tmp_path: Path) -> None:
    (skill,) = skills(tmp_path, one="x")
    (skill.root / "evals").mkdir()
    (skill.root / "evals" / "triggers.json").write_text("[]", encoding="utf-8")
    (copy,), digest = copy_neighbours([read_skill(skill.root)], tmp_path / "c1")
    assert [path.name for path in copy.iterdir()] == ["SKILL.md"] and copy.name == "one"
    changed = skills(tmp_path, one="y")
    assert copy_neighbours(changed, tmp_path / "c2")[1] != digest
    assert copy_neighbours([], tmp_path / "c3") == ((), "none")
