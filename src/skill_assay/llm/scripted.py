"""A model without a model: it says what a script says. For tests, and to try judging without a key."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_assay.errors import Failure, FailureKind, InputError
from skill_assay.llm.base import Said
from skill_assay.llm.scripted_judge import judge_reply
from skill_assay.model.attached import NOTHING, Attached
from skill_assay.model.transcript import Tokens, Usage

__all__ = ["ScriptedVoice", "voice_from_file"]

Reply = Callable[[str, Mapping[str, Any]], Any]
"""Prompt and schema → the reply, or a `Failure`."""

_COST = Usage(Tokens(input=900, output=100), cost_usd=0.002)


class ScriptedVoice:
    """Implements `Voice`.

    Args:
        replies: called for each question; or a list, said in order, of which the last is repeated.
    """

    def __init__(self, replies: Reply | Sequence[Any], name: str = "scripted", usage: Usage = _COST) -> None:
        self.name = name
        self.sees_pictures = True
        self.reads_files = True
        self.prompts: list[str] = []
        """Every question as it was put."""
        self.attached: list[Attached] = []
        """What came with each."""
        self._replies, self._usage = replies, usage

    async def say(self, prompt: str, schema: Mapping[str, Any], attached: Attached = NOTHING) -> Said:
        """What the script says."""
        self.prompts.append(prompt)
        self.attached.append(attached)
        if callable(self._replies):
            found = self._replies(prompt, schema)
            found = await found if inspect.isawaitable(found) else found
        else:
            found = self._replies[min(len(self.prompts), len(self._replies)) - 1]
        if isinstance(found, Failure):
            return Said(usage=Usage(Tokens(), 0.0), failure=found)
        return Said(found, self._usage, self.name)


def voice_from_file(path: Path) -> ScriptedVoice:
    """A voice that plays a JSON file, which holds one of two things.

    A list of rules `{"when": text, "reply": {…}}` or `{"when": …, "fail": kind}`: the first rule whose text stands in
    the question answers it; without `when` a rule fits every question. Or an object `{"verdicts": {expectation: "pass"
    | "fail" | {verdict, quote, …}}}`: a judge (see `scripted_judge`).

    Raises:
        InputError: the file can't be read as such.
    """
    try:
        script = json.loads(path.read_text(encoding="utf-8"))
        rules = script if isinstance(script, list) else []
        if isinstance(script, dict) and not isinstance(script.get("verdicts"), dict):
            raise ValueError("it holds no verdicts")
        if not all(isinstance(one, dict) and ("reply" in one or "fail" in one) for one in rules):
            raise ValueError("a rule has neither reply nor fail")
        for one in rules:
            FailureKind(one.get("fail", "unknown"))
    except OSError as error:
        raise InputError("can't be read", file=str(path), found=error.strerror or str(error)) from error
    except ValueError as error:
        expected = '[{"when": "text", "reply": {…}}] or {"verdicts": {…}}'
        raise InputError(f"can't be played: {error}", file=str(path), expected=expected) from error
    name = f"scripted: {path.name}"
    if isinstance(script, dict):
        return ScriptedVoice(lambda prompt, _: judge_reply(prompt, script["verdicts"]), name)
    return ScriptedVoice(lambda prompt, _: _by_rule(prompt, rules), name)


def _by_rule(prompt: str, rules: Sequence[Mapping[str, Any]]) -> Any:
    for rule in rules:
        if str(rule.get("when", "")) in prompt:
            return Failure(FailureKind(rule["fail"]), "scripted") if "fail" in rule else rule["reply"]
    return Failure(FailureKind.UNREADABLE, "the script has no answer to this")
