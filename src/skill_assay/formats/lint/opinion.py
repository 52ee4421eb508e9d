"""Tells an expectation that is an opinion from one that can be seen to hold.

An opinion hangs on a word of praise that nothing in the sentence defines: two careful readers of the same output
could disagree. The rules are deliberately few and sure; a missed opinion costs less than a false alarm. Whatever
names something to look for (a literal, a file, a number, an example in brackets) is never called an opinion.
English only.
"""

from __future__ import annotations

import re

__all__ = ["OPINION_RULES", "opinion"]

_PRAISE = (
    r"good|great|nice|excellent|outstanding|amazing|impressive|beautiful|pretty|attractive|elegant|polished|sleek|"
    r"professional(?:[- ]looking)?|(?:high|top|good|production)[- ]quality|well[- ](?:written|structured|organi[sz]ed|"
    r"designed|crafted|formatted|thought[- ]out|presented|balanced)|readable|legible|clear(?!ed)|concise|coherent|"
    r"compelling|engaging|persuasive|convincing|insightful|creative|interesting|memorable|intuitive|user[- ]friendly|"
    r"useful|helpful|practical|actionable|action[- ]oriented|meaningful|sensible|reasonable|appropriate|suitable|"
    r"adequate|sufficient|thorough|comprehensive|natural(?:ly)?|smooth(?:ly)?|low[- ]friction|jargon[- ]free|"
    r"visually appealing|aesthetically pleasing|easy to (?:read|understand|follow|use|scan)"
)
_GIVES = (
    r"(?:provides?|gives?|offers?|suggests?|recommends?|includes?|produces?|creates?|writes?|presents?|proposes?|"
    r"designs?|uses?|selects?|chooses?|has|contains?|delivers?|makes?)"
)
_SUBJECT = r"(?:(?:the|its|a|an) )?(?:[\w'-]+ ){0,3}"

OPINION_RULES: dict[str, re.Pattern[str]] = {
    "looks good": re.compile(
        rf"\b(?:looks?|feels?|seems?|sounds?|reads?|appears?)\s+(?:(?:very|really|quite|more|as)\s+)?(?:{_PRAISE}|well(?!-))\b",
        re.I,
    ),
    "is good": re.compile(
        rf"^{_SUBJECT}(?:is|are|should be|must be)\s+(?:[\w-]+,? (?:and )?){{0,2}}"
        rf"(?:{_PRAISE})\b(?! skill| tool| from)",
        re.I,
    ),
    "gives something good": re.compile(
        rf"^(?:the (?:agent|response|answer|output|result) )?{_GIVES} (?:an? |some |several |its )?"
        r"(?:[\w-]+,? )?(?:appropriate|suitable|practical|actionable|useful|helpful|strong|good|great|compelling|"
        r"engaging|readable|professional|high[- ]quality|well[- ]\w+|thorough|comprehensive|insightful|creative|"
        r"polished|elegant|sensible|reasonable|meaningful|adequate|sufficient)\b,?(?! skill| tool| error)",
        re.I,
    ),
    "well done": re.compile(
        r"\b(?:appropriately|properly|nicely|beautifully|elegantly|effectively|adequately|professionally|thoughtfully|"
        r"sensibly|reasonably well|well|thoroughly)[.!]?$",
        re.I,
    ),
    "with good things": re.compile(
        r"\bwith (?:proper|appropriate|good|suitable|adequate|sufficient) [\w-]+[.!]?$", re.I
    ),
    "the best": re.compile(
        r"\bis the (?:best|strongest|most \w+)(?: \w+){0,2} (?:version|way|choice|option|answer)\b", re.I
    ),
    "tone": re.compile(
        r"\b(?:adapts?|adjusts?|matches|has|keeps|maintains|uses)\b[^.;]*\btone\b|\btone (?:is|feels)\b", re.I
    ),
    "useful to somebody": re.compile(
        r"\b(?:useful|helpful|valuable|interesting|compelling) (?:to|for) (?:an?|the|its)\b", re.I
    ),
    "nuance": re.compile(r"\b(?:addresses|captures|reflects|handles) the (?:specific )?nuances?\b", re.I),
    "no word wasted": re.compile(r"\bearns? (?:its|their) (?:place|keep)\b|\bno fluff\b|\bmakes sense\b", re.I),
    "depth and value": re.compile(
        r"^(?:emphasi[sz]es|shows|demonstrates|has|offers|displays)\b[^.;]*"
        r"\b(?:(?:technical|sufficient|appropriate) depth|practical value|high quality)\b",
        re.I,
    ),
}
"""Name of the rule, and the words by which it knows an opinion; each is listed in docs/reference/lint.md."""

_OBSERVABLE = re.compile(
    r"""[`"“”«»]|(?<!\w)'[^']+'(?!\w)   # a literal
    |\d                                 # a number
    |\w_\w|\w\.\w{1,5}\b|(?<!\w)--?\w|\w/\w|\w\(\)|[a-z][A-Z]   # an identifier, a file, a flag, a path
    |\((?!s\))[^)]*[\w-]+\s[^)]*\)      # words in brackets that say what is meant
    |\b(?:e\.g\.|i\.e\.|such\sas|for\sexample|including|instead\sof|rather\sthan|because|when|if|unless|without)\b
    |:\s""",
    re.VERBOSE,
)


def opinion(text: str) -> str | None:
    """The rule by which a text is an opinion, with the words that show it; `None` when it is none, or in doubt."""
    statement = " ".join(text.split())
    if _OBSERVABLE.search(statement):
        return None
    for name, pattern in OPINION_RULES.items():
        match = pattern.search(statement)
        if match:
            return f"{name}: “{match[0].strip()}”"
    return None
