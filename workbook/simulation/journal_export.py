"""Exports of a journal: plain values, JSON lines, HTTP archives; without what a log must not hold (REL-2, REL-3).

The rule is a list of what may be shown, not of what may not: the field in which a broken back end puts card data cannot
be known. A string in a body is exported as a length and a digest, as everywhere in this package; data with the
simulator's mark is exported whole. The digests are salted, so they can be compared within one run only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from workbook.api.opaque import MARK, SdkOutput, decode_strictly, json_object
from workbook.errors import OpaqueDataError
from workbook.secrecy import MASK
from workbook.simulation.http import UNANSWERED
from workbook.simulation.journal_entry import Entry, Headers, PersistentEntry, body_digest, read_entry
from workbook.simulation.service import ORIGIN

SHOWN_HEADERS = frozenset(
    """accept accept-encoding accept-language allow connection content-encoding content-length content-type date
    expect host idempotency-key retry-after server te traceparent transfer-encoding user-agent
    x-api-key x-correlation-id x-request-id""".split()  # a person reads and compares this list  # noqa: SIM905
)
"""Headers whose values may be shown. The key's own value is `[key]` before it is kept."""

SHOWN_FIELDS = frozenset({"type", "title", "status", "detail", "errorCode", "instance", "requestId"})
"""Fields of an answer whose values may be shown: those of its problem details, which the simulator wrote (openapi)."""

LONGEST_VALUE = 300
"""Characters of a value that may be shown."""
LONGEST_SEGMENT = 64
"""Characters of a path's segment that are shown; an id is shorter, and opaque data in the wrong place is not."""
DEEPEST, MOST = 8, 100
"""How deep and how wide a body is shown."""
LARGEST_NUMBER = 999
"""The largest number that is shown, which is an HTTP status; a longer one may be a card's."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,39}\Z")
_PLAIN = re.compile(r"[\x20-\x7e]*\Z")


def as_dict(entry: Entry) -> dict[str, Any]:
    """One entry as plain JSON values, redacted; times in seconds, lengths in bytes."""
    if isinstance(entry, PersistentEntry):
        return dict(json.loads(entry.text))
    return {
        "number": entry.number,
        "arrived": round(entry.arrived, 6),
        "answered": round(entry.answered, 6),
        "method": _short(entry.method),
        "target": shown_target(entry.target),
        "operation": entry.operation,
        "instrument": None if entry.instrument is None else _short(entry.instrument),
        "headers": _headers(entry.headers),
        "body": shown_body(entry.body),
        "bodyLength": len(entry.body),
        "status": entry.status,
        "responseHeaders": _headers(entry.response_headers),
        "responseBody": shown_body(entry.response_body, SHOWN_FIELDS),
        "responseLength": len(entry.response_body),
        "basis": entry.basis,
        "fault": entry.fault,
        "ending": entry.ending,
        "keyIn": list(entry.key_in),
    }


def to_jsonl(entries: Iterable[Entry]) -> str:
    """One JSON object a line, keys in a fixed order; pure ASCII, so that no terminal obeys it."""
    return "".join(f"{json.dumps(as_dict(entry))}\n" for entry in entries)


def persistent_entry(entry: Entry, salt: bytes) -> PersistentEntry:
    """The redacted form of an entry, which may be written to a file."""
    digest = body_digest(entry.body, salt, shown_whole=is_shown_whole(entry.body))
    return read_entry(json.dumps(as_dict(entry)), digest.decode())


def shown_target(target: str) -> str:
    """The target as it may be shown: no long segment, and a query by its names and lengths (API-5: there is none)."""
    path, mark, query = target.partition("?")
    parameters = []
    for parameter in query.split("&"):
        name, equals, value = parameter.partition("=")
        if equals:
            parameters.append(f"{_name(name)}={value if value == MASK else _length(value)}")
        else:
            parameters.append(_length(name) if name else "")
    return "/".join(map(_short, path.split("/"))) + mark + "&".join(parameters)


def shown_body(body: bytes, fields: frozenset[str] = frozenset()) -> Any:
    """A body as it may be shown, as a JSON value: its shape, its field names, and no string but what `fields` name."""
    if not body:
        return None
    try:
        document = json.loads(body, parse_constant=_refuse)
    except (ValueError, RecursionError):  # bytes that are no UTF-8 raise a ValueError too
        return _opaque(body.decode("latin-1"))
    return _value(document, fields)


def is_shown_whole(body: bytes) -> bool:
    """Whether a body is one object of nothing but what the simulator made, so that showing it leaves nothing out."""
    shown = shown_body(body)
    fields = shown.items() if isinstance(shown, dict) else ()
    texts = {name: one.get("text") for name, one in fields if isinstance(one, dict)}
    return body.translate(None, b" \t\r\n") == json.dumps(texts, separators=(",", ":")).encode()


def _value(value: Any, fields: frozenset[str], name: str = "", depth: int = 0) -> Any:
    """A JSON value as it may be shown; `fields` are those of the outermost object only."""
    if isinstance(value, dict | list):
        if depth >= DEEPEST:
            return "[nested deeper]"
        rest = [f"[{len(value) - MOST} more]"] if len(value) > MOST else []
        if isinstance(value, list):
            return [_value(inner, frozenset(), depth=depth + 1) for inner in value[:MOST]] + rest
        here = fields if depth == 0 else frozenset[str]()
        pairs = [(_name(inner), _value(value[inner], here, inner, depth + 1)) for inner in [*value][:MOST]]
        return dict(pairs) | dict.fromkeys(rest, True)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _line(value) if name in fields else _opaque(value)
    small = isinstance(value, int) and abs(value) <= LARGEST_NUMBER
    return value if small and name in fields else "[a number]"


def _opaque(text: str) -> Any:
    """A length and a digest, or what the simulator wrote; only the length of what cannot be opaque data at all."""
    try:
        data = SdkOutput(text)
    except OpaqueDataError:
        return _length(text)
    whole = data.is_simulated and (json_object(decode_strictly(text) or b"") or {}).get("simulated") == MARK
    return data.summary() | ({"text": text} if whole else {})


def _headers(headers: Headers) -> list[list[str]]:
    """Of a secret header nothing but the mask was kept, so that is all there is to show."""
    return [
        [_name(name), _line(value) if name.lower() in SHOWN_HEADERS or value == MASK else _length(value)]
        for name, value in headers
    ]


def _length(text: str) -> str:
    return f"[{len(text)} characters]"


def _name(name: str) -> str:
    return name if _WORD.match(name) else _length(name)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SEGMENT and _PLAIN.match(text) else _length(text)


def _line(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else _length(text)


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON, and would not be in an export either


# The journal as an HTTP archive (HAR 1.2), which browsers and proxies read; redacted in the same way.

LOST = frozenset(ending.value for ending in UNANSWERED)
"""Endings of which a client saw no byte: what the service would have said is no answer."""
_KNOWN: frozenset[int] = frozenset(HTTPStatus)


def to_har(entries: Iterable[Entry], epoch: datetime, origin: str = ORIGIN) -> dict[str, Any]:
    """An HTTP archive (HAR 1.2) as plain JSON values.

    Args:
        entries: in the order of the archive.
        epoch: the date of second 0, with a time zone.
        origin: is put before each target to make it an address; the simulator's own name is made up.
    """
    creator = {"name": "provisioning-workbook", "version": "simulated"}
    return {"log": {"version": "1.2", "creator": creator, "entries": [_har(entry, epoch, origin) for entry in entries]}}


def _har(entry: Entry, epoch: datetime, origin: str) -> dict[str, Any]:
    values = as_dict(entry)
    target, status = values["target"], None if values["ending"] in LOST else values["status"]
    waited = round(max(0.0, values["answered"] - values["arrived"]) * 1000, 3)
    parameters = [part.partition("=")[::2] for part in target.partition("?")[2].split("&") if part]
    request = {
        "method": values["method"],
        "url": origin + quote(f"/{target.removeprefix('/')}", safe="/?&=%:@!$'()*+,;~"),
        "queryString": _pairs(parameters),
        **_har_message(values["headers"], values["bodyLength"]),
    }
    if values["bodyLength"]:
        request["postData"] = {"mimeType": _media_type(values["headers"]), "params": [], **_text(values["body"])}
    response_headers, length = values["responseHeaders"], values["responseLength"]
    content = {"size": length, "mimeType": _media_type(response_headers)}
    response = {
        "status": status or 0,
        "statusText": "no answer" if status is None else HTTPStatus(status).phrase if status in _KNOWN else "",
        "content": content | (_text(values["responseBody"]) if length else {}),
        "redirectURL": "",
        **_har_message(response_headers, length),
    }
    return {
        "startedDateTime": (epoch + timedelta(seconds=values["arrived"])).isoformat(timespec="milliseconds"),
        "time": waited,
        "request": request,
        "response": response,
        "cache": {},
        "timings": {"send": 0, "wait": waited, "receive": 0},
        # HAR reserves names with an underscore for the program that writes it.
        **{f"_{name}": values[name] for name in ("number", "operation", "instrument", "basis", "fault", "ending")},
    }


def _har_message(headers: list[list[str]], length: int) -> dict[str, Any]:
    """What request and response have in common; sizes in bytes, -1 where it is not known."""
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers),
        "headersSize": -1,
        "bodySize": length,
    }


def _pairs(pairs: Iterable[Iterable[str]]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs]


def _text(shown: Any) -> dict[str, str]:
    return {"text": json.dumps(shown), "comment": "redacted: strings as a length and a digest, unless simulated"}


def _media_type(headers: list[list[str]]) -> str:
    return next((value for name, value in headers if name.lower() == "content-type"), "")
