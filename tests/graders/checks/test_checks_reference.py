"""docs/reference/checks.md says what the code does: every kind, every argument, and examples that work."""

import json
import re
from pathlib import Path

import pytest

from skill_assay.formats.checks_table import CHECK_SHORT
from skill_assay.graders.checks import KINDS
from skill_assay.graders.checks.arguments import argument_names

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "checks.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLES = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]
CHECKS = [example for example in EXAMPLES if set(example) <= set(KINDS)]


def test_the_kinds_are_those_of_the_format():
    assert set(KINDS) == set(CHECK_SHORT)
    assert all(kind.kind == name for name, kind in KINDS.items())


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_has_a_section_with_all_its_arguments_and_an_example(kind):
    section = SECTIONS[kind]
    shared = SECTIONS["file_exists"] if kind == "file_absent" else SECTIONS["tool_called"] if "not" in kind else ""
    missing = [name for name in argument_names(KINDS[kind]) if f"`{name}`" not in section + shared + _implied(kind)]
    assert missing == []
    assert any(kind in example for example in CHECKS)
    assert f"(#{kind})" in PAGE


def _implied(kind):
    """Arguments that the short form hides."""
    return {"tool_order": "`tools`", "json_path": '"fields"'.replace('"', "`")}.get(kind, "")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: "-".join(example))
def test_each_example_compiles(desk, example):
    desk.evals_file("expected/report.md", "x").evals_file("schemas/summary.json", "{}")
    desk.evals_file("checks.py", re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1])
    checks = example.get("check", example)
    for check in checks if isinstance(checks, list) else [checks]:
        desk.compile(check)


def test_the_python_example_works(desk):
    desk.evals_file("checks.py", re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1])
    desk.file("out/summary.json").file("summary.json", '{"total": 45}')
    check = next(example for example in CHECKS if "python" in example)
    assert desk.verdict(check) == "passed"
    desk.file("summary.json", '{"total": 44}')
    assert desk.grade(check).evidence.endswith("summary.json says 44")
