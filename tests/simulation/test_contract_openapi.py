"""The OpenAPI document: valid, tagged in every part, and impossible to tell apart from what the service checks."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest
import schemathesis
from rows import rows

from workbook.base.rules import Basis, rule
from workbook.simulation.contract import CONTRACTS, SPEC, Broken, Contract
from workbook.simulation.http import AFTER_ID, BEFORE_ID, MAX_BODY, Request
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import ORIGIN, Service
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
    return deepcopy(CONTRACTS[request.param].document)


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
    schemathesis.openapi.from_dict(deepcopy(said)).validate()
    assert said["openapi"] == "3.1.0"


def test_the_document_and_the_constants_of_the_service_agree():
    assert SPEC.path == CONTRACTS["field"].path == f"{BEFORE_ID}{{id}}{AFTER_ID}" == PATHS
    assert SPEC.document["servers"][0]["variables"]["base_url"]["default"] == ORIGIN
    assert [contract.operations["POST"].most_bytes for contract in (SPEC, CONTRACTS["field"])] == [MAX_BODY] * 2
    assert SPEC.document != CONTRACTS["field"].document


def test_each_refusal_but_those_that_a_schema_excludes_has_an_answer():
    assert list(CONTRACTS["field"].problems) == list(Broken)
    assert list(SPEC.problems) == [broken for broken in Broken if broken is not Broken.NO_OUTPUT]


def test_every_part_says_what_it_rests_on(said):
    found = [(where, one) for where, one in parts(said) if isinstance(one, dict) and "$ref" not in one]
    assert len(found) > 80
    assert [where for where, one in found if not one.get("x-basis")] == []


def test_every_basis_is_a_rule_or_a_source(said):
    found = {word for basis in bases(said) for word in words(basis)}
    assert [word for word in found if word not in [*Basis] and rule(word).id != word] == []
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
    assert SPEC.document["security"] == [{"apiKey": []}]
    schemes = CONTRACTS["field"].document["components"]["securitySchemes"]
    assert CONTRACTS["field"].document["security"] == [{"apiKey": []}, {"basic": []}, {"clientKey": []}]
    assert [(one["type"], one.get("in"), one.get("name")) for one in schemes.values()] == [
        ("apiKey", "header", "x-api-key"),
        ("http", None, None),
        ("apiKey", "query", "clientKey"),
    ]
    assert ["openapi" in words(one["x-basis"]) for one in schemes.values()] == [False, True, True]


def test_field_shows_the_published_schemas():
    schemas = CONTRACTS["field"].document["components"]["schemas"]
    body = CONTRACTS["field"].document["paths"][PATHS]["post"]["requestBody"]["content"]["application/json"]["schema"]
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
        answers = CONTRACTS["field"].document["paths"][PATHS][method]["responses"]
        assert set(answers) == {"200", "400", "401", "403", "422", "500"}


def ask(contract, request):
    return Service(World(), contract=contract).respond(request)


def get(target=PATH, header="x-api-key", **more):
    return Request("GET", target, ((header, SIMULATED_KEY),), **more)


def post(body=None, target=PATH):
    said = {"sdkOutput": OUTPUT} if body is None else body
    return Request(
        "POST", target, (("x-api-key", SIMULATED_KEY), ("content-type", "application/json")), json.dumps(said).encode()
    )


def changed(change, document=SPEC.document):
    """A contract whose document differs by this change."""
    copy = deepcopy(document)
    change(copy)
    return Contract(copy)


def at(document, *place):
    for key in place:
        document = document[key]
    return document


def schema(document):
    return at(document, "paths", PATHS, "post", "requestBody", "content", "application/json", "schema")


def renamed(node, old, new):
    node[new] = node.pop(old)


def rename_field(document):
    schema(document).update(required=["output"], properties={"output": schema(document)["properties"]["sdkOutput"]})


def add_field(document):
    schema(document)["properties"]["more"] = {"type": "string", "description": "Another.", "x-basis": "assumed"}
    schema(document)["required"].append("more")


def answer_410(document):
    """The service and the document answer an unknown instrument with 410."""
    for method in ("get", "post"):
        answers = at(document, "paths", PATHS, method, "responses")
        unknown = at(answers, "422", "content", "application/json", "examples").pop("unknown")
        unknown["value"] |= {"status": 410, "errorCode": "x"}
        answers["410"] = deepcopy(answers["422"])
        at(answers, "410", "content", "application/json")["examples"] = {"unknown": unknown}


def take_field_ways(document):
    document["security"] = CONTRACTS["field"].document["security"]
    document["components"]["securitySchemes"] = CONTRACTS["field"].document["components"]["securitySchemes"]


CHANGES = {
    "the path": (
        lambda said: renamed(said["paths"], PATHS, "/bcl/v3/cards/{id}/data"),
        get("/bcl/v3/cards/" + ID + "/data"),
        200,
        404,
    ),
    "a method less": (lambda said: at(said, "paths", PATHS).pop("post"), post(), 405, 200),
    "the header": (
        lambda said: at(said, "components", "securitySchemes", "apiKey").update(name="x-other"),
        get(header="x-other"),
        200,
        401,
    ),
    "another way": (take_field_ways, get(f"{PATH}?clientKey={SIMULATED_KEY}", header="x"), 200, 401),
    "the field": (rename_field, post({"output": OUTPUT}), 200, 400),
    "a longer field": (
        lambda said: at(schema(said), "properties", "sdkOutput").update(minLength=9_999),
        post(),
        400,
        200,
    ),
    "one field more": (add_field, post({"sdkOutput": OUTPUT, "more": "x"}), 200, 400),
    "other fields": (
        lambda said: schema(said).pop("additionalProperties"),
        post({"sdkOutput": OUTPUT, "more": 1}),
        200,
        400,
    ),
    "the most bytes": (
        lambda said: at(said, "paths", PATHS, "post", "requestBody", "x-most-bytes").update(value=10),
        post(),
        413,
        200,
    ),
    "the media type": (
        lambda said: renamed(
            at(said, "paths", PATHS, "post", "requestBody", "content"), "application/json", "application/x"
        ),
        post(),
        400,
        200,
    ),
    "a query": (
        lambda said: at(said, "paths", PATHS, "get", "x-other-query").update(allowed=True),
        get(PATH + "?a=b"),
        200,
        400,
    ),
    "a status": (answer_410, get(PATHS.replace("{id}", "PI")), 410, 422),
}
"""A change of the document, a request that tells it from `SPEC`, and the statuses under the one and under the other."""


@rows("name", CHANGES)
def test_a_changed_document_is_valid_and_changes_the_service(name):
    change, request, now, before = CHANGES[name]
    contract = changed(change)
    assert (ask(contract, request).status, ask(SPEC, request).status) == (now, before)
    schemathesis.openapi.from_dict(deepcopy(contract.document)).validate()


def test_an_optional_field_that_is_missing_is_refused_by_another_check():
    contract = changed(lambda said: schema(said).pop("required", None), CONTRACTS["field"].document)
    assert (ask(contract, post({})).status, ask(SPEC, post({})).status) == (422, 400)


def test_the_answers_fields_and_the_problems_fields_are_the_contracts():
    schemas = ("components", "schemas")
    answer = {"required": ["other"], "properties": {"other": {"type": "string", "x-basis": "assumed"}}}
    contract = changed(lambda said: at(said, *schemas, "Answer").update(answer))
    assert ask(contract, get()).body == b"{}"  # it sends what both the contract and the service know

    def leave_two(said):
        problem = at(said, *schemas, "Problem")
        problem["required"] = ["type", "title"]
        problem["properties"] = {name: problem["properties"][name] for name in problem["required"]}

    refused = ask(changed(leave_two), get(header="x"))
    assert list(json.loads(refused.body)) == ["type", "title"]


def test_a_405_names_the_methods_in_the_service_and_in_the_document(said):
    allow = said["paths"][PATHS]["x-elsewhere"]["405"]["headers"]["Allow"]
    answer = Service().respond(replace(get(), method="PUT"))
    assert dict(answer.headers)["allow"] == allow["schema"]["const"] == "GET, POST"
