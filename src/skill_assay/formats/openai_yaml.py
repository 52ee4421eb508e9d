"""`agents/openai.yaml` in a skill's folder: what Codex shows of the skill, whether it may pick it up, what it needs.

Measured with Codex 0.171: it passes over keys it does not know, and over the whole file, policy included, where a
section or list is something else, a product is unknown, or a truth is not plainly true or false (`no` is a text to it).
A number or a truth where a text is due is taken as one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import yaml

from skill_assay.errors import AssayError
from skill_assay.formats.fields import Fields
from skill_assay.formats.notes import Notes, child, shown
from skill_assay.formats.reading import read_source
from skill_assay.formats.suggest import did_you_mean
from skill_assay.formats.yamltext import YamlText, parse_yaml
from skill_assay.model.findings import Finding

__all__ = ["OPENAI_YAML", "CodexUse", "codex_use", "examine_openai_yaml"]

OPENAI_YAML = "agents/openai.yaml"
CodexUse = Literal["itself", "name", "never"]
_INTERFACE = ("display_name", "short_description", "icon_small", "icon_large", "brand_color", "default_prompt")
_TOOL = ("type", "value", "description", "transport", "command", "url")
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "interface": _INTERFACE,
    "dependencies": ("tools",),
    "policy": ("allow_implicit_invocation", "products"),
}
_COLOUR = re.compile(r"#[0-9A-Fa-f]{6}")
_BLURB = (25, 64)
_PRODUCTS = ("atlas", "chatgpt", "codex")
_PASSED_OVER = ("wrong-type", "not-boolean")


def codex_use(skill_root: Path) -> CodexUse:
    """How Codex may come to use the skill: by itself, only when called by `$name`, or never, as it is for others."""
    try:
        values, findings = examine_openai_yaml(skill_root / OPENAI_YAML)
    except AssayError:
        return "itself"
    policy = values.get("policy")
    if not isinstance(policy, dict) or any(finding.rule in _PASSED_OVER for finding in findings):
        return "itself"
    if policy.get("products") and "codex" not in policy["products"]:
        return "never"
    return "name" if policy.get("allow_implicit_invocation") is False else "itself"


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
    _policy(sections["policy"], tree)
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
    texts = {name: _text(fields, name) for name in _INTERFACE}
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


def _text(fields: Fields, name: str) -> str | None:
    """A text, or what stands for one."""
    value = fields.raw.get(name)
    return str(value) if isinstance(value, (int, float)) else fields.text(name)


def _policy(fields: Fields, tree: YamlText) -> None:
    allowed = fields.flag("allow_implicit_invocation")
    written = _written(tree, "policy", "allow_implicit_invocation")
    if allowed is not None and written is not None and written.lower() not in ("true", "false"):
        message = f"{written} is a text to Codex, which passes over the whole file"
        place, expected = fields.at("allow_implicit_invocation"), "true or false"
        fields.notes.error("not-boolean", message, place, found=written, expected=expected)
    products = fields.raw.get("products")
    if products is not None and not (isinstance(products, list) and all(one in _PRODUCTS for one in products)):
        fields.wrong("products", f"a list of {', '.join(_PRODUCTS)}")


def _written(tree: YamlText, *path: str) -> str | None:
    """A value as it stands in the file: YAML's older rules, by which it was read, know more words for a truth."""
    node = tree.node
    for name in path:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        node = next((value for key, value in pairs if key.value == name), None)
    return node.value if isinstance(node, yaml.ScalarNode) else None


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
        texts = {name: _text(one, name) for name in _TOOL}
        if texts["type"] != "mcp":
            found = shown(raw.get("type"))
            one.notes.warn("openai-tool", "Codex knows tools of the type mcp only", one.path, found=found)
