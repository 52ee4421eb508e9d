"""`agents/openai.yaml` in a skill's folder: what Codex shows of the skill, whether it may pick it up, what it needs.

Codex's own reader (0.171) passes over keys it does not know, and over the whole file where a value has another type;
then nothing in it holds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_assay.errors import AssayError
from skill_assay.formats.fields import Fields
from skill_assay.formats.notes import Notes, child, shown
from skill_assay.formats.reading import read_source
from skill_assay.formats.suggest import did_you_mean
from skill_assay.formats.yamltext import parse_yaml
from skill_assay.model.findings import Finding

__all__ = ["OPENAI_YAML", "examine_openai_yaml", "fires_by_itself"]

OPENAI_YAML = "agents/openai.yaml"
_INTERFACE = ("display_name", "short_description", "icon_small", "icon_large", "brand_color", "default_prompt")
_TOOL = ("type", "value", "description", "transport", "command", "url")
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "interface": _INTERFACE,
    "dependencies": ("tools",),
    "policy": ("allow_implicit_invocation", "products"),
}
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_BLURB = (25, 64)


def fires_by_itself(skill_root: Path) -> bool:
    """Whether Codex may pick the skill up without being told to: unless `policy` forbids it."""
    try:
        values, findings = examine_openai_yaml(skill_root / OPENAI_YAML)
    except AssayError:
        return True
    policy = values.get("policy")
    broken = any(finding.rule in ("wrong-type", "not-boolean") for finding in findings)
    return broken or not isinstance(policy, dict) or policy.get("allow_implicit_invocation") is not False


def examine_openai_yaml(path: Path, skill_name: str | None = None) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
    """What the file says, and what is wrong with it.

    Args:
        path: the file.
        skill_name: the skill's name, which the default prompt should call.

    Raises:
        NotFoundError: there is none.
        InputError: it can't be read as YAML at all.
    """
    tree = parse_yaml(read_source(path, what=OPENAI_YAML).text, str(path))
    notes = Notes(str(path), tree.line)
    if tree.value is not None and not isinstance(tree.value, dict):
        expected = "interface, dependencies and policy, each with keys of its own"
        notes.error("wrong-type", "the file is no mapping", "$", found=shown(tree.value), expected=expected)
    raw = tree.value if isinstance(tree.value, dict) else {}
    whole = Fields(raw, "$", notes)
    _warn_unknown(whole, tuple(_SECTIONS))
    sections = {name: _section(whole, name) for name in _SECTIONS}
    _interface(sections["interface"], path.parent.parent, skill_name)
    _policy(sections["policy"])
    _tools(sections["dependencies"])
    return raw, notes.findings


def _section(whole: Fields, name: str) -> Fields:
    raw = whole.raw.get(name)
    if raw is not None and not isinstance(raw, dict):
        whole.wrong(name, "keys of its own below it")
    inner = Fields(raw if isinstance(raw, dict) else {}, whole.at(name), whole.notes)
    _warn_unknown(inner, _SECTIONS[name])
    return inner


def _warn_unknown(fields: Fields, known: tuple[str, ...]) -> None:
    for name in map(str, fields.raw):
        if name not in known:
            remedy = did_you_mean(name, known) + f"Codex passes over it. Keys here: {', '.join(known)}."
            fields.notes.warn("unknown-key", f"{name} means nothing to Codex", child(fields.path, name), remedy=remedy)


def _interface(fields: Fields, root: Path, skill_name: str | None) -> None:
    texts = {name: fields.text(name) for name in _INTERFACE}
    blurb, colour, prompt = texts["short_description"], texts["brand_color"], texts["default_prompt"]
    low, high = _BLURB
    if blurb and not low <= len(blurb) <= high:
        found, expected = f"{len(blurb)} characters", f"{low} to {high}"
        message = "Codex's lists want another length"
        fields.notes.info("openai-blurb", message, fields.at("short_description"), found=found, expected=expected)
    if colour and not _COLOUR.fullmatch(colour):
        fields.notes.warn("openai-colour", "is no colour", fields.at("brand_color"), found=colour, expected="#3B82F6")
    if prompt and skill_name and f"${skill_name}" not in prompt:
        remedy = f"Write ${skill_name} into it."
        fields.notes.info(
            "openai-prompt", "the prompt does not call the skill", fields.at("default_prompt"), remedy=remedy
        )
    for name in ("icon_small", "icon_large"):
        icon = texts[name]
        if icon and not _inside(root, icon):
            remedy = "Name a file of the skill, as ./assets/icon.svg."
            fields.notes.warn("openai-icon", "no such file in the skill", fields.at(name), found=icon, remedy=remedy)


def _inside(root: Path, name: str) -> bool:
    try:
        return (root / name).is_file() and (root / name).resolve().is_relative_to(root.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _policy(fields: Fields) -> None:
    fields.flag("allow_implicit_invocation")
    products = fields.raw.get("products")
    if products is not None and not (isinstance(products, list) and all(isinstance(one, str) for one in products)):
        fields.wrong("products", "a list of texts")


def _tools(fields: Fields) -> None:
    tools = fields.raw.get("tools")
    if tools is None:
        return
    if not isinstance(tools, list) or not all(isinstance(one, dict) for one in tools):
        fields.wrong("tools", "a list, each with type and value")
        return
    for index, raw in enumerate(tools):
        one = Fields(raw, f"{fields.at('tools')}[{index}]", fields.notes)
        _warn_unknown(one, _TOOL)
        texts = {name: one.text(name) for name in _TOOL}
        if texts["type"] != "mcp" and not (raw.get("type") is not None and texts["type"] is None):
            found = shown(raw.get("type"))
            one.notes.warn("openai-tool", "Codex knows tools of the type mcp only", one.path, found=found)
