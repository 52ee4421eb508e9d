"""Fault 11: arms that differ in more than the skill are found in the agents' own first words."""

from __future__ import annotations

from skill_assay.model.transcript import Started
from skill_assay.model.trial import Arm, Attempt, State, Trial, TrialId
from skill_assay.runner.fairness import Fairness, inequalities

ARMS = (Arm("with_skill", "primary", "x"), Arm("without_skill", "baseline", "x"))


def trial(arm: str, started: Started | None) -> Trial:
    return Trial(TrialId("1", arm, 1), State.COMPLETED, (Attempt(1, started=started),))


def test_the_skill_tool_is_the_treatment() -> None:
    assert inequalities(Started(tools=("Bash", "Skill")), Started(tools=("Bash",))) == []


def test_fault_11_every_other_difference_is_named() -> None:
    one = Started("m1", "1.0", ("Bash", "WebFetch"), (), ("db",), "dontAsk")
    other = Started("m2", "1.1", ("Bash",), (), (), "default")
    said = "\n".join(inequalities(one, other))
    for word in ("WebFetch", "db", "m1 and m2", "1.0 and 1.1", "dontAsk and default"):
        assert word in said


def test_it_is_refused_before_the_second_trial_of_an_arm() -> None:
    fairness = Fairness(ARMS)
    assert fairness.check(trial("with_skill", Started(tools=("Bash", "WebFetch")))) is None
    assert "WebFetch" in (fairness.check(trial("without_skill", Started(tools=("Bash",)))) or "")


def test_it_is_noted_where_the_user_allows_it() -> None:
    fairness = Fairness(ARMS, allow=True)
    fairness.check(trial("with_skill", Started(tools=("Bash", "WebFetch"))))
    assert fairness.check(trial("without_skill", Started(tools=("Bash",)))) is None
    assert len(fairness.found) == 1


def test_different_models_are_no_inequality_where_the_arms_name_them() -> None:
    arms = (Arm("with_skill", "primary", "x", model="a"), Arm("without_skill", "baseline", "x", model="b"))
    fairness = Fairness(arms)
    fairness.check(trial("with_skill", Started(model="a")))
    assert fairness.check(trial("without_skill", Started(model="b"))) is None
