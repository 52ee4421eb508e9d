from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from skill_assay.formats.lint.opinion import OPINION_RULES, opinion

LABELS = json.loads((Path(__file__).parent.parent / "data" / "opinion_labels.json").read_text("utf-8"))["labels"]


@pytest.mark.parametrize(
    "text",
    [
        "The video looks good",
        "The report is clear and professional",
        "The code is well-structured",
        "Provides a comprehensive summary",
        "Suggests useful next steps",
        "Handles errors appropriately",
        "The tone is friendly",
        "The layout is visually appealing",
        "The text reads naturally",
        "The summary makes sense",
        "The table is easy to read",
        "The story reads well",
    ],
)
def test_opinions(text: str) -> None:
    assert opinion(text)


@pytest.mark.parametrize(
    "text",
    [
        "report.md exists and is not empty",
        'The report contains the heading "Summary"',
        "The manifest's duration is 5",
        "The prompt file is in English",
        "The script exits with an error when the file is missing",
        "Uses the appropriate skill for PDF files",
        "The output is readable (no line is longer than eighty characters)",
        "The function returns the correct total",
        "Mentions that the API is good for batch jobs because it is cheap",
        "Well-known ports are listed",
        "The XML is well-formed",
        "",
    ],
)
def test_what_can_be_seen_to_hold(text: str) -> None:
    assert opinion(text) is None


def test_the_words_that_show_it_are_told() -> None:
    assert opinion("The video looks good") == "looks good: “looks good”"


def text_at(value: Any, path: str) -> str:
    for key, index in re.findall(r"\.(\w+)|\[(\d+)\]", path):
        value = value[key] if key else value[int(index)]
    return value if isinstance(value, str) else value.get("text") or value.get("description") or value["name"]


def test_precision_on_expectations_labelled_before_the_rules_were_written(
    shared_data: Path, record_property: Any
) -> None:
    """Precision at least 0.9; recall is recorded. A rule that calls every praise word an opinion fails this."""
    assert len(LABELS) >= 100 and sum(label["opinion"] for label in LABELS) >= 20
    said: list[tuple[bool, bool]] = []
    for label in LABELS:
        text = text_at(json.loads((shared_data / label["file"]).read_text("utf-8-sig")), label["json_path"])
        assert hashlib.sha256(text.encode()).hexdigest() == label["sha256"]
        said.append((opinion(text) is not None, label["opinion"]))
    hits = sum(found and truth for found, truth in said)
    precision = hits / sum(found for found, _ in said)
    recall = hits / sum(truth for _, truth in said)
    record_property("opinion_precision", precision)
    record_property("opinion_recall", recall)
    assert precision >= 0.9
    assert recall >= 0.8


def test_every_opinion_rule_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "lint.md").read_text("utf-8")
    assert not [name for name in OPINION_RULES if f"| {name} |" not in page]
