"""The row engine: a flow is a table, and the table is the only place where a transition lives.

Two rules. Everything that decides what may happen next is a `Row`; no row runs anything. A failed
look-up is the only check there is: it raises, names the state, the event and what was allowed, and
changes nothing, because there is nothing to change: the caller holds the state.

A row's commands are classes. When the row fires, each is built from the event's fields of the same
names, so what travels along an arrow is readable in `messages` alone; a command whose fields the
event does not have is a mistake in the table, found when the machine is defined. A field with a
default is the command's own, such as the seconds of a budget.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple

from workbook.errors import DefinitionError, OutOfOrderError
from workbook.flows.messages import Command, Event

Builder = Callable[[Event], Command]


class Tagged(NamedTuple):
    """A command as one row asks for it, where the document does not say that it comes here."""

    command: type[Command]
    source: str


def assumed(command: type[Command]) -> Tagged:
    """This command, at this moment by our own choice."""
    return Tagged(command, "assumed")


def wallet(command: type[Command]) -> Tagged:
    """This command, at this moment as the wallet platform's public documentation says."""
    return Tagged(command, "wallet")


@dataclass(frozen=True, slots=True)
class Row:
    """In `state`, `event` leads `to` another and hands out `commands`.

    Attributes:
        rules: the ids of the rules that this row states.
        event_source: the source that shows the event in this state; its message may have a source, too.
        command_sources: for each command, the source that shows that it follows.
        deprecated: True when the variant keeps the row but advises against it.
        of_another_attempt: the row's event belongs to an attempt that runs at the same time; no picture shows it.
    """

    state: StrEnum
    event: type[Event]
    to: StrEnum
    commands: tuple[type[Command], ...] = ()
    rules: tuple[str, ...] = ()
    event_source: str = "spec"
    command_sources: tuple[str, ...] = ()
    deprecated: bool = False
    of_another_attempt: bool = False

    @property
    def source(self) -> str:
        """The row's one tag: `spec` only if neither the event nor a command is tagged."""
        return next((source for source in (self.event_source, *self.command_sources) if source != "spec"), "spec")

    def without(self, *left_out: type[Command]) -> Row:
        """The same row without some of its commands."""
        pairs = [pair for pair in zip(self.commands, self.command_sources, strict=True) if pair[0] not in left_out]
        return replace(
            self, commands=tuple(pair[0] for pair in pairs), command_sources=tuple(pair[1] for pair in pairs)
        )


class Step(NamedTuple):
    """What one event led to: the next state, the commands to carry out, and the row that said so."""

    state: StrEnum
    commands: tuple[Command, ...]
    row: Row


def row(
    states: StrEnum | Iterable[StrEnum],
    event: type[Event],
    to: StrEnum,
    *commands: type[Command] | Tagged,
    rules: str | tuple[str, ...] = "",
    source: str = "spec",
) -> tuple[Row, ...]:
    """One row for each of `states` (a state or several); `rules` are ids, in a text with blanks between.

    `source` tags the event in these states, and `assumed(command)` a command.
    """
    from_states = (states,) if isinstance(states, str) else tuple(states)
    tagged = [command if isinstance(command, Tagged) else Tagged(command, "spec") for command in commands]
    classes, sources = tuple(each.command for each in tagged), tuple(each.source for each in tagged)
    ids = tuple(rules.split()) if isinstance(rules, str) else rules
    return tuple(Row(state, event, to, classes, ids, source, sources) for state in from_states)


class Machine:
    """A table of rows with its first state and its resting places.

    Raises:
        DefinitionError: the table contradicts itself; every problem is listed.
    """

    def __init__(self, name: str, rows: Sequence[Row], *, initial: StrEnum, final: Iterable[StrEnum]) -> None:
        self.name = name
        self.rows = tuple(rows)
        self.initial = initial
        self.final = frozenset(final)
        if problems := list(self._problems()):
            raise DefinitionError(f"The table {name!r} cannot be used: " + "; ".join(problems))
        self._table = {(r.state, r.event): _maker(r) for r in self.rows}

    def __repr__(self) -> str:
        return f"Machine({self.name!r}, {len(self.states)} states, {len(self.rows)} rows)"

    @property
    def states(self) -> tuple[StrEnum, ...]:
        """Every state, in the order of its first mention."""
        mentioned = [self.initial, *(state for r in self.rows for state in (r.state, r.to))]
        return tuple(dict.fromkeys(mentioned))

    @property
    def events(self) -> tuple[type[Event], ...]:
        """Every event that some row knows, in the order of its first mention."""
        return tuple(dict.fromkeys(r.event for r in self.rows))

    def allowed(self, state: StrEnum) -> tuple[type[Event], ...]:
        """The events that have a row in this state."""
        return tuple(r.event for r in self.rows if r.state == state)

    def step(self, state: StrEnum, event: Event) -> Step:
        """What `event` leads to in `state`; runs nothing and changes nothing.

        Raises:
            OutOfOrderError: no row allows it; the message says what is allowed.
        """
        try:
            make = self._table[state, type(event)]
        except KeyError:
            allowed = ", ".join(e.__name__ for e in self.allowed(state)) or "nothing"
            raise OutOfOrderError(
                f"{type(event).__name__} is not allowed in state {state.value!r} of {self.name}. Allowed: {allowed}."
            ) from None
        return make(event)

    def _problems(self) -> Iterator[str]:
        """What is wrong with the table: competing rows, states never reached or without an end, missing values."""
        for (state, event), count in Counter((r.state, r.event) for r in self.rows).items():
            if count > 1:
                yield f"{count} rows for {event.__name__} in state {state.value!r}"
        onward = _closure({self.initial}, [(r.state, r.to) for r in self.rows])
        yield from (f"state {s.value!r} is never reached" for s in {*self.states, *self.final} - onward)
        back = _closure(set(self.final), [(r.to, r.state) for r in self.rows])
        yield from (f"state {s.value!r} leads to no final state" for s in self.states if s not in back)
        for r in self.rows:
            for command in r.commands:
                if missing := set(_fields_from_event(command)) - {f.name for f in fields(r.event)}:
                    yield f"{r.event.__name__} has no {', '.join(sorted(missing))} for {command.__name__}"


def _closure(states: set[StrEnum], moves: list[tuple[StrEnum, StrEnum]]) -> set[StrEnum]:
    """These states, and all that the moves lead to from them."""
    while more := {to for state, to in moves if state in states} - states:
        states |= more
    return states


def _fields_from_event(command: type[Command]) -> list[str]:
    """The fields that a command takes from its event, in their order."""
    return [f.name for f in fields(command) if f.default is MISSING]


def _maker(row: Row) -> Callable[[Event], Step]:
    """A function that makes the row's step from an event: one shared step where no command takes a field."""
    builders = tuple(map(_builder, row.commands))
    if not any(map(_fields_from_event, row.commands)):
        same = Step(row.to, tuple(command() for command in row.commands), row)
        return lambda _event: same
    return lambda event: Step(row.to, tuple([build(event) for build in builders]), row)


def _builder(command: type[Command]) -> Builder:
    """A function that makes `command` from an event: one shared instance, or the fields looked up at once."""
    names = _fields_from_event(command)
    if not names:
        same = command()
        return lambda _event: same
    get = attrgetter(*names)
    make: Callable[..., Command] = command
    return (lambda event: make(get(event))) if len(names) == 1 else (lambda event: make(*get(event)))
