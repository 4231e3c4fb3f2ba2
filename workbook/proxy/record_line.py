"""One exchange as a line of the record: what a comparison needs, and nothing that a log must not hold (REL-2, REL-3).

The journal's own redaction does the work: keys are taken out before anything is looked at, strings leave as a length
and a salted digest, headers by a list of what may be shown. A real API gets two more cautions. Its sentences (`detail`,
`instance`, `requestId`) are not kept, for they may repeat what was asked; and an id of a payment instrument, which is
no secret, is kept as it is, or as a pseudonym where that was asked for or where it is not short, printable ASCII.
"""

from __future__ import annotations

import binascii
import json
import secrets
from base64 import b64decode
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from workbook.api.secret import Secret
from workbook.proxy.failure import AWAY, OWN
from workbook.proxy.shape import layer, shape, shown, unpacked
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request, Response
from workbook.simulation.journal_entry import HIDDEN, SECRET_HEADERS, SECRET_PARAMETERS, SHORTEST_KEY, entry
from workbook.simulation.journal_export import as_dict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.proxy.forwarding import Exchange
    from workbook.simulation.journal_entry import Entry

FORMAT, VERSION = "workbook proxy record", 1
LONGEST_ID = 64
_LEFT_OUT = ("basis", "fault", "ending", "bodyLength", "responseLength")


@dataclass(frozen=True, slots=True)
class Written:
    """A line of the record, and what a person is told of it."""

    line: str
    told: str


class Lines:
    """Makes lines of exchanges; one for each run of a proxy.

    Args:
        pseudonyms: write no id of a payment instrument as it is.
    """

    def __init__(self, *, pseudonyms: bool = False) -> None:
        self._pseudonyms = pseudonyms
        self._salt = secrets.token_bytes(16)
        self._keys: dict[bytes, str] = {}
        self._ids: dict[str, str] = {}
        self._count = 0

    def line(self, exchange: Exchange, began: float) -> Written:
        """The line of one exchange; `began` is the run's second 0."""
        self._count += 1
        keys = tuple(dict.fromkeys(_keys(exchange.request)))
        times = (exchange.arrived - began, exchange.answered - began)
        kept = entry(self._count, times, *_plain(exchange), keys)
        told = self._told(exchange, self._renamed(kept))
        line = _scrubbed(json.dumps(told), keys)
        milliseconds = f"{(exchange.answered - exchange.arrived) * 1000:.1f} ms"
        failure = f"  the proxy: {exchange.reply.failure}" if exchange.reply.failure else ""
        seen = json.loads(line)
        return Written(line, f"{seen['method']} {seen['target']} {seen['status']} {milliseconds}{failure}")

    def _told(self, exchange: Exchange, kept: Entry) -> dict[str, Any]:
        reply = exchange.reply
        told = {name: value for name, value in as_dict(kept).items() if name not in _LEFT_OUT}
        renamed = kept.instrument in self._ids.values()
        told["body"] = _nameless(told["body"]) if renamed else told["body"]
        answered = shown(kept.response_body)
        return told | {
            "credential": self._credential(exchange.request),
            "answeredBy": "api" if reply.failure is None else "proxy",
            "failure": "" if reply.failure is None else reply.failure.value,
            "sent": reply.failure not in OWN | AWAY,
            "latency": None if reply.latency is None else round(reply.latency, 6),
            "bodyLength": len(exchange.request.body),
            "bodyShape": shape(kept.body),
            "bodyLayer": layer(kept.body, "sdkOutput"),
            "responseLength": len(reply.response.body),
            "responseBody": _nameless(answered) if renamed else answered,
            "responseShape": shape(kept.response_body),
            "responseLayer": layer(kept.response_body, "sdkInput"),
        }

    def _renamed(self, kept: Entry) -> Entry:
        """The entry under a pseudonym, where its instrument's id is not kept."""
        one = kept.instrument
        plain = (
            one is not None and len(one) <= LONGEST_ID and one.isascii() and one.isprintable() and one == one.strip()
        )
        if one is None or (plain and not self._pseudonyms and HIDDEN not in one):
            return kept
        other = self._ids.setdefault(one, f"PIRECORDED{len(self._ids) + 1:015d}")
        query = kept.target.partition("?")[1:]
        return replace(kept, instrument=other, target="".join((BEFORE_ID, other, AFTER_ID, *query)))

    def _credential(self, request: Request) -> str | None:
        """A name for the key, in the order in which keys are first seen; it says nothing of the key."""
        key = request.header("x-api-key")
        if not key:
            return None
        digest = blake2b(key.encode("utf-8", "surrogatepass"), key=self._salt, digest_size=16).digest()
        return self._keys.setdefault(digest, f"k{len(self._keys) + 1}")


def _plain(exchange: Exchange) -> tuple[Request, Response]:
    """The exchange with its bodies unpacked, so that a key in them is found and their fields are seen."""
    request, response = exchange.request, exchange.reply.response
    packed = request.header("content-encoding") or ""
    coding = next((value for name, value in response.headers if name.lower() == "content-encoding"), "")
    return (
        replace(request, body=unpacked(request.body, packed)),
        replace(response, body=unpacked(response.body, coding)),
    )


def _nameless(body: Any) -> Any:
    """A body whose simulated data, which is shown whole elsewhere, does not say an id that became a pseudonym."""
    if not isinstance(body, dict):
        return body
    said = {name: value for name, value in body.items() if name not in ("text", "paymentInstrumentId")}
    return {name: _nameless(value) for name, value in said.items()}


def _keys(request: Request) -> Iterator[str]:
    """Every secret that this request says, in the ways that are published for saying one (openapi)."""
    for name, value in request.headers:
        if name.lower() in SECRET_HEADERS:
            word = value.strip(" \t").rpartition(" ")[2]
            yield from (value.strip(" \t"), word, *_basic(word))
    for pair in request.target.partition("?")[2].split("&"):
        name, _mark, value = pair.partition("=")
        if unquote(name).lower() in SECRET_PARAMETERS:
            yield from (value, unquote(value))


def _basic(word: str) -> list[str]:
    """What HTTP basic authentication packs."""
    try:
        return [part for part in b64decode(word, validate=True).decode().split(":") if part.isprintable()]
    except (binascii.Error, ValueError):
        return []


def _scrubbed(line: str, keys: tuple[str, ...]) -> str:
    """The line without a key that a JSON escape hid until it was read."""
    for key in keys:
        if len(key) >= SHORTEST_KEY:
            line = Secret(key).scrub(line)
    return line
