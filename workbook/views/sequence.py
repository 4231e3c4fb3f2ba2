"""A trace as a sequence diagram: the model that the text drawing and the picture share.

A line is what a reader sees between two actors. Which records become lines, and in what words, is
decided here; where they stand on the page is the renderers' business.
"""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.trace import Kind
from workbook.views.markup import tag, void
from workbook.views.plain import clean
from workbook.views.table import preformatted
from workbook.views.view import View
from workbook.views.wording import GLOSSARY, Wording, label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.trace import Record, Trace


class Shape(StrEnum):
    """How a line is drawn. Each differs in form, never in colour alone."""

    CALL = "call"
    HTTP = "HTTP"
    SCREEN = "screen"
    REFUSED = "refused"
    NOTE = "note"


BUTTONS: dict[type[m.Message], str] = {
    m.ShowButton: "shown",
    m.EnableButton: "shown",
    m.DisableButton: "disabled",
    m.HideButton: "hidden",
}
"""What a command to the screen makes of the add button."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the diagram.

    Attributes:
        at: seconds since the run began.
        label: what stands on the arrow.
        detail: the values that travel, redacted; may be empty.
        rules: the ids of the rules that the step rests on.
        attempt: which tap it belongs to, counted from 1; 0 before the first.
        deprecated: the call works, and the variant advises against it.
        button: for a change of the add button, what it becomes: shown, disabled or hidden.
        record: what the line was drawn from; it may hold what must not be shown, so no text form has it.
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
    record: Record | None = field(default=None, repr=False, compare=False)

    @property
    def heading(self) -> str:
        """The label, and "deprecated" in words where that is so."""
        return f"{self.label} [deprecated]" if self.deprecated else self.label

    @property
    def sentence(self) -> str:
        """The line in words, for those who do not see the picture."""
        who = "Note" if self.shape is Shape.NOTE else f"{self.sender} to {self.receiver}"
        told = f" ({self.detail})" if self.detail else ""
        return f"{self.at:.3f} s, {who}: {self.heading}{told}."


@dataclass(frozen=True, slots=True, repr=False)
class Sequence(View):
    """A sequence diagram.

    Attributes:
        title: the trace's title.
        columns: the actors that occur, in their order.
        lines: what happened, in order.
    """

    title: str
    columns: tuple[Actor, ...]
    lines: tuple[Line, ...]

    @property
    def rows(self) -> Iterator[str | Line]:
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
        told = " ".join(f"{line.label} {line.detail}" for line in self.lines)
        return tuple((word, meaning) for word, meaning in GLOSSARY.items() if word in told)

    def text(self) -> str:
        """The diagram as a fixed-width drawing, at most 110 columns wide."""
        from workbook.views.sequence_text import draw  # noqa: PLC0415  # a renderer reads the model, not the reverse

        return draw(self)

    def svg(self) -> str:
        """The diagram as a self-contained SVG document, at most 1000 pixels wide."""
        from workbook.views.sequence_svg import draw  # noqa: PLC0415  # a renderer reads the model, not the reverse

        return draw(self)

    def html(self) -> str:
        """The picture with the text form folded up below it.

        The SVG travels as an image: that survives a sanitiser, and its styles touch nothing else on the page.
        """
        source = "data:image/svg+xml;base64," + b64encode(self.svg().encode()).decode("ascii")
        name = f"Sequence diagram: {self.title}, {len(self.lines)} lines. The same as text follows."
        image = void("img", alt=name, src=source, style="max-width:100%;height:auto")
        folded = tag("details", tag("summary", "The same as text"), preformatted(self.text()))
        return tag("figure", image, folded, style="margin:0")


def sequence(trace: Trace) -> Sequence:
    """The sequence diagram of a trace."""
    wording = Wording()
    lines = tuple(_line(record, wording) for record in trace if drawn(record))
    present = {actor for line in lines for actor in (line.sender, line.receiver)}
    return Sequence(clean(trace.title), tuple(actor for actor in Actor if actor in present), lines)


def drawn(record: Record) -> bool:
    """Whether the record is a line of the diagram."""
    return record.message.arrow or record.kind is Kind.REFUSED


def _line(record: Record, wording: Wording) -> Line:
    message, shape, detail = record.message, _shape(record), wording.detail(record)
    note = shape is Shape.NOTE
    return Line(
        record.at,
        shape,
        message.sender,
        message.receiver,
        f"note: {detail}" if note else label(record),
        "" if note else detail,
        tuple(map(clean, _rests_on(record))),
        record.attempt,
        record.deprecated,
        BUTTONS.get(type(message), "") if record.kind is Kind.COMMAND else "",
        record,
    )


def _rests_on(record: Record) -> tuple[str, ...]:
    """The rules, and the source of what is done where it is not the document that says so.

    An event bears no source: what came is what the document names, and only the answer to it may be ours.
    """
    ours = record.kind is Kind.COMMAND and record.source != "spec"
    return (*record.rules, record.source) if ours else record.rules


def _shape(record: Record) -> Shape:
    match record.kind:
        case Kind.REFUSED:
            return Shape.REFUSED
        case Kind.EXCHANGE if Actor.API in (record.message.sender, record.message.receiver):
            return Shape.HTTP
        case Kind.NOTE:
            return Shape.NOTE
        case Kind.COMMAND if record.message.receiver is Actor.CARDHOLDER:
            return Shape.SCREEN
        case _:
            return Shape.CALL
