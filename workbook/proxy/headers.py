"""Which headers go on: all, in order and in the peer's spelling, but for those that belong to one connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.simulation.http import Response

    Headers = Iterable[tuple[str, str]]

HOP_BY_HOP = frozenset(
    {"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "upgrade"}
)
"""Headers that speak of one connection (RFC 9110, 7.6.1). Transfer-Encoding is one too, and is kept where the body
travels in chunks on the other side as well; trailers are not passed on, so Trailer would be a lie."""
TRAILER, CHUNKED, LENGTH, HOST = "trailer", "transfer-encoding", "content-length", "host"
EMPTY = frozenset({204, 304})
"""Statuses without a body, whatever their headers say."""


def for_the_api(headers: Headers) -> Iterator[tuple[str, str]]:
    """What the API gets, without Host, which names the API and not the proxy."""
    return _without(headers, HOST)


def for_the_back_end(response: Response, method: str, *, chunks: bool) -> tuple[list[tuple[str, str]], str]:
    """What the back end gets, and how its body travels: the name of the header that says so, or nothing.

    Args:
        response: the API's answer.
        method: of the request.
        chunks: whether the back end understands chunks: HTTP/1.1.
    """
    if method == "HEAD" or response.status in EMPTY:
        return list(_without(response.headers)), ""
    if chunks and any(name.lower() == CHUNKED for name, _value in response.headers):
        return list(_without(response.headers)), CHUNKED
    headers = list(_without(response.headers, CHUNKED))
    if not any(name.lower() == LENGTH for name, _value in headers):
        headers.append((LENGTH, str(len(response.body))))
    return headers, LENGTH


def _without(headers: Headers, *more: str) -> Iterator[tuple[str, str]]:
    headers = tuple(headers)
    said = ",".join(value for name, value in headers if name.lower() == "connection")
    named = {one.strip().lower() for one in said.split(",")}
    dropped = HOP_BY_HOP | named - {LENGTH, CHUNKED, HOST, "x-api-key", "content-type"} | {TRAILER, *more}
    return ((name, value) for name, value in headers if name.lower() not in dropped)
