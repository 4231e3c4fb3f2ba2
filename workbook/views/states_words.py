"""The words beside an arrow of a machine's picture: which events lead this way, each to be lit by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.views.plain import cut, width, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOM = {"west": 28, "east": 34}
"""How many characters of a label stand in a line left or right of a box."""
LONG = 64
"""How many stand beside an arrow down."""


@dataclass(frozen=True, slots=True)
class Label:
    """One line of words.

    Attributes:
        text: what it says.
        events: the events that it is about; of several, a picture says which of them it was.
        begins: False for what continues the line above.
    """

    text: str
    events: tuple[str, ...]
    begins: bool = True

    @property
    def named(self) -> tuple[str, ...]:
        """Each of its events as the line names it, or would name it if it had the room."""
        if self.text == " or ".join(self.events):
            return self.events
        return tuple(map(_short, self.events)) if self.whole else tuple(map(_bare, self.events))

    @property
    def whole(self) -> bool:
        """Whether the line names each of its events."""
        return self.text in (" or ".join(self.events), " or ".join(map(_short, self.events)))


def listed(events: Iterable[str], side: str) -> tuple[Label, ...]:
    """A line for each event, or more where one is long."""
    each, room = tuple(dict.fromkeys(events)), ROOM[side]
    return tuple(
        label for one, told in zip(each, _fitting(each, room), strict=True) for label in _broken(one, told, room)
    )


def joined(events: tuple[str, ...]) -> Label:
    """All events in one line, cut where they are too long for it."""
    full, brief = (" or ".join(each) for each in (events, map(_short, events)))
    return Label(next((one for one in (full, brief) if width(one) <= LONG), cut(brief, LONG)), events)


def counted(events: tuple[str, ...]) -> Label:
    """How many they are, where there is no room for more."""
    return Label(f"{len(events)} events", events) if len(events) > 1 else joined(events)


def _broken(event: str, told: str, room: int) -> Iterator[Label]:
    """A label in lines; a call may break before its parameters."""
    lines = wrap(told, room)
    if " (" not in told:
        lines = [line.replace(" (", "(") for line in wrap(told.replace("(", " ("), room)]
    for number, line in enumerate(lines):
        yield Label(line, (event,), begins=not number)


def _fitting(events: tuple[str, ...], room: int) -> tuple[str, ...]:
    """The labels; without what stands before the last dot of their names if one of them is too long otherwise."""
    return events if all(width(event) <= room for event in events) else tuple(map(_short, events))


def _short(event: str) -> str:
    name, bracket, rest = event.partition("(")
    return name.rpartition(".")[2] + bracket + rest


def _bare(event: str) -> str:
    """The name alone, without what a call is given."""
    name = _short(event)
    return name if " (" in name else name.partition("(")[0]
