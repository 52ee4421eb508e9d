"""Fault 32: checks that one arm passes by construction never enter the pass rate."""

import pytest

from skill_assay.formats.checks_table import long_form
from skill_assay.graders.activation import activation_reason, is_activation
from skill_assay.model.evals import Check, Expectation


def reason(kind, value):
    return activation_reason(Check(kind, long_form(kind, value)), "pdf")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("skill_used", True),
        ("skill_used", "other"),
        ("tool_called", "Skill"),
        ("tool_called", "skill"),
        ("tool_called", "activate_skill"),
        ("tool_called", "Ski*"),
        ("tool_not_called", "Skill"),
        ("tool_called", {"tool": "Skill", "input_matches": "pdf"}),
        ("tool_called", {"tool": "Read", "input_matches": r"SKILL\.md$"}),
        ("tool_called", {"tool": "*", "input_matches": r"SKILL.md"}),
        ("tool_order", ["Skill", "Write"]),
        ("tool_order", [{"tool": "Read", "input_matches": "skills/pdf/"}, "Write"]),
        ("command_ran", r"cat .*SKILL\.md"),
        ("command_ran", r"python \.claude/skills/pdf/scripts/fill\.py"),
    ],
)
def test_fault_32_what_only_one_arm_can_pass(kind, value):
    assert reason(kind, value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("file_exists", "SKILL.md"),
        ("contains", "Skill"),
        ("tool_called", "Read"),
        ("tool_called", "Skillet"),
        ("tool_called", {"tool": "*", "input_matches": "report"}),
        ("tool_order", ["Read", "Write"]),
        ("command_ran", "pytest"),
        ("command_ran", {"only": ["ls"]}),
        ("max_tokens", 5),
    ],
)
def test_what_any_arm_can_pass(kind, value):
    assert reason(kind, value) is None


def test_one_such_check_makes_the_whole_expectation_one():
    checks = (Check("file_exists", {"path": "a"}), Check("skill_used", {}, negated=True))
    assert is_activation(Expectation("x", checks))
    assert not is_activation(Expectation("x", checks[:1]))
    assert not is_activation(Expectation("uses the Skill tool"))
