"""An iteration in which everything a stranger can write tries to run, to lead away, or to break out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.viewer.small import write

RUN = "window.ran=1;alert(1)"
SCRIPT = f"</script></template></textarea></title></style><script>{RUN}</script>"
HANDLER = f'"><img src=x onerror="{RUN}"><svg onload="{RUN}">'
AWAY = "http://evil.invalid/away"
TEMPLATE = "{{ 7*7 }}{% raw %}${7*7}"
ALL = SCRIPT + HANDLER + TEMPLATE
PAGE = (
    f'<html><head><meta http-equiv="refresh" content="0;url={AWAY}"><script>parent.{RUN}</script></head>'
    f'<body onload="{RUN}"><img src="{AWAY}.png" onerror="{RUN}"><form action="{AWAY}"><input></form>'
    f'<iframe src="javascript:parent.{RUN}"></iframe><a href="{AWAY}" target="_top">x</a></body></html>'
)
DRAWING = (
    f'<svg xmlns="http://www.w3.org/2000/svg" onload="{RUN}"><script>{RUN}</script>'
    f'<image href="{AWAY}.png"/><foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><img src="x" '
    f'onerror="{RUN}"/></body></foreignObject></svg>'
)
PROSE = f"""# {ALL}

[link](javascript:{RUN}) ![picture]({AWAY}.png) <{AWAY}> [data](data:text/html,<script>{RUN}</script>)

{PAGE}

| {HANDLER} | b |
|---|---|
| {SCRIPT} | d |

```html
{SCRIPT}
```
"""
LINES = [
    {"type": "started", "assay": 1, "model": ALL},
    {"type": "text", "text": ALL},
    {"type": "tool_call", "id": "1", "name": ALL, "input": {"command": ALL, ALL: [ALL]}},
    {"type": "tool_result", "call_id": "1", "text": ALL, "is_error": True},
]


def hostile_place(tmp_path: Path) -> Path:
    """Somebody else's workspace; the eval's and the files' names are hostile too, as far as a disk lets them be."""
    place = tmp_path / "hostile"
    name = "eval-<img src=x onerror=alert(1)>\"'&"
    for arm in ("with_skill", "without_skill"):
        run = place / name / arm / "run-1"
        write(run, _run(arm))
        write(run / "outputs", _outputs())
    (place / name / "eval_metadata.json").write_text(
        json.dumps({"eval_id": ALL, "eval_name": ALL, "prompt": ALL * 20, "tags": [ALL]}), encoding="utf-8"
    )
    (place / "feedback.json").write_text(
        json.dumps({"reviews": [{"run_id": f"{name}-with_skill-run-1", "feedback": ALL}], "tool": ALL}),
        encoding="utf-8",
    )
    (place / "analysis.json").write_text(json.dumps([ALL]), encoding="utf-8")
    return place


def _run(arm: str) -> dict[str, bytes]:
    passed = arm == "with_skill"
    expectations: list[Any] = [
        {"text": ALL, "passed": passed, "evidence": f'"{ALL}" in javascript:{RUN}'},
        {"text": f"two {HANDLER}", "passed": False, "evidence": PAGE},
        {"text": "three", "passed": None, "evidence": ALL},
    ]
    return {
        "grading.json": json.dumps({"expectations": expectations}).encode(),
        "answer.md": PROSE.encode(),
        "user_notes.md": PROSE.encode(),
        "transcript.md": PROSE.encode(),
        "attempt-1.jsonl": b"\n".join(json.dumps(line).encode() for line in LINES),
    }


def _outputs() -> dict[str, bytes]:
    return {
        "page.html": PAGE.encode(),
        "prose.md": PROSE.encode(),
        "drawing.svg": DRAWING.encode(),
        "table.csv": f'a,b\n"{ALL.replace(chr(34), chr(34) * 2)}",{HANDLER}\n'.encode(),
        "tree.json": json.dumps({ALL: {ALL: [ALL, None]}}).encode(),
        "script.js": RUN.encode(),
        "text.txt": ALL.encode(),
        '"><img src=x onerror=alert(1)>.txt': ALL.encode(),
        "'onmouseover='alert(1)'/deep#?%.md": PROSE.encode(),
        "javascript:alert(1).pdf": PAGE.encode(),
        "fake.png": PAGE.encode(),
    }
