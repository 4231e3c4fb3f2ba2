"""*States*: the flow's diagram with the present state lit, the way that was taken, and what can happen next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from workbook.flows.messages import Actor
from workbook.views.markup import tag
from workbook.views.plain import wrap
from workbook.views.states_says_svg import key
from workbook.views.states_svg import Lit, draw
from workbook.views.table import WIDEST, paragraph, preformatted
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.flows.machine import Machine
    from workbook.flows.messages import Event
    from workbook.views.film import Film
    from workbook.views.picture import Picture


@dataclass(frozen=True, slots=True)
class Step:
    """One move that the run made.

    Attributes:
        number: from 1.
        at: seconds since the run began.
        source: the state that it left.
        target: the state that it came to; the same where it stayed.
        says: the label of the event.
    """

    number: int
    at: float
    source: str
    target: str
    says: str


@dataclass(frozen=True, slots=True, repr=False)
class States(View):
    """The states of a film's machine.

    Attributes:
        film: what was played.
    """

    film: Film

    @property
    def here(self) -> str:
        """The state that the run is in at the end."""
        frames = self.film.frames
        return frames[-1].state if frames else str(self.film.machine.initial)

    @property
    def path(self) -> tuple[Step, ...]:
        """The moves that the run made, in order."""
        numbers = count(1)
        return tuple(
            Step(next(numbers), frame.at, *frame.moved, frame.event.says) for frame in self.film.frames if frame.moved
        )

    @property
    def allowed(self) -> str:
        """What can happen next, as a sentence."""
        return f"Next: {', '.join(allowed(self.film.machine, self.here)) or 'nothing'}."

    @property
    def plain(self) -> Picture:
        """The diagram with nothing lit: what a player lights step by step."""
        told = f"The states of {self.film.machine.name}: {', '.join(self.film.machine.states)}."
        return draw(self.film.machine, self.film.title, told)

    @property
    def picture(self) -> Picture:
        """The diagram as it is at the end of the run."""
        steps: dict[str, list[int]] = {}
        for step in self.path:
            steps.setdefault(f"{step.source}>{step.target}", []).append(step.number)
        took = frozenset(key(f"{step.source}>{step.target}", step.says) for step in self.path)
        been = frozenset(state for step in self.path for state in (step.source, step.target))
        way = " → ".join([step.source for step in self.path] + [self.here])
        told = f"States: {self.film.title}. The way that was taken: {way}. {self.allowed}"
        return draw(self.film.machine, self.film.title, told, Lit(self.here, been, steps, took))

    def text(self) -> str:
        """The way that was taken, one move a line, where the run is now, and what can happen next."""
        lines = [f"States: {self.film.title}", *map(self._line, self.path)]
        lines += [f"Now: {self.here}", *wrap(self.allowed, WIDEST)]
        return "\n".join(lines)

    def _line(self, step: Step) -> str:
        wide = max(len(one.source) + len(one.target) for one in self.path) + 3
        way = f"{step.source} → {step.target}"
        return f"  {step.number:>3}  {step.at:8.3f} s  {way:<{wide}}  {step.says}"

    def html(self) -> str:
        """The diagram, what can happen next below it, and the text form folded up."""
        words = paragraph(tag("b", f"Now: {self.here}. "), self.allowed)
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.text()))
        return tag("figure", self.picture.image(), words, folded, style="margin:0")


SPEAKS: Mapping[Actor, str] = {
    Actor.CARDHOLDER: "the cardholder",
    Actor.APP: "the app calls",
    Actor.SDK: "the SDK says",
    Actor.BACK_END: "the back end sends",
    Actor.EXTENSION: "the extension answers",
    Actor.WALLET: "for the wallet:",
    Actor.WALLET_APP: "for the wallet:",
}
"""Who makes an event happen, as the beginning of a sentence."""
CALLBACK = re.compile(r"[a-z]\w*\(")
"""An event that is a call of the SDK's, and no answer."""


def allowed(machine: Machine, state: str) -> tuple[str, ...]:
    """What can happen next in this state, a clause for each who can make it happen, in the order of the table."""
    rows = (row for row in machine.rows if str(row.state) == state and not row.beside)
    found: dict[str, list[str]] = {}
    for event in dict.fromkeys(row.event for row in rows):
        found.setdefault(_who(event), []).append(event.says)
    return tuple(f"{who} {' or '.join(dict.fromkeys(says))}" for who, says in found.items())


def _who(event: type[Event]) -> str:
    calls = event.sender is Actor.SDK and CALLBACK.match(event.says)
    return "the SDK calls" if calls else SPEAKS[event.sender]
