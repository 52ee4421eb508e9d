"""Published workspaces of strangers, in every layout: each has its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError, NotFoundError
from skill_assay.viewer.links import ServerLinks
from skill_assay.viewer.pages import Pages
from skill_assay.viewer.site import Site
from skill_assay.workspace.resolve import resolve_place

LEAST = 5
"""Published workspaces that hold graded runs; fewer mean that the reading of one was lost."""


@pytest.mark.slow
def test_every_published_workspace_has_its_pages(shared_data: Path) -> None:
    shown = 0
    places = sorted({path.parent for path in (shared_data / "workspaces").rglob("iteration-*") if path.is_dir()})
    for place in places:
        site = Site.of(resolve_place(place))
        pages = Pages(site, ServerLinks())
        for name in site.names:
            try:
                opened = site.open(name)
            except (NotFoundError, InputError):
                continue
            for page in (pages.overview(opened), pages.evals(opened), pages.expectations(opened)):
                assert "<main" in page
            assert opened.benchmark.runs[0].eval.name in pages.trial(opened, opened.benchmark.runs[0]).replace(
                "&#39;", "'"
            ).replace("&amp;", "&")
            shown += 1
    assert shown >= LEAST
