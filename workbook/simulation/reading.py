"""What a request says, read by a contract, or what is wrong with it: route, API key and body.

Nothing of a request stands in what is said about it: anything may be in the wrong place, a key or card data too.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote

from workbook.simulation.contract import Broken, Place
from workbook.simulation.near_misses import nearly

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from workbook.simulation.contract import Body, Contract, Operation, Shape, Way
    from workbook.simulation.http import Request

_KINDS: Mapping[type, str] = {
    dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number",
    type(None): "null",
}  # fmt: skip
WHOLE = "body"
"""What `invalidFields` calls a body that is wrong as a whole (assumed)."""


class Invalid(NamedTuple):
    """One row of `invalidFields` (openapi). The value is told by its kind alone: it may be card data."""

    name: str
    value: str
    message: str


class Refused(Exception):  # noqa: N818  # an answer on its way out, not an error of ours
    """A check failed: carries which one, the sentence for its `detail`, and which fields it is about."""

    def __init__(self, broken: Broken, detail: str, *invalid: Invalid) -> None:
        super().__init__(detail)
        self.broken = broken
        self.detail = detail
        self.invalid = invalid


def route(request: Request, contract: Contract) -> tuple[Operation, str, str]:
    """Which operation it is, of which instrument, and the query as it came.

    Raises:
        Refused: there is no such path, or no such method on it.
    """
    path, _mark, query = request.target.partition("?")
    before, after = contract.ends
    instrument_id = path[len(before) : len(path) - len(after)]
    if not (instrument_id and path.startswith(before) and path.endswith(after)) or "/" in instrument_id:
        told = ("There is nothing here.", nearly(request.method, request.target), f"The path is {contract.path}.")
        raise Refused(Broken.PATH, " ".join(filter(None, told)))
    operation = contract.operations.get(request.method)
    if operation is None:
        known = f"This path knows {' and '.join(contract.operations)}."
        raise Refused(Broken.METHOD, nearly(request.method, request.target) or known)
    return operation, unquote(instrument_id), query


# ---------------------------------------------------------------- the API key


def said_key(request: Request, query: str, contract: Contract) -> tuple[str, Way]:
    """The API key, and in which way it was said.

    One that is said twice counts once. Of two that differ none counts: the document knows one, and whoever reads the
    first might not be who checked the last (assumed).

    Raises:
        Refused: there is none, or there are several.
    """
    said = [(key, way) for way in contract.ways for key in _READ[way.place](request, query, way)]
    keys = {key for key, _way in said}
    if keys <= {""}:
        raise Refused(Broken.NO_KEY, _no_key(request, query, contract))
    if len(keys) > 1:
        raise Refused(Broken.SEVERAL_KEYS, "The request says several API keys that differ. Send one, once.")
    return said[0]


def keys_said(request: Request, contract: Contract) -> tuple[str, ...]:
    """Every API key that the request says, in each way that the contract knows of, taken or not, and none empty."""
    query = request.target.partition("?")[2]
    ways = contract.ways + contract.not_taken
    return tuple(key for way in ways for key in _READ[way.place](request, query, way) if key)


def _in_header(request: Request, _query: str, way: Way) -> list[str]:
    return request.values(way.parameter)


def _in_query(_request: Request, query: str, way: Way) -> list[str]:
    return [value for name, value in parse_qsl(query, keep_blank_values=True) if name == way.parameter]


def _in_basic(request: Request, _query: str, way: Way) -> list[str]:
    said = (_password(value) for value in request.values(way.parameter))
    return [password for password in said if password is not None]


def _password(said: str) -> str | None:
    """What stands after the first colon of HTTP basic's credentials (RFC 7617); None where it is not that."""
    scheme, _blank, coded = said.strip(" \t").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return b64decode(coded.strip(" "), validate=True).decode().partition(":")[2]
    except ValueError:
        return None


_READ: Mapping[Place, Callable[[Request, str, Way], list[str]]] = {
    Place.HEADER: _in_header,
    Place.QUERY: _in_query,
    Place.BASIC: _in_basic,
}


def _no_key(request: Request, query: str, contract: Contract) -> str:
    header = contract.ways[0].parameter
    if len(contract.ways) > 1:
        others = ", ".join(f"{way.parameter} ({way.place})" for way in contract.ways[1:])
        return f"The API key is missing. Send the header {header} with every request, or one of: {others}."
    told = f"The header {header} is missing. Send it with every request."
    tried = [way.parameter for way in contract.not_taken if _READ[way.place](request, query, way)]
    return f"{told} In this profile a key in {' or '.join(tried)} is not taken." if tried else told


# ---------------------------------------------------------------- query and body


def check_query(query: str, operation: Operation, contract: Contract) -> None:
    """Let pass what says the API key; whether anything else may stand there is the operation's business.

    Raises:
        Refused: something else does.
    """
    if operation.other_query or not query:
        return
    known = [way.parameter for way in contract.ways if way.place is Place.QUERY]
    if not known or any(name not in known for name, _value in parse_qsl(query, keep_blank_values=True)):
        but = f" but {' and '.join(known)}" if known else ""
        raise Refused(Broken.QUERY, f"The {operation.method} has no query parameters{but}.")


def read_body(request: Request, body: Body) -> dict[str, object]:
    """The fields of a body that has the contract's shape.

    Raises:
        Refused: it has not.
    """
    said = {value.partition(";")[0].strip().lower() for value in request.values("content-type")}
    if said != {body.media_type}:
        raise Refused(Broken.MEDIA_TYPE, f"The header content-type must be {body.media_type}.")
    if len(request.body) > body.most:
        raise Refused(Broken.SIZE, f"The body is larger than {body.most} bytes.")
    return _fields(_json(request.body), body.shape)


def _json(body: bytes) -> object:
    try:
        return _DECODE(body.decode("utf-8"))
    except (ValueError, RecursionError):
        told = "The body is empty or not JSON."
        raise Refused(Broken.JSON, told, Invalid(WHOLE, "not JSON", told)) from None


def _fields(document: object, shape: Shape) -> dict[str, object]:
    if not isinstance(document, dict):
        told = f"The body must be {shape.wanted}."
        raise Refused(Broken.FIELDS, told, Invalid(WHOLE, _kind(document), told))
    if tuple(document) != shape.names and (wrong := list(_not_there(document, shape))):
        raise Refused(Broken.FIELDS, f"The body must be {shape.wanted}.", *wrong)
    for part in shape.parts:
        if part.name in document and not part.fits(document[part.name]):
            told = f"{part.name} must be {part.wanted}."
            raise Refused(Broken.FIELDS, told, Invalid(part.name, _kind(document[part.name]), told))
    return document


def _not_there(document: dict[str, object], shape: Shape) -> Iterator[Invalid]:
    """What is missing, and what is there and should not be, whose name is repeated only where it is nearly right."""
    for part in shape.parts:
        if part.required and part.name not in document:
            yield Invalid(part.name, "missing", f"It must be {part.wanted}.")
    near = {name.lower() for name in shape.names}
    for name in document if shape.closed else ():
        if name not in shape.names:
            told = name if name.lower() in near else "another field"
            yield Invalid(told, _kind(document[name]), "There is no such field.")


def _kind(value: object) -> str:
    return _KINDS[type(value)]


def _no_duplicates(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    listed = list(pairs)
    document = dict(listed)
    if len(document) != len(listed):
        told = "A field stands in the body twice."
        raise Refused(Broken.FIELDS, told, Invalid(WHOLE, "an object", told))
    return document


_DECODE = json.JSONDecoder(object_pairs_hook=_no_duplicates).decode
