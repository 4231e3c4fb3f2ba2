"""How answers with the same status differ: media type, headers, fields, JSON types, and the values that are kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.proxy.finding import Kind
from workbook.proxy.outcome import FINE
from workbook.proxy.shape import SHOWN, shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.proxy.record_file import Recorded
    from workbook.simulation.http import Response

OF_THE_WAY = frozenset(
    """age alt-svc cache-control cf-cache-status cf-ray connection content-encoding content-length date etag expires
    keep-alive nel pragma report-to server set-cookie strict-transport-security transfer-encoding vary via
    x-cache x-content-type-options x-frame-options x-xss-protection""".split()  # noqa: SIM905  # to be read as a list
)
"""Headers of servers, gateways and browsers' safety, which say nothing about this API; they are not compared."""
REQUIRED = ("type", "title", "status", "detail", "errorCode")
"""Fields that a refusal must have (openapi)."""
OPTIONAL = ("instance", "requestId", "invalidFields", "response")
"""Fields that a refusal may have (openapi); the simulator leaves them out."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing in which they differ: what the real one did, what the simulator does, and on which basis."""

    kind: Kind
    real: str
    simulated: str
    basis: str


def differences(one: Recorded, response: Response) -> Iterator[Difference]:
    """In what the real answer and the simulator's differ; both have the same status."""
    yield from _media_type(one, response)
    yield from _headers(one, response)
    yield from _fields(one, response)
    yield from _values(one, response)
    if one.response_layer is not None:
        told = f"an sdkInput that is no base64 text of a platform's form ({one.response_layer})"
        yield Difference(Kind.PUBLISHED, told, "base64 text", "API-8; sdk-a, sdk-b")


def _media_type(one: Recorded, response: Response) -> Iterator[Difference]:
    real, ours = (_first(headers).partition(";")[0].strip().lower() for headers in (_real(one), response.headers))
    if real != ours:
        yield Difference(Kind.ASSUMED, f"{one.status} as {real or 'no media type'}", ours, "assumed")


TEST_MODE = "x-workbook-"
"""Headers that only another simulator adds."""


def _headers(one: Recorded, response: Response) -> Iterator[Difference]:
    real, ours = (
        {name.lower() for name, _value in headers if not name.lower().startswith(TEST_MODE)}
        for headers in (_real(one), response.headers)
    )
    for name in sorted(real - ours - OF_THE_WAY - {"content-type"}):
        yield Difference(Kind.ASSUMED, f"{one.status} with the header {name}", "without it", "assumed")
    for name in sorted(ours - real - OF_THE_WAY - {"content-type"}):
        yield Difference(Kind.ASSUMED, f"{one.status} without the header {name}", "with it", "assumed")


def _fields(one: Recorded, response: Response) -> Iterator[Difference]:
    real, ours = one.response_shape, shape(response.body)
    for path in sorted(real.keys() | ours.keys()):
        there, here = real.get(path, "nothing"), ours.get(path, "nothing")
        if there != here and not _below_missing(path, real, ours):
            where = f"the field {path}" if path else "the body"
            kind, basis = _kind(one, path, there)
            yield Difference(kind, f"{one.status}, {where}: {there}", here, basis)


def _kind(one: Recorded, path: str, there: str) -> tuple[Kind, str]:
    """How much a field says: which a refusal must have is published, and that a 200 has no other than sdkInput."""
    refusal = str(one.status) != FINE
    if refusal and path in REQUIRED and there == "nothing":
        return Kind.PUBLISHED, "openapi"
    if not refusal and path and path.partition(".")[0] != "sdkInput":
        return Kind.PUBLISHED, "API-9; openapi"
    return Kind.ASSUMED, "openapi; left out: assumed" if path.partition(".")[0] in OPTIONAL else "assumed"


def _below_missing(path: str, real: Any, ours: Any) -> bool:
    """Whether what holds this field differs already: one line for a whole object is enough."""
    parents = [path[:end] for end in range(len(path)) if path[end] in ".["]
    return any(real.get(parent) != ours.get(parent) for parent in ["", *parents] if parent != path)


def _values(one: Recorded, response: Response) -> Iterator[Difference]:
    real, ours = one.response_body, _document(response.body)
    for name in sorted(SHOWN & real.keys() & ours.keys()) if isinstance(real, dict) else ():
        if type(real[name]) is type(ours[name]) and real[name] != ours[name]:
            told = f"{one.status} with {name} {json.dumps(real[name])}"
            yield Difference(Kind.ASSUMED, told, json.dumps(ours[name]), response.basis)


def _document(body: bytes) -> dict[str, Any]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _real(one: Recorded) -> tuple[tuple[str, str], ...]:
    return one.response_headers


def _first(headers: tuple[tuple[str, str], ...]) -> str:
    return next((value for name, value in headers if name.lower() == "content-type"), "")
