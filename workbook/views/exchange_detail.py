"""What there is to know of one line of an exchange: who, what, with which values, and what it all rests on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.trace import Kind
from workbook.views.exchange_basis import rests_on
from workbook.views.exchange_http import answer, pairs, request
from workbook.views.markup import joined, tag
from workbook.views.plain import clean, wrap
from workbook.views.states import allowed
from workbook.views.table import INK, PRE, WIDEST
from workbook.views.view import View
from workbook.views.wording import IN_LABEL, OPAQUE, Wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.flows.machine import Machine, Row
    from workbook.trace import Record
    from workbook.views.markup import Markup
    from workbook.views.sequence import Line

KINDS: Mapping[Kind, str] = {
    Kind.EVENT: "An event: it happened, and the flow moves by it, as a row of the table of states says.",
    Kind.COMMAND: "A command: what is to be done next, as a row of the table of states says.",
    Kind.REFUSED: "Refused: it came where the table of states has no place for it. Nothing changed.",
    Kind.EXCHANGE: "Seen on the way: it happened between two steps, and the flow's own state stays as it is.",
    Kind.NOTE: "A remark.",
}
"""What a record is, in a sentence."""
TOLD: Mapping[str, str] = {
    "why": "the simulator's explanation; the real thing says less",
    "case": "a name of the public interface (sdk-b)",
    "fault": "what was played here",
    "told": "the error's own words",
}
"""What some values are, where their name does not say it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines under a heading; `plain` ones stand as they are, the others are sentences."""

    heading: str
    lines: tuple[str, ...]
    plain: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Detail(View):
    """All about one line.

    Attributes:
        title: the line's label.
        parts: what there is to know, in the order of reading.
    """

    title: str
    parts: tuple[Part, ...]

    def text(self) -> str:
        """The parts one under the other, at most 110 columns wide; what stands as it is may be wider."""
        lines = [self.title]
        for part in self.parts:
            lines += [f"  {part.heading}", *(f"    {line}".rstrip() for line in _wrapped(part))]
        return "\n".join(lines)

    def html(self) -> str:
        """The parts one under the other."""
        parts = (joined(tag("b", part.heading), _block(part)) for part in self.parts)
        return tag("div", tag("div", tag("b", self.title), style="font-size:1.1em"), *parts, style=f"color:{INK}")


class Named(Wording):
    """The names of one trace's opaque values, the same as in its sequence diagram."""

    def __init__(self, records: tuple[Record, ...]) -> None:
        super().__init__()
        for record in records:
            self.detail(record)

    def __call__(self, record: Record, name: str) -> str:
        """One value, told without its content."""
        value, raw = record.values.get(name), getattr(record.message, name)
        return f"«{self._owned(value) if isinstance(value, dict) else self._opaque(value, raw)}»"

    def _owned(self, summary: Mapping[str, object]) -> str:
        if not summary.get("serial"):
            return self._name(summary)
        return f"{self._name(summary)} for {summary.get('paymentInstrumentId')}, {summary.get('length')} characters"


def details(lines: tuple[Line, ...], machine: Machine) -> tuple[Detail, ...]:
    """The details of each line of a sequence; a line without a record has no more to tell than itself."""
    records = tuple(line.record for line in lines if line.record)
    teller = _Teller(records, machine)
    numbers = iter(range(len(records)))
    return tuple(
        Detail(line.heading, tuple(teller.parts(line, next(numbers)) if line.record else [_who(line)]))
        for line in lines
    )


class _Teller:
    def __init__(self, records: tuple[Record, ...], machine: Machine) -> None:
        self.records = records
        self.machine = machine
        self.named = Named(records)
        self.pairs = pairs(records)

    def parts(self, line: Line, number: int) -> Iterator[Part]:
        record = self.records[number]
        yield _who(line)
        yield Part("What it is", (KINDS[record.kind], *self._row(number)))
        if isinstance(record.message, m.ApiRequested | m.ApiAnswered | m.ApiFailed):
            yield from self._http(number)
        elif values := tuple(self._values(record)):
            yield _spelled(record, values)
        yield from self._marks(number)
        if told := rests_on(record):
            yield Part("What it rests on", told)

    def _row(self, number: int) -> Iterator[str]:
        """The row of the table, if there is one."""
        record = self.records[number]
        if record.kind is Kind.REFUSED:
            can = ", ".join(allowed(self.machine, str(record.before))) or "nothing"
            yield clean(f"What can happen in “{record.before}”: {can}.")
        elif record.kind is Kind.EVENT and (row := self._found(record)):
            yield _told(row)
        elif record.kind is Kind.COMMAND and (row := self._asking(number)):
            yield f"It is asked for by this row: {_told(row)}"

    def _found(self, record: Record) -> Row | None:
        rows = (row for row in self.machine.rows if (row.state, row.event) == (record.before, type(record.message)))
        return next(rows, None)

    def _asking(self, number: int) -> Row | None:
        """The row of the last event before a command."""
        events = (one for one in reversed(self.records[:number]) if one.kind is Kind.EVENT)
        return next((row for one in events if (row := self._found(one))), None)

    def _http(self, number: int) -> Iterator[Part]:
        """The request and its answer, whichever of the two the line is."""
        record, other = self.records[number], self.pairs.get(number)
        first = number if isinstance(record.message, m.ApiRequested) else other
        second = other if first == number else number
        if first is not None:
            yield Part("The request", tuple(request(self.records[first], self.named)), plain=True)
        if second is None:
            yield Part("The answer", ("None in this run, or none yet.",))
            return
        yield Part(f"The answer, at {self.records[second].at:.3f} s", self._answer(second), plain=True)

    def _answer(self, number: int) -> tuple[str, ...]:
        return tuple(answer(self.records[number], self.named))

    def _values(self, record: Record) -> Iterator[str]:
        for name, value in record.values.items():
            if value is None or value == "" or name in (*IN_LABEL, "basis"):
                continue
            told = self.named(record, name) if name in OPAQUE else _plain(value)
            yield f"{_camel(name)} = {told}{f'  ({TOLD[name]})' if name in TOLD else ''}"

    def _marks(self, number: int) -> Iterator[Part]:
        """What the simulator wrote into its own data: all else stays closed."""
        both = [one for one in (number, self.pairs.get(number)) if one is not None]
        marks = [mark for one in sorted(both) for mark in _marked(self.records[one])]
        if marks:
            yield Part("The simulator marked its data", tuple(dict.fromkeys(marks)), plain=True)


def _who(line: Line) -> Part:
    attempt = f", after attempt {line.attempt} began" if line.attempt else ""
    return Part(f"{line.sender} to {line.receiver}, at {line.at:.3f} s{attempt}", ())


def _spelled(record: Record, values: tuple[str, ...]) -> Part:
    """The values of a message; what passes between the SDK and whoever uses it is spelled as the document does."""
    message = record.message
    if Actor.SDK in (message.sender, message.receiver):
        lines = (clean(message.says), *(f"  {one}" for one in values))
        return Part("As the document spells it, with its values", lines, plain=True)
    return Part("Its values", values, plain=True)


def _told(row: Row) -> str:
    """A row as a sentence."""
    commands = ", ".join(f"“{command.says}”" for command in row.commands)
    then = f", and asks for {commands}" if commands else ""
    return clean(f"In “{row.state}”, “{row.event.says}” leads to “{row.to}”{then}.")


def _marked(record: Record) -> Iterator[str]:
    for name, value in record.values.items():
        if name in OPAQUE and isinstance(value, dict) and value.get("serial"):
            known = (f"{key}: {value[key]}" for key in ("kind", "serial", "paymentInstrumentId") if key in value)
            yield f"{_camel(name)}: simulated: not card data, {', '.join(known)}"


def _plain(value: object) -> str:
    """A value as the document would write it."""
    if isinstance(value, list):
        return clean(", ".join(map(_plain, value)) or "none")
    if isinstance(value, dict):
        return clean(", ".join(f"{key}: {one}" for key, one in value.items() if key != "digest"))
    return clean(str(value).lower() if isinstance(value, bool) else value)


def _camel(name: str) -> str:
    """A field's name in the document's spelling."""
    return re.sub("_([a-z])", lambda found: found[1].upper(), name)


def _wrapped(part: Part) -> Iterator[str]:
    for line in part.lines:
        yield from [line] if part.plain else wrap(line, WIDEST - 4)


def _block(part: Part) -> Markup:
    if part.plain:
        return tag("pre", "\n".join(part.lines), style=PRE)
    if len(part.lines) <= 1:
        return tag("div", *part.lines, style="margin:0 0 0.4em")
    items = (tag("li", line) for line in part.lines)
    return tag("ul", *items, style="margin:0.1em 0 0.4em;padding-left:1.3em")
