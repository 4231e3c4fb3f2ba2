"""A trace as the lines of its sequence diagram: what the list in words, the picture and the players share.

A line is one arrow between two actors, or a note. Which records become lines, and in which words, is decided here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.flows.trace import Kind, Record, Trace
from workbook.simulation.http import PHRASES
from workbook.views.html import RULE_ID
from workbook.views.table import clean

# The words of a record: the label on its arrow, and one line of detail below.
#
# Opaque data is never shown. The simulator's own is named by its purpose and its serial number. Any other value gets a
# number in the order of first appearance, so that a reader can follow it from one message to the next.

OPAQUE_FIELDS = ("sdk_input", "sdk_output")
IN_LABEL = ("method", "status", "fault")
# The words for a field's value; a field that is not listed is written with its name.
FIELD_WORDS = {
    **dict.fromkeys(("reason", "why", "text", "error", "message", "told"), "{}"),
    **dict.fromkeys(("case", "entries", "problems", "request", "line"), "{}"),
    "payment_instrument_id": "id {}",
    "card_display_name": "name “{}”",
    "card_address": "address {}",
    "status_code": "statusCode {}",
    "throwable": "throwable {}",
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
    "cards": "for {}",
    "found": "{} found",
    "brand": "brand {}",
    "call": "{}()",
    "succeeded": "authentication succeeded: {}",
    "pause": "after a pause of {} s",
    "location": "to {}",
    "with_key": "the API key goes along: {}",
    "really": "your code really took {} s",
    "outcome": "then it was {}",
    "name": "your {}() is never called",
    "meant": "did you mean {}()?",
}


def label(record: Record) -> str:
    """The words on the record's arrow."""
    message, path = record.message, "…/{id}/networkTokenActivationData"
    match message:
        case m.ApiAskedAgain():
            words = f"{message.method} again: {path}"
        case m.ApiRequested():
            words = f"{message.method} {path}"
        case m.ApiAnswered():
            words = f"{status(message.status)}{', sdkInput' if message.status == 200 else ''}"
        case m.AnswerLost(fault=fault) | m.AnswerRefused(fault=fault):
            words = f"{message.says}: {fault}"
        case _:
            words = message.says
    return f"refused: {clean(words)}" if record.kind is Kind.REFUSED else clean(words)


def status(code: int) -> str:
    """A status code with its registered phrase."""
    phrase = PHRASES.get(code) if isinstance(code, int) else None  # a trace may hold anything
    return f"{code} {phrase or '(not a registered status)'}"


class Wording:
    """The details of one trace's records. It numbers opaque values, so one instance serves one trace."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._instrument: object = None

    def detail(self, record: Record) -> str:
        """The record's values as one short line, redacted; empty when there is nothing to add."""
        parts = [f"not allowed in state “{record.before}”"] if record.kind is Kind.REFUSED else []
        only_if_true = ("hidden_by_scheme", "out_of_reach")
        for name, value in record.values.items():
            if name not in IN_LABEL and value is not None and value != "" and (value or name not in only_if_true):
                parts.append(self._part(record, name, value))
        return " · ".join(filter(None, (clean(part, 160) for part in parts)))

    def _part(self, record: Record, name: str, value: object) -> str:
        if name in OPAQUE_FIELDS:
            return self._opaque(value, getattr(record.message, name))
        if name == "payment_instrument_id":  # worth its space in a request, or when it is not the one seen first
            first, self._instrument = self._instrument, self._instrument or value
            if value == first and not isinstance(record.message, m.ApiRequested):
                return ""
        if name == "basis":  # without the rules, whose ids are beside the line already
            sources = (part.strip() for part in str(value).split(";"))
            return "; ".join(part for part in sources if not all(map(RULE_ID.fullmatch, part.split())))
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else f"{len(value)} cards"
        elif isinstance(value, bool):
            value = str(value).lower()
        phrase = FIELD_WORDS.get(name, f"{name.replace('_', ' ')} {{}}").format(value)
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
        words = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}.get(kind, kind)
        return f"simulated {words} #{serial}" if serial else f"simulated, unreadable, {size}"


FAILED = "✗ "
# The marks of a line that only the first or only the second of two compared runs has.
REMOVED, ADDED = "-", "+"


class Shape(StrEnum):
    """The form of a line; the forms differ in more than colour."""

    CALL = "call"
    HTTP = "HTTP"
    LOST = "lost"
    SCREEN = "screen"
    REFUSED = "refused"
    NOTE = "note"

    @property
    def arrives(self) -> bool:
        """False for a line that ends in a cross: nothing arrived, or nothing was accepted."""
        return self not in (Shape.LOST, Shape.REFUSED)


# The add button after a command to the screen.
BUTTON_AFTER: dict[type[m.Message], str] = {
    m.ShowButton: "shown",
    m.EnableButton: "shown",
    m.DisableButton: "disabled",
    m.HideButton: "hidden",
}


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
    def cross(self) -> str:
        """The cross before the label where something goes wrong; else empty."""
        return FAILED if self.failed else ""

    @property
    def words(self) -> str:
        """The line as a list has it."""
        who = "" if self.shape is Shape.NOTE else f"{self.sender} → {self.receiver}: "
        detail = f" ({self.detail})" if self.detail else ""
        return f"{self.at:.3f} s {who}{self.cross}{self.heading}{detail}"

    @property
    def sentence(self) -> str:
        """The line in words, for readers who do not see the picture."""
        who = "Note" if self.shape is Shape.NOTE else f"{self.sender} to {self.receiver}"
        detail = f" ({self.detail})" if self.detail else ""
        only = {REMOVED: "In the first run only: ", ADDED: "In the second run only: "}.get(self.mark, "")
        return f"{only}{self.at:.3f} s, {who}: {self.heading}{detail}."


@dataclass(frozen=True, repr=False)
class Lines:
    """The lines of a trace, or of two that are compared.

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
        meanings = {
            "sdkInput": "opaque data from the API for the SDK; the app and the back end only relay it",
            "sdkOutput": "opaque data from the SDK for the API, sent in the POST",
            "OPC data": "Opaque Payment Card data: the sdkInput that the POST returns",
        }
        return tuple((word, meaning) for word, meaning in meanings.items() if word in words)


def lines_of(trace: Trace) -> tuple[SequenceLine, ...]:
    """The lines of a trace."""
    wording = Wording()
    return tuple(_line(record, wording) for record in trace if is_line(record))


def is_line(record: Record) -> bool:
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
        BUTTON_AFTER.get(type(message), "") if command else "",
        message.fails or (isinstance(message, m.ApiAnswered) and message.status != 200),
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
