"""The real API, asked once for each request: nothing is added, followed, unpacked or sent again.

httpcore carries it: unlike httpx it adds no header of its own, takes a target as it is, and gives headers back in the
spelling that they came in. Each request gets a connection of its own, so no answer can be another request's. httpcore
writes Host first, HTTP/1.1 always, and takes heads of up to 100 KiB.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING, Any

import httpcore

from workbook.api.deadline import GuardedBackend
from workbook.errors import ConfigurationError, ParameterError
from workbook.proxy.address import look_up
from workbook.proxy.failure import Failure, said
from workbook.proxy.headers import for_the_api
from workbook.simulation.http import Response

if TYPE_CHECKING:
    from pathlib import Path

    from workbook.proxy.address import Resolve, Target
    from workbook.simulation.http import Request

LARGEST_ANSWER = 8 * 1_048_576
"""The largest body of an answer that is passed on, in bytes (ours)."""
DEADLINE = 30.0
"""Seconds from a request to the end of its answer, unless told otherwise."""
LONGEST_DEADLINE = 3600.0
_SWITCHING = 101


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of one request.

    Attributes:
        response: what to answer: the API's own answer, or the proxy's word that there is none.
        reason: the phrase after the status.
        failure: why the answer is the proxy's own; None where it is the API's.
        latency: seconds from the first byte of the request, on a connection that stood, to the answer's head; None
            where no head came.
    """

    response: Response
    reason: str = ""
    failure: Failure | None = None
    latency: float | None = None

    @classmethod
    def failed(cls, failure: Failure) -> Reply:
        """The proxy's own word."""
        return cls(said(failure), "", failure)


@dataclass(slots=True)
class _Watch:
    """Where an exchange has got to, told by httpcore."""

    began: float | None = None
    headed: float | None = None

    async def note(self, name: str, _info: dict[str, Any]) -> None:
        if name == "http11.send_request_headers.started":
            self.began = monotonic()
        elif name == "http11.receive_response_headers.complete":
            self.headed = monotonic()

    @property
    def latency(self) -> float | None:
        return None if self.began is None or self.headed is None else self.headed - self.began


@dataclass(frozen=True)
class Upstream:
    """Asks the real API.

    Args:
        target: where it is.
        tls: whom to trust.
        deadline: seconds for a whole exchange.
        resolve: looks up names; None asks the system.

    Raises:
        ParameterError: the deadline is no number of seconds.
    """

    target: Target
    tls: ssl.SSLContext = field(default_factory=httpcore.default_ssl_context)
    deadline: float = DEADLINE
    resolve: Resolve | None = None

    def __post_init__(self) -> None:
        if not 0 < self.deadline <= LONGEST_DEADLINE:
            raise ParameterError(f"--deadline is {self.deadline}. Give seconds, more than 0, to {LONGEST_DEADLINE:g}.")

    async def ask(self, request: Request) -> Reply:
        """The API's answer, or why there is none; never raises but when it is cancelled."""
        watch = _Watch()
        try:
            async with asyncio.timeout(self.deadline):
                return await self._asked(request, watch)
        except (TimeoutError, httpcore.TimeoutException):
            return Reply.failed(Failure.LATE)
        except httpcore.LocalProtocolError:
            return Reply.failed(Failure.BAD_REQUEST)
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            return replace(Reply.failed(_failure(error, watch)), latency=watch.latency)

    async def _asked(self, request: Request, watch: _Watch) -> Reply:
        address = await look_up(self.target, self.resolve)
        if address is None:
            return Reply.failed(Failure.FORBIDDEN)
        origin = httpcore.Origin(self.target.scheme.encode(), address.encode(), self.target.port)
        backend = GuardedBackend()
        async with httpcore.AsyncHTTPConnection(origin, ssl_context=self.tls, network_backend=backend) as connection:
            response = await connection.handle_async_request(self._request(request, address, watch))
            body = None if response.status == _SWITCHING else await _body(response)
        if response.status == _SWITCHING:
            return Reply.failed(Failure.GARBAGE)
        if body is None:
            return replace(Reply.failed(Failure.TOO_LARGE), latency=watch.latency)
        reason = response.extensions["reason_phrase"].decode("latin-1")
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        return Reply(Response(response.status, headers, body, "real"), reason, None, watch.latency)

    def _request(self, request: Request, address: str, watch: _Watch) -> httpcore.Request:
        url = httpcore.URL(
            scheme=self.target.scheme,
            host=address,
            port=self.target.port,
            target=(self.target.prefix + request.target).encode("latin-1"),
        )
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self._headers(request)]
        extensions = {"trace": watch.note, "sni_hostname": self.target.host}
        return httpcore.Request(request.method, url, headers=headers, content=request.body, extensions=extensions)

    def _headers(self, request: Request) -> list[tuple[str, str]]:
        return [("Host", self.target.authority), *for_the_api(request.headers)]


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """Whom to trust: the public authorities, or the one in this file and nobody else.

    Raises:
        ConfigurationError: the file holds no certificate.
    """
    if ca_file is None:
        return httpcore.default_ssl_context()
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        why = "no certificate in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigurationError(f"Cannot use --ca-file {ca_file}: {why}. Give a PEM file.") from None


async def _body(response: httpcore.Response) -> bytes | None:
    """The body as it came, still packed where it was; None where it is too large."""
    body = bytearray()
    async for piece in response.aiter_stream():
        body += piece
        if len(body) > LARGEST_ANSWER:
            await response.aclose()
            return None
    return bytes(body)


def _failure(error: Exception, watch: _Watch) -> Failure:
    """What happened, from the error and from how far the exchange had got."""
    if _is_tls(error):
        return Failure.TLS
    if watch.began is None:
        return Failure.UNREACHABLE
    if watch.headed is not None:
        return Failure.RESET if isinstance(error, httpcore.NetworkError) else Failure.CUT
    if isinstance(error, httpcore.RemoteProtocolError):
        return Failure.CLOSED if "without sending a response" in str(error) else Failure.GARBAGE
    return Failure.RESET


def _is_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return True
        error = error.__cause__ or error.__context__
    return False
