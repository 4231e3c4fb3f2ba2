"""The journal of one simulated world: every exchange once, in the order of arrival, and never more than fits.

A key is taken out before anything is kept, wherever in the exchange it stands (REL-2): an entry cannot give away what
it never held. That one change is marked in `key_in`, because a key outside its header is worth knowing of. Opaque data
is kept, so that bodies can be compared; it leaves only through a `Redaction` (REL-3).

It is bounded twice, by a number of entries and by the bytes that they hold, so that memory stays flat over a million
requests; `count` goes on counting. Threads may write and read at the same time.
"""

import json
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any
from urllib.parse import unquote

from workbook.api.redaction import Redaction, length_of, short
from workbook.base.files import explain_failure
from workbook.base.secrecy import MASK, SECRET_HEADERS, SECRET_PARAMETERS, Secrets, secrets_in_request
from workbook.base.terminal import say
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, UNANSWERED, Headers, Request, Response


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One request and its answer.

    Attributes:
        number: the request's number, from 1, in the order of arrival.
        arrived: seconds from the journal's start to the request, monotonic.
        answered: seconds from the journal's start to the answer; how long the bytes travel after that is not in it.
        method: as it was sent.
        target: the raw request target, query included.
        headers: raw, in order, as often as they were sent; secret values as `[key]`.
        body: the request's bytes.
        operation: GET or POST where the request is one of the two operations (API-1, API-2), else None.
        instrument: the payment instrument id in the operations' path, decoded, else None.
        status: the answer's; None where the responder raised an error instead.
        response_headers: as `headers`.
        response_body: the answer's bytes, as they were before a fault on the wire.
        basis: what the answer rests on, see `Response.basis`.
        fault: the name of the fault that was played, empty for none.
        ending: how the answer's bytes end, an `Ending` value; empty where there is no answer.
        key_in: where else a key stood: "method", "target", "headers", "body", "response"; there it became `[key]`.
    """

    number: int
    arrived: float
    answered: float
    method: str
    target: str
    headers: Headers
    body: bytes
    operation: str | None
    instrument: str | None
    status: int | None
    response_headers: Headers
    response_body: bytes
    basis: str
    fault: str
    ending: str
    key_in: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of what is kept, roughly: what a journal's limit counts.

        Python needs 170 for a header besides its characters (two texts in a pair), and 680 for the rest.
        """
        headers = self.headers + self.response_headers
        characters = len(self.target) + sum(map(len, chain.from_iterable(headers)))
        return characters + len(self.body) + len(self.response_body) + 170 * (len(headers) + 4)

    def __repr__(self) -> str:
        what = self.operation or "other"
        return f"Entry(#{self.number} {what}, status {self.status}, {len(self.body)} bytes in)"


def entry(
    number: int,
    times: tuple[float, float],
    request: Request,
    answer: Response | Exception,
    keys: Iterable[str] = (),
) -> Entry:
    """The entry of one exchange, without any key.

    Args:
        number: from 1.
        times: seconds at arrival and at the answer.
        request: as it arrived.
        answer: what was answered, or the error that was raised instead.
        keys: further keys to take out; those in the request's own headers are known anyway.
    """
    known = secrets_of(request, keys)
    response = answer if isinstance(answer, Response) else Response(0, (), b"", f"no answer: {type(answer).__name__}")
    target = _without_parameters(request.target)
    parts: dict[str, Any] = {
        "method": request.method,
        "target": target,
        "headers": _without_secrets(request.headers),
        "body": request.body,
        "response": (_without_secrets(response.headers), response.body),
    }
    scrubbed = parts
    # Hardly any exchange has a key outside its header, so one quick search comes first.
    if known.found_in(_text_of(parts.values())):
        scrubbed = {place: _scrub(part, known) for place, part in parts.items()}
        scrubbed["target"] = scrub_target(target, known)
    key_in = [place for place in parts if scrubbed[place] != parts[place]]
    if target != request.target and "target" not in key_in:
        key_in.insert(0, "target")
    response_headers, response_body = scrubbed.pop("response")
    operation, instrument = operation_of(scrubbed["method"], scrubbed["target"])
    return Entry(
        number,
        *times,
        **scrubbed,
        operation=operation,
        instrument=instrument,
        status=response.status if response is answer else None,
        response_headers=response_headers,
        response_body=response_body,
        basis=response.basis,
        fault=response.fault,
        ending=response.wire.ending.value if response is answer else "",
        key_in=tuple(key_in),
    )


def _text_of(value: Any) -> str:
    """Everything in these parts of an exchange as one text, in which a key is looked for."""
    match value:
        case str():
            return value
        case bytes():
            return value.decode("latin-1")
        case _:
            return "\n".join(map(_text_of, value))


def _scrub(value: Any, known: Secrets) -> Any:
    """The same part of an exchange without a key: a text, bytes, or a tuple of them."""
    match value:
        case str():
            return known.scrub(value)
        case bytes():
            return known.scrub_bytes(value)
        case _:
            return tuple(_scrub(inner, known) for inner in value)


def secrets_of(request: Request, keys: Iterable[str]) -> Secrets:
    """The secrets that no log or journal of a request may hold: these keys, and those in the request itself."""
    return _secrets(frozenset((*keys, *secrets_in_request(request.headers, request.target))))


@lru_cache(maxsize=16)  # a few worlds at a time
def _secrets(keys: frozenset[str]) -> Secrets:
    return Secrets.of_keys(keys)


def _without_secrets(headers: Headers) -> Headers:
    return tuple([(name, MASK if name.lower() in SECRET_HEADERS else value) for name, value in headers])


def _without_parameters(target: str) -> str:
    """The target without the values of secret query parameters."""
    if "=" not in target:
        return target
    return re.sub(
        r"([?&])([^=&]+)=([^&]+)",
        lambda match: f"{match[1]}{match[2]}={MASK}" if unquote(match[2]).lower() in SECRET_PARAMETERS else match[0],
        target,
    )


def scrub_target(target: str, known: Secrets) -> str:
    """The target without a key: only the part with a key in it is replaced, or all where a key spans several."""
    if known.found_in(target) is None:
        return target
    scrubbed = "".join(map(known.scrub, re.split("([/?&=])", target)))
    return scrubbed if known.found_in(scrubbed) is None else MASK


def operation_of(method: str, target: str) -> tuple[str | None, str | None]:
    """The operation, where the request is one of the two, and the payment instrument id where the path is theirs."""
    path = target.partition("?")[0]
    instrument = path.removeprefix(BEFORE_ID).removesuffix(AFTER_ID)
    if not instrument or "/" in instrument or path != f"{BEFORE_ID}{instrument}{AFTER_ID}":
        return None, None
    return (method if method in ("GET", "POST") else None), unquote(instrument)


# Endings at which a client saw no byte: what the service would have said does not count as an answer.
LOST = frozenset(ending.value for ending in UNANSWERED)

# Exports: plain values and JSON lines, each without what a log must not hold.

REDACTED = Redaction()


def as_dict(entry: Entry, redaction: Redaction = REDACTED) -> dict[str, Any]:
    """One entry as plain JSON values, redacted; times in seconds, lengths in bytes."""
    return {
        "number": entry.number,
        "arrived": round(entry.arrived, 6),
        "answered": round(entry.answered, 6),
        "method": redaction.method(entry.method),
        "target": redaction.target(entry.target),
        "operation": entry.operation,
        "instrument": None if entry.instrument is None else short(entry.instrument),
        "headers": _headers(entry.headers, redaction),
        "body": redaction.request_body(entry.body),
        "bodyLength": len(entry.body),
        "status": entry.status,
        "responseHeaders": _headers(entry.response_headers, redaction),
        "responseBody": redaction.answer_body(entry.response_body),
        "responseLength": len(entry.response_body),
        "basis": entry.basis,
        "fault": entry.fault,
        "ending": entry.ending,
        "keyIn": list(entry.key_in),
    }


def _headers(headers: Headers, redaction: Redaction) -> list[list[str]]:
    """Each header with its value, or with the length of one that is not shown."""
    return [
        [name, length_of(value) if line is None else line]
        for (name, line), (_name, value) in zip(redaction.headers(headers), headers, strict=True)
    ]


# The journal itself.


class Journal:
    """What a simulated world was asked and what it answered.

    Args:
        limit: how many of the latest entries it keeps, 1 or more.
        byte_limit: how many bytes they may hold together, roughly; the latest entry is kept whatever its size.
        stopwatch: seconds on any clock that never goes back; the journal's own second 0 is when it is made.
        file: where each entry is appended as a line of JSON, redacted; None keeps the journal in memory alone.

    Raises:
        ParameterError: the limit leaves no room for an entry.
        ConfigurationError: the file cannot be written.
    """

    def __init__(
        self,
        limit: int = 10_000,
        *,
        byte_limit: int = 64 * 1_048_576,
        stopwatch: Callable[[], float] = monotonic,
        file: Path | None = None,
    ) -> None:
        if limit < 1:
            raise ParameterError(f"A journal keeps 1 entry or more, not {limit}.")
        if file is not None and file.is_fifo():  # it would be waited for without end
            raise ConfigurationError(f"Cannot write the journal {file}: it is a pipe. Name a file.")
        self._limit = limit
        self._byte_limit = byte_limit
        self._stopwatch = stopwatch
        self._file = file
        self._began = stopwatch()
        self._lock = RLock()
        self._entries: deque[Entry] = deque()
        self._size = self._count = 0
        self._append()  # nothing yet: a file that cannot be written is refused here

    def __repr__(self) -> str:
        return f"Journal({len(self)} of {self.count} entries)"

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def count(self) -> int:
        """How many exchanges there were since the start or the latest reset, kept or not."""
        return self._count

    def now(self) -> float:
        """Seconds since the journal was made."""
        return self._stopwatch() - self._began

    def record(self, arrived: float, request: Request, answer: Response | Exception, keys: Iterable[str] = ()) -> None:
        """Keep one exchange, and drop the oldest where there is no room.

        Args:
            arrived: `now()` when the request arrived.
            request: as it arrived.
            answer: what was answered, or the error that was raised instead.
            keys: the API keys that may not stand anywhere in it; those in the request's own headers are known.

        Where the file cannot be written any more, that is said once: an answer needs no journal.
        """
        with self._lock:
            latest = entry(self._count + 1, (arrived, self.now()), request, answer, keys)
            self._entries.append(latest)
            self._count += 1
            self._size += latest.size
            while len(self._entries) > self._limit or (self._size > self._byte_limit and len(self._entries) > 1):
                self._size -= self._entries.popleft().size
            try:
                self._append(latest)
            except ConfigurationError as error:
                self._file = None
                say(f"{error} Exchange {self._count} and those after it are not in that file.", sys.stderr)

    def _append(self, *entries: Entry) -> None:
        """Append these to the file, where there is one."""
        if self._file is None:
            return
        with explain_failure(f"Cannot write the journal {self._file}"), self._file.open("a", encoding="ascii") as file:
            file.writelines(f"{json.dumps(as_dict(entry))}\n" for entry in entries)

    def reset(self) -> None:
        """Forget every entry and count from 1 again; lines of the file stay."""
        with self._lock:
            self._entries.clear()
            self._size = self._count = 0

    def entries(self, after: int = 0) -> tuple[Entry, ...]:
        """The kept entries in the order of arrival; with `after`, those with a higher number."""
        with self._lock:
            return tuple(entry for entry in self._entries if entry.number > after)

    def to_jsonl(self, after: int = 0) -> str:
        """One JSON object a line, redacted (REL-2, REL-3); pure ASCII, so that no terminal obeys it."""
        return "".join(f"{json.dumps(as_dict(entry))}\n" for entry in self.entries(after))
