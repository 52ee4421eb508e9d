from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_assay.cli.lint import command
from skill_assay.errors import InputError, NotFoundError

SOURCE = Path(__file__).parents[2] / "src" / "skill_assay"
GOOD = "---\nname: my-skill\ndescription: Makes a report from a messy table when asked.\n---\nBody\n"
EVAL: dict[str, Any] = {
    "id": 1,
    "prompt": "Do it.",
    "expectations": [{"text": "a exists", "check": {"file_exists": "a"}}],
}


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    root = tmp_path / "my-skill"
    (root / "evals").mkdir(parents=True)
    (root / "SKILL.md").write_text(GOOD, encoding="utf-8")
    put(root, {"skill_name": "my-skill", "evals": [EVAL]})
    return root


def put(root: Path, value: Any, name: str = "evals.json") -> Path:
    file = root / "evals" / name
    file.write_text(json.dumps(value, indent=1), encoding="utf-8")
    return file


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments], standalone_mode=False)


def findings(*arguments: str | Path) -> list[dict[str, Any]]:
    files = json.loads(run("--format", "json", *arguments).output)["files"]
    return [finding for file in files for finding in file["findings"]]


def rules(*arguments: str | Path) -> list[str]:
    return [finding["rule"] for finding in findings(*arguments)]


def test_a_clean_skill(skill: Path) -> None:
    result = run(skill)
    assert result.return_value == 0
    assert "my-skill: description of 45 characters, body of 2 lines, 1 file for the agent" in result.output
    assert "1 eval, 1 expectation: 1 decided by a machine, 0 by a judge or a script" in result.output
    assert result.output.rstrip().endswith("Nothing to mend.")


def test_all_findings_come_at_once_with_lines_and_remedies(skill: Path) -> None:
    put(skill, {"evals": [{**EVAL, "prompt": ""}, {**EVAL, "id": 1}, {"id": "", "prompt": "p", "expectation": ["e"]}]})
    found = findings(skill)
    assert {"empty-prompt", "duplicate-id", "empty-id", "unknown-key", "no-expectations"} <= {
        each["rule"] for each in found
    }
    assert all(each["line"] and each["remedy"] and each["file"].endswith("evals.json") for each in found)
    text = run(skill).output
    assert "line 5 $.evals[0].prompt: the eval has no prompt  [empty-prompt]" in text
    assert 'Did you mean "expectations"' in text
    assert text.index("error  ") < text.index("warning ")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"expectations": ["The video looks good"]}, "opinion"),
        ({"expectations": [{"text": "t", "check": {"skill_used": "my-skill"}}]}, "only-one-arm"),
        ({"expectations": [{"text": "t", "check": {"tool_called": "Skill"}}]}, "only-one-arm"),
        ({"expectations": [{"text": "t", "check": {"tool_order": ["Read", {"tool": "Skill"}]}}]}, "only-one-arm"),
        ({"expectations": ["The agent reads SKILL.md first"]}, "only-one-arm"),
        ({"expectations": ["The skill is triggered"]}, "only-one-arm"),
        ({"expectations": []}, "no-expectations"),
        ({"expectations": ["The total is 5"]}, "nothing-decidable"),
        ({"expectations": ["It is 5", "it  is 5"]}, "twice-expected"),
        ({"files": ["evals/files/absent.csv"]}, "fixture-missing"),
        ({"reference": "evals/absent"}, "reference-missing"),
        ({"prompt": "Replace me"}, "placeholder"),
        ({"prompt": " "}, "empty-prompt"),
        (
            {"expectations": [{"text": "t", "check": {"file_exists": {"path": "a", "min_bytes": "x"}}}]},
            "check-argument",
        ),
        ({"expectations": [{"text": "t", "check": {"matches": "("}}]}, "check-argument"),
    ],
)
def test_rules_for_evals(skill: Path, change: dict[str, Any], rule: str) -> None:
    assert rule not in rules(skill)
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, **change}]})
    found = [finding for finding in findings(skill) if finding["rule"] == rule]
    assert len(found) == 1
    assert found[0]["line"] and found[0]["json_path"].startswith("$.evals[0]")


@pytest.mark.parametrize(
    "change",
    [
        {"expectations": [{"text": "It looks good", "check": {"file_exists": "a"}}]},
        {
            "expectations": [
                {"text": "t", "check": {"skill_used": "my-skill"}, "severity": "info"},
                *EVAL["expectations"],
            ]
        },
        {"expectations": [{"text": "t", "check": {"tool_called": "Bash"}}]},
    ],
)
def test_what_the_rules_leave_alone(skill: Path, change: dict[str, Any]) -> None:
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, **change}]})
    assert rules(skill) == []


def test_the_skill_among_the_files_of_an_eval_is_noted_and_another_skill_is_not(skill: Path) -> None:
    files = skill / "evals" / "files"
    files.mkdir()
    (files / "SKILL.md").write_text("---\nname: another\ndescription: Does what another skill does.\n---\nText\n")
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, "files": ["evals/files"]}]})
    assert "gives-skill-away" not in rules(skill)
    (files / "SKILL.md").write_bytes((skill / "SKILL.md").read_bytes())
    found = [finding for finding in findings(skill) if finding["rule"] == "gives-skill-away"]
    assert [one["json_path"] for one in found] == ["$.evals[0].files"]


def test_a_script_can_decide_texts(skill: Path) -> None:
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, "expectations": ["The total is 5"]}]})
    (skill / "evals" / "checks.py").write_text("")
    assert rules(skill) == []


@pytest.mark.parametrize(
    ("head", "rule", "line"),
    [
        ("name: My_Skill\ndescription: Makes a report out of messy tables.", "name-form", 2),
        (f"name: {'a' * 65}\ndescription: Makes a report out of messy tables.", "name-form", 2),
        ("name: my--skill\ndescription: Makes a report out of messy tables.", "name-form", 2),
        ("name: claude-helper\ndescription: Makes a report out of messy tables.", "name-reserved", 2),
        ("name: other\ndescription: Makes a report out of messy tables.", "name-folder", 2),
        ("description: Makes a report out of messy tables.", "no-name", 2),
        (f"name: my-skill\ndescription: {'word ' * 206}", "description-length", 3),
        ("name: my-skill\ndescription: Makes a <b>report</b> out of messy tables.", "description-brackets", 3),
        ("name: my-skill\ndescription: Makes reports.", "description-short", 3),
        ("name: my-skill\ndescription: Replace this with something else, please do.", "placeholder", 3),
        ("name: my-skill\ndescription: Makes a report out of tables.\nallowed_tools: Bash", "unknown-key", 4),
        (
            f"name: my-skill\ndescription: Makes a report out of tables.\ncompatibility: {'x' * 501}",
            "compatibility-length",
            4,
        ),
        ("name: my-skill\ndescription: Makes: a report.", "unreadable", 3),
    ],
)
def test_rules_for_skills(skill: Path, head: str, rule: str, line: int) -> None:
    (skill / "SKILL.md").write_text(f"---\n{head}\n---\nBody\n", encoding="utf-8")
    found = [finding for finding in findings(skill / "SKILL.md") if finding["rule"] == rule]
    assert [finding["line"] for finding in found] == [line]


def test_fault_20_documented_keys_are_not_complained_about(skill: Path) -> None:
    head = "license: MIT\ncompatibility: any\nmetadata: {a: b}\nallowed-tools: Bash\nmodel: x\nhooks: {}"
    (skill / "SKILL.md").write_text(GOOD.replace("\n---\nBody", f"\n{head}\n---\nBody"), encoding="utf-8")
    assert rules(skill / "SKILL.md") == []


def test_bodies_and_links(skill: Path, tmp_path: Path) -> None:
    (skill / "SKILL.md").write_text(GOOD.replace("Body\n", ""), encoding="utf-8")
    assert rules(skill / "SKILL.md") == ["body-empty"]
    (skill / "SKILL.md").write_text(GOOD + "line\n" * 501, encoding="utf-8")
    assert rules(skill / "SKILL.md") == ["body-long"]
    (skill / "SKILL.md").write_text(GOOD, encoding="utf-8")
    (skill / "link").symlink_to(tmp_path)
    assert rules(skill / "SKILL.md") == ["link-left-out"]


def test_rules_for_trigger_sets_and_configurations(skill: Path) -> None:
    put(skill, [{"query": "use my-skill", "should_trigger": True}], "triggers.json")
    put(skill, {"eval_set_path": "absent.json", "trial": 3}, "benchmark.config.json")
    assert rules(skill) == ["unknown-key", "path-missing", "one-label", "few-queries", "names-skill"]


def test_the_evals_name_another_skill(skill: Path) -> None:
    put(skill, {"skill_name": "other", "evals": [EVAL]})
    assert rules(skill) == ["skill-name"]


def test_exit_codes(skill: Path, tmp_path: Path) -> None:
    assert run(skill).return_value == 0
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, "expectations": ["The total is 5"]}]})
    assert run(skill).return_value == 0
    assert run("--strict", skill).return_value == 1
    put(skill, [])
    assert run(skill).return_value == 1
    (skill / "evals" / "evals.json").write_text("{")
    assert run(skill).return_value == 1
    assert rules(skill) == ["unreadable"]
    for path in (tmp_path / "absent", tmp_path):
        error = run(path).exception
        assert isinstance(error, NotFoundError) and error.exit_code == 2
    (tmp_path / "notes.txt").write_text("x")
    assert isinstance(run(tmp_path / "notes.txt").exception, InputError)


def test_several_paths_and_one_that_is_nothing_of_ours(skill: Path, tmp_path: Path) -> None:
    put(skill, [])
    second = put(skill, [{"query": "q", "should_trigger": "false"}], "triggers.json")
    (tmp_path / "notes.txt").write_text("x")
    both = run(skill / "evals" / "evals.json", second)
    assert both.return_value == 1
    assert "[no-evals]" in both.output and "[not-boolean]" in both.output and "2 errors" in both.output
    result = run(tmp_path / "absent", skill, tmp_path / "notes.txt", second)
    assert isinstance(result.exception, InputError) and "notes.txt" in str(result.exception)
    assert "there is nothing here" in result.output
    assert "[no-evals]" in result.output and result.output.count("[not-boolean]") == 2
    assert run(second, second).output.count("[not-boolean]") == 1


def test_a_file_cannot_steer_the_terminal(skill: Path) -> None:
    put(skill, {"skill_name": "my-skill", "evals": [{**EVAL, "expectations": ["\x1b[J\x9b looks good\u202e"]}]})
    output = run(skill).output
    assert "\\u001b[J\\u009b looks good\\u202e" in output
    assert all(each.isprintable() or each == "\n" for each in output)


def test_a_skill_without_evals_is_pointed_to_init(skill: Path) -> None:
    (skill / "evals" / "evals.json").unlink()
    result = run(skill)
    assert result.return_value == 0 and run("--strict", skill).return_value == 0
    assert f"assay init {skill}" in result.output and "[no-evals-file]" in result.output
    assert rules(skill / "SKILL.md") == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [("SKILL.md", "skill"), ("evals.json", "evals"), ("triggers.json", "triggers"), ("config.json", "configuration")],
)
def test_each_kind_of_file_is_known_by_itself(skill: Path, name: str, kind: str) -> None:
    put(skill, [{"query": "Make a report.", "should_trigger": True}], "triggers.json")
    put(skill, {"trials_per_eval": 3}, "config.json")
    (report,) = json.loads(run("--format", "json", skill / ("" if kind == "skill" else "evals") / name).output)["files"]
    assert report["kind"] == kind and report["file"].endswith(name) and report["understood"]


def test_quiet_leaves_out_the_notes(skill: Path) -> None:
    put(skill, [EVAL])
    assert "top-level-list" in run(skill).output
    assert "top-level-list" not in run("-q", skill).output


def test_a_folder_of_evals_alone(skill: Path) -> None:
    assert rules(skill / "evals") == []
    assert "1 eval," in run(skill / "evals").output


def test_every_rule_is_documented() -> None:
    """A rule's name is the first argument of `error`, `warn`, `info`, `once` or `note`; a few are built otherwise."""
    page = (SOURCE.parents[1] / "docs" / "reference" / "lint.md").read_text("utf-8")
    names = {"unreadable", "check-argument", "bad-name", "bad-description", "not-boolean", "no-evals-file"}
    for path in (SOURCE / "formats").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called in ("error", "warn", "info", "once", "note", "_warning"):
                    names.add(str(node.args[0].value))
    assert len(names) > 40
    assert not sorted(name for name in names if f"`{name}`" not in page)


@pytest.mark.slow
def test_real_files_never_crash_it(shared_data: Path) -> None:
    files = [
        path for top in ("evals", "triggers", "malformed") for path in (shared_data / top).rglob("*") if path.is_file()
    ]
    for path in files:
        result = run("--format", "json", path)
        if result.exception is None:
            assert all(each["message"] and each["rule"] for each in json.loads(result.output)["files"][0]["findings"])
        else:
            assert isinstance(result.exception, InputError) and result.exception.file == str(path)
