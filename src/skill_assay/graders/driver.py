"""Runs inside a trial's sandbox: calls an author's `evals/checks.py`, or starts a grader program.

Sent there as a file of its own, so it stands on the standard library alone and is never imported by the harness.

    python -I driver.py BUNDLE MARKER

BUNDLE is a zip archive with `request.json`, `evals/` and `transcript.json`; it and this file are removed from the
working directory (a copy of the outputs) before anything of the author's runs. What was decided is printed one JSON
object a line, each after MARKER; whatever the author's code prints goes to standard error instead.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

EVIDENCE_LIMIT = 2_000
PRINTED_LIMIT = 400_000
# The sandbox keeps a million bytes of what is printed; escaped as JSON this still fits.


class Context:
    """What a function of `evals/checks.py` is handed."""

    def __init__(self, outputs: Path, bundle: Path, request: dict[str, Any]) -> None:
        self.outputs = outputs
        """A copy of the folder of files that the agent left."""
        self.evals = bundle / "evals"
        """A copy of the evals folder."""
        self.answer: str = request["answer"]
        """The agent's final message."""
        self.transcript: list[dict[str, Any]] = json.loads((bundle / "transcript.json").read_text("utf-8"))
        """What was said, called and given back: objects with a `type`."""
        self.eval: dict[str, Any] = request["eval"]
        """The eval: id, name, prompt, expected_output, expectations, files, tags."""


def main(archive: str, marker: str) -> None:
    """Unpack, tidy up, run, tell."""
    outputs = Path.cwd()
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace", newline="\n")
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="assay-", ignore_cleanup_errors=True) as folder:
        with zipfile.ZipFile(archive) as bundle:
            bundle.extractall(folder)
        Path(archive).unlink()
        Path(__file__).unlink()
        # A sandbox makes its working directory a git root; outputs never hold one, so this is not the agent's.
        shutil.rmtree(".git", ignore_errors=True)
        request = json.loads((Path(folder) / "request.json").read_text("utf-8"))
        work = run_program if "program" in request else run_functions
        for verdict in work(outputs, Path(folder), request):
            channel.write(f"\n{marker}{json.dumps(verdict, ensure_ascii=False)}\n")
            channel.flush()


def run_functions(outputs: Path, bundle: Path, request: dict[str, Any]) -> Any:
    """Call each function; what it raises is told, not raised."""
    try:
        module = load(bundle / "evals")
    except BaseException as error:
        for call in request["calls"]:
            yield {"key": call["key"], "error": last_line(error)}
        return
    for call in request["calls"]:
        yield {"started": call["function"]}
        try:
            function = find(module, call)
            verdict = read(function(Context(outputs, bundle, request), **call["arguments"]))
        except BaseException as error:
            verdict = {"error": last_line(error)}
        yield {"key": call["key"], **verdict}


def load(evals: Path) -> ModuleType:
    """Import `checks.py`, with its neighbours importable."""
    sys.path.insert(0, str(evals))
    spec = importlib.util.spec_from_file_location("checks", evals / "checks.py")
    if spec is None or spec.loader is None:
        raise ImportError("evals/checks.py can't be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["checks"] = module
    spec.loader.exec_module(module)
    return module


def find(module: ModuleType, call: dict[str, Any]) -> Any:
    """The function by name, or by its key in `CHECKS`."""
    return module.CHECKS[call["mapped"]] if call.get("mapped") is not None else getattr(module, call["function"])


def read(returned: Any) -> dict[str, Any]:
    """A verdict out of `bool`, `(bool, evidence)` or `{"passed": …, "evidence": …}`; `None` for "can't tell"."""
    passed: Any = returned
    evidence: Any = None
    if isinstance(returned, bool):
        passed, evidence = returned, f"returned {returned}"
    elif isinstance(returned, tuple) and len(returned) == 2:
        passed, evidence = returned
    elif isinstance(returned, dict) and set(returned) <= {"passed", "evidence"} and "passed" in returned:
        passed, evidence = returned["passed"], returned.get("evidence")
    if not isinstance(passed, bool) and not (passed is None and isinstance(evidence, str) and evidence):
        shown = repr(returned)[:200]
        return {"error": f'returned {shown}; expected True, False, (passed, evidence) or {{"passed", "evidence"}}'}
    return {"passed": passed, "evidence": str(evidence or f"returned {passed}")[:EVIDENCE_LIMIT]}


def last_line(error: BaseException) -> str:
    """The exception and the place it came from, on one line."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    said = traceback.format_exception_only(error)[-1].strip()
    return f"{said}{place}"[:EVIDENCE_LIMIT]


def run_program(outputs: Path, bundle: Path, request: dict[str, Any]) -> Any:
    """Start the program and tell what it printed."""
    (bundle / "eval.json").write_text(json.dumps(request["eval"]), "utf-8")
    places = {
        "{outputs}": str(outputs),
        "{transcript}": str(bundle / "transcript.json"),
        "{eval}": str(bundle / "eval.json"),
        "{evals}": str(bundle / "evals"),
    }
    with tempfile.TemporaryFile() as printed:
        argv = [filled(word, places) for word in request["program"]]
        try:
            code = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=printed, check=False).returncode
        except OSError as error:
            yield {"error": f"{error.strerror or error}: {argv[0]}"}
            return
        printed.seek(0)
        data = printed.read(PRINTED_LIMIT + 1)
    if len(data) > PRINTED_LIMIT:
        yield {"error": f"printed more than {PRINTED_LIMIT:,} bytes"}
    else:
        yield {"code": code, "printed": data.decode("utf-8", errors="replace")}


def filled(word: str, places: dict[str, str]) -> str:
    """The word with its placeholders replaced."""
    for name, place in places.items():
        word = word.replace(name, place)
    return word


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
