from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_assay.formats.js_regex import compiles, from_js, to_js


@pytest.mark.parametrize(
    ("javascript", "python"),
    [
        (r"Total: \d+", r"Total: \d+"),
        (r"(?<year>\d{4})-\k<year>", r"(?P<year>\d{4})-(?P=year)"),
        (r"(?<=a)b(?<!c)", r"(?<=a)b(?<!c)"),
        (r"a[^]b", r"a[\s\S]b"),
        (r"a[]", r"a(?!)"),
        (r"done$", r"done\Z"),
        (r"done(?=\n?$)", r"done$"),
        (r"[$]", r"[$]"),
        (r"https:\/\/", r"https:\/\/"),
        (r"\"skill\"\s*:\s*\"x\"", r"\"skill\"\s*:\s*\"x\""),
        (r"\e", "e"),
    ],
)
def test_javascript_is_read_as_python(javascript: str, python: str) -> None:
    assert from_js(javascript) == python


def test_with_many_lines_the_dollar_stays() -> None:
    assert from_js("end$", "m") == "end$"
    assert to_js("end$", "m") == "end$"


@pytest.mark.parametrize("pattern", [r"\p{Lu}", r"\cA", "(?<=a+)b", "(", r"\u{1F600}"])
def test_what_python_can_not_say_is_none(pattern: str) -> None:
    assert from_js(pattern) is None


@pytest.mark.parametrize(
    "pattern",
    [r"\Aa", "(?i)a", "(?i:a)", "a++", "(?>a)", "(?#x)a", "a{,3}", "[]a]", "[^]a]", r"\N{DIGIT ONE}", r"(a)?(?(1)b|c)"],
)
def test_what_javascript_can_not_say_is_none(pattern: str) -> None:
    assert to_js(pattern) is None


def test_the_end_of_a_text_means_the_same_there() -> None:
    assert to_js("end$") == r"end(?=\n?$)"
    assert to_js(r"end\Z") == "end$"
    assert to_js(r"(?P<n>a)(?P=n)") == r"(?<n>a)\k<n>"
    assert to_js("(?:a|b)+?") == "(?:a|b)+?"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab1\\$^[](){}?+*|<>=P:.,-kdZnuxé\n", max_size=14))
def test_what_is_written_is_read_as_it_was(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = to_js(pattern)
        if written is not None:
            assert compiles(pattern)
            assert from_js(written) == pattern
        read = from_js(pattern)
        if read is not None:
            re.compile(read)
