"""How figures are written: points with a sign, ranges, p values, money; no false precision, never a rounded lie."""

from __future__ import annotations

from skill_assay.stats.results import Interval

__all__ = ["count", "launches", "money", "p_text", "percent", "points", "span", "span_of", "spent_words", "these_evals"]


def points(effect: float) -> str:
    """`+31 points`; below one point a digit more: `+0.4 points`."""
    text = _signed(effect)
    return f"{text} {'point' if text in ('+1', '-1') else 'points'}"


def span(size: float) -> str:
    """A size without a sign, in points: `5`, `0.4`."""
    return _signed(size).lstrip("+-")


def span_of(interval: Interval | None) -> str:
    """`+12 to +50`, in points."""
    return f"{_signed(interval.low)} to {_signed(interval.high)}" if interval else "no interval"


def _signed(fraction: float) -> str:
    value = fraction * 100
    if value == 0 or abs(value) < 1e-6:
        return "0"
    return f"{value:+.0f}" if abs(value) >= 0.95 else f"{float(f'{value:.1g}'):+}"


def percent(share: float) -> str:
    """`31 %`."""
    return f"{share * 100:.0f} %"


def p_text(p: float | None) -> str:
    """`p 0.02`; more decimals near 0.05 and below 0.01, so that rounding never crosses a limit."""
    if p is None:
        return "no p"
    if p < 0.001:
        return "p < 0.001"
    if not (p < 0.0095 or 0.045 <= p < 0.0555):
        return f"p {p:.2f}"
    crossed = (round(p, 3) <= 0.05) != (p <= 0.05)
    return f"p {p:.4f}" if crossed else f"p {p:.3f}"


def money(usd: float) -> str:
    """`$3.10`; `$0.065` where cents would say too little; whole dollars above 100."""
    if 0 < usd < 0.1:
        return f"${usd:.2g}"
    return f"${usd:,.0f}" if usd >= 100 else f"${usd:.2f}"


def spent_words(usd: float, assumed_usd: float, *, brief: bool = False) -> str:
    """`$3.10`; `up to $3.10` where some of it stands for launches whose price is not known.

    Args:
        usd: what was spent.
        assumed_usd: how much of it no bill told.
        brief: leave out why.
    """
    if not assumed_usd > 0:
        return money(usd)
    part = "" if assumed_usd >= usd else f"{money(assumed_usd)} of it "
    return f"up to {money(usd)}" + ("" if brief else f" ({part}set aside where no price came)")


def count(n: int, noun: str, plural: str = "") -> str:
    """`1 eval`, `8 evals`; with its plural where that is no mere `s`: `2 launches`."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def launches(n: int) -> str:
    """`1 launch`, `60 launches`."""
    return count(n, "launch", "launches")


def these_evals(n: int) -> str:
    """`these 5 evals`, `this 1 eval`."""
    return "this 1 eval" if n == 1 else f"these {n} evals"
