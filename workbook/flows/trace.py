"""The trace: everything that happened in one run, in order, and nothing else.

Everything that a person sees (text, picture, finding, verdict) is computed from a trace. Opaque data keeps its own type
in a trace, and leaves it only through `summary()`, as a length and a digest.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, KeysView
from enum import StrEnum
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple, cast, overload

from workbook.base.rules import Basis, bases
from workbook.errors import OpaqueDataError
from workbook.flows import messages as m
from workbook.flows.messages import Message, MessageT


class Kind(StrEnum):
    """What a record is: a fact, a request, a fact that no row allowed, an exchange with another party, or a note."""

    EVENT = "event"
    COMMAND = "command"
    REFUSED = "refused"
    EXCHANGE = "exchange"
    NOTE = "note"


class Record(NamedTuple):
    """One step of a run.

    Attributes:
        at: seconds since the run began (virtual time, unless the API was real).
        kind: what the record is.
        message: the event or command itself.
        before: the state's name when the message came.
        after: the state's name afterwards; the same as `before` unless a row moved it.
        rules: the ids of the rules that this step rests on.
        attempt: which tap it belongs to, counted from 1; 0 before the first.
        deprecated: True when the row it used is deprecated in this variant.
        source: the source of this step's place in the flow; `spec` is the document, `assumed` our choice.
    """

    at: float
    kind: Kind
    message: Message
    before: str
    after: str
    rules: tuple[str, ...]
    attempt: int = 0
    deprecated: bool = False
    source: str = "spec"

    @property
    def name(self) -> str:
        """The message's class name, such as `CanBeProvisioned`."""
        return type(self.message).__name__

    @property
    def values(self) -> dict[str, Any]:
        """The message's fields, redacted: opaque data only as its summary."""
        return {name: shown(self.message.value(name), name) for name in self.message.value_names()}

    @property
    def bases(self) -> tuple[Basis, ...]:
        """The sources of this step besides its rules; none for a step that the document shows."""
        return tuple(dict.fromkeys(bases(f"{self.message.source} {self.source}")))

    def value_bases(self, name: str) -> tuple[Basis, ...]:
        """The sources of one value of the message; none for a value of the document or of the run itself."""
        return bases(self.message.sources.get(name) or m.VALUES[name])

    def as_dict(self) -> dict[str, Any]:
        """This record as plain JSON values, redacted."""
        return {
            "at": round(self.at, 6),
            "kind": self.kind.value,
            "from": self.message.sender.value,
            "to": self.message.receiver.value,
            "name": self.name,
            "values": self.values,
            "before": str(self.before),
            "after": str(self.after),
            "rules": list(self.rules),
            "attempt": self.attempt,
            "deprecated": self.deprecated,
            "source": self.source,
        }


def shown(value: object, name: str = "") -> Any:
    """A value as it may leave the trace: plain JSON values as they are, anything else by its summary.

    A value in a field for opaque data counts as opaque, even if it is bare text or bytes. A value that cannot be
    opaque data (it is empty, or half a surrogate pair) leaves as its length alone.
    """
    summary = getattr(value, "summary", None)
    if callable(summary):
        return summary()
    if name in m.OPAQUE and isinstance(value, str | bytes):
        kind = m.OPAQUE[name]
        try:
            opaque = kind(value) if isinstance(value, str) else kind.from_bytes(value)
        except OpaqueDataError:
            return f"{len(value)} {'characters' if isinstance(value, str) else 'bytes'}, no opaque data"
        return opaque.summary()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [shown(item, name) for item in value]
    return type(value).__name__


@cache  # the vocabulary is complete before the first trace is read
def _and_below(messages: tuple[type[Message], ...]) -> frozenset[type[Message]]:
    """These message classes and all below them."""
    return frozenset(messages).union(*(_and_below(tuple(message.__subclasses__())) for message in messages))


class Trace:
    """An append-only list of records, with ways to select and export them."""

    # An event log: pictures, findings and verdicts are functions of it and keep no state of their own. So no two of
    # them can disagree about a run, and two runs are the same if their logs are.

    def __init__(self, title: str = "trace", records: list[Record] | None = None) -> None:
        self.title = title
        self._records = [] if records is None else records  # not a copy: a loop goes on to append to its own list
        self._places = defaultdict[type[Message], list[int]](list)  # where each class's records are, up to `_looked`
        self._looked = 0

    def __repr__(self) -> str:
        return f"Trace({self.title!r}, {len(self)} records)"

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> list[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | list[Record]:
        """The record at `index`, or a list of them."""
        return self._records[index]

    def append(self, record: Record) -> None:
        """Add one record; nothing is ever changed or removed."""
        self._records.append(record)

    def select(self, *messages: type[Message], kind: Kind | None = None) -> list[Record]:
        """The records of these message classes (all when none is named), optionally of one kind."""
        records = self._of(messages) if messages else [*self._records]
        return records if kind is None else [record for record in records if record.kind is kind]

    def seen(self, message: type[MessageT], kind: Kind | None = None) -> Iterator[tuple[Record, MessageT]]:
        """Each record of one message class, together with its message."""
        for record in self._of((message,)):
            if kind is None or record.kind is kind:
                yield record, cast("MessageT", record.message)

    def _of(self, messages: tuple[type[Message], ...]) -> list[Record]:
        """The records of these message classes and of those below them, in order."""
        present = self.classes & _and_below(messages)
        if not present:  # most checks look for what this trace does not have
            return []
        return [self._records[place] for place in sorted(chain(*map(self._places.__getitem__, present)))]

    @property
    def classes(self) -> KeysView[type[Message]]:
        """The classes of all its messages; a check that asks for others has nothing to look for."""
        # An index, because the checks ask a trace for more than a hundred classes, and it has few of them.
        if self._looked < len(self._records):
            for place, record in enumerate(islice(self._records, self._looked, None), self._looked):
                self._places[type(record.message)].append(place)
            self._looked = len(self._records)
        return self._places.keys()

    def to_jsonl(self) -> str:
        """One JSON object a line, keys in a fixed order, redacted."""
        return "".join(json.dumps(record.as_dict(), ensure_ascii=False) + "\n" for record in self._records)


# The calls of an extension's handler in a trace: what was called, what it did, what came of it, how long it took.
#
# Timing and checks both read a run call by call.

# Each call by the command that makes it.
CALLS: dict[type[Message], str] = {
    m.CallStatus: "status",
    m.CallPassEntries: "pass_entries",
    m.CallRemotePassEntries: "remote_pass_entries",
    m.CallGenerate: "generate_add_payment_pass_request_for_pass_entry_with_identifier",
}

# What ends a call.
ANSWERS = (
    m.EntriesAvailable,
    m.EntriesUnavailable,
    m.ExtensionNotFound,
    m.EntriesReturned,
    m.NoEntries,
    m.RequestReturned,
    m.NoRequest,
    m.HandlerRaised,
)


class HandlerCall(NamedTuple):
    """One call.

    Attributes:
        name: which, one of `CALLS`.
        made: the record of the call.
        inside: what happened until its answer.
        answer: the record of its answer, in time or not; None when none came.
    """

    name: str
    made: Record
    inside: tuple[Record, ...]
    answer: Record | None

    @property
    def late(self) -> bool:
        """Whether its time limit passed before it answered."""
        return any(isinstance(record.message, m.BudgetSpent) for record in self.inside)

    @property
    def ended(self) -> float:
        """When its answer came, in seconds since the run began; when it was made, if none did."""
        return self.made.at if self.answer is None else self.answer.at

    def answered(self, *messages: type[Message]) -> bool:
        """Whether its answer is of this kind, in time or not."""
        return self.answer is not None and isinstance(self.answer.message, messages)

    def did(self, *messages: type[Message]) -> list[Record]:
        """What it did of this kind."""
        return [record for record in self.inside if isinstance(record.message, messages)]


def handler_calls(trace: Trace) -> Iterator[HandlerCall]:
    """Each call of a handler, in order; a call that is not answered before the next one begins has no answer."""
    if not trace.select(*CALLS):
        return
    call: Record | None = None
    inside: list[Record] = []
    for record in trace:
        begins = record.kind is Kind.COMMAND and type(record.message) in CALLS
        answers = isinstance(record.message, ANSWERS)
        if call is not None and (begins or answers):
            yield HandlerCall(CALLS[type(call.message)], call, tuple(inside), record if answers else None)
        if begins:
            call, inside = record, []
        elif answers:
            call = None
        else:
            inside.append(record)
    if call is not None:
        yield HandlerCall(CALLS[type(call.message)], call, tuple(inside), None)
