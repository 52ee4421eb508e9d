"""An iteration in which everything a stranger can write tries to run, to lead away, or to break out."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from skill_assay.workspace.store import Iteration
from tests.made import made_iteration, made_plan, made_trial
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
        write(run / "outputs", _outputs(arm))
    (place / name / "eval_metadata.json").write_text(
        json.dumps({"eval_id": ALL, "eval_name": ALL, "prompt": ALL * 20, "tags": [ALL]}), encoding="utf-8"
    )
    (place / "feedback.json").write_text(
        json.dumps({"reviews": [{"run_id": f"{name}-with_skill-run-1", "feedback": ALL}], "tool": ALL}),
        encoding="utf-8",
    )
    write(place / "candidate", _candidate())
    write(tmp_path, {"triggers/1/results.json": json.dumps(_triggers()).encode()})
    (place / "analysis.json").write_text(json.dumps([ALL]), encoding="utf-8")
    return place


def hostile_iteration(tmp_path: Path) -> Iteration:
    """One of ours, so that Triggers and Improve are there as well; what it shows is as hostile."""
    trials = [made_trial(arm=arm) for arm in ("with_skill", "without_skill")]
    iteration = made_iteration(tmp_path, made_plan(), trials)
    for trial in trials:
        run = iteration.run_folder(trial.id).path
        write(run, {"answer.md": PROSE.encode(), "user_notes.md": PROSE.encode()})
        write(run / "outputs", _outputs(trial.id.arm))
    write(iteration.path, {f"candidate/{name}": data for name, data in _candidate().items()})
    write(iteration.path.parent, {"triggers/1/results.json": json.dumps(_triggers()).encode()})
    found = _triggers() | {"iteration": 1, "description": f"{ALL}. {PAGE}"}
    searched = {"original_description": ALL, "history": [found]}
    write(iteration.path.parent, {"optimisations/2/results.json": json.dumps(searched).encode()})
    return iteration


def _triggers() -> dict[str, Any]:
    rows = [
        {"query": text, "should_trigger": wanted, "triggers": 0, "runs": 3, "pass": not wanted, "split": ALL}
        for text, wanted in ((ALL, True), (HANDLER, False), (PAGE, True))
    ]
    matrix = {"columns": [ALL, HANDLER], "rows": [{"wanted": ALL, "counts": [1, 2], "runs": 3}]}
    return {"results": rows, "description": ALL, "matrix": matrix, "notes": [ALL, PAGE], "skill_name": ALL}


def _candidate() -> dict[str, bytes]:
    """A proposed version of which every field and line is hostile."""
    changes = {
        "changes": [
            {"path": "SKILL.md", "kind": ALL, "reason": ALL},
            {"path": HANDLER, "kind": "added", "reason": PAGE},
        ],
        "summary": ALL,
        "model": ALL,
        HANDLER: ALL,
    }
    lines = [ALL, HANDLER, PAGE, *PROSE.splitlines()]
    diff = f"--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,{len(lines)} +1,{len(lines)} @@ {ALL}\n"
    diff += "".join(f"-{line}\n" for line in lines) + "".join(f"+{line} more\n" for line in lines)
    diff += f"--- a/{HANDLER}\n+++ b/{HANDLER}\n@@ -0,0 +1 @@\n+{SCRIPT}\n"
    return {
        "changes.json": json.dumps(changes).encode(),
        "changes.diff": diff.encode(),
        "SKILL.md": f"---\nname: pdf\ndescription: {json.dumps(ALL)}\n---\n{PROSE}".encode(),
    }


def _workbook() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = '<img src=x onerror="a()">'
    for row in ([ALL, HANDLER], [f'=HYPERLINK("javascript:{RUN}","{RUN}")', PAGE], [PROSE, TEMPLATE]):
        sheet.append(row)
    book.create_sheet("SECOND")
    made, file = io.BytesIO(), io.BytesIO()
    book.save(made)
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            # The library would refuse such a name; whoever writes the archive by hand is not stopped.
            new.writestr(name, old.read(name).replace(b'"SECOND"', quoteattr(SCRIPT + HANDLER).encode()))
    return file.getvalue()


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


def _outputs(arm: str) -> dict[str, bytes]:
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
        "book.xlsx": _workbook(),
        "differs.md": f"{PROSE}\n{arm} {ALL}\n{PAGE} {arm}\n".encode(),
    }
