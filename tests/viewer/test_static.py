"""The one-file report: one script, allowed by its hash, and nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

import pytest

from skill_assay.benchmark.derive import derive
from skill_assay.cli.result import keep_report
from skill_assay.viewer.site import Site
from skill_assay.viewer.static import Budget, static_page
from skill_assay.workspace.resolve import resolve_place
from tests.viewer.hostile import hostile_place
from tests.viewer.small import site_of, small_iteration, write


def page_of(site: Site, budget: Budget | None = None) -> tuple[str, int]:
    return static_page(site, site.open(site.shown.path.name), budget or Budget())


def test_it_has_exactly_one_script_whose_hash_is_allowed(tmp_path: Path) -> None:
    for site in (site_of(small_iteration(tmp_path)), Site.of(resolve_place(hostile_place(tmp_path)))):
        text, left = page_of(site)
        assert left == 0
        (script,) = re.findall(r"<script[^>]*>(.*?)</script>", text, re.DOTALL | re.IGNORECASE)
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
        assert policy is not None and f"script-src &#39;sha256-{digest}&#39;;" in policy[1]


def test_it_loads_nothing(tmp_path: Path) -> None:
    text, _ = page_of(site_of(small_iteration(tmp_path)))
    assert not re.search(r'(?:src|href)="(?!data:|#|blob:)', text)


def test_pictures_are_put_in_up_to_a_cap_and_what_is_not_is_said(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    write(iteration.path / "eval-e1/with_skill/run-1/outputs", {"small.png": b"\x89PNG", "large.png": b"x" * 5000})
    text, _ = page_of(site_of(iteration), Budget(embed_bytes=1000))
    assert "data:image/png;base64,iVBORw==" in text
    assert text.count("too large to be put into this file") == 1
    text, _ = page_of(site_of(iteration), Budget(embed_bytes=0))
    assert "data:image/png" not in text


def test_trials_beyond_the_limit_are_listed_the_worst_kept(tmp_path: Path) -> None:
    text, left = page_of(site_of(small_iteration(tmp_path)), Budget(total_bytes=30_000))
    assert 0 < left < 8
    assert f"{left} trials beyond its size limit" in text
    assert 'id="page/trial/eval-e2-with_skill-run-1"' in text
    listed = text[text.index("Not in this file") :].partition("</details>")[0]
    assert listed.count("<li>") == left


def test_a_run_writes_its_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    iteration = small_iteration(tmp_path)
    keep_report(iteration, derive(iteration.path))
    assert "<h1" in iteration.report_path.read_text(encoding="utf-8")
    assert capsys.readouterr().err == ""


def test_a_report_that_fails_is_told_and_fails_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    iteration = small_iteration(tmp_path)
    iteration.report_path.mkdir()
    keep_report(iteration, derive(iteration.path))
    assert "report.html could not be written" in capsys.readouterr().err


def test_a_large_run_does_not_wait_for_its_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    iteration = small_iteration(tmp_path)
    monkeypatch.setattr("skill_assay.cli.result.LARGEST_REPORT", 7)
    keep_report(iteration, derive(iteration.path))
    assert "--static" in capsys.readouterr().err
    assert not iteration.report_path.exists()


def test_a_page_of_text_stays_small_enough_for_five_hundred_trials(tmp_path: Path) -> None:
    """Two arms' reports of 6 kB that differ in every line, shown twice and compared: 20 MB hold 500 such trials."""
    iteration = small_iteration(tmp_path)
    for arm, word in (("with_skill", "alpha"), ("without_skill", "omega")):
        report = "".join(f"line {n} has its {word} and {n * 7} more words in it\n" for n in range(150)).encode()
        write(iteration.path / f"eval-e1/{arm}/run-1/outputs", {"report.md": report})
    text, _ = page_of(site_of(iteration))
    page = text[text.index('id="page/trial/eval-e1-with_skill-run-1"') :].partition("</template>")[0]
    assert page.count("<ins>") >= 50
    assert len(page.encode()) < 2 * 20_000_000 / 500
