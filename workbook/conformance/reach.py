"""The one client of the phone's side: goes to one origin, and brings back what came of it.

The origin's addresses are looked up once and then kept: a name that changes its mind changes nothing. No redirect is
followed, no proxy of the environment is used, no cookie is kept, and what is answered is read up to a cap.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Self

import httpx

from workbook.conformance import trust
from workbook.conformance.seen import Broke

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Callable, Iterable
    from pathlib import Path
    from types import TracebackType

    from workbook.conformance.origin import Origin
    from workbook.proxy.address import Resolve

    Content = bytes | AsyncIterable[bytes] | None

LARGEST = 4 * 1_048_576
"""Bytes of an answer that are read; the largest sdkInput of a case is 1 MiB."""
CALLED = "workbook-conform"
ENDED = ("Server disconnected", "peer closed")
"""How the client's words begin where a connection ended too soon; its other ones are about what came."""

_BREAKS: tuple[tuple[type[Exception], Broke], ...] = (
    (httpx.ConnectError, Broke.REFUSED),
    (httpx.ConnectTimeout, Broke.REFUSED),
    (httpx.TimeoutException, Broke.LATE),
    (httpx.DecodingError, Broke.SPOILT),
    (httpx.HTTPError, Broke.LOST),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one exchange.

    Attributes:
        status: None where no answer came.
        headers: in the order in which they came.
        body: unpacked; empty where there is none or it was too large.
        broke: why there is no answer.
        why: more of that, in words without a secret.
    """

    status: int | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    broke: Broke = Broke.NO
    why: str = ""


def _nobody(_request: httpx.Request) -> None:
    """Nobody wants to know."""


class Reach:
    """A client that goes to one origin.

    Args:
        origin: which.
        seconds: for which each step of an exchange is waited.
        resolve: looks up names; None asks the system.
        ca_file: certificates that are trusted besides those that this machine trusts.

    Raises:
        ConfigurationError: that file holds none.
    """

    def __init__(
        self, origin: Origin, seconds: float, resolve: Resolve | None = None, ca_file: Path | None = None
    ) -> None:
        self._origin, self._resolve = origin, resolve
        self._addresses: list[str] = []
        self._client = httpx.AsyncClient(
            verify=trust.trusted(ca_file) if origin.scheme == "https" else False,
            trust_env=False,
            follow_redirects=False,
            timeout=seconds,
            limits=httpx.Limits(max_connections=None),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            headers={"user-agent": CALLED},
        )

    async def close(self) -> None:
        """No more exchanges."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        await self.close()

    async def exchange(
        self,
        method: str,
        path: str,
        headers: Iterable[tuple[str, str]] = (),
        content: Content = None,
        told: Callable[[httpx.Request], None] = _nobody,
        *,
        came: bytearray | None = None,
    ) -> Answer:
        """Ask once; whatever goes wrong on the way is part of the answer.

        Args:
            method: of the request.
            path: below the origin's prefix, and a query where there is one.
            headers: besides those that every request has.
            content: the body.
            told: is given the request as it leaves, with everything that HTTP adds.
            came: is filled with headers and body as they come, for an answer that never ends; None for nobody.

        Raises:
            ConfigurationError: the origin's name leads where nobody may go.
        """
        named = [("host", self._origin.authority), *headers]
        request = self._client.build_request(
            method, self._origin.url(path, self._origin.host), headers=named, content=content,
            extensions={"sni_hostname": self._origin.host},
        )  # fmt: skip
        told(request)
        answer = Answer(broke=Broke.REFUSED)
        for address in await self._found():
            request.url = httpx.URL(self._origin.url(path, address))
            answer = await self._tried(request, bytearray() if came is None else came)
            if answer.broke is not Broke.REFUSED:
                self._addresses = [address]
                break
        return answer

    async def _found(self) -> list[str]:
        try:
            self._addresses = self._addresses or await self._origin.addresses(self._resolve)
        except OSError:
            return []
        return self._addresses

    async def _tried(self, request: httpx.Request, came: bytearray) -> Answer:
        try:
            answer = await self._client.send(request, stream=True)
            try:
                return await _read(answer, came)
            finally:
                await answer.aclose()
        except httpx.HTTPError as error:
            return _broken(error)


def _broken(error: httpx.HTTPError) -> Answer:
    """Why there is no answer; what TLS says of it is told."""
    if isinstance(error, httpx.RemoteProtocolError) and not str(error).startswith(ENDED):
        return Answer(broke=Broke.NO_HTTP)
    if (fault := trust.tls_error(error)) is not None:
        untrusted = isinstance(fault, ssl.SSLCertVerificationError)
        return Answer(broke=Broke.UNTRUSTED if untrusted else Broke.NO_TLS, why=trust.told(fault))
    return Answer(broke=next(broke for kind, broke in _BREAKS if isinstance(error, kind)))


async def _read(answer: httpx.Response, came: bytearray) -> Answer:
    body = bytearray()
    came += "".join(f"{name}: {value}\n" for name, value in answer.headers.multi_items()).encode("utf-8", "replace")
    async for piece in answer.aiter_bytes():
        body += piece
        came += piece
        if len(body) > LARGEST:
            return Answer(answer.status_code, broke=Broke.HUGE)
    return Answer(answer.status_code, tuple(answer.headers.multi_items()), bytes(body))
