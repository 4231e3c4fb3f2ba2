"""One exchange as the journal keeps it: everything byte for byte, except what opens a door.

A key is taken out before anything is kept, wherever in the exchange it stands (REL-2): an entry cannot give away what
it never held. That one change is marked in `key_in`, because a key outside its header is worth knowing of. Opaque data
is kept, so that bodies can be compared; it leaves only through `journal_export` (REL-3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from math import isfinite
from typing import TypeVar
from urllib.parse import unquote

from workbook.secrecy import MASK, SECRET_HEADERS, SECRET_PARAMETERS, Secrets, secrets_in_request
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request, Response

Headers = tuple[tuple[str, str], ...]
T = TypeVar("T")


OPERATIONS = ("GET", "POST")
"""The methods of the two operations (API-1, API-2)."""

_PARAMETER = re.compile(r"([?&])([^=&]+)=([^&]+)")
_SEPARATOR = re.compile(r"([/?&=])")


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
    secrets = _secrets(frozenset((*keys, *secrets_in_request(request.headers, request.target))))
    response = answer if isinstance(answer, Response) else Response(0, (), b"", f"no answer: {type(answer).__name__}")
    method, target, body = request.method, _without_parameters(request.target), request.body
    headers, response_headers = _without_secrets(request.headers), _without_secrets(response.headers)
    response_body, key_in = response.body, dict.fromkeys(["target"] if target != request.target else [])
    exchange = (method, target, *chain.from_iterable(headers + response_headers))
    # Hardly any exchange has a key outside its header, so one search over all of it comes first.
    if secrets.may_be_in("\n".join((*exchange, body.decode("latin-1"), response_body.decode("latin-1")))):

        def noted(where: str, before: T, after: T) -> T:
            key_in.update(dict.fromkeys([where] if before != after else []))
            return after

        target = noted("target", target, _scrubbed_target(target, secrets))
        method = noted("method", method, secrets.scrub(method))
        headers = noted(
            "headers", headers, tuple((secrets.scrub(name), secrets.scrub(value)) for name, value in headers)
        )
        body = noted("body", body, secrets.scrub_bytes(body))
        cleaned = tuple((secrets.scrub(name), secrets.scrub(value)) for name, value in response_headers)
        response_headers = noted("response", response_headers, cleaned)
        response_body = noted("response", response_body, secrets.scrub_bytes(response_body))
    operation, instrument = operation_of(method, target)
    return Entry(
        number,
        *times,
        method=method,
        target=target,
        headers=headers,
        body=body,
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


@lru_cache(maxsize=16)  # a few worlds at a time
def _secrets(keys: frozenset[str]) -> Secrets:
    return Secrets.of_keys(keys)


def _without_secrets(headers: Headers) -> Headers:
    return tuple([(name, MASK if name.lower() in SECRET_HEADERS else value) for name, value in headers])


def _without_parameters(target: str) -> str:
    """The target without the values of secret query parameters."""
    if "=" not in target:
        return target
    return _PARAMETER.sub(
        lambda match: f"{match[1]}{match[2]}={MASK}" if unquote(match[2]).lower() in SECRET_PARAMETERS else match[0],
        target,
    )


def _scrubbed_target(target: str, secrets: Secrets) -> str:
    """The target without a key: only the part with a key in it is replaced, or all where it extends over several."""
    scrubbed = "".join(map(secrets.scrub, _SEPARATOR.split(target)))
    return scrubbed if secrets.found_in(scrubbed) is None else MASK


def operation_of(method: str, target: str) -> tuple[str | None, str | None]:
    """The operation, where the request is one of the two, and the payment instrument id where the path is theirs."""
    path = target.partition("?")[0]
    ours = path.startswith(BEFORE_ID) and path.endswith(AFTER_ID) and len(path) > len(BEFORE_ID + AFTER_ID)
    inner = path[len(BEFORE_ID) : -len(AFTER_ID)]
    if not ours or "/" in inner:
        return None, None
    return (method if method in OPERATIONS else None), unquote(inner)


# The redacted form of an entry, which is all that a state file holds of an exchange (REL-2, REL-3).
#
# A body may carry card data by mistake, and a disk remembers longer than a process. So an entry goes to disk as
# `journal_export` shows it, and a body's bytes as their length and a salted digest, by which two bodies can still be
# compared. The salt is the world's, so that this works over a restart as well.

OWN_DIGEST = 16
"""Bytes of the digest of a body that is shown whole anyway."""
DIGEST = 4
"""Bytes of any other body's digest, as everywhere in this package: too few to find the body by trying."""


@dataclass(frozen=True, slots=True, repr=False)
class PersistentEntry(Entry):
    """A redacted entry; its headers and its target are shortened, its body is a `body_digest`.

    Attributes:
        text: the whole of it as JSON, as `journal_export.as_dict` gives it.
    """

    text: str

    @property
    def size(self) -> int:
        """Bytes of what is kept: the same in memory and in a file."""
        return len(self.text) + len(self.body)

    __repr__ = Entry.__repr__


def body_digest(body: bytes, salt: bytes, *, shown_whole: bool) -> bytes:
    """What is kept instead of a body: equal bodies have equal digests, and an empty one stays empty."""
    if not body:
        return b""
    digest = blake2b(body, key=salt, digest_size=OWN_DIGEST if shown_whole else DIGEST).hexdigest()
    return f"[{len(body)} bytes, digest {digest}]".encode()


def read_entry(text: str, body: str) -> PersistentEntry:
    """The entry of this JSON, with the digest of its request's body.

    Raises:
        LookupError, TypeError, ValueError: it is no entry.
    """
    values = json.loads(text)
    for name in ("number", "arrived", "answered"):
        if type(values[name]) not in (int, float) or not isfinite(values[name]):
            raise TypeError(f"{name} is not a number")
    names = ("number", "arrived", "answered", "method", "target", "operation", "instrument", "status", "basis")
    return PersistentEntry(
        **{name: values[name] for name in (*names, "fault", "ending")},
        headers=tuple((name, value) for name, value in values["headers"]),
        body=body.encode("ascii"),
        response_headers=tuple((name, value) for name, value in values["responseHeaders"]),
        response_body=b"",
        key_in=tuple(values["keyIn"]),
        text=text,
    )
