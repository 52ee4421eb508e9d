"""The simulated agent: plays a script with known truth, as a real process, through the same doors as a real agent.

`simulated` plays `simulated.json` beside the evals, `simulated: PATH` another script; `simulated: floor` does
nothing and `simulated: ceiling` plays each eval's reference. Everything is decided here, before the process starts,
from (seed, eval, arm, repeat, attempt) alone: neither the order of trials nor a resume changes anything.
"""

from __future__ import annotations

import hashlib
import json
import marshal
import random
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay import __version__
from skill_assay.agents import simulated_program
from skill_assay.agents.event_lines import ProgramParser
from skill_assay.agents.reference import Reference, load_references
from skill_assay.agents.simulated_script import WITH, WITHOUT, Behaviour, Script, load_script
from skill_assay.agents.simulated_steps import Play, Step
from skill_assay.errors import InputError
from skill_assay.formats.skill import read_skill
from skill_assay.model.agent import Capabilities, Detected, Listing, Request, SignIn
from skill_assay.model.evals import EvalSet
from skill_assay.model.place import Launch, Place
from skill_assay.model.protocols import Parser

__all__ = ["SCRIPT_NAME", "SimulatedAgent"]

SCRIPT_NAME = "simulated.json"
FLOOR, CEILING = "floor", "ceiling"


class SimulatedAgent:
    """Nothing it shows is a real agent's work, and everything it touches is labelled so.

    Args:
        argument: empty, a script's path, `floor` or `ceiling`.

    Raises:
        InputError: the script is missing or malformed.
    """

    name = "simulated"
    capabilities = Capabilities(
        cost=True,
        tokens=True,
        grants=True,
        network=False,
        simulated=True,
        note="Tokens, seconds and prices are scripted, not measured.",
        listing=Listing(per_skill=1536, total=30_000),
    )

    def __init__(self, argument: str = "") -> None:
        self._mode = argument.strip()
        self._label = self._mode if self._mode in (FLOOR, CEILING) else "script"
        self._asked = False
        """Whether it is asked trigger queries, not run on evals."""
        self._script: Script | None = None
        self._references: Mapping[str, Reference] | None = None
        if self._mode not in ("", FLOOR, CEILING):
            self._script = load_script(Path(self._mode))

    def bind(self, skill_root: Path, evals: EvalSet) -> None:
        """Learn which skill and evals it is run on: where its script lies, and the references of the ceiling.

        Raises:
            InputError: no script, one that leaves an eval out, or no reference to play.
        """
        if self._mode == CEILING:
            self._references = load_references(skill_root, evals)
        elif self._mode != FLOOR:
            self._script = self._script or load_script(evals.root / SCRIPT_NAME)
            for each in evals.evals:
                self._script.behaviours(each.id, WITH, installed=True)
                self._script.behaviours(each.id, WITHOUT, installed=False)

    def bind_queries(self, skill_root: Path, queries: EvalSet) -> None:
        """Learn which skill's trigger queries it is asked: the script lies beside them, else in the skill's `evals/`.

        Raises:
            InputError: no script.
        """
        self._asked = True
        if self._mode == CEILING:
            raise InputError(
                "The ceiling plays references, and trigger queries have none", hint="Use --agent simulated."
            )
        if self._mode != FLOOR and self._script is None:
            beside = queries.root / SCRIPT_NAME
            self._script = load_script(beside if beside.is_file() else skill_root / "evals" / SCRIPT_NAME)

    def detect(self, env: Mapping[str, str]) -> Detected | None:
        """Always here; its version changes with its script or references, since its work does."""
        content = repr((self._script and (self._script.evals, self._script.queries), self._references))
        digest = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()[:8]
        return Detected(self.name, f"{__version__}+{self._label}.{digest}", "built in", self.sign_in(env))

    def sign_in(self, env: Mapping[str, str]) -> SignIn:
        """None is needed."""
        return SignIn("none", "simulated")

    def skills_folder(self, place: Place) -> Path:
        """Where the process looks for a skill's SKILL.md."""
        return place.work / ".agents" / "skills"

    def launch(self, request: Request) -> Launch:
        """The process with its steps; `SKILL_DIR` names the installed skill to the script's shell lines.

        Raises:
            InputError: the script says nothing about this eval and arm, or `bind` was not called.
        """
        return Launch(
            argv=[_PYTHON, "-I", "-S", "-X", "utf8", "-c", _SOURCE],
            env={**request.env, "HOME": request.home, "TMPDIR": request.tmp, "SKILL_DIR": request.skill_path or ""},
            cwd=Path(request.work),
            stdin=marshal.dumps(self._steps(request)),
        )

    def parser(self, request: Request) -> Parser:
        """Reads our event lines, and takes the scripted seconds for the time."""
        return ProgramParser(own_clock=True)

    def _steps(self, request: Request) -> list[Step]:
        play = Play(request, self._label)
        eval_id, arm = str(request.key.get("eval", "")), str(request.key.get("arm", ""))
        if self._mode == FLOOR:
            return play.floor()
        if self._mode == CEILING:
            if self._references is None:
                raise InputError("The ceiling agent was not told which evals it is run on")
            return play.ceiling(eval_id, self._references.get(eval_id))
        if self._script is None:
            raise InputError("The simulated agent was not told which skill it is run on, nor given a script")
        if self._asked:
            rule = self._script.query(eval_id, request.prompt, _description(request))
            return play.behaviour(rule.chosen(_draws(request.key).random()), _draws(request.key, "attempt"))
        found = self._script.behaviours(eval_id, arm, installed=request.skill_folder is not None)
        return play.behaviour(_choose(found, request.key), _draws(request.key, "attempt"))


# The interpreter itself and the program as text: neither a virtual environment nor this package need be visible
# inside a sandbox.
_PYTHON: str = getattr(sys, "_base_executable", None) or sys.executable
_SOURCE = Path(simulated_program.__file__).read_text(encoding="utf-8")


def _draws(key: Mapping[str, Any], *further: str) -> random.Random:
    names = ("seed", "eval", "arm", "repeat", *further)
    return random.Random(json.dumps([key.get(name) for name in names]))


def _description(request: Request) -> str:
    """Of the skill as it is installed for this attempt."""
    if request.skill_path is None or request.skill_folder is None:
        return ""
    installed = request.place.work / Path(request.skill_path).relative_to(request.work)
    return read_skill(installed).description


def _choose(behaviours: tuple[Behaviour, ...], key: Mapping[str, Any]) -> Behaviour:
    """By weight, and the same for all attempts of a trial: what befalls a trial does not vanish when it is repeated."""
    repeat = key.get("repeat")
    named = [behaviour for behaviour in behaviours if repeat in behaviour.repeats]
    open_to = named or [behaviour for behaviour in behaviours if not behaviour.repeats]
    if not open_to:
        raise InputError(
            f"The simulated agent's script names repeats only, and not repeat {repeat}, "
            f"for eval {key.get('eval')!r} in the arm {key.get('arm')!r}"
        )
    left = _draws(key).random() * sum(behaviour.weight for behaviour in open_to)
    for behaviour in open_to:
        left -= behaviour.weight
        if left < 0:
            return behaviour
    return open_to[-1]
