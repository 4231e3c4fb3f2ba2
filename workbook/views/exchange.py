"""*Exchange*: the messages between wallet, SDK, app, back end and API, with all details behind each line."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import groupby

from workbook.api.protocol import API_PATH, Settings, as_curl, build_get, encode_id
from workbook.base.rules import Basis, rule
from workbook.base.secrecy import MASK
from workbook.errors import ConfigurationError, ParameterError
from workbook.flows import messages as m
from workbook.flows.machine import Machine, Row
from workbook.flows.messages import Actor
from workbook.flows.trace import Kind, Record
from workbook.views.film import Film, camel
from workbook.views.html import RULE_ID, Markup, View, join, tag, trust, unbroken
from workbook.views.paint import Picture
from workbook.views.sequence import IN_LABEL, SequenceLine, Shape, Wording, paint, status
from workbook.views.states import allowed
from workbook.views.table import EDGE, INK, PRE, TEXT_WIDTH, clean, preformat, wrap

# Names the opaque data in a record's field without showing it.
NamedValue = Callable[[Record, str], str]


def rests_on(record: Record) -> tuple[str, ...]:
    """A sentence for each rule and each source behind a record, and one if the call is deprecated."""
    sentences = [*map(_rule, record.rules), *_basis(str(getattr(record.message, "basis", "")))]
    sentences += (f"this step: {_source(basis)}" for basis in record.bases)
    if record.deprecated:
        sentences.append("deprecated: the call works in this variant, which advises against it and has another way")
    return tuple(dict.fromkeys(sentences))


def _source(basis: Basis) -> str:
    return f"{basis} ({basis.meaning})"


def _rule(rule_id: str) -> str:
    try:
        return str(rule(rule_id))
    except ParameterError:
        return f"{clean(rule_id)}: not in the ledger of rules"


def _basis(basis: str) -> Iterator[str]:
    """The statements of a basis such as "API-1 API-9; content: assumed"."""
    for statement in filter(None, map(str.strip, basis.split(";"))):
        subject, colon, rest = statement.rpartition(":")
        for word in rest.split():
            tagged = _source(Basis(word)) if word in [*Basis] else clean(word)
            meaning = _rule(word) if RULE_ID.fullmatch(word) else tagged
            yield f"{clean(subject)}: {meaning}" if colon else meaning


# A request and its answer as they are on the wire, without the key and without data that is not the simulator's.
#
# The trace keeps the meaning of an exchange and no bytes. So the request is built again by the client's own code, and
# the answer is shown as far as the trace keeps it.


def pairs(records: Iterable[Record]) -> Mapping[int, int]:
    """For each request the number of its answer, and the reverse; numbers are positions in `records`.

    An answer whose data names its instrument belongs to the first open request for that instrument, any other to the
    first open request.
    """
    partners: dict[int, int] = {}
    waiting: dict[int, str] = {}
    for number, record in enumerate(records):
        message = record.message
        if isinstance(message, m.ApiRequested):
            waiting[number] = str(message.payment_instrument_id)
        elif isinstance(message, m.ApiAnswered | m.ApiFailed) and waiting:
            # Concurrent GETs may be answered in any order, and only the simulator's data says whose it is.
            summary = record.values.get("sdk_input")
            owner = summary.get("paymentInstrumentId") if isinstance(summary, dict) else None
            request = next((open_ for open_, id_ in waiting.items() if id_ == owner), next(iter(waiting)))
            del waiting[request]
            partners |= {request: number, number: request}
    return partners


def request(record: Record, named: NamedValue) -> Iterator[str]:
    """The lines of a request, its body before its headers; none for any other record."""
    message = record.message
    if not isinstance(message, m.ApiRequested):
        return
    try:
        yield f"{clean(message.method)} {_path(message)}"
    except ConfigurationError as error:
        yield clean(f"Not sent: {error}")
        return
    yield f'{{"sdkOutput": {named(record, "sdk_output")}}}' if message.sdk_output is not None else "(no body)"
    yield ""
    yield from (f"{name}: {value}" for name, value in _headers())


def answer(record: Record, named: NamedValue) -> Iterator[str]:
    """The lines of an answer, its body before its headers, or of the failure in its place."""
    match record.message:
        case m.ApiAnswered(status=code, answer=answered, told=problem, basis=basis):
            known = "application/json" if code == 200 or problem else ""
            yield clean(status(code))
            if answered is not None:
                yield f"{{{', '.join(_fields(record, named))}}}"
            else:
                body = f"{{errorCode, title, detail}}: {clean(problem)}"
                yield body if problem else "(the body is not kept in the trace)"
            yield ""
            # the simulator's answers have a basis; of any other answer the trace keeps no content type
            yield f"content-type: {known if known and basis else 'not kept in the trace'}"
        case m.ApiFailed(error=error, message=message):
            yield f"{record.message.says}: {clean(getattr(record.message, 'fault', '') or error)}"
            yield clean(message)


def _fields(record: Record, named: NamedValue) -> Iterator[str]:
    """The parts of an answer that it has, as fields of JSON."""
    for name in m.ANSWER:
        if (value := record.values[name]) is not None:
            yield f'"{camel(name)}": {named(record, name) if name in m.OPAQUE else json.dumps(value)}'


def copies(record: Record) -> dict[str, str]:
    """A request as a command to copy, without its key and its opaque data; empty for any other record."""
    message = record.message
    if not isinstance(message, m.ApiRequested):
        return {}
    try:
        return {"curl": as_curl(message.method, _path(message), sends=message.sdk_output is not None)}
    except ConfigurationError:
        return {}


def _path(message: m.ApiRequested) -> str:
    return API_PATH.replace("{id}", encode_id(message.payment_instrument_id))


@cache
def _headers() -> tuple[tuple[str, str], ...]:
    """The headers that the client sends, with a mask in the key's place."""
    built = build_get(Settings("https://host.invalid", "stands-for-a-key"), "id")
    return tuple((name, MASK if name == "x-api-key" else value) for name, value in built.headers)


# The details of one line: who, what, with which values, and the rules and sources behind it.

# What the name of a value does not say about it.
REMARKS: Mapping[str, str] = {
    "why": "the simulator's explanation; what the real thing says is not shown",
    "fault": "the fault that was played",
    "told": "the error's own words",
    "instance": "counted here, no parameter",
    "where": "what the cardholder chose, no parameter",
}


@dataclass(frozen=True, slots=True)
class DetailPart:
    """Some lines under a heading: `plain` ones are shown as they are, others are sentences.

    Parts that are `in_row` are side by side where there is room.
    """

    heading: str
    lines: tuple[str, ...]
    plain: bool = False
    in_row: bool = False


@dataclass(frozen=True, slots=True, repr=False)
class Detail(View):
    """All details of one line.

    Attributes:
        title: the line's label.
        parts: in the order of reading.
    """

    title: str
    parts: tuple[DetailPart, ...]

    def text(self) -> str:
        """The parts one below the other, at most 110 columns wide; plain lines may be wider."""
        lines = [self.title]
        for part in self.parts:
            lines.append(f"  {part.heading}")
            for line in part.lines:
                lines += (f"    {piece}".rstrip() for piece in ([line] if part.plain else wrap(line, TEXT_WIDTH - 4)))
        return "\n".join(lines)

    def html(self) -> str:
        """The parts one below the other."""
        # A row of parts; they are one below the other where there is no room.
        blocks, row = [], "display:grid;grid-template-columns:repeat(auto-fit,minmax(min(15em,100%),1fr));gap:0 1.2em"
        for in_row, parts in groupby(self.parts, key=lambda part: part.in_row):
            blocks_of_row = [_part(part) for part in parts]
            blocks += (
                [tag("div", *(tag("div", block) for block in blocks_of_row), style=row)] if in_row else blocks_of_row
            )
        return tag("div", tag("div", tag("b", self.title), style="font-size:1.1em"), *blocks, style=f"color:{INK}")


@lru_cache(maxsize=1024)
def _part(part: DetailPart) -> Markup:
    if part.plain:
        block = tag("pre", "\n".join(part.lines), style=PRE)
    elif len(part.lines) <= 1:
        block = tag("div", *map(unbroken, part.lines), style="margin:0 0 0.4em")
    else:
        items = (tag("li", unbroken(line)) for line in part.lines)
        block = tag("ul", *items, style="margin:0.1em 0 0.4em;padding-left:1.3em")
    return join(tag("b", part.heading), block)


class OpaqueNames(Wording):
    """The names of one trace's opaque values, the same as in its sequence diagram."""

    def __init__(self, records: tuple[Record, ...]) -> None:
        super().__init__()
        for record in records:
            self.detail(record)

    def __call__(self, record: Record, name: str) -> str:
        """One value without its content."""
        value, raw = record.values.get(name), record.message.value(name)
        if not isinstance(value, dict):
            return f"«{self._opaque(value, raw)}»"
        owned = f" for {value.get('paymentInstrumentId')}, {value.get('length')} characters"
        return f"«{self._name(value)}{owned if value.get('serial') else ''}»"


def details(lines: tuple[SequenceLine, ...], machine: Machine) -> tuple[Detail, ...]:
    """The details of each line of a sequence; a line without a record has only its actors and its time."""
    records = tuple(line.record for line in lines if line.record)
    describer = _Describer(records, machine)
    numbers = iter(range(len(records)))
    all_details = []
    for line in lines:
        attempt = f", after attempt {line.attempt} began" if line.attempt else ""
        actors = DetailPart(f"{line.sender} to {line.receiver}, at {line.at:.3f} s{attempt}", ())
        all_details.append(Detail(line.heading, (actors, *(describer.parts(next(numbers)) if line.record else ()))))
    return tuple(all_details)


class _Describer:
    """Describes each record of a run, with its answer or its request, and its row of the state table."""

    def __init__(self, records: tuple[Record, ...], machine: Machine) -> None:
        self.records = records
        self.machine = machine
        self.named = OpaqueNames(records)
        self.pairs = pairs(records)

    def parts(self, number: int) -> Iterator[DetailPart]:
        record = self.records[number]
        message = record.message
        if isinstance(message, m.ApiRequested | m.ApiAnswered | m.ApiFailed):
            yield from self._http(number)
        elif values := tuple(self._values(record)):
            if Actor.SDK in (message.sender, message.receiver):
                lines = (clean(message.says), *(f"  {value}" for value in values))
                yield DetailPart("The call or its outcome, with the values of this run", lines, plain=True)
            else:
                yield DetailPart("Its values", values, plain=True)
        exchange = sorted(n for n in (number, self.pairs.get(number)) if n is not None)
        if marks := tuple(dict.fromkeys(mark for n in exchange for mark in _marks(self.records[n]))):
            yield DetailPart("The simulator marked its data", marks, plain=True)
        if sentences := rests_on(record):
            yield DetailPart("What it rests on", sentences)
        yield DetailPart("What it is", (_meaning(record), *self._row(number)))  # the same for many lines: last

    def _row(self, number: int) -> Iterator[str]:
        """The row of the state table behind a record, if there is one."""
        record = self.records[number]
        if record.kind is Kind.REFUSED:
            can = ", or ".join(allowed(self.machine, str(record.before))) or "nothing"
            yield clean(f"What can happen in “{record.before}”: {can}.")
        elif record.kind is Kind.EVENT and (row := self._found(record)):
            yield _sentence(row)
        elif record.kind is Kind.COMMAND:
            events = (self._found(event) for event in reversed(self.records[:number]) if event.kind is Kind.EVENT)
            if row := next(filter(None, events), None):
                yield f"This row asks for it: {_sentence(row)}"

    def _found(self, record: Record) -> Row | None:
        rows = (row for row in self.machine.rows if (row.state, row.event) == (record.before, type(record.message)))
        return next(rows, None)

    def _http(self, number: int) -> Iterator[DetailPart]:
        """The request and its answer; the line is one of the two."""
        other = self.pairs.get(number)
        is_request = isinstance(self.records[number].message, m.ApiRequested)
        first, second = (number, other) if is_request else (other, number)
        if first is not None:
            yield DetailPart("The request", tuple(request(self.records[first], self.named)), plain=True, in_row=True)
        if second is None:
            yield DetailPart("The answer", ("None in this run, or none yet.",), in_row=True)
            return
        record = self.records[second]
        lines = tuple(answer(record, self.named))
        yield DetailPart(f"The answer, at {record.at:.3f} s", lines, plain=True, in_row=True)

    def _values(self, record: Record) -> Iterator[str]:
        for name, value in record.values.items():
            if value is not None and value != "" and name not in (*IN_LABEL, "basis"):
                words = self.named(record, name) if name in m.OPAQUE else _plain(value)
                notes = "; ".join([*filter(None, [REMARKS.get(name)]), *record.value_bases(name)])
                yield f"{camel(name)} = {words}{f'  ({notes})' if notes else ''}"


def _sentence(row: Row) -> str:
    """A row of the state table as a sentence."""
    tagged = zip((row.event, *row.commands), (row.event_source, *row.command_sources), strict=True)
    sources = ((each.says, each.source if source == "spec" else source) for each, source in tagged)
    event, *commands = (f"“{says}”{'' if source == 'spec' else f' ({source})'}" for says, source in sources)
    then = f", and asks for {', '.join(commands)}" if commands else ""
    return clean(f"In “{row.state}”, {event} leads to “{row.to}”{then}.")


def _meaning(record: Record) -> str:
    """What a record is: for an exchange the first sentence about its message."""
    if record.kind is not Kind.EXCHANGE:
        return {
            Kind.EVENT: "An event: it moves the flow, as a row of the state table says.",
            Kind.COMMAND: "A command: what to do next, as a row of the state table says.",
            Kind.REFUSED: "Refused: the state table does not allow it in this state. Nothing changed.",
            Kind.NOTE: "A remark.",
        }[record.kind]
    if isinstance(record.message, m.ApiRequested) and not isinstance(record.message, m.ApiAskedAgain):
        return {
            "GET": "Your back end asks the API for the card's activation data (API-1).",
            "POST": "Your back end sends the sdkOutput to the API, and gets the sdkInput for the wallet (API-2).",
        }.get(str(record.message.method), "Your back end sends a request to the API.")
    sentence = " ".join((inspect.getdoc(type(record.message)) or "").split()).partition(". ")[0]
    return sentence.removesuffix(".") + "."


def _marks(record: Record) -> Iterator[str]:
    """What the simulator wrote into its own data; all other data stays closed."""
    for name, value in record.values.items():
        if name in m.OPAQUE and isinstance(value, dict) and value.get("serial"):
            known = (f"{key}: {value[key]}" for key in ("kind", "serial", "paymentInstrumentId") if key in value)
            yield f"{camel(name)}: simulated: not card data, {', '.join(known)}"


def _plain(value: object) -> str:
    """A value as the document would write it."""
    if isinstance(value, list):
        return clean(", ".join(map(_plain, value)) or "none")
    if isinstance(value, dict):
        return clean(", ".join(f"{key}: {item}" for key, item in value.items() if key != "digest"))
    return clean(str(value).lower() if isinstance(value, bool) else value)


@dataclass(frozen=True, slots=True, repr=False)
class Exchange(View):
    """The exchange of a film."""

    film: Film

    @property
    def lines(self) -> tuple[SequenceLine, ...]:
        """The messages, in order."""
        return self.film.sequence.lines

    @property
    def details(self) -> tuple[Detail, ...]:
        """The details of each line."""
        return details(self.lines, self.film.machine)

    @property
    def alt(self) -> str:
        """The words for the picture on a page."""
        return f"Exchange: {self.film.title}, {len(self.lines)} lines. The same as text follows."

    @property
    def picture(self) -> Picture:
        """The sequence diagram; line N is the group with `data-line="N"`."""
        return replace(paint(self.film.sequence).picture, alt=self.alt)

    @property
    def rows(self) -> tuple[tuple[int, int], ...]:
        """Where each line begins in the picture, from the top, and how high it is."""
        return paint(self.film.sequence).rows

    def text(self) -> str:
        """The sequence as a list, and below it each request over HTTP with its answer."""
        details = zip(self.lines, self.details, strict=True)
        requests = [
            detail.text() for line, detail in details if line.shape is Shape.HTTP and line.receiver is Actor.API
        ]
        return "\n\n".join([self.film.sequence.text(), *requests])

    def html(self) -> str:
        """The picture, below it each line to open, and the list in words folded up."""
        style, rows = f"border-left:{EDGE};margin:0.3em 0 0.3em 1em;padding-left:0.8em", []
        for line, detail in zip(self.lines, self.details, strict=True):
            body = tag("div", trust(detail.html()), style=style)
            rows.append(tag("details", tag("summary", line.sentence), body, style="margin-left:1em"))
        summary = tag("summary", "Each line with its request, its answer and its rules")
        folded = tag("details", tag("summary", "The same as text"), preformat(self.film.sequence.text()))
        parts = (self.picture.image(), tag("details", summary, *rows), folded)
        return tag("figure", *parts, style=f"margin:0;color:{INK}")
