"""The proxy as an ASGI application: reads a request, asks the API, answers, and tells whoever records it.

Both bodies are read whole before they go on, each up to a limit: what is cut short on one side is never begun on the
other, so the answer is either the API's, byte for byte, or the proxy's own word.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.proxy.exact_line import EXACT
from workbook.proxy.failure import Failure
from workbook.proxy.headers import CHUNKED, for_the_back_end
from workbook.proxy.upstream import Reply
from workbook.simulation.asgi import read
from workbook.simulation.http import Request, Response
from workbook.simulation.own_host import OwnHost

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from workbook.proxy.exact_line import Exact
    from workbook.proxy.upstream import Upstream

    Message = dict[str, Any]
    Receive = Callable[[], Awaitable[Message]]
    Send = Callable[[Message], Awaitable[None]]
    Keep = Callable[["Exchange"], None]

LARGEST_REQUEST = 8 * 1_048_576
"""The largest body of a request that is passed on, in bytes (ours)."""
BODILESS = 204
_DOTS = (".", "..")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request, and what became of it.

    Attributes:
        request: as it came.
        reply: what was answered.
        arrived: seconds of a monotonic clock.
        answered: the same, when the answer was there as a whole.
    """

    request: Request = field(repr=False)
    reply: Reply = field(repr=False)
    arrived: float
    answered: float


def application(upstream: Upstream, keep: Keep) -> Callable[[Message, Receive, Send], Awaitable[None]]:
    """The proxy before `upstream`; `keep` is called once for each exchange, before it is answered."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        exact: Exact = scope["extensions"][EXACT]
        body = await read(receive, LARGEST_REQUEST)
        if body is None:
            return
        arrived = monotonic()
        request = _request(scope["method"], exact, body[:LARGEST_REQUEST])
        refused = _refused(request, body, upstream.target.prefix)
        reply = Reply.failed(refused) if refused else await _asked(upstream, request)
        keep(Exchange(request, reply, arrived, monotonic()))
        await _send(send, exact, reply, request.method, chunks=scope["http_version"] == "1.1")

    return app


async def _asked(upstream: Upstream, request: Request) -> Reply:
    try:
        return await upstream.ask(request)
    except asyncio.CancelledError:  # the server stops, and what was sent may have arrived: that belongs in the record
        return Reply.failed(Failure.STOPPED)


def _refused(request: Request, body: bytes, prefix: str) -> Failure | None:
    """Why this request does not go on; None where it does."""
    tests = (
        (_OWN_NAMES.respond(request) is not _OURS, Failure.MISDIRECTED),
        (len(body) > LARGEST_REQUEST, Failure.REQUEST_TOO_LARGE),
        (request.method == "CONNECT" or not request.target.startswith("/"), Failure.BAD_REQUEST),
        (bool(prefix) and _leaves(request.target), Failure.BAD_REQUEST),
    )
    return next((failure for holds, failure in tests if holds), None)


def _leaves(target: str) -> bool:
    """Whether a path could lead out from below the API's own."""
    path = target.partition("?")[0].lower().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/")
    return any(segment in _DOTS for segment in path.replace("\\", "/").split("/"))


def _request(method: str, exact: Exact, body: bytes) -> Request:
    headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in exact.headers)
    return Request(method, exact.target.decode("latin-1"), headers, body)


async def _send(send: Send, exact: Exact, reply: Reply, method: str, *, chunks: bool) -> None:
    """Answer: the server is told how the body travels, and the head is ours."""
    headers, framing = for_the_back_end(reply.response, method, chunks=chunks)
    lengths = {CHUNKED: b"chunked", "": b""}
    length = lengths.get(framing, str(len(reply.response.body)).encode())
    told = [(framing.encode(), length)] if framing else []
    exact.writer.next_head(_head(reply, headers))
    await send({"type": "http.response.start", "status": 200 if framing else BODILESS, "headers": told})
    await send({"type": "http.response.body", "body": reply.response.body if framing else b""})


def _head(reply: Reply, headers: list[tuple[str, str]]) -> bytes:
    status = reply.response.status
    phrase = reply.reason if reply.failure is None else HTTPStatus(status).phrase
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    return "".join(f"{line}\r\n" for line in lines).encode("latin-1")


class _Marked:
    """Answers every request with the same mark, which says that it got through."""

    def respond(self, _request: Request) -> Response:
        return _OURS


_OURS = Response(200, (), b"", "")
_OWN_NAMES = OwnHost(_Marked())
