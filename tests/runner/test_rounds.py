from __future__ import annotations

from collections.abc import Sequence

from skill_assay.model.trial import Arm, Limits, State, Trial, TrialId, TrialSpec
from skill_assay.runner.rounds import Rounds
from tests.made import made_eval

ARMS = (Arm("with_skill", "primary", "x"), Arm("without_skill", "baseline", "x"))


def specs(rounds: int, evals: Sequence[str] = ("a", "b")) -> list[TrialSpec]:
    return [
        TrialSpec(TrialId(one, arm.name, k), made_eval(one), arm, Limits(), 42)
        for k in range(1, rounds + 1)
        for one in evals
        for arm in ARMS
    ]


def settle(rounds: Rounds, spec: TrialSpec) -> None:
    rounds.settled(Trial(spec.id, State.COMPLETED))


def drain(rounds: Rounds) -> list[TrialSpec]:
    handed = []
    while (spec := rounds.next()) is not None:
        handed.append(spec)
    return handed


def test_a_look_happens_only_when_every_trial_of_the_round_is_settled() -> None:
    looks: list[int] = []
    rounds = Rounds(specs(3), (), planned=3, crossed=lambda seen: bool(looks.append(len(seen))))
    first = drain(rounds)
    assert {spec.id.repeat for spec in first} == {1}
    for spec in first[:-1]:
        settle(rounds, spec)
    assert (looks, rounds.next(), rounds.finished) == ([], None, False)
    settle(rounds, first[-1])
    assert looks == [4]
    assert {spec.id.repeat for spec in drain(rounds)} == {2}


def test_a_clear_look_drops_the_rest_and_leaves_the_arms_balanced() -> None:
    rounds = Rounds(specs(3), (), planned=3, crossed=lambda seen: len(seen) == 8)
    handed = []
    while not rounds.finished or (handed and len(handed) < 8):
        now = drain(rounds)
        if not now:
            break
        handed += now
        for spec in now:
            settle(rounds, spec)
    assert (rounds.stopped_at, rounds.dropped, rounds.finished) == (2, 4, True)
    counts = [sum(spec.id.arm == arm.name for spec in handed) for arm in ARMS]
    assert counts == [4, 4]


def test_the_last_round_is_no_early_stop() -> None:
    rounds = Rounds(specs(1), (), planned=1, crossed=lambda seen: True)
    for spec in drain(rounds):
        settle(rounds, spec)
    assert (rounds.stopped_at, rounds.dropped, rounds.finished) == (None, 0, True)


def test_what_an_earlier_session_settled_is_looked_at_again() -> None:
    every = specs(3)
    recorded = [Trial(spec.id, State.COMPLETED) for spec in every if spec.id.repeat == 1]
    left = [spec for spec in every if spec.id.repeat > 1]
    stopped = Rounds(left, recorded, planned=3, crossed=lambda seen: True)
    assert (stopped.stopped_at, stopped.next(), stopped.finished) == (1, None, True)
    going = Rounds(left, recorded, planned=3, crossed=lambda seen: False)
    assert {spec.id.repeat for spec in drain(going)} == {2}
