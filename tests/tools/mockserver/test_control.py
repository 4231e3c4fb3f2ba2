"""The control API: nothing without its token, everything with it, and an explanation of whatever was asked wrongly."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.http import AFTER_ID, BEFORE_ID, MAX_BODY, Request, Response
from workbook.simulation.scenario import load
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.mockserver.serve import ENDPOINTS, PREFIX, Control

ID = INSTRUMENT_IDS[0]
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
TOKEN = "CONTROL-0123456789abcdef"
BEARER = ("Authorization", f"Bearer {TOKEN}")
CANARY = "CANARY-7f3a9c51e0b24d68-KEY"
CARD = "CANARYCARDDATA4929000000006Aa"


def asked(method, name, body=None, headers=(BEARER,)):
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Request(method, f"{PREFIX}{name}", tuple(headers), data)


def called(key=SIMULATED_KEY, method="GET", body=b""):
    return Request(method, PATH, (("x-api-key", key), ("content-type", "application/json")), body)


def guarded(server):
    """A control API with a token that the tests know."""
    control = Control(server)
    control.token = TOKEN
    return control


class Stand:
    """A mock server with two worlds, and the control API of both."""

    def __init__(self):
        self.server = MockServer(None)
        for key in (CANARY, SIMULATED_KEY):
            self.server.add(load("default"), key)
        self.journals = self.server.journals
        self.control = guarded(self.server)

    def ask(self, method, name, body=None):
        return self.control.respond(asked(method, name, body))

    def told(self, method, name, body=None, status=200):
        response = self.ask(method, name, body)
        assert response.status == status, response.body
        return json.loads(response.body)

    def refused(self, method, name, body=None, status=400):
        response = self.ask(method, name, body)
        document = json.loads(response.body)
        assert (response.status, document["status"]) == (status, status)
        assert dict(response.headers)["content-type"] == "application/json"
        return document["detail"]


@pytest.fixture
def stand():
    return Stand()


STRANGERS = {
    "nothing": (),
    "an empty one": (("authorization", ""),),
    "another token": (("authorization", "Bearer CONTROL-0123456789abcdeF"),),
    "no scheme": (("authorization", TOKEN),),
    "another scheme": (("authorization", f"Basic {TOKEN}"),),
    "only the start": (("authorization", f"Bearer {TOKEN[:-1]}"),),
    "odd characters": (("authorization", "Bearer \xff\u20ac\ud800"),),
    "the API key": (("authorization", f"Bearer {SIMULATED_KEY}"), ("x-api-key", SIMULATED_KEY)),
    "the token elsewhere": (("x-api-key", TOKEN),),
}
ANYTHING = [
    ("GET", ""),
    ("GET", "journal"),
    ("GET", f"journal?token={TOKEN}"),
    ("POST", "faults"),
    ("DELETE", "reset"),
    ("GET", "nothing"),
    ("GET", "../../bcl"),
]


@pytest.mark.parametrize("who", STRANGERS)
def test_without_the_token_everything_is_answered_alike(stand, who):
    answers = {stand.control.respond(asked(method, name, b"{", STRANGERS[who])) for method, name in ANYTHING}
    (response,) = answers
    assert response.status == 401
    assert dict(response.headers)["www-authenticate"] == "Bearer"
    assert stand.control.respond(asked("GET", "", headers=STRANGERS[who])) == response
    assert TOKEN.encode() not in response.body


def test_the_scheme_comes_in_any_case(stand):
    for scheme in ("Bearer", "bearer", "BEARER"):
        headers = (("AUTHORIZATION", f"{scheme} {TOKEN}"),)
        assert stand.control.respond(asked("GET", "", headers=headers)).status == 200


def test_the_token_stands_in_no_repr(stand):
    assert TOKEN not in str(stand.control) + repr(stand.server)


def test_the_index_lists_the_worlds_and_every_endpoint(stand):
    for name in ("", "/"):
        told = stand.told("GET", name)
        assert told["worlds"] == ["nobody", "w1", "w2"]
        listed = [(one["method"], one["path"]) for one in told["endpoints"]]
        assert listed == [(one.method, PREFIX + one.name) for one in ENDPOINTS]
    without_slash = Request("GET", PREFIX.rstrip("/"), (BEARER,))
    assert stand.control.respond(without_slash).status == 200


def test_everything_in_the_index_can_be_asked_for_with_the_body_that_it_shows(stand):
    for one in stand.told("GET", "")["endpoints"]:
        body = re.search(r"[\[{].*?[}\]]+(?=[.,])", one["does"])
        request = Request(one["method"], f"{one['path']}?world=w2", (BEARER,), body[0].encode() if body else b"")
        assert stand.control.respond(request).status == 200


def test_what_is_not_there_is_answered_with_what_is(stand):
    assert "Did you mean 'journal'?" in stand.refused("GET", "jurnal", status=404)
    assert "Did you mean 'faults'?" in stand.refused("POST", "fault", status=404)
    assert "Known: faults, journal, reset, scenario." in stand.refused("GET", "zzz", status=404)
    elsewhere = stand.control.respond(Request("GET", PATH, (BEARER,)))
    assert elsewhere.status == 404
    response = stand.ask("GET", "reset")
    assert (response.status, dict(response.headers)["allow"]) == (405, "POST")


def test_a_world_is_meant_by_its_name_and_need_not_be_where_there_is_one(stand):
    stand.server.respond(called(CANARY))
    assert stand.told("GET", "journal?world=w1")["count"] == 1
    assert stand.told("GET", "journal?world=w2")["count"] == 0
    assert "Known: nobody, w1, w2." in stand.refused("GET", "journal")
    assert "world=NAME" in stand.refused("GET", f"journal?world={CANARY}")
    assert CANARY not in stand.refused("GET", f"journal?world={CANARY}")
    assert guarded(MockServer()).respond(asked("GET", "journal")).status == 200


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("wrld=w1", "There is no such parameter. Did you mean 'world'?"),
        ("world=w1&after=-1", "The parameter after is the number of an entry."),
        ("world=w1&after=9999999999", "The parameter after is the number of an entry."),
        ("&".join(f"a{number}=1" for number in range(50)), "There is no such parameter."),
    ],
)
def test_a_wrong_query_is_explained(stand, query, told):
    assert told in stand.refused("GET", f"journal?{query}")


def test_the_journal_comes_as_json(stand):
    for request in (called(), called(method="POST", body=b"x"), called()):
        stand.server.respond(request)
    told = stand.told("GET", "journal?world=w2")
    assert (told["count"], [one["number"] for one in told["entries"]]) == (3, [1, 2, 3])
    entries = [json.loads(line) for line in stand.server.journal("w2").to_jsonl().splitlines()]
    assert [one | entry for one, entry in zip(told["entries"], entries, strict=True)] == told["entries"]


@pytest.mark.rule("REL-2", "REL-3")
def test_no_answer_holds_a_key_or_card_data(stand):
    posted = called(CANARY, "POST", json.dumps({"sdkOutput": CARD}).encode())
    odd = Request("GET", f"/{CANARY}?{CARD}", (("x-api-key", CANARY), ("cookie", CARD), ("x-a", CARD)), CARD.encode())
    for request in (posted, odd):
        stand.server.respond(request)
    answers = [
        stand.ask("GET", ""),
        stand.ask("GET", "journal?world=w1"),
        stand.ask("POST", "reset?world=w1"),
        stand.ask("POST", f"faults?world={CANARY}", {CARD: CANARY}),
        stand.ask("POST", f"{CARD}?{CANARY}={CANARY}", CARD.encode()),
        stand.ask("PUT", "scenario?world=w1", {"name": f"{CARD}/"}),
    ]
    told = b"\n".join(one.body + repr(one.headers).encode() for one in answers)
    assert len(told) > 4_000
    assert not any(secret.encode() in told for secret in (CANARY, CARD, TOKEN))


def test_a_body_that_is_too_large_is_not_read(stand):
    stand.refused("POST", "faults?world=w2", b" " * (MAX_BODY + 1), status=413)


def test_a_reset_empties_the_journal_and_makes_the_world_anew(stand):
    for key in (CANARY, SIMULATED_KEY):
        stand.server.respond(called(key))
    assert stand.told("POST", "reset?world=w2") == {"world": "w2", "reset": True}
    assert [journal.count for journal in stand.journals.values()] == [0, 1, 0]
    assert stand.server.named("w2").service.memory == {}
    stand.told("POST", "reset?world=w1")
    assert [journal.count for journal in stand.journals.values()] == [0, 0, 0]


def test_faults_and_scenarios_are_handed_on(stand):
    tables = [{"fault": "reset", "nth": 1}, {"fault": "400"}]
    assert stand.told("POST", "faults?world=w1", tables) == {"world": "w1", "faults": 2}
    assert [stand.server.respond(called(CANARY)).fault for _ in range(2)] == ["reset", "400"]
    assert stand.told("POST", "faults?world=w1", []) == {"world": "w1", "faults": 0}
    assert stand.server.respond(called(CANARY)).fault == ""
    assert stand.told("PUT", "scenario?world=w2", {"name": "class-room"}) == {"world": "w2", "scenario": "class-room"}
    assert stand.server.named("w2").world.name == "class-room"
    told = stand.told("PUT", "scenario?world=w2", {"toml": 'title = "Mine"\n'})
    assert (told, stand.server.named("w2").world.name) == ({"world": "w2", "scenario": "from TOML"}, "yours")


@pytest.mark.parametrize(
    ("method", "name", "body"),
    [
        ("POST", "faults", {}),
        ("POST", "faults", ["reset"]),
        ("POST", "faults", [{}] * 1001),
        ("PUT", "scenario", {}),
        ("PUT", "scenario", {"name": "a", "toml": "b"}),
        ("PUT", "scenario", {"name": 7}),
        ("PUT", "scenario", {"name": ""}),
        ("PUT", "scenario", {"name": "../../etc/passwd"}),
        ("PUT", "scenario", {"name": "/etc/passwd"}),
        ("PUT", "scenario", {"file": "a"}),
        ("PUT", "scenario", []),
    ],
)
def test_what_cannot_be_handed_on_is_refused(stand, method, name, body):
    stand.refused(method, f"{name}?world=w1", body)
    opened = stand.server.named("w1")
    assert (opened.faults, opened.world.name) == ((), "default")


def test_what_the_mock_server_refuses_is_passed_on_in_its_words(stand):
    stand.server.respond(called())
    told = stand.refused("POST", "faults?world=w2", [{"fault": "rest"}])
    assert told == "default: [[fault]] 1: No fault 'rest'. Did you mean 'reset'?"
    assert "Did you mean 'class-room'?" in stand.refused("PUT", "scenario?world=w2", {"name": "class-rom"})
    told = stand.refused("PUT", "scenario?world=w2", {"toml": "titel = 1"})
    assert "the request: 1 mistake.\n  titel: there is no such key" in told
    assert stand.journals["w2"].count == 1


VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists)
BODIES = st.binary() | VALUES.map(lambda value: json.dumps(value).encode())
NAMES = st.sampled_from([one.name for one in ENDPOINTS]) | st.text()
QUERIES = st.sampled_from(["", "?world=w1", "?world=w1&after=2"]) | st.text().map(lambda text: f"?{text}")
METHODS = st.sampled_from(["GET", "POST", "PUT", "DELETE"])


@given(METHODS, NAMES, QUERIES, BODIES)
def test_whatever_is_asked_is_answered_with_json(method, name, query, body):
    server = MockServer()
    server.respond(called(next(iter(server.keys.values()))))
    response = guarded(server).respond(asked(method, name + query, body))
    assert isinstance(response, Response)
    document = json.loads(response.body)
    assert response.status == 200 or document["detail"]
