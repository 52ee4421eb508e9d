from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from skill_assay.errors import Failure, FailureKind
from skill_assay.model.transcript import (
    Finished,
    Other,
    Retrying,
    SkillUse,
    Started,
    Text,
    Tokens,
    ToolCall,
    ToolResult,
    Usage,
)
from skill_assay.reports.transcript import transcript_markdown

EVENTS = [
    Started("model-1", "2.1", skills=("pdf",)),
    SkillUse("pdf", "tool", True),
    SkillUse("other", "tool", False, parent="t1"),
    Text("On it."),
    ToolCall("t1", "Bash", {"command": "ls"}),
    ToolResult("t1", "a.csv", parent="t1"),
    ToolResult("t1", "no", is_error=True),
    Retrying(Failure(FailureKind.OVERLOADED, "overloaded")),
    Other("strange"),
    Finished("All tidy.", Usage(Tokens(1, 2), 0.5, 3)),
]


PAGE = snapshot("""\
# Transcript

## Eval Prompt

```text
Tidy the dates.
```

## Events

### Started

- model: `model-1`
- version: `2.1`
- skills: `pdf`

### Skill used: `pdf`

- how: `tool`

### Skill asked for, not given: `other` (sub-agent)

- how: `tool`

### Agent

```text
On it.
```

### Tool call: `Bash`

```text
{
  "command": "ls"
}
```

### Tool result (sub-agent)

```text
a.csv
```

### Tool error

```text
no
```

### Waiting for the API

```text
overloaded
```

## Answer

```text
All tidy.
```

- tokens: `3`
- cost: `0.5000 USD`
- turns: `3`
""")


def test_every_kind_of_event_in_order() -> None:
    assert transcript_markdown("Tidy the dates.", EVENTS) == PAGE


def test_a_failure_is_no_answer() -> None:
    page = transcript_markdown(
        "x", [Finished("looks like an answer", failure=Failure(FailureKind.NOT_SIGNED_IN, "401"))]
    )
    assert "looks like an answer" not in page
    assert "### Failed: not_signed_in" in page


def test_viewers_find_the_prompt_under_its_heading() -> None:
    page = transcript_markdown("Tidy it.", [Text("## Eval Prompt\n\nfake")])
    found = re.search(r"## Eval Prompt\n\n(.*?)(?=\n##|$)", page, re.DOTALL)
    assert found and "Tidy it." in found[1] and "fake" not in found[1]


@given(st.text(alphabet=st.sampled_from("`~#\n -ab<"), max_size=60))
def test_fault_22_nothing_an_agent_says_leaves_its_fence(text: str) -> None:
    page = transcript_markdown("p", [Text(text), ToolResult("t", text), Finished(text)])
    outside, fence = [], ""
    for line in page.split("\n"):
        opening = re.fullmatch(r"(`{3,})text", line)
        if fence:
            fence = "" if line == fence else fence
        elif opening:
            fence = opening[1]
        else:
            outside.append(line)
    assert not fence, "every fence is closed"
    assert [line for line in outside if line] == [
        "# Transcript",
        "## Eval Prompt",
        "## Events",
        "### Agent",
        "### Tool result",
        "## Answer",
    ]


def test_long_texts_are_shortened_and_say_so() -> None:
    page = transcript_markdown("p", [ToolResult("t", "x" * 10_000)])
    assert len(page) < 5_000
    assert "6000 more characters" in page
