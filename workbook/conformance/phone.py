"""The phone's side: makes the calls that the issuer's app would make, and keeps what came of each.

It speaks to the configured origin and to nothing else: no redirect is followed, no proxy of the environment is used,
and what a back end answers is read up to a cap.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

import httpx
from jsonpointer import JsonPointer, JsonPointerException

from workbook.conformance.script import GET, POST, STATUS
from workbook.conformance.seen import Broke, Call
from workbook.conformance.target import RAW
from workbook.errors import DefinitionError

if TYPE_CHECKING:
    from types import TracebackType

    from workbook.conformance.target import Cardholder, Operation, Surface, Target

LARGEST = 4 * 1_048_576
"""Bytes of an answer that are read; the largest sdkInput of a case is 1 MiB."""
SLACK = 5.0
"""Seconds beyond the bound for which a call is waited, so that a late answer is told from none."""
JSON = ("content-type", "application/json")
BYTES = ("content-type", "application/octet-stream")

_BREAKS: tuple[tuple[type[Exception], Broke], ...] = (
    (httpx.ConnectError, Broke.REFUSED),
    (httpx.ConnectTimeout, Broke.REFUSED),
    (httpx.TimeoutException, Broke.LATE),
    (TimeoutError, Broke.LATE),
    (httpx.HTTPError, Broke.LOST),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call to make: with whose session, for which card, and with which sdkOutput."""

    number: int
    operation: str
    cardholder: Cardholder
    instrument: str
    sent: str | None
    cancel: float | None = None


class Phone:
    """The app of one platform, on as many phones as there are calls at the same time.

    Args:
        target: the back end.
        surface: what it offers this platform.
    """

    def __init__(self, target: Target, surface: Surface) -> None:
        self._target, self._surface = target, surface
        self._client = httpx.AsyncClient(
            base_url=target.base_url, trust_env=False, follow_redirects=False, timeout=target.bound + SLACK
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def call(self, asked: Asked) -> Call:
        """Make one call; whatever goes wrong is part of what it returns."""
        began = monotonic()
        patience = self._target.bound + SLACK if asked.cancel is None else asked.cancel
        outcome: dict[str, Any]
        try:
            async with asyncio.timeout(patience):
                outcome = await self._exchange(asked)
        except (httpx.HTTPError, TimeoutError) as error:
            late = Broke.LATE if asked.cancel is None else Broke.CANCELLED
            outcome = {"broke": late if isinstance(error, TimeoutError) else _broke(error)}
        place = (asked.number, asked.operation, asked.cardholder.name, asked.instrument, asked.sent)
        return Call(*place, began, monotonic(), **outcome)

    async def _exchange(self, asked: Asked) -> dict[str, Any]:
        operation = _operation(asked.operation, self._surface, self._target)
        path = operation.path.replace("{id}", quote(asked.instrument, safe=""))
        content = _body(operation, asked, self._surface)
        kind = () if content is None else (BYTES if self._surface.decoded else JSON,)
        headers = [*self._surface.headers, *asked.cardholder.session, *kind]
        async with self._client.stream(operation.method, path, headers=headers, content=content) as answer:
            body = bytearray()
            async for piece in answer.aiter_bytes():
                body += piece
                if len(body) > LARGEST:
                    return {"status": answer.status_code, "broke": Broke.HUGE}
        value = _value(bytes(body), operation, self._surface)
        told = tuple(answer.headers.multi_items())
        return {"status": answer.status_code, "headers": told, "body": bytes(body), "value": value}


def _operation(name: str, surface: Surface, target: Target) -> Operation:
    operation = {GET: surface.get, POST: surface.post, STATUS: target.status}[name]
    if operation is None:
        raise DefinitionError(f"The back end has no {name}, so no case may ask for it.")
    return operation


def _broke(error: Exception) -> Broke:
    return next(broke for kind, broke in _BREAKS if isinstance(error, kind))


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
