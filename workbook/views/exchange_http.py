"""A request and its answer as they go over the wire, without the key and without data that is not the simulator's.

The trace keeps what matters of an exchange and no bytes, so the request is built again by the very code that builds it
for the wire; of an answer only what the trace kept is told.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from workbook.api.address import API_PATH, encode_id
from workbook.api.protocol import Settings, build_get
from workbook.api.secret import MASK
from workbook.errors import ConfigurationError
from workbook.flows import messages as m
from workbook.views.plain import clean
from workbook.views.wording import OK, status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from workbook.trace import Record

    Named = Callable[[Record, str], str]
    """How a field that holds opaque data is told."""

PROBLEM = "application/problem+json"
ANY = "https://host.invalid"


def pairs(records: Iterable[Record]) -> Mapping[int, int]:
    """Which request an answer belongs to, and the reverse, by their places in `records`.

    An answer whose data names its instrument belongs to the first open request for that, any other to the first
    that is open.
    """
    found: dict[int, int] = {}
    waiting: dict[int, str] = {}
    for number, record in enumerate(records):
        message = record.message
        if isinstance(message, m.ApiRequested):
            waiting[number] = str(message.payment_instrument_id)
        elif isinstance(message, m.ApiAnswered | m.ApiFailed) and waiting:
            asked = _asked(record, waiting)
            del waiting[asked]
            found |= {asked: number, number: asked}
    return found


def _asked(record: Record, waiting: Mapping[int, str]) -> int:
    summary = record.values.get("sdk_input")
    owner = summary.get("paymentInstrumentId") if isinstance(summary, dict) else None
    return next((number for number, one in waiting.items() if one == owner), next(iter(waiting)))


def request(record: Record, named: Named) -> Iterator[str]:
    """The lines of a request."""
    message = record.message
    assert isinstance(message, m.ApiRequested)  # noqa: S101  # whoever calls this has looked
    try:
        path = API_PATH.replace("{id}", encode_id(message.payment_instrument_id))
    except ConfigurationError as error:
        yield clean(f"Not sent: {error}")
        return
    yield f"{clean(message.method)} {path}"
    yield from (f"{name}: {value}" for name, value in _headers())
    yield ""
    yield f'{{"sdkOutput": {named(record, "sdk_output")}}}' if message.sdk_output is not None else "(no body)"


def answer(record: Record, named: Named) -> Iterator[str]:
    """The lines of an answer, or of what came instead of one."""
    match record.message:
        case m.ApiAnswered(status=code, sdk_input=data, told=told, basis=basis):
            yield status(code)
            yield f"content-type: {_content_type(code, told, basis)}"
            yield ""
            yield _problem(told) if data is None else f'{{"sdkInput": {named(record, "sdk_input")}}}'
        case m.ApiFailed(error=error, message=message):
            yield f"{record.message.says}: {clean(getattr(record.message, 'fault', '') or error)}"
            yield clean(message)


def _content_type(code: int, told: str, basis: str) -> str:
    """What the simulator sends, which says what its answers rest on; of any other answer the trace keeps none."""
    known = "application/json" if code == OK else PROBLEM if told else ""
    return known if known and basis else "not kept in the trace"


def _problem(told: str) -> str:
    return f"{{errorCode, title, detail}}: {clean(told)}" if told else "(the body is not kept in the trace)"


@cache
def _headers() -> tuple[tuple[str, str], ...]:
    """The headers that the client sends, with a mask in the key's place."""
    built = build_get(Settings(ANY, "stands-for-a-key"), "id")
    return tuple((name, MASK if name == "x-api-key" else value) for name, value in built.headers)
