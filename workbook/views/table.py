"""A table to look at: a title, a head, rows of short texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.markup import Markup, tag
from workbook.views.plain import clean, width, wrap
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INK = "var(--jp-ui-font-color1, inherit)"
"""What words are written in: the notebook's own colour, so that the contrast is the theme's in light and dark."""
EDGE = "1px solid var(--jp-border-color1, #8b95a3)"
TABLE = f"border-collapse:collapse;color:{INK};margin:0.3em 0"
CELL = "text-align:left;vertical-align:top;padding:0.25em 0.9em 0.25em 0"
LINE = f"border-bottom:{EDGE}"
TITLE = "font-weight:600;text-align:left;padding:0.25em 0"
# word-break: JupyterLab would break words wherever a line is full
PRE = (
    f"color:{INK};font-family:monospace;line-height:1.3;white-space:pre-wrap;overflow-wrap:anywhere;"
    "word-break:normal;margin:0.3em 0"
)
WIDEST = 110
"""How wide a table's text form may become, in characters."""


@dataclass(frozen=True, slots=True, repr=False)
class Table(View):
    """A table.

    Attributes:
        head: the columns' names.
        rows: one text for each column.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """The table in columns; the last one is wrapped at 110 characters."""
        rule = tuple("─" * width(name) for name in self.head)
        lines = (line for row in (self.head, rule, *self.rows) for line in self._lines(row))
        return "\n".join([self.title, *lines])

    def _lines(self, row: tuple[str, ...]) -> Iterator[str]:
        *front, last = row
        indent = "  ".join(one + " " * (wide - width(one)) for one, wide in zip(front, self._widths(), strict=True))
        room = max(WIDEST - width(indent) - 4, 20)
        for number, piece in enumerate(wrap(last, room) or [""]):
            yield f"  {indent if not number else ' ' * width(indent)}  {piece}".rstrip()

    def _widths(self) -> list[int]:
        columns = zip(self.head, *self.rows, strict=True)
        return [max(map(width, column)) for column in columns][:-1]

    def html(self) -> str:
        """The table as an HTML table with a caption and a header for each column."""
        names = (tag("th", name, scope="col", style=f"{CELL};{LINE};font-weight:600") for name in self.head)
        styles = [*[f"{CELL};{LINE};white-space:nowrap"] * (len(self.head) - 1), f"{CELL};{LINE}"]
        rows = (
            tag("tr", *(tag("td", one, style=style) for one, style in zip(row, styles, strict=True)))
            for row in self.rows
        )
        head, body = tag("thead", tag("tr", *names)), tag("tbody", *rows)
        return tag("table", tag("caption", self.title, style=TITLE), head, body, style=TABLE)


def table(title: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Table:
    """A table of anything that has a text form; each text stands on one line, unprintable characters written out."""
    cleaned = tuple(tuple(clean(cell) for cell in row) for row in rows)
    return Table(clean(title), tuple(clean(name) for name in head), cleaned)


def paragraph(*children: object) -> Markup:
    """One paragraph in the notebook's own colour."""
    return tag("p", *children, style=f"color:{INK};margin:0.3em 0")


def preformatted(text: str) -> Markup:
    """Text as it stands, in letters of one width and with its line breaks."""
    return tag("pre", text, style=PRE)
