"""The OpenAPI 3.1 document of a contract: the very data that the service checks requests against, in OpenAPI's words.

Every part says what it rests on: `x-basis` for itself, and `x-basis-of` for those of its keywords that rest on
something else. What OpenAPI has no word for stands in extensions: `x-most-bytes` of a body, `x-sent` for headers that
it ignores when they are declared, `x-other-query`, and `x-elsewhere` for what is answered before an operation is found.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from workbook.simulation.contract import Broken, Place
from workbook.simulation.direct import ORIGIN
from workbook.simulation.http import JSON_HEADERS, PROBLEM_HEADERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from workbook.simulation.contract import Body, Check, Contract, Operation, Part, Shape, Way

    Document = dict[str, Any]

TAG = "activation data"
ABOUT = (
    "The two calls of in-app card provisioning, as the workbook's stand-in answers them in its profile '{}'. "
    "What x-basis calls assumed is the stand-in's choice and says nothing about the operator's service."
)
SAID = "Says what was wrong with the request."


def document(contract: Contract) -> Document:
    """The whole document, as plain JSON values; the same contract always gives the same bytes."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "In-app card provisioning: activation data",
            "version": contract.path.split("/")[2],
            "description": ABOUT.format(contract.profile),
            "x-profile": contract.profile,
            "x-basis": "API-14",
        },
        "servers": [_server()],
        "tags": [
            {"name": TAG, "description": "Opaque data for the SDK, from back end to back end.", "x-basis": "API-13"}
        ],
        "security": [{way.name: []} for way in contract.ways],
        "paths": {contract.path: _path(contract)},
        "components": {
            "schemas": {"Answer": _object(contract.answer), "Problem": _object(contract.problem)},
            "securitySchemes": {way.name: _scheme(way) for way in contract.ways},
        },
    }


def _server() -> Document:
    return {
        "url": "{base_url}",
        "x-basis": "API-1",
        "variables": {"base_url": {"default": ORIGIN, "description": "Where it is served.", "x-basis": "assumed"}},
    }


def _path(contract: Contract) -> Document:
    elsewhere = [check for check in contract.checks.values() if not check.methods]
    operations = {one.method.lower(): _operation(one, contract) for one in contract.operations.values()}
    return {
        "parameters": [_parameter(contract.id)],
        **operations,
        "x-elsewhere": _responses(elsewhere, contract),
    }


def _parameter(part: Part) -> Document:
    declared = {"name": part.name, "in": "path", "required": True, "description": part.note, "x-basis": part.basis}
    example = {"value": part.example, "x-basis": part.example_basis}
    return declared | {"schema": _value(part), "examples": {"one": example}}


def _operation(operation: Operation, contract: Contract) -> Document:
    checks = [check for check in contract.checks.values() if operation.method in check.methods]
    said: Document = {
        "operationId": operation.name,
        "tags": [TAG],
        "summary": operation.summary,
        "x-basis": operation.basis,
        "x-other-query": {"allowed": operation.other_query, "x-basis": operation.query_basis},
        "responses": {"200": _success(operation), **_responses(checks, contract)},
    }
    if operation.sent:
        said["x-sent"] = [
            {"name": name, "value": value, "checked": checked, "x-basis": basis}
            for name, value, checked, basis in operation.sent
        ]
    return said if operation.body is None else said | {"requestBody": _body(operation.body)}


def _body(body: Body) -> Document:
    return {
        "required": True,
        "x-basis": body.basis,
        "x-most-bytes": {"value": body.most, "x-basis": body.limit_basis},
        "content": {body.media_type: {"schema": _object(body.shape), "x-basis": body.basis}},
    }


def _success(operation: Operation) -> Document:
    content = {_media_type(JSON_HEADERS): {"schema": _reference("Answer"), "x-basis": "API-9"}}
    return {"description": "New data.", "x-basis": f"{operation.answers}; status: openapi", "content": content}


def _responses(checks: Iterable[Check], contract: Contract) -> Document:
    """The refusals by status, each with an example for every way to get there."""
    named = {id(check): broken for broken, check in contract.checks.items()}
    by_status: dict[int, list[tuple[Broken, Check]]] = {}
    for check in checks:
        by_status.setdefault(check.problem.status, []).append((named[id(check)], check))
    return {str(status): _refusal(status, by_status[status], contract) for status in sorted(by_status)}


def _refusal(status: int, found: list[tuple[Broken, Check]], contract: Contract) -> Document:
    source = found[0][1].problem.source
    content = {
        "schema": _reference("Problem"),
        "examples": {broken.name.lower(): _example(broken, check, contract) for broken, check in found},
        "x-basis": "GAP-1; shape: openapi; media type: assumed",
    }
    said: Document = {
        "description": found[0][1].problem.title,
        "x-basis": f"GAP-1; status: {source}; pairing: assumed",
        "content": {_media_type(PROBLEM_HEADERS): content},
    }
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        said["headers"] = {"Allow": _allow(contract)}
    return said


def _example(broken: Broken, check: Check, contract: Contract) -> Document:
    said = check.problem.fields(SAID)
    value = {part.name: said[part.name] for part in contract.problem.parts if part.name in said}
    return {"summary": f"{broken[0].upper()}{broken[1:]}.", "x-basis": check.problem.basis, "value": value}


def _allow(contract: Contract) -> Document:
    schema = {"const": ", ".join(contract.operations), "x-basis": "API-1 API-2"}
    return {"required": True, "description": "What the path knows.", "schema": schema, "x-basis": "assumed"}


def _scheme(way: Way) -> Document:
    said: Document = {"description": way.note, "x-basis": way.basis}
    match way.place:
        case Place.BASIC:
            return {"type": "http", "scheme": "basic"} | said
        case Place.HEADER | Place.QUERY:
            return {"type": "apiKey", "in": way.place.value, "name": way.parameter} | said


def _object(shape: Shape) -> Document:
    """A JSON object's schema."""
    schema: Document = {"type": "object", "properties": {part.name: _value(part) for part in shape.parts}}
    of: dict[str, str] = {}
    if required := [part.name for part in shape.parts if part.required]:
        schema["required"] = required
    if shape.closed:
        schema["additionalProperties"] = False
        of["additionalProperties"] = shape.closed_basis
    return schema | _based(shape.basis, of)


def _value(part: Part) -> Document:
    """The schema of one value."""
    schema: Document = {"type": part.kind, "description": part.note}
    of: dict[str, str] = {}
    if part.form:
        schema["format"] = part.form
    if part.shortest:
        schema["minLength"] = part.shortest
        of["minLength"] = part.limit_basis
    if part.items is not None:
        schema["items"] = _object(part.items)
    return schema | _based(part.basis, of)


def _based(basis: str, of: Mapping[str, str]) -> Document:
    return {"x-basis": basis} | ({"x-basis-of": dict(of)} if of else {})


def _reference(name: str) -> Document:
    return {"$ref": f"#/components/schemas/{name}"}


def _media_type(headers: tuple[tuple[str, str], ...]) -> str:
    return dict(headers)["content-type"]
