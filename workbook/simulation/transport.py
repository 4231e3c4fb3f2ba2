"""The simulated service in-process, as an httpx transport: a client cannot tell, and no socket is opened.

With `api/client` and `api/deadline` this is the only module that imports httpx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import httpx

from workbook.simulation.service import Request, Service

if TYPE_CHECKING:
    from workbook.simulation.service import Response


class Responder(Protocol):
    """Whatever answers a request: a `Service`, or a lesson's single answer."""

    def respond(self, request: Request, /) -> Response:
        """The answer to `request`."""
        ...


class SimulatedTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Carries requests to a service in the same process, for sync and async clients.

    Attributes:
        basis: what the latest answer rests on, see `Response.basis`.
    """

    def __init__(self, service: Responder | None = None) -> None:
        self.service: Responder = service or Service()
        self.basis = ""

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
        return _to_httpx(response)


def _to_httpx(response: Response) -> httpx.Response:
    return httpx.Response(response.status, headers=list(response.headers), content=response.body)
