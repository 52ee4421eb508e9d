"""The proposer of a search: which model, its budget, and the journal of what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType

from skill_assay.errors import InputError
from skill_assay.llm.base import Asker
from skill_assay.model.money import Spend
from skill_assay.runner.admission import WAIT_SECONDS, AdaptiveAdmission
from skill_assay.runner.execute import make_sandbox
from skill_assay.runner.judging import make_voice
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import TRIAL_PRIORS, PriceBook
from skill_assay.runner.session import Session
from skill_assay.runner.settings import RunSettings
from skill_assay.triggering.measuring import remaining
from skill_assay.triggering.optimise import Propose
from skill_assay.triggering.proposer import Brief, Proposal, propose
from skill_assay.workspace.journal import Journal, replay
from skill_assay.workspace.optimise_store import OptimisationFolder

__all__ = ["PROPOSER", "ProposerDesk", "proposer_of"]

PROPOSER = "proposer"
"""The purpose under which it is admitted and priced."""


def proposer_of(spec: str | None, session: Session) -> str:
    """The proposer that was named, else the agent under test; it must be here and signed in.

    Raises:
        InputError: it can't be had.
    """
    agent, model = session.agent, session.settings.model
    if spec is None and agent.capabilities.simulated:
        raise InputError(
            "a simulated agent can't propose descriptions",
            hint="Name a model with --proposer claude-code, or play replies with --proposer 'scripted: FILE.json'.",
        )
    chosen = spec or (f"{agent.name}/{model}" if model else session.settings.agent or agent.name)
    make_voice(chosen, make_sandbox(session.settings), session.environment, session.base_url, check=True)
    return chosen


@dataclass(slots=True)
class ProposerDesk:
    """Asks the proposer inside the search's budget.

    Args:
        spec: which model.
        folder: where the search is kept.
        session: for the wall, the environment and the server.
        settings: the budget is that of the whole search.
        others: what everything else has cost so far.
    """

    spec: str
    folder: OptimisationFolder
    session: Session
    settings: RunSettings
    others: Callable[[], Spend] = Spend
    _before: Spend = field(default_factory=Spend)
    _here: Spend = field(default_factory=Spend)
    _journal: Journal | None = None

    def __enter__(self) -> ProposerDesk:
        state = replay(self.folder.journal_path)
        self._before = state.spent + state.unsettled
        self._journal = Journal(self.folder.journal_path, self.folder.writer)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._journal is not None:
            self._journal.close()

    @property
    def spent(self) -> Spend:
        """By all questions, earlier sessions' included."""
        return self._before + self._here

    def propose(self, refuse: Callable[[str], str | None]) -> Propose:
        """What a search asks for descriptions.

        Args:
            refuse: a last check of a text.
        """

        async def asked(brief: Brief, taken: Sequence[str]) -> Proposal:
            assert self._journal is not None
            left = remaining(self.settings.budget, self.others() + self.spent)
            ledger = BudgetLedger(left, self._journal.write)
            try:
                return await propose(self._asker(ledger), brief, taken, ledger, refuse)
            finally:
                self._here = self._here + ledger.spent

        return asked

    def _asker(self, ledger: BudgetLedger) -> Asker:
        scripted = self.spec.startswith("scripted")
        prices = PriceBook(free=scripted, priors=TRIAL_PRIORS)
        admission = AdaptiveAdmission(1, ledger, prices, 0.0 if scripted else WAIT_SECONDS)
        session = self.session
        voice = make_voice(self.spec, make_sandbox(session.settings), session.environment, session.base_url)
        return Asker(voice, admission, PROPOSER, session.settings.retrying.base_seconds)
