"""`assay power`: tables from a prior or a workspace's own spread, for evals and for trigger sets, and a plot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.power import command
from skill_assay.errors import AssayError, InputError, NotFoundError


def call(*arguments: str) -> Result:
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception and not isinstance(result.exception, (AssayError, click.ClickException)):
        raise result.exception
    return result


def rows(*arguments: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(call(*arguments, "--format", "json").stdout)["rows"]
    return found


def graded(folder: Path, passes: int, total: int) -> None:
    """One run as other tools write it."""
    folder.mkdir(parents=True)
    expectations = [{"text": f"e{k}", "passed": k < passes, "evidence": "seen"} for k in range(total)]
    (folder / "grading.json").write_text(json.dumps({"expectations": expectations}), encoding="utf-8")


@pytest.fixture
def iteration(tmp_path: Path) -> Path:
    """Seven evals, two trials an arm, outcomes that vary."""
    place = tmp_path / "iteration-1"
    for number in range(1, 8):
        for repeat in (1, 2):
            graded(place / f"eval-{number}" / "with_skill" / f"run-{repeat}", 2 + (number + repeat) % 3, 4)
            graded(place / f"eval-{number}" / "without_skill" / f"run-{repeat}", (number * repeat) % 3, 4)
    return place


def test_a_prior_is_named_as_one_and_price_is_not_invented() -> None:
    result = call("--evals", "8", "--trials", "3", "--effect", "0.22")
    lines = result.stdout.splitlines()
    assert "assumed" in lines[1] and "nothing was measured" in lines[1]
    assert lines[-1] == "Price unknown; --price USD sets it."
    assert any(line.split() == ["8", "3", "48", "?", "43", "%", "+36"] for line in lines)


def test_price_is_launches_times_price() -> None:
    (row,) = rows("--evals", "8", "--trials", "3", "--price", "0.065")
    assert row["launches"] == 48 and row["cost_usd"] == pytest.approx(3.12)


def test_a_workspace_gives_its_own_spread_and_size(iteration: Path) -> None:
    result = call(str(iteration))
    assert "Spread measured on 7 evals, 2 trials an arm." in result.stdout
    assert {(row["units"], row["repeats"]) for row in rows(str(iteration))} >= {(7, 2), (30, 5), (6, 1)}
    own = rows(str(iteration), "--evals", "8", "--trials", "3", "--effect", "0.2")[0]["power"]
    assert own != rows("--evals", "8", "--trials", "3", "--effect", "0.2")[0]["power"]


def test_without_repeated_trials_no_gain_from_more_is_claimed(tmp_path: Path) -> None:
    place = tmp_path / "iteration-1"
    for number in range(1, 8):
        graded(place / f"eval-{number}" / "with_skill", 2 + number % 3, 4)
        graded(place / f"eval-{number}" / "without_skill", number % 2, 4)
    assert {row["repeats"] for row in rows(str(place))} == {1}
    assert "cannot be said" in call(str(place)).stdout


def test_one_arm_alone_is_one_message(tmp_path: Path) -> None:
    graded(tmp_path / "iteration-1" / "eval-1" / "with_skill" / "run-1", 1, 2)
    error = call(str(tmp_path / "iteration-1")).exception
    assert isinstance(error, InputError) and "no pair of arms" in str(error)


def test_no_such_place() -> None:
    assert isinstance(call("no/such/place").exception, NotFoundError)


def test_a_skill_never_run_falls_back_to_the_prior_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\n", encoding="utf-8")
    result = call(str(tmp_path), "--evals", "8")
    assert "assumed" in result.stdout and "No iteration" in result.stderr


def test_trigger_sets_have_a_table_of_their_own(tmp_path: Path) -> None:
    queries = [{"query": f"Do the thing {k}", "should_trigger": k % 2 == 0} for k in range(11)]
    place = tmp_path / "triggers.json"
    place.write_text(json.dumps(queries), encoding="utf-8")
    units = {row["units"] for row in rows(str(place), "--runs", "1", "--effect", "0.2")}
    assert units == {8, 11, 20, 40, 80}
    assert "queries decided rightly" in call("--triggers", "--queries", "20", "--runs", "1").stdout
    assert isinstance(call("--triggers", "--evals", "5").exception, click.UsageError)


def test_a_plot_is_an_svg(tmp_path: Path) -> None:
    place = tmp_path / "power.svg"
    result = call("--evals", "8", "--evals", "30", "--trials", "3", "-o", str(place))
    assert place.read_text(encoding="utf-8").startswith("<svg") and "evals" in result.stdout


def test_a_file_gets_what_stdout_would(tmp_path: Path) -> None:
    place = tmp_path / "power.json"
    result = call("--evals", "8", "--format", "json", "-o", str(place))
    assert result.stdout == "" and json.loads(place.read_text(encoding="utf-8"))["kind"] == "evals"
    assert isinstance(call("--evals", "8", "-o", str(tmp_path / "no" / "x.json")).exception, InputError)


@pytest.mark.slow
def test_simulation_shows_false_positives_coverage_and_early_stopping() -> None:
    result = call("--simulate", "--samples", "60", "--evals", "8", "--effect", "0.3", "--format", "json")
    found = json.loads(result.stdout)
    none, much, same, at_margin = found["verdicts"]
    assert same["equivalent"] > 0.4 > 0.2 > at_margin["equivalent"]
    assert none["true_effect"] == 0 and much["true_effect"] == pytest.approx(0.3, abs=1e-6)
    assert none["better"] + none["worse"] < 0.15 < 0.3 < none["naive_better"] < much["better"] + 0.5
    assert found["early"][1]["saved"] > found["early"][0]["saved"]
    assert "naive" in call("--simulate", "--samples", "20", "--evals", "8").stdout
    assert isinstance(call("--simulate", "--effect", "0.9").exception, InputError)


def test_the_same_seed_gives_the_same_table() -> None:
    assert rows("--queries", "20", "--seed", "3") == rows("--queries", "20", "--seed", "3")


def test_help_does_not_load_numpy() -> None:
    """`assay --help`, and even the command's own module, stay free of numpy and scipy."""
    code = "import sys, skill_assay.cli.main, skill_assay.cli.power; print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "set()"
