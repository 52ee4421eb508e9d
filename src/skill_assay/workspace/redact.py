"""Secrets out of whatever is about to be written: values we passed ourselves, and known shapes of tokens.

What was passed is found in every form it may take on its way (JSON, URL, base64). Known shapes are found by a few
expressions of our own and by a detector of some 400 vendors' token formats (betterleaks), which sees only the words
that could be a token and were not seen before, for it is a hundred times slower than reading. Its guesses from
context (`generic-…`) are not followed: a file's `password: example` is the agent's work and will be graded.

A secret that arrives in pieces, as an answer streamed word by word does, is found where the pieces are joined.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus

from skill_assay.workspace.token_shapes import redact_shapes

__all__ = ["SHORTEST", "Redactor", "forms"]

SHORTEST = 6
"""Characters a passed value must have to be looked for: shorter ones (`1`, `true`) stand everywhere."""

_MARKER = re.compile(r"(\[REDACTED:[a-z0-9-]+\])")
_RUN_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=."
_WORD_BYTES = _RUN_BYTES[:-4]
_RUNS = bytes(byte if byte in _RUN_BYTES else 32 for byte in range(256))
_WORDS = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))
_SHORTEST_TOKEN = 20
_ESCAPED = re.compile(r"\\+(?:[nrtbf]|u[0-9a-fA-F]{4})")
_PLAIN = re.compile(r"[0-9a-fA-F-]+|[a-z_-]+|[A-Z_-]+")
"""Hashes, UUIDs, names and numbers: no vendor's token by themselves."""
_STOP = re.compile(r"[\s\"'\\<>,;]")
_BLOB = 2000
_CONTEXT = 60
_REMEMBERED = 50_000
_SHORT, _SHORT_ONES = 80, 4096
_BASE64_SHORTEST = 12


class Redactor:
    """Replaces secrets by `[REDACTED:kind]`. Fits the workspace's write path; may be shared by threads.

    A line that was valid JSON stays valid JSON. Doing it twice is the same as doing it once.
    """

    def __init__(self, secrets: Iterable[str] = (), *, keep: bool = False) -> None:
        """
        Args:
            secrets: values of passed credentials.
            keep: replace nothing (`--keep-secrets`).
        """
        self._keep = keep
        self._forms = sorted({form for secret in secrets for form in forms(secret)}, key=len, reverse=True)
        self._harmless: set[str] = set()
        # Names of fields, texts of checks: what a trial writes is mostly what the one before wrote.
        self._of_a_short = lru_cache(_SHORT_ONES)(self._settled)

    def bytes(self, data: bytes) -> bytes:
        """The same, secrets replaced; the data is text in some encoding that extends ASCII, a line or a whole file."""
        if self._keep:
            return data
        text = data.decode("utf-8", "surrogateescape")
        clean = self.text(text)
        return data if clean is text else clean.encode("utf-8", "surrogateescape")

    def text(self, text: str) -> str:
        """The same, secrets replaced; the very same object where there was none."""
        if self._keep:
            return text
        clean = (self._of_a_short if len(text) <= _SHORT else self._settled)(text)
        return text if clean == text else _still_json(text, clean, self._settled)

    def _settled(self, text: str) -> str:
        """Again until nothing changes: what is cut away may be what kept the next secret from being recognised."""
        for _ in range(4):
            clean = self._between_markers(text)
            if clean == text:
                return text
            text = clean
        return text

    def _between_markers(self, text: str) -> str:
        if "[REDACTED:" not in text:
            return self._once(text)
        parts = _MARKER.split(text)
        return "".join(part if index % 2 else self._once(part) for index, part in enumerate(parts))

    def _once(self, text: str) -> str:
        present = [form for form in self._forms if form in text]
        if present:
            text = re.sub("|".join(map(re.escape, present)), "[REDACTED:passed]", text)
        text = redact_shapes(text)
        for secret, kind in self._detected(text):
            text = text.replace(secret, f"[REDACTED:{kind}]")
        return text

    def _detected(self, text: str) -> list[tuple[str, str]]:
        new = _suspects(text) - self._harmless
        if not new:
            return []
        found = _scan("\n\n".join(_window(text, word) for word in sorted(new)))
        if len(self._harmless) > _REMEMBERED:
            self._harmless.clear()
        secrets = [secret for secret, _ in found]
        self._harmless.update(word for word in new if not any(word in each or each in word for each in secrets))
        return found


def forms(secret: str) -> set[str]:
    """How a value may be written: as it is, in JSON, in JSON within JSON, in a URL, in base64 at any offset."""
    if len(secret) < SHORTEST:
        return set()
    once = {_escaped(secret, ascii_only) for ascii_only in (True, False)}
    twice = {_escaped(form, ascii_only) for form in once for ascii_only in (True, False)}
    found = {secret, *once, *twice, *(form.replace("/", "\\/") for form in once)}
    for url in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        found |= {url, re.sub("%[0-9A-F]{2}", lambda match: match.group().lower(), url)}
    return found | set(_base64_forms(secret.encode("utf-8", "surrogatepass")))


def _escaped(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only)[1:-1]


def _base64_forms(data: bytes) -> Iterator[str]:
    """What is sure to stand in the base64 of any text that holds the value."""
    for offset in range(3):
        padded = b"\0" * offset + data
        encoded = base64.b64encode(padded).decode().rstrip("=")
        # The first characters also hold bits of what comes before, the last of what comes after.
        core = encoded[(0, 2, 3)[offset] : len(encoded) - (1 if len(padded) % 3 else 0)]
        if len(core) >= _BASE64_SHORTEST:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _suspects(text: str) -> set[str]:
    """Words that could be a token. By tables and splits, for an expression would be ten times slower."""
    runs = set(text.encode("ascii", "replace").translate(_RUNS).split())
    # What is longer is an image or the like: some part of it always looks like something.
    likely = b" ".join(run for run in runs if _SHORTEST_TOKEN <= len(run) <= _BLOB)
    words = {word for word in likely.translate(_WORDS).split() if len(word) >= _SHORTEST_TOKEN}
    return {word for word in map(bytes.decode, words) if not _PLAIN.fullmatch(word)}


def _window(text: str, word: str) -> str:
    """The word with what stands around it, as the detector should see it."""
    start = max(0, text.find(word))
    stop = _STOP.search(text, start + len(word), start + len(word) + _BLOB)
    end = stop.start() if stop else start + len(word) + _BLOB
    return _ESCAPED.sub(" ", text[max(0, start - _CONTEXT) : end]).replace("\0", " ")


def _scan(text: str) -> list[tuple[str, str]]:
    """Secrets the detector knows by their shape, longest first: (value, kind)."""
    try:
        import betterleaks
    except ImportError:  # no build for this platform
        return []
    try:
        findings = betterleaks.scan_string(text.encode("ascii", "replace").decode())
    except betterleaks.BetterleaksError:
        return []
    found = {
        (finding.match.value, re.sub(r"[^a-z0-9-]", "-", finding.rule_id.lower()))
        for finding in findings
        if finding.match.value and not finding.rule_id.startswith("generic")
    }
    return sorted(found, key=lambda pair: -len(pair[0]))


def _still_json(before: str, after: str, redact: Callable[[str], str]) -> str:
    """`after`, unless that broke JSON: then the value itself, redacted string by string."""
    if not before.lstrip().startswith(("{", "[", '"')):
        return after if "\n" not in before else _lines_still_json(before, after, redact)
    try:
        value = json.loads(before)
    except ValueError:
        return after if "\n" not in before else _lines_still_json(before, after, redact)
    try:
        json.loads(after)
    except ValueError:
        tail = before[len(before.rstrip()) :]
        return json.dumps(_structure(value, redact), ensure_ascii=False) + tail
    return after


def _lines_still_json(before: str, after: str, redact: Callable[[str], str]) -> str:
    old, new = before.split("\n"), after.split("\n")
    if len(old) != len(new):
        return after
    return "\n".join(b if a == b else _still_json(a, b, redact) for a, b in zip(old, new, strict=True))


def _structure(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _structure(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [_structure(item, redact) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        clean = redact(text := json.dumps(value))
        return value if clean == text else clean
    return value
