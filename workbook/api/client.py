"""The client of the two calls: a sync and an async shell around `exchange`.

Both use httpx's transport only. The layer above it would add what must not happen here: redirects that carry the
key to another origin, cookies, proxies and credentials from the environment (REL-2).
"""

import logging
import os
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random
from threading import Lock
from typing import Any, Generic, Self, TypedDict, TypeVar, Unpack, cast

import anyio
import httpx

from workbook.api import exchange, protocol
from workbook.api.net import DeadlineTransport, Expiry, GuardedTransport
from workbook.api.opaque import SdkOutput
from workbook.base.secrecy import MISSING, Secret, without_live_keys
from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError

# What the sync and the async client have in common: settings, options, and the making and closing of a call.

TransportT = TypeVar("TransportT")  # sync or async


class Changes(TypedDict, total=False):
    """The settings that `with_options` can change."""

    timeouts: exchange.Timeouts
    deadline: float
    max_body: int
    retries: exchange.RetryPolicy


Headers = tuple[tuple[str, str], ...]


@dataclass(eq=False, repr=False)
class Shared(Generic[TransportT]):
    """What a client shares with those derived from it: connections, retry budget, clock and randomness."""

    sent: Headers
    opened: TransportT | None
    build: Callable[[], TransportT]
    foreign: bool
    clock: exchange.Clock
    random: Random
    budget: exchange.RetryBudget = field(default_factory=exchange.RetryBudget)
    closed: bool = False
    _lock: Any = field(default_factory=Lock)
    _encoded: httpx.Headers | None = None

    def transport(self) -> TransportT:
        """The transport, built when it is first needed: reading the trust store takes 17 ms."""
        if self.opened is None:
            with self._lock:
                if self.opened is None:
                    self.opened = self.build()
        return self.opened

    def headers(self, url: httpx.URL) -> httpx.Headers:
        """The headers of every request, encoded once: a client has only one host."""
        if self._encoded is None:
            self._encoded = httpx.Headers([("Host", url.netloc.decode("ascii")), *self.sent])
        return self._encoded


class BaseClient(ABC, Generic[TransportT]):
    """The part that both clients share: settings, options, and starting a call."""

    _needs = ""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        transport: TransportT | None = None,
        tls: ssl.SSLContext | None = None,
        timeouts: exchange.Timeouts | None = None,
        deadline: float = 8.0,
        max_body: int = 1_048_576,
        retries: exchange.RetryPolicy | None = None,
        clock: exchange.Clock | None = None,
        random: Random | None = None,
    ) -> None:
        secret = Secret(os.environ.get("WORKBOOK_API_KEY") if api_key is None else api_key)
        del api_key  # a traceback shows a frame's variables
        address = os.environ.get("WORKBOOK_BASE_URL") if base_url is None else base_url
        if not address:
            key = f" {MISSING}" if secret.missing else ""
            raise ConfigurationError(f"No base address is given. Set WORKBOOK_BASE_URL or pass base_url.{key}")
        self._settings = protocol.Settings(address, secret)
        self._options = exchange.Options(
            timeouts or exchange.Timeouts(), deadline, max_body, retries or exchange.RetryPolicy()
        )
        if transport is not None and not hasattr(transport, self._needs):
            message = f"transport is a {type(transport).__name__}. Allowed: an httpx transport with {self._needs}."
            raise ConfigurationError(message)
        source, chance = clock or exchange.SystemClock(), random or Random()  # noqa: S311  # jitter is no secret
        self._shared: Shared[TransportT] = Shared(
            self._settings.headers, transport, lambda: self._build(tls), transport is not None, source, chance
        )
        self._owner, self._closed = True, False

    def with_options(self, **changes: Unpack[Changes]) -> Self:
        """A client with other limits that shares connections and retry budget; closing it leaves the connections open.

        Args:
            changes: any of timeouts, deadline, max_body and retries.

        Raises:
            ConfigurationError: a name is unknown, or a value is not allowed.
        """
        for name in changes:
            if name not in Changes.__annotations__:
                message = f"with_options cannot change {name!r}. {did_you_mean(name, Changes.__annotations__)}"
                raise ConfigurationError(message)
        derived = object.__new__(type(self))
        derived._settings, derived._shared = self._settings, self._shared
        derived._options = replace(self._options, **changes)
        derived._owner, derived._closed = False, self._closed
        return derived

    def __repr__(self) -> str:
        # Tracebacks with local variables also print a client whose settings were refused.
        settings = getattr(self, "_settings", None)
        if settings is None:
            return f"{type(self).__name__}(...)"
        name = f"{type(self).__name__}(base_url={settings.base_url!r})"
        return f"{name}\nNext: .get(id), .post(id, sdk_output), .close()."

    @abstractmethod
    def _build(self, tls: ssl.SSLContext | None) -> TransportT:
        """Make the transport for a client that was given none."""

    def _begin(
        self, request: protocol.ApiRequest
    ) -> Generator[exchange.Action, exchange.AttemptOutcome, protocol.ActivationData]:
        if self._closed or self._shared.closed:
            message = f"This {type(self).__name__} is closed. Make a new one, or call before it is closed."
            raise ConfigurationError(message)
        shared = self._shared
        return exchange.exchange(
            request,
            self._options,
            self._settings.secret,
            now=shared.clock.now,
            random=shared.random,
            budget=shared.budget,
        )

    def _end(self) -> TransportT | None:
        """Close this client; returns the transport if the caller has to close it now, else None."""
        first = self._owner and not self._closed
        self._closed = True
        self._shared.closed |= first
        return self._shared.opened if first else None


def _without_keys(record: logging.LogRecord) -> bool:
    """Scrub every live key from a log record before a handler sees it; each record is logged."""
    record.msg, record.args = without_live_keys(record.getMessage()), None
    return True


# httpcore, and httpcore2 like it, logs the peer's headers at DEBUG through two loggers, and a peer can echo our key.
for _name in ("httpcore.http11", "httpcore.connection", "httpcore2.http11", "httpcore2.connection"):
    logging.getLogger(_name).addFilter(_without_keys)

# What each httpx error means; the nearest ancestor counts. Their messages quote the peer, so we never repeat them.
_FAILURES: Mapping[type, exchange.FailureKind] = {
    httpx.ConnectError: exchange.FailureKind.CONNECT,
    httpx.ConnectTimeout: exchange.FailureKind.CONNECT_TIMEOUT,
    httpx.PoolTimeout: exchange.FailureKind.POOL_TIMEOUT,
    httpx.LocalProtocolError: exchange.FailureKind.UNSENDABLE,
    httpx.UnsupportedProtocol: exchange.FailureKind.UNSENDABLE,
    httpx.InvalidURL: exchange.FailureKind.UNSENDABLE,
    httpx.WriteError: exchange.FailureKind.WRITE,
    httpx.WriteTimeout: exchange.FailureKind.WRITE_TIMEOUT,
    httpx.ReadError: exchange.FailureKind.READ,
    httpx.ReadTimeout: exchange.FailureKind.READ_TIMEOUT,
    httpx.RemoteProtocolError: exchange.FailureKind.PROTOCOL,
    httpx.HTTPError: exchange.FailureKind.OTHER,
    httpx.StreamError: exchange.FailureKind.OTHER,
}
_ERRORS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)


class _Progress:
    """Whether a byte of the request may have left; assumed True for a caller's own transport, which cannot tell."""

    __slots__ = ("may_have_left",)

    def __init__(self, *, foreign: bool) -> None:
        self.may_have_left = foreign

    def mark(self, event: str, _info: Mapping[str, Any]) -> None:
        self.may_have_left |= event == "http11.send_request_headers.started"

    async def amark(self, event: str, _info: Mapping[str, Any]) -> None:
        self.mark(event, _info)

    def failure(self, kind: exchange.FailureKind) -> exchange.Failure:
        return exchange.Failure(
            kind, kind not in exchange.NEVER_SENT and (kind is not exchange.FailureKind.DEADLINE or self.may_have_left)
        )


class ActivationDataClient(BaseClient[httpx.BaseTransport], AbstractContextManager["ActivationDataClient"]):
    """Reads and exchanges activation data; for a back end, never for an app (API-13). Threads may share it.

    Args:
        base_url: the API's address without /bcl/v2; else WORKBOOK_BASE_URL.
        api_key: the credential's key; else WORKBOOK_API_KEY.
        transport: an httpx transport to use instead of the network, closed with the client; the deadline is
            then checked between attempts and between chunks of the body.
        tls: the authorities to trust; else the usual public ones.
        timeouts: seconds per GET and per step.
        deadline: seconds per call, retries and body included (REL-5).
        max_body: bytes of a decoded answer.
        retries: how often and how patiently a call is tried again.
        clock: the source of time, for tests.
        random: draws the jitter.

    Raises:
        ConfigurationError: a setting is missing or not allowed.

    Example:
        >>> with wb.MockServer() as server, wb.ActivationDataClient(server.url, server.key) as api:
        ...     api.get("PISIMULATED00000000000001").sdk_input
        SdkInput(SIMULATED activation #1 for PISIMULATED00000000000001, 340 characters)
    """

    _needs = "handle_request"

    def get(self, payment_instrument_id: str) -> protocol.ActivationData:
        """Read activation data for one payment instrument (API-1).

        Args:
            payment_instrument_id: as the API gave it (API-3).

        Returns:
            `ActivationData`; its `sdk_input` goes to the SDK.

        Raises:
            ConfigurationError: the id cannot be used, or the client is closed.
            ActivationDataError: the call failed; the subclass says how.
        """
        return self._run(protocol.build_get(self._settings, payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> protocol.ActivationData:
        """Exchange the SDK's sdkOutput for the sdkInput that goes back to it (API-2).

        It is sent again only when it provably never left (REL-1).

        Args:
            payment_instrument_id: as the API gave it (API-3).
            sdk_output: what the SDK made, or its text.

        Raises:
            ConfigurationError: the id or the type cannot be used, or the client is closed.
            OpaqueDataError: the sdkOutput is empty or no text.
            ActivationDataError: the call failed; the subclass says how.
        """
        sdk_output = protocol.as_sdk_output(sdk_output)
        return self._run(protocol.build_post(self._settings, payment_instrument_id, sdk_output))

    def close(self) -> None:
        """Close the connections; doing it twice is fine."""
        transport = self._end()
        if transport is not None:
            transport.close()

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _build(self, tls: ssl.SSLContext | None) -> httpx.BaseTransport:
        return DeadlineTransport(_trust(tls, self._settings.base_url))

    def _run(self, request: protocol.ApiRequest) -> protocol.ActivationData:
        steps = self._begin(request)
        outcome: exchange.AttemptOutcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            if isinstance(step, exchange.Sleep):
                self._shared.clock.sleep(step.seconds)
                outcome = None
            else:
                outcome = self._attempt(step)

    def _attempt(self, step: exchange.Send) -> protocol.Answer | exchange.Failure:
        shared, progress = self._shared, _Progress(foreign=self._shared.foreign)
        with Expiry(step.remaining) as expiry:
            try:
                until = shared.clock.now() + step.remaining
                response = shared.transport().handle_request(_to_httpx(step, shared, progress.mark))
                try:
                    headers, body = _reading(response, step.options.max_body)
                    for chunk in cast("httpx.SyncByteStream", response.stream):
                        if body.feed(chunk):
                            break
                        if shared.clock.now() >= until:
                            return exchange.Failure(exchange.FailureKind.DEADLINE, sent=True)
                    return body.answer(response.status_code, headers)
                finally:
                    response.close()
            except _ERRORS as error:
                kind = _kind(error)
        return progress.failure(exchange.FailureKind.DEADLINE if expiry.passed else kind)


class AsyncActivationDataClient(
    BaseClient[httpx.AsyncBaseTransport], AbstractAsyncContextManager["AsyncActivationDataClient"]
):
    """The client for asyncio and trio; one event loop per client.

    Arguments and errors are those of `ActivationDataClient`; the transport is an async one.

    Example:
        >>> async def read(server):
        ...     async with wb.AsyncActivationDataClient(server.url, server.key) as api:
        ...         return await api.get("PISIMULATED00000000000001")
        >>> with wb.MockServer() as server: asyncio.run(read(server)).sdk_input
        SdkInput(SIMULATED activation #1 for PISIMULATED00000000000001, 340 characters)
    """

    _needs = "handle_async_request"

    async def get(self, payment_instrument_id: str) -> protocol.ActivationData:
        """Read activation data; see `ActivationDataClient.get`."""
        return await self._run(protocol.build_get(self._settings, payment_instrument_id))

    async def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> protocol.ActivationData:
        """Exchange sdkOutput for sdkInput; see `ActivationDataClient.post`."""
        sdk_output = protocol.as_sdk_output(sdk_output)
        return await self._run(protocol.build_post(self._settings, payment_instrument_id, sdk_output))

    async def aclose(self) -> None:
        """Close the connections; doing it twice is fine."""
        transport = self._end()
        if transport is not None:
            await transport.aclose()

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()

    def _build(self, tls: ssl.SSLContext | None) -> httpx.AsyncBaseTransport:
        return GuardedTransport(_trust(tls, self._settings.base_url))

    async def _run(self, request: protocol.ApiRequest) -> protocol.ActivationData:
        steps = self._begin(request)
        outcome: exchange.AttemptOutcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            if isinstance(step, exchange.Sleep):
                await self._shared.clock.asleep(step.seconds)
                outcome = None
            else:
                outcome = await self._attempt(step)

    async def _attempt(self, step: exchange.Send) -> protocol.Answer | exchange.Failure:
        shared, progress = self._shared, _Progress(foreign=self._shared.foreign)
        kind = exchange.FailureKind.DEADLINE  # what it is when the scope below ends the attempt
        with anyio.move_on_after(step.remaining):
            try:
                until = shared.clock.now() + step.remaining
                response = await shared.transport().handle_async_request(_to_httpx(step, shared, progress.amark))
                try:
                    headers, body = _reading(response, step.options.max_body)
                    async for chunk in cast("httpx.AsyncByteStream", response.stream):
                        if body.feed(chunk):
                            break
                        if shared.clock.now() >= until:
                            return exchange.Failure(exchange.FailureKind.DEADLINE, sent=True)
                    return body.answer(response.status_code, headers)
                finally:
                    await response.aclose()
            except _ERRORS as error:
                kind = _kind(error)
        return progress.failure(kind)


def _trust(tls: ssl.SSLContext | None, base_url: str) -> ssl.SSLContext:
    """The authorities to trust; plain http needs none, and an empty context is quick to make."""
    if tls is not None:
        return tls
    if base_url.startswith("https:"):
        return httpx.create_ssl_context(trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


_url = lru_cache(maxsize=256)(httpx.URL)  # parsing an address takes a third of a call's time; a POST has the same one


def _to_httpx(step: exchange.Send, shared: Shared[Any], trace: Callable[..., Any]) -> httpx.Request:
    # The body goes in as a stream, and the headers whole: from `content`, httpx would encode each header anew.
    extensions = {"timeout": step.options.timeouts.within(step.remaining), "trace": trace}
    body, url = step.request.body, _url(step.request.url)
    headers = shared.headers(url)
    if body is not None:
        headers = httpx.Headers(headers)
        headers["Content-Length"] = str(len(body))
    stream = httpx.ByteStream(body or b"")
    request = httpx.Request(step.request.method, url, headers=headers, stream=stream, extensions=extensions)
    request.read()  # a transport of the caller's may ask for `content`
    return request


def _reading(response: httpx.Response, cap: int) -> tuple[Headers, protocol.BodyReader]:
    """The headers of an answer, and what reads its body."""
    headers = tuple([(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw])
    # An error's body may be longer than the cap: its beginning is kept.
    length = protocol.find_header(headers, "content-length") if response.status_code == 200 else None
    return headers, protocol.BodyReader(cap, protocol.find_header(headers, "content-encoding") or "", length)


def _kind(error: Exception) -> exchange.FailureKind:
    return next(_FAILURES[ancestor] for ancestor in type(error).__mro__ if ancestor in _FAILURES)
