"""Tools, commands, skills and meters: what the agent did and used."""

import pytest

from skill_assay.errors import InputError
from skill_assay.graders.checks.commands import simple_commands
from skill_assay.model.transcript import SkillUse, Text, Tokens, ToolCall, Usage

CALLS = (
    ToolCall("1", "Read", {"file_path": "/trial/work/input.csv"}),
    ToolCall("2", "Bash", {"command": "python make.py --fast && ls out"}),
    ToolCall("3", "mcp__mail__send", {"to": "a@example.com"}),
    ToolCall("4", "Bash", {"command": 'echo "done; really" | tee log.txt'}, parent="t"),
    ToolCall("5", "Write", {"file_path": "report.md", "content": 'say "hi"\n'}),
)


@pytest.fixture
def busy(desk):
    return desk.says("done", *CALLS)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        ({"tool_called": "Read"}, "passed"),
        ({"tool_called": "read"}, "failed"),
        ({"tool_called": "Rea"}, "failed"),
        ({"tool_called": "mcp__mail__*"}, "passed"),
        ({"tool_called": {"tool": "Bash", "min": 2}}, "passed"),
        ({"tool_called": {"tool": "Bash", "min": 3}}, "failed"),
        ({"tool_called": {"tool": "Bash", "max": 1}}, "failed"),
        ({"tool_called": {"tool": "Bash", "input_matches": r"make\.py"}}, "passed"),
        ({"tool_called": {"tool": "Bash", "input_matches": "pytest"}}, "failed"),
        ({"tool_called": {"tool": "Write", "input_matches": 'say "hi"$'}}, "failed"),
        ({"tool_called": {"tool": "Write", "input_matches": 'say "hi"'}}, "passed"),
        ({"tool_called": {"tool": "Write", "input_matches": '"file_path": "report'}}, "passed"),
        ({"tool_called": {"tool": "Write", "input_matches": '"file_path":"report'}}, "passed"),
        ({"tool_not_called": "WebFetch"}, "passed"),
        ({"tool_not_called": "Bash"}, "failed"),
        ({"tool_not_called": {"tool": "Bash", "input_matches": "rm -rf"}}, "passed"),
        ({"tool_not_called": {"tool": "Bash", "min": 3}}, "passed"),
        ({"not": {"tool_called": "WebFetch"}}, "passed"),
        ({"tool_order": ["Read", "Bash", "Write"]}, "passed"),
        ({"tool_order": ["Write", "Read"]}, "failed"),
        ({"tool_order": ["Bash", "Bash"]}, "passed"),
        ({"tool_order": ["Read", "Read"]}, "failed"),
        ({"tool_order": [{"tool": "Bash", "input_matches": "tee"}, "Write"]}, "passed"),
        ({"tool_order": [{"tool": "Bash", "input_matches": "tee"}, "mcp__mail__send"]}, "failed"),
        ({"not": {"tool_order": ["Write", "Read"]}}, "passed"),
        ({"command_ran": "python make"}, "passed"),
        ({"command_ran": {"pattern": "python", "min": 2}}, "failed"),
        ({"command_ran": {"pattern": "python", "max": 1}}, "passed"),
        ({"command_ran": {"only": ["python", "ls", "echo", "tee"]}}, "passed"),
        ({"command_ran": {"only": ["python", "echo", "tee"]}}, "failed"),
        ({"command_ran": {"pattern": "make", "only": ["python", "ls", "echo", "tee"]}}, "passed"),
        ({"not": {"command_ran": "pytest"}}, "passed"),
    ],
)
def test_tools_and_commands(busy, check, verdict):
    assert busy.verdict(check) == verdict


def test_evidence_says_what_was_called_and_run(busy):
    assert "Read, Bash, mcp__mail__send, Write" in busy.grade({"tool_called": "WebFetch"}).evidence
    assert "python make.py --fast" in busy.grade({"command_ran": "pytest"}).evidence
    assert '"ls out"' in busy.grade({"command_ran": {"only": ["python", "echo", "tee"]}}).evidence
    assert "Step 2, Read, did not come after Write" in busy.grade({"tool_order": ["Write", "Read"]}).evidence


def test_no_call_at_all_is_an_answer_where_the_agent_shows_its_tools(desk):
    desk.says("done", Text("done"))
    assert desk.verdict({"tool_called": "Read"}) == "failed"
    assert desk.verdict({"tool_not_called": "Read"}) == "passed"
    assert desk.verdict({"command_ran": {"only": "ls"}}) == "passed"


@pytest.mark.parametrize("check", [{"tool_called": "Read"}, {"tool_order": ["Read"]}, {"command_ran": "ls"}])
def test_an_agent_that_shows_no_tools_leaves_it_ungraded(desk, check):
    desk.facts["events"] = (Text("done"),)
    assert desk.verdict(check) == "ungraded"
    assert desk.verdict({"not": check}) == "ungraded"
    assert desk.verdict({"tool_not_called": "Read"}) == "ungraded"


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("run_shell_command", {"command": "ls -l"}),
        ("shell", {"command": ["bash", "-lc", "ls -l"]}),
        ("command_execution", {"command": ["ls", "-l"]}),
        ("exec_command", {"cmd": "ls -l"}),
    ],
)
def test_the_shells_of_other_agents(desk, name, given):
    desk.says("done", ToolCall("1", name, given))
    assert desk.verdict({"command_ran": {"pattern": "^ls -l$", "only": "ls"}}) == "passed"


def test_only_looks_behind_separators_and_into_substitutions(desk):
    for line in ("ls; rm x", "ls && rm x", "ls | rm x", "ls\nrm x", "ls $(rm x)", "ls `rm x`", "ls & rm x"):
        desk.says("done", ToolCall("1", "Bash", {"command": line}))
        assert desk.verdict({"command_ran": {"only": ["ls"]}}) == "failed", line


def test_a_redirection_separates_nothing():
    line = "curl -s x 2>&1 | head -1; make &> log && cat <&3 >| out & rm x"
    assert simple_commands(line) == ["curl -s x 2>&1", "head -1", "make &> log", "cat <&3 >| out", "rm x"]


def test_a_quoted_separator_separates_nothing():
    assert simple_commands("echo 'a; b' && grep \"x|y\" f") == ["echo 'a; b'", 'grep "x|y" f']
    assert simple_commands("cat <<'E'\nit's\nE") == ["cat <<'E'", "it's", "E"]


def _use(name, confirmed=True):
    return SkillUse(name, "tool", confirmed)


@pytest.mark.parametrize(
    ("arguments", "verdict"),
    [
        (True, "passed"),
        (False, "failed"),
        ("reporter", "passed"),
        ("other", "passed"),
        ("report", "failed"),
        ("unknown", "failed"),
        ({"name": "unknown", "expected": False}, "passed"),
    ],
)
def test_fault_6_skill_used_compares_whole_names(desk, arguments, verdict):
    desk.says("done", _use("reporter"), _use("other"), _use("plugin:report"), _use("unknown", False), skill_used=True)
    assert desk.verdict({"skill_used": arguments}) == verdict


def test_skill_used_without_signs_is_ungraded(desk):
    for check in ({"skill_used": True}, {"skill_used": False}, {"skill_used": "other"}, {"not": {"skill_used": True}}):
        assert desk.verdict(check) == "ungraded"


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        ("max_tokens", {"usage": Usage(tokens=Tokens(10, 20, 30, 40))}),
        ("max_seconds", {"seconds": 100.0}),
        ("max_cost", {"usage": Usage(cost_usd=100.0)}),
        ("max_turns", {"usage": Usage(turns=100)}),
    ],
)
def test_fault_16_meters(desk, kind, facts):
    assert desk.verdict({kind: 100}) == "ungraded"
    assert desk.verdict({"not": {kind: 100}}) == "ungraded"
    desk.says("done", **facts)
    assert desk.verdict({kind: 100}) == "passed"
    assert desk.verdict({kind: 99.5}) == "failed"
    assert desk.verdict({"not": {kind: 99}}) == "passed"
    assert "100" in desk.grade({kind: 99}).evidence


@pytest.mark.parametrize("value", [0, -1, "10", True, None, float("inf"), float("nan")])
@pytest.mark.parametrize("kind", ["max_tokens", "max_seconds", "max_cost", "max_turns"])
def test_bad_limits(desk, kind, value):
    with pytest.raises(InputError):
        desk.compile({kind: value})


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ({"tool_called": ""}, "a text, not empty"),
        ({"tool_called": {"tool": "A", "input_matches": "("}}, "not a regular expression"),
        ({"tool_called": {"tool": "A", "min": 2, "max": 1}}, "at least 2 and at most 1"),
        ({"tool_not_called": {"name": "A"}}, "no argument is called 'name'"),
        ({"tool_order": []}, "a list, not empty"),
        ({"tool_order": ["A", {"tol": "B"}]}, 'Did you mean "tool"?'),
        ({"tool_order": "A"}, "a list"),
        ({"command_ran": {"min": 1}}, "one of 'pattern' and 'only'"),
        ({"command_ran": {"only": ["("]}}, "not a regular expression"),
        ({"skill_used": {"expected": "yes"}}, "true or false"),
        ({"skill_used": {"skill": "x"}}, "no argument is called 'skill'"),
    ],
)
def test_bad_arguments(desk, check, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        desk.compile(check)
