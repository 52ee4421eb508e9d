"""What a simulated attempt may be: the pieces a script is made of."""

from __future__ import annotations

from dataclasses import dataclass, replace

from skill_assay.errors import FailureKind

__all__ = ["FAILED", "Amount", "Behaviour", "Fail", "QueryRule"]

FAILED = "simulated failure"


@dataclass(frozen=True, slots=True)
class Amount:
    """A normal distribution, cut off at 0."""

    mean: float
    sd: float = 0.0


@dataclass(frozen=True, slots=True)
class Fail:
    """A failure that strikes the first `attempts` attempts of a trial; `None`: all of them."""

    kind: FailureKind
    attempts: int | None = None
    message: str = FAILED
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One way in which a trial may go."""

    weight: float = 1.0
    repeats: tuple[int, ...] = ()
    """Play in these repeats only, and let nothing else play there."""
    use_skill: bool | str = False
    """`True`: the skill under test where it is installed; a name: that skill, installed or not."""
    run: tuple[str, ...] = ()
    write: tuple[tuple[str, str], ...] = ()
    say: str = ""
    tokens: Amount | None = None
    seconds: Amount | None = None
    cost_usd: Amount | None = None
    turns: int | None = None
    sleep: float = 0.0
    """Real seconds, for tests of time limits."""
    fail: Fail | None = None


@dataclass(frozen=True, slots=True)
class QueryRule:
    """Which skill a trigger query makes the agent use, by chance, under a description."""

    behaviour: Behaviour
    """All but the use of a skill."""
    fires: float = 0.0
    """Chance that the skill under test is used."""
    instead: tuple[tuple[str, float], ...] = ()
    """Other skills, each with its chance."""
    when: str | None = None
    """Words that must stand in the description, in any case, for this rule to hold."""

    def holds(self, description: str) -> bool:
        """Whether it is for this description."""
        return self.when is None or self.when.casefold() in description.casefold()

    def chosen(self, draw: float) -> Behaviour:
        """What happens at a draw from [0, 1)."""
        chances: tuple[tuple[bool | str, float], ...] = ((True, self.fires), *self.instead)
        for skill, chance in chances:
            draw -= chance
            if draw < 0:
                return replace(self.behaviour, use_skill=skill)
        return replace(self.behaviour, use_skill=False)
