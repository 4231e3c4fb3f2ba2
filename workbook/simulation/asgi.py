"""The stand-in as an ASGI application: it reads a body, up to the service's limit, and hands over.

What is logged of a request is a line without a header, a body or a query.
"""

from __future__ import annotations

import asyncio
import json
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from workbook.simulation.control import PREFIX
from workbook.simulation.http import MAX_BODY, Request
from workbook.simulation.wire import AT_ONCE, UNANSWERED
from workbook.simulation.wire_out import LINE, carry_out, head

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from workbook.simulation.control import Control
    from workbook.simulation.http import Response
    from workbook.simulation.transport import Responder

    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Tell = Callable[[str], None]

LONGEST_SEGMENT = 64
"""Characters of a path's segment that are logged; an id is shorter, and opaque data in the wrong place is not."""
LONGEST_PATH = 300
"""Characters of a path that are logged."""
OK = 200
CONTROL = PREFIX.rstrip("/")


def application(
    responder: Responder,
    tell: Tell | None = None,
    *,
    keys: Callable[[], Iterable[str]] = tuple,
    control: Control | None = None,
) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """Whoever answers, as an ASGI application.

    Args:
        responder: answers.
        tell: called with one line for each request that was answered.
        keys: the keys that no line may hold.
        control: answers below its own prefix.
    """

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        began = perf_counter()
        body = await read(receive, MAX_BODY)
        if body is None:
            return
        request = _request(scope, body)
        response = await _answer(responder, control, request)
        if response is None:
            return
        await _send(send, scope, response)
        if tell is not None:
            tell(_line(request, response, perf_counter() - began, keys()))

    return app


async def _answer(responder: Responder, control: Control | None, request: Request) -> Response | None:
    """The answer; None when the server stops while somebody waits for a request."""
    if control is None or not request.target.startswith(CONTROL):
        return responder.respond(request)
    try:
        return await control.respond_async(request)
    except asyncio.CancelledError:
        return None


def _line(request: Request, response: Response, seconds: float, keys: Iterable[str]) -> str:
    """What is logged of a request: no header, no body, no query, nothing of a key."""
    status = "no answer" if response.wire.ending in UNANSWERED else response.status
    return f"{request.method} {_path(request.target, keys)} {status} {seconds * 1000:.1f} ms{_told(response)}"


def _told(response: Response) -> str:
    """Why it was refused, or which fault was played; a faulted body says nothing that could be logged."""
    if response.fault:
        return f"  fault: {response.fault}"
    return "" if response.status == OK else f"  {json.loads(response.body)['detail']}"


def _path(target: str, keys: Iterable[str]) -> str:
    """The path as it may be logged; a terminal obeys control characters, and anything may stand where an id belongs."""
    path = target.partition("?")[0]
    if any(key in unquote(path) for key in keys):
        return "[key]"
    segments = (one if len(one) <= LONGEST_SEGMENT else f"[{len(one)} characters]" for one in path.split("/"))
    return "/".join(segments).encode("unicode_escape").decode("ascii")[:LONGEST_PATH]


async def read(receive: Receive, most: int) -> bytes | None:
    """The whole body, chunked or not, cut where it is seen to have more than `most` bytes; None when the peer left."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if len(body) <= most:
            body += message.get("body", b"")
        if not message.get("more_body"):
            return bytes(body[: most + 1])


def _request(scope: Message, body: bytes) -> Request:
    headers = tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]])
    query = scope["query_string"].decode("latin-1")
    target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
    return Request(scope["method"], target, headers, body)


async def _send(send: Send, scope: Message, response: Response) -> None:
    if response.wire != AT_ONCE:
        return await carry_out(send, scope["extensions"][LINE], response)
    await send(head(response))
    return await send({"type": "http.response.body", "body": response.body})
