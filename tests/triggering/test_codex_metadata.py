"""What `agents/openai.yaml` and `$name` do is held against the real Codex, with a scripted model on loopback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skill_assay.formats.openai_yaml import OPENAI_YAML, codex_use
from skill_assay.model.trigger_results import RunState, TriggerResults
from skill_assay.modelserver import Script, Text, Turn, serve
from skill_assay.modelserver.script import Rule
from tests.triggering.asking import NAME, ask, query, settings, write_skill

pytestmark = [pytest.mark.client, pytest.mark.xdist_group("client")]
LISTED = "Writes hello."


@pytest.fixture(autouse=True)
def _codex(client: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CODEX", str(client("codex")))


def asked(tmp_path: Path, text: str, metadata: str | None) -> tuple[TriggerResults, str]:
    """The results of one query, and all that reached the model."""
    skill = write_skill(tmp_path, [query(text, True), query("what is the time?", False)])
    if metadata is not None:
        (skill / "agents").mkdir()
        (skill / OPENAI_YAML).write_text(metadata, encoding="utf-8")
    with serve(Script((Rule((Turn((Text("I know nothing of it."),)),)),))) as server:
        chosen = settings(agent="codex", trials=1, workers=1, model="gpt-5")
        found = ask(skill, tmp_path / "w", chosen=chosen, base_url=server.url)
        return found, "\n".join(str(request.body) for request in server.messages)


@pytest.mark.parametrize(
    ("metadata", "listed"),
    [
        (None, True),
        ("policy:\n  allow_implicit_invocation: false\n", False),
        ("policy:\n  allow_implicit_invocation: true\n", True),
        ("policy:\n  allow_implicit_invocation: 'false'\n", True),
        ("policy:\n  allow_implicit_invocation: false\n  colour: red\n", False),
        ("policy:\n  allow_implicit_invocation: no\n", True),
        ("policy:\n  allow_implicit_invocation: false\n  products: [codex, chatgpt, atlas]\n", False),
        ("policy:\n  allow_implicit_invocation: false\n  products: [other]\n", True),
        ("policy:\n  allow_implicit_invocation: false\ninterface:\n  display_name: 3\n", False),
        ("policy:\n  allow_implicit_invocation: false\ninterface:\n  display_name: [a]\n", True),
    ],
)
def test_codex_tells_its_model_of_the_skill_unless_its_policy_forbids_it(
    tmp_path: Path, metadata: str | None, listed: bool
) -> None:
    found, sent = asked(tmp_path, "greet me", metadata)
    assert (LISTED in sent) is listed
    assert listed is (codex_use(tmp_path / NAME) == "itself")
    assert any("never fires by itself" in note for note in found.notes) is not listed
    assert [run.state for run in found.every_run] == [RunState.NOT_TRIGGERED] * 2


@pytest.mark.parametrize("text", ["greet me", f"use ${NAME} now"])
def test_a_skill_for_other_products_is_not_there_for_codex(tmp_path: Path, text: str) -> None:
    found, sent = asked(tmp_path, text, "policy:\n  products: [chatgpt]\n")
    assert LISTED not in sent and f"Do {NAME}." not in sent and codex_use(tmp_path / NAME) == "never"
    (note,) = found.notes
    assert "nothing will fire" in note


def test_a_call_by_name_puts_the_skill_in_without_a_sign(tmp_path: Path) -> None:
    found, sent = asked(tmp_path, f"use ${NAME} now", "policy:\n  allow_implicit_invocation: false\n")
    assert f"Do {NAME}." in sent
    assert [run.state for run in found.every_run] == [RunState.UNSEEN, RunState.NOT_TRIGGERED]
    assert any("stays unknown" in note for note in found.notes)
    assert not any("never fires by itself" in note for note in found.notes)
