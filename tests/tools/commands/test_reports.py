"""What of `workbook preflight` is the command's own."""

import pytest

from workbook.tools.commands.reports import _pattern

NAMES = ("preflight.plist.version", "preflight.plist.storyboard", "preflight.signing")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("signing", "preflight.signing"),
        ("plist.*", "preflight.plist.*"),
        ("plist", "preflight.plist.*"),
        ("preflight.signing", "preflight.signing"),
        ("nothing", "nothing"),
    ],
)
def test_a_case_is_named_with_or_without_the_word_that_all_begin_with(text, meant):
    assert _pattern(text, NAMES) == meant
