"""`language`: the text is in that language, by a statistical detector (py3langid)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from skill_assay.graders.bounded import bounded
from skill_assay.graders.checks.arguments import BadArgument, argument
from skill_assay.graders.checks.readers import Root, text
from skill_assay.graders.checks.text import places_reader, sources_or_nothing
from skill_assay.graders.checks.verdict import Verdict, nothing, said, unknown
from skill_assay.graders.json_text import NotJson, parse_json
from skill_assay.graders.texts import Source, leaves, texts
from skill_assay.graders.words import listed, shown
from skill_assay.model.work import Work

__all__ = ["CODES", "MIN_LETTERS", "Language"]

MIN_LETTERS = 20
"""Fewer letters than this are too few to tell a language by."""
MAX_CHARACTERS = 20_000
"""So much of a text is looked at; more would not change the answer."""

_WORDS = (
    "ace af am an ar ary arz as az ba bcl be bg bn br bs ca crh cs cy da de dz el en eo es et eu ext fa fi fo fr fuv "
    "fy ga gcf gcr gd gl gom grc gu gug guw ha hbo he hi hr ht hu hy id ig is it ja jv ka kab kik kk km kn ko ku ky la "
    "lb lg lij ln lo lt ltg lv mg mk ml mn mr ms mt my ne nl nn no nso oc om or pa pcm pl ps pt qu ro ru rw sa sdh se "
    "si sk sl sn so sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz uzs vec vi vo wa wuu xh yo yue zh zu"
)
CODES = frozenset(_WORDS.split())
"""ISO codes the detector knows."""

_ALIASES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}


def code_reader(value: Any, root: Root) -> str:
    """A language's short ISO code, as `en`."""
    written = text(value, root)
    code = _ALIASES.get(written.lower(), written.lower())
    if code in CODES:
        return code
    near = re.split(r"[-_]", code)[0]
    hint = f'Write "{near}".' if near in CODES else 'Write the short ISO code, as "en" for English.'
    raise BadArgument("no language has this code", found=shown(written), expected="a short ISO code", hint=hint)


@dataclass(frozen=True)
class Language:
    """Every text looked at that is long enough is in this language."""

    kind: ClassVar = "language"
    language: str = argument(code_reader, name="is")
    where: tuple[str, ...] = argument(places_reader, name="in", default=("answer",))

    async def decide(self, work: Work) -> Verdict:
        """Yes when all of them are; no decision is made on a few words."""
        sources, verdict = sources_or_nothing(work, self.where)
        if verdict:
            return verdict
        return await bounded(look_into, sources, self.language)


def look_into(sources: Sequence[Source], wanted: str) -> Verdict:
    """The language of each text, long enough ones only."""
    skipped: list[str] = []
    read, wrong, places = [], [], []
    for source, content in texts(sources, skipped):
        prose = _prose(source.name, content)
        letters = sum(map(str.isalpha, prose))
        if letters < MIN_LETTERS and not _dense(prose):
            skipped.append(f"{source.label} (only {letters} letters, too few to tell a language by)")
            continue
        found, share = _identifier().classify(prose)
        read.append(f"{source.label} reads as {found} ({share:.0%})")
        if found != wanted:
            wrong.append(read[-1])
        places.append(source.place())
    left_out = f" Skipped: {listed(skipped)}." if skipped else ""
    if not read and any("larger than" in reason for reason in skipped):
        return unknown(f"What was left is too large to be looked into.{left_out}")
    if not read:
        return nothing(f"There is no text long enough to tell its language.{left_out}")
    if wrong:
        return said(False, f"{listed(wrong)}, expected {wanted}.{left_out}", tuple(places[:10]))
    return said(True, f"{listed(read)}.{left_out}", tuple(places[:10]))


def _prose(name: str, content: str) -> str:
    """What a person would read: no code blocks and addresses; of a JSON file the texts in it."""
    if name.endswith(".json"):
        try:
            content = "\n".join(leaves(parse_json(content)))
        except NotJson:
            pass
    return re.sub(r"```[^`]*```|`[^`\n]*`|\bhttps?://\S+", " ", content[:MAX_CHARACTERS])


def _dense(prose: str) -> bool:
    """Whether it is written in signs that each say as much as several letters (Chinese, Japanese, Korean)."""
    return sum("\u3040" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7af" for sign in prose) >= MIN_LETTERS // 3


@cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
