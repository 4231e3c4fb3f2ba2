"""How each move of a machine is drawn: through which channel its arrow runs, and which words stand beside it.

Arrows run in channels between the columns, and all that lead to the same state share one lane there. So an arrow never
crosses a box, and ten ways to begin again are one line with ten beginnings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.views.states_places import Column, moves, places
from workbook.views.states_words import Label, counted, joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from workbook.flows.machine import Machine
    from workbook.views.states_places import Move, Place

    Lane = tuple["Channel", str, str]
    Places = Mapping[str, Place]


@unique
class Channel(StrEnum):
    """Where arrows run up and down, from left to right."""

    WEST = "left of everything"
    INNER = "between branch and spine"
    EAST = "between spine and ends"
    RIM = "right of everything"


@unique
class Way(StrEnum):
    """The form of an arrow."""

    DOWN = "straight down"
    LOOP = "back to its own state"
    LANE = "through one channel"
    ACROSS = "through two channels"


@dataclass(frozen=True, slots=True)
class Route:
    """How one move is drawn.

    Attributes:
        way: its form.
        out: the side of the box at which it leaves, `west` or `east`; empty where it runs through no channel.
        into: the side at which it arrives.
        channel: where it runs up or down, the last one where there are two.
        words: the lines of its own label; empty where its lane has one.
    """

    move: Move
    way: Way
    out: str = ""
    into: str = ""
    channel: Channel = Channel.WEST
    words: tuple[Label, ...] = ()

    @property
    def lane(self) -> Lane:
        """What it shares with all others that run in the same channel to the same state."""
        return self.channel, self.move.target, ""

    @property
    def inner(self) -> Lane:
        """Its own lane in the inner channel, where it runs through two."""
        return Channel.INNER, self.move.target, self.move.source


@dataclass(frozen=True, slots=True)
class Sketch:
    """Everything about a picture but its measures.

    Attributes:
        places: each state's place.
        routes: each move's route, in the order of the table.
        signs: the labels that belong to a whole lane, and stand at its end.
    """

    places: Places
    routes: tuple[Route, ...]
    signs: Mapping[Lane, tuple[Label, ...]]


C, K = Column, Channel
SIDES: Mapping[tuple[Column, Column], tuple[str, str, Channel]] = {
    (C.SPINE, C.END): ("east", "west", K.EAST),
    (C.SPINE, C.BRANCH): ("west", "east", K.INNER),
    (C.SPINE, C.SPINE): ("west", "west", K.WEST),
    (C.BRANCH, C.SPINE): ("east", "west", K.INNER),
    (C.BRANCH, C.BRANCH): ("west", "west", K.WEST),
    (C.BRANCH, C.END): ("east", "west", K.EAST),
    (C.END, C.SPINE): ("east", "east", K.RIM),
    (C.END, C.END): ("east", "east", K.RIM),
}
"""At which sides an arrow between two columns leaves and arrives, and where it runs; no end leads to a branch."""


def sketch(machine: Machine) -> Sketch:
    """Where everything stands and runs."""
    each = moves(machine)
    where = places(machine, each)
    routes = _around([_route(move, where) for move in each], where)
    signs = dict(_signs(routes))
    return Sketch(where, tuple(_worded(route, signs) for route in routes), signs)


def _route(move: Move, where: Places) -> Route:
    source, target = where[move.source], where[move.target]
    if source == target:
        return Route(move, Way.LOOP)
    if source.column is target.column and source.row < target.row and not _between(source, target, where):
        return Route(move, Way.DOWN)
    across = (source.column, target.column) == (C.BRANCH, C.END)
    return Route(move, Way.ACROSS if across else Way.LANE, *SIDES[source.column, target.column])


def _between(source: Place, target: Place, where: Places) -> bool:
    rows = range(source.row + 1, target.row)
    return any(place.column is source.column and place.row in rows for place in where.values())


def _around(routes: list[Route], where: Places) -> list[Route]:
    """A lane left of the spine runs right of the branch where a box of the branch stands in its way."""
    taken = {place.row for place in where.values() if place.column is C.BRANCH}
    outer = [route for route in routes if route.way is Way.LANE and route.channel is K.WEST]
    rows = [(route.lane, where[state].row) for route in outer for state in (route.move.source, route.move.target)]
    blocked = {lane for lane, row in rows if row in taken}
    return [replace(one, channel=K.INNER) if one in outer and one.lane in blocked else one for one in routes]


def _signs(routes: Iterable[Route]) -> Iterator[tuple[Lane, tuple[Label, ...]]]:
    """The labels of lanes; a lane that begins once and has room for words there bears its label where it begins."""
    lanes: dict[Lane, list[Route]] = {}
    for route in routes:
        if route.way is Way.LANE and _to_spine(route):
            lanes.setdefault(route.lane, []).append(route)
    for lane, shared in lanes.items():
        if len(shared) > 1 or shared[0].out == "east":
            yield lane, listed((event for route in shared for event in route.move.events), shared[0].into)


def _to_spine(route: Route) -> bool:
    return route.channel is K.RIM or (route.into == "west" and route.channel is not K.EAST)


def _worded(route: Route, signs: Mapping[Lane, tuple[Label, ...]]) -> Route:
    if route.way is Way.LANE and route.lane in signs:
        return route
    events = route.move.events
    match route.way:
        case Way.LANE:
            words = listed(events, route.out)
        case Way.LOOP:
            words = (counted(events),)
        case _:
            words = (joined(events),)
    return replace(route, words=words)
