"""Blind comparisons: nothing tells the arms apart, a winner wins in both orders, the order alone wins nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.benchmark.votes import Votes, count_votes
from skill_assay.errors import Failure, FailureKind
from skill_assay.graders.judge_log import MemoryLog, RememberingModel
from skill_assay.graders.masking import MASK, Mask
from skill_assay.llm.base import Asker
from skill_assay.llm.scripted import ScriptedVoice
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.comparing import Pair, compare_runs, mask_of, pair_record, pairs_of
from skill_assay.runner.execute import Result
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import Budget
from skill_assay.workspace.discovery import discover
from tests.runner.small import NAME, run_small, settings, write_skill

PLAY = {
    "evals": {
        "*": {
            "with_skill": {
                "use_skill": True,
                "write": {"hello.txt": f"good text by the {NAME} skill"},
                "say": "I used Hello Note.",
            },
            "*": {"write": {"hello.txt": "bad text"}, "say": "I had no skill at hand."},
        }
    }
}


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    root = tmp_path_factory.mktemp("compare")
    return run_small(write_skill(root, play=PLAY, count=3), root / "w", settings(trials=2))


def reply(winner: str, a: int = 4, b: int = 2) -> dict[str, Any]:
    def rubric(score: int) -> dict[str, Any]:
        content = dict.fromkeys(("correctness", "completeness", "accuracy"), score)
        structure = dict.fromkeys(("organization", "formatting", "usability"), score)
        return {"content": content, "structure": structure, "strengths": [f"s{score}"], "weaknesses": []}

    return {"winner": winner, "reasoning": "Because.", "A": rubric(a), "B": rubric(b)}


def prefers_good(prompt: str, schema: Any) -> dict[str, Any]:
    first = prompt.index("good text") < prompt.index("bad text")
    return reply("A", 4, 2) if first else reply("B", 2, 4)


def compared(
    result: Result, replies: ScriptedVoice | Callable[..., Any] | Sequence[Any]
) -> tuple[list[Pair], list[str]]:
    voice = replies if isinstance(replies, ScriptedVoice) else ScriptedVoice(replies)
    ledger = BudgetLedger(Budget(), lambda *_, **__: None)
    asker = Asker(voice, AdaptiveAdmission(4, ledger, PriceBook(), 0.0), pause_seconds=0.0)
    found = discover(result.iteration.path)

    async def run() -> list[Pair]:
        model = RememberingModel(asker, MemoryLog())
        return await compare_runs(found, pairs_of(found), model, ledger, seed=42, mask=mask_of(found), expected={})

    return anyio.run(run), voice.prompts


def test_pictures_are_numbered_over_both_sides_in_the_order_they_are_sent(tmp_path: Path) -> None:
    good = {"hello.txt": "good text", "plot.gif": "GIF87a good", "more.gif": "GIF87a more"}
    bad = {"hello.txt": "bad text", "plot.gif": "GIF87a bad"}
    play = {"evals": {"*": {"with_skill": {"write": good, "say": "."}, "*": {"write": bad, "say": "."}}}}
    result = run_small(write_skill(tmp_path, play=play, count=1), tmp_path / "w", settings(trials=1))
    voice = ScriptedVoice(prefers_good)
    compared(result, voice)
    assert len(voice.prompts) == 2
    for prompt, attached in zip(voice.prompts, voice.attached, strict=True):
        first = "good" if prompt.index("good text") < prompt.index("bad text") else "bad"
        sent = {f"picture {number}": one.data.decode() for number, one in enumerate(attached.pictures, 1)}
        sides = [dict(re.findall(r"^(picture \d): outputs/(\w+)\.gif$", side, re.M)) for side in prompt.split("# B\n")]
        told = [{sent[number]: name for number, name in side.items()} for side in sides]
        wanted = [{"GIF87a more": "more", "GIF87a good": "plot"}, {"GIF87a bad": "plot"}]
        assert told == (wanted if first == "good" else wanted[::-1])


def test_the_better_one_wins_whatever_its_place(result: Result) -> None:
    pairs, prompts = compared(result, prefers_good)
    assert len(pairs) == 6 and len(prompts) == 6, (
        "repeats that are the same to the letter are one question in each order"
    )
    assert [pair.compared.winner for pair in pairs if pair.compared] == ["primary"] * 6
    assert {pair.compared.a for pair in pairs if pair.compared} == {"primary", "baseline"}, "labels are drawn"


@pytest.mark.parametrize("always", ["A", "B"])
def test_fault_27_a_judge_that_goes_by_position_yields_ties(result: Result, always: str) -> None:
    pairs, _ = compared(result, lambda *_: reply(always))
    assert all(pair.compared and pair.compared.winner is None and pair.compared.flipped for pair in pairs)


def test_the_prompts_tell_nothing_about_arm_skill_path_or_version(result: Result) -> None:
    pairs, prompts = compared(result, prefers_good)
    found = discover(result.iteration.path)
    assert found.plan is not None
    told = ["with_skill", "without_skill", NAME, "hello note", "assay", "run-1", "eval-1", "iteration-", "SKILL.md"]
    told += [digest[:7] for digest in found.plan.digests.values() if digest] + [str(result.iteration.path)]
    for prompt in prompts:
        assert not [word for word in told if word.lower() in prompt.lower()]
        assert MASK in prompt and "Greet" in prompt
    assert all(pair.compared and pair.compared.masked["primary"] == 2 for pair in pairs)
    assert all(pair.compared and pair.compared.masked["baseline"] == 0 for pair in pairs)


def test_the_record_has_their_field_names_and_our_sums(result: Result) -> None:
    pairs, _ = compared(result, prefers_good)
    record = pair_record(pairs[0], "scripted")
    assert record is not None
    winner = record["winner"]
    assert record["labels"][winner]["arm"] == "with_skill"
    assert record["rubric"][winner]["content"] == {"correctness": 4, "completeness": 4, "accuracy": 4}
    sums = {name: record["rubric"][winner][name] for name in ("content_score", "structure_score", "overall_score")}
    assert sums == {"content_score": 4.0, "structure_score": 4.0, "overall_score": 8.0}
    assert record["output_quality"][winner] == {"score": 8.0, "strengths": ["s4"], "weaknesses": []}
    assert set(record["expectation_results"][winner]) == {"passed", "total", "pass_rate", "details"}
    assert record["flipped"] is False and record["orders"] == [winner, winner]
    assert {"winner", "reasoning", "rubric", "output_quality", "expectation_results"} <= set(record)
    json.dumps(record, allow_nan=False)


def test_an_outage_is_no_tie(result: Result) -> None:
    pairs, _ = compared(result, [Failure(FailureKind.BAD_REQUEST, "no")])
    assert all(pair.compared is None and "bad_request" in (pair.failed or "") for pair in pairs)
    assert pair_record(pairs[0], "scripted") is None


def test_votes_are_one_an_eval_with_the_exact_sign_test() -> None:
    outcomes = {str(n): [1, 1, -1] for n in range(6)} | {"t": [1, -1], "l": [-1, 0]}
    assert count_votes(outcomes, 3, 1) == Votes(
        6, 1, 1, pytest.approx(0.125), 22, 3, 1, {**{str(n): 1 for n in range(6)}, "t": 0, "l": -1}
    )
    assert count_votes({}, 0, 2).flip_rate is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("pdf-maker, PDF Maker and pdf_maker", 3),
        ("pdfmakers", 0),
        ("see /tmp/assay-ab12cd34/work/out.md", 1),
        ("I read .claude/skills/pdf-maker/SKILL.md", 1),
        ("the with_skill arm", 1),
        ("nothing", 0),
    ],
)
def test_names_are_masked_however_they_are_spelt(text: str, count: int) -> None:
    masked, found = Mask(["pdf-maker"]).text(text)
    assert found == count
    assert not re.search(r"pdf.?maker\b|assay-|with_skill", masked, re.IGNORECASE) or not count
