"""The OpenAPI document: valid, tagged in every part, and impossible to tell apart from what the service checks."""

import json
from dataclasses import replace
from types import MappingProxyType

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from workbook.rules import rule
from workbook.simulation import problems as p
from workbook.simulation.contract import SOURCES, Broken, Check, Part, Place, Shape, Way
from workbook.simulation.contracts import CONTRACTS, FIELD, SPEC
from workbook.simulation.http import Request
from workbook.simulation.openapi import document
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, World

ID = INSTRUMENT_IDS[0]
OUTPUT = Seal(7).close(Content.OUTPUT, ID, 1, attempt=1)
PATH = f"/bcl/v2/paymentInstruments/{ID}/networkTokenActivationData"
PATHS = "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"
TAGGED = {"info", "servers", "tags", "parameters", "responses", "headers", "examples", "content", "properties"}
TAGGED |= {"securitySchemes", "variables", "schemas", "x-elsewhere", "x-sent"}
"""Under these names stand parts, as a list or by name."""
ONE = {"schema", "items", "requestBody", "info", "get", "post", "x-most-bytes", "x-other-query"}
"""Under these names stands one part."""


@pytest.fixture(params=CONTRACTS)
def said(request):
    return document(CONTRACTS[request.param])


def parts(node, where=""):
    """Each part of the document that has to say what it rests on, and where it stands."""
    for name, value in node.items() if isinstance(node, dict) else enumerate(node):
        here = f"{where}/{name}"
        if name in ONE:
            yield here, value
        elif name in TAGGED:
            yield from (
                (f"{here}/{each}", one)
                for each, one in (value.items() if isinstance(value, dict) else enumerate(value))
            )
        if isinstance(value, dict | list) and name != "value":
            yield from parts(value, here)


def words(basis):
    """The rules and sources of a basis; each statement may begin with what it speaks of."""
    return [word for statement in basis.split("; ") for word in statement.rpartition(": ")[2].split()]


def bases(node):
    for name, value in node.items() if isinstance(node, dict) else enumerate(node):
        if name == "x-basis":
            yield value
        elif name == "x-basis-of":
            yield from value.values()
        elif isinstance(value, dict | list):
            yield from bases(value)


def test_it_is_a_valid_document(said):
    OpenAPIV31SpecValidator(said).validate()
    assert said["openapi"] == "3.1.0"


def test_the_validator_finds_what_is_wrong(said):
    del said["paths"][PATHS]["get"]["responses"]["200"]["description"]
    assert list(OpenAPIV31SpecValidator(said).iter_errors())


def test_it_is_the_same_to_the_byte_each_time():
    assert {json.dumps(document(SPEC)) for _ in range(3)} == {json.dumps(document(replace(SPEC)))}
    assert json.dumps(document(SPEC)) != json.dumps(document(FIELD))


def test_every_part_says_what_it_rests_on(said):
    found = [(where, one) for where, one in parts(said) if isinstance(one, dict) and "$ref" not in one]
    assert len(found) > 80
    assert [where for where, one in found if not one.get("x-basis")] == []


def test_every_basis_is_a_rule_or_a_source(said):
    found = {word for basis in bases(said) for word in words(basis)}
    assert [word for word in found if word not in SOURCES and rule(word).id != word] == []
    assert {"API-1", "API-2", "API-3", "API-4", "API-5", "API-6", "API-9", "openapi", "assumed"} <= found


def test_what_the_document_does_not_show_is_tagged(said):
    """No status and no error (GAP-1), no limit (GAP-2): each says openapi or assumed."""
    for operation in (said["paths"][PATHS]["get"], said["paths"][PATHS]["post"]):
        for status, response in operation["responses"].items():
            assert {"openapi", "assumed"} & set(words(response["x-basis"])), status
    assert said["paths"][PATHS]["post"]["requestBody"]["x-most-bytes"] == {"value": 1_048_576, "x-basis": "assumed"}
    assert [one["x-basis"] for one in said["components"]["schemas"]["Problem"]["properties"].values()] == [
        "openapi"
    ] * len(said["components"]["schemas"]["Problem"]["properties"])


@pytest.mark.rule("API-1", "API-2", "API-3", "API-14")
def test_there_are_the_two_operations_and_nothing_else(said):
    assert list(said["paths"]) == [PATHS]
    path = said["paths"][PATHS]
    assert {name: path[name]["operationId"] for name in path if name in ("get", "post", "put", "delete")} == {
        "get": "getActivationData",
        "post": "exchangeSdkOutput",
    }
    assert [(one["name"], one["in"], one["required"]) for one in path["parameters"]] == [("id", "path", True)]
    assert "requestBody" not in path["get"]


def test_spec_shows_the_documents_key_and_field_the_published_ways():
    assert document(SPEC)["security"] == [{"apiKey": []}]
    schemes = document(FIELD)["components"]["securitySchemes"]
    assert document(FIELD)["security"] == [{"apiKey": []}, {"basic": []}, {"clientKey": []}]
    assert [(one["type"], one.get("in"), one.get("name")) for one in schemes.values()] == [
        ("apiKey", "header", "x-api-key"),
        ("http", None, None),
        ("apiKey", "query", "clientKey"),
    ]
    assert ["openapi" in words(one["x-basis"]) for one in schemes.values()] == [False, True, True]


def test_field_shows_the_published_schemas():
    schemas = document(FIELD)["components"]["schemas"]
    body = document(FIELD)["paths"][PATHS]["post"]["requestBody"]["content"]["application/json"]["schema"]
    for schema, name in ((schemas["Answer"], "sdkInput"), (body, "sdkOutput")):
        assert list(schema["properties"]) == [name]
        assert "required" not in schema
        assert schema["additionalProperties"] is False
        assert "minLength" not in schema["properties"][name]
    problem = schemas["Problem"]
    assert problem["required"] == ["type", "title", "status", "detail", "errorCode"]
    assert set(problem["properties"]) - set(problem["required"]) == {"instance", "requestId", "invalidFields"}
    assert problem["properties"]["invalidFields"]["items"]["required"] == ["name", "value", "message"]
    for method in ("get", "post"):
        answers = document(FIELD)["paths"][PATHS][method]["responses"]
        assert set(answers) == {"200", "400", "401", "403", "422", "500"}


# ---------------------------------------------------------------- one contract, two readers


def ask(contract, request):
    return Service(World(), contract=contract).respond(request)


def get(target=PATH, header="x-api-key", **more):
    return Request("GET", target, ((header, SIMULATED_KEY),), **more)


def post(body=None, target=PATH):
    said = {"sdkOutput": OUTPUT} if body is None else body
    return Request(
        "POST", target, (("x-api-key", SIMULATED_KEY), ("content-type", "application/json")), json.dumps(said).encode()
    )


def operation(method, **changes):
    changed = replace(SPEC.operations[method], **changes)
    return replace(SPEC, operations=MappingProxyType({**SPEC.operations, method: changed}))


def body(**changes):
    return operation("POST", body=replace(SPEC.operations["POST"].body, **changes))


def shape(*changed, **changes):
    shape = SPEC.operations["POST"].body.shape
    return body(shape=replace(shape, parts=changed or shape.parts, **changes))


OUT = SPEC.operations["POST"].body.shape.parts[0]
WAY = Way("apiKey", Place.HEADER, "x-other", "assumed", "Another header.")
CHECKS = {**SPEC.checks, Broken.UNKNOWN: Check(replace(p.UNKNOWN_INSTRUMENT, status=410, code="x"), ("GET", "POST"))}
CHANGES = {
    "the path": (replace(SPEC, path="/bcl/v3/cards/{id}/data"), get("/bcl/v3/cards/" + ID + "/data"), 200, 404),
    "a method less": (
        replace(SPEC, operations=MappingProxyType({"GET": SPEC.operations["GET"]})),
        post(),
        405,
        200,
    ),
    "the header": (replace(SPEC, ways=(WAY,)), get(header="x-other"), 200, 401),
    "another way": (
        replace(SPEC, ways=FIELD.ways),
        get(f"{PATH}?clientKey={SIMULATED_KEY}", header="x"),
        200,
        401,
    ),
    "the field": (shape(replace(OUT, name="output")), post({"output": OUTPUT}), 200, 400),
    "an optional field": (replace(shape(replace(OUT, required=False)), checks=FIELD.checks), post({}), 422, 400),
    "a longer field": (shape(replace(OUT, shortest=9_999)), post(), 400, 200),
    "one field more": (
        shape(OUT, Part("more", "assumed", "Another.")),
        post({"sdkOutput": OUTPUT, "more": "x"}),
        200,
        400,
    ),
    "other fields": (shape(closed=False), post({"sdkOutput": OUTPUT, "more": 1}), 200, 400),
    "the most bytes": (body(most=10), post(), 413, 200),
    "the media type": (body(media_type="application/x"), post(), 400, 200),
    "a query": (operation("GET", other_query=True), get(PATH + "?a=b"), 200, 400),
    "a status": (replace(SPEC, checks=CHECKS), get(PATHS.replace("{id}", "PI")), 410, 422),
}
"""A changed contract, a request that tells it from `SPEC`, and the statuses under the one and under the other."""


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_contract_changes_the_service_and_the_document(name):
    changed, request, now, before = CHANGES[name]
    assert (ask(changed, request).status, ask(SPEC, request).status) == (now, before)
    assert now != before
    assert document(changed) != document(SPEC)
    OpenAPIV31SpecValidator(document(changed)).validate()


def test_the_answers_field_and_the_problems_fields_are_the_contracts():
    changed = replace(SPEC, answer=Shape((Part("other", "assumed", "Another."),), "assumed"))
    assert (
        list(json.loads(ask(changed, get()).body))
        == ["other"]
        == document(changed)["components"]["schemas"]["Answer"]["required"]
    )
    less = replace(SPEC, problem=replace(SPEC.problem, parts=SPEC.problem.parts[:2]))
    refused = ask(less, get(header="x"))
    assert list(json.loads(refused.body)) == ["type", "title"]
    assert list(document(less)["components"]["schemas"]["Problem"]["properties"]) == ["type", "title"]


def test_a_405_names_the_methods_in_the_service_and_in_the_document(said):
    allow = said["paths"][PATHS]["x-elsewhere"]["405"]["headers"]["Allow"]
    answer = Service().respond(replace(get(), method="PUT"))
    assert dict(answer.headers)["allow"] == allow["schema"]["const"] == "GET, POST"
