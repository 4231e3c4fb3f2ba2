"""What a request to the control API asks for, read out of its query and its body; whatever is wrong is said in words.

Nothing that was sent is repeated, except a misspelt word of ours in an expectation.
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from workbook.errors import WorkbookError, did_you_mean
from workbook.simulation.expectation import from_json
from workbook.simulation.http import MAX_BODY, PROBLEM_HEADERS, Response
from workbook.simulation.journal import Match

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbook.simulation.expectation import Expectation

BASIS = "workbook: control"
"""What every answer of the control API rests on: nothing of the operator's."""

LONGEST_WAIT = 30.0
"""Seconds that a request may wait at most: fewer than most clients and proxies do."""
USUAL_WAIT = 10.0
MOST = 1_000
"""Faults or expectations in one request."""
LONGEST_NUMBER = 9
"""Digits of a number in a query."""
FILTERS = ("method", "instrument", "status", "after")
"""What entries can be chosen by, the fields of `Match`."""

_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}\Z")


class Denied(Exception):  # noqa: N818  # an answer on its way out, not an error of ours
    """The request is not carried out: carries the status, the sentence for `detail`, and headers."""

    def __init__(self, status: int, detail: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers

    @property
    def title(self) -> str:
        """The status in words."""
        return HTTPStatus(self.status).phrase


class Waiting(NamedTuple):
    """What to wait for, and for how many seconds."""

    match: Match
    timeout: float


def refused(error: Denied | WorkbookError) -> Response:
    """Why it was not done, shaped like the API's own problems; what an action refuses was asked for wrongly."""
    denied = error if isinstance(error, Denied) else Denied(400, str(error))
    told = {"type": "about:blank", "title": denied.title, "status": denied.status, "detail": str(denied)}
    return Response(denied.status, PROBLEM_HEADERS + denied.headers, json.dumps(told).encode(), BASIS)


def query(text: str, known: tuple[str, ...]) -> dict[str, str]:
    """The parameters of a query, each once."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=20)
    except ValueError:
        raise Denied(400, "The query is not a list of name=value.") from None
    _only("parameter", (name for name, _value in pairs), known)
    if len(dict(pairs)) != len(pairs):
        raise Denied(400, "A parameter stands in the query twice.")
    return dict(pairs)


def document(body: bytes) -> Any:
    """The body as JSON values."""
    if len(body) > MAX_BODY:
        raise Denied(413, f"The body is larger than {MAX_BODY} bytes.")
    try:
        return json.loads(body.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise Denied(400, f"The body is not JSON: {error.msg}, line {error.lineno}, column {error.colno}.") from None
    except (ValueError, RecursionError):
        raise Denied(400, "The body is not JSON: it is no UTF-8, nested too deep, or has too long a number.") from None


def search(parameters: dict[str, str]) -> Match:
    """Which entries a query means."""
    said: dict[str, Any] = {name: parameters[name] for name in FILTERS if name in parameters}
    for name in ("status", "after"):
        if name in said:
            said[name] = _number(name, said[name])
    return Match(**said)


def waiting(asked: object) -> Waiting:
    """What a body asks to wait for."""
    said = _object(asked, (*FILTERS, "timeout"))
    timeout = said.pop("timeout", USUAL_WAIT)
    if not _is(timeout, int, float) or not 0 <= timeout <= LONGEST_WAIT:
        raise Denied(400, f"The timeout is a number of seconds from 0 to {LONGEST_WAIT:g}.")
    for name, kind in (("method", str), ("instrument", str), ("status", int), ("after", int)):
        if name in said and not _is(said[name], kind):
            raise Denied(400, f"The {name} is {'a text' if kind is str else 'a whole number'}.")
    return Waiting(Match(**said), timeout)


def expectations(asked: object) -> list[Expectation]:
    """The expectations in a body."""
    listed = _object(asked, ("expectations",)).get("expectations")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST:
        raise Denied(400, f'The body is an object such as {{"expectations": [...]}}, with 1 to {MOST} of them.')
    return [from_json(one) for one in listed]


def tables(asked: object) -> list[dict[str, Any]]:
    """The tables of planned faults; an empty list plans none."""
    if not isinstance(asked, list) or len(asked) > MOST or not all(isinstance(one, dict) for one in asked):
        raise Denied(400, f"The body is a list of at most {MOST} objects, each a planned fault.")
    return asked


def scenario(asked: object) -> str | bytes:
    """A scenario's name as text, or its TOML document as bytes."""
    said = _object(asked, ("name", "toml"))
    values = [*said.values()]
    if len(values) != 1 or not isinstance(values[0], str) or not values[0]:
        raise Denied(400, "The body is an object with either a name or a toml, which is a text.")
    if "toml" in said:
        return values[0].encode("utf-8", "replace")
    if not _NAME.match(values[0]):  # a name may be taken for a path further on
        raise Denied(400, "A scenario's name is made of letters, digits, - and _.")
    return values[0]


def _object(asked: object, known: tuple[str, ...]) -> dict[str, Any]:
    """A copy of the object in a body, with none but these fields."""
    if not isinstance(asked, dict):
        raise Denied(400, f"The body is a JSON object. Its fields: {', '.join(known)}.")
    _only("field", asked, known)
    return dict(asked)


def _only(what: str, names: Iterable[str], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            hint = did_you_mean(name[:40], known) if known else f"There is no {what} here."
            raise Denied(400, f"A {what} is not known here. {hint}")


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER):
        raise Denied(400, f"The {name} is a whole number.")
    return int(text)


def _is(value: object, *kinds: type) -> bool:
    """Whether it is of one of these kinds; true and false are no numbers."""
    return isinstance(value, kinds) and not isinstance(value, bool)
