"""The real API behind the proxy. Each request is sent once; nothing is added, followed, unpacked or sent again.

httpcore sends it: unlike httpx it adds no header of its own, sends a target as it is, and returns headers in the peer's
own spelling. Each request gets a connection of its own, so no answer can belong to another request. httpcore writes
Host first, always HTTP/1.1, and accepts heads of up to 100 KiB.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import httpcore

from workbook.api.net import GuardedBackend, Resolve
from workbook.api.protocol import check_base_url
from workbook.base.files import read_regular
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation.contract import Problem
from workbook.simulation.http import JSON_HEADERS, Request, Response, header_values
from workbook.tools.harness.origin import Address, Origin, inner, tls_error, wrong_origin

Headers = Iterable[tuple[str, str]]


class ApiOrigin(Origin):
    """The API that a proxy sends requests to: over https, or over http to this machine alone (REL-2)."""

    __slots__ = ()

    @classmethod
    def of(cls, url: str) -> Self:
        """The target that this URL names.

        Raises:
            ConfigurationError: it is no such URL, or an address that is never connected to.
        """
        try:
            origin = cls.parse(check_base_url(url))
        except ConfigurationError as error:
            raise ConfigurationError(str(error).replace("base_url", "--to", 1)) from None
        if why := wrong_origin(url):
            raise ConfigurationError(f"--to {origin.host} {why}. Give the API's public name.")
        return origin

    @property
    def base_url(self) -> str:
        """The URL again."""
        return f"{self.scheme}://{self.authority}{self.prefix}"

    def allows(self, address: Address) -> bool:
        """Whether this address may be connected to."""
        return super().allows(address) and (self.scheme != "http" or inner(address).is_loopback)


# What can go wrong between the proxy and the real API, and the proxy's own answer to it.
#
# Such an answer says in the header `x-workbook-proxy` and in its body that it is the proxy's (all of it assumed).

# The header of an answer that is the proxy's own; its value is the failure's name.
HEADER = "x-workbook-proxy"


class ProxyFailure(StrEnum):
    """Why there is no answer of the real API.

    Attributes:
        status: what the proxy answers with.
        sentence: what the body says.
        loss: what became of a request that may have reached the API, in words; empty where nobody can say so.
    """

    UNREACHABLE = "unreachable", 502, "The API cannot be reached: its name is not known, or no server listens there."
    TLS = "tls", 502, "The API's certificate is not trusted (--ca-file trusts a private one), or TLS failed."
    FORBIDDEN = "forbidden", 502, "The API's name leads to an address that the proxy does not connect to."
    RESET = "reset", 502, "The API reset the connection.", "the connection reset"
    CLOSED = "closed", 502, "The API closed the connection without an answer.", "a connection closed without an answer"
    GARBAGE = "garbage", 502, "The API answered something that is not HTTP/1.1.", "something that is not HTTP/1.1"
    CUT = "cut", 502, "The API's answer broke off in the middle of its body.", "an answer that breaks off in its body"
    TOO_LARGE = "too-large", 502, "The API's answer is larger than the proxy passes on.", "an answer that is too large"
    LATE = "late", 504, "The API did not finish its answer in time.", "no answer within the proxy's deadline"
    BAD_REQUEST = "bad-request", 400, "This request cannot be passed on as it is."
    REQUEST_TOO_LARGE = "request-too-large", 413, "The request's body is larger than the proxy passes on."
    MISDIRECTED = "misdirected", 421, "The proxy does not go by that name. Ask for 127.0.0.1 or localhost."
    STOPPED = "stopped", 503, "The proxy was stopped before the API answered."

    status: int
    sentence: str
    loss: str

    def __new__(cls, word: str, status: int, sentence: str, loss: str = "") -> Self:
        """A failure that knows its answer."""
        failure = str.__new__(cls, word)
        failure._value_, failure.status, failure.sentence, failure.loss = word, status, sentence, loss
        return failure


# What became of a request that may have reached the API, by the failure's name.
LOSSES: Mapping[str, str] = {failure.value: failure.loss for failure in ProxyFailure if failure.loss}


# Which headers are passed on: all, in order and in the peer's spelling, except those that belong to one connection.


def for_the_back_end(response: Response, method: str, *, chunks: bool) -> tuple[list[tuple[str, str]], str]:
    """The headers for the back end, and the name of the header that tells the length of its body; empty for no body.

    Args:
        response: the API's answer.
        method: of the request.
        chunks: whether the back end understands chunks: HTTP/1.1.
    """
    if method == "HEAD" or response.status in (204, 304):  # these two have no body, whatever their headers say
        return list(_without(response.headers)), ""
    chunked = any(name.lower() == "transfer-encoding" for name, _value in response.headers)
    length = ["content-length"] if chunked else []  # means nothing then: RFC 9112, 6.3
    if chunks and chunked:
        return list(_without(response.headers, *length)), "transfer-encoding"
    headers = list(_without(response.headers, "transfer-encoding", *length))
    if not any(name.lower() == "content-length" for name, _value in headers):
        headers.append(("content-length", str(len(response.body))))
    return headers, "content-length"


def _without(headers: Headers, *more: str) -> Iterator[tuple[str, str]]:
    headers = tuple(headers)
    connection = ",".join(header_values(headers, "connection"))
    named = {name.strip().lower() for name in connection.split(",")}
    # RFC 9110, 7.6.1. Transfer-Encoding is one too, and is kept where the body is chunked on the other side as well;
    # trailers are not passed on, so neither is Trailer.
    of_one_connection = {
        *("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization"),
        *("te", "upgrade", "trailer", *more),
    }
    never = {"content-length", "transfer-encoding", "host", "x-api-key", "content-type"}
    dropped = of_one_connection | (named - never)
    return ((name, value) for name, value in headers if name.lower() not in dropped)


# The largest body of an answer that is passed on, in bytes (our choice).
LARGEST_ANSWER = 8 * 1_048_576


@dataclass(frozen=True, slots=True)
class ProxyReply:
    """The answer to one request.

    Attributes:
        response: the API's own answer; or the proxy's, where there is none.
        reason: the phrase after the status.
        failure: why the answer is the proxy's own; None where it is the API's.
    """

    response: Response
    reason: str = ""
    failure: ProxyFailure | None = None

    @classmethod
    def failed(cls, failure: ProxyFailure) -> ProxyReply:
        """The proxy's own answer to this failure."""
        code = f"proxy_{failure.replace('-', '_')}"
        problem = Problem(failure.status, code, "The proxy says so, not the API", "assumed")
        headers = (*JSON_HEADERS, (HEADER, failure.value))
        return cls(Response(failure.status, headers, problem.body(failure.sentence), problem.basis), "", failure)


@dataclass(slots=True)
class _Watch:
    """How far an exchange has come, from httpcore's trace events."""

    began: bool = False
    headed: bool = False

    async def note(self, name: str, _info: dict[str, Any]) -> None:
        self.began |= name == "http11.send_request_headers.started"
        self.headed |= name == "http11.receive_response_headers.complete"


@dataclass(frozen=True)
class Upstream:
    """Asks the real API.

    Args:
        target: where it is.
        tls: which authorities to trust.
        deadline: seconds for a whole exchange.
        resolve: looks up names; None uses the system.

    Raises:
        ParameterError: the deadline is no number of seconds.
    """

    target: ApiOrigin
    tls: ssl.SSLContext = field(default_factory=httpcore.default_ssl_context)
    deadline: float = 30.0
    resolve: Resolve | None = None

    def __post_init__(self) -> None:
        if not 0 < self.deadline <= 3600:
            raise ParameterError(f"--deadline is {self.deadline}. Give seconds above 0 and up to 3600.")

    async def ask(self, request: Request) -> ProxyReply:
        """The API's answer, or why there is none; raises only when it is cancelled."""
        watch = _Watch()
        try:
            async with asyncio.timeout(self.deadline):
                return await self._ask(request, watch)
        except (TimeoutError, httpcore.TimeoutException):
            return ProxyReply.failed(ProxyFailure.LATE)
        except httpcore.LocalProtocolError:
            return ProxyReply.failed(ProxyFailure.BAD_REQUEST)
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
            return ProxyReply.failed(_failure(error, watch))

    async def _ask(self, request: Request, watch: _Watch) -> ProxyReply:
        try:
            address = (await self.target.addresses(self.resolve))[0]
        except ConfigurationError:  # one of them is not allowed
            return ProxyReply.failed(ProxyFailure.FORBIDDEN)
        # The connection goes to the address that was checked; the name goes into Host and into TLS.
        target = self.target
        backend = GuardedBackend()
        path = (target.prefix + request.target).encode("latin-1")
        headers = [("Host", target.authority), *_without(request.headers, "host")]  # the proxy writes Host itself
        sent = httpcore.Request(
            request.method,
            httpcore.URL(scheme=target.scheme, host=address, port=target.port, target=path),
            headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            content=request.body,
            extensions={"trace": watch.note, "sni_hostname": target.host},
        )
        origin = httpcore.Origin(target.scheme.encode(), address.encode(), target.port)
        async with httpcore.AsyncHTTPConnection(origin, ssl_context=self.tls, network_backend=backend) as connection:
            response = await connection.handle_async_request(sent)
            switches = response.status == 101  # to a protocol that nobody asked for
            body = None if switches else await _body(response)
        if switches:
            return ProxyReply.failed(ProxyFailure.GARBAGE)
        if body is None:
            return ProxyReply.failed(ProxyFailure.TOO_LARGE)
        reason = response.extensions["reason_phrase"].decode("latin-1")
        got = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers)
        return ProxyReply(Response(response.status, got, body, "real"), reason)


def trusting(ca_file: Path | None) -> ssl.SSLContext:
    """A context that trusts the public authorities, or only the one in this file.

    Raises:
        ConfigurationError: the file holds no certificate.
    """
    if ca_file is None:
        return httpcore.default_ssl_context()
    try:
        text = read_regular(ca_file, 4 * 1_048_576).decode("ascii", "ignore")
        return ssl.create_default_context(cadata=text or "-")  # without any text it would trust the public ones
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = error.strerror if isinstance(error, OSError) and not isinstance(error, ssl.SSLError) else "no certificate"
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


def _failure(error: Exception, watch: _Watch) -> ProxyFailure:
    """What happened, from the error and from how far the exchange had come."""
    # httpcore raises the same error for a connection that was refused, reset or cut; only the last step that it traced
    # tells them apart. A failure of TLS is an OSError as well, somewhere down the chain of causes.
    if tls_error(error) is not None:
        return ProxyFailure.TLS
    if not watch.began:
        return ProxyFailure.UNREACHABLE
    if watch.headed:
        return ProxyFailure.RESET if isinstance(error, httpcore.NetworkError) else ProxyFailure.CUT
    if isinstance(error, httpcore.RemoteProtocolError):
        return ProxyFailure.CLOSED if "without sending a response" in str(error) else ProxyFailure.GARBAGE
    return ProxyFailure.RESET
