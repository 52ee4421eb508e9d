"""Any program as an agent."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from skill_assay.agents import process
from skill_assay.agents.command import CommandAgent
from skill_assay.errors import FailureKind, InputError
from skill_assay.model.agent import Request
from skill_assay.model.place import Place
from skill_assay.model.transcript import Finished
from skill_assay.runner.bwrap import BwrapSandbox, bwrap_available

NASTY = 'Don\'t "quote" $(touch hacked) `touch hacked` ; touch hacked {workdir} --flag\nsecond line\\'


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    folders = {name: tmp_path / name for name in ("work", "home", "config", "tmp")}
    for folder in folders.values():
        folder.mkdir()
    place = Place(tmp_path, **folders)
    return Request("Sum it up.", place, work=str(place.work), home=str(place.home), tmp=str(place.tmp))


def run(agent: CommandAgent, request: Request) -> Finished:
    launch = agent.launch(request)
    done = subprocess.run(
        launch.argv, env=launch.env, cwd=launch.cwd, input=launch.stdin or b"", capture_output=True, check=False
    )
    parser = agent.parser(request)
    for line in done.stdout.splitlines():
        list(parser.feed(line))
    return parser.end(done.returncode, done.stderr.decode())


def show_arguments(*arguments: str) -> CommandAgent:
    code = "import sys; print(repr(sys.argv[1:]))"
    return CommandAgent(f'{sys.executable} -I -c "{code}" ' + " ".join(arguments))


def arguments_of(finished: Finished) -> list[str]:
    assert finished.answer is not None, finished.failure
    value: Any = eval(finished.answer)
    assert isinstance(value, list)
    return value


def test_placeholders_are_filled_within_their_argument(request_: Request) -> None:
    request = replace(request_, skill_path="/s/dir with space", model="m")
    agent = show_arguments("--task={prompt}", "'a {workdir} b'", "{skill_dir}", "{model}", "{unknown}", "{")
    assert arguments_of(run(agent, request)) == [
        "--task=Sum it up.",
        f"a {request.work} b",
        "/s/dir with space",
        "m",
        "{unknown}",
        "{",
    ]


def test_a_prompt_can_not_become_a_second_argument_or_a_command(request_: Request) -> None:
    request = replace(request_, prompt=NASTY)
    assert arguments_of(run(show_arguments("{prompt}", "end"), request)) == [NASTY, "end"]
    assert list(request.place.work.iterdir()) == []


def test_an_arm_without_the_skill_has_an_empty_argument_in_its_place(request_: Request) -> None:
    assert arguments_of(run(show_arguments("--skill", "{skill_dir}", "-x"), request_)) == ["--skill", "", "-x"]


def test_the_prompt_file_lies_outside_the_working_directory(request_: Request) -> None:
    request = replace(request_, prompt=NASTY)
    agent = CommandAgent(f'{sys.executable} -I -c "import sys; print(open(sys.argv[1]).read())" {{prompt_file}}')
    assert run(agent, request).answer == NASTY
    assert list(request.place.work.iterdir()) == []


def test_the_prompt_file_is_named_as_the_agent_sees_it(request_: Request) -> None:
    launch = show_arguments("{prompt_file}").launch(replace(request_, home="/trial/home"))
    assert launch.argv[-1] == "/trial/home/.prompt.md"
    assert (request_.place.home / ".prompt.md").read_text(encoding="utf-8") == "Sum it up."


def test_without_a_placeholder_the_prompt_is_standard_input(request_: Request) -> None:
    agent = CommandAgent(f'{sys.executable} -I -c "import sys; print(sys.stdin.read().upper())"')
    assert run(agent, request_).answer == "SUM IT UP."
    assert show_arguments("{prompt}").launch(request_).stdin is None


def test_it_starts_in_the_working_directory_with_the_sandbox_home(request_: Request) -> None:
    code = "import os; print(os.getcwd(), os.environ['HOME'], os.environ['TMPDIR'])"
    finished = run(CommandAgent(f'{sys.executable} -I -c "{code}"'), request_)
    assert finished.answer == f"{request_.work} {request_.home} {request_.tmp}"


def test_the_environment_is_the_requests_and_nothing_of_ours(
    request_: Request, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    request = replace(request_, env={"WANTED": "yes"})
    env = show_arguments().launch(request).env
    assert env == {"WANTED": "yes", "HOME": request.home, "TMPDIR": request.tmp}


def test_fault_1_a_non_zero_exit_is_a_crash_though_something_was_printed(request_: Request) -> None:
    agent = CommandAgent(f"{sys.executable} -I -c \"import sys; print('API Error'); sys.exit('no model')\"")
    finished = run(agent, request_)
    assert finished.answer is None
    assert finished.failure is not None
    assert finished.failure.kind is FailureKind.CRASHED
    assert "no model" in finished.failure.message


def test_skills_lie_where_several_clis_look(request_: Request) -> None:
    folder = show_arguments().skills_folder(request_.place)
    assert folder == request_.place.work / ".agents" / "skills"


def test_a_program_below_the_current_folder_is_found_from_there(
    request_: Request, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "my-agent"
    program.write_text("#!/bin/sh\necho here\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    agent = CommandAgent("./my-agent")
    monkeypatch.chdir("/")
    assert run(agent, request_).answer == "here"


def test_detect_names_the_program() -> None:
    found = show_arguments().detect({})
    assert found is not None
    assert found.path == str(Path(sys.executable).absolute())
    assert found.sign_in is not None
    assert found.sign_in.how == "none"


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("", "needs a command line"),
        ("   ", "needs a command line"),
        ("my-agent 'open", "can't be split"),
        ("no-such-program-here {prompt}", "was not found"),
        ("sh -c {promt}", "did you mean {prompt}"),
        ("sh {prompt-file} {prompt_fil}", "did you mean {prompt_file}"),
    ],
)
def test_what_is_wrong_with_the_command_is_said_before_anything_is_launched(argument: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        CommandAgent(argument)


@pytest.mark.parametrize("prompt", ["x" * 200_000, "a\0b"])
def test_a_prompt_that_fits_no_argument_is_refused_with_the_remedy(request_: Request, prompt: str) -> None:
    with pytest.raises(InputError, match="prompt_file"):
        show_arguments("{prompt}").launch(replace(request_, prompt=prompt))
    show_arguments("{prompt_file}").launch(replace(request_, prompt=prompt))


@pytest.mark.skipif(not bwrap_available()[0], reason="bubblewrap can't be used here")
def test_the_prompt_file_can_be_read_behind_a_wall(request_: Request) -> None:
    sandbox = BwrapSandbox()
    inner = sandbox.inner(request_.place)
    request = replace(
        request_, work=str(inner.work), home=str(inner.home), tmp=str(inner.tmp), env={"PATH": "/usr/bin:/bin"}
    )
    said: list[bytes] = []
    launch = sandbox.wrap(CommandAgent("/bin/cat {prompt_file}").launch(request), request.place)
    end = anyio.run(partial(process.run, launch, on_line=lambda line: said.append(line) or None, time_limit=30))
    assert (end.exit_code, said) == (0, [b"Sum it up."]), end.stderr_tail
