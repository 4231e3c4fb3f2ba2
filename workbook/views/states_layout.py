"""The layout of a machine's picture: every box, arrow and word with its place in pixels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.views.states_grid import ASIDE, BOX, GAP, LEFT, LIFT, Grid
from workbook.views.states_places import Column
from workbook.views.states_routes import Way, sketch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.flows.machine import Machine
    from workbook.views.states_grid import Box
    from workbook.views.states_places import Move
    from workbook.views.states_routes import Route
    from workbook.views.states_words import Label

    Points = tuple[tuple[int, int], ...]

BADGE = 26
"""How much is kept free beside a box for the number of a step."""


@dataclass(frozen=True, slots=True)
class Words:
    """Lines of text; `y` is the base of the last one, and `anchor` says which end of each stands at `x`.

    Attributes:
        moves: the names of the moves that they are about.
    """

    lines: tuple[Label, ...]
    x: int
    y: int
    anchor: str = "start"
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Badge:
    """Where the number of a step belongs; `anchor` says which end of it stands at `x`."""

    x: int
    y: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move's arrow.

    Attributes:
        points: the corners that it goes through; it ends in a head.
        badge: the place for its number.
        words: its own label; None where its lane has one.
    """

    move: Move
    points: Points
    badge: Badge
    words: Words | None


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole picture.

    Attributes:
        boxes: one for each state.
        arrows: one for each move.
        signs: the labels of lanes that several moves share.
        height: where it ends.
    """

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    signs: tuple[Words, ...]
    height: int


def layout(machine: Machine) -> Layout:
    """The picture of a machine, the same on every run."""
    grid = Grid(sketch(machine))
    arrows = tuple(_owned(_ARROWS[route.way](grid, route)) for route in grid.drawn.routes)
    return Layout(tuple(grid.boxes.values()), arrows, tuple(_signs(grid)), grid.gaps[-1] + 10)


def _owned(arrow: Arrow) -> Arrow:
    """The arrow, its words marked as its own."""
    return replace(arrow, words=arrow.words and replace(arrow.words, moves=(arrow.move.name,)))


def _down(grid: Grid, route: Route) -> Arrow:
    """An arrow to the next box below; its label stands right of it, or left of it among the ends."""
    source, target = grid.boxes[route.move.source], grid.boxes[route.move.target]
    x, row = source.middle, grid.row(route)
    points = ((x, source.end), (x, target.y))
    if source.column is Column.END:
        y = _line(grid, route)
        return Arrow(route.move, points, Badge(x + 4, y - LIFT, "start"), Words(route.words, x - 10, y, "end"))
    y = grid.gaps[row] + grid.space(row) - GAP // 2
    return Arrow(route.move, points, Badge(x - 4, y, "end"), Words(route.words, x + 10, y + LIFT))


def _loop(grid: Grid, route: Route) -> Arrow:
    """An arrow that leaves a box at its lower edge and comes back there."""
    box = grid.boxes[route.move.source]
    x, y, low = box.x + 16, box.end, box.end + 11
    ends = box.column is Column.END
    words = Words(route.words, x + 34, y + 14) if ends else Words(route.words, x - 22, y + 14, "end")
    return Arrow(route.move, ((x, y), (x, low), (x + 26, low), (x + 26, y)), Badge(x + 13, low, "middle"), words)


def _lane(grid: Grid, route: Route) -> Arrow:
    """An arrow through one channel."""
    (x, y), end = grid.begins(route), grid.ends(route.move.target, route.into, route.lane)
    lane = grid.lanes[route.lane]
    words = _beside(route.words, x, y, route.out, BADGE) if route.words else None
    return Arrow(route.move, ((x, y), (lane, y), (lane, end[1]), end), _badge(grid, route), words)


def _across(grid: Grid, route: Route) -> Arrow:
    """An arrow that crosses the spine below its row, from one channel to another."""
    (x, y), end = grid.begins(route), grid.ends(route.move.target, route.into, route.lane)
    inner, outer, line = grid.lanes[route.inner], grid.lanes[route.lane], _line(grid, route)
    points = ((x, y), (inner, y), (inner, line), (outer, line), (outer, end[1]), end)
    words = Words(route.words, LEFT[Column.SPINE] + BOX // 2 + 10, line - LIFT)
    return Arrow(route.move, points, _badge(grid, route), words)


_ARROWS = {Way.DOWN: _down, Way.LOOP: _loop, Way.LANE: _lane, Way.ACROSS: _across}


def _line(grid: Grid, route: Route) -> int:
    """The y of a move's own line below its row."""
    row = grid.row(route)
    return grid.gaps[row] + ASIDE * (grid.below(row).index(route) + 1) - 2


def _badge(grid: Grid, route: Route) -> Badge:
    x, y = grid.begins(route)
    return Badge(x + 4, y, "start") if route.out == "east" else Badge(x - 4, y, "end")


def _signs(grid: Grid) -> Iterator[Words]:
    for lane, words in grid.drawn.signs.items():
        shared = [route for route in grid.drawn.routes if route.into and route.lane == lane]
        side, moves = shared[0].into, tuple(route.move.name for route in shared)
        yield replace(_beside(words, *grid.ends(lane[1], side, lane), side, 14), moves=moves)


def _beside(lines: tuple[Label, ...], x: int, y: int, side: str, space: int) -> Words:
    """Words over an arrow that meets a box at `x`, `y`, with some space between them and the box."""
    return Words(lines, x + space, y - LIFT) if side == "east" else Words(lines, x - space, y - LIFT, "end")
