"""Throwaway places, what is passed into them, and command lines as walls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.model.place import Launch, Place
from skill_assay.runner import sandbox
from skill_assay.runner.sandbox import (
    NoSandbox,
    PrefixSandbox,
    base_environment,
    leftovers,
    make_place,
    remove_place,
)


@pytest.fixture
def place() -> Iterator[Place]:
    made = make_place()
    yield made
    remove_place(made)


def test_a_place_is_private_short_and_a_git_root(place: Place) -> None:
    assert place.root.stat().st_mode & 0o777 == 0o700
    assert len(str(place.tmp)) < 60
    assert sorted(path.name for path in place.root.iterdir()) == [".assay.json", "config", "home", "tmp", "work"]
    top = subprocess.run(
        ["git", "rev-parse", "--show-toplevel"], cwd=place.work, capture_output=True, text=True, check=True
    )
    assert Path(top.stdout.strip()) == place.work
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=place.work, capture_output=True, text=True, check=True
    )
    assert (status.stdout, status.stderr) == ("", "")


def test_git_works_in_it(place: Place) -> None:
    (place.work / "a").write_text("x")
    env = {"PATH": os.environ["PATH"], "HOME": str(place.home)}
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["add", "."], ["commit", "-qm", "one"], ["fsck", "--strict"]):
        subprocess.run(["git", *identity, *words], cwd=place.work, env=env, check=True, capture_output=True)


def test_fault_04_no_two_places_share_anything() -> None:
    places = [make_place() for _ in range(3)]
    try:
        assert len({place.root for place in places}) == 3
    finally:
        assert all(remove_place(place) for place in places)


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude", "AGENTS.md", ".git", ".mcp.json"])
def test_fault_04_a_parent_with_instructions_is_not_used(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dirty, clean = tmp_path / "d" / "t", tmp_path / "c"
    dirty.mkdir(parents=True)
    clean.mkdir()
    (tmp_path / "d" / name).touch()
    monkeypatch.setattr(sandbox, "_parents", lambda: iter([dirty, clean]))
    place = make_place()
    assert place.root.parent == clean
    monkeypatch.setattr(sandbox, "_parents", lambda: iter([dirty]))
    with pytest.raises(InputError) as error:
        make_place()
    assert str(tmp_path / "d" / name) in str(error.value)


def test_the_temporary_folder_of_a_long_path_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = tmp_path / ("x" * 60)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    parents = list(sandbox._parents())
    assert parents[-1] == long.resolve() and len(parents) > 1


def test_removal_survives_what_an_agent_left(place: Place, tmp_path: Path) -> None:
    kept = tmp_path / "the users own"
    kept.mkdir()
    (kept / "file").touch()
    deep = place.work / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "file").touch()
    (place.work / "link").symlink_to(kept)
    (place.work / "dangling").symlink_to("/no/such")
    os.mkfifo(place.work / "pipe")
    for path in (deep / "file", deep, deep.parent):
        path.chmod(0o000)
    kept_mode = kept.stat().st_mode
    with as_nobody(place.root):
        assert remove_place(place)
    assert not place.root.exists()
    assert (kept / "file").exists() and kept.stat().st_mode == kept_mode


class as_nobody:
    """Root may do anything; where the test runs as root, a user who may not takes its place."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __enter__(self) -> None:
        self.root_user = os.geteuid() == 0
        if self.root_user:
            for path in (self.root, *self.root.rglob("*")):
                os.chown(path, 65534, 65534, follow_symlinks=False)
            os.seteuid(65534)

    def __exit__(self, *error: object) -> None:
        if self.root_user:
            os.seteuid(0)


def test_a_removal_that_was_killed_leaves_a_known_leftover(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    really = sandbox.shutil.rmtree

    def watched(path: Path, **options: bool) -> None:
        seen.append((place.root / ".assay.json").exists())
        really(path, **options)

    monkeypatch.setattr(sandbox.shutil, "rmtree", watched)
    assert remove_place(place)
    assert seen == [True] * 5


def test_removing_twice_is_fine(place: Place) -> None:
    assert remove_place(place)
    assert remove_place(place)


def test_leftovers_are_those_of_dead_runs(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from skill_assay.runner.sandbox import make_place; make_place(pathlib.Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    dead = list(tmp_path.iterdir())
    mine = make_place(tmp_path)
    (tmp_path / "assay-someone-elses").mkdir()
    (tmp_path / "assay-link").symlink_to(dead[0])
    assert leftovers(tmp_path) == dead
    marker = mine.root / ".assay.json"
    recorded = json.loads(marker.read_text())
    marker.write_text(json.dumps({**recorded, "started": recorded["started"] - 60}))
    assert leftovers(tmp_path) == sorted([*dead, mine.root]), "the same pid, but another process"


@pytest.mark.parametrize("marker", ["", "[]", "{}", '{"pid": "x"}', "\xff"])
def test_a_strange_marker_makes_no_leftover(marker: str, tmp_path: Path) -> None:
    folder = tmp_path / "assay-x"
    folder.mkdir()
    (folder / ".assay.json").write_bytes(marker.encode("latin-1"))
    assert leftovers(tmp_path) == []


def test_fault_10_the_environment_is_an_allow_list() -> None:
    env = {
        "PATH": f"/usr/bin{os.pathsep}node_modules/.bin{os.pathsep}{os.pathsep}/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE",
        "https_proxy": "http://proxy.example:3128",
        "HTTP_PROXY": "http://user:secret@proxy.example:3128",
        "ANTHROPIC_API_KEY": "sk-ant-x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "GITHUB_TOKEN": "x",
        "CLAUDECODE": "1",
        "HOME": "/home/user",
        "PYTHONPATH": "/x",
        "LD_PRELOAD": "x",
        "PWD": "/x",
    }
    assert base_environment(env) == {
        "PATH": f"/usr/bin{os.pathsep}/bin",
        "LANG": "C.UTF-8",
        "LC_TIME": "de_DE",
        "https_proxy": "http://proxy.example:3128",
    }


def test_no_wall_changes_nothing(place: Place) -> None:
    launch = Launch(["x"], {"A": "1"}, place.work)
    assert NoSandbox().wrap(launch, place) is launch
    assert NoSandbox().inner(place) is place


def test_a_prefix_stands_before_the_command(place: Place) -> None:
    wall = PrefixSandbox("run --mount '{workdir}:{workdir}' -e HOME={home} 'an image'")
    launch = wall.wrap(Launch(["agent", "-p", "{workdir}"], {"A": "1"}, place.work), place)
    work, home = str(place.work), str(place.home)
    assert list(launch.argv) == [
        "run", "--mount", f"{work}:{work}", "-e", f"HOME={home}", "an image", "agent", "-p", "{workdir}",
    ]  # fmt: skip
    assert (launch.env, launch.cwd) == ({"A": "1"}, place.work)


@pytest.mark.parametrize("text", ["", "  ", "run 'unfinished"])
def test_a_prefix_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        PrefixSandbox(text)
