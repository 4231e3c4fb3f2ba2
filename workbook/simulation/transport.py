"""The simulated service in-process, as an httpx transport: a client sees no difference, and no socket is opened.

A fault on the wire is the very error that httpx makes of it on a real socket. Nobody sleeps: a wait longer than
the read timeout raises that timeout at once, and a shorter one is only passed to `pause`.
"""

from collections.abc import AsyncIterator, Callable, Iterator

import httpx

from workbook.simulation.http import AT_ONCE, LOOKS_WHOLE, UNANSWERED, Ending, Request, Responder, Response
from workbook.simulation.service import Service


class SimulatedTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries requests to a service in the same process, for sync and async clients.

    Args:
        service: who answers.
        pause: called with the seconds that an answer takes. Give it a virtual clock's `sleep`, and give the client
            that clock: the client's deadline then passes as in real time.

    Attributes:
        basis: what the latest answer rests on, see `Response.basis`.
    """

    def __init__(
        self, service: Responder | None = None, *, pause: Callable[[float], None] = lambda _seconds: None
    ) -> None:
        self.service: Responder = service or Service()
        self.basis = ""
        self._pause = pause

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request of a sync client."""
        return self._answer(request, request.read())

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request of an async client."""
        return self._answer(request, await request.aread())

    def _answer(self, request: httpx.Request, body: bytes) -> httpx.Response:
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        target = request.url.raw_path.decode("ascii")
        response = self.service.respond(Request(request.method, target, headers, body))
        self.basis = response.basis
        if response.wire == AT_ONCE:
            return _head(response, httpx.ByteStream(response.body))
        return _Faulted(response, request, self._pause).answer()


def _head(response: Response, stream: httpx.SyncByteStream | httpx.AsyncByteStream) -> httpx.Response:
    """An answer whose body is still to come, as from a socket: a body given as content would be unpacked at once."""
    headers = [*response.headers, response.wire.framing(response.body)]
    return httpx.Response(response.status, headers=headers, stream=stream)


class _Faulted(httpx.SyncByteStream, httpx.AsyncByteStream):
    """An answer that travels as its wire says, and the stream of its body."""

    def __init__(self, response: Response, request: httpx.Request, pause: Callable[[float], None]) -> None:
        self._response, self._request, self._pause = response, request, pause

    def answer(self) -> httpx.Response:
        """The head, or the error where none arrives."""
        wire = self._response.wire
        self._wait(wire.before_headers)
        if wire.ending in UNANSWERED:
            self._break()
        return _head(self._response, self)

    def __iter__(self) -> Iterator[bytes]:
        for seconds, piece in self._response.wire.pieces(self._response.body):
            self._wait(seconds)
            yield piece
        self._break()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self:
            yield piece

    def _wait(self, seconds: float) -> None:
        patience = self._request.extensions.get("timeout", {}).get("read")
        late = patience is not None and seconds > patience
        self._pause(patience if late else seconds)
        if late:
            raise httpx.ReadTimeout("The answer took too long.", request=self._request)

    def _break(self) -> None:
        """Raise what httpx raises."""
        ending = self._response.wire.ending
        if ending not in LOOKS_WHOLE:
            error = httpx.ReadError if ending is Ending.RESET else httpx.RemoteProtocolError
            raise error(f"The connection broke: {ending}.", request=self._request)
