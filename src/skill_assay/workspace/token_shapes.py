"""Shapes by which a token gives itself away: a dozen expressions, each behind fixed strings that are cheap to find."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["SHAPES", "Shape", "redact_shapes"]

_PARAMETERS = (
    "x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|x-goog-credential|awsaccesskeyid"
    "|sig|signature|token|access_token|refresh_token|id_token|auth_token|api_key|apikey|client_secret|sas"
)
_VALUE = r"[^&\s\"'\\<>\[\]()#]"


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of token."""

    kind: str
    needles: tuple[str, ...]
    """The expression can only match where one of these stands."""
    pattern: str
    """What is replaced is the group `secret`, else the whole match."""
    regex: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(self.pattern, re.DOTALL))

    def redact(self, text: str) -> str:
        """The text with every token of this kind replaced."""
        return self.regex.sub(self._replace, text)

    def _replace(self, match: re.Match[str]) -> str:
        whole = match.group()
        if "secret" not in self.regex.groupindex:
            return f"[REDACTED:{self.kind}]"
        start, end = (edge - match.start() for edge in match.span("secret"))
        return f"{whole[:start]}[REDACTED:{self.kind}]{whole[end:]}"


def _word(start: str, rest: str) -> str:
    """A word that begins with `start`, an expression of fixed width, and goes on with `rest`.

    The `n` of an escaped newline before it is not part of the word. The test for that comes after the start, so that
    the search can jump from one fixed string to the next.
    """
    return rf"{start}(?:(?<![A-Za-z0-9_]{start})|(?<=\\[nrtbf]{start})){rest}"


SHAPES = (
    Shape(
        "private-key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?P<secret>(?:[A-Za-z0-9+/=:,\s-]|\\+[nr]){16,}?)"
        r"(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|(?![A-Za-z0-9+/=:,\s\\-])|\Z)",
    ),
    Shape("anthropic-key", ("sk-ant-",), "sk-ant-[A-Za-z0-9_-]{16,}"),
    Shape("secret-key", ("sk-",), _word("sk-", "(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}")),
    Shape("github-token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "gh[pousr]_[A-Za-z0-9]{36,}"),
    Shape("github-pat", ("github_pat_",), "github_pat_[A-Za-z0-9_]{60,}"),
    Shape("aws-key", ("AKIA", "ASIA"), _word("A[KS]IA", "(?![A-Z0-9]{9}EXAMPLE)[A-Z2-7]{16}(?![A-Za-z0-9])")),
    Shape("slack-token", ("xox",), _word("xox", "[abeoprs]-[A-Za-z0-9-]{10,}")),
    Shape("google-key", ("AIza",), _word("AIza", "[A-Za-z0-9_-]{35}")),
    Shape("jwt", ("eyJ",), r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    Shape(
        "bearer",
        ("earer ", "EARER "),
        r"(?i:bearer) +(?P<secret>(?=[A-Za-z._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}=*)",
    ),
    Shape("basic-auth", ("asic ",), r"(?i:authorization)\W{1,8}(?i:basic) +(?P<secret>[A-Za-z0-9+/]{8,}=*)"),
    Shape(
        "url-parameter",
        ("=",),
        rf"(?:[?&]|&amp;|\\u0026)(?i:{_PARAMETERS})=(?P<secret>(?={_VALUE}*[0-9]){_VALUE}{{16,}})",
    ),
)

_NEEDLES = tuple((needle, shape) for shape in SHAPES for needle in shape.needles)


def redact_shapes(text: str) -> str:
    """The text with every token of a known shape replaced by `[REDACTED:kind]`."""
    possible = {shape.kind for needle, shape in _NEEDLES if needle in text}
    if possible:
        for shape in SHAPES:
            if shape.kind in possible:
                text = shape.redact(text)
    return text
