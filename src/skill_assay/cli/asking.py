"""What commands share that ask a model about results that are there: which model, its budget, its journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from skill_assay.cli.caps import parse_caps
from skill_assay.cli.talk import confirm
from skill_assay.errors import InputError
from skill_assay.graders.judge_log import JudgeLog, MemoryLog, RememberingModel
from skill_assay.llm.base import Asker
from skill_assay.model.protocols import Ledger
from skill_assay.runner.admission import WAIT_SECONDS, AdaptiveAdmission
from skill_assay.runner.estimate import estimate
from skill_assay.runner.judging import JUDGE, StoredLog, make_asker, priors_of, signed_in_judge
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.sandbox import NoSandbox
from skill_assay.runner.settings import Budget, RunSettings
from skill_assay.workspace.journal import Journal, Lock
from skill_assay.workspace.store import Iteration

__all__ = ["Desk", "asking"]


@dataclass(frozen=True, slots=True)
class Desk:
    """A model to ask, and where what it costs and says is kept."""

    asker: Asker
    model: RememberingModel
    ledger: Ledger


@contextmanager
def asking(iteration: Iteration | None, options: dict[str, Any], questions: int) -> Iterator[Desk]:
    """A desk for an iteration; the money is agreed to first, and nobody else writes there meanwhile.

    Args:
        iteration: ours or somebody else's; `None` where there is none yet, then nothing is kept.
        options: of `model_options`.
        questions: how many are expected, for the estimate.

    Raises:
        InputError: no model can be had.
        ConfirmationError: the estimate needs a word that nobody gave.
    """
    judge = options["judge"] if options["judge"] != "auto" else signed_in_judge(os.environ)
    if judge == "none":
        raise InputError("This needs a model to ask", found="--judge none", expected="claude-code, anthropic:MODEL, …")
    prices = PriceBook(free=True, others=priors_of(RunSettings(judge=judge)))
    confirm(estimate([JUDGE] * questions, prices, options["workers"]), options["yes"])
    caps = parse_caps(options["budget"])
    with ExitStack() as stack:
        note = _journal(iteration, stack)
        ledger = BudgetLedger(Budget(caps.get("usd"), caps.get("tokens")), note)
        hold_back = 0.0 if judge.startswith("scripted") else WAIT_SECONDS
        admission = AdaptiveAdmission(options["workers"], ledger, prices, hold_back)
        asker = make_asker(judge, admission, NoSandbox(), check=True)
        log: JudgeLog = StoredLog(iteration.writer) if iteration else MemoryLog()
        yield Desk(asker, RememberingModel(asker, log, options["judge_again"]), ledger)


def _journal(iteration: Iteration | None, stack: ExitStack) -> Callable[..., None]:
    if iteration is None or not iteration.has_plan:
        return lambda *_, **__: None
    stack.enter_context(Lock(iteration.lock_path()))
    journal = Journal(iteration.journal_path(), iteration.writer)
    stack.callback(journal.close)
    return journal.write
