"""One exchange as the journal keeps it: everything byte for byte, except what opens a door.

A key is taken out before anything is kept, wherever in the exchange it stands (REL-2): an entry cannot give away what
it never held. That one change is marked in `key_in`, because a key outside its header is worth knowing of. Opaque data
is kept, so that bodies can be compared; it leaves only through `journal_export` (REL-3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbook.simulation.http import Request

    Headers = tuple[tuple[str, str], ...]

HIDDEN = "[key]"
"""What stands in a key's place."""

SECRET_HEADERS = frozenset({"x-api-key", "authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Headers whose values are never kept: the document's key, and the other ways in that are published (openapi)."""

SECRET_PARAMETERS = frozenset({"clientkey", "x-api-key", "api_key", "apikey", "access_token"})
"""Parameters of a query whose values are never kept: `clientKey` is a published way to say the key (openapi)."""

SHORTEST_KEY = 8
"""Characters below which a key is looked for in its header only: it would be found in innocent text."""

OPERATIONS = ("GET", "POST")
"""The methods of the two operations (API-1, API-2)."""

_PARAMETER = re.compile(r"([?&])([^=&]+)=([^&]+)")


@dataclass(frozen=True, slots=True, repr=False)
class Entry:
    """One request and its answer.

    Attributes:
        number: the how-manieth request it is, from 1, in the order of arrival.
        arrived: seconds from the journal's start to the request, monotonic.
        answered: seconds from the journal's start to the answer; how long the bytes travel after that is not in it.
        method: as it was sent.
        target: the raw request target, query included.
        headers: raw, in order, as often as they were sent; secret values as `[key]`.
        body: the request's bytes.
        operation: GET or POST where the request is one of the two operations (API-1, API-2), else None.
        instrument: the payment instrument id where the path is theirs, percent-decoded, else None.
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
        """Bytes of what is kept, roughly: what a journal's limit counts."""
        heads = sum(map(len, chain.from_iterable(self.headers + self.response_headers)))
        return len(self.target) + heads + len(self.body) + len(self.response_body)

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
    hide = Hide(frozenset((*keys, *_keys(request))))
    said = answer if isinstance(answer, Response) else Response(0, (), b"", f"no answer: {type(answer).__name__}")
    target = hide.target(request.target)
    operation, instrument = _operation(request.method, target)
    return Entry(
        number,
        *times,
        method=hide.text(request.method, "method"),
        target=target,
        headers=hide.headers(request.headers, "headers"),
        body=hide.bytes(request.body, "body"),
        operation=operation,
        instrument=instrument,
        status=said.status if said is answer else None,
        response_headers=hide.headers(said.headers, "response"),
        response_body=hide.bytes(said.body, "response"),
        basis=said.basis,
        fault=said.fault,
        ending=said.wire.ending.value if said is answer else "",
        key_in=tuple(hide.found),
    )


class Hide:
    """Takes keys out of one exchange and remembers where they stood.

    Hardly any exchange has a key outside its header, so that is what is looked for first, in one go.
    """

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys, self._coded = _sought(keys)
        self.found: dict[str, None] = {}

    def text(self, text: str, where: str) -> str:
        """The text without a key."""
        for key in self._keys:
            if key in text:
                text = text.replace(key, HIDDEN)
                self.found[where] = None
        return text

    def bytes(self, data: bytes, where: str) -> bytes:
        """The bytes without a key; the very same object where there was none."""
        for key in self._coded:
            if key in data:
                data = data.replace(key, HIDDEN.encode())
                self.found[where] = None
        return data

    def headers(self, headers: Headers, where: str) -> Headers:
        """The headers with secret values hidden, which is where they belong, and without a key elsewhere."""
        shown = tuple([(name, HIDDEN if name.lower() in SECRET_HEADERS else value) for name, value in headers])
        if not self._in("\n".join(chain.from_iterable(shown))):
            return shown
        return tuple((self.text(name, where), self.text(value, where)) for name, value in shown)

    def target(self, target: str) -> str:
        """The target without a key, however much of it is percent-encoded, and without a secret parameter's value."""
        if "%" not in target and "=" not in target and not self._in(target):
            return target
        named = _PARAMETER.sub(_parameter, self.text(target, "target"))
        if named != target:
            self.found["target"] = None
        parts = re.split(r"([/?&=])", named)
        hidden = "".join(self.text(unquote(part), "target") if self._in(unquote(part)) else part for part in parts)
        # A key with a slash in it can stand across segments, which leaves nothing that could be kept of them.
        return self.text(HIDDEN, "target") if self._in(unquote(hidden)) else hidden

    def _in(self, text: str) -> bool:
        for key in self._keys:  # noqa: SIM110  # any() takes longer than the search
            if key in text:
                return True
        return False


@lru_cache(maxsize=16)  # a few worlds at a time
def _sought(keys: frozenset[str]) -> tuple[tuple[str, ...], tuple[bytes, ...]]:
    """The keys in every form that they may have in a text, and in the bytes of a body; a longer one comes first."""
    long = sorted((key for key in keys if len(key) >= SHORTEST_KEY), key=len, reverse=True)
    forms = dict.fromkeys(form for key in long for form in _forms(key))
    coded = dict.fromkeys(key.encode(coding, "replace") for key in forms for coding in ("utf-8", "latin-1"))
    return tuple(forms), tuple(coded)


def _forms(key: str) -> tuple[str, ...]:
    """The key as it is, and as a path and a query spell it."""
    return key, quote(key, errors="replace"), quote(key, safe="", errors="replace")


def _parameter(found: re.Match[str]) -> str:
    secret = unquote(found[2]).lower() in SECRET_PARAMETERS
    return f"{found[1]}{found[2]}={HIDDEN}" if secret else found[0]


def _keys(request: Request) -> Iterable[str]:
    """Every key that the request's own headers say; `Bearer` and the like before one are no part of it."""
    secrets = [value for name, value in request.headers if name.lower() in SECRET_HEADERS]
    said = [secret.strip(" \t") for secret in secrets]  # what HTTP strips; a key may end in any other blank
    return said + [secret.rpartition(" ")[2] for secret in said]


def _operation(method: str, target: str) -> tuple[str | None, str | None]:
    path = target.partition("?")[0]
    ours = path.startswith(BEFORE_ID) and path.endswith(AFTER_ID) and len(path) > len(BEFORE_ID + AFTER_ID)
    inner = path[len(BEFORE_ID) : -len(AFTER_ID)]
    if not ours or "/" in inner:
        return None, None
    return (method if method in OPERATIONS else None), unquote(inner)
