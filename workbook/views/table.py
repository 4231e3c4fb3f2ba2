"""Tables, cards of facts and snapshots, and the measuring and wrapping of text."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbook.base.terminal import visible
from workbook.views.html import Markup, View, join, tag, trust, unbroken

# Text from anywhere, made safe for a fixed-width drawing: one line, printable, of a known width.
#
# A label may hold what a customer typed or what a broken server sent. Every character that is invisible, or that
# reverses the writing direction, is written as its code point.
#
# A drawing measures thousands of short texts, nearly all of them in characters that take one cell. One regular
# expression recognises those; only other texts are measured character by character (wcwidth, imported when needed).

# Matches a text whose every character takes one cell: Latin letters, punctuation, arrows, boxes, ticks and crosses.
ONE_CELL = re.compile("[ -\u02ff\u2010-\u2027\u2190-\u21ff\u2500-\u25fc\u2713-\u2718]*").fullmatch


def clean(text: object, longest: int = 400) -> str:
    """`text` on one line, at most `longest` characters of it, with code points for unprintable characters."""
    line = " ".join(str(text).split())
    short = line if len(line) <= longest else line[: longest - 1] + "…"
    return visible(short)


def width(text: str) -> int:
    """How many cells of a fixed-width drawing `text` takes."""
    return len(text) if ONE_CELL(text) else sum(cells for _glyph, cells in glyphs(text))


def cut(text: str, room: int) -> str:
    """`text`, or as much of it as leaves space for an ellipsis within `room` cells."""
    return text if width(text) <= room else next(_pieces(text, room - 1)) + "…"


def wrap(text: str, room: int) -> list[str]:
    """`text` in lines of at most `room` cells, broken between words where that is possible."""
    words = text.split()
    if width(line := " ".join(words)) <= room:
        return [line] if line else []
    lines, used = [""], 0
    for piece in (piece for word in words for piece in _pieces(word, room)):
        cells = width(piece)
        if used and used + 1 + cells <= room:
            lines[-1] += f" {piece}"
            used += 1 + cells
        else:
            lines.append(piece)
            used = cells
    return lines[1:]


def glyphs(text: str) -> Iterator[tuple[str, int]]:
    """Each character with its combining marks, and the number of cells that it takes."""
    from wcwidth import wcwidth  # costs milliseconds, and few texts need it

    glyph, cells = "", 0
    for character in text:
        more = max(wcwidth(character), 0)
        if glyph and more:
            yield glyph, cells
            glyph, cells = "", 0
        glyph, cells = glyph + character, cells + more
    if glyph:
        yield glyph, cells


def _pieces(word: str, room: int) -> Iterator[str]:
    """The parts of a word, each at most `room` cells wide; a wider glyph is a part of its own."""
    if ONE_CELL(word):
        yield from (word[at : at + room] for at in range(0, max(len(word), 1), room))
        return
    piece, used = "", 0
    for glyph, cells in glyphs(word):
        if piece and used + cells > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + glyph, used + cells
    yield piece


# The colour of words: the notebook's own, so that the theme decides the contrast in light and dark.
INK = "var(--jp-ui-font-color1, inherit)"
EDGE = "1px solid var(--jp-border-color1, #8b95a3)"
TABLE_STYLE = f"border-collapse:collapse;color:{INK};margin:0.3em 0"
CELL_STYLE = "text-align:left;vertical-align:top;padding:0.25em 0.9em 0.25em 0"
ROW_LINE = f"border-bottom:{EDGE}"
CAPTION_STYLE = "font-weight:600;text-align:left;padding:0.25em 0"
# word-break: JupyterLab would break words wherever a line is full
PRE = (
    f"color:{INK};font-family:monospace;line-height:1.3;white-space:pre-wrap;overflow-wrap:anywhere;"
    "word-break:normal;margin:0.3em 0"
)
# What a button that copies does in a notebook; a page with a policy has its own script for it.
COPY = "navigator.clipboard.writeText(this.nextSibling.textContent).then(()=>this.textContent='Copied')"
# The greatest width of a table's text form, in characters.
TEXT_WIDTH = 110
# A column of at most so many characters has one line in HTML; a wider one is wrapped, as the last always is.
SHORT = 40


@dataclass(frozen=True, slots=True, repr=False)
class Table(View):
    """A table, or a card of facts.

    Attributes:
        head: the columns' names; empty for a card, where the first cell of a row is its name.
        rows: one text for each column.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The table in columns; the last one is wrapped at 110 characters."""
        rule = tuple("─" * width(name) for name in self.head)
        rows = [row for row in (self.head, rule, *self.rows) if row]
        widths = [max(map(width, column)) for column in zip(*rows, strict=True)][:-1]
        lines = [self.title]
        for *front, last in rows:
            indent = "  ".join(cell + " " * (wide - width(cell)) for cell, wide in zip(front, widths, strict=True))
            for piece in wrap(last, max(TEXT_WIDTH - width(indent) - 4, 20)) or [""]:
                lines.append(f"  {indent}  {piece}".rstrip())
                indent = " " * width(indent)
        return "\n".join(lines)

    def html(self) -> str:
        """The table as an HTML table with a caption, and a header for each column, or for each row of a card."""
        edge, bold = ROW_LINE if self.head else "", "font-weight:600"
        front = f"{CELL_STYLE};{edge if self.head else bold}"
        widths = [max(map(width, column)) for column in zip(*self.rows, strict=True)]
        styles = [f"{front}{';white-space:nowrap' if wide <= SHORT else ''}" for wide in widths]
        row_name = {} if self.head else {"scope": "row"}
        rows = []
        for *texts, last in self.rows:
            cells = [
                tag("td" if self.head else "th", text if "nowrap" in style else unbroken(text), **row_name, style=style)
                for text, style in zip(texts, styles, strict=False)
            ]
            rows.append(tag("tr", *cells, tag("td", unbroken(last), style=f"{CELL_STYLE};{edge}")))
        head = tag("thead", header(self.head, f"{CELL_STYLE};{ROW_LINE};{bold}")) if self.head else ""
        caption = tag("caption", self.title, style=CAPTION_STYLE)
        return tag("table", caption, head, tag("tbody", *rows, style="overflow-wrap:anywhere"), style=TABLE_STYLE)


def header(names: Iterable[str], style: str) -> Markup:
    """The row with the names of columns; a column without one has a plain cell there."""
    return tag("tr", *(tag("th", name, scope="col", style=style) if name else tag("td", style=style) for name in names))


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """A table of anything that has a text form; each text is on one line, unprintable characters as code points."""
    cleaned = tuple(tuple(clean(cell) for cell in row) for row in rows)
    return Table(clean(title), tuple(clean(name) for name in head), cleaned)


def paragraph(*children: object) -> Markup:
    """One paragraph in the notebook's own colour."""
    return tag("p", *children, style=f"color:{INK};margin:0.3em 0")


def preformat(text: str) -> Markup:
    """Text in a fixed-width font, with its line breaks."""
    return tag("pre", text, style=PRE)


def copyable(text: str) -> Markup:
    """Text in a fixed-width font, with a button that copies it; a page without our style and script has no button."""
    button = tag("button", "Copy", type="button", class_="wb-copy", onclick=COPY, style="display:none")
    pre = tag("pre", text, style=f"{PRE};user-select:all")
    return join(tag("style", ".wb-copy{display:inline-block!important}"), button, pre)


def facts(title: str, rows: Mapping[str, object] | Iterable[tuple[str, object]]) -> Table:
    """A card of facts, from a mapping or from pairs: names on the left, values on the right, no names of columns."""
    return table(title, (), rows.items() if isinstance(rows, Mapping) else rows)


@dataclass(frozen=True, slots=True, repr=False)
class Stack(View):
    """Several views, one below the other."""

    views: tuple[View, ...]

    def text(self) -> str:
        """Each view's text form, with an empty line between."""
        return "\n\n".join(view.text() for view in self.views)

    def html(self) -> str:
        """Each view's HTML form, in one block."""
        return tag("div", *(tag("div", trust(view.html()), style="margin-bottom:1em") for view in self.views))


# A snapshot of any value: a text and a piece of HTML that need no kernel.


@dataclass(frozen=True, slots=True, repr=False)
class Snapshot(View):
    """The two forms of a value at one moment."""

    plain: str
    markup: str

    def text(self) -> str:
        """The text form."""
        return self.plain

    def html(self) -> str:
        """The HTML form."""
        return self.markup


def statement(words: str) -> Snapshot:
    """A few words, as one paragraph."""
    return Snapshot(words, paragraph(unbroken(words)))


def snapshot(value: object) -> Snapshot:
    """The forms in which a notebook would show `value`: its own HTML if it has some, else its text."""
    if value is None:
        return statement("Nothing was returned.")
    if isinstance(value, str):
        return Snapshot(value, preformat(value))
    bundle: dict[str, Any] = {}
    if callable(offer := getattr(value, "_repr_mimebundle_", None)):
        offered = offer()
        bundle = dict(offered[0] if isinstance(offered, tuple) else offered or {})  # a tuple has metadata, too
    elif callable(offer := getattr(value, "_repr_html_", None)):
        bundle = {"text/html": offer()}
    text = str(bundle.get("text/plain") or repr(value))
    html = bundle.get("text/html")
    return Snapshot(text, str(html) if html else preformat(text))


def failure(error: BaseException) -> Snapshot:
    """An error as its class and its message."""
    name = type(error).__name__
    return Snapshot(f"✗ {name}: {error}", paragraph("✗ ", tag("b", name), unbroken(f": {error}")))


def above(first: Snapshot, second: Snapshot) -> Snapshot:
    """Two snapshots, the first above the second."""
    markup = join(trust(first.markup), trust(second.markup))
    return Snapshot(f"{first.plain}\n{second.plain}", markup)
