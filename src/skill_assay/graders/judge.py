"""The judge: a language model decides what no machine check does, and its evidence is looked up, not trusted.

For each trial: classify expectations that do not say what they are about (once an eval), ask about the outcome without
the transcript, ask about the process with it. Whatever can't be had (an outage, evidence that is not there, a judge
that fails its planted test) leaves an expectation ungraded and is never a failure of the agent.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import anyio

from skill_assay.errors import FailureKind
from skill_assay.graders.judge_log import JudgeLog, RememberingModel
from skill_assay.graders.judge_reply import CLASSIFY_SCHEMA, SCHEMA, Verdict, by_id, checked, checked_claims
from skill_assay.graders.material import Material, fence_for, material_of
from skill_assay.graders.planted import plant
from skill_assay.graders.texts import transcript_text
from skill_assay.graders.words import counted
from skill_assay.llm.base import ModelFailed
from skill_assay.llm.prompt import load_prompt
from skill_assay.model.evals import Expectation
from skill_assay.model.grade import Decision, Grade
from skill_assay.model.protocols import LanguageModel, Ledger
from skill_assay.model.trial import TrialId
from skill_assay.model.work import Work

__all__ = ["JudgeGrader"]

Numbered = Mapping[int, Expectation]


@dataclass(frozen=True, slots=True)
class _Question:
    """One question to the judge: the expectations under made-up ids, the planted two among them."""

    prompt: str
    ids: Mapping[str, int]
    """Id → index of the expectation."""
    must_pass: str
    must_fail: str
    """The ids of the planted ones."""


@dataclass(slots=True)
class JudgeGrader:
    """Implements `model.protocols.Grader`.

    Args:
        model: the judge.
        log: where questions and replies are kept.
        votes: how often each question is asked; odd, the majority decides.
        fresh: ask again although a reply is stored.
        mode: `inline` puts the work into the question; `agent` lets a judge that can read files look for itself.
    """

    model: LanguageModel
    log: JudgeLog
    votes: int = 1
    fresh: bool = False
    mode: Literal["inline", "agent"] = "inline"
    name: str = "judge"
    _blind: bool = False
    """The model turned out to take no pictures."""
    _kinds: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    _locks: dict[str, anyio.Lock] = field(default_factory=dict)
    _remarks: dict[TrialId, dict[str, Any]] = field(default_factory=dict)

    async def grade(self, expectations: Numbered, work: Work, ledger: Ledger) -> Mapping[int, Grade]:
        """Grades for all of them."""
        try:
            process = await self._process(expectations, work, ledger)
        except ModelFailed as failed:
            return self._grades(expectations, {index: _outage(failed) for index in expectations}, work)
        material = await material_of(work, pictures=self.model.sees_pictures or self.mode == "agent")
        outcome = {index: one for index, one in expectations.items() if index not in process}
        found = await self._part(outcome, work, material, ledger) if outcome else {}
        if process:
            material = material.with_transcript(transcript_text(work.events))
            found |= await self._part({index: expectations[index] for index in process}, work, material, ledger)
        return self._grades(expectations, found, work)

    def take_remarks(self, trial: TrialId) -> Mapping[str, Any]:
        """Claims and criticism of the expectations, handed out once."""
        return self._remarks.pop(trial, {})

    def _grades(self, expectations: Numbered, found: Mapping[int, Verdict], work: Work) -> dict[int, Grade]:
        grades = {
            index: Grade(one.text, found[index].decision, found[index].evidence, "judge", places=found[index].places,
                         verified=found[index].verified)
            for index, one in expectations.items()
        }  # fmt: skip
        rows = [
            {"index": n, "text": one.text, "decision": one.decision, "evidence": one.evidence}
            for n, one in grades.items()
        ]
        self.log.add(work.run_folder, 1, {"kind": "verdicts", "judge": self.model.name, "verdicts": rows})
        return grades

    async def _process(self, expectations: Numbered, work: Work, ledger: Ledger) -> set[int]:
        """Those about how the work was done."""
        process = {index for index, one in expectations.items() if one.about == "process"}
        unsaid = {index: one for index, one in expectations.items() if one.about is None}
        if not unsaid:
            return process
        texts = sorted({one.text for one in unsaid.values()})
        kinds = await self._classified(texts, work, ledger)
        return process | {index for index, one in unsaid.items() if kinds.get(one.text) == "process"}

    async def _classified(self, texts: list[str], work: Work, ledger: Ledger) -> Mapping[str, str]:
        """Asked once for all trials of an eval, so that no arm's expectations are looked at in another way."""
        prompt = load_prompt("classify")
        ids = {f"e{number}": text for number, text in enumerate(texts, 1)}
        rows = [json.dumps({"id": name, "expectation": text}, ensure_ascii=False) for name, text in ids.items()]
        question = prompt.fill(expectations="\n".join(rows))
        asked = RememberingModel(self.model, self.log, self.fresh)
        key = json.dumps([work.eval.id, texts])
        async with self._locks.setdefault(key, anyio.Lock()):
            if key in self._kinds:
                asked.copy(question, CLASSIFY_SCHEMA, self._kinds[key], run_folder=work.run_folder, number=1)
            else:
                self._kinds[key] = await asked.ask(
                    question,
                    CLASSIFY_SCHEMA,
                    ledger,
                    run_folder=work.run_folder,
                    number=1,
                    instructions=f"{prompt.name} {prompt.version} {prompt.digest}",
                )
        return {ids[row["id"]]: row["about"] for row in self._kinds[key]["answers"] if row["id"] in ids}

    async def _part(self, part: Numbered, work: Work, material: Material, ledger: Ledger) -> dict[int, Verdict]:
        if self._blind:
            material = material.without_pictures()
        ballots: list[Mapping[int, Verdict]] = []
        for vote in range(1, self.votes + 1):
            try:
                ballots.append(await self._ballot(part, work, material, vote, ledger))
            except ModelFailed as failed:
                if failed.failure.kind is FailureKind.BAD_REQUEST and material.pictures and self.mode == "inline":
                    self._blind = True
                    return await self._part(part, work, material, ledger)
                ballots.append({index: _outage(failed) for index in part})
        return {index: _majority([ballot[index] for ballot in ballots]) for index in part}

    async def _ballot(
        self, part: Numbered, work: Work, material: Material, vote: int, ledger: Ledger
    ) -> dict[int, Verdict]:
        """One vote: the question, and once more for verdicts whose evidence is not there."""
        question = _question(part, work, material, vote, self.mode)
        found, trusted = await self._asked(question, "", work, material, vote, ledger)
        problems = {name: one.problem for name, one in found.items() if one.problem}
        if trusted and problems:
            try:
                again, trusted = await self._asked(question, _sent_back(problems), work, material, vote, ledger)
            except ModelFailed:
                # What held the first time still holds.
                again = {}
            found |= {name: again[name] for name in problems if name in again}
        if not trusted:
            return dict.fromkeys(part, _DISTRUSTED)
        return {index: _settled(found[name]) for name, index in question.ids.items()}

    async def _asked(
        self, question: _Question, again: str, work: Work, material: Material, vote: int, ledger: Ledger
    ) -> tuple[dict[str, Verdict], bool]:
        """The verdict of each id, and whether the planted ones came out as they must."""
        prompt = load_prompt("judge")
        data = await RememberingModel(self.model, self.log, self.fresh).ask(
            question.prompt + again,
            SCHEMA,
            ledger,
            run_folder=work.run_folder,
            number=vote,
            attached=material.files if self.mode == "agent" else material.attached,
            instructions=f"{prompt.name} {prompt.version} {prompt.digest}",
        )
        if vote == 1:
            self._remember(work.id, data, material)
        every = [*question.ids, question.must_pass, question.must_fail]
        rows, wrong = by_id(data["verdicts"], every)
        found = {name: checked(rows[name], material) for name in question.ids if name in rows}
        found |= {name: Verdict(Decision.UNGRADED, words, problem=words) for name, words in wrong.items()}
        said = [rows[name]["verdict"] if name in rows else None for name in (question.must_pass, question.must_fail)]
        return found, said == ["pass", "fail"]

    def _remember(self, trial: TrialId, data: Mapping[str, Any], material: Material) -> None:
        kept = self._remarks.setdefault(trial, {})
        if data.get("claims"):
            kept["claims"] = [*kept.get("claims", ()), *checked_claims(data["claims"], material)]
        if data.get("eval_feedback"):
            kept.setdefault("eval_feedback", data["eval_feedback"])


def _question(part: Numbered, work: Work, material: Material, vote: int, mode: str) -> _Question:
    """The same for the same work, expectations and vote, so that a stored reply can be found again."""
    texts = [one.text for one in part.values()]
    seed = hashlib.sha256(json.dumps([work.eval.id, vote, texts, work.answer, list(work.files)]).encode()).hexdigest()
    rng = random.Random(seed)
    must_pass, must_fail = plant(material, rng)
    rows: list[tuple[int | str, str]] = [(index, one.text) for index, one in part.items()]
    rows += [("must_pass", must_pass), ("must_fail", must_fail)]
    rng.shuffle(rows)
    ids = {what: f"e{number}" for number, (what, _) in enumerate(rows, 1)}
    lines = [json.dumps({"id": ids[what], "expectation": text}, ensure_ascii=False) for what, text in rows]
    expected = work.eval.expected_output
    fence = fence_for(work.eval.prompt, expected or "", *(piece.text for piece in material.pieces))
    prompt = load_prompt("judge").fill(
        fence=fence,
        task=work.eval.prompt,
        expected=f"\nWhat its author expects, in general:\n\n{fence}\n{expected}\n{fence}\n" if expected else "",
        material=material.render_places(fence) if mode == "agent" else material.render(fence),
        expectations="\n".join(lines),
        again="",
    )
    numbered = {ids[what]: what for what, _ in rows if isinstance(what, int)}
    return _Question(prompt, numbered, ids["must_pass"], ids["must_fail"])


def _sent_back(problems: Mapping[str, str | None]) -> str:
    lines = "\n".join(f"- {name}: {words}" for name, words in problems.items())
    return (
        f"\nYou answered this before, and a program looked your evidence up:\n{lines}\n"
        "Give all verdicts again. Quote word for word from one place in the data. A pass for which there is no such "
        "quote and no such search is a fail.\n"
    )


def _settled(verdict: Verdict) -> Verdict:
    if verdict.problem is None:
        return verdict
    return Verdict(Decision.UNGRADED, f"the judge's evidence did not hold: {verdict.problem}", verified=False)


def _outage(failed: ModelFailed) -> Verdict:
    return Verdict(
        Decision.UNGRADED, f"the judge could not be asked: {failed.failure.kind}: {failed.failure.message[:200]}"
    )


_DISTRUSTED = Verdict(
    Decision.UNGRADED, "the judge was not to be trusted here: it got an expectation wrong that was planted to test it"
)


def _majority(votes: list[Verdict]) -> Verdict:
    """What more than half of the votes say; with a split, how it was."""
    if len(votes) == 1:
        return votes[0]
    counts = {decision: sum(one.decision is decision for one in votes) for decision in Decision}
    split = ", ".join(f"{count} {decision}" for decision, count in counts.items() if count)
    for decision in (Decision.PASSED, Decision.FAILED):
        if 2 * counts[decision] > len(votes):
            first = next(one for one in votes if one.decision is decision)
            return Verdict(
                decision, f"{first.evidence} [{counted(len(votes), 'vote')}: {split}]", first.places, first.verified
            )
    reason = next((one.evidence for one in votes if one.decision is Decision.UNGRADED), "")
    return Verdict(Decision.UNGRADED, f"the votes came to no majority ({split}). {reason}".strip())
