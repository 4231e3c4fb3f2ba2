"""Odd requests, in both profiles: what each of them says, and that nothing of it is repeated."""

import json
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.simulation.contract import CONTRACTS, SPEC, Broken, Contract
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Refused, Service, all_keys_in, key_in
from workbook.simulation.world import Credential, Instrument, World

KEY = "CANARY-key-0123456789"
OTHER = "OTHER-key-0123456789"
ID = "PI.1-2_3~4"
SLASH = "a/b"
CARDS = {one: Instrument(one) for one in (ID, SLASH, "..", "%zz")}
WORLDS = {name: World(CARDS, {KEY: Credential(), OTHER: Credential()}, profile=name) for name in CONTRACTS}
HEADER = ("x-api-key", KEY)
JSON = ("content-type", "application/json")
SEAL = Seal(7)


def target(encoded=ID, query=""):
    return f"{BEFORE_ID}{encoded}{AFTER_ID}{query}"


def get(encoded=ID, headers=(HEADER, JSON), query=""):
    return Request("GET", target(encoded, query), tuple(headers))


def output(owner=ID):
    return SEAL.close(Content.OUTPUT, owner, 1, attempt=1)


def post(body=None, headers=(HEADER, JSON), query=""):
    good = json.dumps({"sdkOutput": output()}).encode()
    return Request("POST", target(query=query), tuple(headers), good if body is None else body)


def typed(*values):
    return post(headers=[HEADER, *(("content-type", value) for value in values)])


def basic(said, scheme="Basic"):
    return ("Authorization", f"{scheme} {b64encode(said.encode()).decode()}")


def client_key(key, query="clientKey="):
    return f"?{query}{key}"


ANSWERS = {
    # the key (API-4); that of two different ones none counts, and that one said twice counts once, is assumed
    "the key twice": (get(headers=[HEADER, ("X-API-KEY", KEY)]), 200, 200),
    "the key and another": (get(headers=[HEADER, ("X-Api-Key", OTHER)]), 401, 401),
    "another and the key": (get(headers=[("X-Api-Key", OTHER), HEADER]), 401, 401),
    "the key and an empty one": (get(headers=[HEADER, ("x-api-key", "")]), 401, 401),
    "an empty key": (get(headers=[("x-api-key", "")]), 401, 401),
    "two keys in one header": (get(headers=[("x-api-key", f"{KEY}, {KEY}")]), 401, 401),
    "HTTP basic": (get(headers=[basic(f"user:{KEY}")]), 401, 200),
    "HTTP basic without a user": (get(headers=[basic(f":{KEY}")]), 401, 200),
    "HTTP basic in capitals": (get(headers=[basic(f"user:{KEY}", "BASIC")]), 401, 200),
    "HTTP basic, the key as user": (get(headers=[basic(f"{KEY}:")]), 401, 401),
    "HTTP basic without a colon": (get(headers=[basic(KEY)]), 401, 401),
    "HTTP basic, not base64": (get(headers=[("authorization", f"Basic {KEY}")]), 401, 401),
    "HTTP basic, not UTF-8": (get(headers=[("authorization", "Basic " + b64encode(b"\xff:\xff").decode())]), 401, 401),
    "a bearer": (get(headers=[("authorization", f"Bearer {KEY}")]), 401, 401),
    "the key, and a bearer beside it": (get(headers=[HEADER, ("authorization", "Bearer x")]), 200, 200),
    "the key, and the same as basic": (get(headers=[HEADER, basic(f"user:{KEY}")]), 200, 200),
    "the key, and another as basic": (get(headers=[HEADER, basic(f"user:{OTHER}")]), 200, 401),
    "clientKey": (get(headers=[], query=client_key(KEY)), 401, 200),
    "clientKey, percent-encoded": (get(headers=[], query=client_key("%43" + KEY[1:])), 401, 200),
    "clientKey twice": (get(headers=[], query=client_key(KEY) + f"&clientKey={KEY}"), 401, 200),
    "clientKey and another": (get(headers=[], query=client_key(KEY) + f"&clientKey={OTHER}"), 401, 401),
    "clientKey in another case": (get(headers=[], query=client_key(KEY, "clientkey=")), 401, 401),
    "clientKey beside the key": (get(query=client_key(KEY)), 400, 200),
    "clientKey and more": (get(query=client_key(KEY) + "&a=b"), 400, 400),
    "an empty clientKey": (get(headers=[], query=client_key("")), 401, 401),
    "clientKey of a POST": (post(headers=[JSON], query=client_key(KEY)), 401, 200),
    # the query: the GET has none (API-5); what the POST's may hold is not shown, so it is not looked at (assumed)
    "a question mark alone": (get(query="?"), 200, 200),
    "an ampersand alone": (get(query="?&"), 400, 200),
    "a query of a POST": (post(query="?a=b"), 200, 200),
    # content-type of the POST (API-4); its charset means nothing to JSON (RFC 8259)
    "content-type with a charset": (typed("application/json; charset=utf-8"), 200, 200),
    "content-type with another charset": (typed("application/json;charset=ISO-8859-1"), 200, 200),
    "content-type in capitals": (typed("APPLICATION/JSON"), 200, 200),
    "content-type twice": (typed("application/json", "application/json; charset=utf-8"), 200, 200),
    "content-type and another": (typed("application/json", "text/plain"), 400, 400),
    "content-types in one header": (typed("application/json, application/json"), 400, 400),
    "content-type of a dialect": (typed("application/problem+json"), 400, 400),
    "an empty content-type": (typed(""), 400, 400),
    # the body (API-6)
    "a byte-order mark": (post(b"\xef\xbb\xbf" + post().body), 400, 400),
    "a field twice": (post(b'{"sdkOutput": "a", "sdkOutput": "b"}'), 400, 400),
    "a field twice, once escaped": (post(b'{"sdkOutput": "a", "sdkOutpu\\u0074": "b"}'), 400, 400),
    "NaN": (post(b'{"sdkOutput": NaN}'), 400, 400),
    "-Infinity": (post(b'{"sdkOutput": -Infinity}'), 400, 400),
    "a huge whole number": (post(b'{"sdkOutput": ' + b"9" * 5_000 + b"}"), 400, 400),
    "a huge fraction": (post(b'{"sdkOutput": 1e999999999}'), 400, 400),
    "half a surrogate pair": (post(b'{"sdkOutput": "\\ud800"}'), 422, 422),
    "half a surrogate pair as a name": (post(b'{"\\ud800": 1}'), 400, 400),
    "a null character": (post(b'{"sdkOutput": "\\u0000"}'), 422, 422),
    "a raw control character": (post(b'{"sdkOutput": "\n"}'), 400, 400),
    "nested deep": (post(b"[" * 200_000), 400, 400),
    "nested deep in the field": (post(b'{"sdkOutput":' * 50_000), 400, 400),
    "something after the end": (post(post().body + b"{}"), 400, 400),
    "single quotes": (post(b"{'sdkOutput': 'x'}"), 400, 400),
    "no field": (post(b"{}"), 400, 422),
    "an empty field": (post(b'{"sdkOutput": ""}'), 400, 422),
    "a null": (post(b'{"sdkOutput": null}'), 400, 400),
    "another field beside none": (post(b'{"output": "x"}'), 400, 400),
    "the key as a field": (post(json.dumps({KEY: KEY}).encode()), 400, 400),
    # the id (API-3): one segment, decoded once; what is no id is an unknown one (assumed)
    "an id with dots": (get("PI%2E1-2_3~4"), 200, 200),
    "an id of dots": (get(".."), 200, 200),
    "an id of encoded dots": (get("%2e%2E"), 200, 200),
    "an encoded slash": (get("a%2Fb"), 200, 200),
    "an encoded slash in small letters": (get("a%2fb"), 200, 200),
    "a slash": (get("a/b"), 404, 404),
    "encoded twice": (get("a%252Fb"), 422, 422),
    "an escape that is none": (get("%zz"), 200, 200),
    "half an escape": (get("PI%2"), 422, 422),
    "a percent sign": (get("%"), 422, 422),
    "not UTF-8": (get("%ff"), 422, 422),
    "overlong UTF-8": (get("a%c0%afb"), 422, 422),
    "a null byte": (get(f"{ID}%00"), 422, 422),
    "a blank": (get(f"{ID}%20"), 422, 422),
    "a plus": (get(f"{ID}+"), 422, 422),
    "a very long id": (get("P" * 60_000), 422, 422),
    "a very long encoded id": (get("%50" * 20_000), 422, 422),
}
"""Requests, and the statuses in spec and in field."""


@pytest.mark.rule("API-3", "API-4", "API-5", "API-6")
@rows("profile", CONTRACTS)
@rows("name", ANSWERS)
def test_an_odd_request_is_answered_as_decided_and_nothing_of_it_is_repeated(name, profile):
    request, *statuses = ANSWERS[name]
    answer = Service(WORLDS[profile]).respond(request)
    assert answer.status == statuses[list(CONTRACTS).index(profile)], answer.body
    assert KEY.encode() not in answer.body
    assert len(answer.body) < 1_000
    assert KEY not in answer.basis


def detail(profile, request):
    return json.loads(Service(WORLDS[profile]).respond(request).body)["detail"]


@pytest.mark.rule("API-4")
@pytest.mark.parametrize(
    ("name", "where"),
    [("HTTP basic", "authorization"), ("clientKey", "clientKey"), ("clientKey of a POST", "clientKey")],
)
def test_in_spec_a_key_in_another_place_is_refused_with_a_sentence(name, where):
    assert detail("spec", ANSWERS[name][0]) == (
        f"The header x-api-key is missing. Send it with every request. This profile does not accept a key in {where}."
    )


def test_in_field_every_way_is_named_where_there_is_no_key():
    told = detail("field", get(headers=[]))
    assert told == (
        "The API key is missing. Send the header x-api-key with every request, or one of: authorization (basic), "
        "clientKey (query)."
    )


@pytest.mark.parametrize("name", ["HTTP basic", "clientKey", "clientKey of a POST"])
def test_an_answer_to_a_key_that_only_the_published_ways_allow_says_so(name):
    assert "key: openapi" in Service(WORLDS["field"]).respond(ANSWERS[name][0]).basis
    assert "key:" not in Service(WORLDS["field"]).respond(get()).basis


def test_every_way_is_known_whether_it_is_taken_or_not():
    request = get(headers=[("x-api-key", "one"), basic("user:two"), ("authorization", "Bearer x")], query="?clientKey=")
    assert all_keys_in(request, SPEC) == all_keys_in(request, CONTRACTS["field"]) == ("one", "two")


PLACES = st.lists(
    st.sampled_from([HEADER, ("X-API-KEY", OTHER), ("x-api-key", ""), basic(f":{KEY}"), basic(f":{OTHER}"), basic("")])
    | st.tuples(st.sampled_from(["Authorization", "x-api-key"]), st.text(max_size=12)),
    max_size=4,
)
QUERIES = st.sampled_from(["", f"clientKey={KEY}", f"clientKey={OTHER}", "clientKey=", "a=b&clientKey"]) | st.text()


def found(request, query, contract):
    """The key and its way, or which check failed."""
    try:
        return key_in(request, query, contract)
    except Refused as refused:
        return refused.broken


@pytest.mark.rule("API-4")
@given(PLACES, QUERIES, st.sampled_from(list(CONTRACTS.values())))
def test_a_key_is_found_only_where_all_that_say_one_agree(headers, query, contract):
    request = Request("GET", target(query=f"?{query}"), tuple(headers))
    taken = Contract(contract.document)
    match found(request, query, contract):
        case Broken.NO_KEY:
            assert all_keys_in(request, taken) == ()
        case Broken.SEVERAL_KEYS:
            assert all_keys_in(request, taken)
        case (key, way):
            assert way in contract.key_places
            assert set(all_keys_in(request, taken)) == {key}


INVALID = {
    "no object": (b"[]", [("body", "an array")]),
    "not JSON": (b"x", [("body", "not JSON")]),
    "a number": (b'{"sdkOutput": 4929000000006}', [("sdkOutput", "a number")]),
    "a null": (b'{"sdkOutput": null}', [("sdkOutput", "null")]),
    "an object": (b'{"sdkOutput": {"a": 1}}', [("sdkOutput", "an object")]),
    "true": (b'{"sdkOutput": true}', [("sdkOutput", "a boolean")]),
    "another case": (b'{"sdkoutput": "4929"}', [("sdkoutput", "a string")]),
    "two more": (
        b'{"sdkOutput": "x", "a4929": 1.5, "b": []}',
        [("another field", "a number"), ("another field", "an array")],
    ),
    "a field twice": (b'{"a": 1, "a": 2}', [("body", "an object")]),
}


@rows("name", INVALID)
def test_in_field_each_wrong_field_is_named_and_no_value_is_repeated(name):
    body, told = INVALID[name]
    answer = Service(WORLDS["field"]).respond(post(body))
    document = json.loads(answer.body)
    assert [(one["name"], one["value"]) for one in document["invalidFields"]] == told
    assert all(list(one) == ["name", "value", "message"] and one["message"] for one in document["invalidFields"])
    assert b"4929" not in answer.body
    assert "invalidFields: openapi; their values: assumed" in answer.basis
    assert "invalidFields" not in json.loads(Service(WORLDS["spec"]).respond(post(body)).body)


def test_in_spec_a_field_that_is_missing_is_named_by_the_sentence():
    assert detail("spec", post(b"{}")) == "The body must be a JSON object with exactly one field, sdkOutput."
    assert detail("field", post(b'{"a": 1}')) == "The body must be a JSON object with no field other than sdkOutput."
