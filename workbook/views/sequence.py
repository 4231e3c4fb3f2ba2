"""A trace as a sequence diagram: the lines and their words, which the text drawing and the picture share.

A line is one arrow between two actors, or a note. Which records become lines, and in which words, is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any

from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.rules import sentence
from workbook.simulation.http import PHRASES
from workbook.trace import Kind, Record, Trace
from workbook.views.html import View, tag
from workbook.views.paint import Picture
from workbook.views.table import ONE_CELL, clean, cut, glyphs, width, wrap

# The words of a record: the label on its arrow, and one line of detail below.
#
# Opaque data is never shown. The simulator's own is named by its purpose and its serial number. Any other value gets a
# number in the order of first appearance, so that a reader can follow it from one message to the next.

PATH = "…/{id}/networkTokenActivationData"
OK = 200
LONGEST = 160
"""A detail shows at most this many characters of one value."""
OPAQUE = ("sdk_input", "sdk_output")
IN_LABEL = ("method", "status", "fault")
IF_TRUE = ("hidden_by_scheme", "out_of_reach")
"""Fields that are shown only if they hold something."""
KINDS = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}
WORDS = {
    "payment_instrument_id": "id {}",
    "card_display_name": "name “{}”",
    "card_address": "address {}",
    "status_code": "statusCode {}",
    "throwable": "throwable {}",
    "reason": "{}",
    "why": "{}",
    "text": "{}",
    "error": "{}",
    "message": "{}",
    "told": "{}",
    "case": "{}",
    "where": "the cardholder chose: {}",
    "instance": "instance {}",
    "is_watch_activated": "isWatchActivated = {}",
    "requires_authentication": "requiresAuthentication = {}",
    "can_add_to_phone": "to the phone: {}",
    "can_add_to_watch": "to the watch: {}",
    "phone": "missing on the phone: {}",
    "watch": "missing on the watch: {}",
    "hidden_by_scheme": "hidden from this app by the scheme: {}",
    "out_of_reach": "{} out of reach",
    "identifier": "entry {}",
    "entries": "{}",
    "cards": "for {}",
    "found": "{} found",
    "brand": "brand {}",
    "problems": "{}",
    "request": "{}",
    "call": "{}()",
    "succeeded": "authentication succeeded: {}",
    "pause": "after a pause of {} s",
    "location": "to {}",
    "with_key": "the API key goes along: {}",
    "line": "{}",
    "really": "your code really took {} s",
    "name": "your {}() is never called",
    "meant": "did you mean {}()?",
}
"""The words for a field's value; a field that is not listed is written with its name."""

RULE_IDS = re.compile(r"[A-Z]+(-[A-Z]+)*-\d+( [A-Z]+(-[A-Z]+)*-\d+)*")

GLOSSARY = {
    "sdkInput": "opaque data from the API for the SDK; the app and the back end only relay it",
    "sdkOutput": "opaque data from the SDK for the API, sent in the POST",
    "OPC data": "Opaque Payment Card data: the sdkInput that the POST returns",
}


def label(record: Record) -> str:
    """The words on the record's arrow."""
    message = record.message
    match message:
        case m.ApiAskedAgain():
            words = f"{message.method} again: {PATH}"
        case m.ApiRequested():
            words = f"{message.method} {PATH}"
        case m.ApiAnswered():
            words = f"{status(message.status)}{', sdkInput' if message.status == OK else ''}"
        case m.AnswerLost(fault=fault) | m.AnswerRefused(fault=fault):
            words = f"{message.says}: {fault}"
        case _:
            words = message.says
    return f"refused: {clean(words)}" if record.kind is Kind.REFUSED else clean(words)


def status(code: int) -> str:
    """A status code with its registered phrase."""
    return f"{code} {PHRASES.get(code, '(not a registered status)')}"


class Wording:
    """The details of one trace's records. It numbers opaque values, so one instance serves one trace."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._instrument: object = None

    def detail(self, record: Record) -> str:
        """The record's values as one short line, redacted; empty when there is nothing to add."""
        parts = [f"not allowed in state “{record.before}”"] if record.kind is Kind.REFUSED else []
        for name, value in record.values.items():
            if name not in IN_LABEL and value is not None and value != "" and (value or name not in IF_TRUE):
                parts.append(self._part(record, name, value))
        return " · ".join(filter(None, (clean(part, LONGEST) for part in parts)))

    def _part(self, record: Record, name: str, value: object) -> str:
        if name in OPAQUE:
            return self._opaque(value, getattr(record.message, name))
        if name == "payment_instrument_id":  # worth its space in a request, or when it is not the one seen first
            first, self._instrument = self._instrument, self._instrument or value
            if value == first and not isinstance(record.message, m.ApiRequested):
                return ""
        if name == "basis":  # without the rules, whose ids are beside the line already
            sources = (part.strip() for part in str(value).split(";"))
            return "; ".join(part for part in sources if not RULE_IDS.fullmatch(part))
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else f"{len(value)} cards"
        elif isinstance(value, bool):
            value = str(value).lower()
        phrase = WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(value)
        tags = ", ".join(tag for tag in record.value_bases(name) if not phrase.endswith((f"({tag})", f"is {tag}")))
        return f"{phrase} ({tags})" if tags else phrase

    def _opaque(self, value: object, raw: object) -> str:
        if isinstance(value, dict):
            owner = value.get("paymentInstrumentId")
            other = f" for {owner}" if owner not in (None, self._instrument) else ""
            return f"{self._name(value)}{other}{', as bytes' if isinstance(raw, bytes) else ''}"
        if isinstance(raw, bytes | str):
            return f"a body of {len(raw)} bytes" if isinstance(raw, bytes) else f"bare text, {len(raw)} characters"
        return f"{type(raw).__name__}, not shown"

    def _name(self, summary: Mapping[str, Any]) -> str:
        size = f"{summary.get('length')} characters"
        if not summary.get("simulated"):
            number = self._numbers.setdefault(str(summary.get("digest")), len(self._numbers) + 1)
            return f"opaque value #{number}, {size}"
        kind, serial = str(summary.get("kind")), summary.get("serial")
        return f"simulated {KINDS.get(kind, kind)} #{serial}" if serial else f"simulated, unreadable, {size}"


FAILED = "✗ "
REMOVED, ADDED = "-", "+"
"""The marks of a line that only the first or only the second of two compared runs has."""


class Shape(StrEnum):
    """The form of a line; the forms differ in more than colour."""

    CALL = "call"
    HTTP = "HTTP"
    LOST = "lost"
    SCREEN = "screen"
    REFUSED = "refused"
    NOTE = "note"


BUTTONS: dict[type[m.Message], str] = {
    m.ShowButton: "shown",
    m.EnableButton: "shown",
    m.DisableButton: "disabled",
    m.HideButton: "hidden",
}
"""The add button after a command to the screen."""


@dataclass(frozen=True, slots=True)
class SequenceLine:
    """One line of the diagram.

    Attributes:
        at: seconds since the run began.
        label: the words on the arrow.
        detail: the values of the message, redacted; may be empty.
        rules: the ids of the rules behind the step, and the tags of its sources beside the document.
        attempt: the number of the tap that it belongs to, from 1; 0 before the first.
        deprecated: the call works, but the variant advises against it.
        button: the state of the add button after a command that changes it: shown, disabled or hidden.
        failed: something goes wrong with it, or it comes too late.
        mark: `REMOVED` or `ADDED` where two runs are compared and only one has this line; else empty.
        record: the record of the trace; it may hold secrets, so no text form shows it.
    """

    at: float
    shape: Shape
    sender: Actor
    receiver: Actor
    label: str
    detail: str
    rules: tuple[str, ...]
    attempt: int = 0
    deprecated: bool = False
    button: str = ""
    failed: bool = False
    mark: str = ""
    record: Record | None = field(default=None, repr=False, compare=False)

    @property
    def heading(self) -> str:
        """The label, and "deprecated" in words where that is so."""
        return f"{self.label} [deprecated]" if self.deprecated else self.label

    @property
    def sentence(self) -> str:
        """The line in words, for readers who do not see the picture."""
        who = "Note" if self.shape is Shape.NOTE else f"{self.sender} to {self.receiver}"
        detail = f" ({self.detail})" if self.detail else ""
        only = {REMOVED: "In the first run only: ", ADDED: "In the second run only: "}.get(self.mark, "")
        return f"{only}{self.at:.3f} s, {who}: {self.heading}{detail}."


@dataclass(frozen=True, repr=False)
class Sequence(View):
    """A sequence diagram.

    Attributes:
        title: the trace's title.
        columns: the actors that occur, in the order of `Actor`.
        lines: the messages, in order.
    """

    title: str
    columns: tuple[Actor, ...]
    lines: tuple[SequenceLine, ...]

    @property
    def rows(self) -> Iterator[str | SequenceLine]:
        """The lines, with "attempt 1 begins" and so on before the first line of each."""
        attempt = 0
        for line in self.lines:
            if line.attempt not in (0, attempt):
                yield f"attempt {line.attempt} begins"
            attempt = line.attempt or attempt
            yield line

    @property
    def glossary(self) -> tuple[tuple[str, str], ...]:
        """The document's words that occur, each with its meaning."""
        words = " ".join(f"{line.label} {line.detail}" for line in self.lines)
        return tuple((word, meaning) for word, meaning in GLOSSARY.items() if word in words)

    def text(self) -> str:
        """The diagram as a fixed-width drawing, at most 110 columns wide."""
        return self._drawing

    @cached_property
    def _drawing(self) -> str:
        return draw(self)  # kept: a cell shows it as text, and again folded up below the picture

    @property
    def picture(self) -> Picture:
        """The diagram as a picture, at most 1000 pixels wide."""
        from workbook.views.sequence_svg import paint  # a renderer reads the model, not the reverse

        return paint(self).picture

    def svg(self) -> str:
        """The picture as a self-contained SVG document."""
        return self.picture.svg

    def html(self) -> str:
        """The picture, with the rules beside it as a footnote, and the text form, both folded up below it."""
        named = dict.fromkeys(rule_id for line in self.lines for rule_id in line.rules)
        rules = [tag("li", tag("b", rule_id), f" {text}") for rule_id in named if (text := sentence(rule_id))]
        footnote = tag("details", tag("summary", "The rules beside it"), tag("ul", *rules))
        return self.picture.figure(self.text(), *([footnote] if rules else []))


def sequence(trace: Trace) -> Sequence:
    """The sequence diagram of a trace."""
    wording = Wording()
    lines = tuple(_line(record, wording) for record in trace if drawn(record))
    present = {actor for line in lines for actor in (line.sender, line.receiver)}
    return Sequence(clean(trace.title), tuple(actor for actor in Actor if actor in present), lines)


def drawn(record: Record) -> bool:
    """Whether the record is a line of the diagram."""
    return record.message.arrow or record.kind is Kind.REFUSED


def _line(record: Record, wording: Wording) -> SequenceLine:
    message, shape, detail = record.message, _shape(record), wording.detail(record)
    note, command = shape is Shape.NOTE, record.kind is Kind.COMMAND
    return SequenceLine(
        record.at,
        shape,
        message.sender,
        message.receiver,
        f"note: {detail}" if note else label(record),
        "" if note else detail,
        tuple(map(clean, (*record.rules, *record.bases))),
        record.attempt,
        record.deprecated,
        BUTTONS.get(type(message), "") if command else "",
        message.fails or (isinstance(message, m.ApiAnswered) and message.status != OK),
        record=record,
    )


def _shape(record: Record) -> Shape:
    match record.kind:
        case Kind.REFUSED:
            return Shape.REFUSED
        case Kind.EXCHANGE if isinstance(record.message, m.ApiFailed) and not isinstance(
            record.message, m.AnswerRefused
        ):
            return Shape.LOST
        case Kind.EXCHANGE if Actor.API in (record.message.sender, record.message.receiver):
            return Shape.HTTP
        case Kind.NOTE:
            return Shape.NOTE
        case Kind.COMMAND if record.message.receiver is Actor.CARDHOLDER:
            return Shape.SCREEN
        case _:
            return Shape.CALL


# A sequence diagram as a fixed-width drawing: time on the left, lifelines, rule ids on the right.
#
# Each line's words come first, with its arrow below them. Words may cross a lifeline but never other words, because
# every line has rows of its own.

WIDTH = 110
MARGIN = 10
"""Cells for the time on the left."""
RULES = 19
"""Cells for the rule ids on the right."""
EDGE = WIDTH - RULES - 1
"""Where the drawing ends and the rule ids begin."""
WIDEST_GAP = 22

SHAFTS = {Shape.HTTP: "═", Shape.LOST: "╌", Shape.REFUSED: "╌"}
NO_ARRIVAL = (Shape.LOST, Shape.REFUSED)
BUTTON_TEXTS = {"shown": "[ Add ]", "disabled": "[ Add ] greyed out", "hidden": "[     ] gone"}

Row = list[str]
"""A row of cells, each with one character, or with a wide character and then an empty text."""


def draw(sequence: Sequence) -> str:
    """The drawing of a sequence, without a closing newline."""
    title = cut(sequence.title, WIDTH)
    if not sequence.lines:
        return f"{title}\nNothing happened yet."
    page = TextPage(sequence.columns)
    rows = [*page.head()]
    for line in sequence.rows:
        rows += page.band(line) if isinstance(line, str) else page.line(line)
    rows.append(page.row("┴"))
    words = (f"{word:<{MARGIN + 2}}{meaning}" for word, meaning in sequence.glossary)
    return "\n".join([title, *("".join(row).rstrip() for row in rows), *words])


def write(row: Row, start: int, text: str) -> Row:
    """Put `text` into the cells from `start` on, over what they hold; a wide character takes two."""
    if ONE_CELL(text):
        row[start : start + len(text)] = text
        return row
    for glyph, cells in glyphs(text):
        row[start : start + cells] = [glyph, ""][:cells]  # a mark without a letter is lost
        start += cells
    return row


class TextPage:
    """The actors' lifelines, `lanes[actor]` cells from the left, and the rows between them."""

    def __init__(self, columns: tuple[Actor, ...]) -> None:
        halves = [len(actor.value) // 2 + 2 for actor in columns]
        first, last = MARGIN + halves[0], EDGE - 1 - halves[-1]
        self.gap = min(WIDEST_GAP, (last - first) // max(len(columns) - 1, 1))
        self.boxed = all(half + other < self.gap for half, other in pairwise(halves))
        self.lanes = {actor: first + number * self.gap for number, actor in enumerate(columns)}
        self.left, self.right = min(self.lanes.values()), max(self.lanes.values())
        self._empty = self.row("│")

    def row(self, cell: str) -> Row:
        """A row with this character on each lifeline."""
        row = [" "] * WIDTH
        for lane in self.lanes.values():
            row[lane] = cell
        return row

    def head(self) -> tuple[Row, ...]:
        """The actors' names, in boxes where there is room for boxes."""
        top, middle, bottom = ([" "] * WIDTH for _ in range(3))
        for actor, lane in self.lanes.items():
            if self.boxed:
                name = f" {actor.value} "
                start = lane - (len(name) + 2) // 2
                write(top, start, "┌" + "─" * len(name) + "┐")
                write(middle, start, f"│{name}│")
                write(write(bottom, start, "└" + "─" * len(name) + "┘"), lane, "┬")
            else:
                name = cut(actor.value, self.gap - 1)
                write(middle, lane - len(name) // 2, name)
        return (top, middle, bottom) if self.boxed else (middle, self.row("┬"))

    def band(self, title: str) -> tuple[Row, Row]:
        """A rule across the page with a word in it."""
        rule = f" {title} ".center(self.right - self.left + 1, "━")
        return [*self._empty], write([*self._empty], self.left, rule)

    def line(self, line: SequenceLine) -> list[Row]:
        """The rows of one line: its words, its arrow, the time and the rules beside them."""
        words, arrow = self._words(line), self._arrow(line)
        rules = wrap(" ".join(line.rules), RULES)
        spare = [[*self._empty] for _ in range(len(rules) - len(words) - len(arrow))]
        rows = [*words, *spare, *arrow]
        write(rows[0], 0, cut(f"{line.at:7.3f} s{line.mark}", MARGIN))
        for row, rule in zip(rows, rules, strict=False):
            write(row, WIDTH - RULES, rule)
        return rows

    def _words(self, line: SequenceLine) -> list[Row]:
        """Label and detail: on one row if that fits beside the arrow's left end, else each on rows of its own."""
        heading = f"{FAILED * line.failed}{line.heading}  {BUTTON_TEXTS.get(line.button, '')}".rstrip()
        if line.shape is Shape.NOTE:
            return self._block(heading, self.left + 2, "┃ ")
        detail = f"({line.detail})" if line.detail else ""
        start = min(self.lanes[line.sender], self.lanes[line.receiver]) + 2
        both = f"{heading}  {detail}"
        if detail and start + width(both) < EDGE:
            return self._block(both, start)
        return [*self._block(heading, start), *self._block(detail, start)]

    def _block(self, text: str, start: int, mark: str = "") -> list[Row]:
        """Rows of words from `start` on, or as far to the left as the widest of them needs."""
        room = EDGE - 1 - (start if mark else MARGIN) - width(mark)
        pieces = [mark + piece for piece in wrap(text, max(room, 20))]
        start = min(start, *(EDGE - 1 - width(piece) for piece in pieces), EDGE)
        return [write([*self._empty], start - 1, f" {piece} ") for piece in pieces]

    def _arrow(self, line: SequenceLine) -> list[Row]:
        if line.shape is Shape.NOTE:
            return []
        source, target = self.lanes[line.sender], self.lanes[line.receiver]
        left, right = sorted((source, target))
        head = "✗" if line.shape in NO_ARRIVAL else "►" if source < target else "◄"
        if left == right:
            return [write([*self._empty], left, "├──╮"), write([*self._empty], left, f"│{head}─╯")]
        shaft = SHAFTS.get(line.shape, "─") * (right - left - 2)
        return [write([*self._empty], left + 1, shaft + head if source < target else head + shaft)]
