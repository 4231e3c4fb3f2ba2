"""Many worlds behind one address: what one key does, no other key sees; and no key is ever shown."""

import json
import sys
from base64 import b64encode
from dataclasses import replace
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.base.rules import rule
from workbook.errors import ConfigurationError, ParameterError
from workbook.simulation import scenario as scenario_module
from workbook.simulation.http import AFTER_ID, BASIS_HEADER, BEFORE_ID, Ending, Request
from workbook.simulation.scenario import Scenario, load, parse
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World
from workbook.tools.mockserver import mock as worlds_module
from workbook.tools.mockserver.mock import Worlds

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


def test_each_key_opens_a_world_with_a_memory_of_its_own():
    worlds = Worlds()
    one, two = worlds.add(DEFAULT), worlds.add(DEFAULT)
    assert [serial(worlds.respond(get(one))) for _ in range(3)] == [1, 2, 3]
    assert serial(worlds.respond(get(two))) == 1
    assert [worlds.respond(post(key)).status for key in (one, two, one)] == [200, 200, 422]


def test_each_key_opens_its_own_instruments_roles_and_seed():
    worlds = Worlds()
    heard, refused = worlds.add_each(load("no-role")).values()
    states = worlds.add(load("every-instrument-state"))
    other = worlds.add(DEFAULT, seed=8)
    assert worlds.respond(get(refused)).status == 403
    assert worlds.respond(get(heard)).status == 200
    assert worlds.respond(get(states)).status == 422
    assert worlds.respond(get(states, "PISTATEACTIVE000000000001")).status == 200
    assert serial(worlds.respond(get(other)), seed=8) == 1
    assert [worlds.respond(post(other, seed=seed)).status for seed in (7, 8)] == [422, 200]


@pytest.mark.rule("API-4")
@pytest.mark.parametrize("request_", [get(None), get(""), get(CANARY), get(f"{CANARY} "), post(CANARY)])
def test_who_has_no_key_or_another_is_answered_as_a_service_answers(request_):
    worlds = Worlds()
    worlds.add(DEFAULT)
    assert worlds.respond(request_) == Service().respond(request_)
    assert worlds.respond(request_).status == 401


@pytest.mark.parametrize("request_", [get(None, "a/b"), replace(get(CANARY), method="PUT"), Request("GET", "/", ())])
def test_a_path_that_is_none_is_told_before_the_key_as_by_a_service(request_):
    assert Worlds().respond(request_) == Service().respond(request_)


@pytest.mark.rule("API-4")
@pytest.mark.parametrize("header", ["x-api-key", "X-API-Key", "X-API-KEY", "x-Api-keY"])
def test_the_key_s_header_comes_in_any_case(header):
    worlds = Worlds()
    assert worlds.respond(get(worlds.add(DEFAULT), header=header)).status == 200


def test_of_two_keys_in_one_request_the_first_counts_as_for_a_service():
    worlds = Worlds()
    key = worlds.add(DEFAULT)
    both = Request("GET", get(key).target, (("x-api-key", "nobody's"), ("x-api-key", key)))
    assert worlds.respond(both).status == 401


def test_a_fresh_key_is_long_and_never_the_same():
    worlds = Worlds()
    keys = [worlds.add(DEFAULT) for _ in range(50)]
    assert len(set(keys)) == len(worlds) == 50
    assert all(key.startswith("SIMULATED-") and len(key) > 30 and key in worlds for key in keys)
    assert worlds.keys == tuple(keys)


def test_a_world_keeps_its_roles_under_its_new_key_and_no_longer_knows_the_old_one():
    worlds = Worlds()
    key = worlds.add(World(credentials={SIMULATED_KEY: Credential(frozenset())}))
    assert worlds.respond(get(key)).status == 403
    assert worlds.respond(get(SIMULATED_KEY)).status == 401
    assert worlds.respond(get(worlds.add(World(credentials={}, seed=3), seed=4))).status == 200


def test_a_reset_world_is_as_it_was_and_another_stays_as_it_is():
    worlds = Worlds()
    one, two = worlds.add(load("flaky-back-end")), worlds.add(DEFAULT)
    worlds.respond(get(two))
    statuses = [[worlds.respond(get(one)).status for _ in range(3)] for _ in range(2) if worlds.reset(one) is None]
    assert statuses == [[200, 503, 200]] * 2
    assert serial(worlds.respond(get(two))) == 2


def test_faults_belong_to_one_world_and_latencies_add_to_them():
    worlds = Worlds()
    flaky, calm = worlds.add(load("flaky-back-end")), worlds.add(DEFAULT)
    late = worlds.respond(get(flaky))
    assert (late.fault, late.wire.before_headers) == ("latency", pytest.approx(3.1))
    cut = worlds.respond(post(flaky))
    assert (cut.wire.ending, cut.wire.before_headers) == (Ending.RESET, 0.1)
    again = worlds.respond(post(flaky))
    assert (again.status, again.basis[:6]) == (422, "GAP-3;")
    assert worlds.respond(get(calm)).wire.before_headers == 0


def test_a_fault_that_is_none_adds_nothing():
    worlds = Worlds()
    with pytest.raises(ConfigurationError, match=r"mine: \[\[fault\]\] 1: No fault 'rest'"):
        worlds.add(Scenario("mine", faults=({"fault": "rest"},)))
    assert len(worlds) == 0


def test_two_runs_give_the_same_bytes():
    def run():
        worlds = Worlds()
        key = worlds.add(load("flaky-back-end"), "the-same")
        return [worlds.respond(request) for number in range(20) for request in (get(key), post(key, number))]

    assert run() == run()


def test_a_key_may_open_another_world_from_its_beginning():
    worlds = Worlds()
    key, other = worlds.add(DEFAULT), worlds.add(DEFAULT)
    worlds.respond(get(key))
    worlds.open(key, load("no-role"), credential="back end", seed=8)
    assert serial(worlds.respond(get(key)), seed=8) == 1
    worlds.open(key, load("no-role"))
    assert (worlds.respond(get(key)).status, worlds.respond(get(other)).status) == (403, 200)
    assert worlds.keys == (key, other)
    for wrong in ("nobody's", key):
        with pytest.raises(ConfigurationError):
            worlds.open(wrong, DEFAULT, credential="none")
    assert worlds.respond(get(key)).status == 403


def test_other_faults_are_played_from_now_on_and_nothing_is_forgotten():
    worlds = Worlds()
    key = worlds.add(load("flaky-back-end"))
    worlds.fault(key, ({"fault": "503 that says 500", "operation": "GET", "nth": 2},))
    assert [worlds.respond(request).status for request in (post(key), get(key), get(key), post(key))] == [
        200,
        200,
        503,
        422,
    ]
    with pytest.raises(ConfigurationError, match="No fault 'rest'"):
        worlds.fault(key, ({"fault": "rest"},))
    worlds.fault(key, ())
    assert serial(worlds.respond(get(key))) == 2
    worlds.reset(key)
    assert (
        worlds.respond(get(key)).fault == "latency"
    )  # what was planned since is gone, what it was opened with is back


# Test mode


@pytest.mark.parametrize("ask", [get, post, lambda key: get(None), lambda key: Request("GET", "/", ())])
def test_in_test_mode_every_answer_says_what_it_rests_on(ask):
    worlds = Worlds(basis_header=True)
    plain = Worlds()
    shown, usual = (each.respond(ask(each.add(DEFAULT, "k"))) for each in (worlds, plain))
    assert (*usual.headers, (BASIS_HEADER, usual.basis)) == shown.headers
    assert usual.basis.isascii()
    assert replace(shown, headers=usual.headers) == usual
    assert all(rule(word) for word in usual.basis.replace(";", "").split() if word.startswith("API-"))


def test_in_test_mode_a_fault_says_so():
    worlds = Worlds(basis_header=True)
    key = worlds.add(load("flaky-back-end"))
    told = [dict(worlds.respond(get(key)).headers)[BASIS_HEADER] for _ in range(3)]
    assert ["fault: " in each for each in told] == [True, True, False]


# Around


def test_each_world_has_a_journal_of_its_own_and_a_fresh_one_after_a_reset():
    worlds = Worlds()
    one, two = worlds.add(DEFAULT), worlds.add(DEFAULT)
    for key in (one, one, two, "nobody's"):
        worlds.respond(get(key))
    places = [worlds.place(one), worlds.place(two), worlds.nobody]
    assert [place.journal.count for place in places] == [2, 1, 1]
    worlds.reset(one)
    assert worlds.place(one).journal.count == 0


# Keys


@pytest.mark.rule("REL-2")
def test_no_key_is_shown():
    worlds = Worlds()
    worlds.add(DEFAULT, CANARY)
    assert CANARY not in repr(worlds) + str(worlds.nobody) + repr(worlds.place(CANARY))
    for wrong in (lambda: worlds.add(DEFAULT, CANARY), lambda: Worlds().place(CANARY), lambda: Worlds().reset(CANARY)):
        with pytest.raises(ConfigurationError) as caught:
            wrong()
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize("wrong", ["", " ", "a b", "ü", "a\nb", "a\0", "x" * 1001, 7, b"key"])
def test_a_key_that_no_header_can_carry_is_refused(wrong):
    worlds = Worlds()
    with pytest.raises(ConfigurationError, match="cannot stand in a header"):
        worlds.add(DEFAULT, wrong)
    assert len(worlds) == 0


@pytest.mark.parametrize("call", ["place", "reset"])
def test_a_key_that_opens_nothing_is_told(call):
    with pytest.raises(ConfigurationError, match="No world has this key"):
        getattr(Worlds(), call)("a")


@given(st.lists(st.tuples(st.sampled_from(["get", "post", "reset", "add"]), st.integers(0, 3), st.integers(0, 3))))
def test_worlds_are_as_so_many_services_of_their_own(steps):
    worlds, alone = Worlds(), {}
    for what, key, number in steps:
        name = f"key-{key}"
        if what == "add" and name not in alone:
            worlds.add(DEFAULT, name)
            alone[name] = Service(DEFAULT.world(api_key=name))
        elif what == "reset" and name in alone:
            worlds.reset(name)
            alone[name] = Service(DEFAULT.world(api_key=name))
        else:
            request = post(name, number) if what == "post" else get(name)
            assert worlds.respond(request) == alone.get(name, Service()).respond(request)


def test_a_scenario_from_a_text_is_added_alike():
    worlds = Worlds()
    key = worlds.add(parse(b'[[instrument]]\nid = "mine"', name="x"))
    assert worlds.respond(get(key, "mine")).status == 200
    assert worlds.place(key).world.name == "x"


@pytest.fixture
def hasty():
    """Threads that are interrupted as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_threads_take_turns_so_that_everything_is_counted_once():
    worlds = Worlds()
    nth = {"fault": "503 that says 500", "nth": 150}
    key = worlds.add(replace(DEFAULT, faults=(nth,)))
    answers = []

    def ask():
        answers.extend(worlds.respond(get(key)) for _ in range(100))

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status for answer in answers].count(503) == 1
    assert {serial(answer) for answer in answers if answer.status == 200} == {*range(1, 400)}


def test_who_is_reset_while_faults_are_planned_is_not_what_it_was_before(monkeypatch):
    worlds = Worlds()
    key = worlds.add(DEFAULT)
    worlds.respond(get(key))
    thread = Thread(target=worlds.reset, args=(key,))

    def plan(*tables, **named):
        if thread.ident is None:
            thread.start()
            thread.join(0.1)  # it has to wait until the faults are planned
        return scenario_module.plan(*tables, **named)

    monkeypatch.setattr(worlds_module, "plan", plan)
    worlds.fault(key, ())
    thread.join()
    assert worlds.place(key).service.memory == {}


def test_a_key_that_is_said_in_another_way_opens_its_world_where_the_profile_takes_it():
    worlds = Worlds()
    keys = {profile: worlds.add(World(profile=profile)) for profile in ("spec", "field")}
    target = f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}"
    for profile, status in (("spec", 401), ("field", 200)):
        basic = b64encode(f"anybody:{keys[profile]}".encode()).decode()
        in_query = Request("GET", f"{target}?clientKey={keys[profile]}", (("content-type", "application/json"),))
        in_basic = Request("GET", target, (("authorization", f"Basic {basic}"), ("content-type", "application/json")))
        for request in (in_query, in_basic):
            assert worlds.opener(request) == keys[profile]
            assert worlds.respond(request).status == status
            assert keys[profile] not in worlds.respond(request).body.decode()


def test_whoever_has_no_key_is_refused_in_the_profile_of_the_first_world():
    nameless = Request("GET", f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}", ())
    for profile, told in (("spec", False), ("field", True)):
        worlds = Worlds()
        assert worlds.respond(nameless).status == 401
        worlds.add(World(profile=profile))
        refused = worlds.respond(nameless)
        assert (refused.status, b"requestId" in refused.body) == (401, told)


# Names


@pytest.mark.rule("REL-2")
def test_each_world_has_a_journal_under_a_name_that_says_nothing_of_its_key():
    worlds = Worlds()
    keys = [worlds.add(World()) for _ in range(2)]
    for key in (*keys, keys[1], "opens nothing"):
        worlds.respond(get(key))
    counts = {"nobody": 1, "w1": 1, "w2": 2}
    assert {name: journal.count for name, journal in worlds.journals.items()} == counts
    assert [worlds.key_of(worlds.named(name)) for name in ("w1", "w2")] == keys
    worlds.reset(keys[1])
    assert {name: journal.count for name, journal in worlds.journals.items()} == counts | {"w2": 0}
    worlds.respond(get(keys[1]))
    assert worlds.journals["w2"].count == 1
    shown = "".join(
        repr(journal) + repr(journal.entries()) + journal.to_jsonl() + json.dumps(journal.to_har())
        for journal in worlds.journals.values()
    )
    assert not any(key in shown for key in (*keys, "opens nothing"))
    with pytest.raises(ConfigurationError, match=r"Known: w1, w2\."):
        worlds.key_of(worlds.nobody)


def test_a_world_that_is_opened_anew_keeps_its_name_and_its_journal_which_starts_empty():
    worlds = Worlds()
    key = worlds.add(DEFAULT)
    journal = worlds.named("w1").journal
    worlds.respond(get(key))
    worlds.open(key, load("no-role"), credential="back end")
    assert (worlds.named("w1").journal is journal, journal.count) == (True, 0)
    worlds.respond(get(key))
    assert journal.count == 1


def test_worlds_may_be_opened_while_somebody_lists_them():
    worlds = Worlds()
    seen = []
    for name in worlds.journals:
        seen.append(name)
        worlds.add(World())
    assert (seen, len(worlds.journals)) == (["nobody"], 2)


@pytest.mark.rule("REL-2")
def test_a_key_of_another_world_is_not_kept_either():
    worlds = Worlds()
    mine, theirs = worlds.add(World()), worlds.add(World())
    target = f"{get(mine).target}/{theirs}"
    worlds.respond(Request("GET", target, (("x-api-key", mine), ("user-agent", theirs))))
    (entry,) = worlds.journals["w1"].entries()
    assert theirs not in repr([getattr(entry, name) for name in type(entry).__slots__])
    assert entry.key_in == ("target", "headers")


def test_a_world_is_named_or_it_is_the_only_one_with_a_key():
    worlds = Worlds()
    with pytest.raises(ParameterError, match="Known: nobody"):
        worlds.named()
    worlds.add(World())
    assert (worlds.named().name, worlds.named("nobody").name) == ("w1", "nobody")
    worlds.add(World())
    with pytest.raises(ParameterError, match=r"Say which world is meant .*Known: nobody, w1, w2\."):
        worlds.named()
