from __future__ import annotations

import itertools

import pytest

from skill_assay.errors import InputError
from skill_assay.workspace.roles import is_arm, roles


def told(names: list[str], **asked: str) -> list[tuple[str, str]]:
    return [(arm.name, arm.role) for arm in roles(names, **asked)]


PAIRS = [
    ("with_skill", "without_skill"),
    ("with_skill", "old_skill"),
    ("new_skill", "old_skill"),
    ("with_skill", "baseline"),
    ("claude_with_skill", "claude_without_skill"),
    ("With Skills", "Without Skills"),
    ("with-skill", "no-skill"),
    ("with_skill", "with_skill_again"),
    ("zebra", "baseline"),
    ("with_skill", "aardvark"),
]


@pytest.mark.parametrize(("primary", "baseline"), PAIRS)
def test_fault_15_roles_come_from_a_table_and_never_from_the_order_of_names(primary: str, baseline: str) -> None:
    for names in itertools.permutations((primary, baseline)):
        assert told(list(names)) == [(primary, "primary"), (baseline, "baseline")]


def test_further_arms_are_shown_and_not_compared() -> None:
    assert told(["bare", "with_skill", "without_skill", "mystery"]) == [
        ("with_skill", "primary"),
        ("without_skill", "baseline"),
        ("bare", "other"),
        ("mystery", "other"),
    ]


def test_the_user_has_the_last_word() -> None:
    assert told(["a", "b"], primary="b", baseline="a") == [("b", "primary"), ("a", "baseline")]
    assert told(["with_skill", "without_skill"], primary="without_skill")[0] == ("without_skill", "primary")
    with pytest.raises(InputError, match="no such arm"):
        roles(["a", "b"], primary="c")


def test_one_arm_alone_is_the_primary() -> None:
    assert told(["without_skill"]) == [("without_skill", "primary")]


def test_what_no_rule_tells_is_asked_for() -> None:
    with pytest.raises(InputError, match="--primary ARM"):
        roles(["a", "b"])


def test_only_arms_are_arms() -> None:
    assert all(is_arm(name) for pair in PAIRS[:8] for name in pair)
    assert not any(map(is_arm, ("eval-1", "outputs", "evals", "skills", "skill-creator", "run-1", "noskills")))
