"""The grid of a machine's picture: where in pixels each box stands, each arrow meets a box, and each lane runs.

The measures are found in this order: how many arrows meet a side of a box says how high the box is, the boxes of a row
say how high the row is, and the rows say where the lanes between the columns have to reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from workbook.views.states_places import Column
from workbook.views.states_routes import Channel, Way

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.views.states_routes import Lane, Route, Sketch

    Span = tuple[float, float]

WIDTH = 900
TOP = 62
"""Where the first box begins: the title stands above it."""
BOX, LOWEST = 168, 32
"""How wide every box is, and how high at least."""
LEFT: Mapping[Column, int] = {Column.BRANCH: 52, Column.SPINE: 252, Column.END: 678}
"""Where each column's boxes begin."""
LANES: Mapping[Channel, tuple[int, int]] = {
    Channel.WEST: (40, -9),
    Channel.INNER: (244, -8),
    Channel.EAST: (668, -8),
    Channel.RIM: (866, 8),
}
"""Where each channel's first lane runs, and how far the next one is from it."""
LEADING, LIFT = 14, 4
"""From one line of a label to the next, and from the last one to its arrow."""
GAP, ASIDE = 28, 18
"""How much stands between two rows: the arrow down, and more for each label or arrow that needs a line there."""
SHIFT = 6
"""How far a box of the branch stands below the spine's, so that arrows from both do not run over each other."""
HANG = 20
"""How much an arrow back to its own state takes below a box."""


@dataclass(frozen=True, slots=True)
class Box:
    """A state's box."""

    state: str
    column: Column
    x: int
    y: int
    height: int

    @property
    def middle(self) -> int:
        """The x of its middle."""
        return self.x + BOX // 2

    @property
    def end(self) -> int:
        """The y of its lower edge."""
        return self.y + self.height


class Grid:
    """The measures of one sketch.

    Attributes:
        boxes: each state's box.
        gaps: where the space below each row begins.
        lanes: the x of each lane.
    """

    def __init__(self, drawn: Sketch) -> None:
        self.drawn = drawn
        self._slots = {(state, side): self._slotted(state, side) for state in drawn.places for side in ("west", "east")}
        self.boxes: dict[str, Box] = {}
        self.gaps: list[int] = []
        self._stack()
        self.lanes = self._spread()

    def begins(self, route: Route) -> tuple[int, int]:
        """Where an arrow through a channel leaves its box."""
        return self._edge(route.move.source, route.out, route.move.name)

    def ends(self, state: str, side: str, lane: Lane) -> tuple[int, int]:
        """Where a lane arrives at a box."""
        return self._edge(state, side, lane)

    def row(self, route: Route) -> int:
        """The row in which a move begins."""
        return self.drawn.places[route.move.source].row

    def below(self, row: int) -> tuple[Route, ...]:
        """The moves that have a line of their own below this row, from the top down."""
        return tuple(route for route in self.drawn.routes if self.row(route) == row and self._aside(route))

    def space(self, row: int) -> int:
        """How much there is below a row."""
        return GAP + ASIDE * len(self.below(row))

    def _aside(self, route: Route) -> bool:
        ends = self.drawn.places[route.move.source].column is Column.END
        return route.way is Way.ACROSS or (route.way is Way.DOWN and ends)

    def _edge(self, state: str, side: str, key: object) -> tuple[int, int]:
        box = self.boxes[state]
        return box.x + BOX * (side == "east"), box.y + self._slots[state, side][key]

    def _slotted(self, state: str, side: str) -> dict[object, int]:
        """How far below a box's upper edge each arrow meets this side: those that arrive above those that leave."""
        found: dict[object, int] = {}
        y = LIFT
        for key, lines in self._met(state, side).items():
            y += max(12, LEADING * lines + 6)
            found[key] = y - LIFT
        return found

    def _met(self, state: str, side: str) -> dict[object, int]:
        """The arrows that meet this side, and how many lines of words stand over each."""
        met: dict[object, int] = {}
        for route in self.drawn.routes:
            if (route.move.target, route.into) == (state, side):
                met[route.lane] = len(self.drawn.signs.get(route.lane, ()))
        for route in self.drawn.routes:
            if (route.move.source, route.out) == (state, side):
                met[route.move.name] = len(route.words) if route.way is Way.LANE else 0
        return met

    def _stack(self) -> None:
        """Give every box its place, row by row."""
        y = TOP
        for row in range(max(place.row for place in self.drawn.places.values()) + 1):
            self.gaps.append(self._placed(row, y))
            y = self.gaps[row] + self.space(row)

    def _placed(self, row: int, y: int) -> int:
        """Place the boxes of one row; returns where it ends."""
        states = [state for state, place in self.drawn.places.items() if place.row == row]
        for state in states:
            column = self.drawn.places[state].column
            top = y + SHIFT * (column is Column.BRANCH)
            self.boxes[state] = Box(state, column, LEFT[column], top, self._tall(state))
        return max([y, *(self.boxes[state].end + HANG * self._hangs(state) for state in states)])

    def _tall(self, state: str) -> int:
        return max([LOWEST, *(y + 2 * LIFT for side in ("west", "east") for y in self._slots[state, side].values())])

    def _hangs(self, state: str) -> bool:
        return any(route.way is Way.LOOP and route.move.source == state for route in self.drawn.routes)

    def _spread(self) -> dict[Lane, int]:
        """A lane for each that needs one: short ones beside the boxes, and none where another runs."""
        spans = self._spans()
        found: dict[Lane, int] = {}
        for lane in sorted(spans, key=lambda one: (spans[one][1] - spans[one][0], spans[one])):
            taken = {x for one, x in found.items() if one[0] is lane[0] and _meet(spans[one], spans[lane])}
            first, step = LANES[lane[0]]
            found[lane] = next(x for x in count(first, step) if x not in taken)
        return found

    def _spans(self) -> dict[Lane, Span]:
        """From which row to which each lane runs."""
        rows: dict[Lane, list[float]] = {}
        for lane, row in self._stops():
            rows.setdefault(lane, []).append(row)
        return {lane: (min(each), max(each)) for lane, each in rows.items()}

    def _stops(self) -> Iterator[tuple[Lane, float]]:
        for route in self.drawn.routes:
            if route.way in (Way.LANE, Way.ACROSS):
                below = 0.5 * (route.way is Way.ACROSS)
                yield route.lane, self.row(route) + below
                yield route.lane, self.drawn.places[route.move.target].row
            if route.way is Way.ACROSS:
                yield route.inner, self.row(route)
                yield route.inner, self.row(route) + 0.5


def _meet(one: Span, other: Span) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]
