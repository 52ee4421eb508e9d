"""The search: what it chooses, what ends it, what it tells the proposer, and how it goes on."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from skill_assay.errors import Failure, FailureKind, InputError
from skill_assay.model.triggers import Query
from skill_assay.reports.optimise_words import evidence_words as words
from skill_assay.triggering.accept import refuse_undecidable
from skill_assay.triggering.optimise import Problem, most_launches
from skill_assay.triggering.split import Splits
from tests.triggering.searches import Desk, FakeMeasure, Kept, Shows, by_side, problem, queries, say, search


def passing(**known: tuple[int, ...] | str) -> Shows:
    """description → numbers of the queries that go right, on train and test alike, or `all`."""

    def shows(description: str, query: Query, repeat: int) -> bool:
        right = known.get(description, ())
        number = int(re.sub(r"\D", "", query.id))
        return query.should_trigger == (right == "all" or number in right)

    return shows


def test_the_better_description_is_found() -> None:
    found = search(problem(), passing(original=(0, 1), better="all"), say("better"))
    assert (found.leader, found.chosen, found.exit) == (2, 2, "all_passed")
    assert found.round(2).score("test").passed == 8


def test_fault_18_an_overfit_candidate_is_not_chosen() -> None:
    """Perfect on train, poor on test: it ends the search and is not chosen."""
    shows = by_side(original=(3, 5), overfit=(6, 2))
    found = search(problem(), shows, say("overfit"))
    assert found.exit == "all_passed" and found.round(2).score("train").passed == 6
    assert (found.leader, found.chosen) == (1, 1)


@pytest.mark.parametrize("effort", ["full", "curtailed", "adaptive"])
def test_fault_18_a_tie_keeps_the_original(effort: str) -> None:
    shows = by_side(original=(2, 5), other=(4, 5), third=(5, 5))
    found = search(problem(effort=effort, rounds=3), shows, say("other", "third"))
    assert (found.leader, found.chosen) == (1, 1)


def test_the_earliest_of_equals_wins() -> None:
    shows = by_side(original=(2, 3), other=(3, 5), third=(4, 5))
    found = search(problem(rounds=3), shows, say("other", "third"))
    assert found.leader == 2


def test_fault_1_a_crash_counts_for_nothing() -> None:
    """A description whose negatives crash does not win by them, and one whose runs all crash is not chosen."""
    shows = by_side(original=(2, 5), crashing=(3, 4))

    def crashes(description: str, query: Query, repeat: int) -> bool | None:
        number = int(re.sub(r"\D", "", query.id))
        lost = description == "crashing" and query.id.startswith("test") and number >= 4
        return None if lost else shows(description, query, repeat)

    found = search(problem(rounds=2, effort="curtailed"), crashes, say("crashing"))
    second = found.round(2)
    assert second.score("test").passed == 4 and second.score("test").unknown == 4
    assert found.leader == 1, "4 of 4 against 5 of 8 is no gain: on the same four queries both pass all"
    assert found.failed_share == pytest.approx(12 / 60)


def test_no_better_train_ends_on_a_plateau() -> None:
    shows = by_side(original=(4, 4))
    found = search(problem(rounds=9, patience=2), shows, say(*[f"try {n}" for n in range(9)]))
    assert found.exit == "plateau" and len(found.rounds) == 3


def test_rounds_are_a_bound() -> None:
    shows = by_side(original=(1, 1), a=(2, 1), b=(3, 1))
    found = search(problem(rounds=3), shows, say("a", "b", "c"))
    assert found.exit == "max_iterations" and [one.description for one in found.rounds] == ["original", "a", "b"]


def test_a_perfect_original_needs_no_proposal_and_its_test_is_known() -> None:
    desk = Desk(say("never asked"))
    found = search(problem(), passing(original="all"), None, desk=desk)
    assert (found.exit, found.chosen, desk.prompts) == ("all_passed", 1, [])
    assert found.rounds[0].score("test").total == 8


def test_fault_18_garbage_never_becomes_a_description() -> None:
    """Refused four times the round is skipped; after two such rounds nobody is asked any more."""
    garbage = [{"description": "<new_description>"}, {"description": " "}, {}, {"description": "x" * 1025}]
    desk = Desk(lambda prompt, schema: garbage[len(desk.prompts) % 4])
    found = search(problem(), by_side(original=(3, 3)), None, desk=desk)
    assert found.exit == "no_proposal" and found.chosen == 1
    assert {one.description for one in found.rounds} == {"original", ""}
    assert all("every reply was refused" in one.skipped for one in found.rounds[1:])
    measured = sum(cell.decided + cell.failed for cell in found.rounds[0].cells)
    assert found.launches == measured and len(found.rounds) == 3


def test_a_proposer_that_is_not_signed_in_stops_the_search_and_keeps_what_was_measured() -> None:
    failure = Failure(FailureKind.NOT_SIGNED_IN, "who are you")
    found = search(problem(), by_side(original=(3, 3)), [failure])
    assert found.exit == "failure" and "who are you" in found.reason
    assert found.rounds[0].score("test").total == 8


# What the proposer may know


def told(test: tuple[Query, ...], rightness: int, labels: bool) -> list[str]:
    """The prompts of a search whose test queries, labels and outcomes are these."""
    test = tuple(replace(one, should_trigger=one.should_trigger == labels) for one in test)
    train_shows = by_side(original=(2, 0), a=(3, 0), b=(1, 0), c=(4, 0), d=(2, 0))

    def shows(description: str, query: Query, repeat: int) -> bool:
        if query.id.startswith("train"):
            return train_shows(description, query, repeat)
        number = int(re.sub(r"\D", "", query.id)) + len(description)
        return query.should_trigger == (number % 7 < rightness)

    what = problem(patience=9)
    splits = Splits(what.splits.train, test, queries(4, "SENTINEL-fresh"))
    desk = Desk(say("a", "b", "c", "d"))
    search(replace(what, splits=splits), shows, None, desk=desk)
    assert len(desk.prompts) == 4
    mark = re.compile(r"=== [0-9a-f]{16} ===")
    return [mark.sub("===", prompt) for prompt in desk.prompts]


def test_fault_18_no_test_query_score_or_label_reaches_the_proposer() -> None:
    """Whatever the test queries say, are labelled or show, the prompts are the same to the last byte.

    That holds for scores and for anything derived from them: which description is improved on, how far train was run,
    when the search ends.
    """
    first = told(queries(8, "SENTINEL-test"), 3, labels=True)
    assert not any("SENTINEL" in prompt for prompt in first)
    assert any("train text" in prompt for prompt in first)
    for test, rightness, labels in (
        (queries(8, "SENTINEL-test"), 0, True),
        (queries(8, "SENTINEL-test"), 7, True),
        (queries(8, "SENTINEL-test"), 5, False),
        (queries(11, "SENTINEL-other"), 4, True),
    ):
        assert told(test, rightness, labels) == first


def test_the_description_improved_on_is_the_best_by_train() -> None:
    shows = by_side(original=(2, 8), good=(5, 0), bad=(1, 0), other=(1, 0))
    desk = Desk(say("good", "bad", "other"))
    search(problem(rounds=4), shows, None, desk=desk)
    current = [re.search(r"current description .*?\n=== .*?\n(.*?)\n===", one, re.DOTALL) for one in desk.prompts]
    assert [one[1] for one in current if one] == ["original", "good", "good"]


# Evidence


def test_a_small_gain_is_chosen_and_called_weak() -> None:
    shows = by_side(original=(2, 4), better=(6, 7))
    found = search(problem(), shows, say("better"))
    assert found.chosen == 2
    (evidence,) = found.evidence
    assert (evidence.gained, evidence.lost, evidence.tied) == (3, 0, 5)
    assert evidence.p == pytest.approx(0.25)
    assert words(evidence).startswith("weak evidence on 8 test queries") and "would make it strong" in words(evidence)


def test_accept_significant_decides() -> None:
    weak = search(problem(accept="significant"), by_side(original=(2, 4), better=(6, 7)), say("better"))
    assert (weak.leader, weak.chosen) == (2, 1)
    strong = search(problem(accept="significant"), by_side(original=(2, 1), better=(6, 8)), say("better"))
    assert (strong.leader, strong.chosen) == (2, 2)


def test_accept_significant_is_refused_where_it_could_never_accept() -> None:
    splits = Splits(queries(6, "train"), queries(5, "test"))
    with pytest.raises(InputError, match="could never accept") as caught:
        refuse_undecidable(splits, "significant")
    assert "5 test queries" in str(caught.value) and "6 at least" in str(caught.value)
    refuse_undecidable(splits, "best")
    refuse_undecidable(Splits(queries(6, "train"), queries(6, "test")), "significant")
    refuse_undecidable(Splits(queries(6, "train"), queries(4, "test"), queries(6, "fresh")), "significant")


def test_fresh_queries_are_untouched_until_the_end() -> None:
    """Then both the original and the chosen one are asked, and the evidence on them needs no correction."""
    order: list[str] = []
    base = by_side(original=(2, 4), better=(6, 7))

    def shows(description: str, query: Query, repeat: int) -> bool | None:
        order.append(query.id)
        fresh = query.id.startswith("fresh")
        return (query.should_trigger == (description == "better")) if fresh else base(description, query, repeat)

    found = search(problem(fresh=6), shows, say("better"))
    first = next(number for number, name in enumerate(order) if name.startswith("fresh"))
    assert all(name.startswith("fresh") for name in order[first:])
    assert [number for number, _ in found.fresh] == [1, 2]
    on_fresh = found.evidence[1]
    assert (on_fresh.split, on_fresh.gained, on_fresh.candidates, on_fresh.p) == ("fresh", 6, 1, 2 / 2**6)
    assert found.launches == len(order)


# Fewer launches, and going on


def test_the_chosen_one_is_decided_on_every_test_query() -> None:
    """However few runs it took to see that it leads."""

    def shows(description: str, query: Query, repeat: int) -> bool:
        return query.should_trigger == (description != "original" or int(query.id[-1]) % 3 > 0)

    found = search(problem(rounds=3), shows, say("better", "as good"))
    assert found.leader == 2 and found.round(2).score("test").unsure == 0
    assert found.launches < found.full_grid


@pytest.mark.slow
def test_fault_8_an_interrupted_search_goes_on_and_ends_as_the_undisturbed_one() -> None:
    shows = by_side(original=(2, 4), a=(3, 5), b=(4, 3), c=(5, 7))
    replies = say("a", "b", "c", "d")
    whole_measure = FakeMeasure(shows)
    whole = search(problem(fresh=4), shows, replies, measure=whole_measure)
    for stop in range(1, whole_measure.launched, 7):
        measure, kept = FakeMeasure(shows, stop_at=stop), Kept()
        first = search(problem(fresh=4), shows, None, measure=measure, kept=kept, desk=Desk(replies))
        assert first.exit == "interrupted" and first.over
        measure.stop_at = None
        rest = replies[len(kept.proposals) :] or say("d")
        again = search(problem(fresh=4), shows, None, measure=measure, kept=kept, desk=Desk(rest))
        assert again == replace(whole, proposals=again.proposals)
        assert measure.launched == whole_measure.launched, "nothing is launched twice"


def test_a_description_cut_short_is_not_chosen() -> None:
    shows = by_side(original=(2, 4), better=(6, 8))
    measure = FakeMeasure(shows, stop_at=45)
    found = search(problem(effort="full"), shows, say("better"), measure=measure)
    assert found.exit == "interrupted" and found.chosen == 1
    assert found.round(2).cells and found.round(2).ending == "interrupted"


def test_the_bound_on_launches_is_one() -> None:
    def worst(description: str, query: Query, repeat: int) -> bool | None:
        return None

    what: Problem = problem(rounds=3, effort="full", fresh=4)
    measure = FakeMeasure(worst)
    found = search(what, worst, say("a", "b"), measure=measure)
    assert measure.launched == found.launches <= most_launches(what) == 3 * (3 * 14 + 2 * 4)
