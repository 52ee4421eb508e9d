"""Every kind of fault this field is known for has a test that names its number."""

from __future__ import annotations

from tools.doctor_tests import ALL_FAULTS, CITED, faults_tested

LATER: frozenset[int] = frozenset()
"""Kinds that belong to parts not built yet. A kind leaves this list with its first test."""


def test_each_fault_kind_due_now_has_a_test() -> None:
    missing = ALL_FAULTS - LATER - set(faults_tested())
    assert not missing, f"no test cites these fault numbers: {sorted(missing)}"


def test_later_lists_only_what_is_still_untested() -> None:
    done = LATER & set(faults_tested())
    assert not done, f"take these out of LATER, they have tests: {sorted(done)}"


def test_citations_are_read_in_every_form() -> None:
    assert [
        CITED.findall(text) for text in ("test_fault_14_x", "Faults 4 and 31: leaks", "fault 2, 3", "default 9")
    ] == [
        ["14"],
        ["4 and 31"],
        ["2, 3"],
        [],
    ]
