"""The flow's state diagram with the present state and the path of the run lit, and what can happen next."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbook.flows.machine import Machine
from workbook.flows.messages import Actor
from workbook.views.film import Film
from workbook.views.html import Markup, View, tag, void
from workbook.views.paint import Picture, document, ground, sheet
from workbook.views.states_layout import BADGE, BOX_WIDTH, LEADING, PAGE_WIDTH, Arrow, Words, laid_out
from workbook.views.table import TEXT_WIDTH, cut, paragraph, wrap

# The words beside arrows. Where several events lead the same way, each can be marked by itself: an event that happened
# has a tick and is bold, and the others stay pale.

TICK = "✓ "


def key(move: str, event: str) -> str:
    """The name in a picture of an event on a move."""
    return f"{move}: {event}"


def texts(words: Words, took: Collection[str]) -> Iterator[Markup]:
    """The lines of some words, the last one first; `took` holds the keys of the events that happened."""
    choice = len({label.event for label in words.lines}) > 1
    for number, label in enumerate(reversed(words.lines)):
        place = {"x": words.x, "y": words.y - LEADING * number, "text_anchor": words.anchor}
        if not choice:
            yield tag("text", label.text, class_="wb-says", **place)
            continue
        keys = [key(move, label.event) for move in words.moves]
        names = "wb-says wb-choice" + (" wb-took" if any(name in took for name in keys) else "")
        tick = tag("tspan", TICK, class_="wb-tick") if label.begins else ""
        yield tag("text", tick, label.text, data_event="|".join(keys), class_=names, **place)


@dataclass(frozen=True, slots=True)
class Lit:
    """The lit parts of a picture; none by default.

    Attributes:
        here: the state of the run.
        been: the states that it passed.
        steps: the numbers of the steps in which a move was made, by its name `from>to`.
        took: the events that made moves, each as `key` writes it.
    """

    here: str = ""
    been: frozenset[str] = frozenset()
    steps: Mapping[str, Sequence[int]] = field(default_factory=dict)
    took: frozenset[str] = frozenset()


def draw(machine: Machine, title: str, alt: str, lit: Lit | None = None) -> Picture:
    """The picture of a machine as one self-contained SVG document, the same bytes on every run.

    Args:
        machine: the table of states and moves.
        title: the words above them.
        alt: the picture in words.
        lit: the lit parts.
    """
    plan, lit = laid_out(machine), lit or Lit()
    height = plan.height + 84  # the legend
    first, final = plan.boxes[str(machine.initial)], frozenset(map(str, machine.final))
    steps = [(tuple(lit.steps.get(arrow.move.name, ())), arrow) for arrow in plan.arrows]
    parts = []
    for numbers, arrow in sorted(steps, key=lambda step: bool(step[0])):  # moves that were made are on top
        names = f"wb-move is-{arrow.move.origin}{' wb-been' if numbers else ''}"
        parts.append(tag("g", *_arrow(arrow, numbers, lit.took), data_move=arrow.move.name, class_=names))
    for sign in plan.signs:
        parts += texts(sign, lit.took)
    parts.append(void("path", class_="wb-head", d=f"M{first.middle - 4} {first.y - 15}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"))
    parts.append(void("path", class_="wb-way", d=f"M{first.middle} {first.y - 12}V{first.y}"))
    for state, box in plan.boxes.items():
        mark = " wb-here" if state == lit.here else " wb-been" if state in lit.been else ""
        shape = [void("rect", class_="wb-box", x=box.x, y=box.y, width=BOX_WIDTH, height=box.height, rx=9)]
        if state in final:
            inner = {"x": box.x + 3, "y": box.y + 3, "width": BOX_WIDTH - 6, "height": box.height - 6, "rx": 6}
            shape.append(void("rect", class_="wb-rest", **inner))
        words = tag("text", cut(state, 26), class_="wb-name", x=box.middle, y=box.y + box.height // 2 + 4)
        parts.append(tag("g", *shape, words, data_state=state, class_=f"wb-state{mark}"))
    words = tag("text", cut(title, 90), class_="wb-title", x=24, y=34)
    shapes = (ground(PAGE_WIDTH, height), words, *parts, *_legend(plan.height + 12))
    return document("wb-states", sheet("states"), f"States: {title}", alt, (PAGE_WIDTH, height), *shapes)


def _arrow(arrow: Arrow, steps: tuple[int, ...], took: frozenset[str]) -> Iterator[Markup]:
    """A move's arrow with its words, and the numbers of its last two steps in a pill.

    The path begins at the head, so that the dashes of arrows that share a lane coincide.
    """
    yield tag("title", f"{arrow.move.source} → {arrow.move.target}: {' or '.join(arrow.move.events)}")
    (x0, y0), (x, y) = arrow.points[-2:]
    dx, dy = _sign(x - x0), _sign(y - y0)
    yield void("path", class_="wb-way", d=_rounded(((x - 8 * dx, y - 8 * dy), *reversed(arrow.points[:-1]))))
    corners = (f"{x - 9 * dx + side * dy:g} {y - 9 * dy + side * dx:g}" for side in (-4.5, 4.5))
    yield void("path", class_="wb-head", d=f"M{x} {y}L{'L'.join(corners)}z")
    badge, words = arrow.badge, arrow.words
    numbers = ("… " if len(steps) > 2 else "") + ", ".join(map(str, steps[-2:]))
    wide = max(16, 8 + 6 * len(numbers))
    if words:
        room = wide + 8 - BADGE  # a wide number moves the words away from the box
        if room > 0 and words.anchor == badge.anchor and arrow.points[0][1] == badge.y:
            words = replace(words, x=words.x + (room if words.anchor == "start" else -room))
        yield from texts(words, took)
    if numbers:
        left = badge.x - {"start": 0, "middle": wide // 2, "end": wide}[badge.anchor]
        yield void("rect", class_="wb-step", x=left, y=badge.y - 8, width=wide, height=16, rx=8)
        yield tag("text", numbers, class_="wb-number", x=left + wide / 2, y=badge.y + 4)


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


@dataclass(frozen=True, slots=True)
class RunStep:
    """One move of the run.

    Attributes:
        number: from 1.
        at: seconds since the run began.
        source: the state before.
        target: the state after, which may be the same.
        says: the label of the event.
    """

    number: int
    at: float
    source: str
    target: str
    says: str


@dataclass(frozen=True, slots=True, repr=False)
class States(View):
    """The states of a film's machine."""

    film: Film

    @property
    def here(self) -> str:
        """The state at the end of the run."""
        frames = self.film.frames
        return frames[-1].state if frames else str(self.film.machine.initial)

    @property
    def path(self) -> tuple[RunStep, ...]:
        """The moves of the run, in order."""
        moved = ((frame, frame.moved) for frame in self.film.frames if frame.moved)
        return tuple(RunStep(n, frame.at, *states, frame.event.says) for n, (frame, states) in enumerate(moved, 1))

    @property
    def allowed(self) -> str:
        """What can happen next, as a sentence."""
        return f"Next: {', or '.join(allowed(self.film.machine, self.here)) or 'nothing'}."

    @property
    def plain(self) -> Picture:
        """The diagram with the numbers of the steps, for a player that lights it step by step."""
        alt = f"The states of {self.film.machine.name}: {', '.join(self.film.machine.states)}."
        return draw(self.film.machine, self.film.title, alt, Lit(steps=self._steps))

    @property
    def _steps(self) -> dict[str, list[int]]:
        """The numbers of the steps in which each move was made."""
        steps: dict[str, list[int]] = {}
        for step in self.path:
            steps.setdefault(f"{step.source}>{step.target}", []).append(step.number)
        return steps

    @property
    def picture(self) -> Picture:
        """The diagram at the end of the run."""
        path = self.path
        took = frozenset(key(f"{step.source}>{step.target}", step.says) for step in path)
        been = frozenset(state for step in path for state in (step.source, step.target))
        way = " → ".join([step.source for step in path] + [self.here])
        alt = f"States: {self.film.title}. The path of the run: {way}. {self.allowed}"
        return draw(self.film.machine, self.film.title, alt, Lit(self.here, been, self._steps, took))

    def text(self) -> str:
        """The moves of the run, one a line, the state at its end, and what can happen next."""
        ways = [f"{step.source} → {step.target}" for step in self.path]
        wide = max(map(len, ways), default=0)
        lines = [
            f"  {step.number:>3}  {step.at:8.3f} s  {way:<{wide}}  {step.says}"
            for step, way in zip(self.path, ways, strict=True)
        ]
        return "\n".join([f"States: {self.film.title}", *lines, f"Now: {self.here}", *wrap(self.allowed, TEXT_WIDTH)])

    def html(self) -> str:
        """The diagram, what can happen next below it, and the text form folded up."""
        words = paragraph(tag("b", f"Now: {self.here}. "), self.allowed)
        return self.picture.figure(self.text(), words)


def allowed(machine: Machine, state: str) -> tuple[str, ...]:
    """What can happen next in this state: a clause for each actor, in the order of the table."""
    speaks = {
        Actor.CARDHOLDER: "the cardholder",
        Actor.APP: "the app calls",
        Actor.SDK: "the SDK says",
        Actor.BACK_END: "the back end sends",
        Actor.EXTENSION: "the extension answers",
        Actor.WALLET: "for the wallet:",
        Actor.WALLET_APP: "for the wallet:",
    }
    clauses: dict[str, list[str]] = {}
    events = (row.event for row in machine.rows if str(row.state) == state and not row.of_another_attempt)
    for event in dict.fromkeys(events):
        if event.says.endswith(" failed"):  # the event says itself what fails
            clauses[event.says.replace(" failed", " fails")] = []
            continue
        calls = event.sender is Actor.SDK and re.match(r"[a-z]\w*\(", event.says)  # a call by the SDK, not an answer
        clauses.setdefault("the SDK calls" if calls else speaks[event.sender], []).append(event.says)
    return tuple(f"{who} {' or '.join(dict.fromkeys(names))}".strip() for who, names in clauses.items())
