"""Replies from a file: what is told of one that can't be played."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.errors import InputError
from skill_assay.llm.scripted import voice_from_file


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "can't be read (found No such file or directory)"),
        ("{", "can't be played"),
        ("{}", "it holds no verdicts"),
        ('[{"when": "x"}]', "a rule has neither reply nor fail"),
        ('[{"fail": "bored"}]', "can't be played"),
    ],
)
def test_a_script_that_can_not_be_played_is_one_message(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "script.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        voice_from_file(path)
    assert words in str(caught.value) and str(path) in str(caught.value) and "Errno" not in str(caught.value)
