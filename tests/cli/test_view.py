"""`assay view`: the address it prints opens the page, Ctrl-C ends it, and --static writes one file."""

from __future__ import annotations

import signal
import subprocess
import sys
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from click.testing import CliRunner

from skill_assay.cli.view import command
from skill_assay.errors import NotFoundError
from tests.viewer.small import small_iteration


@pytest.mark.slow
def test_the_printed_address_opens_the_page_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    argv = [sys.executable, "-m", "skill_assay", "view", str(iteration.path.parent), "--no-open"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:") and "token=" in url
        with build_opener(HTTPCookieProcessor(CookieJar())).open(url, timeout=60) as answer:
            page = answer.read().decode()
        assert answer.url.endswith("/i/iteration-1/overview") and "on these 2 evals" in page
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert "Traceback" not in err
    assert process.returncode in (0, 130)


@pytest.mark.slow
def test_static_writes_one_file(tmp_path: Path) -> None:
    iteration = small_iteration(tmp_path)
    output = tmp_path / "out.html"
    result = CliRunner().invoke(command, [str(iteration.path), "--static", str(output)], catch_exceptions=False)
    assert result.exit_code == 0 and "0." in result.output
    assert output.read_text(encoding="utf-8").count("<script") == 1


def test_a_place_that_is_not_there_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such place"):
        CliRunner().invoke(command, [str(tmp_path / "nowhere")], catch_exceptions=False)
