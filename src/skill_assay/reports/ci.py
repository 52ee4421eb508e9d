"""What CI systems show: JUnit XML, GitHub annotations and step summary, and a comment for a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from skill_assay.model.benchmark import Benchmark, EvalFigures
from skill_assay.model.gate import Gate
from skill_assay.reports.escape import safe
from skill_assay.reports.plain import arm_label, arm_line, delta_line, harmless, percent_of
from skill_assay.reports.thresholds import figure, outcome

__all__ = ["comment_marker", "github_annotations", "junit_xml", "pull_request_comment"]

_BADGES = {"pass": "✅ Gate passed", "fail": "❌ Gate failed", "incomplete": "⚠️ Not whole"}
_MOST = 30


def junit_xml(found: Benchmark, gate: Gate, *, headline: str | None = None) -> str:
    """A suite of thresholds and a suite of evals.

    A test fails exactly where the exit code says so: a threshold that is missed (or cannot tell). An eval fails where
    it is named as the cause; it is skipped where nothing was graded. So a reader of JUnit and the exit code agree.
    """
    from junitparser import JUnitXml

    xml = JUnitXml(name=_xml(f"skill-assay {found.skill_name}"))
    xml.add_testsuite(_threshold_suite(found, gate, headline))
    xml.add_testsuite(_eval_suite(found, gate))
    xml.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = xml.tostring()  # type: ignore[no-untyped-call]
    return text.decode("utf-8").rstrip("\n") + "\n"


def _threshold_suite(found: Benchmark, gate: Gate, headline: str | None):  # type: ignore[no-untyped-def]
    from junitparser import Error, Failure, Skipped, TestCase, TestSuite

    suite = TestSuite(_xml(f"{found.skill_name} thresholds"))
    suite.timestamp = found.timestamp
    if headline:
        suite.add_property("verdict", _xml(headline))
    for one in gate.thresholds:
        case = TestCase(one.name, classname=_xml(f"{found.skill_name}.thresholds"))
        told = _xml(f"limit {figure(one.name, one.limit)}, value {figure(one.name, one.value)}; {outcome(one)}")
        if one.met is not True:
            case.result = [Skipped(told) if one.met is None else Failure(told, one.status.replace(" ", "_"))]
        suite.add_testcase(case)
    if gate.incomplete:
        case = TestCase("complete", classname=_xml(f"{found.skill_name}.thresholds"))
        case.result = [Error(_xml("; ".join(gate.incomplete)), "incomplete")]
        suite.add_testcase(case)
    return suite


def _eval_suite(found: Benchmark, gate: Gate):  # type: ignore[no-untyped-def]
    from junitparser import Failure, Skipped, TestCase, TestSuite

    suite = TestSuite(_xml(f"{found.skill_name} evals"))
    for one in found.evals:
        cell = one.arms[found.primary.arm.name]
        case = TestCase(_xml(one.eval.name), classname=_xml(f"{found.skill_name}.evals"), time=cell.seconds)
        blamed = _blamed(one, gate)
        if not cell.completed:
            case.result = [Skipped("nothing was graded")]
        elif blamed:
            case.result = [Failure(_xml("; ".join(blamed)), "threshold")]
        case.system_out = _xml(_eval_line(found, one))
        suite.add_testcase(case)
    return suite


def _blamed(one: EvalFigures, gate: Gate) -> list[str]:
    """The thresholds that name it as a cause of a miss."""
    start = f"{one.eval.name} "
    return [
        f"{result.name} {figure(result.name, result.limit)}: {cause}"
        for result in gate.thresholds
        if result.met is False
        for cause in result.causes
        if cause.startswith(start)
    ]


def _eval_line(found: Benchmark, one: EvalFigures) -> str:
    parts = [f"{arm.arm.name} {percent_of(one.arms[arm.arm.name].mean)}" for arm in found.arms]
    issue = f"; known issue: {one.eval.known_issue}" if one.eval.known_issue else ""
    return ", ".join(parts) + issue


def _xml(text: str) -> str:
    """Without characters that XML has no way to write."""
    return harmless(text).replace("￾", "").replace("￿", "")


def github_annotations(found: Benchmark, gate: Gate, *, headline: str | None = None) -> str:
    """Workflow commands, a line each: an error a threshold not met, warnings for what is not whole, the verdict."""
    lines = []
    for one in gate.thresholds:
        if one.met is False:
            title = f"{found.skill_name}: {one.name} {one.status}"
            told = f"limit {figure(one.name, one.limit)}, value {figure(one.name, one.value)}; {outcome(one)}"
            lines.append(_command("error", title, told))
    lines += [_command("warning", f"{found.skill_name}: not whole", reason) for reason in gate.incomplete]
    lines.append(_command("notice", found.skill_name, headline or _BADGES[gate.status]))
    return "\n".join(lines) + "\n"


def _command(kind: str, title: str, message: str) -> str:
    """Escaped so that an untrusted text can end neither the command nor begin another."""
    text = harmless(message).replace("%", "%25")
    name = harmless(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{text}"


def comment_marker(skill_name: str) -> str:
    """An invisible line by which an earlier comment of the same skill is found again."""
    return f"<!-- skill-assay {''.join(c for c in harmless(skill_name) if c.isalnum() or c in '-_.')} -->"


def pull_request_comment(found: Benchmark, gate: Gate, *, headline: str | None = None) -> str:
    """The verdict, the arms, a small plot of the evals and the thresholds; for a comment or a step summary."""
    badge = _BADGES[gate.status] if gate.thresholds or gate.incomplete else "Measured"
    parts = [comment_marker(found.skill_name), f"### {safe(found.skill_name)}: {badge}"]
    parts += [f"**{safe(headline)}**"] if headline else []
    parts += ["**simulated: no real agent did this work**"] if found.simulated else []
    lines = [f"- {safe(arm_label(arm.arm.name))}: {arm_line(arm)}" for arm in found.arms]
    if found.baseline is not None:
        lines.append(f"- Delta: {' '.join(delta_line(found.primary, found.baseline).split())}")
    parts += ["\n".join(lines), "```text\n" + "\n".join(_plot(found)) + "\n```"]
    if gate.thresholds:
        parts.append("\n".join(_threshold_rows(gate)))
    parts += ["\n".join(f"- not whole: {safe(reason)}" for reason in gate.incomplete)] if gate.incomplete else []
    return "\n\n".join(parts) + "\n"


def _threshold_rows(gate: Gate) -> Iterator[str]:
    yield "| threshold | limit | value | status |"
    yield "|---|---|---|---|"
    for one in gate.thresholds:
        yield f"| {one.name} | {figure(one.name, one.limit)} | {figure(one.name, one.value)} | {safe(outcome(one))} |"


def _plot(found: Benchmark) -> Iterator[str]:
    """A line an eval, 0 to 100 %: ● the skill, ○ the baseline, ◉ both; the worst difference first."""
    ours = found.primary.arm.name
    theirs = found.baseline.arm.name if found.baseline else None
    shown = sorted(found.evals, key=lambda one: _gain(one, ours, theirs))[:_MOST]
    names = {one.eval.key: harmless(one.eval.name).replace("`", "'")[:28] for one in shown}
    width = max((len(name) for name in names.values()), default=0)
    yield f"{'':<{width}}  0 %{'':<14}100 %   ● skill{'   ○ baseline' if theirs else ''}"
    for one in shown:
        line = ["·"] * 21
        marks = [(theirs, "○"), (ours, "●")] if theirs else [(ours, "●")]
        for arm, mark in marks:
            mean = one.arms[arm].mean if arm else None
            if mean is not None:
                at = round(mean * 20)
                line[at] = "◉" if line[at] == "○" else mark
        gain = _gain(one, ours, theirs)
        told = f"{gain * 100:+.0f}" if theirs and gain != _UNKNOWN else ""
        yield f"{names[one.eval.key]:<{width}}  {''.join(line)}  {told}".rstrip()
    if len(found.evals) > _MOST:
        yield f"and {len(found.evals) - _MOST} more evals"


_UNKNOWN = 2.0


def _gain(one: EvalFigures, ours: str, theirs: str | None) -> float:
    mine, other = one.arms[ours].mean, one.arms[theirs].mean if theirs else 0.0
    return _UNKNOWN if mine is None or other is None else mine - other
