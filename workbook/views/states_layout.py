"""The layout of a machine's picture: every box, arrow and word with its place in pixels.

The way to success is a column from top to bottom, the spine. Left of it is a branch: the deprecated calls, which
lead back to the spine further down. Right of it are the ends of an attempt. `GRIDS` says where each state is.

Arrows run up and down in four channels between these columns, and all arrows to the same state share one lane of a
channel. So an arrow never crosses a box, and ten ways to begin again are one line with ten beginnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum, unique
from functools import lru_cache
from itertools import count

from workbook.flows.machine import Machine, Row
from workbook.views.table import cut, width, wrap

GRIDS = (
    """
    |idle
    |fetching sdkInput
    |has sdkInput
    |creating
    |created            |unavailable
    |checking
    |button shown       |not offered
    |tapped
    |making sdkOutput
    |posting sdkOutput
    |has OPC data
    |wallet provisions
    |added              |failed
    |asking once more
    |in the wallet      |added, yet still offered
    """,
    """
                     |idle
                     |fetching sdkInput
                     |has sdkInput
                     |creating
                     |created            |unavailable
                     |checking
                     |button shown       |not offered
                     |tapped
    making sdkOutput |SDK orchestrates
    posting sdkOutput|fetching OPC data
    has OPC data     |
                     |wallet provisions
                     |added              |failed
                     |asking once more
                     |in the wallet      |added, yet still offered
    """,
    """
    |idle
    |fetching sdkInput
    |has sdkInput
    |making the service
    |has the service      |unavailable
    |looking for a watch
    |knows about the watch
    |checking
    |button shown
    |tapped
    |wallet sheet is up
    |posting sdkOutput
    |wallet provisions    |delegate was too late
    |added                |failed
    |asking once more
    |in the wallet        |added, yet still offered
    """,
    """
    |list closed
    |asking for the status
    |app listed             |app not listed
    |asking for pass entries
    |cards offered          |no card offered
    |authenticating
    |asking for the request |not authenticated
    |delegate provisions
    |adding the card
    |added                  |not added
    """,
)
"""Branch, spine and end, row by row: platform A before 0.4.0 and from it, platform B, and its extension.

A machine is drawn on the first grid that has all its states; a row of which it has no state is left out.
"""


@unique
class Column(StrEnum):
    """The three columns, from left to right."""

    BRANCH = "branch"
    SPINE = "spine"
    END = "end"


@dataclass(frozen=True, slots=True)
class Place:
    """A column, and a row counted from 0 at the top."""

    column: Column
    row: int


def places(machine: Machine) -> dict[str, Place]:
    """The place of each state of a machine.

    Raises:
        LookupError: no grid has all its states.
    """
    states = set(map(str, machine.states))
    for grid in GRIDS:
        rows = [[cell.strip() for cell in line.split("|")] for line in grid.strip().splitlines()]
        if states <= {state for row in rows for state in row}:
            used = [row for row in rows if states.intersection(row)]
            return {
                state: Place(column, number)
                for number, row in enumerate(used)
                for column, state in zip(Column, row, strict=False)
                if state in states
            }
    message = f"No grid in {__name__}.GRIDS has all states of {machine.name}: {', '.join(sorted(states))}."
    raise LookupError(message)


@unique
class MoveOrigin(StrEnum):
    """What a move rests on; the picture draws each in its own form."""

    SPEC = "spec"
    OURS = "ours"
    DEPRECATED = "deprecated"


@dataclass(frozen=True, slots=True)
class Move:
    """All rows of a table that lead from one state directly to another: one arrow.

    Attributes:
        source: the state before.
        target: the state after.
        rows: the rows of the table.
    """

    source: str
    target: str
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """The name in a picture: `from>to`."""
        return f"{self.source}>{self.target}"

    @property
    def events(self) -> tuple[str, ...]:
        """The labels of its events, each once."""
        return tuple(dict.fromkeys(row.event.says for row in self.rows))

    @property
    def origin(self) -> MoveOrigin:
        """Stated by the document if one of its rows is, and deprecated if all of them are."""
        if all(row.deprecated for row in self.rows):
            return MoveOrigin.DEPRECATED
        return MoveOrigin.SPEC if any(row.source == "spec" for row in self.rows) else MoveOrigin.OURS


def moves(machine: Machine) -> tuple[Move, ...]:
    """The moves of a machine in the order of its table, without the rows that are `beside` the flow."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in machine.rows:
        if not row.beside:
            found.setdefault((str(row.state), str(row.to)), []).append(row)
    return tuple(Move(source, target, tuple(rows)) for (source, target), rows in found.items())


ROOM = {"west": 28, "east": 34}
"""How many characters of a label fit in a line left or right of a box."""
LONG = 64
"""How many fit beside an arrow down."""


@dataclass(frozen=True, slots=True)
class Label:
    """One line of words beside an arrow.

    Attributes:
        text: the words.
        events: the labels of the events that they name; a picture marks the one that happened.
        begins: False for the continuation of the line above.
    """

    text: str
    events: tuple[str, ...]
    begins: bool = True

    @property
    def whole(self) -> bool:
        """Whether the line names each of its events."""
        return self.text in (" or ".join(self.events), " or ".join(map(_short, self.events)))

    @property
    def named(self) -> tuple[str, ...]:
        """Each of its events as the line names it, or as it would if there were room."""
        if self.text == " or ".join(self.events):
            return self.events
        short = tuple(map(_short, self.events))
        return short if self.whole else tuple(name if " (" in name else name.partition("(")[0] for name in short)


def listed(events: Iterable[str], side: str) -> Iterator[Label]:
    """A line for each event, or several for a long one, which may break before a call's parameters."""
    names, room = list(dict.fromkeys(events)), ROOM[side]
    fits = all(width(name) <= room for name in names)
    for event in names:
        text = event if fits else _short(event)
        lines = wrap(text if " (" in text else text.replace("(", " ("), room)
        for number, line in enumerate(lines):
            yield Label(line if " (" in text else line.replace(" (", "("), (event,), begins=not number)


def joined(events: tuple[str, ...]) -> Label:
    """All events in one line: shortened where they are too long for it, or counted."""
    for text in (" or ".join(events), " or ".join(map(_short, events))):
        if width(text) <= LONG:
            return Label(text, events)
    return Label(f"{len(events)} events" if len(events) > 1 else cut(_short(events[0]), LONG), events)


def counted(events: tuple[str, ...]) -> Label:
    """The number of events, where there is no room for their names."""
    return Label(f"{len(events)} events", events) if len(events) > 1 else joined(events)


def _short(event: str) -> str:
    """An event without the namespace before its name."""
    name, bracket, rest = event.partition("(")
    return name.rpartition(".")[2] + bracket + rest


WIDTH = 900
TOP = 62
"""Where the first box begins: the title is above it."""
BOX, LOWEST = 168, 32
"""The width of every box, and the least height."""
LEFT = {Column.BRANCH: 52, Column.SPINE: 252, Column.END: 678}
"""Where each column's boxes begin."""
LANES = {"west": (40, -9), "inner": (244, -8), "east": (668, -8), "rim": (866, 8)}
"""Where each channel's first lane is, and the distance to the next: left of everything, between the columns, right."""
LEADING, LIFT = 14, 4
"""The distance between two lines of a label, and between the last one and its arrow."""
GAP, ASIDE = 28, 18
"""The space between two rows, and how much more each arrow that runs across there needs."""
SHIFT = 6
"""A branch's boxes are this much lower than the spine's, so that arrows from both do not coincide."""
HANG = 20
"""The space that an arrow back to its own state takes below a box."""
BADGE = 26
"""The space beside a box for the number of a step."""


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


@dataclass(frozen=True, slots=True)
class Words:
    """Lines of text; `y` is the base of the last one, and `anchor` says which end of each is at `x`.

    Attributes:
        moves: the names of the moves that the words belong to.
    """

    lines: tuple[Label, ...]
    x: int
    y: int
    anchor: str = "start"
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Badge:
    """The place for the number of a step; `anchor` says which end of it is at `x`."""

    x: int
    y: int
    anchor: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """A move's arrow.

    Attributes:
        points: its corners, from the source to the head.
        badge: the place for its number.
        words: its own label; None where its lane has one.
    """

    move: Move
    points: tuple[tuple[int, int], ...]
    badge: Badge
    words: Words | None


Lane = tuple[str, str, str]
"""A channel, the state that the lane leads to, and the state it comes from where it is not shared."""


@dataclass(frozen=True, slots=True)
class Route:
    """How one move is drawn.

    Attributes:
        shape: `down`, `loop`, `lane` through one channel, or `across` the spine through two.
        out: the side of the box where it leaves, `west` or `east`; empty for `down` and `loop`.
        into: the side where it arrives.
        channel: where it runs up or down, the last one of two.
        words: its own label; empty where its lane has one.
    """

    move: Move
    shape: str
    out: str = ""
    into: str = ""
    channel: str = ""
    words: tuple[Label, ...] = ()

    @property
    def lane(self) -> Lane:
        """Shared with all others that run in the same channel to the same state."""
        return self.channel, self.move.target, ""

    @property
    def inner(self) -> Lane:
        """Its own lane left of the spine, where it runs through two channels."""
        return "inner", self.move.target, self.move.source


ROUTES = {
    (Column.BRANCH, Column.END): ("across", "east", "west", "east"),
    (Column.BRANCH, Column.SPINE): ("lane", "east", "west", "inner"),
    (Column.SPINE, Column.BRANCH): ("lane", "west", "east", "inner"),
    (Column.SPINE, Column.END): ("lane", "east", "west", "east"),
    (Column.END, Column.SPINE): ("lane", "east", "east", "rim"),
    (Column.END, Column.END): ("lane", "east", "east", "rim"),
}
"""The shape, the sides and the channel of an arrow between two columns; all others run left of everything."""


@lru_cache(maxsize=32)
def laid_out(machine: Machine) -> Layout:
    """The layout of a machine, made once: there are a few, and each is drawn for every run."""
    return Layout(machine)


class Layout:
    """The whole picture of a machine, the same on every run.

    Attributes:
        boxes: each state's box.
        arrows: one for each move.
        signs: the labels of lanes that several moves share.
        height: where the drawing ends.
    """

    def __init__(self, machine: Machine) -> None:
        # The order matters: the places decide the routes, the routes which words an arrow has, the words how high each
        # box is, the boxes where the rows are, and the rows how far the lanes between the columns reach.
        self._places = places(machine)
        routes = [self._route(move) for move in moves(machine)]
        branches = {place.row for place in self._places.values() if place.column is Column.BRANCH}
        blocked = {
            route.lane
            for route in routes
            if route.channel == "west" and not branches.isdisjoint((self._row(route), self._row(route, target=True)))
        }  # a box of the branch is in the way: the lane runs right of it
        routes = [replace(route, channel="inner") if route.lane in blocked else route for route in routes]
        self._signs = dict(self._labels_of_lanes(routes))
        self._routes = tuple(self._worded(route) for route in routes)
        self._slots = {(state, side): self._meeting(state, side) for state in self._places for side in ("west", "east")}
        self.boxes: dict[str, Box] = {}
        self._gaps: list[int] = []
        self._stack()
        self._lanes = self._spread()
        self.arrows = tuple(map(self._arrow, self._routes))
        self.signs = tuple(self._beside_lanes())
        self.height = self._gaps[-1] + 10

    def _row(self, route: Route, *, target: bool = False) -> int:
        return self._places[route.move.target if target else route.move.source].row

    def _route(self, move: Move) -> Route:
        source, target = self._places[move.source], self._places[move.target]
        if source == target:
            return Route(move, "loop")
        between = {Place(source.column, row) for row in range(source.row + 1, target.row)}
        below = source.column is target.column and source.row < target.row
        if below and between.isdisjoint(self._places.values()):
            return Route(move, "down")
        return Route(move, *ROUTES.get((source.column, target.column), ("lane", "west", "west", "west")))

    def _labels_of_lanes(self, routes: Iterable[Route]) -> Iterator[tuple[Lane, tuple[Label, ...]]]:
        """A lane to the spine has its label at its end, unless a single arrow has room for it at its beginning."""
        lanes: dict[Lane, list[Route]] = {}
        for route in routes:
            if route.shape == "lane" and self._places[route.move.target].column is Column.SPINE:
                lanes.setdefault(route.lane, []).append(route)
        for lane, shared in lanes.items():
            if len(shared) > 1 or shared[0].out == "east":
                yield lane, tuple(listed((event for route in shared for event in route.move.events), shared[0].into))

    def _worded(self, route: Route) -> Route:
        events = route.move.events
        match route.shape:
            case "lane":
                return route if route.lane in self._signs else replace(route, words=tuple(listed(events, route.out)))
            case "loop":
                return replace(route, words=(counted(events),))
            case _:
                return replace(route, words=(joined(events),))

    def _meeting(self, state: str, side: str) -> dict[object, int]:
        """How far below its upper edge each arrow meets this side of a box: arrivals first, then departures."""
        lines: dict[object, int] = {}
        for route in self._routes:
            if (route.move.target, route.into) == (state, side):
                lines[route.lane] = len(self._signs.get(route.lane, ()))
        for route in self._routes:
            if (route.move.source, route.out) == (state, side):
                lines[route.move.name] = len(route.words) if route.shape == "lane" else 0
        # Words are above their arrow, so an arrow with many lines of words begins lower on its box.
        found, y = {}, 0
        for arrow, number in lines.items():
            y += max(12, LEADING * number + 6)
            found[arrow] = y
        return found

    def _stack(self) -> None:
        """Give every box its place, row by row: a box is as high as the words of its arrows need."""
        loops = {route.move.source for route in self._routes if route.shape == "loop"}
        y = TOP
        for row in range(max(place.row for place in self._places.values()) + 1):
            low = y
            for state, place in self._places.items():
                if place.row == row:
                    meets = (*self._slots[state, "west"].values(), *self._slots[state, "east"].values())
                    top = y + SHIFT * (place.column is Column.BRANCH)
                    tall = max(LOWEST, max(meets, default=0) + 2 * LIFT)
                    self.boxes[state] = Box(state, place.column, LEFT[place.column], top, tall)
                    low = max(low, top + tall + HANG * (state in loops))
            self._gaps.append(low)
            y = low + self._space(row)

    def _below(self, row: int) -> list[Route]:
        """The moves that have a line of their own below this row, from the top down."""
        return [
            route
            for route in self._routes
            if self._row(route) == row
            and (
                route.shape == "across"
                or (route.shape == "down" and self._places[route.move.source].column is Column.END)
            )
        ]

    def _space(self, row: int) -> int:
        return GAP + ASIDE * len(self._below(row))

    def _line(self, route: Route) -> int:
        """The y of a move's own line below its row."""
        row = self._row(route)
        return self._gaps[row] + ASIDE * (self._below(row).index(route) + 1) - 2

    def _spread(self) -> dict[Lane, int]:
        """The x of each lane: short lanes are next to the boxes, and no two run over each other."""
        # Each lane is an interval of rows, and lanes of one channel are coloured greedily as an interval graph: a lane
        # takes the first x that no overlapping lane has. Short ones come first, so long ones run outside them and are
        # crossed less. A half row is the line below a row on which an arrow crosses the spine.
        rows: dict[Lane, list[float]] = {}
        for route in self._routes:
            across = route.shape == "across"
            if route.out:
                rows.setdefault(route.lane, []).extend((self._row(route) + 0.5 * across, self._row(route, target=True)))
            if across:
                rows.setdefault(route.inner, []).extend((self._row(route), self._row(route) + 0.5))
        spans = {lane: (min(ends), max(ends)) for lane, ends in rows.items()}
        found: dict[Lane, int] = {}
        for lane, (top, end) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[1])):
            taken = {
                x
                for other, x in found.items()
                if other[0] == lane[0] and spans[other][0] <= end and top <= spans[other][1]
            }
            first, step = LANES[lane[0]]
            found[lane] = next(x for x in count(first, step) if x not in taken)
        return found

    def _edge(self, state: str, side: str, meets: object) -> tuple[int, int]:
        box = self.boxes[state]
        return box.x + BOX * (side == "east"), box.y + self._slots[state, side][meets]

    def _arrow(self, route: Route) -> Arrow:
        move, lines, row = route.move, route.words, self._row(route)
        source, target = self.boxes[move.source], self.boxes[move.target]
        x, y, ends, named = source.middle, source.end, source.column is Column.END, (move.name,)
        if route.shape == "down" and ends:
            line = self._line(route)
            words = Words(lines, x - 10, line, "end", named)
            return Arrow(move, ((x, y), (x, target.y)), Badge(x + 4, line - LIFT, "start"), words)
        if route.shape == "down":
            line = self._gaps[row] + self._space(row) - GAP // 2
            words = Words(lines, x + 10, line + LIFT, "start", named)
            return Arrow(move, ((x, y), (x, target.y)), Badge(x - 4, line, "end"), words)
        if route.shape == "loop":
            x, low = source.x + 16, y + 11
            side = (x + 34, y + 14, "start") if ends else (x - 22, y + 14, "end")
            corners = ((x, y), (x, low), (x + 26, low), (x + 26, y))
            return Arrow(move, corners, Badge(x + 13, low, "middle"), Words(lines, *side, named))
        x, y = start = self._edge(move.source, route.out, move.name)
        end = self._edge(move.target, route.into, route.lane)
        lane = self._lanes[route.lane]
        badge = Badge(x + 4, y, "start") if route.out == "east" else Badge(x - 4, y, "end")
        if route.shape == "lane":
            own = _beside(lines, start, route.out, BADGE, named) if lines else None
            return Arrow(move, (start, (lane, y), (lane, end[1]), end), badge, own)
        inner, line = self._lanes[route.inner], self._line(route)
        points = (start, (inner, y), (inner, line), (lane, line), (lane, end[1]), end)
        words = Words(lines, LEFT[Column.SPINE] + BOX // 2 + 10, line - LIFT, "start", named)
        return Arrow(move, points, badge, words)

    def _beside_lanes(self) -> Iterator[Words]:
        for lane, lines in self._signs.items():
            shared = [route for route in self._routes if route.out and route.lane == lane]
            end = self._edge(lane[1], shared[0].into, lane)
            yield _beside(lines, end, shared[0].into, 14, tuple(route.move.name for route in shared))


def _beside(lines: tuple[Label, ...], point: tuple[int, int], side: str, space: int, moves: tuple[str, ...]) -> Words:
    """Words over an arrow that meets a box at a point, with some space between them and the box."""
    x, y = point
    return Words(lines, *((x + space, y - LIFT, "start") if side == "east" else (x - space, y - LIFT, "end")), moves)
