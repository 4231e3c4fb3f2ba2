"""Text from anywhere, made fit to stand in a drawing: one line, printable, and of a known width.

A label may hold what a customer typed or what a broken server sent. So every character that a reader
could not see, or that would turn the writing direction round, is written out as its code point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import category, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 400
"""As many characters of one text as a drawing shows; the rest is replaced by an ellipsis."""


def clean(text: object, longest: int = LONGEST) -> str:
    """`text` on one line, at most `longest` characters of it, with code points for what cannot be printed."""
    line = " ".join(str(text).split())
    short = line if len(line) <= longest else line[: longest - 1] + "…"
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in short)


def width(text: str) -> int:
    """How many cells of a fixed-width drawing `text` takes."""
    return sum(map(_cells, text))


def cut(text: str, room: int) -> str:
    """`text`, or as much of it as leaves space for an ellipsis within `room` cells."""
    return text if width(text) <= room else next(_pieces(text, room - 1)) + "…"


def wrap(text: str, room: int) -> list[str]:
    """`text` in lines of at most `room` cells, broken between words where that is possible."""
    lines = [""]
    for word in text.split():
        for piece in _pieces(word, room):
            longer = f"{lines[-1]} {piece}".lstrip()
            lines[-1:] = [longer] if width(longer) <= room else [lines[-1], piece]
    return [line for line in lines if line]


def glyphs(text: str) -> Iterator[tuple[str, int]]:
    """Each character with the marks that stand on it, and the cells it takes."""
    pending = ""
    for one in text:
        if pending and _cells(one):
            yield pending, width(pending)
            pending = ""
        pending += one
    if pending:
        yield pending, width(pending)


def _cells(one: str) -> int:
    if category(one) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(one) in "WF" else 1


def _pieces(word: str, room: int) -> Iterator[str]:
    piece, taken = "", 0
    for glyph, cells in glyphs(word):
        if piece and taken + cells > room:
            yield piece
            piece, taken = "", 0
        piece, taken = piece + glyph, taken + cells
    yield piece
