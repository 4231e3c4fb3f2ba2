"""Many worlds behind one address: what one key does, no other key sees; and no key is ever shown."""

import json
import sys
from base64 import b64encode
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation import scenario as scenario_module
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Ending, Request
from workbook.simulation.scenario import Scenario, load
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver import mock as mock_module
from workbook.tools.mockserver.mock import MockServer

ID = INSTRUMENT_IDS[0]
CANARY = "SECRET-CANARY-4711"
DEFAULT = load("default")


def get(key, instrument=ID, header="x-api-key", **more):
    headers = () if key is None else ((header, key),)
    return Request("GET", f"{BEFORE_ID}{instrument}{AFTER_ID}", headers, **more)


def post(key, serial=1, seed=7, instrument=ID):
    output = Seal(seed).close(Content.OUTPUT, instrument, serial, attempt=1)
    headers = (("x-api-key", key), ("content-type", "application/json"))
    return Request("POST", get(key, instrument).target, headers, json.dumps({"sdkOutput": output}).encode())


def serial(response, seed=7):
    """The how-manieth of its kind a 200 is."""
    assert response.status == 200, response.body
    return Seal(seed).open(json.loads(response.body)["sdkInput"]).serial


def test_each_key_opens_its_own_instruments_roles_and_seed():
    server = MockServer("no-role")
    heard, refused = server.keys.values()
    states = server.add("every-instrument-state")
    other = server.add(replace(DEFAULT, seed=8))
    assert server.respond(get(refused)).status == 403
    assert server.respond(get(heard)).status == 200
    assert server.respond(get(states)).status == 422
    assert server.respond(get(states, "PISTATEACTIVE000000000001")).status == 200
    assert serial(server.respond(get(other)), seed=8) == 1
    assert [server.respond(post(other, seed=seed)).status for seed in (7, 8)] == [422, 200]


@pytest.mark.rule("API-4")
@pytest.mark.parametrize("request_", [get(None), get(""), get(CANARY), get(f"{CANARY} "), post(CANARY)])
def test_who_has_no_key_or_another_is_answered_as_a_service_answers(request_):
    server = MockServer(None)
    server.add(DEFAULT)
    assert server.respond(request_) == Service().respond(request_)
    assert server.respond(request_).status == 401


@pytest.mark.rule("API-4")
@pytest.mark.parametrize("header", ["x-api-key", "X-API-Key", "X-API-KEY", "x-Api-keY"])
def test_the_key_s_header_comes_in_any_case(header):
    server = MockServer(None)
    assert server.respond(get(server.add(DEFAULT), header=header)).status == 200


def test_a_reset_world_is_as_it_was_and_another_stays_as_it_is():
    server = MockServer(None)
    one, two = server.add(load("flaky-back-end")), server.add(DEFAULT)
    server.respond(get(two))
    statuses = [[server.respond(get(one)).status for _ in range(3)] for _ in range(2) if server.reset("w1") is None]
    assert statuses == [[200, 503, 200]] * 2
    assert serial(server.respond(get(two))) == 2


def test_faults_belong_to_one_world_and_latencies_add_to_them():
    server = MockServer(None)
    flaky, calm = server.add(load("flaky-back-end")), server.add(DEFAULT)
    late = server.respond(get(flaky))
    assert (late.fault, late.wire.before_headers) == ("latency", pytest.approx(3.1))
    cut = server.respond(post(flaky))
    assert (cut.wire.ending, cut.wire.before_headers) == (Ending.RESET, 0.1)
    again = server.respond(post(flaky))
    assert (again.status, again.basis[:6]) == (422, "GAP-3;")
    assert server.respond(get(calm)).wire.before_headers == 0


def test_a_key_may_open_another_scenario_from_its_beginning():
    server = MockServer(None, seed=8)
    key, other = server.add(DEFAULT), server.add(DEFAULT)
    journal = server.journal("w1")
    server.respond(get(key))
    server.scenario(DEFAULT, world="w1")
    assert (server.journal("w1") is journal, journal.count) == (True, 0)
    assert serial(server.respond(get(key)), seed=8) == 1
    server.scenario("every-instrument-state", world="w1")
    assert (server.respond(get(key)).status, server.respond(get(other)).status) == (422, 200)
    for wrong, world in ((DEFAULT, "w9"), (DEFAULT, "nobody"), (replace(DEFAULT, faults=({"fault": "rest"},)), "w1")):
        with pytest.raises((ConfigurationError, ParameterError)):
            server.scenario(wrong, world=world)
    assert (server.respond(get(key)).status, journal.count) == (422, 2)


def test_other_faults_are_played_from_now_on_and_nothing_is_forgotten():
    server = MockServer(None)
    key = server.add(load("flaky-back-end"))
    server.faults({"fault": "503 that says 500", "operation": "GET", "nth": 2})
    statuses = [server.respond(request).status for request in (post(key), get(key), get(key), post(key))]
    assert statuses == [200, 200, 503, 422]
    with pytest.raises(ConfigurationError, match="No fault 'rest'"):
        server.faults({"fault": "rest"})
    with pytest.raises(ConfigurationError, match="1: it is no table"):
        server.faults("reset")
    server.faults()
    assert serial(server.respond(get(key))) == 2
    server.reset()  # what was planned since is gone, what it was opened with is back
    assert server.respond(get(key)).fault == "latency"


# Keys


@pytest.mark.rule("REL-2")
def test_no_key_is_shown():
    server = MockServer(None)
    server.add(DEFAULT, CANARY)
    assert CANARY not in repr(server) + repr(server.named("w1")) + str(server.named("nobody"))
    with pytest.raises(ConfigurationError, match="opens a world already") as caught:
        server.add(DEFAULT, CANARY)
    assert CANARY not in str(caught.value)


@given(st.lists(st.tuples(st.sampled_from(["get", "post", "reset", "add"]), st.integers(0, 3), st.integers(0, 3))))
def test_worlds_are_as_so_many_services_of_their_own(steps):
    server, alone = MockServer(None), {}
    for what, key, number in steps:
        name = f"key-{key}"
        if what == "add" and name not in alone:
            server.add(DEFAULT, name)
            alone[name] = Service(DEFAULT.world(api_key=name))
        elif what == "reset" and name in alone:
            server.reset(f"w{[*alone].index(name) + 1}")
            alone[name] = Service(DEFAULT.world(api_key=name))
        else:
            request = post(name, number) if what == "post" else get(name)
            assert server.respond(request) == alone.get(name, Service()).respond(request)


@pytest.fixture
def hasty():
    """Threads that are interrupted as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_threads_take_turns_so_that_everything_is_counted_once():
    server = MockServer(None)
    nth = {"fault": "503 that says 500", "nth": 150}
    key = server.add(replace(DEFAULT, faults=(nth,)))
    answers = []

    def ask():
        answers.extend(server.respond(get(key)) for _ in range(100))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers].count(503) == 1
    assert {serial(answer) for answer in answers if answer.status == 200} == {*range(1, 400)}


def test_who_is_reset_while_faults_are_planned_is_not_what_it_was_before(monkeypatch):
    server = MockServer(None)
    key = server.add(DEFAULT)
    server.respond(get(key))
    thread = Thread(target=server.reset)

    def plan(*tables, **named):
        if thread.ident is None:
            thread.start()
            thread.join(0.1)  # it has to wait until the faults are planned
        return scenario_module.plan(*tables, **named)

    monkeypatch.setattr(mock_module, "plan", plan)
    server.faults()
    thread.join()
    assert server.named().service.memory == {}


def test_a_key_that_is_said_in_another_way_opens_its_world_where_the_profile_takes_it():
    server = MockServer(None)
    keys = {profile: server.add(Scenario("x", profile=profile)) for profile in ("spec", "field")}
    target = f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}"
    for profile, status in (("spec", 401), ("field", 200)):
        basic = b64encode(f"anybody:{keys[profile]}".encode()).decode()
        in_query = Request("GET", f"{target}?clientKey={keys[profile]}", (("content-type", "application/json"),))
        in_basic = Request("GET", target, (("authorization", f"Basic {basic}"), ("content-type", "application/json")))
        for request in (in_query, in_basic):
            assert server.respond(request).status == status
            assert keys[profile] not in server.respond(request).body.decode()


def test_whoever_has_no_key_is_refused_in_the_profile_of_the_first_world():
    nameless = Request("GET", f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}", ())
    for profile, told in (("spec", False), ("field", True)):
        server = MockServer(None)
        assert server.respond(nameless).status == 401
        server.add(Scenario("x", profile=profile))
        refused = server.respond(nameless)
        assert (refused.status, b"requestId" in refused.body) == (401, told)


# Names


@pytest.mark.rule("REL-2")
def test_each_world_has_a_journal_under_a_name_that_says_nothing_of_its_key():
    server = MockServer(None)
    keys = [server.add(DEFAULT) for _ in range(2)]
    for key in (*keys, keys[1], "opens nothing"):
        server.respond(get(key))
    counts = {"nobody": 1, "w1": 1, "w2": 2}
    assert {name: journal.count for name, journal in server.journals.items()} == counts
    assert [server.named(name).key for name in ("w1", "w2")] == keys
    server.reset("w2")
    assert {name: journal.count for name, journal in server.journals.items()} == counts | {"w2": 0}
    server.respond(get(keys[1]))
    assert server.journals["w2"].count == 1
    shown = "".join(
        repr(journal) + repr(journal.entries()) + journal.to_jsonl() for journal in server.journals.values()
    )
    assert not any(key in shown for key in (*keys, "opens nothing"))
    server.reset("nobody")
    assert server.journals["nobody"].count == 0
    with pytest.raises(ConfigurationError, match="No key opens this world"):
        server.faults(world="nobody")


@pytest.mark.rule("REL-2")
def test_a_key_of_another_world_is_not_kept_either():
    server = MockServer(None)
    mine, theirs = server.add(DEFAULT), server.add(DEFAULT)
    target = f"{get(mine).target}/{theirs}"
    server.respond(Request("GET", target, (("x-api-key", mine), ("user-agent", theirs))))
    (entry,) = server.journals["w1"].entries()
    assert theirs not in repr([getattr(entry, name) for name in type(entry).__slots__])
    assert entry.key_in == ("target", "headers")
