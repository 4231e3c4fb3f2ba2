"""The contrast of every word on the ground that it really stands on: the last thing painted below it."""

import re
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import pytest
from contrast import PHONE_WORDS, contrast
from screens import NAMED

from workbook.views.paint import PHONE_DARK, PHONE_LIGHT
from workbook.views.phone import SHEET_SHADE, draw

SCHEMES = pytest.mark.parametrize("colours", [PHONE_LIGHT, PHONE_DARK], ids=["light", "dark"])


@dataclass
class Painted:
    """One shape or one word: its colour, and the box or the point that it takes on the page."""

    colour: str
    box: tuple[float, float, float, float]
    text: str = ""
    solid: bool = True

    def holds(self, other):
        x, y, *_ = other.box
        left, top, right, bottom = self.box
        return left <= x <= right and top <= y <= bottom


def painted(element, x=0.0, y=0.0, scale=1.0):
    """All that an SVG paints, in the order of painting."""
    if moved := re.fullmatch(r"translate\(([\d.-]+) ([\d.-]+)\)(?: scale\(([\d.]+)\))?", element.get("transform", "")):
        dx, dy, factor = moved.groups()
        x, y, scale = x + float(dx) * scale, y + float(dy) * scale, scale * float(factor or 1)
    named = re.search(r"wb-fill-(\w+)", element.get("class", ""))
    colour = named[1] if named else element.get("fill", "none")
    place = {key: float(element.get(key, 0)) for key in ("x", "y", "width", "height")}
    kind = element.tag.partition("}")[2]
    if kind == "text":
        at = x + place["x"] * scale, y + (place["y"] - 4) * scale
        yield Painted(colour, (*at, *at), element.text)
    elif kind == "rect" and colour != "none":
        left, top = x + place["x"] * scale, y + place["y"] * scale
        box = (left, top, left + place["width"] * scale, top + place["height"] * scale)
        yield Painted(colour, box, solid=element.get("fill-opacity") is None)
    elif kind == "path" and named:
        _, top, *_ = map(float, re.findall(r"[\d.]+", element.get("d")))
        yield Painted(colour, (x, y + top + 10, x + 282, y + 602))
    for child in element:
        yield from painted(child, x, y, scale)


def standing(screen):
    """Each word of a screen, with the ground it stands on and whether it is behind a shade."""
    shapes = list(painted(ET.fromstring(draw(screen).svg)))
    for number, word in enumerate(shapes):
        if word.text:
            below = [one for one in shapes[:number] if not one.text and one.solid and one.holds(word)]
            above = [one for one in shapes[number:] if not one.text and one.holds(word)]
            assert not any(one.solid for one in above), f"{word.text} is hidden"
            yield word, below[-1], bool(above)


def hexed(colours, name):
    return name if name.startswith("#") else colours[name]


def shaded(colour, shade):
    mixed = (
        round(int(colour[at : at + 2], 16) * (1 - SHEET_SHADE) + int(shade[at : at + 2], 16) * SHEET_SHADE)
        for at in (1, 3, 5)
    )
    return "#" + "".join(f"{one:02x}" for one in mixed)


@SCHEMES
def test_every_pair_in_the_table_has_contrast(colours):
    wrong = [(word, ground) for word, grounds in PHONE_WORDS.items() for ground in grounds
             if contrast(colours[word], colours[ground]) < 4.5]  # fmt: skip
    assert wrong == []


def test_every_word_stands_on_a_ground_of_the_table_and_every_pair_occurs():
    pairs = {(word.colour, ground.colour) for screen in NAMED for word, ground, _ in standing(screen)}
    named = {pair for pair in pairs if not pair[0].startswith("#")}
    assert named == {(word, ground) for word, grounds in PHONE_WORDS.items() for ground in grounds}


@SCHEMES
def test_every_word_has_contrast_on_its_ground(colours):
    for screen in NAMED:
        for word, ground, behind in standing(screen):
            pair = hexed(colours, word.colour), hexed(colours, ground.colour)
            if behind:
                assert contrast(*(shaded(one, colours["shade"]) for one in pair)) >= 3, word.text
            else:
                assert contrast(*pair) >= 4.5, word.text


@SCHEMES
def test_signs_and_edges_that_carry_meaning_have_contrast(colours):
    pairs = "label accent, label good, label refused, bright tile, muted fill, ink fill, rim table, dim face"
    for sign, ground in map(str.split, pairs.split(", ")):
        assert contrast(colours[sign], colours[ground]) >= 3
