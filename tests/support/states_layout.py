"""Draws the pictures of `workbook/views/states`: every box, arrow and word of a machine, with its place in pixels.

The way to success is a column from top to bottom, the spine. Left of it is a branch: the deprecated calls. Right of it
are the ends of an attempt. `GRIDS` says where each state is.

An arrow to the next state of a column runs straight down. Every other arrow leaves its box sideways, runs up or down in
a lane, and comes back sideways. The lanes are in three channels: left of everything (`west`), between spine and ends
(`east`), and right of everything (`rim`). All arrows to the same state share a lane, so ten ways to begin again are one
line with ten beginnings. No arrow crosses a box, because only a branch has boxes left of the spine, in rows of its own.

Every event has a line of words of its own, and boxes and rows are as high as the words need: a new event needs no
change here, and a new state needs its place in a grid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum, unique
from itertools import count
from typing import NamedTuple

from workbook.flows.machine import Machine, Row
from workbook.flows.variants import VARIANTS_A, VARIANTS_B
from workbook.views.html import Markup, tag, void
from workbook.views.states import key
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
    making sdkOutput |
                     |SDK orchestrates
    posting sdkOutput|
                     |fetching OPC data
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
"""Branch, spine and end, row by row: platform A, platform B, and its extension.

A machine is drawn on the first grid that has all its states; a row of which it has no state is left out. A branch that
no spine runs beside is a part of the spine, as in platform A's variant before 0.4.0.
"""


@unique
class Column(IntEnum):
    """The three columns; the value is the x where their boxes begin, in pixels."""

    BRANCH = 52
    SPINE = 252
    END = 678


class Place(NamedTuple):
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
            branch = [number for number, row in enumerate(used) if row[0]]
            alone = all(used[number][0] for number in range(branch[0], branch[-1])) if branch else False
            return {
                state: Place(Column.SPINE if alone and column is Column.BRANCH else column, number)
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
        if not row.of_another_attempt:
            found.setdefault((str(row.state), str(row.to)), []).append(row)
    return tuple(Move(source, target, tuple(rows)) for (source, target), rows in found.items())


class Label(NamedTuple):
    """A line of words that names an event; `begins` is False for the continuation of the line above."""

    text: str
    event: str
    begins: bool = True


def labels(events: Iterable[str], room: int) -> tuple[Label, ...]:
    """A line of at most `room` characters for each event, or several, which break before a call's parameters.

    Where one is too long, all go without the namespaces before their names.
    """
    texts = {event: event for event in events}
    if any(width(event) > room for event in texts):
        texts = {event: re.sub(r"^[^(]*\.", "", event) for event in texts}
    found = []
    for event, text in texts.items():
        spaced = " (" in text
        for number, line in enumerate(wrap(text if spaced else text.replace("(", " ("), room)):
            found.append(Label(line if spaced else line.replace(" (", "("), event, begins=not number))
    return tuple(found)


PAGE_WIDTH = 900
"""The width of the picture."""
BOX_WIDTH = 168
LEADING = 14
"""The distance between two lines of words."""
BADGE = 26
"""The room beside a box for the number of a step."""


@dataclass(frozen=True, slots=True)
class Box:
    """A state's box."""

    x: int
    y: int
    height: int

    @property
    def middle(self) -> int:
        """The x of its middle."""
        return self.x + BOX_WIDTH // 2

    @property
    def end(self) -> int:
        """The y of its lower edge."""
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Words:
    """Lines of words; `y` is the base of the last one, and `anchor` says which end of each is at `x`.

    Attributes:
        moves: the names of the moves that the words belong to.
    """

    lines: tuple[Label, ...]
    x: int
    y: int
    anchor: str
    moves: tuple[str, ...]


class Badge(NamedTuple):
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
        words: its own words; None where its lane has them.
    """

    move: Move
    points: tuple[tuple[int, int], ...]
    badge: Badge
    words: Words | None


class Lane(NamedTuple):
    """A vertical line that all arrows of a channel to the same state share."""

    channel: str
    target: str

    @property
    def out(self) -> str:
        """The side of the boxes where its arrows leave."""
        return "west" if self.channel == "west" else "east"

    @property
    def into(self) -> str:
        """The side of its target where they arrive."""
        return "east" if self.channel == "rim" else "west"


class Layout:
    """The whole picture of a machine, the same on every run.

    Attributes:
        boxes: each state's box.
        arrows: one for each move.
        signs: the words of lanes that have them at their end.
        height: where the drawing ends.
    """

    def __init__(self, machine: Machine) -> None:
        # The order matters: the words decide how high each box is, the boxes where the rows are, and the rows how far
        # the lanes reach.
        self._places, self._moves = places(machine), moves(machine)
        self._lanes: dict[Lane, list[Move]] = {}
        for move in self._moves:
            if channel := self._channel(move):
                self._lanes.setdefault(Lane(channel, move.target), []).append(move)
        self._lane_of = {move.name: lane for lane, shared in self._lanes.items() for move in shared}
        self._at_end = dict(self._words_of_lanes())
        self._words = {move.name: self._words_of(move) for move in self._moves}
        self._slots = {(state, side): self._meeting(state, side) for state in self._places for side in ("west", "east")}
        self.boxes: dict[str, Box] = {}
        self._lines: dict[str, int] = {}
        self.height = self._stack() + 10
        self._x = self._spread()
        self.arrows = tuple(map(self._arrow, self._moves))
        self.signs = tuple(
            self._beside(lines, self._edge(lane.target, lane.into, lane), lane.into, 14, *self._lanes[lane])
            for lane, lines in self._at_end.items()
        )

    def _channel(self, move: Move) -> str:
        """The channel of a move; empty where its arrow runs straight down or back to its own box."""
        source, target = self._places[move.source], self._places[move.target]
        between = {Place(source.column, row) for row in range(source.row + 1, target.row)}
        below = source.column is target.column and source.row <= target.row
        if below and between.isdisjoint(self._places.values()):
            return ""
        if source.column is Column.END:
            return "rim"
        return "east" if target.column is Column.END else "west"

    def _words_of_lanes(self) -> Iterator[tuple[Lane, tuple[Label, ...]]]:
        """A lane to the spine has its words at its end, unless it is one arrow that begins at the spine."""
        for lane, shared in self._lanes.items():
            alone = len(shared) == 1 and self._places[shared[0].source].column is Column.SPINE
            if self._places[lane.target].column is Column.SPINE and not alone:
                yield lane, self._at_side((event for move in shared for event in move.events), lane.into)

    def _words_of(self, move: Move) -> tuple[Label, ...]:
        lane = self._lane_of.get(move.name)
        if lane is None:
            return labels(move.events, 34 if move.source == move.target else 64)
        return () if lane in self._at_end else self._at_side(move.events, lane.out)

    def _at_side(self, events: Iterable[str], side: str) -> tuple[Label, ...]:
        return labels(events, 28 if side == "west" else 34)

    def _meeting(self, state: str, side: str) -> dict[Lane | str, int]:
        """How far below its upper edge each arrow meets this side of a box: arrivals first, then departures."""
        lines: dict[Lane | str, int] = {
            lane: len(self._at_end.get(lane, ())) for lane in self._lanes if (lane.target, lane.into) == (state, side)
        }
        for move in self._moves:
            lane = self._lane_of.get(move.name)
            if lane and (move.source, lane.out) == (state, side):
                lines[move.name] = len(self._words[move.name])
        # Words are above their arrow, so an arrow with many lines of words begins lower on its box.
        found, y = {}, 0
        for arrow, number in lines.items():
            y += max(12, LEADING * number + 6)
            found[arrow] = y
        return found

    def _stack(self) -> int:
        """Give every box its place, and the words below a row; the y where the last row ends."""
        loops = {move.source: len(self._words[move.name]) for move in self._moves if move.source == move.target}
        top = low = 62  # the title is above
        for row in range(max(place.row for place in self._places.values()) + 1):
            for state, place in self._places.items():
                if place.row == row:
                    meets = (*self._slots[state, "west"].values(), *self._slots[state, "east"].values())
                    box = Box(place.column, top, max(28, max(meets, default=0) + 8))
                    self.boxes[state] = box
                    low = max(low, box.end + (6 + LEADING * loops[state] if state in loops else 0))
            y = low
            for move in self._moves:  # the words of each arrow down have lines of their own
                if self._places[move.source].row == row and not self._channel(move) and move.source != move.target:
                    y += LEADING * len(self._words[move.name])
                    self._lines[move.name] = y + 4
            top = y + 12
        return low

    def _spread(self) -> dict[Lane, int]:
        """The x of each lane: short lanes are next to the boxes, and no two run over each other."""
        # Each lane is an interval of rows, and lanes of one channel are coloured greedily as an interval graph: a lane
        # takes the first x that no overlapping lane has. Short ones come first, so long ones run outside them and are
        # crossed less.
        first_and_step = {"west": (40, -8), "east": (668, -8), "rim": (866, 8)}
        spans = {}
        for lane, shared in self._lanes.items():
            rows = [self._places[state].row for state in (lane.target, *(move.source for move in shared))]
            spans[lane] = min(rows), max(rows)
        found: dict[Lane, int] = {}
        for lane, (top, end) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[1])):
            taken = {
                x
                for other, x in found.items()
                if other.channel == lane.channel and spans[other][0] <= end and top <= spans[other][1]
            }
            found[lane] = next(x for x in count(*first_and_step[lane.channel]) if x not in taken)
        return found

    def _arrow(self, move: Move) -> Arrow:
        source, target, lines = self.boxes[move.source], self.boxes[move.target], self._words[move.name]
        if lane := self._lane_of.get(move.name):
            x, y = start = self._edge(move.source, lane.out, move.name)
            end = self._edge(move.target, lane.into, lane)
            badge = Badge(x + 4, y, "start") if lane.out == "east" else Badge(x - 4, y, "end")
            words = self._beside(lines, start, lane.out, BADGE, move) if lines else None
            return Arrow(move, (start, (self._x[lane], y), (self._x[lane], end[1]), end), badge, words)
        if source is target:
            x, low = source.x + 16, source.end + 11
            points = ((x, source.end), (x, low), (x + 26, low), (x + 26, source.end))
            words = Words(lines, x - 22, source.end + LEADING * len(lines), "end", (move.name,))
            return Arrow(move, points, Badge(x + 13, low, "middle"), words)
        x, y = source.middle, self._lines[move.name]
        at_end = source.x == Column.END  # there is room only left of the arrow
        words = Words(lines, x - 10 if at_end else x + 10, y, "end" if at_end else "start", (move.name,))
        badge = Badge(x + 4, y - 4, "start") if at_end else Badge(x - 4, y - 4, "end")
        return Arrow(move, ((x, source.end), (x, target.y)), badge, words)

    def _edge(self, state: str, side: str, meets: Lane | str) -> tuple[int, int]:
        box = self.boxes[state]
        return box.x + BOX_WIDTH * (side == "east"), box.y + self._slots[state, side][meets]

    def _beside(self, lines: tuple[Label, ...], point: tuple[int, int], side: str, space: int, *named: Move) -> Words:
        """Words over an arrow that meets a side of a box at a point, with some space between them and the box."""
        x, y = point
        place = (x + space, y - 4, "start") if side == "east" else (x - space, y - 4, "end")
        return Words(lines, *place, tuple(move.name for move in named))


# The picture, with nothing lit. Where several events lead the same way, the words of each can be marked by themselves:
# an event that happened has a tick and is bold, and the others stay pale.

TICK = "✓ "


def _texts(words: Words) -> Iterator[Markup]:
    """The lines of some words, the last one first."""
    choice = len({label.event for label in words.lines}) > 1
    for number, label in enumerate(reversed(words.lines)):
        place = {"x": words.x, "y": words.y - LEADING * number, "text_anchor": words.anchor}
        if not choice:
            yield tag("text", label.text, class_="wb-says", **place)
            continue
        keys = [key(move, label.event) for move in words.moves]
        tick = tag("tspan", TICK, class_="wb-tick") if label.begins else ""
        yield tag("text", tick, label.text, data_event="|".join(keys), class_="wb-says wb-choice", **place)


def pictured() -> Iterator[tuple[str, Machine]]:
    """Each picture's name, and a machine that has its moves."""
    for variant in VARIANTS_A.values():
        yield f"platform-a-{variant.name}", variant.machine
        yield f"platform-a-{variant.name}-unguarded", replace(variant, guarded=False).machine
    for variant in VARIANTS_B.values():
        yield f"platform-b-{variant.name}", variant.machine
        yield f"platform-b-{variant.name}-extension", variant.extension()


def drawn(machine: Machine) -> str:
    """The picture of a machine as `workbook/views/states` stores it: one part a line."""
    plan = Layout(machine)
    size = {"width": PAGE_WIDTH, "height": plan.height + 84}  # the legend
    opening = void("svg", xmlns="http://www.w3.org/2000/svg", class_="wb-states", **size).replace("/>", ">")
    signs = (line for sign in plan.signs for line in _texts(sign))
    parts = (*map(_arrow, plan.arrows), *signs, *_boxes(machine, plan), *_legend(plan.height + 12))
    return "\n".join((opening, *parts, "</svg>", ""))


def _boxes(machine: Machine, plan: Layout) -> Iterator[Markup]:
    """Where it begins, and each state; one at which an attempt may rest has a second edge."""
    first, final = plan.boxes[str(machine.initial)], frozenset(map(str, machine.final))
    yield void("path", class_="wb-head", d=f"M{first.middle - 4} {first.y - 15}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z")
    yield void("path", class_="wb-way", d=f"M{first.middle} {first.y - 12}V{first.y}")
    for state, box in plan.boxes.items():
        shape = [void("rect", class_="wb-box", x=box.x, y=box.y, width=BOX_WIDTH, height=box.height, rx=9)]
        if state in final:
            inner = {"x": box.x + 3, "y": box.y + 3, "width": BOX_WIDTH - 6, "height": box.height - 6, "rx": 6}
            shape.append(void("rect", class_="wb-rest", **inner))
        words = tag("text", cut(state, 26), class_="wb-name", x=box.middle, y=box.y + box.height // 2 + 4)
        yield tag("g", *shape, words, data_state=state, class_="wb-state")


def _arrow(arrow: Arrow) -> Markup:
    """A move's arrow with its words, and what `workbook.views.states` must know to write its steps' numbers.

    The path begins at the head, so that the dashes of arrows that share a lane coincide.
    """
    move, badge, words = arrow.move, arrow.badge, arrow.words
    (x0, y0), (x, y) = arrow.points[-2:]
    dx, dy = _sign(x - x0), _sign(y - y0)
    corners = (f"{x - 9 * dx + side * dy:g} {y - 9 * dy + side * dx:g}" for side in (-4.5, 4.5))
    way = 0
    if words and words.anchor == badge.anchor and arrow.points[0][1] == badge.y:
        way = 1 if words.anchor == "start" else -1
    return tag(
        "g",
        tag("title", f"{move.source} → {move.target}: {' or '.join(move.events)}"),
        void("path", class_="wb-way", d=_rounded(((x - 8 * dx, y - 8 * dy), *reversed(arrow.points[:-1])))),
        void("path", class_="wb-head", d=f"M{x} {y}L{'L'.join(corners)}z"),
        *(_texts(words) if words else ()),
        data_move=move.name, data_badge=f"{badge.x} {badge.y} {badge.anchor} {way}", class_=f"wb-move is-{move.origin}",
    )  # fmt: skip


def _rounded(points: Sequence[tuple[int, int]]) -> str:
    """A path through the points, its corners rounded."""
    (first_x, first_y), (last_x, last_y) = points[0], points[-1]
    path = f"M{first_x} {first_y}"
    for before, (x, y), after in zip(points, points[1:], points[2:], strict=False):
        ends = []
        for end_x, end_y in (before, after):
            near = min(6, (abs(x - end_x) + abs(y - end_y)) / 2)
            ends.append(f"{x + _sign(end_x - x) * near:g} {y + _sign(end_y - y) * near:g}")
        path += f"L{ends[0]}Q{x} {y} {ends[1]}"
    return f"{path}L{last_x} {last_y}"


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


def _legend(y: int) -> Iterator[Markup]:
    yield void("path", class_="wb-ground", d=f"M24 {y}H{PAGE_WIDTH - 24}")
    for x, name, words in (
        (24, "is-spec", "stated by the document"),
        (236, "is-ours", "left open by it: our choice, or public knowledge"),
        (604, "is-deprecated", "deprecated"),
    ):
        line = void("path", class_="wb-way", d=f"M{x} {y + 18}h34")
        yield tag("g", line, tag("text", words, x=x + 42, y=y + 22), class_=name)
    for x, name, words in (
        (24, "", "not reached"),
        (148, "wb-been", "passed"),
        (272, "wb-here", "here now"),
        (396, "", "a resting place: an attempt is over, or the cardholder chooses"),
    ):
        box = void("rect", class_="wb-box", x=x, y=y + 30, width=34, height=14, rx=4)
        rest = void("rect", class_="wb-rest", x=x + 3, y=y + 33, width=28, height=8, rx=2) if x == 396 else ""
        yield tag("g", box, rest, tag("text", words, x=x + 42, y=y + 41), class_=name or None)
    took = "where several events lead the same way: the one that happened in this run"
    yield tag("text", TICK, took, x=24, y=y + 60)
