"""Card art: six sober designs of plain geometry, one for each payment instrument, the same each time.

A card's picture must show this card and no other, and must have neither a name nor a number on it (X-ART-1, wallet).
The designs, the bank's name and the card's name are made up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

from workbook.views.html import Markup, tag, void
from workbook.views.paint import SIGNS, placed

BANK = "Example Bank"
CARD = "Example card"
CARD_WIDTH, CARD_HEIGHT, RADIUS = 240, 152, 13
"""In the proportions that the wallet asks for (wallet)."""
LEGIBLE = 150
"""A card narrower than this has no words: they would be too small to read."""


@dataclass(frozen=True, slots=True)
class Design:
    """The look of a card, the same in a light and a dark theme.

    Attributes:
        base: the colour behind the words.
        shapes: the two colours of the figures.
        words: the colour of the words.
        figures: draws the figures, away from the words and the round corners.
    """

    base: str
    shapes: tuple[str, str]
    words: str
    figures: Callable[[str, str], tuple[Markup, ...]]


def digits(instrument: str) -> str:
    """The last four characters of an id, shown as the card's number (assumed: a real number is not the id's)."""
    return "".join(c for c in instrument if c.isascii() and c.isalnum())[-4:]


def masked(instrument: str) -> str:
    """The number as an app shows it, all but the last characters hidden."""
    return f"•••• {digits(instrument)}".strip()


def design(instrument: str) -> Design:
    """The design of an instrument; consecutive ids have different ones."""
    last = digits(instrument)
    return DESIGNS[(int(last) if last.isdecimal() else crc32(instrument.encode("utf-8", "replace"))) % len(DESIGNS)]


def card(instrument: str, x: float, y: float, width: float) -> Markup:
    """The card with its upper left corner at a point."""
    look = design(instrument)
    rim = {"x": 0.5, "y": 0.5, "width": CARD_WIDTH - 1, "height": CARD_HEIGHT - 1, "rx": RADIUS - 0.5}
    parts = [
        void("rect", fill=look.base, width=CARD_WIDTH, height=CARD_HEIGHT, rx=RADIUS),
        *look.figures(*look.shapes),
        void("rect", fill="none", stroke="#ffffff", stroke_opacity=0.16, **rim),  # sets a dark card off a dark page
    ]
    if width >= LEGIBLE:
        stroke = {"stroke": look.words, "stroke_width": 1.9, "stroke_linecap": "round"}
        parts.append(void("path", d=SIGNS["arch"], fill="none", transform="translate(24 25)", **stroke))
        parts.append(tag("text", BANK, x=39, y=31, font_size=15, font_weight=600, fill=look.words))
    return placed(x, y, *parts, scale=round(width / CARD_WIDTH, 4))


def tall(width: float) -> float:
    """The height of a card of this width."""
    return round(width * CARD_HEIGHT / CARD_WIDTH, 1)


def _path(colour: str, shape: str) -> Markup:
    return void("path", fill=colour, d=shape)


def _hills(near: str, far: str) -> tuple[Markup, ...]:
    foot = f"V{CARD_HEIGHT - RADIUS}a13 13 0 0 1-13 13H13a13 13 0 0 1-13-13z"
    return (
        _path(far, f"M0 118C70 118 120 66 176 66C206 66 226 76 240 84{foot}"),
        _path(near, f"M0 96C44 84 86 128 140 128C186 128 214 112 240 108{foot}"),
    )


def _bands(near: str, far: str) -> tuple[Markup, ...]:
    return _path(near, "M170 0h28l-76 152h-28z"), _path(far, "M208 0h12l-76 152h-12z")


def _tiles(near: str, far: str) -> tuple[Markup, ...]:
    quarters = ("h30a30 30 0 0 1-30 30z", "m30 0v30h-30a30 30 0 0 1 30-30z", "m0 30v-30a30 30 0 0 1 30 30z")
    return tuple(
        _path(
            near if at % 2 else far, f"M{134 + 30 * (at % 3)} {46 + 30 * (at // 3)}{quarters[(2 * at + at // 3) % 3]}"
        )
        for at in range(9)
    )


def _dots(near: str, far: str) -> tuple[Markup, ...]:
    return tuple(
        void("circle", fill=near if column % 2 else far, cx=106 + 20 * column, cy=54 + 20 * line, r=2.5 + 0.85 * column)
        for line in range(5)
        for column in range(6)
        if column + line > 1  # the upper left corner of the field stays free
    )


def _facets(near: str, far: str) -> tuple[Markup, ...]:
    return (
        _path(far, "M92 152L170 44L206 152z"),
        _path(near, "M150 152L206 74L240 122V139a13 13 0 0 1-13 13z"),
    )


def _arches(near: str, far: str) -> tuple[Markup, ...]:
    return tuple(
        void("path", fill="none", stroke=near if radius % 4 else far, stroke_width=9,
             d=f"M{164 - radius} {CARD_HEIGHT}v-34a{radius} {radius} 0 0 1 {2 * radius} 0v34")
        for radius in (58, 44, 30, 16)
    )  # fmt: skip


DESIGNS: tuple[Design, ...] = (
    Design("#30353d", ("#4a525e", "#626b79"), "#ffffff", _arches),
    Design("#0f4c5c", ("#1d6f83", "#176073"), "#ffffff", _hills),
    Design("#2f3a66", ("#7482bd", "#4d5a94"), "#ffffff", _tiles),
    Design("#5a2a4d", ("#7d4270", "#a1678f"), "#ffffff", _bands),
    Design("#23503a", ("#4f8f6b", "#3a7454"), "#ffffff", _dots),
    Design("#eadfcb", ("#b99a63", "#d6c19a"), "#33291a", _facets),
)
