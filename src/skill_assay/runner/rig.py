"""What the trials of one run share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skill_assay.model.agent import SignIn
from skill_assay.model.protocols import Agent, Sandbox
from skill_assay.runner.admission import AdaptiveAdmission
from skill_assay.runner.code import SandboxedCode
from skill_assay.runner.grading import Grading
from skill_assay.runner.ledger import BudgetLedger
from skill_assay.runner.prices import PriceBook
from skill_assay.runner.settings import RunSettings
from skill_assay.workspace.store import Iteration

__all__ = ["ArmKit", "Rig"]


@dataclass(frozen=True, slots=True)
class ArmKit:
    """What an arm's trials need at hand."""

    agent: Agent
    sign_in: SignIn
    skill_source: Path | None = None
    """A private copy of the arm's skill, as it was when the plan was made."""
    skill_files: tuple[str, ...] = ()
    folder: str | None = None
    """The name it is installed under."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Rig:
    """Everything a trial is handed besides its own specification."""

    iteration: Iteration
    arms: Mapping[str, ArmKit]
    sandbox: Sandbox
    admission: AdaptiveAdmission
    ledger: BudgetLedger
    prices: PriceBook
    grading: Grading
    code: SandboxedCode
    settings: RunSettings
    skill_names: frozenset[str]
    """The names by which the skill under test may be called: its declared name and its folder."""
    session: int = 0
    """Tells this session's launches from those of earlier ones in the journal."""
    base_url: str | None = None
    """A model server of our own, for the canary and the tests."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The user's environment, from which named variables may be passed."""
    versions: Mapping[str, str] = field(default_factory=dict)
