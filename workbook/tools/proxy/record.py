"""The record of a proxy: a file of JSON lines, one for each exchange, with nothing that a log must not hold.

The journal's own redaction does the work (REL-2, REL-3): keys are removed before anything else happens, strings are
replaced by a length and a salted digest, headers are shown by a list of allowed names. A real API needs two more rules.
Its sentences (`detail`, `instance`, `requestId`) are not kept, because they may repeat the request; and the id of a
payment instrument, which is no secret, is kept as it is, or as a pseudonym where it is not short, printable ASCII.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from workbook.api.opaque import json_object, json_text, wrong_layer
from workbook.api.protocol import BodyReader
from workbook.api.redaction import Redaction, each_text, refuse_constant
from workbook.base.files import read_named
from workbook.base.forms import explain_mistake
from workbook.base.secrecy import MASK, Secrets, secrets_in_request
from workbook.errors import ConfigurationError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Headers, Request, header_values
from workbook.tools.mockserver.journal import as_dict, entry
from workbook.tools.proxy.upstream import LOSSES, ProxyReply

# The shape of a body: field names and JSON types, and no value but those that are known to be harmless.
#
# By their shapes, answers of two APIs can be compared, and nothing that they said is kept (REL-3).

# Of an answer it keeps a problem's values, without its sentences, which may repeat what was asked.
REDACTION = Redaction(fields=frozenset({"type", "title", "status", "errorCode"}), longest=100)
NOT_JSON = "not JSON"
EMPTY_BODY = "empty"


def unpacked(body: bytes, headers: Headers) -> bytes:
    """The body without its gzip; as it is where it has none, is not what its header says, or unpacks to over 8 MiB."""
    encoding = next(iter(header_values(headers, "content-encoding")), "")
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        return body
    reader = BodyReader(8 * 1_048_576, encoding)
    reader.feed(body)
    plain = reader.finish()
    return plain if isinstance(plain, bytes) else body


def shape(body: bytes) -> dict[str, str]:
    """Path to type, such as `{"": "object", "sdkInput": "string"}`; the whole body has the path "".

    Types are JSON's, and `empty string`, `empty` and `not JSON`. A name that is no short word becomes its length.
    """
    if not body:
        return {"": EMPTY_BODY}
    try:
        document = json.loads(body.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return {"": NOT_JSON}
    found: dict[str, str] = {}
    for path, kind in _walk(document, "", 0):
        found.setdefault(path, kind)
        if len(found) >= 100:
            break
    return found


def layer(body: bytes, field: str) -> str | None:
    """What is wrong with the opaque text in this field, one of `opaque.LAYERS`; None if nothing is, or without text."""
    return wrong_layer(text) if (text := json_text(body, field)) else None


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, "string" if value else "empty string"
    else:
        kinds = {bool: "boolean", int: "number", float: "number", list: "array", dict: "object", type(None): "null"}
        yield path, kinds[type(value)]
    if depth == 6:  # deep enough for any comparison
        return
    if isinstance(value, list):
        for inner in value[:100]:
            yield from _walk(inner, f"{path}[]", depth + 1)
    elif isinstance(value, dict):
        for name, inner in [*value.items()][:100]:
            plain = name.isascii() and name.replace("_", "").replace("-", "").isalnum() and not name[0].isdigit()
            shown_name = name if plain and len(name) <= 40 else f"[{len(name)} characters]"
            yield from _walk(inner, f"{path}.{shown_name}" if path else shown_name, depth + 1)


# One exchange as a line.

_FORMAT = "workbook proxy record"
_VERSION = 1


class Lines:
    """Makes lines of exchanges; one for each record."""

    def __init__(self) -> None:
        self._keys: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._count = 0

    def line(self, request: Request, reply: ProxyReply, times: tuple[float, float]) -> tuple[str, str]:
        """The line of one exchange, and what is logged of it; `times` are seconds of the run."""
        self._count += 1
        keys = frozenset(secrets_in_request(request.headers, request.target))
        # Unpacked, so that a key in a body is found and its fields are seen.
        plain_request = replace(request, body=unpacked(request.body, request.headers))
        plain_answer = replace(reply.response, body=unpacked(reply.response.body, reply.response.headers))
        kept = entry(self._count, times, plain_request, plain_answer, keys)
        pseudonym = self._pseudonym(kept.instrument)
        if pseudonym is not None:
            query = kept.target.partition("?")[1:]
            kept = replace(kept, instrument=pseudonym, target="".join((BEFORE_ID, pseudonym, AFTER_ID, *query)))
        values = as_dict(kept, REDACTION)
        for name in ("basis", "fault", "ending"):  # of a simulator
            del values[name]
        if pseudonym is not None:
            values |= {name: _nameless(values[name]) for name in ("body", "responseBody")}
        values |= {
            "credential": self._credential(request.header("x-api-key")),
            "failure": reply.failure or "",
            "sent": reply.failure is None or reply.failure in LOSSES,
            "bodyLength": len(request.body),
            "bodyShape": shape(kept.body),
            "bodyLayer": layer(kept.body, "sdkOutput"),
            "responseLength": len(reply.response.body),
            "responseShape": shape(kept.response_body),
            "responseLayer": layer(kept.response_body, "sdkInput"),
        }
        values = each_text(values, Secrets.of_keys(keys).scrub)  # escapes in JSON may have hidden a key until now
        values = each_text(values, self._without_known_ids)
        milliseconds = f"{(times[1] - times[0]) * 1000:.1f} ms"
        failure = f"  the proxy: {reply.failure}" if reply.failure else ""
        return json.dumps(values), f"{values['method']} {values['target']} {values['status']} {milliseconds}{failure}"

    def _pseudonym(self, instrument: str | None) -> str | None:
        """What is written instead of this id; None where it is written as it is."""
        if instrument is None:
            return None
        short = len(instrument) <= 64 and instrument == instrument.strip()
        plain = instrument.isascii() and instrument.isprintable() and MASK not in instrument
        if short and plain:
            return None
        return self._ids.setdefault(instrument, f"PIRECORDED{len(self._ids) + 1:015d}")

    def _without_known_ids(self, text: str) -> str:
        """The text with a pseudonym for each id that has one; a short id stays, as it occurs in innocent text."""
        for known, pseudonym in self._ids.items():
            if len(known) >= 6:
                text = text.replace(known, pseudonym)
        return text

    def _credential(self, key: str | None) -> str | None:
        """A name for the key, in the order in which keys are first seen; the key cannot be found from it."""
        return self._keys.setdefault(key, f"k{len(self._keys) + 1}") if key else None


def _nameless(body: Any) -> Any:
    """A body without the id that simulated data names, where that id was replaced by a pseudonym."""
    if not isinstance(body, dict):
        return body
    return {name: _nameless(value) for name, value in body.items() if name not in ("text", "paymentInstrumentId")}


# The file: for its owner alone, whole after each line, and never overwritten.
#
# Its first line says what it is.


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line says.

    Attributes:
        to: the API's base URL; it holds no secret.
        began: the moment of second 0, in UTC.
        format: what the file is.
        version: of the format.
    """

    to: str
    began: str
    format: str = _FORMAT
    version: int = _VERSION


class Recording:
    """An open record; close it.

    Args:
        path: the file; it is made.
        head: its first line.

    Attributes:
        count: how many exchanges were written.

    Raises:
        ConfigurationError: the file is there already, or cannot be written.
    """

    def __init__(self, path: Path, head: Head) -> None:
        self.count = 0
        self._lines = Lines()
        self._began = monotonic()
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            self._write(json.dumps(asdict(head)))
        except FileExistsError:
            raise ConfigurationError(f"{path} is there already. Give another --out.") from None
        except OSError as error:
            raise ConfigurationError(f"Cannot write the record {path}: {error.strerror or error}.") from None

    def keep(self, request: Request, reply: ProxyReply, times: tuple[float, float]) -> str:
        """Write one exchange, from its request to the end of its answer; returns what is logged of it.

        Raises:
            OSError: for example, the disk is full; nothing of the line is kept.
        """
        arrived, answered = times
        line, log = self._lines.line(request, reply, (arrived - self._began, answered - self._began))
        self._write(line)
        self.count += 1
        return log

    def close(self) -> None:
        """Release the file."""
        os.close(self._file)

    def _write(self, line: str) -> None:
        """Write one whole line; what a full disk cut off is removed again."""
        data = f"{line}\n".encode()
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, end)
                os.lseek(self._file, end, os.SEEK_SET)
            raise


def is_head(line: bytes) -> bool:
    """Whether this line begins a record."""
    values = json_object(line) or {}
    return (values.get("format"), values.get("version")) == (_FORMAT, _VERSION)


# A record read back: each line checked, and an unfinished last one left out with a note.


class RecordedExchange(BaseModel):
    """What a comparison needs of one line of a record.

    Attributes:
        line: of the file, from 1.
        number: of the exchange, in the order of arrival.
        operation: GET or POST where the request is one of the two operations (API-1, API-2), else None.
        instrument: the payment instrument's id or pseudonym.
        body: redacted, as a JSON value.
        body_length: bytes.
        body_shape: see `shape`.
        body_layer: what was wrong with the sdkOutput's text.
        credential: a name for the key; None where there was none.
        status: of the answer.
        failure: why the answer is the proxy's own; empty where it is the API's.
        sent: whether the request may have reached the API.
        response_body: as `body`.
        response_shape: see `shape`.
        response_layer: what was wrong with the sdkInput's text.
    """

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)

    line: int = 0
    number: Annotated[int, Field(ge=0, le=10**12)]
    method: str
    target: str
    operation: Literal["GET", "POST"] | None
    instrument: str | None
    headers: Headers
    body: Any
    body_length: Annotated[int, Field(ge=0, le=10**12)]
    body_shape: Mapping[str, str]
    body_layer: str | None
    credential: str | None
    status: Annotated[int, Field(ge=0, le=999)]
    failure: str
    sent: bool
    response_headers: Headers
    response_body: Any
    response_shape: Mapping[str, str]
    response_layer: str | None


@dataclass(frozen=True, slots=True)
class ProxyRecord:
    """What a file holds.

    Attributes:
        to: the API's base URL.
        exchanges: in the order of arrival.
        notes: what a reader should know of the file.
    """

    to: str
    exchanges: tuple[RecordedExchange, ...]
    notes: tuple[str, ...] = ()


def read_proxy_record(path: Path) -> ProxyRecord:
    """The record in this file.

    Raises:
        ConfigurationError: it cannot be read, is no record, or a line of it is not as a proxy writes it.
    """
    lines = read_named(path, 512 * 1_048_576, "Give the file that `workbook proxy` wrote.").split(b"\n")
    notes = ["The last line is left out: it is unfinished, as after a kill."] if lines.pop() else []
    if not lines or not is_head(lines[0]):
        raise ConfigurationError(f"{path} is no record of a proxy, or one in another version. Make one: workbook proxy")
    exchanges: list[RecordedExchange] = []
    for number, line in enumerate(lines[1:], 2):
        with explain_mistake(f"{path}, line {number} is not as a proxy writes it", "Take it out, or record again."):
            exchange = RecordedExchange.model_validate_json(line[: 4 * 1_048_576])  # a proxy writes no longer line
        exchanges.append(exchange.model_copy(update={"line": number}))
    exchanges.sort(key=lambda exchange: exchange.number)
    other = sum(exchange.operation is None or exchange.instrument is None for exchange in exchanges)
    if other:
        notes.append(f"Not compared, because of another path or method: {other}.")
    lost = Counter(exchange.failure for exchange in exchanges if exchange.failure and not exchange.sent)
    if lost:
        failures = ", ".join(f"{count} {failure}" for failure, count in sorted(lost.items()))
        notes.append(f"Exchanges that never reached the API: {lost.total()} ({failures}).")
    return ProxyRecord(str(json.loads(lines[0]).get("to", ""))[:300], tuple(exchanges), tuple(notes))
