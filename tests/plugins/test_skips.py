"""The rule about skips, tried in a test run of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SUITE = """
import pytest

def test_part():
    pytest.skip("no such program: bwrap")

def test_data():
    pytest.skip("no shared data at /nowhere")

def test_place():
    pytest.skip("not here: root can write everywhere")

@pytest.mark.xfail
def test_known():
    assert False
"""
WHOLE_MODULE = """
import pytest
pytest.skip("no such program: node", allow_module_level=True)
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest('pytest_plugins = ["tests.plugins.skips"]')
    pytester.makepyfile(test_parts=SUITE, test_module=WHOLE_MODULE)
    return pytester


@pytest.mark.slow
def test_a_missing_part_fails_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    result = suite.runpytest("-p", "no:xdist", "--continue-on-collection-errors")
    result.assert_outcomes(failed=1, errors=1, skipped=2, xfailed=1)
    result.stdout.fnmatch_lines(["*nothing that we can install may be missing*"])


def test_elsewhere_it_is_listed_with_its_reason(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    result = suite.runpytest("-p", "no:xdist", "-ra")
    result.assert_outcomes(skipped=4, xfailed=1)
    result.stdout.fnmatch_lines(["*SKIPPED*no such program: bwrap*"])


@pytest.mark.slow
def test_client_tests_share_one_worker(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers = client")
    pytester.makeconftest('pytest_plugins = ["tests.plugins.skips"]')
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.client
        @pytest.mark.parametrize("number", range(6))
        def test_client(number, worker_id):
            assert worker_id == "master" or open("seen", "a").write(worker_id + " ")

        @pytest.mark.parametrize("number", range(6))
        def test_other(number):
            pass
        """
    )
    pytester.runpytest_subprocess("-n", "2", "--dist", "loadgroup").assert_outcomes(passed=12)
    assert len(set((pytester.path / "seen").read_text(encoding="utf-8").split())) == 1
