"""The client of the two calls: a sync and an async shell around `exchange`.

Both use httpx's transport only. The layer above it would add what must not happen here: redirects that carry the
key to another origin, cookies, proxies and credentials from the environment (REL-2).
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Any, Self, cast

import anyio
import httpx

from workbook.api.base import BaseClient
from workbook.api.body import BodyReader
from workbook.api.deadline import DeadlineTransport, GuardedTransport, expiring
from workbook.api.exchange import Failure, Sleep
from workbook.api.problem import Problem
from workbook.api.protocol import OK, Answer, as_sdk_output, build_get, build_post, find_header
from workbook.api.retry import NEVER_SENT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from workbook.api.exchange import Outcome, Send, Step
    from workbook.api.opaque import SdkOutput
    from workbook.api.protocol import ActivationData, Request

__all__ = ["ActivationDataClient", "AsyncActivationDataClient"]

# How httpx's errors are read; the nearest ancestor counts. Their messages quote the peer: not repeated.
_KINDS: Mapping[type, Kind] = {
    httpx.ConnectError: Kind.CONNECT,
    httpx.ConnectTimeout: Kind.CONNECT_TIMEOUT,
    httpx.PoolTimeout: Kind.POOL_TIMEOUT,
    httpx.LocalProtocolError: Kind.UNSENDABLE,
    httpx.UnsupportedProtocol: Kind.UNSENDABLE,
    httpx.InvalidURL: Kind.UNSENDABLE,
    httpx.WriteError: Kind.WRITE,
    httpx.WriteTimeout: Kind.WRITE_TIMEOUT,
    httpx.ReadError: Kind.READ,
    httpx.ReadTimeout: Kind.READ_TIMEOUT,
    httpx.RemoteProtocolError: Kind.PROTOCOL,
    httpx.HTTPError: Kind.OTHER,
    httpx.StreamError: Kind.OTHER,
}
_ERRORS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError)
_HEADERS_BEGIN = "http11.send_request_headers.started"


class _Progress:
    """Whether a byte of the request can have left; a transport of the caller's tells nothing, so it can."""

    __slots__ = ("may_have_left",)

    def __init__(self, *, foreign: bool) -> None:
        self.may_have_left = foreign

    def mark(self, event: str, _info: Mapping[str, Any]) -> None:
        self.may_have_left |= event == _HEADERS_BEGIN

    async def amark(self, event: str, _info: Mapping[str, Any]) -> None:
        self.may_have_left |= event == _HEADERS_BEGIN

    def failure(self, kind: Kind) -> Failure:
        return Failure(kind, kind not in NEVER_SENT and (kind is not Kind.DEADLINE or self.may_have_left))


class ActivationDataClient(BaseClient[httpx.BaseTransport]):
    """Reads and exchanges activation data; for a back end, never for an app (API-13). Threads may share it.

    Args:
        base_url: the API's address without /bcl/v2; else WORKBOOK_BASE_URL.
        api_key: the credential's key; else WORKBOOK_API_KEY.
        transport: an httpx transport to use instead of the network, closed with the client; the deadline is
            then looked at between attempts and between chunks of the body.
        tls: whom to trust; else the usual public authorities.
        timeouts: seconds per step.
        deadline: seconds per call, retries and body included (REL-5).
        max_body: bytes of a decoded answer.
        retries: how often and how patiently a call is tried again.
        clock: the seam for time.
        random: draws the jitter.

    Raises:
        ConfigurationError: a setting is missing or not allowed.
    """

    _needs = "handle_request"

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data for one payment instrument (API-1).

        Args:
            payment_instrument_id: as the API gave it (API-3).

        Raises:
            ConfigurationError: the id cannot be used, or the client is closed.
            ActivationDataError: the call failed; the subclass says how.
        """
        return self._run(build_get(self._settings, payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> ActivationData:
        """Exchange the SDK's sdkOutput for the sdkInput that goes back to it (API-2).

        It is sent again only when it provably never left (REL-1).

        Args:
            payment_instrument_id: as the API gave it (API-3).
            sdk_output: what the SDK made, or its text.

        Raises:
            ConfigurationError: the id or the type cannot be used, or the client is closed.
            OpaqueDataError: the text is empty or no text.
            ActivationDataError: the call failed; the subclass says how.
        """
        sdk_output = as_sdk_output(sdk_output)
        return self._run(build_post(self._settings, payment_instrument_id, sdk_output))

    def close(self) -> None:
        """Close the connections; doing it twice is fine."""
        transport = self._end()
        if transport is not None:
            transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _build(self, tls: ssl.SSLContext | None) -> httpx.BaseTransport:
        return DeadlineTransport(_trust(tls, self._settings.base_url))

    def _run(self, request: Request) -> ActivationData:
        steps = self._begin(request)
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            outcome = self._carry_out(step)

    def _carry_out(self, step: Step) -> Outcome:
        if not isinstance(step, Sleep):
            return self._send(step)
        self._shared.clock.sleep(step.seconds)
        return None

    def _send(self, step: Send) -> Answer | Failure:
        progress = _Progress(foreign=self._shared.foreign)
        with expiring(step.remaining) as expiry:
            try:
                return self._attempt(step, progress)
            except _ERRORS as error:
                kind = _kind(error)
        return progress.failure(Kind.DEADLINE if expiry.passed else kind)

    def _attempt(self, step: Send, progress: _Progress) -> Answer | Failure:
        until = self._shared.clock.now() + step.remaining
        response = self._shared.transport().handle_request(_to_httpx(step, progress.mark))
        try:
            reader = _reader(response, step.options.max_body)
            for chunk in cast("httpx.SyncByteStream", response.stream):
                if reader.feed(chunk):
                    break
                if self._shared.clock.now() >= until:
                    return Failure(Kind.DEADLINE, sent=True)
            return _answer(response, reader)
        finally:
            response.close()


class AsyncActivationDataClient(BaseClient[httpx.AsyncBaseTransport]):
    """The same for asyncio and trio; one event loop per client.

    Arguments and errors are those of `ActivationDataClient`; the transport is an async one.
    """

    _needs = "handle_async_request"

    async def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data; see `ActivationDataClient.get`."""
        return await self._run(build_get(self._settings, payment_instrument_id))

    async def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> ActivationData:
        """Exchange sdkOutput for sdkInput; see `ActivationDataClient.post`."""
        sdk_output = as_sdk_output(sdk_output)
        return await self._run(build_post(self._settings, payment_instrument_id, sdk_output))

    async def aclose(self) -> None:
        """Close the connections; doing it twice is fine."""
        transport = self._end()
        if transport is not None:
            await transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _build(self, tls: ssl.SSLContext | None) -> httpx.AsyncBaseTransport:
        return GuardedTransport(_trust(tls, self._settings.base_url))

    async def _run(self, request: Request) -> ActivationData:
        steps = self._begin(request)
        outcome: Outcome = None
        while True:
            try:
                step = steps.send(outcome)
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            outcome = await self._carry_out(step)

    async def _carry_out(self, step: Step) -> Outcome:
        if not isinstance(step, Sleep):
            return await self._send(step)
        await self._shared.clock.asleep(step.seconds)
        return None

    async def _send(self, step: Send) -> Answer | Failure:
        progress = _Progress(foreign=self._shared.foreign)
        kind = Kind.DEADLINE  # what it is when the scope below ends the attempt
        with anyio.move_on_after(step.remaining):
            try:
                return await self._attempt(step, progress)
            except _ERRORS as error:
                kind = _kind(error)
        return progress.failure(kind)

    async def _attempt(self, step: Send, progress: _Progress) -> Answer | Failure:
        until = self._shared.clock.now() + step.remaining
        response = await self._shared.transport().handle_async_request(_to_httpx(step, progress.amark))
        try:
            reader = _reader(response, step.options.max_body)
            async for chunk in cast("httpx.AsyncByteStream", response.stream):
                if reader.feed(chunk):
                    break
                if self._shared.clock.now() >= until:
                    return Failure(Kind.DEADLINE, sent=True)
            return _answer(response, reader)
        finally:
            await response.aclose()


def _trust(tls: ssl.SSLContext | None, base_url: str) -> ssl.SSLContext:
    """Whom to trust; plain http needs nobody, and a context that trusts nobody is quick to make."""
    if tls is not None:
        return tls
    if base_url.startswith("https:"):
        return httpx.create_ssl_context(trust_env=False)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _to_httpx(step: Send, trace: Callable[..., Any]) -> httpx.Request:
    request = step.request
    extensions = {"timeout": step.options.timeouts.within(step.remaining), "trace": trace}
    return httpx.Request(
        request.method, request.url, headers=request.headers, content=request.body, extensions=extensions
    )


def _reader(response: httpx.Response, cap: int) -> BodyReader:
    """A reader for this body; an error's body may be longer, for its beginning is kept."""
    headers = _headers(response)
    length = find_header(headers, "content-length") if response.status_code == OK else None
    return BodyReader(cap, find_header(headers, "content-encoding") or "", length)


def _answer(response: httpx.Response, reader: BodyReader) -> Answer:
    body = reader.finish()
    if isinstance(body, Problem):
        return Answer(response.status_code, _headers(response), reader.partial(), body)
    return Answer(response.status_code, _headers(response), body)


def _headers(response: httpx.Response) -> tuple[tuple[str, str], ...]:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers.raw)


def _kind(error: Exception) -> Kind:
    return next(_KINDS[ancestor] for ancestor in type(error).__mro__ if ancestor in _KINDS)
