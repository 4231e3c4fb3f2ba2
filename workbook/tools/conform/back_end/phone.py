"""The phone's side: makes the calls that the issuer's app would make, and keeps the result of each.

It calls the configured origin and nothing else.
"""

import asyncio
import base64
import json
import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

import httpx
from jsonpointer import JsonPointer, JsonPointerException

from workbook.api.protocol import BodyReader, CallProblem
from workbook.errors import ConfigurationError, ResponseTooLargeError
from workbook.simulation.http import Request, header_values
from workbook.tools.conform.back_end import model
from workbook.tools.conform.back_end.model import GET, RAW, BackEndOperation, Broke, Manner, PhoneCall, Target
from workbook.tools.harness.origin import Origin, tls_error

# TLS: which certificates are trusted. A certificate is always verified.


def trusting_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """A context that trusts the certificates of this machine, and those in a file.

    Raises:
        ConfigurationError: the file cannot be read, or holds no certificate.
    """
    if ca_file is None:
        return _context("", 0)
    wanted = "Give a file with certificates in PEM, which begin with -----BEGIN CERTIFICATE-----."
    try:
        return _context(str(ca_file), ca_file.stat().st_mtime_ns)
    except ssl.SSLError:
        raise ConfigurationError(f"ca_file: no certificate is in {str(ca_file)!r:.100}. {wanted}") from None
    except OSError as error:
        raise ConfigurationError(f"ca_file: cannot read {str(ca_file)!r:.100}: {error.strerror}. {wanted}") from None


@lru_cache(maxsize=4)
def _context(ca_file: str, _changed: int) -> ssl.SSLContext:
    """One context for each state of a file, because loading the machine's certificates takes long."""
    context = ssl.create_default_context()
    if ca_file:
        context.load_verify_locations(ca_file)
    return context


# The HTTP client of the phone's side. It goes to one origin only: it follows no redirect, uses no proxy of the
# environment, keeps no cookie, and reads an answer up to a limit.

# Codings that the phone unpacks. It asks for gzip alone, and leaves any other coding, or two at once, as it is.
UNPACKED = frozenset({"identity", "gzip", "x-gzip"})
# The header that makes a manner of sending.
MANNER_HEADERS: Mapping[Manner, tuple[str, str]] = {
    Manner.CLOSING: ("connection", "close"),
    Manner.UNPACKED: ("accept-encoding", "identity"),
    Manner.EXPECTING: ("expect", "100-continue"),
}
# Bytes of an answer that are read, unpacked. The largest that must arrive has 1 MiB.
LARGEST_READ = 4 * 1_048_576


class OriginClient(AbstractAsyncContextManager["OriginClient"]):
    """An HTTP client for one origin.

    Args:
        origin: which.
        seconds: time limits of the steps of an exchange.
        ca_file: certificates that are trusted besides the machine's own.

    Raises:
        ConfigurationError: that file holds no certificate.
    """

    def __init__(self, origin: Origin, seconds: float | httpx.Timeout, ca_file: Path | None = None) -> None:
        self._origin = origin
        self._client = httpx.AsyncClient(
            verify=trusting_context(ca_file),  # always verified; the context is made once for all clients
            trust_env=False,
            follow_redirects=False,
            timeout=seconds,
            limits=httpx.Limits(max_connections=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": "workbook-conform", "accept-encoding": "gzip"},
        )

    async def __aexit__(self, *_error: object) -> None:
        await self._client.aclose()

    async def exchange(
        self,
        call: PhoneCall,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes | None = None,
    ) -> None:
        """Send one request, and record the request and the answer in the call; an error is recorded, not raised.

        Args:
            call: gets the request and the answer.
            method: of the request.
            path: below the origin's prefix, with a query where there is one.
            headers: besides those that every request has.
            body: of the request; sent in chunks where the call's manner says so.
        """
        request = self._client.build_request(
            method,
            self._origin.url(path, self._origin.host),
            headers=[*headers],
            content=_in_chunks(body or b"") if call.manner is Manner.CHUNKED else body,
        )
        raw = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.headers.raw)
        call.request = Request(request.method, request.url.raw_path.decode("ascii"), tuple(raw), body or b"")
        try:
            answer = await self._client.send(request, stream=True)
            try:
                await _read(answer, call)
            finally:
                await answer.aclose()
        except (httpx.HTTPError, ssl.SSLError) as error:  # httpx does not wrap an alert that follows the handshake
            tls = tls_error(error)
            # httpx has one error for a connection that ended early and for bytes that are no HTTP: its words differ.
            ended = str(error).startswith(("Server disconnected", "peer closed"))
            if isinstance(error, httpx.RemoteProtocolError) and not ended:
                call.broke = Broke.NO_HTTP
            elif isinstance(tls, ssl.SSLCertVerificationError):
                call.broke = Broke.UNTRUSTED
                call.why = _tls_words(tls.verify_message)
            elif tls is not None:
                asks = re.search("ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|HANDSHAKE_FAILURE)", tls.reason or "")
                call.broke = Broke.NO_CERTIFICATE if asks else Broke.NO_TLS
                call.why = _tls_words(tls.reason or type(tls).__name__)
            elif isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
                call.broke = Broke.REFUSED
            else:
                call.broke = Broke.LATE if isinstance(error, httpx.TimeoutException) else Broke.LOST


def _tls_words(message: str) -> str:
    """What is wrong, in the words of the TLS library."""
    return message.lower().replace("_", " ").rstrip(".")


async def _in_chunks(body: bytes) -> AsyncIterator[bytes]:
    """A body whose length is not announced."""
    yield body[: len(body) // 2]
    yield body[len(body) // 2 :]


async def _read(answer: httpx.Response, call: PhoneCall) -> None:
    """Read an answer into a call. Unpacking is bounded: a few kilobytes of gzip can hold gigabytes."""
    headers = tuple(answer.headers.multi_items())
    coding = answer.headers.get("content-encoding", "").strip().lower()
    reader = BodyReader(LARGEST_READ, coding if coding in UNPACKED else "", answer.headers.get("content-length"))
    try:
        async for piece in answer.aiter_raw():
            if reader.feed(piece):
                break
    finally:  # a time limit may end the call here
        beginning = "".join(f"{name}: {value}\n" for name, value in headers).encode("utf-8", "replace")
        call.partial = beginning + reader.partial()
    body = reader.finish()
    if isinstance(body, CallProblem):
        huge = body.kind is ResponseTooLargeError
        call.broke, call.status = (Broke.HUGE, answer.status_code) if huge else (Broke.SPOILT, None)
    else:
        call.status = answer.status_code
        call.headers = headers
        call.body = body
        call.partial = b""


class Phone(AbstractAsyncContextManager["Phone"]):
    """The app of one platform, on as many phones as there are calls at the same time.

    Args:
        target: the back end. A call is waited for a little longer than its bound, so that a late answer can be
            distinguished from no answer.
        surface: what the back end offers this platform.
        when_asked: when the back end asked the API for a call; None while it has not. From there the wait counts: what
            a call waits for other calls says nothing about it.
    """

    def __init__(
        self,
        target: Target,
        surface: model.Surface,
        when_asked: Callable[[PhoneCall], float | None] = lambda _call: None,
    ) -> None:
        self._when_asked = when_asked
        self._wait = min(target.bound * 1.25, target.bound + 1.0)
        self._operations = {GET: surface.get, model.POST: surface.post}
        self._surface = surface
        limits = httpx.Timeout(None, connect=self._wait)  # `call` ends an exchange
        self._client = OriginClient(Origin.of(target.base_url), limits, ca_file=target.ca_file)

    async def __aexit__(self, *_error: object) -> None:
        """Close every connection."""
        await self._client.__aexit__()

    async def call(self, call: PhoneCall) -> PhoneCall:
        """Make a call and record its result in it; an error is recorded, not raised."""
        call.began = monotonic()
        exchange = asyncio.create_task(self._exchange(call))
        try:
            if await self._gives_up(exchange, call):
                call.broke = Broke.CANCELLED if call.cancel else Broke.LATE
            else:
                exchange.result()
        finally:
            exchange.cancel()
            await asyncio.wait([exchange])
        call.ended = monotonic()
        return call

    async def _gives_up(self, exchange: asyncio.Task[None], call: PhoneCall) -> bool:
        """Wait for the answer, but only so long; returns whether none came. A call to cancel ends when it is asked."""
        asked = None
        while not exchange.done():
            asked = self._when_asked(call) if asked is None else asked
            if (asked and call.cancel) or monotonic() > (asked or call.began) + self._wait:
                return True
            await asyncio.wait([exchange], timeout=0.02)
        return False

    async def _exchange(self, call: PhoneCall) -> None:
        """One exchange, and the sdkInput in its answer."""
        operation = self._operations[call.operation]
        body = _request_body(operation, call, decoded=self._surface.decoded)
        headers = [*self._surface.headers, *call.session]
        if body is not None and not header_values(headers, "content-type"):
            raw = "application/octet-stream" if self._surface.decoded else "text/plain; charset=utf-8"
            headers.append(("content-type", raw if operation.sdk_output == RAW else "application/json"))
        if call.manner is Manner.UPPER_CASE:
            headers = [(name.upper(), value) for name, value in headers]
        elif call.manner is Manner.WITH_CHARSET:
            with_charset = ("content-type", "Application/JSON; charset=UTF-8")
            headers = [with_charset if header == ("content-type", "application/json") else header for header in headers]
        elif call.manner in MANNER_HEADERS:
            headers.append(MANNER_HEADERS[call.manner])
        path = operation.path.replace("{id}", quote(call.asked_for, safe=""))
        if call.tamper is not None:
            path, body = call.tamper(path, body, call)
        await self._client.exchange(call, operation.method, path, headers, body)
        if not call.broke and (
            operation.sdk_input != RAW or call.status in model.SUCCESS
        ):  # a failure's body is no value
            call.value = _sdk_input(call.body, operation, decoded=self._surface.decoded)


def _request_body(operation: BackEndOperation, call: PhoneCall, *, decoded: bool) -> bytes | None:
    """The sdkOutput as the configuration places it, and the id if it belongs in the body; None for no body."""
    if operation.sdk_output == RAW:
        return base64.b64decode(call.sent or "") if decoded else (call.sent or "").encode()
    values = ((operation.id, call.asked_for), (operation.sdk_output, call.sent))
    placed = {pointer: value for pointer, value in values if pointer is not None and value is not None}
    document: dict[str, Any] = {}
    for pointer, value in placed.items():
        *above, last = JsonPointer(pointer).parts
        inner = document
        for part in above:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return json.dumps(document, ensure_ascii=False).encode() if placed else None


def _sdk_input(body: bytes, operation: BackEndOperation, *, decoded: bool) -> str | None:
    """The sdkInput of an answer, as the API's text; None where it is not at its configured place."""
    try:
        if operation.sdk_input == RAW:
            return base64.b64encode(body).decode() if decoded else body.decode()
    except ValueError:
        return None
    return text_at(operation.sdk_input, body)


def text_at(pointer: str | None, body: bytes) -> str | None:
    """The text at this JSON pointer of a body; None where there is none. JSON is UTF-8 without a byte order mark."""
    try:
        value = None if pointer is None else JsonPointer(pointer).resolve(json.loads(body.decode()))
    except (ValueError, RecursionError, JsonPointerException):
        return None
    return value if isinstance(value, str) else None
