"""The kill matrix: what speaks against the cases."""

import pytest
from matrix import Matrix, Relay

from workbook.tools.harness.model import Verdict

PASS, WARN, FAIL, NOTE = Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.NOTE
RIGHT = Relay("right", "", (), {"a": PASS, "b": PASS})
FIRST = Relay("first", "It is wrong in a way.", ("a",), {"a": FAIL, "b": WARN})
SECOND = Relay("second", "It is wrong in another.", ("b",), {"a": PASS, "b": WARN})


def matrix(*relays):
    return Matrix(("a", "b"), relays)


def test_nothing_is_missing_where_each_case_catches_what_it_is_made_for():
    assert matrix(RIGHT, FIRST, SECOND).gaps() == []


@pytest.mark.parametrize(
    ("relays", "gap"),
    [
        ([RIGHT, FIRST], "No relay is broken in the way that b is made for."),
        ([Relay("right", "", (), {"a": PASS, "b": WARN}), FIRST, SECOND], "right is in order, and b says warn."),
        (
            [FIRST, Relay("second", "x", ("b",), {"a": FAIL, "b": NOTE})],
            "second is not caught by b, which is made for it.",
        ),
        ([FIRST, SECOND, Relay("third", "x", ("c",), {"a": FAIL, "b": PASS, "c": FAIL})], "c is no case."),
    ],
)
def test_what_is_missing_is_said(relays, gap):
    assert matrix(*relays).gaps() == [gap]
