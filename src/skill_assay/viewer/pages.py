"""Each page as HTML: the values its template wants, for the server and for the one-file report alike."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from skill_assay.errors import AssayError
from skill_assay.formats.feedback import Feedback
from skill_assay.model.benchmark import Benchmark, Run
from skill_assay.reports.plain import delta_line
from skill_assay.viewer.compare import compare_page
from skill_assay.viewer.feedback import read_feedback
from skill_assay.viewer.improve import improve_page
from skill_assay.viewer.links import Links
from skill_assay.viewer.matrix import Filter, expectation_rows, matrix
from skill_assay.viewer.outputs import Caps
from skill_assay.viewer.overview import going_on, overview
from skill_assay.viewer.render import render
from skill_assay.viewer.site import Opened, Site, run_id_of
from skill_assay.viewer.suite import suite_near, suite_page
from skill_assay.viewer.trial import trial_page
from skill_assay.viewer.triggers import triggers_page

__all__ = ["Pages"]

_MOST_EXPECTATIONS = 500


class Pages:
    """Renders the pages of a site."""

    def __init__(self, site: Site, links: Links, caps: Caps | None = None) -> None:
        self.site, self.links, self.caps = site, links, caps or Caps()

    def overview(self, opened: Opened, *, bare: bool = False) -> str:
        """The verdict and what it rests on."""
        found = opened.benchmark
        view = overview(self.site, opened)
        words = "; ".join(delta_line(found.primary, found.baseline).split("      ")) if found.baseline else ""
        title = view.headline or "Overview"
        return self._page(
            "overview", title, opened, bare, view=view, delta_words=words, cost=_cost(found), feedback=_said(opened)
        )

    def evals(self, opened: Opened, asked: Filter | None = None, *, bare: bool = False) -> str:
        """The matrix."""
        return self._page("evals", "Evals", opened, bare, view=matrix(opened, asked, whole=self.links.static))

    def expectations(self, opened: Opened, text: str = "", *, bare: bool = False) -> str:
        """Pass rates by arm."""
        rows = expectation_rows(opened, text)[:_MOST_EXPECTATIONS]
        return self._page("expectations", "Expectations", opened, bare, view=rows, asked=text)

    def compare(self, opened: Opened, number: int | None = None) -> str:
        """One pair, blind until it is judged."""
        view = compare_page(opened, _said(opened), self.caps, number)
        return self._page("compare", "Compare", opened, False, view=view)

    def triggers(self, opened: Opened, asked: str | None = None) -> str:
        """Trigger evaluations, and the set they ask."""
        return self._page("triggers", "Triggers", opened, False, view=triggers_page(opened, asked, self.site.skill))

    def improve(self, opened: Opened) -> str:
        """The proposed version."""
        return self._page("improve", "Improve", opened, False, view=improve_page(opened, self.site.skill))

    def suite(self, opened: Opened) -> str:
        """Agents and models beside each other."""
        return self._page("suite", "Agents and models", opened, False, view=suite_page(self.site, opened))

    def trial(self, opened: Opened, run: Run, *, bare: bool = False) -> str:
        """One eval and repeat in every arm."""
        earlier = None if self.links.static else self.site.opened_before(opened.name)
        view = trial_page(opened, run, _said(opened), self.caps, earlier)
        return self._page("trial", run.eval.name, opened, bare, view=view, focus_id=run_id_of(run))

    def problem(self, name: str, heading: str, text: str) -> str:
        """What to say where there is no page."""
        return render("layout.html", body="problem.html", heading=heading, text=text, **self._frame(name, "", heading))

    def frame(self, opened: Opened) -> dict[str, Any]:
        """What the frame around the one-file report's pages wants."""
        return self._frame(opened.name, "overview", "Report", opened)

    def _page(self, page: str, title: str, opened: Opened, bare: bool, **values: Any) -> str:
        values |= self._frame(opened.name, page, title, opened)
        return render(f"{page}.html" if bare else "layout.html", body=f"{page}.html", opened=opened, **values)

    def _frame(self, name: str, tab: str, title: str, opened: Opened | None = None) -> dict[str, Any]:
        iteration = self.site.named(name)
        worst = opened.worst[0] if opened and opened.worst else None
        place = str(iteration.path.absolute() if iteration else name)
        return {
            "complete": _said(opened).status == "complete" if opened else None,
            "links": self.links,
            "live": going_on(iteration) if iteration and not self.links.static else None,
            "name": name,
            "names": self.site.names,
            "place": hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:16],
            "skill_name": opened.benchmark.skill_name if opened else name,
            "tab": tab,
            "tabs": self._tabs(opened),
            "title": title,
            "worst": self.links.trial(name, run_id_of(worst)) if worst else "",
        }

    def _tabs(self, opened: Opened | None) -> Sequence[tuple[str, str]]:
        tabs = [("overview", "Overview"), ("evals", "Evals"), ("expectations", "Expectations")]
        if opened and opened.benchmark.baseline and not self.links.static:
            tabs.append(("compare", "Compare"))
        if opened and not opened.benchmark.foreign and not self.links.static:
            tabs += [("triggers", "Triggers"), ("improve", "Improve")]
        if opened and not self.links.static and suite_near(opened.iteration):
            tabs.append(("suite", "Agents and models"))
        return tabs


def _said(opened: Opened) -> Feedback:
    try:
        return read_feedback(opened.iteration)
    except AssayError:
        return Feedback()


def _cost(found: Benchmark) -> float | None:
    """USD over every trial that tells its cost; `None` where none does."""
    costs = [run.cost_usd for run in found.runs if run.cost_usd is not None]
    return sum(costs) if costs else None
