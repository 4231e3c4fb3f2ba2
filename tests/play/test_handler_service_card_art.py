"""Card art: exactly the card, and as the wallet wants it."""

from dataclasses import replace

import pytest
from rows import rows

from workbook.errors import ParameterError
from workbook.play.handler import HEIGHT, WIDTH, CardArt, problems_with

GOOD = CardArt("PI1")


@pytest.mark.rule("X-ART-1")
def test_the_right_picture_has_no_problem():
    assert problems_with(GOOD, "PI1") == ""
    assert (WIDTH, HEIGHT) == (1536, 969)
    assert problems_with(replace(GOOD, size=4_194_303), "PI1") == ""


@pytest.mark.rule("X-ART-1")
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"shows": "PI2"}, "it shows another card"),
        ({"width": 1535}, "it is 1535 x 969 pixels, not 1536 x 969 (wallet)"),
        ({"height": 0}, "it is 1536 x 0 pixels, not 1536 x 969 (wallet)"),
        ({"size": 4_194_304}, "its file has 4194304 bytes; fewer than 4194304 are allowed (wallet)"),
        ({"square_corners": False}, "its corners are rounded (wallet)"),
        ({"personal": True}, "a name or a number is on it (wallet)"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_each_thing_that_can_be_wrong_with_a_picture(wrong, told):
    assert problems_with(replace(GOOD, **wrong), "PI1") == told


def test_all_that_is_wrong_is_told_at_once():
    assert problems_with(CardArt("x", 1, 1, 4_194_304, square_corners=False, personal=True), "PI1").count(";") == 5


@pytest.mark.rule("X-ART-1")
@pytest.mark.parametrize(("art", "kind"), [(None, "nil"), (b"png", "bytes"), ("PI1", "str"), (CardArt, "type")])
def test_what_is_no_picture_is_told_by_its_type(art, kind):
    assert problems_with(art, "PI1") == f"it is {kind}, not an image"


@rows("name", ["width", "height", "size"])
@rows("value", ["1536", 1536.0, None, True])
def test_a_size_is_a_whole_number(name, value):
    with pytest.raises(ParameterError, match=f"A card art's {name} is a whole number"):
        CardArt("PI1", **{name: value})
