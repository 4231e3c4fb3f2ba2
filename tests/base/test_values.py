"""Checks of values that people and files give: the value comes back, or one sentence says what is allowed."""

from enum import StrEnum
from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.base.values import choice, did_you_mean, flag, is_number, is_text, is_whole, lookup, number, quoted, whole
from workbook.errors import ParameterError


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


def test_a_good_value_comes_back():
    assert (number("n", 3), number("n", Fraction(1, 2)), whole("w", 4, least=0, most=4)) == (3.0, 0.5, 4)
    assert (flag("f", value=False), choice("c", "red", Colour), lookup("x", "a", {"a": 1})) == (False, "red", 1)


WRONG = {
    "text for a number": (lambda: number("n", "3"), "n is '3'. Give a finite number of 0 or more."),
    "a bool": (lambda: number("n", value=True), "n is True. Give"),
    "not finite": (lambda: number("n", inf, most=5, unit="seconds"), "of 0 or more and at most 5, in seconds."),
    "beyond every float": (lambda: number("n", 10**400), "n is a whole number of 1329 bits. Give"),
    "half": (lambda: whole("w", 1.5, least=1, most=1000), "w is 1.5. Give a whole number from 1 to 1,000."),
    "truthy": (lambda: flag("f", 1), "f is 1. Give True or False."),
    "nearly a word": (lambda: choice("c", "reed", Colour), "c is 'reed'. Did you mean 'red'?"),
    "capitals": (lambda: choice("c", "RED", Colour), "c is 'RED'. Did you mean 'red'?"),
    "no text": (lambda: choice("c", ["red"], Colour), "c is a value of type list. Known: green, red."),
    "no key": (lambda: lookup("fault", "rest", {"reset": 1}), "No fault 'rest'. Did you mean 'reset'?"),
}


@rows("name", WRONG)
def test_a_wrong_value_is_told_with_what_is_allowed(name):
    call, message = WRONG[name]
    with pytest.raises(ParameterError) as caught:
        call()
    assert message in str(caught.value)


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.text())


@given(ANYTHING)
def test_whatever_is_given_its_quotation_is_short_and_a_check_raises_one_error_only(value):
    assert len(quoted(value)) < 700
    for check in (number, flag):
        try:
            check("n", value)
        except ParameterError:
            continue
    assert is_whole(value) <= is_number(value) or abs(value) > 1e308


def test_of_an_object_only_the_type_is_repeated():
    assert quoted({"key": "secret"}) == "a value of type dict"
    assert quoted("x" * 100) == f"'{'x' * 60}'... (100 characters)"


def test_a_text_is_printable_and_has_no_blanks_around_it():
    assert [is_text(value) for value in ("a b", "", " a", "a\n", "x" * 1001, 7)] == [True] + [False] * 5


def test_a_name_that_is_like_no_other_gets_the_whole_list():
    assert did_you_mean("zzz", ["b", "a"]) == "Known: a, b."
