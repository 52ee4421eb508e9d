"""Untrusted text as markup: highlighted lines, Markdown. Whatever it says is escaped before it becomes HTML."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["highlighted", "markdown"]

_MOST_HIGHLIGHTED = 100_000
_LONGEST_LINE = 2_000
_HEADING = Markup('<span class="gh">{}</span>')
_LEXERS = {
    "bash": "bash",
    "c": "c",
    "css": "css",
    "go": "go",
    "html": "html",
    "java": "java",
    "js": "javascript",
    "json": "json",
    "jsonl": "json",
    "jsx": "javascript",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "sh": "bash",
    "sql": "sql",
    "toml": "toml",
    "ts": "typescript",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
}


def highlighted(text: str, suffix: str) -> list[Markup]:
    """The lines of a text, coloured where its kind is known and it is not too large."""
    lexer = _LEXERS.get(suffix.lower())
    lines = text.splitlines()
    if suffix.lower() == "md":
        return [_HEADING.format(line) if line.startswith("#") else escape(line) for line in lines]
    if lexer is None or len(text) > _MOST_HIGHLIGHTED or any(len(line) > _LONGEST_LINE for line in lines):
        return [escape(line) for line in lines]
    from pygments import highlight
    from pygments.lexers import get_lexer_by_name

    clean = "\n".join(lines)
    made = highlight(clean, get_lexer_by_name(lexer, stripnl=False, ensurenl=False), _formatter())
    found = [Markup(line) for line in made.split("\n")]
    return found[: len(lines)] if len(found) >= len(lines) else [escape(line) for line in lines]


@lru_cache(maxsize=1)
def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    return HtmlFormatter(nowrap=True)


def markdown(text: str) -> Markup:
    """Markdown as HTML: raw HTML in it is shown as text, pictures as links, and links leave in a new tab."""
    return Markup(_renderer().render(text))


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    found = MarkdownIt("commonmark", {"html": False, "linkify": False, "maxNesting": 30}).enable("table")
    found.disable(["image", "html_block", "html_inline"])
    found.add_render_rule("link_open", _link)
    return found


def _link(_self: object, tokens: list[object], place: int, _options: object, _env: object) -> str:
    """Only links to the web lead somewhere; the rest would leave the page's own addresses."""
    href = str(getattr(tokens[place], "attrs", {}).get("href", ""))
    if not href.lower().startswith(("http://", "https://")):
        return "<a>"
    return f'<a href="{escape(href)}" rel="noopener noreferrer nofollow" target="_blank">'
