"""`assay iterate`: run, improve, run against the version before, keep the new one only when it is better."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio
import click

from skill_assay.benchmark.derive import Derived, derive
from skill_assay.cli.asking import asking
from skill_assay.cli.drafts import draft_body
from skill_assay.cli.learning import analysis_words, learn, propose
from skill_assay.cli.measure import RunChoices, measure_skill
from skill_assay.cli.options import setting_options, talk_options
from skill_assay.cli.progress import make_display
from skill_assay.cli.resolve import Resolved, resolve
from skill_assay.cli.result import exit_code
from skill_assay.errors import ConfirmationError, IncompleteError, NotFoundError
from skill_assay.formats.skill import read_skill
from skill_assay.improve.history import Outcome, add_version, begin_history
from skill_assay.improve.improver import skill_text
from skill_assay.improve.proposal import Proposal
from skill_assay.llm.base import ModelFailed
from skill_assay.model.money import Spend
from skill_assay.reports.figures import count
from skill_assay.runner.engine import Ending
from skill_assay.runner.progress import Display
from skill_assay.runner.settings import Budget
from skill_assay.workspace.candidates import put_in_place
from skill_assay.workspace.judgements import read_versions, write_versions
from skill_assay.workspace.places import default_workspace, skill_folder
from skill_assay.workspace.redact import Redactor
from skill_assay.workspace.store import Iteration, Workspace
from skill_assay.workspace.writing import utc_now

__all__ = ["command"]

_GO_ON = "Raise --budget and begin again: what was measured is taken up, and the proposal is kept."


@click.command()
@click.argument("skill", type=click.Path())
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Versions to try at most.")
@click.option("--improver", metavar="NAME", help="Model that proposes; else the judge, else Claude Code.")
@setting_options
@click.option("--config", type=click.Path(), metavar="FILE", help="Configuration file, as for run.")
@click.option("--workspace", type=click.Path(), metavar="FOLDER", help="Where results go.")
@click.option("--eval", "eval_ids", multiple=True, metavar="ID", help="Only this eval (repeatable).")
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only evals with this tag (repeatable).")
@click.option("-y", "--yes", is_flag=True, help="Do not stop for a person at the turning points.")
@talk_options
def command(skill: str, rounds: int, improver: str | None, **options: Any) -> int:
    """Improve SKILL in rounds: propose a version, run it against the one before, keep it only when it is better.

    Where there are evals and no SKILL.md yet, the first version is written from them. The budget covers the whole.
    """
    root = skill_folder(Path(skill))
    resolved = resolve(root, options)
    display = make_display("none" if options["no_progress"] else options["progress"], options["quiet"])
    place = resolved.workspace or default_workspace(root)
    asked = improver or (resolved.settings.judge if resolved.settings.judge != "none" else "auto")
    loop = _Loop(root, resolved, Workspace.create(place, Redactor([])), display, asked, options["yes"])
    return loop.run(rounds)


@dataclass(slots=True)
class _Loop:
    root: Path
    resolved: Resolved
    workspace: Workspace
    display: Display
    improver: str
    yes: bool
    spent: Spend = Spend()
    tried: list[str] = field(default_factory=list)

    def run(self, rounds: int) -> int:
        """All rounds; the exit code is that of the last measurement."""
        self._first_version()
        self._turning_point("Are the evals right? What they do not ask for will not be improved")
        iteration, code = self._baseline()
        self._turning_point("Do you believe the grades? Look at them with  assay view")
        for number in range(1, rounds + 1):
            left = self._left()
            if 0 in (left.usd, left.tokens, left.trials):
                click.echo("The budget is spent", err=True)
                code = 3
            if code not in (0, 1):
                break
            self.display.say(f"Round {number} of {rounds}")
            proposal = self._proposal(iteration)
            if proposal is None:
                return 3
            self._turning_point("Go on and run this version against the one before")
            iteration, code = self._trial_of(iteration, proposal)
        best = (read_versions(self.workspace) or {}).get("current_best")
        click.echo(f"The best version is {best}; all of them: {self.workspace.path / 'history.json'}")
        return code

    def _first_version(self) -> None:
        """From evals alone the skill itself is written."""
        file = self.root / "SKILL.md"
        if file.exists():
            return
        if not (self.root / "evals").is_dir():
            raise NotFoundError("is no skill and has no evals", file=str(self.root), hint="assay init begins one.")
        with asking(None, self._model_options(), 1) as desk:
            draft_body(self.root, self.root.absolute().name, desk, _create)
            self.spent += desk.ledger.spent
        click.echo(f"Drafted {file} from the evals")

    def _baseline(self) -> tuple[Iteration, int]:
        """Results of the skill as it is now: the newest iteration where it is about that, else a run."""
        skill = read_skill(self.root)
        iterations = [one for one in self.workspace.iterations() if one.has_plan]
        if iterations and iterations[-1].read_plan().digests.get("skill") == skill.digest:
            derived = derive(iterations[-1].path)
            self._remember(skill.digest, derived, iterations[-1], "baseline", kept=True)
            return iterations[-1], 0
        return self._measure(self.root, self.resolved, skill.digest, None)

    def _measure(self, root: Path, resolved: Resolved, digest: str, outcome: Outcome | None) -> tuple[Iteration, int]:
        settings = replace(resolved.settings, budget=self._left())
        choices = RunChoices(fresh=True, yes=self.yes, workspace=self.workspace.path)
        result, derived = measure_skill(root, replace(resolved, settings=settings), choices, self.display)
        self.spent += replace(result.spent, launches=result.launched)
        iteration = Iteration(result.iteration.path, self.workspace.writer)
        if derived is None and result.stopped.ending is Ending.BUDGET:
            raise IncompleteError("The budget is spent, so the last proposal was not measured", hint=_GO_ON)
        if derived is None:
            raise IncompleteError("Nothing could be measured", hint=f"assay run {self.root}  says why.")
        if outcome is None:
            self._remember(digest, derived, iteration, "baseline", kept=True)
        return iteration, exit_code(result, derived)

    def _proposal(self, iteration: Iteration) -> Proposal | None:
        lessons = learn(iteration)
        click.echo(analysis_words(lessons))
        skill = read_skill(self.root)
        with asking(iteration, self._model_options(), 2) as desk:
            try:
                proposal = anyio.run(propose, lessons, skill, skill_text(skill), desk, tuple(self.tried))
            except ModelFailed as failed:
                click.echo(f"The model could not be asked: {failed}", err=True)
                return None
            finally:
                self.spent += desk.ledger.spent
        click.echo(f"{proposal.summary}\n  The diff: {iteration.candidate_path / 'changes.diff'}")
        return proposal

    def _trial_of(self, source: Iteration, proposal: Proposal) -> tuple[Iteration, int]:
        """Run a candidate against the version it was made from, and keep the better one."""
        with _whole(self.root, proposal) as folder:
            settings = replace(self.resolved.settings, baselines=(str(self.root.absolute()),))
            evals = self.resolved.evals_path.absolute() if self.resolved.evals_path else None
            resolved = replace(self.resolved, settings=settings, evals_path=evals)
            iteration, code = self._measure(folder, resolved, proposal.digest, "tie")
        plan = iteration.read_plan()
        iteration.write_plan(replace(plan, skill_path=str(self.root)))
        derived = derive(iteration.path)
        kept, outcome = self._decide(derived, code)
        self._remember(proposal.digest, derived, iteration, outcome, kept=kept)
        if kept:
            put_in_place(source, self.root)
            click.echo(f"Kept. The version before lies in {source.candidate_path / 'before.tar'}")
        else:
            self.tried.append(f"{proposal.summary} ({outcome})")
            click.echo("Not kept: the version before stays in place")
        return iteration, code

    def _decide(self, derived: Derived, code: int) -> tuple[bool, Outcome]:
        found = derived.inference
        verdict = found.verdict if found and code in (0, 1) else "inconclusive"
        if verdict == "better":
            return True, "won"
        if verdict == "worse":
            return False, "lost"
        if verdict == "inconclusive":
            click.echo(f"It can't be told which is better. {_what_would_decide(derived)}")
            if (
                not self.yes
                and sys.stdin.isatty()
                and click.confirm("Keep the new version all the same?", default=False)
            ):
                return True, "tie"
        return False, "tie"

    def _remember(self, digest: str, derived: Derived, iteration: Iteration, outcome: Outcome, *, kept: bool) -> None:
        history = read_versions(self.workspace) or begin_history(read_skill(self.root).name, utc_now())
        known = any(row.get("digest") == digest for row in history["iterations"])
        if outcome == "baseline" and known:
            return
        primary = next((arm for arm in derived.benchmark.arms if arm.arm.role == "primary"), None)
        rate = primary.pass_rate.mean if primary and primary.pass_rate else None
        verdict = derived.inference.verdict if derived.inference else None
        facts = {"iteration": iteration.number, "verdict": verdict, "at": utc_now()}
        write_versions(self.workspace, add_version(history, digest, rate, outcome, kept=kept, **facts))

    def _turning_point(self, words: str) -> None:
        if self.yes:
            return
        if not sys.stdin.isatty():
            raise ConfirmationError(f"{words}: a person should say, and there is no terminal", hint="Or add --yes.")
        if not click.confirm(f"{words}?", default=True, err=True):
            raise ConfirmationError("Stopped. What was measured and proposed is kept")

    def _left(self) -> Budget:
        """What is left of the budget, which covers runs and questions alike."""
        whole = self.resolved.settings.budget
        return Budget(
            None if whole.usd is None else max(0.0, whole.usd - self.spent.usd),
            None if whole.tokens is None else max(0, whole.tokens - self.spent.tokens),
            None if whole.trials is None else max(0, whole.trials - self.spent.launches),
        )

    def _model_options(self) -> dict[str, Any]:
        left = self._left()
        caps = [f"{left.usd:.6f}usd"] if left.usd is not None else []
        caps += [f"{left.tokens}tok"] if left.tokens is not None else []
        return {
            "judge": self.improver,
            "budget": ",".join(caps) or None,
            "workers": 4,
            "judge_again": False,
            "yes": self.yes,
        }


def _create(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def _whole(root: Path, proposal: Proposal) -> Iterator[Path]:
    """The skill's folder with its evals and the candidate laid over, in a place of its own; the skill is untouched."""
    with tempfile.TemporaryDirectory(prefix="assay-iterate-") as place:
        folder = Path(place) / root.absolute().name
        shutil.copytree(root, folder, symlinks=True, ignore=shutil.ignore_patterns(".git", "*-workspace"))
        for name, content in proposal.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_symlink():
                path.write_bytes(content)
        yield folder


def _what_would_decide(derived: Derived) -> str:
    price = derived.inference.price if derived.inference else None
    if price is None:
        return "Add evals or trials."
    ways = []
    if price.evals_needed is not None:
        ways.append(count(price.evals_needed, "eval"))
    if price.trials_needed is not None:
        ways.append(f"{count(price.trials_needed, 'trial')} of each eval")
    return f"With {' or '.join(ways)} it could be." if ways else "More trials alone would not decide it; add evals."
