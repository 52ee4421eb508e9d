from __future__ import annotations

import base64
import json
import os
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.skill import examine_skill, folder_digest, installable_files, read_skill, with_description


def make(tmp_path: Path, text: str | bytes, name: str = "my-skill") -> Path:
    root = tmp_path / name
    root.mkdir(exist_ok=True)
    (root / "SKILL.md").write_bytes(text.encode() if isinstance(text, str) else text)
    return root


GOOD = "---\nname: my-skill\ndescription: Does a thing when asked.\n---\nBody\n"


def test_a_skill_is_read_from_its_folder_and_from_its_file(tmp_path: Path) -> None:
    root = make(tmp_path, GOOD)
    skill = read_skill(root)
    assert (skill.name, skill.description, skill.body) == ("my-skill", "Does a thing when asked.", "Body\n")
    assert read_skill(root / "SKILL.md") == skill
    assert skill.root == root and skill.folder == "my-skill" and skill.raw == GOOD.encode()


def test_a_relative_path_still_has_a_folder_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path, GOOD))
    assert read_skill(".").folder == "my-skill"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("description: plain", "plain"),
        ("description: plain # a comment", "plain"),
        ("description: 'it''s'", "it's"),
        ('description: "a: \\"b\\" # c"', 'a: "b" # c'),
        ("description: two\n  lines", "two lines"),
        ("description:\n  next line", "next line"),
        ("description: >-\n  folded\n  text", "folded text"),
        ("description: |\n  kept\n  lines", "kept\nlines\n"),
        ("description: > # why\n  folded", "folded\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_fault_19_every_way_to_write_a_value(tmp_path: Path, written: str, read: str, newline: str, bom: bytes) -> None:
    text = f"---\nname: my-skill\n{written}\nlicense: MIT\n---\nBody\nend".replace("\n", newline)
    skill = read_skill(make(tmp_path, bom + text.encode()))
    assert skill.description == read
    assert skill.body == f"Body{newline}end"
    assert skill.frontmatter["license"] == "MIT"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "is empty", None),
        ("# Title\n", "there is no frontmatter", 1),
        ("\n---\nname: a\ndescription: b\n---\n", "does not begin on the first line", 2),
        ("---\nname: a\n", "is not closed", 1),
        ("---\n- a\n---\n", "is no mapping", 2),
        ("---\n---\n", "is no mapping", 2),
        ("---\nname: a\ndescription: b\nname: c\n---\n", "a key stands twice", 4),
        ("---\nname: a\ndescription: use it: now\n---\n", "is not YAML", 3),
        ("---\nname: ''\ndescription: b\n---\n", "the name is blank", 2),
        ("---\nname: true\ndescription: b\n---\n", "the name is no text", 2),
        ("---\nname: a\ndescription:\n---\n", "the description is blank", 3),
        ("---\nname: a\ndescription: [b]\n---\n", "the description is no text", 3),
        ("---\nname: a\n---\n", "there is no description", 2),
        ("---\nname: a\ndescription: &x [*x]\n---\n", "endless", 3),
        ("---\nname: a\ndescription: b\x00\n---\n", "U+0000 is not allowed", 3),
        (b"---\nname: a\ndescription: \xff\n---\n", "is not UTF-8", 3),
        (b"\xff\xfe-\x00-\x00", "is UTF-16", None),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, message: str, line: int | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_skill(make(tmp_path, text))
    assert message in str(caught.value)
    assert caught.value.line == line
    assert caught.value.file and caught.value.file.endswith("SKILL.md")


def test_a_missing_name_is_the_folders(tmp_path: Path) -> None:
    skill, findings = examine_skill(make(tmp_path, "---\ndescription: d\n---\n"))
    assert skill and skill.name == "my-skill"
    assert [finding.rule for finding in findings] == ["no-name"]


def test_a_place_without_a_skill(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no such folder"):
        read_skill(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match=r"no SKILL\.md here"):
        read_skill(tmp_path / "empty")
    (tmp_path / "empty" / "skill.md").write_text(GOOD)
    with pytest.raises(NotFoundError, match=r"Rename skill.md to SKILL.md"):
        read_skill(tmp_path / "empty")
    with pytest.raises(NotFoundError, match="is no skill"):
        read_skill(tmp_path / "empty" / "skill.md")


def test_a_skill_file_that_is_a_link_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text(GOOD)
    root = tmp_path / "my-skill"
    root.mkdir()
    (root / "SKILL.md").symlink_to(tmp_path / "other.md")
    with pytest.raises(InputError, match="leads out"):
        read_skill(root)


def test_fault_31_what_an_agent_gets_has_no_evals_caches_or_links_out(tmp_path: Path) -> None:
    root = make(tmp_path, GOOD)
    for name in (
        "scripts/run.py", "scripts/evals/kept.txt", "evals/evals.json", ".git/HEAD", "__pycache__/a.pyc", ".DS_Store",
        "node_modules/x/y.js", ".venv/bin/python", "my-skill-workspace/iteration-1/plan.json", "notes-workspace/a.txt",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (tmp_path / "secret").write_text("secret")
    (root / "out.txt").symlink_to(tmp_path / "secret")
    (root / "answers.txt").symlink_to(root / "evals" / "evals.json")
    (root / "loop").symlink_to(root)
    (root / "same.py").symlink_to(root / "scripts" / "run.py")
    (root / "dangling").symlink_to(root / "nothing")
    assert installable_files(root) == [
        "SKILL.md", "notes-workspace/a.txt", "same.py", "scripts/evals/kept.txt", "scripts/run.py",
    ]  # fmt: skip


def test_the_digest_follows_content_and_names_only(tmp_path: Path) -> None:
    root = make(tmp_path, GOOD)
    (root / "a.txt").write_text("a")
    first = folder_digest(root)
    (root / "evals").mkdir()
    (root / "evals" / "evals.json").write_text("[]")
    (root / "__pycache__").mkdir()
    (root / "__pycache__" / "x.pyc").write_text("x")
    os.utime(root / "a.txt", (0, 0))
    assert folder_digest(root) == first
    (root / "a.txt").rename(root / "b.txt")
    renamed = folder_digest(root)
    (root / "b.txt").write_text("b")
    assert len({first, renamed, folder_digest(root)}) == 3


HEADS = [
    "description: old",
    "description: old # why",
    "description: old\n  goes on",
    "description:\n  old",
    "description: 'old'",
    'description: "old\n  still"',
    "description: >\n  old\n\n  text\n\n",
    "description: |- # why\n  old",
    "description: >-\n  old\n# a comment",
]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_description_changes(tmp_path: Path, head: str, newline: str) -> None:
    text = f"---\n# first\nname: my-skill\n{head}\nmetadata: {{a: 1}}\n---\nBody: old\n".replace("\n", newline)
    skill = read_skill(make(tmp_path, b"\xef\xbb\xbf" + text.encode()))
    new = with_description(skill, 'New: "it"')
    assert read_skill(make(tmp_path, new)).description == 'New: "it"'
    start = f"---{newline}# first{newline}name: my-skill{newline}description:"
    end = f"metadata: {{a: 1}}{newline}---{newline}Body: old{newline}"
    decoded = new.decode("utf-8-sig")
    assert decoded.startswith(start) and decoded.endswith(end)
    for comment in ("# why", "# a comment"):
        assert (comment in text) == (comment in decoded)


def test_a_plain_description_stays_plain(tmp_path: Path) -> None:
    skill = read_skill(make(tmp_path, GOOD))
    assert (
        with_description(skill, "Another plain one.")
        == GOOD.replace("Does a thing when asked.", "Another plain one.").encode()
    )


def test_a_shared_or_blank_description_is_refused(tmp_path: Path) -> None:
    shared = read_skill(make(tmp_path, "---\nname: a\nwhen_to_use: &d text\ndescription: *d\n---\n"))
    with pytest.raises(InputError, match="can't be replaced alone"):
        with_description(shared, "new")
    with pytest.raises(InputError, match="blank"):
        with_description(shared, " \n")


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), head=st.sampled_from(HEADS)
)
def test_any_text_can_be_a_description(text: str, head: str) -> None:
    old = f"---\nname: my-skill\n{head}\nlicense: MIT\n---\nBody\n"
    with tempfile.TemporaryDirectory() as folder:
        skill = read_skill(make(Path(folder), old))
        again = read_skill(make(Path(folder), with_description(skill, text)))
    assert again.description == text
    assert again.frontmatter == {**skill.frontmatter, "description": text}
    assert again.body == skill.body


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.binary(), st.text().map(lambda text: f"---\n{text}\n---\n".encode("utf-8", "surrogatepass"))))
def test_any_bytes_give_a_skill_or_an_input_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            skill = read_skill(make(Path(folder), data))
        except InputError as error:
            assert str(error)
        else:
            assert skill.name and skill.description.strip()


ODD = {"name-type:bool", "blank-before-frontmatter"}


@pytest.mark.slow
def test_the_heads_of_real_skills_agree_with_yaml_or_are_refused_with_the_reason(
    shared_data: Path, tmp_path: Path
) -> None:
    refused, agreed = 0, 0
    for line in (shared_data / "skill_heads.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        head = base64.b64decode(row["head_base64"])
        root = make(tmp_path, head + b"\nBody\n")
        try:
            skill = read_skill(root)
        except InputError as error:
            assert error.message and error.file
            refused += 1
            reason = not row["description_length"] or row["yaml_error"] or ODD & set(row["tags"])
            assert reason, (row["path"], str(error))
            continue
        agreed += 1
        assert row["yaml_error"] is None
        text = head.decode("utf-8-sig").replace("\r\n", "\n")
        assert skill.frontmatter == yaml.safe_load(text.rstrip().removeprefix("---").removesuffix("---"))
        assert set(skill.frontmatter) == set(row["keys"])
        assert len(skill.description.strip()) == row["description_length"]
        new = with_description(skill, "Another: one")
        assert read_skill(make(tmp_path, new)).description == "Another: one"
    assert agreed + refused == 869
    assert agreed == 771


@pytest.mark.parametrize(
    "place", ["ws/iteration-1/plan.json", "Old-Workspace/iteration-2/x", "a/b/iteration-3/benchmark.json"]
)
def test_a_workspace_inside_the_skill_is_no_part_of_it(tmp_path: Path, place: str) -> None:
    (tmp_path / "SKILL.md").write_text("---\nname: a\ndescription: b\n---\n", encoding="utf-8")
    before = folder_digest(tmp_path)
    (tmp_path / place).parent.mkdir(parents=True)
    (tmp_path / place).write_text("{}", encoding="utf-8")
    assert installable_files(tmp_path) == ["SKILL.md"]
    assert folder_digest(tmp_path) == before
