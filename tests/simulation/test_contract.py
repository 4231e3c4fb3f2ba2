"""The two contracts: the order of the checks, every check's answer, and what the profiles differ in."""

import json
from base64 import b64encode

import pytest
from rows import rows

from workbook.errors import ParameterError
from workbook.flows.variants import PROFILES
from workbook.simulation.contract import CONTRACTS, Broken, contract
from workbook.simulation.http import AFTER_ID, BEFORE_ID, MAX_BODY, Request
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service, describe_schema
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, Instrument, World

ID, ASLEEP, UNKNOWN = INSTRUMENT_IDS
NO_ROLE = "no-role"
KEYS = {SIMULATED_KEY: Credential(), NO_ROLE: Credential(frozenset())}
CARDS = {ID: Instrument(ID), ASLEEP: Instrument(ASLEEP, status="suspended")}


def service(profile):
    return Service(World(profile=profile, credentials=KEYS, instruments=CARDS))


def right(method):
    """The parts of a request with nothing wrong in it."""
    output = Seal(7).close(Content.OUTPUT, ID, 1, attempt=1)
    return {
        "method": method,
        "id": ID,
        "after": AFTER_ID,
        "keys": [SIMULATED_KEY],
        "type": "application/json",
        "body": json.dumps({"sdkOutput": output}).encode() if method == "POST" else b"",
    }


WRONG = {
    Broken.PATH: {"id": f"{ID}/more"},
    Broken.METHOD: {"method": "PUT"},
    Broken.NO_KEY: {"keys": []},
    Broken.SEVERAL_KEYS: {"keys": [SIMULATED_KEY, NO_ROLE]},
    Broken.WRONG_KEY: {"keys": ["another"]},
    Broken.ROLE: {"keys": [NO_ROLE]},
    Broken.POST_ROLE: {"keys": [NO_ROLE]},
    Broken.UNKNOWN: {"id": UNKNOWN},
    Broken.INACTIVE: {"id": ASLEEP},
    Broken.QUERY: {"after": f"{AFTER_ID}?a=b"},
    Broken.BODY: {"body": b"{}"},
    Broken.MEDIA_TYPE: {"type": "text/plain"},
    Broken.SIZE: {"body": b"x" * (MAX_BODY + 1)},
    Broken.JSON: {"body": b"x"},
    Broken.FIELDS: {"body": b'{"sdkOutput": 7}'},
    Broken.NO_OUTPUT: {"body": b"{}"},
    Broken.OUTPUT: {"body": b'{"sdkOutput": "junk"}'},
}
SAID = {
    Broken.PATH: "There is nothing here.",
    Broken.METHOD: "This path knows GET",
    Broken.NO_KEY: "is missing",
    Broken.SEVERAL_KEYS: "several different API keys",
    Broken.WRONG_KEY: "not known here",
    Broken.ROLE: "lacks the role",
    Broken.POST_ROLE: "lacks the role",
    Broken.UNKNOWN: "No payment instrument",
    Broken.INACTIVE: "is suspended",
    Broken.QUERY: "no query parameters",
    Broken.BODY: "has no body",
    Broken.MEDIA_TYPE: "content-type must be",
    Broken.SIZE: "larger than",
    Broken.JSON: "not JSON",
    Broken.FIELDS: "must be a string",
    Broken.NO_OUTPUT: "no sdkOutput in the body",
    Broken.OUTPUT: "The sdkOutput cannot be used",
}
"""The beginning of what is said, or a part that nothing else has."""


def answered(profile, *broken, method):
    said = right(method)
    for one in broken:
        said |= WRONG[one]
    headers = [*(("x-api-key", key) for key in said["keys"]), ("content-type", said["type"])]
    target = f"{BEFORE_ID}{said['id']}{said['after']}"
    return service(profile).respond(Request(said["method"], target, tuple(headers), said["body"]))


def cases():
    for profile, one in CONTRACTS.items():
        (path,) = one.document["paths"].values()
        for broken in one.problems:
            for method in ("GET", "POST"):
                answers = path["x-elsewhere"] | path[method.lower()]["responses"]
                if broken in WRONG and f'"{broken.name.lower()}": {{"summary"' in json.dumps(answers):
                    yield profile, method, broken


CASES = [*cases()]


@pytest.mark.parametrize("profile", CONTRACTS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_request_with_nothing_wrong_in_it_is_answered(profile, method):
    assert answered(profile, method=method).status == 200


@pytest.mark.rule("API-1", "API-2", "API-3", "API-4", "API-5", "API-6", "API-11", "API-15")
@rows(("profile", "method", "broken"), CASES)
def test_each_check_answers_with_the_contracts_problem_and_says_what_it_is(profile, method, broken):
    answer = answered(profile, broken, method=method)
    problem = CONTRACTS[profile].problems[broken]
    told = json.loads(answer.body)
    assert (answer.status, told["status"], told["errorCode"]) == (problem.status, problem.status, problem.code)
    assert answer.basis.startswith(problem.basis)
    assert SAID[broken] in told["detail"]


def pairs():
    for profile, method, first in CASES:
        order = list(CONTRACTS[profile].problems)
        for _profile, _method, second in CASES:
            together = (_profile, _method) == (profile, method) and not WRONG[first].keys() & WRONG[second].keys()
            if together and order.index(first) < order.index(second):
                yield profile, method, first, second


@rows(("profile", "method", "first", "second"), [*pairs()])
def test_of_two_broken_things_the_one_that_the_contract_names_first_is_answered(profile, method, first, second):
    told = json.loads(answered(profile, first, second, method=method).body)
    assert SAID[first] in told["detail"]


def test_of_a_body_that_is_too_large_no_more_is_looked_at():
    assert answered("spec", Broken.JSON, Broken.SIZE, method="POST").status == 413


def test_each_profile_has_a_contract_and_a_misspelt_one_is_explained():
    assert tuple(CONTRACTS) == PROFILES
    assert {name: contract(name) for name in PROFILES} == CONTRACTS
    with pytest.raises(ParameterError, match=r"No profile 'feild'. Did you mean 'field'\?"):
        contract("feild")


PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
BASIC = b64encode(f"anybody:{SIMULATED_KEY}".encode()).decode()
WAYS = {
    "the header x-api-key": Request("GET", PATH, (("x-api-key", SIMULATED_KEY),)),
    "HTTP basic": Request("GET", PATH, (("authorization", f"Basic {BASIC}"),)),
    "clientKey in the query": Request("GET", f"{PATH}?clientKey={SIMULATED_KEY}", ()),
}
FIVE = ["type", "title", "status", "detail", "errorCode"]


def ways(profile):
    taken = [way for way, request in WAYS.items() if service(profile).respond(request).status == 200]
    return {1: "the header x-api-key", 3: "that header, HTTP basic, or clientKey in the query: any one"}[len(taken)]


def fields(profile):
    anywhere = list(json.loads(answered(profile, Broken.NO_KEY, method="GET").body))
    wrong_body = list(json.loads(answered(profile, Broken.FIELDS, method="POST").body))
    if anywhere == wrong_body == FIVE:
        return "its five required fields"
    assert wrong_body == [*anywhere, "invalidFields"] == [*FIVE, "instance", "requestId", "invalidFields"]
    return "instance and requestId too, and invalidFields where the body is wrong"


def statuses(profile):
    seen = {answered(of, broken, method=method).status for of, method, broken in CASES if of == profile}
    said = {status for operation in CONTRACTS[profile].operations.values() for status in operation.statuses}
    assert seen - said == {404, 405}, "no operation's"
    assert said - seen == {200, 500}, "no refusals"
    return " ".join(map(str, sorted(said)))


def status(broken):
    return lambda profile: str(answered(profile, broken, method="POST").status)


def empty(profile):
    headers = (("x-api-key", SIMULATED_KEY), ("content-type", "application/json"))
    return str(service(profile).respond(Request("POST", PATH, headers, b'{"sdkOutput": ""}')).status)


def answer(profile):
    return CONTRACTS[profile].document["components"]["schemas"]["Answer"]


DIFFERENCES = {
    "the API key is said in": (
        ways,
        "the header x-api-key",
        "that header, HTTP basic, or clientKey in the query: any one",
    ),
    "an error's body has": (
        fields,
        "its five required fields",
        "instance and requestId too, and invalidFields where the body is wrong",
    ),
    "the two operations answer with": (statuses, "200 400 401 403 413 422 500", "200 400 401 403 422 500"),
    "a body that is too large gets": (status(Broken.SIZE), "413", "400"),
    "a POST without sdkOutput gets": (status(Broken.NO_OUTPUT), "400", "422"),
    "a POST with an empty sdkOutput gets": (empty, "400", "422"),
    "sdkInput in an answer's schema is": (
        lambda profile: "required" if "required" in answer(profile) else "optional",
        "required",
        "optional",
    ),
    "other fields in an answer's schema are": (
        lambda profile: "not " * ("additionalProperties" in answer(profile)) + "allowed",
        "allowed",
        "not allowed",
    ),
}
"""What a caller notices of the profile: how it is seen, in spec, and in field. Every other answer is the same."""


@rows("what", DIFFERENCES)
def test_a_difference_is_as_the_table_says(what):
    shown, spec, field = DIFFERENCES[what]
    assert (shown("spec"), shown("field")) == (spec, field)
    assert spec != field


def test_six_statuses_are_published_and_field_answers_the_operations_with_no_other():
    assert statuses("field") == "200 400 401 403 422 500"


def test_a_schema_is_put_into_words():
    one, two = {"a": {"type": "string"}}, {"a": {"type": "string"}, "b": {"type": "string", "minLength": 1}}
    closed = {"type": "object", "additionalProperties": False}
    assert describe_schema({"type": "object", "properties": one}) == "a JSON object with a"
    assert describe_schema(closed | {"properties": one, "required": ["a"]}) == "a JSON object with exactly one field, a"
    assert describe_schema(closed | {"properties": two}) == "a JSON object with no field other than a and b"
    assert [describe_schema(schema) for schema in two.values()] == ["a string", "a string that is not empty"]
