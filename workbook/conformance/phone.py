"""The phone's side: makes the calls that the issuer's app would make, and keeps what came of each.

A back end is reached over HTTP, at the configured origin and nowhere else, or through a Python adapter.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import quote

from jsonpointer import JsonPointer, JsonPointerException

from workbook.conformance.origin import Origin
from workbook.conformance.reach import Reach
from workbook.conformance.script import GET, POST, STATUS, Manner
from workbook.conformance.seen import Broke, Call
from workbook.conformance.target import RAW
from workbook.errors import DefinitionError
from workbook.simulation.http import Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from types import TracebackType

    import httpx

    from workbook.conformance.target import Cardholder, Operation, Surface, Target

SLACK = 1.25
"""Times the bound for which a call is waited, so that a late answer is told from none."""
JSON = ("content-type", "application/json")
TEXT = ("content-type", "text/plain; charset=utf-8")
BYTES = ("content-type", "application/octet-stream")


@dataclass(frozen=True, slots=True)
class Asked:
    """One call to make: with whose session, for which card, and with which sdkOutput."""

    number: int
    operation: str
    cardholder: Cardholder
    instrument: str
    sent: str | None
    cancel: float | None = None
    manner: Manner = Manner.PLAIN


class Carrier(Protocol):
    """Takes one call to the back end, and finds out what a `Call` says of it."""

    async def carry(self, asked: Asked, facts: dict[str, Any]) -> None:
        """Make one call; its facts are put down as they become known, because a time limit may end it anywhere."""
        ...

    async def close(self) -> None:
        """No more calls."""
        ...


class Phone:
    """The app of one platform, on as many phones as there are calls at the same time.

    Args:
        target: the back end.
        surface: what it offers this platform.
        carrier: how it is reached; over HTTP unless told otherwise.
    """

    def __init__(self, target: Target, surface: Surface, carrier: Carrier | None = None) -> None:
        self._bound = target.bound
        self._carrier = carrier or OverHttp(target, surface)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        await self._carrier.close()

    async def call(self, asked: Asked) -> Call:
        """Make one call; whatever goes wrong is part of what it returns."""
        began, facts = monotonic(), dict[str, Any]()
        patience = self._bound * SLACK if asked.cancel is None else asked.cancel
        try:
            async with asyncio.timeout(patience):
                await self._carrier.carry(asked, facts)
        except TimeoutError:
            facts["broke"] = Broke.LATE if asked.cancel is None else Broke.CANCELLED
        came = bytes(facts.pop("came", b""))
        facts["partial"] = came if facts.get("broke") else b""
        place = (asked.number, asked.operation, asked.cardholder.name, asked.instrument, asked.sent)
        return Call(*place, began, monotonic(), **facts)


class OverHttp:
    """Calls as the configuration says that the app makes them."""

    def __init__(self, target: Target, surface: Surface) -> None:
        self._target, self._surface = target, surface
        self._reach = Reach(Origin.of(target.base_url), target.bound * SLACK, ca_file=target.ca_file)

    async def close(self) -> None:
        """No more calls."""
        await self._reach.close()

    async def carry(self, asked: Asked, facts: dict[str, Any]) -> None:
        """One exchange, and the sdkInput in its answer."""
        operation = _operation(asked.operation, self._surface, self._target)
        path = operation.path.replace("{id}", quote(asked.instrument, safe=""))
        content = _body(operation, asked, self._surface)
        said = [*self._surface.headers, *asked.cardholder.session]
        kind = [] if content is None else [_kind(operation, self._surface)]
        headers = [*said, *(one for one in kind if not any(name.lower() == one[0] for name, _value in said))]

        def leaves(request: httpx.Request) -> None:
            facts["request"] = _as_it_leaves(request, content or b"")

        manner = _in_manner(asked.manner, headers, content)
        came = facts["came"] = bytearray()
        answer = await self._reach.exchange(operation.method, path, *manner, leaves, came=came)
        value = None if answer.broke else _value(answer.body, operation, self._surface)
        facts |= {"status": answer.status, "headers": answer.headers, "body": answer.body, "value": value}
        facts |= {"broke": answer.broke, "why": answer.why}


def _as_it_leaves(request: httpx.Request, content: bytes) -> Request:
    """A request as the other side is to get it: names of headers as they are written."""
    headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
    return Request(request.method, request.url.raw_path.decode("ascii"), tuple(headers), content)


def _in_manner(manner: Manner, headers: list[tuple[str, str]], content: bytes | None) -> tuple[Any, Any]:
    """Headers and body as this manner has them."""
    match manner:
        case Manner.PLAIN:
            return headers, content
        case Manner.CHUNKED:
            return headers, _chunks(content or b"")
        case Manner.UPPER_CASE:
            return [(name.upper(), value) for name, value in headers], content
        case Manner.CLOSING:
            return [*headers, ("connection", "close")], content
        case Manner.UNPACKED:
            return [*headers, ("accept-encoding", "identity")], content


async def _chunks(content: bytes) -> AsyncIterator[bytes]:
    """A body whose length is not told beforehand."""
    yield content[: len(content) // 2]
    yield content[len(content) // 2 :]


def _operation(name: str, surface: Surface, target: Target) -> Operation:
    operation = {GET: surface.get, POST: surface.post, STATUS: target.status}[name]
    if operation is None:
        raise DefinitionError(f"The back end has no {name}, so no case may ask for it.")
    return operation


def _kind(operation: Operation, surface: Surface) -> tuple[str, str]:
    """What a body is declared as, where the configuration does not say."""
    if operation.sdk_output != RAW:
        return JSON
    return BYTES if surface.decoded else TEXT


def _body(operation: Operation, asked: Asked, surface: Surface) -> bytes | None:
    """The request's body: the sdkOutput as the configuration says, and the id where it belongs in there."""
    if operation.sdk_output == RAW:
        return _encoded(asked.sent or "", decoded=surface.decoded)
    document: Any = None
    for pointer, value in ((operation.id, asked.instrument), (operation.sdk_output, asked.sent)):
        if pointer is not None and value is not None:
            document = _placed({} if document is None else document, pointer, value)
    return None if document is None else json.dumps(document, ensure_ascii=False).encode()


def _encoded(text: str, *, decoded: bool) -> bytes:
    return base64.b64decode(text) if decoded else text.encode()


def _placed(document: Any, pointer: str, value: str) -> Any:
    """The document with the value where the pointer says, and objects on the way there."""
    *above, last = JsonPointer(pointer).parts
    inner = document
    for part in above:
        inner = inner.setdefault(part, {})
    inner[last] = value
    return document


def _value(body: bytes, operation: Operation, surface: Surface) -> str | None:
    """The sdkInput of an answer, as the API's text; None where none stands where it should."""
    try:
        if operation.sdk_input == RAW:
            return base64.b64encode(body).decode() if surface.decoded else body.decode()
        found = JsonPointer(operation.sdk_input).resolve(json.loads(body))
    except (ValueError, RecursionError, JsonPointerException, binascii.Error):
        return None
    return found if isinstance(found, str) else None
