"""An agent may repeat a failed request a few times by itself; then the failure is ours to deal with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skill_assay.agents.claude_code_parser import ClaudeCodeParser
from skill_assay.agents.copilot_parser import CopilotParser
from skill_assay.agents.opencode_parser import OpenCodeParser
from skill_assay.agents.patience import MOST, Patience, error_reader
from skill_assay.agents.pi_parser import PiParser
from skill_assay.agents.qwen_parser import QwenParser
from skill_assay.errors import Failure
from skill_assay.errors import FailureKind as Kind
from skill_assay.model.transcript import Retrying, Started, Text, Tokens, ToolCall

DOWN = Retrying(Failure(Kind.SERVER_ERROR, "503"))


def test_a_few_retries_are_borne_and_one_more_is_not() -> None:
    patience = Patience()
    assert [patience.see(DOWN) for _ in range(MOST)] == [None] * MOST
    assert patience.lost is None and patience.waiting_for == DOWN.failure
    assert patience.see(DOWN) is not None
    assert patience.lost == DOWN.failure


@pytest.mark.parametrize("progress", [Text("on"), ToolCall("1", "bash", {})])
def test_they_are_counted_in_a_row(progress: Text | ToolCall) -> None:
    patience = Patience()
    for _ in range(4 * MOST):
        patience.see(DOWN)
        patience.see(progress)
    assert patience.lost is None and patience.waiting_for is None


def test_requests_at_the_same_time_are_not_taken_for_one() -> None:
    patience, parser = Patience(), ClaudeCodeParser()

    def failed(attempt: int) -> list[str | None]:
        line = {"type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": 2, "error_status": 529}
        return [patience.see(event) for event in parser.feed(json.dumps(line).encode())]

    assert [failed(1 + number % 2) for number in range(4 * MOST)] == [[None]] * 4 * MOST
    assert patience.waiting_for is not None and patience.waiting_for.kind is Kind.OVERLOADED
    assert failed(MOST) == [None] and failed(MOST + 1) == ["it repeats a failed request"]


def test_what_is_no_progress_changes_nothing() -> None:
    patience = Patience()
    for _ in range(MOST + 1):
        patience.see(DOWN)
        patience.see(Started())
    assert patience.lost is not None


def test_only_a_parser_that_reads_standard_error_is_given_it() -> None:
    assert error_reader(PiParser(), lambda events: None) is None
    seen: list[Any] = []
    read = error_reader(OpenCodeParser(), lambda events: seen.extend(events))
    assert read is not None
    read(LOG.encode())
    assert [event.failure.kind for event in seen] == [Kind.SERVER_ERROR]


LOG = (
    'timestamp=2026-01-01T00:00:00Z level=ERROR run=1 message="stream error" providerID=p modelID=m small=false '
    'error.error="AI_APICallError: busy \\"now\\""'
)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("AI_APICallError: busy now", Kind.SERVER_ERROR),
        ("AI_APICallError: Rate limit reached for requests", Kind.RATE_LIMITED),
        ("Unable to connect. Is the computer able to access the url?", Kind.CONNECTION),
        ("AI_APICallError: Overloaded", Kind.OVERLOADED),
    ],
)
def test_opencode_tells_a_failed_request_in_its_log_alone(words: str, kind: Kind) -> None:
    line = LOG.rpartition('error.error="')[0] + f'error.error="{words}"'
    (event,) = OpenCodeParser().feed_error(line.encode())
    assert isinstance(event, Retrying) and event.failure.kind is kind


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b'timestamp=x level=ERROR message=process error="busy now" stack="AI_APICallError: busy now"',
        b'timestamp=x level=ERROR message="background dependency install failed" error="Cause"',
    ],
)
def test_other_lines_of_its_log_are_nothing(line: bytes) -> None:
    assert OpenCodeParser().feed_error(line) == ()


def test_qwen_tells_a_wait_when_it_does() -> None:
    line = {"type": "system", "subtype": "retry", "data": {"attempt": 1, "delayMs": 60000, "reason": "retry"}}
    (event,) = QwenParser().feed(json.dumps(line).encode())
    assert isinstance(event, Retrying) and event.wait_seconds == 60


def usage_file(folder: Path, **by_model: dict[str, int]) -> Path:
    file = folder / "usage.json"
    metrics = {name: {"requests": {"count": 2}, "usage": used} for name, used in by_model.items()}
    file.write_text(json.dumps({"modelMetrics": metrics, "totalNanoAiu": 0}), encoding="utf-8")
    return file


USED = {"inputTokens": 2600, "outputTokens": 84, "cacheReadTokens": 1000, "cacheWriteTokens": 200}


def copilot(file: Path | None, *, own: bool) -> CopilotParser:
    parser = CopilotParser(usage_file=file)
    for line in (
        {"type": "model.call_final_result", "data": {"isByok": own}},
        {"type": "assistant.message", "data": {"content": "ok", "model": "gpt-4o", "messageId": "1"}},
        {"type": "result", "exitCode": 0, "usage": {}},
    ):
        list(parser.feed(json.dumps(line).encode()))
    return parser


def test_copilot_tells_tokens_in_a_file_and_cached_ones_are_kept_apart(tmp_path: Path) -> None:
    file = usage_file(tmp_path, **{"gpt-4o": USED, "unused": {"inputTokens": 0}})
    finished = copilot(file, own=True).end(0, "")
    assert finished.usage.tokens == Tokens(1400, 84, 1000, 200)
    assert finished.usage.cost_usd is not None and 0 < finished.usage.cost_usd < 1
    assert finished.models == ("gpt-4o",)


def test_copilot_has_no_list_price_where_github_bills(tmp_path: Path) -> None:
    usage = copilot(usage_file(tmp_path, **{"gpt-4o": USED}), own=False).end(0, "").usage
    assert usage.tokens is not None and usage.cost_usd is None


def test_copilot_has_no_price_where_one_model_of_two_has_none(tmp_path: Path) -> None:
    file = usage_file(tmp_path, **{"gpt-4o": USED, "home-made": USED})
    usage = copilot(file, own=True).end(0, "").usage
    assert usage.tokens == Tokens(2800, 168, 2000, 400) and usage.cost_usd is None


@pytest.mark.parametrize("content", [b"", b"[]", b'{"modelMetrics": 3}', b'{"modelMetrics": {"m": []}}', b"\xff"])
def test_a_file_that_can_t_be_read_is_no_tokens(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "usage.json").write_bytes(content)
    finished = copilot(tmp_path / "usage.json", own=True).end(0, "")
    assert finished.usage.tokens is None and finished.answer == "ok"


def test_a_link_left_in_its_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(usage_file(tmp_path, **{"gpt-4o": USED}))
    assert copilot(tmp_path / "link", own=True).end(0, "").usage.tokens is None
    assert copilot(None, own=True).end(0, "").usage.tokens is None
