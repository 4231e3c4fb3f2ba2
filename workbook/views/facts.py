"""A card of facts: names on the left, values on the right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.markup import tag
from workbook.views.plain import clean, width, wrap
from workbook.views.table import CELL, TABLE, TITLE, WIDEST
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, repr=False)
class Facts(View):
    """A two-column card.

    Attributes:
        rows: pairs of a name and a value, both as text.
    """

    title: str
    rows: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The title, and below it one fact a line."""
        wide = max((width(name) for name, _value in self.rows), default=0)
        lines = [self.title]
        for name, value in self.rows:
            first, *others = wrap(value, max(WIDEST - wide - 4, 20)) or [""]
            lines.append(f"  {name}{' ' * (wide - width(name))}  {first}".rstrip())
            lines += [f"  {' ' * wide}  {other}" for other in others]
        return "\n".join(lines)

    def html(self) -> str:
        """A table with a caption, where each name is the header of its row."""
        head = f"{CELL};font-weight:600;white-space:nowrap"
        rows = (
            tag("tr", tag("th", name, scope="row", style=head), tag("td", value, style=CELL))
            for name, value in self.rows
        )
        return tag("table", tag("caption", self.title, style=TITLE), tag("tbody", *rows), style=TABLE)


def facts(title: str, rows: Mapping[str, object] | Iterable[tuple[str, object]]) -> Facts:
    """A card of facts, from a mapping or from pairs."""
    pairs = rows.items() if isinstance(rows, Mapping) else rows
    return Facts(clean(title), tuple((clean(name), clean(value)) for name, value in pairs))
