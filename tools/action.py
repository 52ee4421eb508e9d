"""What the GitHub action does, without GitHub's help: run, gate, report, comment. Standard library only.

Reads `INPUT_*` (the action's inputs) and the variables GitHub sets for every step; ends with the exit code of
`assay run`, once everything that can be shown has been.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TIMEOUT = 30


def main(env: Mapping[str, str]) -> int:
    """Run, gate, report, comment."""
    skill = env.get("INPUT_SKILL", "").strip()
    if not skill:
        print("::error title=skill-assay::The input 'skill' names no skill")
        return 2
    assay = shlex.split(env.get("INPUT_ASSAY") or "assay")
    place = env.get("INPUT_WORKSPACE", "").strip()
    where = ["--workspace", place] if place else []
    wanted = [*assay, "run", skill, *where, "--yes", "--no-progress", "--gate", "--new"]
    wanted += shlex.split(env.get("INPUT_ARGS", ""))
    code = subprocess.run([*wanted, *_reuse(wanted, env), "--format", "github"], check=False).returncode
    reports = Path(env.get("INPUT_REPORTS") or "skill-assay-reports")
    reports.mkdir(parents=True, exist_ok=True)
    gate = [*assay, "gate", skill, *where]
    for form, name in (("junit", "junit.xml"), ("json", "gate.json"), ("markdown", "comment.md")):
        subprocess.run([*gate, "--format", form, "-o", str(reports / name)], check=False)
    _outputs(env, {"exit-code": str(code), "reports": str(reports)})
    comment = reports / "comment.md"
    if env.get("INPUT_COMMENT", "true").lower() == "true" and comment.is_file():
        _comment(env, comment.read_text(encoding="utf-8"))
    return code


def _reuse(wanted: list[str], env: Mapping[str, str]) -> list[str]:
    """The baseline of before, where it is asked and still fits; else it is run afresh, and the log says why."""
    if env.get("INPUT_REUSE_BASELINE", "false").lower() != "true":
        return []
    tried = subprocess.run(
        [*wanted, "--reuse-baseline", "--dry-run"], check=False, capture_output=True, text=True, encoding="utf-8"
    )
    if tried.returncode == 0:
        return ["--reuse-baseline"]
    reason = (tried.stderr.strip().splitlines() or ["no reason given"])[0]
    print(f"The baseline is run afresh: {reason}", flush=True)
    return []


def _outputs(env: Mapping[str, str], values: Mapping[str, str]) -> None:
    place = env.get("GITHUB_OUTPUT")
    if place:
        with Path(place).open("a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())


def _comment(env: Mapping[str, str], body: str) -> None:
    """One comment a skill: the earlier one is found by its marker and rewritten. A failure is a warning only."""
    number, token, repository = _pull_request(env), env.get("INPUT_TOKEN"), env.get("GITHUB_REPOSITORY")
    if number is None or not token or not repository:
        return
    api = f"{env.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}/issues"
    marker = body.splitlines()[0]
    try:
        earlier = _find(f"{api}/{number}/comments", token, marker)
        if earlier is None:
            _ask("POST", f"{api}/{number}/comments", token, {"body": body})
        else:
            _ask("PATCH", f"{api}/comments/{earlier}", token, {"body": body})
    except (urllib.error.URLError, OSError, ValueError) as error:
        print(f"::warning title=skill-assay::The comment could not be written: {str(error).splitlines()[0]}")


def _find(url: str, token: str, marker: str) -> int | None:
    for page in range(1, 11):
        found = _ask("GET", f"{url}?per_page=100&page={page}", token)
        for one in found:
            if str(one.get("body", "")).startswith(marker):
                return int(one["id"])
        if len(found) < 100:
            return None
    return None


def _pull_request(env: Mapping[str, str]) -> int | None:
    try:
        event = json.loads(Path(env["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        return int(event["pull_request"]["number"])
    except (KeyError, OSError, TypeError, ValueError):
        return None


def _ask(method: str, url: str, token: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=TIMEOUT) as reply:
        return json.loads(reply.read() or b"null")


if __name__ == "__main__":
    sys.exit(main(os.environ))
