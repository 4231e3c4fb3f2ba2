"""A migration, read off two tables: which rows go, which come, which stay but are deprecated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.flows.drawing import markdown_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.flows.machine import Machine, Row


@dataclass(frozen=True, slots=True)
class Difference:
    """What changes from one machine to another (A-MIG-1).

    Attributes:
        removed: rows that only the first has.
        added: rows that only the second has.
        deprecated: rows of the second that it advises against and the first did not.
    """

    removed: tuple[Row, ...]
    added: tuple[Row, ...]
    deprecated: tuple[Row, ...]

    def __str__(self) -> str:
        return "\n".join(f"{change:<10} {row.event.says} in state {row.state.value!r}" for change, row in self)

    def __iter__(self) -> Iterator[tuple[str, Row]]:
        """Each changed row with the word for its change."""
        for change in ("removed", "deprecated", "added"):
            yield from ((change, row) for row in getattr(self, change))

    def _repr_markdown_(self) -> str:
        """The difference as a Markdown table, as a notebook shows it."""
        head = "| change | in state | event | next state | then | rules |\n|---|---|---|---|---|---|"
        return "\n".join([head, *(f"| {change} {markdown_row(row)}" for change, row in self)])

    __repr__ = __str__


def difference(before: Machine, after: Machine) -> Difference:
    """The rows that differ between two machines, in the tables' own order."""
    old = {(r.state, r.event): r for r in before.rows}
    new = {(r.state, r.event): r for r in after.rows}
    return Difference(
        removed=tuple(r for key, r in old.items() if key not in new),
        added=tuple(r for key, r in new.items() if key not in old),
        deprecated=tuple(r for key, r in new.items() if r.deprecated and key in old and not old[key].deprecated),
    )
