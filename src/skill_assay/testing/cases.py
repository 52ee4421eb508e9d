"""What every adapter must get right, one case each. A case returns what was wrong; nothing: all was right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from skill_assay.errors import FailureKind
from skill_assay.model.transcript import Text, Tokens
from skill_assay.modelserver import Cut, Error, Hang, Turn
from skill_assay.modelserver import Text as Said
from skill_assay.testing.bench import SECONDS, NothingAskedError, Ran, Subject, launch, skill_text
from skill_assay.testing.strays import SCRIPT, fresh_token, gone, stray_command

__all__ = ["CASES", "Case", "check"]

OWN, OTHER, UNKNOWN = "assay-singing", "assay-dancing", "assay-nowhere"
ANSWER = "The song is sung."
PROMPT = "Sing, please."
ODD_PROMPT = '/sing -p --help "quoted" $HOME `date`\n\nand a second part: ünïcode'
_SKILLS = {OWN: skill_text(OWN, "OWN"), OTHER: skill_text(OTHER, "OTHER")}
_NAMESAKE = {OWN: skill_text(OWN, "USER"), "assay-of-the-user": skill_text("assay-of-the-user", "USER")}
_TOKENS = 1242
"""What each answer of the scripted model takes."""
_CACHED = Tokens(input=700, output=42, cache_read=500)
"""As many, some of them from a cache."""
_LIMIT = 15.0
"""Seconds: enough for every agent to have asked its model."""
_LONG = " ".join(f"verse {number * number}," for number in range(100))
"""No two pieces alike: agents look for models that repeat themselves."""
_DONE = Turn((Said(ANSWER),))


@dataclass(frozen=True, slots=True)
class Case:
    """One thing an adapter must get right."""

    name: str
    sentence: str
    """What it shows, for a person."""
    judge: Callable[[Subject], Iterator[str]]

    def __str__(self) -> str:
        return self.name


def check(subject: Subject, case: Case) -> list[str]:
    """Run one case; what was wrong, as sentences."""
    try:
        return list(case.judge(subject))
    except NothingAskedError as error:
        return [str(error)]


def _skill_first(subject: Subject) -> Iterator[str]:
    say = subject.dialect
    ran = _run(subject, [Turn((say.use(OWN),)), _DONE], user=True)
    yield from _differs("skills used", ran.uses, [(OWN, True)])
    yield from _answered(ran, 2)
    if "ABOUT-OWN" not in ran.first.text:
        yield "the installed skill is not in the catalogue"
    if "BODY-OWN" not in ran.sent:
        yield "the skill's text did not reach the model"
    if "-USER" in ran.sent:
        yield "a skill of the user's own home reached the model"


def _skill_later(subject: Subject) -> Iterator[str]:
    say = subject.dialect
    turns = [
        Turn((Said("First a look."), say.shell("echo one"), say.shell("echo two")), usage=_CACHED),
        Turn((say.use(OTHER),), usage=_CACHED),
        Turn((say.use(UNKNOWN),), usage=_CACHED),
        Turn((say.use(OWN),), usage=_CACHED),
        replace(_DONE, usage=_CACHED),
    ]
    ran = _run(subject, turns)
    tokens = ran.finished.usage.tokens
    if tokens is not None:
        yield from _differs("tokens read from a cache", tokens.cache_read, 5 * _CACHED.cache_read)
    yield from _differs("skills used", ran.uses, [(OTHER, True), (UNKNOWN, False), (OWN, True)])
    yield from _answered(ran, 5)
    yield from _differs("tool calls", len(ran.calls), 5)
    results = {result.call_id: result.text for result in ran.results}
    yield from _differs("calls with a result", sorted(results), sorted(call.id for call in ran.calls))
    # Tools called at once may begin and end in any order.
    for word in ("one", "two"):
        idents = [call.id for call in ran.calls if f"echo {word}" in str(call.input)]
        if not any(word in results.get(ident, "") for ident in idents):
            yield f"the result of `echo {word}` was not told apart from that of the tool called beside it"
    if "First a look." not in [event.text for event in ran.events if isinstance(event, Text)]:
        yield "a text said before a tool call was lost"


def _skill_unused(subject: Subject) -> Iterator[str]:
    ran = _run(subject, [Turn((subject.dialect.shell(f"ls; echo {OWN}"),)), _DONE])
    yield from _differs("skills used", ran.uses, [])
    yield from _answered(ran, 2)


def _text_only(subject: Subject) -> Iterator[str]:
    ran = _run(subject, [_DONE], prompt=ODD_PROMPT)
    yield from _differs("tool calls", ran.calls, [])
    yield from _answered(ran, 1)
    if not any(ODD_PROMPT in request.prompt for request in ran.requests):
        yield "a prompt of odd characters did not reach the model as it is"


def _baseline(subject: Subject) -> Iterator[str]:
    with_skill, without = _run(subject, [_DONE]), _run(subject, [_DONE], installed=False, user=True)
    yield from _answered(without, 1)
    if "ABOUT-" in without.sent:
        yield "an arm without a skill shows the model one"
    left = sorted(set(without.first.catalogue))
    if left:
        yield f"an arm without a skill has a catalogue: {', '.join(left)}"
    # Some CLIs take the skill tool away with the last skill: it is part of the treatment. No other tool is.
    apart = {subject.dialect.skill_tool}
    yield from _differs("tools without a skill", _tools(without) - apart, _tools(with_skill) - apart)


def _tools(ran: Ran) -> set[str | None]:
    return set(ran.first.tools)


def _refused(status: int, kind: FailureKind) -> Callable[[Subject], Iterator[str]]:
    def judge(subject: Subject) -> Iterator[str]:
        yield from _failed(_run(subject, [Turn(error=Error(status, ANSWER))]), kind)

    return judge


def _refused_later(subject: Subject) -> Iterator[str]:
    turns = [Turn((Said(ANSWER), subject.dialect.use(OWN))), Turn(error=Error(401, ANSWER))]
    ran = _run(subject, turns)
    yield from _differs("skills used", ran.uses, [(OWN, True)])
    yield from _failed(ran, FailureKind.NOT_SIGNED_IN)


def _crowded_once(subject: Subject) -> Iterator[str]:
    ran = _run(subject, [Turn((Said(ANSWER),), error=Error(429, "Slow down", retry_after=1, count=1))])
    yield from _answered_or_failed(ran, FailureKind.RATE_LIMITED)


def _stays_down(subject: Subject) -> Iterator[str]:
    ran = _run(subject, [Turn((Said(ANSWER),), error=Error(503, "The server is overloaded"))])
    yield from _failed(ran, FailureKind.SERVER_ERROR, FailureKind.OVERLOADED)
    if ran.end is None or ran.end.timed_out:
        yield "it repeated a failed request until its time limit"


def _too_slow(subject: Subject) -> Iterator[str]:
    with fresh_token() as token:
        turns = [Turn((Said(ANSWER), subject.dialect.shell(stray_command(token)))), Turn((Hang(),))]
        ran = _run(subject, turns, files={"strays.py": SCRIPT}, seconds=_LIMIT)
        if ran.end is None or not ran.end.timed_out:
            yield f"it ended before its time limit: {ran.finished.failure}"
        if ran.finished.answer is not None:
            yield "an attempt that was ended at its time limit has an answer"
        yield from _left(token)


def _cut_once(subject: Subject) -> Iterator[str]:
    ran = _run(subject, [Turn((Said(_LONG), Said(ANSWER)), cut=Cut(8, count=1))])
    if ran.finished.failure is not None:
        yield from _failed(ran, FailureKind.CONNECTION, FailureKind.SERVER_ERROR, FailureKind.UNKNOWN)
    elif not str(ran.finished.answer).endswith(ANSWER):
        yield f"half an answer was taken for the whole: {str(ran.finished.answer)[-60:]!r}"


def _ended(subject: Subject) -> Iterator[str]:
    with fresh_token() as token:
        turns = [Turn((subject.dialect.shell(stray_command(token)),)), Turn((Hang(),))]
        ran = _run(subject, turns, files={"strays.py": SCRIPT}, until="strays-are-out")
        if ran.end is not None:
            yield f"it ended before its shell command ran: {ran.finished.failure}"
        if ran.finished.answer is not None:
            yield "an attempt that was ended has an answer"
        yield from _left(token)


def _left(token: str) -> Iterator[str]:
    left = gone(token)
    if left:
        yield f"{left} processes were left behind"


CASES = (
    Case("skill-first", "A skill used at once is seen; one of the user's home is not", _skill_first),
    Case("skill-later", "After other tools, another skill and an unknown one, each is told apart", _skill_later),
    Case("skill-unused", "A skill that is only mentioned is not used", _skill_unused),
    Case("text-only", "A prompt of any characters arrives, and a mere answer is one", _text_only),
    Case("baseline", "Without a skill the catalogue is empty and the tools are the same", _baseline),
    Case("error-400", "A request refused as bad is no answer", _refused(400, FailureKind.BAD_REQUEST)),
    Case("error-401", "A sign-in refused is no answer", _refused(401, FailureKind.NOT_SIGNED_IN)),
    Case("error-later", "A failure after some work is no answer", _refused_later),
    Case("rate-limit", "A rate limit that passes is waited for or told as one", _crowded_once),
    Case("stays-down", "A server that stays down is told long before the time limit", _stays_down),
    Case("cut", "A connection lost in mid-answer leaves no half answer", _cut_once),
    Case("time-limit", "At its time limit it has no answer, and nothing it started is left", _too_slow),
    Case("ended", "Ended in the middle of a command, nothing it started is left", _ended),
)
"""All of them, in the order in which an adapter is best brought up."""


def _run(
    subject: Subject,
    turns: Sequence[Turn],
    *,
    prompt: str = PROMPT,
    installed: bool = True,
    user: bool = False,
    files: dict[str, str] | None = None,
    until: str | None = None,
    seconds: float = SECONDS,
) -> Ran:
    return launch(
        subject,
        turns,
        prompt=prompt,
        skills=_SKILLS if installed else {},
        user_skills=_NAMESAKE if user else None,
        files=files,
        until=until,
        seconds=seconds,
    )


def _differs(what: str, found: object, expected: object) -> Iterator[str]:
    if found != expected:
        yield f"{what}: read {found!r}, where there were {expected!r}"


def _answered(ran: Ran, rounds: int) -> Iterator[str]:
    """The answer, and the tokens of so many answers of the model, where the agent tells them."""
    if ran.finished.failure is not None:
        yield f"an answer was read as a failure: {ran.finished.failure}"
    yield from _differs("the answer", ran.finished.answer, ANSWER)
    tokens = ran.finished.usage.tokens
    if ran.agent.capabilities.tokens:
        yield from _differs("tokens", tokens and tokens.total, _TOKENS * rounds)
    elif tokens is not None:
        yield "it tells tokens, but its capabilities say that it does not"


def _failed(ran: Ran, *kinds: FailureKind) -> Iterator[str]:
    if ran.finished.answer is not None:
        yield f"a failure has an answer: {ran.finished.answer!r}"
    failure = ran.finished.failure
    if failure is None or failure.kind not in kinds:
        yield f"the failure was read as {failure}, where it was {' or '.join(kinds)}"


def _answered_or_failed(ran: Ran, kind: FailureKind) -> Iterator[str]:
    if ran.finished.failure is None:
        yield from _differs("the answer", ran.finished.answer, ANSWER)
    else:
        yield from _failed(ran, kind)
