"""The record of a proxy: a file of JSON lines, one for each exchange, with nothing that a log must not hold.

The journal's own redaction does the work (REL-2, REL-3): keys are removed before anything else happens, strings are
replaced by a length and a salted digest, headers are shown by a list of allowed names. A real API needs two more rules.
Its sentences (`detail`, `instance`, `requestId`) are not kept, because they may repeat the request; and the id of a
payment instrument, which is no secret, is kept as it is, or as a pseudonym where that was asked for or where it is not
short, printable ASCII.
"""

import fcntl
import json
import os
import secrets
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from workbook.api.opaque import json_object, json_text, wrong_layer
from workbook.api.protocol import BodyReader
from workbook.api.redaction import Redaction, length_of, refuse_constant
from workbook.base.files import read_named
from workbook.base.secrecy import MASK, Secrets, each_text, secrets_in_request
from workbook.errors import ConfigurationError
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Headers, header_values
from workbook.tools.mockserver.journal import as_dict, entry
from workbook.tools.proxy.upstream import LOSSES, ProxyExchange

# The shape of a body: field names and JSON types, and no value but those that are known to be harmless.
#
# By their shapes, answers of two APIs can be compared, and nothing that they said is kept (REL-3).

# Of an answer it keeps a problem's values, without its sentences, which may repeat what was asked.
REDACTION = Redaction(fields=frozenset({"type", "title", "status", "errorCode"}), longest=100)
NOT_JSON, EMPTY_BODY, TWICE = "not JSON", "empty", "fields twice"


class _Pairs(dict[str, Any]):
    """A JSON object that remembers whether a name occurred twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.twice = len(self) != len(pairs)


def unpacked(body: bytes, encoding: str) -> bytes:
    """The body without its gzip; as it is where it has none, is not what its header says, or unpacks to over 8 MiB."""
    if encoding.strip().lower() not in ("gzip", "x-gzip"):
        return body
    reader = BodyReader(8 * 1_048_576, encoding)
    reader.feed(body)
    plain = reader.finish()
    return plain if isinstance(plain, bytes) else body


def shape(body: bytes) -> dict[str, str]:
    """Path to type, such as `{"": "object", "sdkInput": "string"}`; the whole body has the path "".

    Types are JSON's, and `empty string`, `empty`, `not JSON` and `fields twice` (for an object in which a name stands
    twice). A name that is no short word is replaced by its length.
    """
    if not body:
        return {"": EMPTY_BODY}
    try:
        document = json.loads(body.decode(), object_pairs_hook=_Pairs, parse_constant=refuse_constant)
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
    elif isinstance(value, _Pairs) and value.twice:
        yield path, TWICE
    else:
        kinds = {bool: "boolean", int: "number", float: "number", list: "array", _Pairs: "object", type(None): "null"}
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

_FORMAT, _VERSION = "workbook proxy record", 1


class Lines:
    """Makes lines of exchanges; one for each run of a proxy.

    Args:
        pseudonyms: write a pseudonym instead of each id of a payment instrument.
    """

    def __init__(self, *, pseudonyms: bool = False) -> None:
        self._pseudonyms = pseudonyms
        self._salt = secrets.token_bytes(16)
        self._keys: dict[bytes, str] = {}
        self._ids: dict[str, str] = {}
        self._count = 0

    def line(self, exchange: ProxyExchange, began: float) -> tuple[str, str]:
        """The line of one exchange, and what is logged of it; `began` is the run's second 0."""
        self._count += 1
        request, reply = exchange.request, exchange.reply
        coding = next(iter(header_values(reply.response.headers, "content-encoding")), "")
        kept = entry(
            self._count,
            (exchange.arrived - began, exchange.answered - began),
            # Unpacked, so that a key in a body is found and its fields are seen.
            replace(request, body=unpacked(request.body, request.header("content-encoding") or "")),
            replace(reply.response, body=unpacked(reply.response.body, coding)),
            keys := frozenset(secrets_in_request(request.headers, request.target)),
        )
        pseudonym = self._pseudonym(kept.instrument)
        if pseudonym is not None:
            query = kept.target.partition("?")[1:]
            kept = replace(kept, instrument=pseudonym, target="".join((BEFORE_ID, pseudonym, AFTER_ID, *query)))
        redaction = REDACTION
        if self._pseudonyms:  # a back end fills these headers as it likes, also with the id of a payment instrument
            tracing = {"idempotency-key", "traceparent", "x-correlation-id", "x-request-id"}
            redaction = replace(REDACTION, shown=REDACTION.shown - tracing)
        if self._pseudonyms and pseudonym is None:
            kept = replace(kept, target=_without_ids(kept.target))
        values = as_dict(kept, redaction)
        for name in ("basis", "fault", "ending", "bodyLength", "responseLength"):  # of a simulator, or set below
            values.pop(name, None)
        values |= {
            "body": values["body"] if pseudonym is None else _nameless(values["body"]),
            "credential": self._credential(request.header("x-api-key")),
            "answeredBy": "api" if reply.failure is None else "proxy",
            "failure": "" if reply.failure is None else reply.failure.value,
            "sent": reply.failure is None or reply.failure in LOSSES,
            "latency": None if reply.latency is None else round(reply.latency, 6),
            "bodyLength": len(request.body),
            "bodyShape": shape(kept.body),
            "bodyLayer": layer(kept.body, "sdkOutput"),
            "responseLength": len(reply.response.body),
            "responseBody": values["responseBody"] if pseudonym is None else _nameless(values["responseBody"]),
            "responseShape": shape(kept.response_body),
            "responseLayer": layer(kept.response_body, "sdkInput"),
        }
        values = each_text(values, Secrets.of_keys(keys).scrub)  # escapes in JSON may have hidden a key until now
        values = each_text(values, self._without_known_ids)
        milliseconds = f"{(exchange.answered - exchange.arrived) * 1000:.1f} ms"
        failure = f"  the proxy: {reply.failure}" if reply.failure else ""
        return json.dumps(values), f"{values['method']} {values['target']} {values['status']} {milliseconds}{failure}"

    def _pseudonym(self, instrument: str | None) -> str | None:
        """What is written instead of this id; None where it is written as it is."""
        if instrument is None:
            return None
        short = len(instrument) <= 64 and instrument == instrument.strip()
        plain = instrument.isascii() and instrument.isprintable() and MASK not in instrument
        if short and plain and not self._pseudonyms:
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
        if not key:
            return None
        digest = blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=16).digest()
        return self._keys.setdefault(digest, f"k{len(self._keys) + 1}")


def _without_ids(target: str) -> str:
    """A path that is not the document's, without what may be an id: a misspelt path holds the id as well."""
    path, mark, query = target.partition("?")
    words = {word.lower() for word in (BEFORE_ID + AFTER_ID).split("/")} | {"v1", "v3"}
    return "/".join(part if part.lower() in words else length_of(part) for part in path.split("/")) + mark + query


def _nameless(body: Any) -> Any:
    """A body without the id that simulated data names, where that id was replaced by a pseudonym."""
    if not isinstance(body, dict):
        return body
    return {name: _nameless(value) for name, value in body.items() if name not in ("text", "paymentInstrumentId")}


# The file: for its owner alone, whole after each line, and never overwritten.
#
# Its first line says what it is; each run of a proxy that appends to it begins with such a line again.

_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line says.

    Attributes:
        to: the API's base URL; it holds no secret.
        began: the moment of second 0, in UTC.
        pseudonyms: whether every id of a payment instrument is one.
        format: what the file is.
        version: of the format.
    """

    to: str
    began: str
    pseudonyms: bool = False
    format: str = _FORMAT
    version: int = _VERSION


class Recording:
    """An open record; close it.

    Args:
        path: the file; it is made, or appended to where `append` says so.
        head: what this run begins with.
        append: continue an existing record.

    Attributes:
        count: how many exchanges were written.
        cut: whether an unfinished last line of an earlier run was removed.

    Raises:
        ConfigurationError: the file is there already, is no record, or cannot be written.
    """

    def __init__(self, path: Path, head: Head, *, append: bool = False) -> None:
        self.path = path
        self.count = 0
        self.cut = False
        self._lines = Lines(pseudonyms=head.pseudonyms)
        self._began = monotonic()
        try:
            self._file = self._continued() if append and path.exists() else self._claimed(os.O_CREAT | os.O_EXCL)
            self._write(json.dumps(asdict(head)))
        except FileExistsError:
            message = f"{path} is there already. Give another --out, or continue the file with --append."
            raise ConfigurationError(message) from None
        except BlockingIOError:
            raise ConfigurationError(f"Another proxy writes {path}. Stop it, or give another --out.") from None
        except OSError as error:
            raise ConfigurationError(f"Cannot write the record {path}: {error.strerror or error}.") from None

    def keep(self, exchange: ProxyExchange) -> str:
        """Write one exchange; returns what is logged of it.

        Raises:
            OSError: for example, the disk is full; nothing of the line is kept.
        """
        line, log = self._lines.line(exchange, self._began)
        self._write(line)
        self.count += 1
        return log

    def close(self) -> None:
        """Release the file."""
        os.close(self._file)

    def _claimed(self, flags: int = 0) -> int:
        """The open file, locked for this process for as long as it is open."""
        file = os.open(self.path, os.O_RDWR | flags, _MODE)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(file)
            raise
        return file

    def _continued(self) -> int:
        """An existing record, from the end of its last whole line on."""
        file = self._claimed()
        try:
            # first of all: a file that is something else stays as it is, its mode included
            regular = stat.S_ISREG(os.fstat(file).st_mode)
            if not regular or not is_head(os.pread(file, 10_000, 0).partition(b"\n")[0]):
                raise ConfigurationError(f"{self.path} is no record of a proxy. Give another --out.")  # noqa: TRY301
            os.fchmod(file, _MODE)
            end = size = os.lseek(file, 0, os.SEEK_END)
            while end and os.pread(file, 1, end - 1) != b"\n":
                end -= 1
            self.cut = end != size
            os.ftruncate(file, end)
            os.lseek(file, 0, os.SEEK_END)
        except BaseException:
            os.close(file)
            raise
        return file

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
    """Whether this line begins a run of a record."""
    values = json_object(line) or {}
    return (values.get("format"), values.get("version")) == (_FORMAT, _VERSION)


# A record read back: each line checked, and an unfinished last one left out with a note.


Seconds = Annotated[float, Field(ge=-1e9, le=1e9, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, le=10**12)]


class RecordedExchange(BaseModel):
    """One exchange of a record: what the journal writes of it (see `Entry`), and what a comparison needs besides.

    Attributes:
        body: redacted, as a JSON value.
        body_length: bytes.
        response_body: as `body`.
        response_length: bytes.
        line: of the file, from 1.
        run: of a proxy, from 1: names of keys and digests mean something within one run only.
        instrument: the payment instrument's id or pseudonym.
        credential: a name for the key; None where there was none.
        body_shape: see `shape`.
        body_layer: what was wrong with the sdkOutput's text.
        status: of the answer.
        failure: why the answer is the proxy's own; empty where it is the API's.
        sent: whether the request may have reached the API.
        latency: seconds to the answer's head; None where none came.
        response_shape: see `shape`.
        response_layer: what was wrong with the sdkInput's text.
    """

    model_config = ConfigDict(strict=True, frozen=True, alias_generator=to_camel)

    line: int = 0
    run: int = 0
    number: Count
    arrived: Seconds
    answered: Seconds
    method: str
    target: str
    operation: Literal["GET", "POST"] | None
    instrument: str | None
    headers: Headers
    body: Any
    body_length: Count
    response_headers: Headers
    response_body: Any
    response_length: Count
    key_in: tuple[str, ...]
    credential: str | None
    body_shape: Mapping[str, str]
    body_layer: str | None
    status: Annotated[int, Field(ge=0, le=999)]
    failure: str
    sent: bool
    latency: Seconds | None
    response_shape: Mapping[str, str]
    response_layer: str | None

    @property
    def seconds(self) -> float:
        """From the request to the end of the answer."""
        return self.answered - self.arrived


@dataclass(frozen=True, slots=True)
class ProxyRecord:
    """What a file holds.

    Attributes:
        to: the API's base URLs, each once.
        exchanges: in the order of arrival within each run.
        notes: what a reader should know of the file.
    """

    to: tuple[str, ...]
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
    runs: list[str] = []
    exchanges: list[RecordedExchange] = []
    for number, line in enumerate(lines, 1):
        if is_head(line):
            runs.append(str(json.loads(line).get("to", ""))[:300])
        else:
            try:
                exchange = RecordedExchange.model_validate_json(line[: 4 * 1_048_576])  # a proxy writes no longer line
            except ValidationError as error:
                first = error.errors(include_input=False, include_url=False)[0]  # nothing of the line is repeated
                name = f"{first['loc'][0]!r}" if first["loc"] else ""
                missing = first["type"] == "missing" and len(first["loc"]) == 1
                why = f"{name} is {'missing' if missing else 'of the wrong type'}" if name else "it is no JSON object"
                what = "Take the line out, or record again."
                raise ConfigurationError(f"{path}, line {number}: {why}. {what}") from None
            exchanges.append(exchange.model_copy(update={"line": number, "run": len(runs)}))
    exchanges.sort(key=lambda exchange: (exchange.run, exchange.number))
    other = sum(exchange.operation is None or exchange.instrument is None for exchange in exchanges)
    if other:
        notes.append(f"Not compared, because of another path or method: {other}.")
    lost = Counter(exchange.failure for exchange in exchanges if exchange.failure and not exchange.sent)
    if lost:
        failures = ", ".join(f"{count} {failure}" for failure, count in sorted(lost.items()))
        notes.append(f"Exchanges that never reached the API: {lost.total()} ({failures}).")
    return ProxyRecord(tuple(dict.fromkeys(runs)), tuple(exchanges), tuple(notes))
