"""Where each state of a machine stands: the way that goes well is a spine, and all else stands left or right of it.

A layered drawing in the manner of Sugiyama, with what is known of a flow put in: the spine is the way from the first
state that uses the most moves that the document states. Left of it stands what leads back to it further down, such as
the calls of a deprecated way; right of it stands where an attempt ends. A state stands below all that lead to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.machine import Machine, Row

    Ways = Mapping[str, tuple["Move", ...]]


@unique
class Column(StrEnum):
    """The three columns, from left to right."""

    BRANCH = "branch"
    SPINE = "spine"
    END = "end"


@unique
class Origin(StrEnum):
    """Where a move is known from; each is drawn in its own form."""

    SPEC = "stated"
    OURS = "ours"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True)
class Place:
    """A column, and a row from the top, counted from 0."""

    column: Column
    row: int


@dataclass(frozen=True, slots=True)
class Move:
    """Every way of getting from one state directly to another, as one arrow.

    Attributes:
        source: the state that is left.
        target: the state that is reached.
        rows: the rows of the table that do so.
    """

    source: str
    target: str
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """What it is called in a picture: `from>to`."""
        return f"{self.source}>{self.target}"

    @property
    def events(self) -> tuple[str, ...]:
        """The labels of its events, each once."""
        return tuple(dict.fromkeys(row.event.says for row in self.rows))

    @property
    def origin(self) -> Origin:
        """Stated by the document if one of its rows is, and deprecated if all of them are."""
        if all(row.deprecated for row in self.rows):
            return Origin.DEPRECATED
        return Origin.SPEC if any(row.source == "spec" for row in self.rows) else Origin.OURS


def moves(machine: Machine) -> tuple[Move, ...]:
    """The moves of a machine in the order of its table, each pair of states once; what is beside them is left out."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in machine.rows:
        if not row.beside:
            found.setdefault((str(row.state), str(row.to)), []).append(row)
    return tuple(Move(source, target, tuple(rows)) for (source, target), rows in found.items())


def places(machine: Machine, each: tuple[Move, ...]) -> Mapping[str, Place]:
    """Where each state stands; no two at the same place."""
    ways = {str(state): tuple(move for move in each if move.source == state) for state in machine.states}
    order = _Order(spine(str(machine.initial), ways), ways)
    found: dict[str, Place] = {}
    for state in sorted(ways, key=order.key):
        above = [found[move.source].row for move in each if move.target == state and order.forward(move)]
        column, row = order.column(state), max(above, default=-1) + 1
        while Place(column, row) in found.values():
            row += 1
        found[state] = Place(column, row)
    return found


def spine(initial: str, ways: Ways) -> tuple[str, ...]:
    """The way from the first state with the most moves that the document states, and the fewest others.

    Deprecated moves are left out. The first of several that are equally good counts, in the order of the table.
    """
    return max(_walks((initial,), (0, 0), ways), key=lambda walk: walk[1])[0]


def _walks(
    walked: tuple[str, ...], worth: tuple[int, int], ways: Ways
) -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
    yield walked, worth
    for move in ways[walked[-1]]:
        if move.target not in walked and move.origin is not Origin.DEPRECATED:
            stated = move.origin is Origin.SPEC
            yield from _walks((*walked, move.target), (worth[0] + stated, worth[1] - (not stated)), ways)


class _Order:
    """In which order the states come, so that a move is either onward or back."""

    def __init__(self, spine: tuple[str, ...], ways: Ways) -> None:
        self._spine = {state: number for number, state in enumerate(spine)}
        self._ways = ways
        self._left = {state: self._leaves(state) for state in ways if state not in self._spine}

    def column(self, state: str) -> Column:
        """A state beside the spine is a branch if it leads to the spine further down than it left it."""
        if state in self._spine:
            return Column.SPINE
        rejoins = max((self._spine[one] for one in self._reached(state) if one in self._spine), default=-1)
        return Column.BRANCH if rejoins > max(self._left[state]) else Column.END

    def key(self, state: str) -> tuple[int, int, int]:
        """A state beside the spine comes after the last state of the spine that leads to it."""
        if state in self._spine:
            return self._spine[state], 0, 0
        ends = self.column(state) is Column.END
        return max(self._left[state]), 1 + ends, self._left[state][max(self._left[state])]

    def forward(self, move: Move) -> bool:
        """Whether a move leads onward."""
        return self.key(move.source) < self.key(move.target)

    def _leaves(self, state: str) -> dict[int, int]:
        """The states of the spine that lead here without another of them in between, and how many steps that takes."""
        return {number: steps[state] for one, number in self._spine.items() if state in (steps := self._reached(one))}

    def _reached(self, start: str) -> dict[str, int]:
        """The states that can be reached past states beside the spine alone, and in how many steps."""
        found, edge = {start: 0}, [start]
        for one in edge:
            onward = self._ways[one] if one == start or one not in self._spine else ()
            for move in onward:
                if move.target not in found:
                    found[move.target] = found[one] + 1
                    edge.append(move.target)
        return found
