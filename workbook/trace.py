"""The trace: everything that happened in one run, in order, and nothing else.

All that a person sees (text, picture, finding, verdict) is computed from a trace. Opaque data keeps
its own type in here; it leaves only through `summary()`, as a length and a digest.
"""

from __future__ import annotations

import json
from dataclasses import fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import OpaqueDataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from workbook.api.opaque import Opaque
    from workbook.flows.messages import Message

M = TypeVar("M", bound="Message")


OPAQUE = {"sdk_input": SdkInput, "sdk_output": SdkOutput}
"""The fields that hold opaque data, and its type."""


class Kind(StrEnum):
    """What a record is: a fact, a request, a fact no row allowed, or an exchange seen on the way."""

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
        before: the state's name when it came up.
        after: the state's name afterwards; the same as `before` unless a row moved it.
        rules: the ids of the rules that this step rests on.
        attempt: which tap it belongs to, counted from 1; 0 before the first.
        deprecated: True when the row it used is deprecated in this variant.
        source: where the row it used is known from; `spec` is the document, `assumed` our choice.
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
        return {f.name: shown(getattr(self.message, f.name), f.name) for f in fields(self.message) if f.repr}

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

    What stands in a field for opaque data is opaque, even where somebody handed over bare text.
    """
    if name in OPAQUE and isinstance(value, str | bytes):
        value = _opaque(value, OPAQUE[name])
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [shown(one, name) for one in value]
    summary = getattr(value, "summary", None)
    return summary() if callable(summary) else type(value).__name__


def _opaque(bare: str | bytes, kind: type[Opaque]) -> Any:
    """Bare text or bytes as opaque data; what cannot be that (half a surrogate pair, nothing) by its length alone."""
    try:
        return kind(bare) if isinstance(bare, str) else kind.from_bytes(bare)
    except OpaqueDataError:
        return f"{len(bare)} {'characters' if isinstance(bare, str) else 'bytes'}, no opaque data"


class Trace:
    """An append-only list of records, with the questions that people ask of it."""

    def __init__(self, title: str = "trace") -> None:
        self.title = title
        self._records: list[Record] = []

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

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """A trace draws itself as its sequence diagram."""
        from workbook.views.sequence import sequence  # noqa: PLC0415  # views read traces, not the reverse

        return sequence(self)._repr_mimebundle_()

    def append(self, record: Record) -> None:
        """Add one record; nothing is ever changed or removed."""
        self._records.append(record)

    def select(self, *messages: type[Message], kind: Kind | None = None) -> list[Record]:
        """The records of these message classes (all when none is named), optionally of one kind."""
        return [
            record
            for record in self._records
            if (not messages or isinstance(record.message, messages)) and (kind is None or record.kind is kind)
        ]

    def seen(self, message: type[M], kind: Kind | None = None) -> Iterator[tuple[Record, M]]:
        """Each record of one message class, together with its message."""
        for record in self._records:
            if isinstance(record.message, message) and (kind is None or record.kind is kind):
                yield record, record.message

    def to_jsonl(self) -> str:
        """One JSON object a line, keys in a fixed order, redacted."""
        return "".join(json.dumps(record.as_dict(), ensure_ascii=False) + "\n" for record in self._records)

    def to_frame(self) -> pd.DataFrame:
        """One row a record, for pandas (imported here and nowhere else in this module)."""
        import pandas as pd  # noqa: PLC0415  # heavy, and absent in a browser kernel

        rows = [record.as_dict() | {"rules": " ".join(record.rules)} for record in self._records]
        columns = ["at", "kind", "from", "to", "name", "before", "after", "rules", "attempt", "deprecated", "source"]
        return pd.DataFrame(rows, columns=columns)
