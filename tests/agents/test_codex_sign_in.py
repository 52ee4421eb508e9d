"""How Codex is signed in, and what is said where it can't be."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_assay.agents.codex import Codex
from skill_assay.errors import InputError


@pytest.mark.parametrize("moved", [False, True])
def test_a_sign_in_kept_in_a_file_is_refused_with_the_reason(tmp_path: Path, moved: bool) -> None:
    folder = tmp_path / ("elsewhere" if moved else ".codex")
    folder.mkdir()
    kept = folder / "auth.json"
    kept.write_text('{"tokens": {"refresh_token": "MARKER-TOKEN"}}')
    env = {"HOME": str(tmp_path), **({"CODEX_HOME": str(folder)} if moved else {})}
    with pytest.raises(InputError) as refused:
        Codex(env=env).sign_in(env)
    said = str(refused.value)
    assert str(kept) in said and "CODEX_API_KEY" in said and "AGENTS.md" in said
    assert "MARKER-TOKEN" not in said
    assert Codex(env=env).sign_in({**env, "OPENAI_API_KEY": "k"}).source == "OPENAI_API_KEY"


def test_nobody_signed_in_is_told_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not signed in"):
        Codex(env={}).sign_in({"HOME": str(tmp_path)})
