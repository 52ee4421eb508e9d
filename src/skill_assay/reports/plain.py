"""Words and figures for people: units, signs, and nothing an untrusted text could do to a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from skill_assay.model.benchmark import ArmFigures, EvalArm, Spread

__all__ = ["arm_label", "arm_line", "ascii_text", "delta_line", "dots", "harmless", "percent_of"]

_MARKS = {"passed": "●", "partly": "◐", "failed": "○", "excluded": "×"}
_ASCII_MARKS = {"passed": "#", "partly": "+", "failed": "-", "excluded": "x"}
_MOST_DOTS = 10
_ASCII_FOR = str.maketrans(
    {"±": "+-", "Δ": "d", "·": "-", "–": "-", "…": "...", "×": "x", "−": "-", "→": "->", "’": "'"}
)
_LABELS = {"with_skill": "With Skill", "without_skill": "Without"}


def harmless(text: str) -> str:
    """The text on one line, without control, format and private characters, which could steer a terminal."""
    kept = (" " if char in "\t\r\n" else char for char in text)
    return "".join(char for char in kept if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co"))


def ascii_text(text: str) -> str:
    """The text for a terminal that knows ASCII only; what has no likeness there becomes `?`."""
    return text.translate(_ASCII_FOR).encode("ascii", "replace").decode()


def arm_label(name: str) -> str:
    """`With Skill`, `Without`, else the name in words."""
    return _LABELS.get(name) or harmless(name).replace("_", " ").title()


def arm_line(arm: ArmFigures) -> str:
    """`87% ± 16% pass rate, 41s ± 9s, 31204 ± 4100 tokens`; what is unknown is left out."""
    parts = [
        _with_spread(arm.pass_rate, lambda value: f"{value * 100:.0f}%", " pass rate"),
        _with_spread(arm.seconds, lambda value: f"{value:.0f}s", ""),
        _with_spread(arm.tokens, lambda value: f"{value:.0f}", " tokens"),
    ]
    return ", ".join(filter(None, parts)) or "nothing measured"


def delta_line(primary: ArmFigures, baseline: ArmFigures) -> str:
    """`+31pp pass rate, +8s time, +8334 tokens      269 tokens a point`."""
    points = _difference(primary.pass_rate, baseline.pass_rate)
    seconds = _difference(primary.seconds, baseline.seconds)
    tokens = _difference(primary.tokens, baseline.tokens)
    parts = [
        f"{_signed(points * 100)}pp pass rate" if points is not None else "",
        f"{_signed(seconds)}s time" if seconds is not None else "",
        f"{_signed(tokens)} tokens" if tokens is not None else "",
    ]
    text = ", ".join(filter(None, parts)) or "not measured in both arms"
    # A price per point says something only where points were gained, and for more tokens.
    dear = points is not None and tokens is not None and points >= 0.005 and tokens > 0
    return f"{text}      {tokens / (points * 100):.0f} tokens a point" if dear and tokens and points else text


def percent_of(share: float | None) -> str:
    """`87%`, or `–` for what was not measured."""
    return "–" if share is None else f"{share * 100:.0f}%"


def dots(cell: EvalArm, unicode: bool = True) -> str:
    """A mark a trial: all passed, some, none, excluded; a count where there are many."""
    if len(cell.scores) > _MOST_DOTS:
        return f"{cell.all_passed}/{cell.completed}"
    marks = _MARKS if unicode else _ASCII_MARKS
    return "".join(marks[_state(score)] for score in sorted(cell.scores, key=_order))


def _state(score: float | None) -> str:
    if score is None:
        return "excluded"
    return "passed" if score == 1 else "partly" if score > 0 else "failed"


def _order(score: float | None) -> float:
    """Best first, what is excluded last."""
    return 2.0 if score is None else 1.0 - score


def _with_spread(found: Spread | None, shown: Callable[[float], str], unit: str) -> str:
    if found is None:
        return ""
    return f"{shown(found.mean)} ± {shown(found.stddev)}{unit}"


def _difference(one: Spread | None, two: Spread | None) -> float | None:
    return None if one is None or two is None else one.mean - two.mean


def _signed(value: float) -> str:
    text = f"{value:+.0f}"
    return "0" if text in ("+0", "-0") else text
