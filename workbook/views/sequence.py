"""A trace as a sequence diagram: its lines, a list in words, and one self-contained SVG document.

A line is one arrow between two actors, or a note. Which records become lines, and in which words, is decided here: the
list in words, the picture and the players share them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from workbook.base.rules import sentence
from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.flows.trace import Kind, Record, Trace
from workbook.simulation.http import PHRASES
from workbook.views.html import RULE_ID, Markup, View, join, tag, void
from workbook.views.paint import Picture, document, ground, sheet
from workbook.views.table import TEXT_WIDTH, clean, cut, width, wrap

# The words of a record: the label on its arrow, and one line of detail below.
#
# Opaque data is never shown. The simulator's own is named by its purpose and its serial number. Any other value gets a
# number in the order of first appearance, so that a reader can follow it from one message to the next.

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
        if name in m.OPAQUE:
            return self._opaque(value, record.message.value(name))
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
    return tuple(_make_line(record, wording) for record in trace if is_line(record))


def is_line(record: Record) -> bool:
    """Whether the record is a line of the diagram."""
    return record.message.arrow or record.kind is Kind.REFUSED


def _make_line(record: Record, wording: Wording) -> SequenceLine:
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


@dataclass(frozen=True, repr=False)
class Sequence(View, Lines):
    """A sequence diagram."""

    def text(self) -> str:
        """The diagram as a list of its lines, with the ids of their rules, at most 110 columns wide."""
        rows = [cut(self.title, TEXT_WIDTH)]
        for line in self.rows:
            if isinstance(line, str):
                rows.append(f"  {line}")
                continue
            first, *more = wrap(f"{line.words} {' '.join(line.rules)}", TEXT_WIDTH - 4)
            rows += [f"  {first}", *(f"    {part}" for part in more)]
        words = (f"{word:<12}{meaning}" for word, meaning in self.glossary)
        return "\n".join([*rows, *words] if self.lines else [*rows, "Nothing happened yet."])

    @property
    def picture(self) -> Picture:
        """The diagram as a picture, at most 1000 pixels wide."""
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
    lines = lines_of(trace)
    present = {actor for line in lines for actor in (line.sender, line.receiver)}
    return Sequence(clean(trace.title), tuple(actor for actor in Actor if actor in present), lines)


# The picture has two layers, painted one over the other: the lifelines, and the lines of the sequence. A line is one
# group with all its parts, so that a player can show and hide it; where it has a tint behind it, its group repeats the
# lifelines over the tint. Words have a halo in the colour of their ground, so that no lifeline cuts them.


@dataclass(frozen=True, slots=True)
class Measures:
    """How a picture is laid out across, in pixels.

    Attributes:
        width: of the whole picture.
        left: lifelines and their words are between this and `right`; the time is left of it.
        right: rule ids are right of it, where there is room for them.
        box: the width of an actor's box.
    """

    width: int
    left: int
    right: int
    box: int

    @property
    def rules(self) -> bool:
        """Whether there is room for the rule ids."""
        return self.width - self.right > self.box


WIDE = Measures(1000, 84, 868, 108)
# The width of a character of a label and of a detail, in pixels: more than in any common font.
LABEL_WIDTH, DETAIL_WIDTH = 7.4, 6.5
LINE_HEIGHT = 15
BOX_HEIGHT = 34
# Where the boxes with the actors' names begin.
NAMES_TOP = 64


@dataclass(frozen=True, slots=True)
class Painted:
    """A picture of a sequence.

    Attributes:
        picture: line N of the sequence is the group with `data-line="N"`, from 0.
        rows: where each line begins from the top and how high it is, in pixels.
    """

    picture: Picture
    rows: tuple[tuple[int, int], ...]


def narrow(actors: int) -> Measures:
    """The measures for a picture beside others: the actors are close together, and there are no rule ids."""
    room = max(522, 77 * actors)
    return Measures(64 + room + 4, 64, 64 + room, min(108, room // max(actors, 1) - 2))


def paint(sequence: Lines, measures: Measures = WIDE) -> Painted:
    """The picture of a sequence, the same bytes on every run, and where in it each line is."""
    first, last = measures.left + measures.box // 2, measures.right - measures.box // 2
    gap = (last - first) // max(len(sequence.columns) - 1, 1)
    lanes = {actor: first + number * gap for number, actor in enumerate(sequence.columns)}
    lines: list[Markup] = []
    rows: list[tuple[int, int]] = []
    y, named = NAMES_TOP + BOX_HEIGHT + 14, NAMES_TOP
    for line in sequence.rows:
        if isinstance(line, str):
            lines += _band(line, y, measures)
            y += 40
            continue
        if measures.rules and y - named >= 560 and len(sequence.lines) - len(rows) >= 4:
            # Again for a reader who has scrolled, where some lines still come. A narrow picture is in a player, which
            # keeps the names in sight.
            named = y + 8
            lines += _names(lanes, named, measures)
            y = named + BOX_HEIGHT + 8
        parts, height = _line(line, tuple(lanes.items()), y, measures)
        failed = " is-failed" if line.failed else ""
        added = {REMOVED: " is-removed", ADDED: " is-added"}.get(line.mark, "")
        lines.append(tag("g", *parts, class_=f"is-{line.shape.lower()}{failed}{added}", data_line=len(rows)))
        rows.append((y, height))
        y += height
    # The height is known only now, so the page and the lifelines are made last, though they are painted first.
    words = list(_glossary(sequence, y + 34, measures))
    height = y + 32 + 18 * len(words)
    heads = [
        tag("text", cut(sequence.title, measures.width // 10), class_="wb-title", x=24, y=36),
        tag("text", "time", class_="wb-time", x=measures.left - 14, y=NAMES_TOP + 22),
    ]
    if measures.rules:
        heads.append(tag("text", "rules", class_="wb-rules", x=measures.right + 14, y=NAMES_TOP + 22))
    title = f"Sequence diagram: {sequence.title}"
    sentences = " ".join(line.sentence for line in sequence.lines) or "Nothing happened yet."
    picture = document(
        "wb-sequence", sheet("sequence"), title, sentences, (measures.width, height),
        ground(measures.width, height), *_threads(lanes, NAMES_TOP + BOX_HEIGHT, y + 6), *words,
        *heads, *_names(lanes, NAMES_TOP, measures), *lines,
        alt=f"{title}, {len(sequence.lines)} lines. The same as text follows.",
    )  # fmt: skip
    return Painted(picture, tuple(rows))


def _threads(lanes: Mapping[Actor, int], top: int, end: int) -> Iterator[Markup]:
    """The lifelines from `top` to `end`; their dashes continue those above."""
    offset = (top - NAMES_TOP - BOX_HEIGHT) % 6 or None  # a dash and the gap after it
    for x in lanes.values():
        yield void("line", class_="wb-thread", x1=x, y1=top, x2=x, y2=end, stroke_dashoffset=offset)


def _names(lanes: Mapping[Actor, int], top: int, measures: Measures) -> Iterator[Markup]:
    """The actors' names in boxes, each over its lifeline."""
    longest = max((len(actor.value) for actor in lanes), default=1)
    size = min(13, round((measures.box - 10) / (0.62 * longest), 1))  # a bold character is 0.62 of its size wide
    style = None if size == 13 else f"font-size:{size:g}px"  # the style sheet's own
    for actor, x in lanes.items():
        place = {"x": x - measures.box // 2, "y": top, "width": measures.box, "height": BOX_HEIGHT, "rx": 9}
        yield void("rect", class_="wb-box", **place)
        yield tag("text", cut(actor.value, 14), class_="wb-actor on-box", x=x, y=top + 22, style=style)


def _glossary(sequence: Lines, y: int, measures: Measures) -> Iterator[Markup]:
    """The meaning of the document's words, below the picture."""
    for word, meaning in sequence.glossary:
        first, *more = wrap(f"{word}: {meaning}", int((measures.width - 48) / DETAIL_WIDTH))
        name = tag("tspan", word, font_weight=600, class_="wb-word")
        for text in (join(name, first.removeprefix(word)), *more):
            yield tag("text", text, class_="wb-detail", x=24, y=y)
            y += 18


def _band(title: str, y: int, measures: Measures) -> Iterator[Markup]:
    """A rule across the page with a word in it."""
    y, middle = y + 20, (measures.left + measures.right) // 2
    yield void("line", class_="wb-band", x1=24, y1=y, x2=measures.width - 24, y2=y)
    yield void("rect", class_="wb-box", x=middle - 74, y=y - 12, width=148, height=24, rx=12)
    yield tag("text", title, class_="wb-actor on-box", x=middle, y=y + 5)


@lru_cache(maxsize=1024)
def _line(
    line: SequenceLine, places: tuple[tuple[Actor, int], ...], top: int, measures: Measures
) -> tuple[tuple[Markup, ...], int]:
    """The parts of one line and its height: its words, its arrow below them, its detail below that."""
    # Kept, because a run that is played once more with a message broken has the same lines up to there.
    lanes = dict(places)
    room = measures.right - measures.left
    behind = {Shape.HTTP: "on-tint", Shape.LOST: "on-tint", Shape.NOTE: "on-box"}.get(line.shape, "")
    labels = wrap(line.cross + line.label, int(room / LABEL_WIDTH) - 14)
    details = wrap(line.detail, int(room / DETAIL_WIDTH))
    rules = wrap(" ".join(line.rules), 16) if measures.rules else []
    shaft = top + 6 + LINE_HEIGHT * len(labels) + (0 if line.shape is Shape.NOTE else 6)
    height = max(shaft + 8 + LINE_HEIGHT * len(details), top + 4 + LINE_HEIGHT * len(rules)) + 6 - top
    parts: list[Markup] = []
    first, time = top + 17, measures.left - 14

    def write(name: str, texts: list[str], x: int, y: int, **more: object) -> None:
        for number, text in enumerate(texts):
            place = {"x": x, "y": y + LINE_HEIGHT * number, "text_anchor": None} | more
            parts.append(tag("text", text, class_=f"{name} {behind}".strip(), **place))

    if behind:
        edge = 12 if measures.rules else 4
        place = {"x": edge, "y": top, "width": measures.width - 2 * edge, "height": height}
        parts += [void("rect", class_=behind.replace("on-", "wb-"), **place), *_threads(lanes, top, top + height)]
    if line.mark:
        parts.append(void("line", class_="wb-bar", x1=4, y1=top + 1, x2=4, y2=top + height - 1))
        write("wb-mark", [line.mark], 10, first + LINE_HEIGHT)
    write("wb-time", [f"{line.at:.3f} s"], time, first)
    write("wb-rules", rules, measures.right + 14, first)
    if line.shape in (Shape.HTTP, Shape.LOST):
        write("wb-time", ["HTTP"], time, first + LINE_HEIGHT, font_weight=600)
    source, target = lanes[line.sender], lanes[line.receiver]
    if line.shape is not Shape.NOTE:
        parts += _painted_arrow(line, source, target, shaft)
    if line.button:
        place = {"x": target - 25, "y": shaft - 11, "width": 50, "height": 22, "rx": 11}
        parts.append(void("rect", class_=f"wb-{line.button}", **place))
        parts.append(tag("text", "Add", class_=f"wb-actor wb-add on-{line.button}", x=target, y=shaft + 4))

    ends = source, target + (25 if line.button else 0)
    x, anchor = _words_place(ends, width(line.cross + line.heading) * LABEL_WIDTH, measures)
    write("wb-label", labels[:-1], x, first, text_anchor=anchor)
    mark = tag("tspan", " [deprecated]", class_="wb-deprecated") if line.deprecated else ""
    last = first + LINE_HEIGHT * max(len(labels) - 1, 0)
    write("wb-label", [join(*labels[-1:], mark)], x, last, text_anchor=anchor)
    # The detail has a place of its own, so a long one leaves the label at its arrow.
    x, anchor = _words_place(ends, width(line.detail) * DETAIL_WIDTH, measures)
    write("wb-detail", details, x, shaft + 17, text_anchor=anchor)
    return tuple(parts), height


def _words_place(ends: tuple[int, int], space: float, measures: Measures) -> tuple[int, str]:
    """Where words of this width go: over an arrow that is long enough, else beside one end, else on the whole line."""
    left, right = sorted(ends)
    if space <= right - left - 20:
        return (left + right) // 2, "middle"
    if left + 12 + space <= measures.right:
        return left + 12, "start"
    if right - 12 - space >= measures.left:
        return right - 12, "end"
    return measures.left + 4, "start"


def _painted_arrow(line: SequenceLine, source: int, target: int, y: int) -> Iterator[Markup]:
    """The shaft, and its head; a cross instead of the head where nothing arrived or nothing was accepted."""
    if source == target:
        x, y, step, cross = source + 2, y + 4, -1, source + 8
        yield void("path", class_="wb-shaft", d=f"M{source} {y - 10}h22v10h-12")
    else:
        step = 1 if target > source else -1
        x = target - step * (28 if line.button else 3)
        cross = x - step * (30 if line.shape is Shape.LOST else 6)
        end = cross if line.shape is Shape.LOST else x - step * 8
        yield void("line", class_="wb-shaft", x1=source, y1=y, x2=end, y2=y)
    if not line.shape.arrives:
        yield void("path", class_="wb-cross", d=f"M{cross - 6} {y - 6}l12 12m0-12l-12 12")
    else:
        yield void("path", class_="wb-head", d=f"M{x} {y}l{-step * 10}-5v10z")
