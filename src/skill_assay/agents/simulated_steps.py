"""What a simulated attempt does, step by step: a behaviour, the floor or the ceiling, as data for the process."""

from __future__ import annotations

import json
import random
from typing import Any

from skill_assay import __version__
from skill_assay.agents.event_lines import VERSION
from skill_assay.agents.reference import Reference
from skill_assay.agents.simulated_script import Amount, Behaviour, Fail
from skill_assay.errors import Failure, FailureKind, policy
from skill_assay.model.agent import Request

__all__ = ["Play", "Step"]

Step = tuple[Any, ...]
"""One of the steps that `simulated_program` knows."""


class Play:
    """Turns one behaviour into the steps of one process."""

    def __init__(self, request: Request, mode: str) -> None:
        self._request = request
        self._calls = 0
        self._steps: list[Step] = []
        skills = [request.skill_name] if request.skill_name else []
        tools = ["Bash", "Read", "Skill", "Write"]
        self._line(
            "started", assay=VERSION, model=f"simulated ({mode})", version=__version__, tools=tools, skills=skills
        )

    def floor(self) -> list[Step]:
        """Ends at once."""
        self._line("usage", tokens={"input": 0, "output": 0}, cost_usd=0.0, turns=1, seconds=0.0)
        self._line("finished", answer="")
        return self._steps

    def ceiling(self, eval_id: str, reference: Reference | None) -> list[Step]:
        """Makes the reference's files and says its answer."""
        if reference is None:
            return self._fails(Fail(FailureKind.BAD_REQUEST, message=f"eval {eval_id} names no reference to play"))
        for path, content in reference.files:
            self._write(path, content)
        self._line("usage", tokens={"input": 0, "output": 0}, cost_usd=0.0, turns=self._calls + 1, seconds=0.0)
        self._line("finished", answer=reference.answer)
        return self._steps

    def behaviour(self, behaviour: Behaviour, draws: random.Random) -> list[Step]:
        """Plays one behaviour of a script."""
        # Drawn first and always in this order, so that an added command changes no number.
        tokens, seconds, cost = (_draw(a, draws) for a in (behaviour.tokens, behaviour.seconds, behaviour.cost_usd))
        fail = self._strikes(behaviour.fail)
        works = fail is None or policy(Failure(fail.kind, "")).graded
        if works:
            self._work(behaviour)
        if behaviour.sleep:
            self._steps.append(("sleep", behaviour.sleep))
        if works:
            turns = behaviour.turns or self._calls + 1
            self._line("usage", tokens=_split(tokens), cost_usd=cost, turns=turns, seconds=seconds)
        if fail is not None:
            return self._fails(fail)
        self._line("finished", answer=behaviour.say)
        return self._steps

    def _strikes(self, fail: Fail | None) -> Fail | None:
        attempt = self._request.key.get("attempt", 1)
        return fail if fail and (fail.attempts is None or attempt <= fail.attempts) else None

    def _work(self, behaviour: Behaviour) -> None:
        if behaviour.use_skill:
            self._use_skill(behaviour.use_skill)
        for command in behaviour.run:
            self._steps.append(("run", self._call("Bash", command=command), command))
        for path, content in behaviour.write:
            self._write(path, content.encode())
        if behaviour.say:
            self._line("text", text=behaviour.say)

    def _use_skill(self, named: bool | str) -> None:
        request = self._request
        if named is True and request.skill_path is None:
            return
        if named is True or named in (request.skill_folder, request.skill_name):
            name, folder = request.skill_folder, request.skill_path
        else:
            name, folder = str(named), f"{request.work}/.agents/skills/{named}"
        call = self._call("Skill", skill=name)
        lines = []
        for confirmed in (True, False):
            use = _json("skill_use", name=name, how="tool", confirmed=confirmed, call_id=call)
            said = f"Base directory for this skill: {folder}" if confirmed else f"Unknown skill: {name}"
            lines.append(use + b"\n" + _json("tool_result", call_id=call, text=said, is_error=not confirmed))
        self._steps.append(("read", f"{folder}/SKILL.md", *lines))

    def _write(self, path: str, content: bytes) -> None:
        call = self._call("Write", file_path=path, content=content.decode("utf-8", "replace"))
        self._steps.append(("write", path, content))
        self._line("tool_result", call_id=call, text=f"Wrote {len(content)} bytes to {path}")

    def _call(self, tool: str, **arguments: Any) -> str:
        self._calls += 1
        self._line("tool_call", id=f"call-{self._calls}", name=tool, input=arguments)
        return f"call-{self._calls}"

    def _fails(self, fail: Fail) -> list[Step]:
        if fail.kind is FailureKind.UNREADABLE:
            self._steps.append(("print", b"\x00 not an event line"))
            return self._steps
        if fail.kind is not FailureKind.CRASHED:
            self._line("error", kind=str(fail.kind), message=fail.message, retry_after=fail.retry_after)
        self._steps.append(("exit", 1, fail.message))
        return self._steps

    def _line(self, kind: str, /, **fields: Any) -> None:
        self._steps.append(("print", _json(kind, **fields)))


def _json(kind: str, /, **fields: Any) -> bytes:
    known = {name: value for name, value in fields.items() if value is not None}
    return json.dumps({"type": kind, **known}, ensure_ascii=False).encode()


def _draw(amount: Amount | None, draws: random.Random) -> float | None:
    drawn = draws.gauss(amount.mean if amount else 0.0, amount.sd if amount else 1.0)
    return max(0.0, drawn) if amount else None


def _split(tokens: float | None) -> dict[str, int] | None:
    """A tenth is output."""
    if tokens is None:
        return None
    whole = round(tokens)
    return {"input": whole - whole // 10, "output": whole // 10}
