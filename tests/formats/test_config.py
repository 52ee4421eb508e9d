from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.config import Configuration, find_config, load_config, resolve_settings
from skill_assay.formats.settings import SETTINGS, THRESHOLDS, BadValue, parse_budget

FORGE = {
    "skill_name": "my-skill",
    "skill_path": ".",
    "eval_set_path": "evals/evals.json",
    "trials_per_eval": 5,
    "baseline_type": "old_skill",
    "previous_benchmark": "old/benchmark.json",
    "thresholds": {
        "min_pass_rate": 0.8,
        "max_avg_tokens": 100000,
        "max_avg_duration_seconds": 120,
        "min_improvement_ratio": 1.0,
    },
}


def load(tmp_path: Path, value: Any) -> Configuration:
    file = tmp_path / "evals" / "benchmark.config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return load_config(file)


def test_skill_forges_keys_are_read(tmp_path: Path) -> None:
    found = load(tmp_path, FORGE)
    assert not found.findings
    assert found.values == {
        "skill_name": "my-skill",
        "skill_path": ".",
        "evals": "evals/evals.json",
        "trials": 5,
        "baseline_type": "old_skill",
        "previous_benchmark": "old/benchmark.json",
    }
    assert found.thresholds == FORGE["thresholds"]


def test_our_keys_are_read(tmp_path: Path) -> None:
    ours = {
        "baseline": "git:HEAD~1", "allow": ["WebFetch"], "timeout_seconds": 60, "budget": {"usd": 5, "trials": 60},
        "invoke": "auto", "model": None, "ungraded": True, "_note": "mine", "schema_version": 1,
        "thresholds": {"no_regressions": True, "verdict": "better", "min_delta": -0.1},
    }  # fmt: skip
    found = load(tmp_path, ours)
    assert not found.findings
    assert found.values == {
        "baseline": ("git:HEAD~1",),
        "allow": ("WebFetch",),
        "timeout": 60.0,
        "budget": {"usd": 5.0, "trials": 60},
        "invoke": "auto",
        "ungraded": True,
    }
    assert found.thresholds == {"no_regressions": "confirmed", "verdict": "better", "min_delta": -0.1}


@pytest.mark.parametrize(
    ("value", "path", "line", "words"),
    [
        ("[]", "$", 1, "no configuration"),
        ('{"trials":\n "3"}', "$.trials", 1, "a whole number from 1"),
        ('{"a": 1,\n"trials_per_eval": 0}', "$.trials_per_eval", 2, "a whole number from 1"),
        ('{"trials": 2.5}', "$.trials", 1, "a whole number"),
        ('{"trials": true}', "$.trials", 1, "a whole number"),
        ('{"trials": 3, "trials_per_eval": 3}', "$.trials_per_eval", 1, "Keep one"),
        ('{"invoke": "never"}', "$.invoke", 1, "told or auto or slash"),
        ('{"baseline_type": "none"}', "$.baseline_type", 1, "no_skill or old_skill"),
        ('{"allow": [3]}', "$.allow", 1, "a list of texts"),
        ('{"budget": {"eur": 5}}', "$.budget", 1, "5usd"),
        ('{"budget": {"tokens": 1.5}}', "$.budget", 1, "5usd"),
        ('{"timeout": 0}', "$.timeout", 1, "above 0"),
        ('{"ungraded": "yes"}', "$.ungraded", 1, "true or false"),
        ('{"thresholds": []}', "$.thresholds", 1, "an object"),
        ('{"thresholds": {"min_pass_rate": 80}}', "$.thresholds.min_pass_rate", 1, "from 0 to 1"),
        ('{"thresholds": {"min_pass_rate": NaN}}', None, None, "NaN"),
    ],
)
def test_errors_name_the_key(tmp_path: Path, value: str, path: str | None, line: int | None, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, value)
    assert (caught.value.json_path, caught.value.line) == (path, line)
    assert words in str(caught.value)


def test_unknown_keys_are_told_with_a_guess(tmp_path: Path) -> None:
    found = load(tmp_path, {"trial": 3, "thresholds": {"min_passrate": 0.5}})
    assert [(finding.rule, finding.json_path) for finding in found.findings] == [
        ("unknown-key", "$.trial"),
        ("unknown-key", "$.thresholds.min_passrate"),
    ]
    assert 'Did you mean "trials"' in found.findings[0].remedy
    assert 'Did you mean "min_pass_rate"' in found.findings[1].remedy


def test_finding_it(tmp_path: Path) -> None:
    assert find_config(tmp_path) is None
    found = load(tmp_path, FORGE)
    assert find_config(tmp_path) == found.source
    with pytest.raises(NotFoundError, match="no configuration"):
        load_config(tmp_path / "absent.json")


def test_paths_are_looked_for_beside_the_file_then_in_the_skill(tmp_path: Path) -> None:
    found = load(tmp_path, FORGE)
    (tmp_path / "evals" / "evals.json").write_text("[]")
    assert found.place("evals") == tmp_path / "evals" / "evals.json"
    assert found.place("previous_benchmark") == tmp_path / "evals" / "old" / "benchmark.json"
    assert found.place("workspace") is None


DEFAULTS = {"trials": 3, "allow": (), "model": None, "budget": None}


def test_option_over_variable_over_file_over_default(tmp_path: Path) -> None:
    file = load(tmp_path, {"trials_per_eval": 5, "allow": ["A"], "model": "m"})
    env = {"ASSAY_TRIALS": "7", "ASSAY_ALLOW": "B, Bash(git add, git commit)", "ASSAY_MODEL": " "}
    options = {"trials": 9, "allow": (), "model": None, "budget": "5usd"}
    found = resolve_settings(options, env, file, DEFAULTS)
    assert {name: (setting.value, setting.origin) for name, setting in found.items()} == {
        "trials": (9, "option --trials"),
        "allow": (("B", "Bash(git add, git commit)"), "ASSAY_ALLOW"),
        "model": ("m", str(file.source)),
        "budget": ({"usd": 5.0}, "option --budget"),
    }
    found = resolve_settings({}, {"ASSAY_TRIALS": "7"}, file, DEFAULTS)
    assert (found["trials"].value, found["trials"].origin) == (7, "ASSAY_TRIALS")
    assert (found["budget"].value, found["budget"].origin) == (None, "default")
    assert resolve_settings({}, {}, None, DEFAULTS)["trials"].origin == "default"


@pytest.mark.parametrize(
    ("name", "text"), [("trials", "many"), ("trials", "0"), ("budget", "5 eur"), ("ungraded", "maybe")]
)
def test_a_variable_that_cannot_be_read_is_named(name: str, text: str) -> None:
    with pytest.raises(InputError, match=f"ASSAY_{name.upper()} can't be read"):
        resolve_settings({}, {f"ASSAY_{name.upper()}": text}, None, {name: None})


@pytest.mark.parametrize(
    ("text", "caps"),
    [
        ("5usd,2Mtok,60trials", {"usd": 5.0, "tokens": 2_000_000, "trials": 60}),
        ("0.5 usd", {"usd": 0.5}),
        ("300ktokens, 1trials", {"tokens": 300_000, "trials": 1}),
    ],
)
def test_budgets(text: str, caps: dict[str, float]) -> None:
    assert parse_budget(text) == caps


@pytest.mark.parametrize("text", ["", "usd", "5", "-5usd", "5usd,6usd", "0usd", "1e3usd", "0.4trials"])
def test_no_budgets(text: str) -> None:
    with pytest.raises(BadValue):
        parse_budget(text)


@given(
    st.sampled_from([*SETTINGS.values(), *THRESHOLDS.values()]),
    st.text() | st.integers() | st.floats() | st.none() | st.lists(st.text()),
)
def test_any_value_is_taken_or_refused(kind: Any, raw: Any) -> None:
    for read in (kind.from_json, *([kind.from_text] if isinstance(raw, str) else [])):
        try:
            read(raw)
        except BadValue as bad:
            assert str(bad)
