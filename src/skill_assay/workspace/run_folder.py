"""The folder of one trial: what it holds is drawn in `workspace.store`."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_assay.errors import InputError, NotFoundError
from skill_assay.formats.grading import grading_to_dict
from skill_assay.formats.timing import timing_to_dict
from skill_assay.formats.trial_record import trial_from_dict, trial_to_dict
from skill_assay.formats.user_notes import NOTES_FILE
from skill_assay.model.evals import Eval
from skill_assay.model.transcript import Event
from skill_assay.model.trial import Trial
from skill_assay.reports.transcript import transcript_markdown
from skill_assay.workspace.writing import LineSink, Writer, disk_errors

__all__ = ["RunFolder", "eval_metadata", "read_json"]

_NOTES_BYTES = 64 * 1024
_BAD_NAME = {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL}


def eval_metadata(one: Eval) -> dict[str, Any]:
    """`eval_metadata.json`: where every reader finds the prompt."""
    return {
        "schema_version": 1,
        "eval_id": one.original_id if one.original_id is not None else one.id,
        "eval_name": one.title,
        "prompt": one.prompt,
        "assertions": [expectation.text for expectation in one.expectations],
        **({"tags": list(one.tags)} if one.tags else {}),
        **({"weight": one.weight} if one.weight != 1.0 else {}),
        **({"known_issue": one.known_issue} if one.known_issue else {}),
    }


def read_json(path: Path) -> Any:
    """Any JSON file; `InputError` says what is wrong with it and where."""
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFoundError("is not there", file=str(path)) from error
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", file=str(path), line=error.lineno) from error
    except (OSError, UnicodeError, RecursionError, ValueError) as error:
        raise InputError(f"can't be read: {error}", file=str(path)) from error


@dataclass(frozen=True, slots=True)
class RunFolder:
    """One trial's files."""

    path: Path
    writer: Writer = field(default_factory=Writer)

    @property
    def outputs(self) -> Path:
        """What the agent made; may be absent."""
        return self.path / "outputs"

    @property
    def trial_path(self) -> Path:
        """Our record; written last."""
        return self.path / "trial.json"

    @property
    def collected_path(self) -> Path:
        """The record of an agent that is done but not graded yet; there only between the two."""
        return self.path / "collected.json"

    @property
    def is_done(self) -> bool:
        """Whether the trial was recorded."""
        return self.trial_path.is_file()

    def attempt_path(self, number: int) -> Path:
        """The agent's own output in one attempt."""
        return self.path / f"attempt-{number}.jsonl"

    def attempt_sink(self, number: int) -> LineSink:
        """Where the agent's output goes as it comes."""
        return LineSink(self.attempt_path(number), self.path / f"attempt-{number}.times", self.writer.redactor)

    def attempt_numbers(self) -> tuple[int, ...]:
        """The attempts whose output is here."""
        found = (re.fullmatch(r"attempt-([0-9]+)\.jsonl", path.name) for path in self.path.glob("attempt-*.jsonl"))
        return tuple(sorted(int(match[1]) for match in found if match))

    def attempt_lines(self, number: int) -> Iterator[bytes]:
        """The lines of one attempt, without newline; none when the attempt left no output."""
        path = self.attempt_path(number)
        if path.is_file():
            with path.open("rb") as file:
                for line in file:
                    yield line.rstrip(b"\n")

    def output_name(self, name: str) -> str:
        """The name under which a file of the agent's is kept: with secrets replaced, and such that JSON can say it.

        A byte that is no UTF-8 becomes `\\xNN`, so that grading again finds the very same name in the record.
        """
        clean = self.writer.redactor.text(name)
        return clean.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

    def add_output(self, name: str, source: Path) -> str | None:
        """Keep a file the agent made: redacted when it is text, byte for byte when it is not.

        Args:
            name: its path below `outputs/`, `/`-separated.
            source: the file itself, never followed if it is a link.

        Returns:
            Why this one file can't be kept (an agent may name and guard its files as it likes), or `None`.
        """
        target = self.outputs / name
        if source.is_symlink() or not target.resolve().is_relative_to(self.outputs.resolve()):
            raise InputError("leads out of the outputs", file=str(source), found=repr(name))
        try:
            data = source.read_bytes()
        except OSError as error:
            return f"can't be read ({error.strerror})"
        try:
            self.writer.write_file(target, data)
        except InputError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _BAD_NAME:
                return f"can't be written ({error.__cause__.strerror})"
            raise
        return None

    def clear_outputs(self) -> None:
        """Forget what an earlier attempt made, before another one's files are kept."""
        with disk_errors(self.outputs):
            if self.outputs.is_dir() and not self.outputs.is_symlink():
                shutil.rmtree(self.outputs)
            self._notes_path.unlink(missing_ok=True)

    @property
    def _notes_path(self) -> Path:
        return self.path / NOTES_FILE

    def write_notes(self, source: Path) -> str | None:
        """Keep the agent's notes for its user, which are no output; what exceeds 64 KiB is cut.

        Returns:
            Why they can't be kept, or `None`.
        """
        if source.is_symlink():
            return "is a link"
        try:
            with source.open("rb") as file:
                data = file.read(_NOTES_BYTES)
        except OSError as error:
            return f"can't be read ({error.strerror})"
        if b"\0" in data:
            return "is no text in UTF-8"
        self.writer.write_text(self._notes_path, data.decode("utf-8", "replace"))
        return None

    def notes(self) -> str:
        """The agent's notes for its user; empty when it left none."""
        try:
            return self._notes_path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def write_collected(self, trial: Trial, one: Eval) -> None:
        """Keep what was paid for before it is graded, so that an end in between costs no second launch.

        The eval stands beside it already: skill-creator's viewer can't show any run while one has outputs and no eval.
        """
        self.writer.write_json(self.path / "eval_metadata.json", eval_metadata(one), sync=False)
        self.writer.write_json(self.collected_path, trial_to_dict(trial))

    def load_collected(self) -> Trial | None:
        """What `write_collected` kept, if the trial was not recorded since."""
        if not self.collected_path.is_file():
            return None
        return trial_from_dict(read_json(self.collected_path), file=str(self.collected_path))

    def write_transcript(self, one: Eval, events: Sequence[Event]) -> None:
        """Write the transcript for a person, and for viewers that look for the prompt in it."""
        self.writer.write_text(self.path / "transcript.md", transcript_markdown(one.prompt, events), sync=False)

    def append_judge(self, number: int, record: Mapping[str, Any]) -> None:
        """Keep a request to a judge, or its reply."""
        path = self.path / f"judge-{number}.jsonl"
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                file.write(self.writer.line(record))

    def judge_records(self) -> Iterator[dict[str, Any]]:
        """All that `append_judge` kept, file by file, oldest first; a torn line is left out."""
        for path in sorted(self.path.glob("judge-*.jsonl")):
            for line in path.read_bytes().splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    yield record

    def record(self, trial: Trial, one: Eval, events: Sequence[Event] | None = None) -> None:
        """Write the whole record, `trial.json` last.

        Args:
            trial: settled (completed, excluded or interrupted), graded if it could be.
            one: its eval.
            events: of the last attempt, for the transcript; `None` leaves the transcript as it is.
        """
        self.trial_path.unlink(missing_ok=True)
        if events is not None:
            self.write_transcript(one, events)
        self._write_answer(trial)
        self.write_grades(trial, one)
        self.collected_path.unlink(missing_ok=True)

    def write_grades(self, trial: Trial, one: Eval) -> None:
        """Write all that grading changes, `trial.json` last; no `grading.json` where nothing could be graded.

        `trial.json` holds all of it and is synced; the files that other tools read are derived from it.
        """
        self.writer.write_json(self.path / "eval_metadata.json", eval_metadata(one), sync=False)
        self.writer.write_json(self.path / "timing.json", timing_to_dict(trial), sync=False)
        grading = self.path / "grading.json"
        if any(grade.passed is not None for grade in trial.grades):
            self.writer.write_json(grading, grading_to_dict(trial), sync=False)
        else:
            grading.unlink(missing_ok=True)
        self.writer.write_json(self.trial_path, trial_to_dict(trial))

    def load(self) -> Trial:
        """The record; `NotFoundError` when the trial is not done, `InputError` when the record is damaged."""
        return trial_from_dict(read_json(self.trial_path), file=str(self.trial_path))

    def _write_answer(self, trial: Trial) -> None:
        """Viewers take a folder with `outputs/` in it for a run, so that one is always there."""
        answer = trial.last.answer if trial.last else None
        with disk_errors(self.outputs):
            self.outputs.mkdir(parents=True, exist_ok=True)
        if answer:
            self.writer.write_text(self.path / "answer.md", answer, sync=False)
            if not trial.outputs:
                self.writer.write_text(self.outputs / "answer.md", answer, sync=False)
