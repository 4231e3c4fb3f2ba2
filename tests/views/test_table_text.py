import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.views.table import clean, cut, glyphs, width, wrap


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\tand  blanks ", "two lines and blanks"),
        ("a\x07b", "a\\u0007b"),
        ("\u202eturned", "\\u202eturned"),
        ("half \ud800", "half \\ud800"),
        ("é \u5361 ok", "é \u5361 ok"),
        (7, "7"),
    ],
)
def test_clean_leaves_one_printable_line(text, shown):
    assert clean(text) == shown


def test_clean_cuts_what_is_too_long():
    assert clean("x" * 500) == "x" * 399 + "…"
    assert clean("abcdef", 4) == "abc…"


@pytest.mark.parametrize(
    ("text", "cells"), [("abc", 3), ("\u5361\u7247", 4), ("e\u0301", 1), ("\u0e01\u0e31", 1), ("", 0)]
)
def test_width_counts_cells(text, cells):
    assert width(text) == cells


def test_glyphs_keep_marks_with_their_letter():
    assert list(glyphs("e\u0301\u5361")) == [("e\u0301", 1), ("\u5361", 2)]
    assert list(glyphs("")) == []


def test_wrap_breaks_between_words_and_long_words_where_it_must():
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("abcdefgh ij", 3) == ["abc", "def", "gh", "ij"]
    assert wrap("", 9) == []


@given(st.text(), st.integers(2, 40))
def test_nothing_is_ever_wider_than_its_room(text, room):
    shown = clean(text)
    assert all(width(line) <= room for line in wrap(shown, room))
    assert width(cut(shown, room + 1)) <= room + 1
    assert "".join(wrap(shown, room)).replace(" ", "") == shown.replace(" ", "")
