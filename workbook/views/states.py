"""The flow's state diagram with the present state and the path of the run lit, and what can happen next.

The folder `states` holds the pictures with nothing lit; here the parts that a run came to are lit. The pictures are
made by `tests/support/states_layout.py`: `WORKBOOK_GOLDEN=write pytest -m golden` writes them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from pathlib import Path

from workbook.flows.machine import Machine
from workbook.flows.messages import Actor
from workbook.views.film import Film
from workbook.views.html import View, join, tag, trust, void
from workbook.views.paint import Picture, document, ground, sheet
from workbook.views.table import TEXT_WIDTH, cut, paragraph, wrap


def key(move: str, event: str) -> str:
    """The name in a picture of an event on a move."""
    return f"{move}: {event}"


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


@cache
def stored(machine: Machine) -> tuple[str, ...]:
    """The stored picture of a machine, one part a line; the first line opens the SVG document, and the last closes it.

    Raises:
        LookupError: no picture has exactly its moves.
    """
    rows = [row for row in machine.rows if not row.of_another_attempt]
    moves, events = {f"{row.state}>{row.to}" for row in rows}, {row.event.says for row in rows}
    pictures = [path.read_text(encoding="utf-8") for path in sorted(Path(__file__).with_name("states").glob("*.svg"))]
    fit = [one for one in pictures if set(map(unescape, re.findall('data-move="([^"]+)"', one))) == moves]
    if not fit:
        message = f"No picture in workbook/views/states has the moves of {machine.name}; see {__name__}."
        raise LookupError(message)
    # The variants of the extension differ in the names of their events alone.
    return tuple(max(fit, key=lambda picture: sum(event in picture for event in events)).splitlines())


def draw(machine: Machine, title: str, alt: str, lit: Lit | None = None) -> Picture:
    """The picture of a machine as one self-contained SVG document, the same bytes on every run.

    Args:
        machine: the table of states and moves.
        title: the words above them.
        alt: the picture in words.
        lit: the lit parts.
    """
    opening, *lines, _closing = stored(machine)
    width, height = map(int, re.findall(r' (?:width|height)="(\d+)"', opening))
    parts = sorted((_lit(line, lit or Lit()) for line in lines), key=lambda part: part[0])
    words = tag("text", cut(title, 90), class_="wb-title", x=24, y=34)
    shapes = (ground(width, height), words, *(trust(part) for _place, part in parts))
    return document("wb-states", sheet("states"), f"States: {title}", alt, (width, height), *shapes)


def _lit(part: str, lit: Lit) -> tuple[int, str]:
    """A part of a stored picture, lit, after its place in the order of drawing: moves that were made are above others.

    A stored move has its badge's place in `data-badge`: x, y, which end of the number is there, and the shift of the
    label when the number is wide: 1, -1 or 0.
    """
    if state := re.match('<g data-state="([^"]+)" class="wb-state', part):
        name = unescape(state[1])
        mark = " wb-here" if name == lit.here else " wb-been" if name in lit.been else ""
        return 2, f"{state[0]}{mark}{part[state.end() :]}"
    part = re.sub('(data-event="([^"]+)" class="wb-says wb-choice)', lambda event: _took(event, lit), part)
    move = re.fullmatch(r'(<g data-move="([^"]+)") data-badge="(\d+) (\d+) (\w+) (-?\d)"( class="[^"]+)(.*)</g>', part)
    if not move:
        return 2, part
    opening, name, x, y, anchor, way, classes, shapes = move.groups()
    steps = lit.steps.get(unescape(name), ())
    if not steps:
        return 0, f"{opening}{classes}{shapes}</g>"
    numbers = ("… " if len(steps) > 2 else "") + ", ".join(map(str, steps[-2:]))
    wide = max(16, 8 + 6 * len(numbers))
    aside = int(way) * max(0, wide - 18)
    shapes = re.sub(r'(<text [^>]*\bx=")(\d+)', lambda text: f"{text[1]}{int(text[2]) + aside}", shapes)
    left = int(x) - {"start": 0, "middle": wide // 2, "end": wide}[anchor]
    pill = void("rect", class_="wb-step", x=left, y=int(y) - 8, width=wide, height=16, rx=8)
    number = tag("text", numbers, class_="wb-number", x=left + wide / 2, y=int(y) + 4)
    return 1, f"{opening}{classes} wb-been{shapes}{join(pill, number)}</g>"


def _took(event: re.Match[str], lit: Lit) -> str:
    """The beginning of an event's words, marked if it made its move: `data-event` holds its keys, with | between."""
    return event[1] + (" wb-took" if lit.took.intersection(unescape(event[2]).split("|")) else "")


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
