"""`agents/openai.yaml`: what Codex reads of it, and what is wrong with it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError
from skill_assay.formats.lint.examine import lint
from skill_assay.formats.openai_yaml import OPENAI_YAML, codex_use, examine_openai_yaml
from skill_assay.formats.skill import read_skill

WHOLE = """interface:
  display_name: "Cards"
  short_description: "Write greeting cards for any occasion"
  icon_small: "./assets/small.svg"
  brand_color: "#3B82F6"
  default_prompt: "Use $cards to write a card."
dependencies:
  tools:
    - {type: mcp, value: github, description: x, transport: streamable_http, url: "https://example.com"}
policy:
  allow_implicit_invocation: true
"""


def skill(root: Path, text: str | None, queries: str = "") -> Path:
    (root / "agents").mkdir(parents=True, exist_ok=True)
    (root / "SKILL.md").write_text("---\nname: cards\ndescription: Writes cards.\n---\nWrite.\n", "utf-8")
    if text is not None:
        (root / OPENAI_YAML).write_text(text, "utf-8")
    if queries:
        (root / "evals").mkdir(exist_ok=True)
        (root / "evals" / "triggers.json").write_text(queries, "utf-8")
    return root


def rules(root: Path) -> list[str]:
    return [finding.rule for finding in examine_openai_yaml(root / OPENAI_YAML, "cards")[1]]


def test_a_whole_file_is_read_without_a_word(tmp_path: Path) -> None:
    root = skill(tmp_path, WHOLE)
    (root / "assets").mkdir()
    (root / "assets" / "small.svg").write_text("<svg/>")
    assert rules(root) == [] and codex_use(root) == "itself"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("policy: {allow_implicit_invocation: 'no'}", "not-boolean"),
        ("policy: [x]", "wrong-type"),
        ("policy: {allow_implicit_invocation: no}", "not-boolean"),
        ("interface: {display_name: [3]}", "wrong-type"),
        ("policy: {products: [nonsense]}", "wrong-type"),
        ("dependencies: {tools: x}", "wrong-type"),
        ("policy: {products: codex}", "wrong-type"),
        ("- x", "wrong-type"),
        ("interfaces: {}", "unknown-key"),
        ("policy: {allow_implicit_invocations: false}", "unknown-key"),
        ("dependencies: {tools: [{type: cli, value: gh}]}", "openai-tool"),
        ("interface: {brand_color: red}", "openai-colour"),
        ("interface: {icon_small: ../../x.svg}", "openai-icon"),
        ("interface: {short_description: short}", "openai-blurb"),
        ("interface: {default_prompt: Do it}", "openai-prompt"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, rule: str) -> None:
    assert rules(skill(tmp_path, text)) == [rule]


@pytest.mark.parametrize(
    ("text", "use"),
    [
        (None, "itself"),
        ("", "itself"),
        ("policy: {allow_implicit_invocation: false}", "name"),
        ("policy: {allow_implicit_invocation: 'false'}", "itself"),
        ("policy: {allow_implicit_invocation: no}", "itself"),
        ("policy: {allow_implicit_invocation: False, products: [codex]}", "name"),
        ("policy: {allow_implicit_invocation: false, products: [other]}", "itself"),
        ("policy: {allow_implicit_invocation: false}\ninterface: {display_name: 3}", "name"),
        ("policy: {allow_implicit_invocation: false}\ninterface: {display_name: [a]}", "itself"),
        ("policy: {", "itself"),
        ("policy: {products: [chatgpt]}", "never"),
        ("policy: {products: []}", "itself"),
    ],
)
def test_whether_codex_may_pick_it_up(tmp_path: Path, text: str | None, use: str) -> None:
    """What Codex passes over forbids nothing."""
    assert codex_use(skill(tmp_path, text)) == use


def test_it_is_part_of_the_skill_and_its_digest(tmp_path: Path) -> None:
    before = read_skill(skill(tmp_path, "policy: {allow_implicit_invocation: true}"))
    after = read_skill(skill(tmp_path, "policy: {allow_implicit_invocation: false}"))
    assert OPENAI_YAML in before.files and before.digest != after.digest


def test_lint_sees_what_contradicts_the_trigger_set(tmp_path: Path) -> None:
    queries = '[{"query": "a card", "should_trigger": true}, {"query": "use $cards", "should_trigger": true}]'
    root = skill(tmp_path, "policy: {allow_implicit_invocation: false}", queries)
    reports = {Path(report.file).name: report for report in lint(root, lambda *_: ())}
    assert "never picks the skill up by itself" in reports["openai.yaml"].understood
    (found,) = [one for one in reports["triggers.json"].findings if one.rule == "codex-never"]
    assert found.message.startswith("1 queries") and found.found == "1"
    (root / OPENAI_YAML).unlink()
    assert all(one.rule != "codex-never" for report in lint(root, lambda *_: ()) for one in report.findings)


@pytest.mark.parametrize("text", [b"\xff\xfeinterface", b"a: &a [*a]", b"a: &x [1,1]\nb: [*x,*x]\n", b"\x00"])
def test_hostile_files_end_in_a_message_or_a_finding(tmp_path: Path, text: bytes) -> None:
    root = skill(tmp_path, "")
    (root / OPENAI_YAML).write_bytes(text)
    try:
        assert rules(root)
    except InputError as error:
        assert str(error)
    assert codex_use(root) == "itself"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tools", "type", "icon_small", "x"]), inner),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(["interface", "policy", "dependencies", "y"]), VALUES) | VALUES)
def test_no_value_ends_in_anything_but_a_finding(value: object) -> None:
    import yaml

    with tempfile.TemporaryDirectory() as folder:
        root = skill(Path(folder), yaml.safe_dump(value))
        examine_openai_yaml(root / OPENAI_YAML, "cards")
        codex_use(root)
