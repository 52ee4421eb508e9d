from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.evals import examine_evals, find_evals, load_evals
from skill_assay.formats.fixtures import resolve_fixtures
from skill_assay.formats.plugin_suite import case_folders, is_suite, plugin_skill
from skill_assay.model.evals import Check, Eval, EvalSet, Expectation
from skill_assay.model.findings import Finding, Severity

SKILL = "---\nname: hello\ndescription: Says hello.\n---\nSay hello.\n"


def put(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def skill(tmp_path: Path, files: dict[str, str]) -> Path:
    return put(tmp_path / "hello", {"SKILL.md": SKILL, **files})


def case(grader: str, body: str = "", *, prompt: str = "Greet Ann.") -> dict[str, str]:
    return {"evals/one/prompt.md": prompt, "evals/one/graders/g.md": f"---\n{grader}\n---\n{body}\n"}


def read(tmp_path: Path, files: dict[str, str]) -> EvalSet:
    root = skill(tmp_path, files)
    return examine_evals(find_evals(root), skill_root=root)[0]


def only(tmp_path: Path, grader: str, body: str = "") -> tuple[Expectation, tuple[Finding, ...]]:
    found = read(tmp_path, case(grader, body))
    return found.evals[0].expectations[0], found.findings


def errors(found: EvalSet) -> list[Finding]:
    return [finding for finding in found.findings if finding.severity is Severity.ERROR]


def test_a_case_of_two_files_is_one_eval(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {
            "evals/group/one/prompt.md": "---\nname: first\ntags: [smoke]\ntimeout_seconds: 60\n---\n\nGreet Ann.\n",
            "evals/group/one/case.yaml": 'schema_version: "1.1"\nname: other\nexpected_outcome: A greeting.\n',
            "evals/group/one/graders/a.md": "---\ntype: llm\n---\nPASS if it greets.\n",
            "evals/results/x/prompt.md": "not a case",
            "evals/mocks/y/prompt.md": "not a case",
        },
    )
    assert found.evals == (
        Eval(
            "group/one",
            "Greet Ann.",
            (Expectation("PASS if it greets.", id="a", place="group/one/graders/a.md"),),
            name="first",
            expected_output="A greeting.",
            tags=("smoke",),
            timeout_seconds=60.0,
        ),
    )
    assert found.root == tmp_path / "hello" / "evals"
    assert len(found.read) == 3


def test_a_case_may_be_all_in_its_yaml(tmp_path: Path) -> None:
    text = (
        'schema_version: "1.1"\nname: first\nexecution: {prompt: Greet Ann., max_turns: 5}\n'
        "graders:\n  - {name: g, type: file_exists, path: out.txt}\n"
    )
    found = read(tmp_path, {"evals/one/case.yaml": text})
    assert found.evals[0].prompt == "Greet Ann."
    assert found.evals[0].expectations[0].checks == (Check("file_exists", {"path": "./out.txt", "min_bytes": 0}),)
    assert [(one.rule, one.line, one.json_path) for one in found.findings] == [
        ("no-counterpart", 3, "$.execution.max_turns")
    ]


@pytest.mark.parametrize(
    ("grader", "checks"),
    [
        ("type: regex\npattern: hello", (Check("matches", {"pattern": "hello", "in": "answer"}),)),
        (
            "type: regex\npattern: hello$\nflags: gi\nmatch: not_contains",
            (Check("matches", {"pattern": "hello\\Z", "in": "answer", "flags": "i"}, negated=True),),
        ),
        (
            "type: regex\npattern: a\ntarget: {source: file, path: out/a.md}\nmatch: 'count:2'",
            (
                Check("matches", {"pattern": "a", "in": "./out/a.md", "min_count": 2}),
                Check("matches", {"pattern": "a", "in": "./out/a.md", "min_count": 3}, negated=True),
            ),
        ),
        ("type: tool_used\ntool: Read", (Check("tool_called", {"tool": "Read"}),)),
        (
            "type: tool_used\ntool: Bash\ninput_match: pytest\nmin: 2\nmax: 3",
            (Check("tool_called", {"tool": "Bash", "input_matches": "pytest", "min": 2, "max": 3}),),
        ),
        ("type: tool_used\ntool: WebFetch\nmin: 0\nmax: 0", (Check("tool_not_called", {"tool": "WebFetch"}),)),
        (
            'type: tool_used\ntool: Skill\ninput_match: \'"skill"\\s*:\\s*"(?:[\\w-]+:)?hello"\'',
            (Check("skill_used", {"name": "hello"}),),
        ),
        (
            "type: tool_order\nbefore: Read\nafter: {tool: Write, input_match: out}",
            (Check("tool_order", {"tools": ["Read", {"tool": "Write", "input_matches": "out"}]}),),
        ),
        ("type: file_exists\npath: '**/out.md'", (Check("file_exists", {"path": "out.md", "min_bytes": 0}),)),
        ("type: file_exists\npath: a[1].md\nexists: false", (Check("file_absent", {"path": "./a[[]1].md"}),)),
        ("type: llm\ncriteria: PASS if it greets.", ()),
        ("type: baseline\nbaseline_file: b.jsonl\ncriteria: As good.", ()),
    ],
)
def test_every_kind_of_grader_is_a_check_or_a_judges(tmp_path: Path, grader: str, checks: tuple[Check, ...]) -> None:
    from skill_assay.graders.checks import check_problems

    found, _ = only(tmp_path, grader)
    assert found.checks == checks
    assert found.text
    assert not check_problems(found, evals_root=tmp_path)


@pytest.mark.parametrize(
    ("grader", "says"),
    [
        ("type: regex\npattern: a\ntarget: files", "left to a judge"),
        ("type: regex\npattern: \\p{Lu}", "left to a judge"),
        ("type: regex\npattern: a\nflags: y", "left to a judge"),
        ("type: file_exists\npath: '*.{png,jpg}'", "left to a judge"),
        ("type: regex\npattern: a\ntarget: trace", "looked at as text"),
        ("type: baseline\nbaseline_file: b.jsonl\ncriteria: As good.", "criteria alone"),
        ("type: llm\ncriteria: x\nweight: 2", "weight is not read"),
        ("type: tool_order\nbefore: A\nafter: B", "first call of each"),
        ("type: tool_used\ntool: Skill\narm: both", "enters no rate"),
    ],
)
def test_what_differs_is_said(tmp_path: Path, grader: str, says: str) -> None:
    _, findings = only(tmp_path, grader)
    assert any(says in finding.message and finding.file.endswith("g.md") for finding in findings)


@pytest.mark.parametrize("grader", ["type: regex\npattern: a\ntarget: mock_calls", "type: llm\nfocus: mock_calls"])
def test_a_grader_that_can_not_hold_is_left_out_and_named(tmp_path: Path, grader: str) -> None:
    found = read(tmp_path, case(grader, "text"))
    assert found.evals[0].expectations == ()
    assert any("left out" in finding.message for finding in found.findings)


@pytest.mark.parametrize(
    ("grader", "rule"),
    [
        ("type: regexp\npattern: a", "unknown-grader"),
        ("pattern: a", "unknown-grader"),
        ("type: regex", "no-pattern"),
        ("type: regex\npattern: a\nmatch: often", "wrong-type"),
        ("type: regex\npattern: a\ntarget: {source: file, path: ../../etc/passwd}", "outside"),
        ("type: llm", "no-criteria"),
        ("type: file_exists", "no-path"),
        ("type: tool_used\ntool: Read\nmax: 0", "never"),
        ("type: tool_used\ntool: [1]", "wrong-type"),
        ("type: [", "unreadable"),
        ("type: llm\ntype: regex", "unreadable"),
        ("a: &a [x,x]\nb: &b [*a,*a]\ntype: llm\nc: [*b", "unreadable"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, grader: str, rule: str) -> None:
    found = read(tmp_path, case(grader))
    (one, *_) = errors(found)
    assert (one.rule, Path(one.file).name) == (rule, "g.md")
    assert one.line is not None
    with pytest.raises(InputError):
        load_evals(tmp_path / "hello" / "evals", skill_root=tmp_path / "hello")


def test_yaml_that_grows_without_end_is_refused(tmp_path: Path) -> None:
    rows = "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 9))
    found = read(tmp_path, {"evals/one/case.yaml": f"x0: &x0 [a]\n{rows}\n"})
    assert "endless" in errors(found)[0].message


def test_links_sizes_and_encodings_are_refused_by_name(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("secret", encoding="utf-8")
    root = skill(tmp_path, case("type: llm", "x") | {"evals/two/case.yaml": "name: a"})
    (root / "evals/two/prompt.md").symlink_to(secret)
    (root / "evals/one/graders/big.md").write_bytes(b"---\ntype: llm\n---\n" + b"x" * 1_100_000)
    (root / "evals/one/graders/latin.md").write_bytes(b"---\ntype: llm\n---\n\xe9\n")
    (root / "evals/one/graders/gone.md").symlink_to(tmp_path / "nothing.md")
    (root / "evals/loop").symlink_to(root / "evals")
    found = examine_evals(root / "evals", skill_root=root)[0]
    said = {Path(one.file).name: one.message for one in errors(found)}
    assert "leads out" in said["prompt.md"]
    assert "too large" in said["big.md"]
    assert "not UTF-8" in said["latin.md"]
    assert "gone.md" in said
    assert len(case_folders(root / "evals")) == 2
    assert "secret" not in "".join(one.prompt for one in found.evals)


def test_what_is_laid_out_before_becomes_setup_and_files(tmp_path: Path) -> None:
    files = case("type: llm", "x") | {
        "evals/one/case.yaml": "context: {scaffold_script: s.sh, add_dirs: [res], history_file: h.jsonl}\n",
        "evals/one/s.sh": "#!/bin/bash\ngit init -q\n",
        "evals/one/res/a.txt": "a",
    }
    found = read(tmp_path, files)
    one = found.evals[0]
    assert (one.setup, one.files) == ("git init -q", ("evals/one/res",))
    assert resolve_fixtures(one, tmp_path / "hello") == ((tmp_path / "hello/evals/one/res/a.txt", "res/a.txt"),)
    assert any("earlier conversation" in finding.message for finding in found.findings)


def test_a_script_that_looks_beside_itself_is_not_read(tmp_path: Path) -> None:
    files = case("type: llm", "x") | {
        "evals/one/case.yaml": "context: {scaffold_script: s.sh}\n",
        "evals/one/s.sh": 'cp "$(dirname "$0")/a.txt" .\n',
    }
    found = read(tmp_path, files)
    assert found.evals[0].setup is None
    assert any("beside itself" in finding.message for finding in found.findings)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd"])
def test_no_path_of_a_case_leaves_it(tmp_path: Path, name: str) -> None:
    context = f"context: {{scaffold_script: {name}, add_dirs: ['{name}']}}\n"
    found = read(tmp_path, case("type: llm", "x") | {"evals/one/case.yaml": context})
    assert (found.evals[0].setup, found.evals[0].files) == (None, ())
    assert [one.rule for one in errors(found)] == ["outside", "outside"]


def test_evals_json_comes_first_and_says_that_there_is_a_suite(tmp_path: Path) -> None:
    json = '{"evals": [{"id": 1, "prompt": "x", "expectations": ["y"]}]}'
    found = read(tmp_path, case("type: llm", "x") | {"evals/evals.json": json})
    assert [one.id for one in found.evals] == ["1"]
    assert "suite-beside" in [finding.rule for finding in found.findings]


def test_a_lone_prompt_is_no_suite(tmp_path: Path) -> None:
    root = skill(tmp_path, {"evals/files/prompt.md": "A fixture."})
    assert not is_suite(root / "evals")
    with pytest.raises(NotFoundError):
        find_evals(root)


def test_a_plugin_with_one_skill_stands_for_it(tmp_path: Path) -> None:
    plugin = put(tmp_path / "plug", {".claude-plugin/plugin.json": '{"name": "plug"}', "skills/hello/SKILL.md": SKILL})
    put(plugin, case("type: llm", "x"))
    assert plugin_skill(plugin) == plugin / "skills" / "hello"
    assert find_evals(plugin / "skills" / "hello") == plugin / "evals"
    put(plugin, {"skills/other/SKILL.md": SKILL})
    assert plugin_skill(plugin) == plugin
    with pytest.raises(NotFoundError):
        find_evals(plugin / "skills" / "hello")


@pytest.mark.parametrize(("named", "found"), [("quality/evals", "quality/evals"), ("../out", "evals")])
def test_the_manifest_says_where_the_suite_is(tmp_path: Path, named: str, found: str) -> None:
    manifest = f'{{"name": "plug", "experimental": {{"evals": "{named}"}}}}'
    plugin = put(tmp_path / "plug", {".claude-plugin/plugin.json": manifest, "skills/hello/SKILL.md": SKILL})
    put(plugin / found / "..", {f"{Path(found).name}/one/prompt.md": "x", f"{Path(found).name}/one/graders/g.md": "x"})
    assert find_evals(plugin / "skills" / "hello") == plugin / found


def test_one_case_can_be_named(tmp_path: Path) -> None:
    root = skill(
        tmp_path,
        case("type: llm", "x") | {"evals/two/prompt.md": "y", "evals/two/graders/g.md": "---\ntype: llm\n---\nz"},
    )
    for path in (root / "evals/two", root / "evals/two/prompt.md"):
        assert [one.id for one in load_evals(path, skill_root=root).evals] == ["two"]


def test_what_is_called_like_a_case_and_is_no_file_is_named(tmp_path: Path) -> None:
    root = skill(tmp_path, {"evals/one/graders/g.md": "---\ntype: llm\n---\nx"})
    (root / "evals/one/prompt.md").mkdir()
    found = examine_evals(find_evals(root), skill_root=root)[0]
    assert [(one.rule, one.message) for one in errors(found)] == [("unreadable", "is no file")]
    with pytest.raises(InputError, match="is no file"):
        load_evals(find_evals(root), skill_root=root)
