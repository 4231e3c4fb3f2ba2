"""`--state FILE`: nothing that was acknowledged is lost, however the process ends, and every restart is clean."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError
from workbook.simulation import service as service_module
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.scenario import load, scenarios
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Memory, output_digest
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.journal import Journal, Match
from workbook.tools.mockserver.mock import Worlds
from workbook.tools.mockserver.state import world_of, world_values
from workbook.tools.mockserver.verification import no_repeated_post, verify

ID, OTHER, _THIRD = INSTRUMENT_IDS
CANARY = "SECRET-CANARY-4711"
DEFAULT = load("default")
KEY = "the-key"


def get(key=KEY, instrument=ID):
    return Request("GET", f"{BEFORE_ID}{instrument}{AFTER_ID}", (("x-api-key", key),))


def post(serial=1, key=KEY, instrument=ID):
    output = Seal(7).close(Content.OUTPUT, instrument, serial, attempt=1)
    headers = (("x-api-key", key), ("content-type", "application/json"))
    return Request("POST", get(key, instrument).target, headers, json.dumps({"sdkOutput": output}).encode())


def serial(response):
    return Seal(7).open(json.loads(response.body)["sdkInput"]).serial


@contextmanager
def kept(path, *scenarios_):
    """Worlds in this file, with these scenarios added under the keys KEY, key-1, key-2 and so on."""
    worlds = opened(path, *scenarios_)
    try:
        yield worlds
    finally:
        worlds.close()


def opened(path, *scenarios_, make=Journal):
    worlds = Worlds(path, make_journal=make)
    for number, scenario in enumerate(scenarios_):
        worlds.add(scenario, f"key-{number}" if number else KEY)
    return worlds


def journaled(path, *scenarios_, make=Journal):
    """The worlds, and their journals by name."""
    worlds = opened(path, *scenarios_, make=make)
    return worlds, worlds.journals


def told(journals):
    """Everything that the kept journals say."""
    return {
        name: (one.count, one.dropped, one.to_jsonl(), one.to_har())
        for name, one in journals.items()
        if name != "nobody"
    }


def memory(worlds):
    """Everything that is remembered, plainly."""
    return {
        (key, instrument): (one.activations, one.opcs, [*one.used])
        for key in worlds.keys
        for instrument, one in worlds.place(key).service.memory.items()
        if one.activations or one.opcs
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state"


@pytest.mark.parametrize("name", scenarios())
def test_a_world_goes_out_and_comes_back_without_its_key(name):
    scenario = load(name)
    world = scenario.world(api_key=CANARY)
    text = json.dumps(world_values(world))
    assert CANARY not in text
    assert world_of(json.loads(text), CANARY) == world


# Over a restart


@pytest.mark.rule("API-11")
def test_a_restart_changes_nothing_that_a_client_sees(path):
    with kept(path, DEFAULT, load("every-instrument-state"), load("no-role")) as worlds:
        answers = [worlds.respond(request) for request in (get(), get(), post(1), post(2), get(instrument=OTHER))]
        assert [answer.status for answer in answers] == [200] * 5
        refused = [worlds.respond(request) for request in (post(1), get("key-1"), get("key-2"), get("nobody's"))]
        before, keys = memory(worlds), worlds.keys
    with kept(path) as worlds:
        assert (memory(worlds), worlds.keys) == (before, keys)
        assert [
            worlds.respond(request) for request in (post(1), get("key-1"), get("key-2"), get("nobody's"))
        ] == refused
        assert [serial(worlds.respond(request)) for request in (get(), post(3), get(instrument=OTHER))] == [3, 3, 2]


def test_seed_latencies_faults_and_profile_come_back(path):
    scenario = load("flaky-back-end")
    with kept(path, scenario) as worlds:
        place = worlds.place(KEY)
    with kept(path) as worlds:
        assert worlds.place(KEY).world == place.world
        assert worlds.place(KEY).faults == scenario.faults
        assert worlds.respond(get()).fault == "latency"


def test_a_reset_and_a_world_that_was_added_come_back(path):
    with kept(path, DEFAULT, DEFAULT) as worlds:
        for key in worlds.keys:
            worlds.respond(get(key))
            worlds.respond(post(1, key))
        worlds.reset(KEY)
        fresh = worlds.add(DEFAULT)
    with kept(path) as worlds:
        assert worlds.keys == (KEY, "key-1", fresh)
        assert list(memory(worlds)) == [("key-1", ID)]
        assert worlds.respond(post(1)).status == 200


def test_a_reset_world_that_goes_on_is_kept(path):
    with kept(path, DEFAULT) as worlds:
        worlds.respond(post(1))
        worlds.reset(KEY)
        worlds.respond(post(2))
    with kept(path) as worlds:
        assert [worlds.respond(post(number)).status for number in (1, 2)] == [200, 422]


def test_another_world_and_other_faults_come_back(path):
    faults = ({"fault": "503 that says 500"},)
    with kept(path, DEFAULT, DEFAULT, DEFAULT) as worlds:
        for key in worlds.keys:
            worlds.respond(post(1, key))
        worlds.open(KEY, load("class-room"))
        worlds.fault("key-1", faults)
        for wrong in (lambda: worlds.open(KEY, DEFAULT, credential="x"), lambda: worlds.fault(KEY, ({"fault": "x"},))):
            with pytest.raises(ConfigurationError):
                wrong()
        places = {key: (worlds.place(key).world, worlds.place(key).faults) for key in worlds.keys}
        assert worlds.respond(get(KEY, "PICLASSROOM00000000000001")).status == 200
        before = memory(worlds)
    with kept(path) as worlds:
        assert worlds.keys == (KEY, "key-1", "key-2")
        assert {key: (worlds.place(key).world, worlds.place(key).faults) for key in worlds.keys} == places
        assert memory(worlds) == before
        assert [worlds.respond(post(1, key)).status for key in worlds.keys] == [422, 503, 422]


def test_what_a_service_forgets_is_not_kept_either(path, monkeypatch):
    for module in (service_module,):
        monkeypatch.setattr(module, "MOST_OUTPUTS", 3)
    with kept(path, DEFAULT) as worlds:
        assert [worlds.respond(post(number)).status for number in range(1, 8)] == [200] * 7
        before = memory(worlds)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT place FROM state WHERE part LIKE 'output %' ORDER BY place").fetchall() == [
            (5,),
            (6,),
            (7,),
        ]
    with kept(path) as worlds:
        assert memory(worlds) == before
        assert [worlds.respond(post(number)).status for number in (7, 5, 4)] == [422, 422, 200]


def test_a_request_of_nobody_leaves_the_disk_alone(path):
    with kept(path, DEFAULT) as worlds:
        worlds.respond(post(1))
        before = Path(f"{path}-wal").stat().st_size
        for request in (get("nobody's"), post(1, "nobody's"), Request("GET", "/", ())):
            worlds.respond(request)
        assert Path(f"{path}-wal").stat().st_size == before


def test_threads_take_turns(path):
    with kept(path, DEFAULT) as worlds:
        threads = [Thread(target=lambda: [worlds.respond(get()) for _ in range(20)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert serial(worlds.respond(get())) == 81
    with kept(path) as worlds:
        assert serial(worlds.respond(get())) == 82


# What a fault plan has come to


NTH = ({"fault": "503 that says 500", "operation": "GET", "nth": 3},)
SHARE = ({"fault": "503 that says 500", "share": 0.5}, {"fault": "429 in seconds", "nth": 5})


@pytest.mark.parametrize("way", ["by the scenario", "later"])
def test_a_fault_planned_for_the_third_get_is_played_once_whenever_the_restart_comes(path, way):
    for restart in range(5):
        file = path.with_name(f"{way} {restart}")
        worlds = opened(file, replace(DEFAULT, faults=NTH if way == "by the scenario" else ()))
        if way == "later":
            worlds.respond(get())
            worlds.fault(KEY, NTH)
        statuses = []
        for number in range(5):
            if number == restart:
                worlds.close()
                worlds = opened(file)
            statuses.append(worlds.respond(get()).status)
        worlds.close()
        assert statuses == [200, 200, 503, 200, 200]


def test_what_a_plan_draws_goes_on_over_a_restart(path):
    scenario = replace(DEFAULT, faults=SHARE)
    with kept(path.with_name("one run"), scenario) as worlds:
        expected = [worlds.respond(get()).fault for _ in range(30)]
    assert len(set(expected)) == 3
    opened(path, scenario).close()
    found = []
    for _ in range(10):
        with kept(path) as worlds:
            found += [worlds.respond(get()).fault for _ in range(3)]
    assert found == expected


def test_a_plan_that_is_replaced_or_reset_counts_from_its_beginning_also_after_a_restart(path):
    with kept(path, *[replace(DEFAULT, faults=NTH)] * 3) as worlds:
        for key in worlds.keys:
            worlds.respond(get(key))
        worlds.reset(KEY)
        worlds.fault("key-1", NTH)
        worlds.open("key-2", replace(DEFAULT, faults=NTH))
    with kept(path) as worlds:
        for key in worlds.keys:
            assert [worlds.respond(get(key)).status for _ in range(4)] == [200, 200, 503, 200]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_reset_takes_away_what_was_planned_since_also_over_restarts(path, restarted):
    with kept(path, replace(DEFAULT, faults=NTH)) as worlds:
        worlds.fault(KEY, ({"fault": "400"},))
        if not restarted:
            worlds.reset(KEY)
    with kept(path) as worlds:
        if restarted:
            assert worlds.respond(get()).status == 400
            worlds.reset(KEY)
        assert [worlds.respond(get()).status for _ in range(4)] == [200, 200, 503, 200]


# What was asked and answered


def test_a_journal_says_after_a_restart_what_it_said_before(path):
    worlds, journals = journaled(path, DEFAULT, load("no-role"))
    for request in (get(), post(1), post(1), get("key-1"), get("nobody's"), get(instrument="x" * 90)):
        worlds.respond(request)
    before = told(journals)
    assert {name: count for name, (count, *_rest) in before.items()} == {"w1": 4, "w2": 1}
    worlds.close()
    worlds, journals = journaled(path)
    assert told(journals) == before
    assert "nobody" not in journals or journals["nobody"].count == 0
    worlds.respond(get())
    entries = journals["w1"].entries()
    assert [one.number for one in entries] == [1, 2, 3, 4, 5]
    assert [one.status for one in entries] == [200, 200, 422, 422, 200]
    worlds.close()


def test_time_goes_on_and_never_back(path):
    for seconds in ([0.0, 5.0, 7.0], [1000.0, 1000.5, 1001.0], [3.0, 3.25, 3.5]):  # another clock at each start
        clock = Clock(seconds[0])
        worlds, journals = journaled(path, make=lambda clock=clock: Journal(stopwatch=clock))
        if not worlds.keys:
            worlds.add(DEFAULT, KEY)
            journals = worlds.journals
        for clock.at in seconds[1:]:
            worlds.respond(get())
        times = [one.arrived for one in journals["w1"].entries()]
        worlds.close()
    assert times == [5.0, 7.0, 7.5, 8.0, 8.25, 8.5]


def test_time_goes_on_after_a_reset_too(path):
    clock = Clock(0.0)
    worlds, journals = journaled(path, DEFAULT, make=lambda: Journal(stopwatch=clock))
    for clock.at in (1.0, 2.0):
        worlds.respond(get())
    clock.at = 4.0
    worlds.reset(KEY)
    worlds.close()
    clock.at = 0.0
    worlds, journals = journaled(path, make=lambda: Journal(stopwatch=clock))
    worlds.respond(get())
    assert [(one.number, one.arrived) for one in journals["w1"].entries()] == [(1, 4.0)]
    worlds.close()


class Clock:
    """A stopwatch that is set by hand."""

    def __init__(self, at):
        self.at = at

    def __call__(self):
        return self.at


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize("body", [post(1).body, b"not ours 4929000000006"], ids=["ours", "not ours"])
def test_a_post_that_is_repeated_after_a_restart_is_seen(path, body):
    for _ in range(2):
        worlds, journals = journaled(path)
        if not worlds.keys:
            worlds.add(DEFAULT, KEY)
            journals = worlds.journals
        worlds.respond(replace(post(), body=body))
        worlds.respond(replace(post(), body=body + b" " * len(journals["w1"])))
        (outcome,) = verify(journals["w1"], no_repeated_post())
        worlds.close()
    assert outcome.seen == "(#1, #3) with the same body"


def small():
    return Journal(20)


@pytest.mark.slow
def test_what_a_journal_drops_leaves_the_file_which_stops_growing(path):
    worlds, journals = journaled(path, DEFAULT, make=small)
    sizes = []
    for round_ in range(5):
        for number in range(60):
            worlds.respond(post(round_ * 60 + number))
        worlds._file._database.execute("DELETE FROM state WHERE part LIKE 'output %'")
        sizes.append(worlds._file._value("PRAGMA page_count"))
    before = told(journals)
    assert before["w1"][:2] == (300, 280)
    worlds.close()
    assert sizes[-1] <= sizes[0] + 2
    with closing(sqlite3.connect(path)) as database:
        places = database.execute("SELECT place FROM state WHERE part = 'entry' ORDER BY place").fetchall()
    assert places == [(place,) for place in range(280, 301)]  # the entry dropped last goes with the next exchange
    worlds, journals = journaled(path, make=small)
    assert told(journals) == before
    worlds.respond(get())
    assert (journals["w1"].count, journals["w1"].dropped, journals["w1"].entries()[0].number) == (301, 281, 282)
    worlds.close()


def entries(path):
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT count(*) FROM state WHERE part = 'entry'").fetchone()[0]


@pytest.mark.parametrize("what", ["reset", "open", "the journal itself"])
def test_who_empties_a_journal_empties_the_file(path, what):
    worlds, journals = journaled(path, DEFAULT, DEFAULT)
    for number in range(3):
        worlds.respond(post(number))
        worlds.respond(get("key-1"))
    match what:
        case "reset":
            worlds.reset(KEY)
        case "open":
            worlds.open(KEY, DEFAULT)
        case _:
            journals["w1"].reset()
            worlds.respond(get())  # the file hears of it with the next exchange
    before = told(journals)
    worlds.close()
    assert entries(path) == (4 if what == "the journal itself" else 3)
    worlds, journals = journaled(path)
    assert told(journals) == before
    worlds.close()


@pytest.mark.rule("REL-2", "REL-3")
def test_the_file_has_no_card_data_and_no_key_but_those_of_its_worlds(path):
    foreign, card = "FOREIGN-KEY-0123456789", "CANARYCARDDATA4929000000006Aa"
    worlds, journals = journaled(path, DEFAULT)
    worlds.add(DEFAULT, CANARY)
    body = json.dumps({"sdkOutput": card, card * 2: card}).encode()
    headers = (("x-api-key", KEY), ("authorization", f"Bearer {foreign}"), ("x-debug", card), ("user-agent", CANARY))
    target = f"{BEFORE_ID}{CANARY}{AFTER_ID}?clientKey={foreign}&a={card}"
    worlds.respond(Request("POST", target, headers, body))
    worlds.respond(Request("GET", get().target, (("x-api-key", foreign),)))
    worlds.respond(post(1))
    assert {"target", "headers"} <= set(journals["w1"].entries()[0].key_in)
    texts = "".join(map(repr, told(journals).values()))
    worlds._file._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    worlds.close()
    assert not any(secret in texts for secret in (CANARY, foreign, card))
    assert not any(secret.encode() in data for secret in (foreign, card))
    # The key stands beside its world, and nowhere else.
    with closing(sqlite3.connect(path)) as database:
        assert [part for part, value in database.execute("SELECT part, value FROM state") if CANARY in value] == [
            "world"
        ]


# Whose file it is


@pytest.mark.rule("REL-2")
def test_only_its_owner_can_read_it_and_no_key_is_shown(path):
    old = os.umask(0)
    try:
        with kept(path) as worlds:
            worlds.add(DEFAULT, CANARY)
            worlds.respond(get(CANARY))
            modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
            assert modes == {"state": 0o600, "state-wal": 0o600}
            assert CANARY not in repr(worlds)
    finally:
        os.umask(old)
    path.chmod(0o644)
    with kept(path):
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_one_process_has_it_at_a_time(path):
    program = "import sys; from workbook.tools.mockserver.mock import Worlds\n"
    program += "try: Worlds(sys.argv[1])\nexcept Exception as error: print(type(error).__name__, error)"
    with kept(path, DEFAULT):
        with pytest.raises(ConfigurationError, match="Another process has the state file"):
            Worlds(path)
        done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("ConfigurationError Another process has")
    opened(path).close()


def foreign(path):
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE mine (a)")
        database.commit()


def changed(statement):
    def change(path):
        with kept(path, DEFAULT) as worlds:
            worlds.respond(post(1))
        with closing(sqlite3.connect(path)) as database:
            database.execute(statement)
            database.commit()

    return change


def changed_plan(statement):
    def change(path):
        with kept(path, replace(DEFAULT, faults=SHARE)) as worlds:
            worlds.respond(post(1))
        with closing(sqlite3.connect(path)) as database:
            database.execute(statement)
            database.commit()

    return change


UNREAD = "a world in it cannot be read"


def torn(path):
    """A page in the middle is not as it was written."""
    with kept(path, *[DEFAULT] * 40):
        pass
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


SALTY = 'replace(value, \'"salt": "\', \'"salt": "z\')'
KEYLESS = 'replace(value, \'"key": "the-key"\', \'"key": 7\')'
UNUSABLE = {
    "text": (lambda path: path.write_text("my diary\n" * 1000), "is no state file"),
    "a short text": (lambda path: path.write_text("my diary"), "is no state file"),
    "another database": (foreign, "is the database of something else"),
    "a torn page": (torn, "is damaged"),
    "no table": (changed("DROP TABLE state"), "is damaged"),
    "no JSON": (changed("UPDATE state SET value = '{' WHERE part = 'world'"), UNREAD),
    "no world": (changed("UPDATE state SET value = '{}' WHERE part = 'world'"), UNREAD),
    "no row of a world": (changed("DELETE FROM state WHERE part = 'world'"), UNREAD),
    "no key": (changed(f"UPDATE state SET value = {KEYLESS} WHERE part = 'world'"), UNREAD),
    "no text": (changed("UPDATE state SET value = x'ff' WHERE part = 'world'"), "values of other types"),
    "counts that are none": (changed("UPDATE state SET value = '[1, \"many\"]' WHERE part LIKE 'memory %'"), UNREAD),
    "one count": (changed("UPDATE state SET value = '[1]' WHERE part LIKE 'memory %'"), UNREAD),
    "a digest that is none": (changed("UPDATE state SET value = 'zz' WHERE part LIKE 'output %'"), UNREAD),
    "an output of nobody": (changed("UPDATE state SET part = 'output x' WHERE part LIKE 'output %'"), UNREAD),
    "no entry": (changed("UPDATE state SET value = '{}' WHERE part = 'entry'"), UNREAD),
    "an entry that is no text": (changed("UPDATE state SET value = x'00' WHERE part = 'entry'"), "of other types"),
    "an entry nowhere": (changed("UPDATE state SET place = 'a' WHERE part = 'entry'"), "of other types"),
    "a body that is none": (changed("UPDATE state SET value = 'ü' || value WHERE part = 'entry'"), UNREAD),
    "no salt": (changed(f"UPDATE state SET value = {SALTY} WHERE part = 'world'"), UNREAD),
    "no time": (changed("UPDATE state SET value = '\"noon\"' WHERE part = 'clock'"), UNREAD),
    "no clock": (changed("DELETE FROM state WHERE part = 'clock'"), UNREAD),
    "a name that is none": (changed("UPDATE state SET world = -1"), UNREAD),
    "counts of another plan": (changed_plan("UPDATE state SET value = '[1]' WHERE part = 'plan'"), UNREAD),
    "counts below zero": (changed_plan("UPDATE state SET value = '[1, -1]' WHERE part = 'plan'"), UNREAD),
    "nested deep": (changed(f"UPDATE state SET value = '{'[' * 100_000}' WHERE part = 'world'"), UNREAD),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", UNUSABLE)
def test_a_file_that_is_no_state_is_refused_and_left_as_it_is(what, path):
    make, expected = UNUSABLE[what]
    make(path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=expected) as caught:
        journaled(path)
    assert KEY not in str(caught.value)
    assert path.read_bytes() == before


WRONG = (None, True, -1, 10**30, 1.5, float("inf"), "x", [], {}, [["a"]], [["a", 1]], {"a": 1})


def places(value, place=()):
    """Every place in a JSON value, from the whole of it to each leaf."""
    yield place
    for name in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from places(value[name], (*place, name))


def with_wrong(value, place, wrong):
    if not place:
        return wrong
    inner = with_wrong(value[place[0]], place[1:], wrong)
    return value | {place[0]: inner} if isinstance(value, dict) else [*value[: place[0]], inner, *value[place[0] + 1 :]]


@pytest.mark.slow
def test_a_value_that_was_tampered_with_is_refused_at_the_start_or_does_no_harm(path, tmp_path):
    """Each value of the file becomes each wrong one: no server starts and then answers with a traceback."""
    scenario = replace(DEFAULT, latencies={"GET": 0.1}, faults=({"fault": "reset", "nth": 99},))
    with kept(path, scenario) as worlds:
        for request in (get(), post(1), Request("GET", "/x?a=b", (("a", "b"),))):
            worlds.respond(request)
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT * FROM state WHERE part NOT LIKE 'output %'").fetchall()
    tampered, refused = tmp_path / "tampered", 0
    for world, part, number, value in rows:
        before, end, text = value.rpartition("\n")
        document = json.loads(text)
        for place in places(document):
            for wrong in WRONG:
                for file in tmp_path.glob("tampered*"):
                    file.unlink()
                shutil.copy(path, tampered)
                changed_text = before + end + json.dumps(with_wrong(document, place, wrong))
                with closing(sqlite3.connect(tampered)) as database, database:
                    where = (changed_text, world, part, number)
                    database.execute("UPDATE state SET value = ? WHERE world = ? AND part = ? AND place = ?", where)
                try:
                    worlds = Worlds(tampered)
                except ConfigurationError:
                    refused += 1
                    continue
                with closing(worlds):
                    (key,) = worlds.keys
                    for request in (get(key), post(2, key)):
                        worlds.respond(request)
                    journal = worlds.named("w1").journal
                    json.dumps([journal.to_har(), journal.to_jsonl()], allow_nan=False)
                    verify(journal, no_repeated_post())
                    worlds.reset(key)
    assert refused > 100


def test_a_file_that_cannot_be_had_is_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for wrong in (tmp_path, tmp_path / "no" / "state", tmp_path / "pipe", tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(ConfigurationError, match="Cannot open the state file"):
            Worlds(wrong)


def test_why_a_file_cannot_be_had_is_told_in_its_systems_words(tmp_path):
    with pytest.raises(ConfigurationError) as caught:
        Worlds(tmp_path / "no" / "state")
    assert str(caught.value) == f"Cannot open the state file {tmp_path / 'no' / 'state'}: No such file or directory."


def test_an_empty_file_is_a_new_one(path):
    path.touch()
    with kept(path, DEFAULT) as worlds:
        assert worlds.respond(get()).status == 200


@given(st.binary(min_size=2, max_size=300))  # a single byte is an empty file to SQLite
def test_any_bytes_are_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "state"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError):
        Worlds(path)


# Where the disk refuses


def test_what_cannot_be_written_is_not_acknowledged_and_written_later(path):
    with kept(path, DEFAULT) as worlds:
        worlds._file._database.execute("PRAGMA query_only=ON")
        told = worlds.respond(post(1))
        assert (told.status, json.loads(told.body)["errorCode"]) == (500, "00_500")
        assert "state file" in json.loads(told.body)["detail"]
        for refused in (lambda: worlds.add(DEFAULT, "new"), lambda: worlds.reset(KEY)):
            with pytest.raises(ConfigurationError, match="cannot be used"):
                refused()
        assert worlds.keys == (KEY,)
        assert worlds.respond(get("nobody's")).status == 401
        worlds._file._database.execute("PRAGMA query_only=OFF")
        assert worlds.respond(post(1)).status == 422
    with kept(path) as worlds:
        assert worlds.respond(post(1)).status == 422


def test_a_journal_says_what_was_answered_in_the_end_and_nobody_hears_of_it_before(path):
    worlds, journals = journaled(path, DEFAULT)
    heard = []
    thread = Thread(target=lambda: heard.append(journals["w1"].wait(Match("POST"), 30)))
    thread.start()
    while not len(journals["w1"]._waiters):
        pass
    worlds._file._database.execute("PRAGMA query_only=ON")
    assert worlds.respond(post(1)).status == 500
    thread.join()
    assert (heard[0].number, heard[0].status) == (1, 500)
    worlds._file._database.execute("PRAGMA query_only=OFF")
    worlds.respond(get())
    assert [one.status for one in journals["w1"].entries()] == [500, 200]
    before = told(journals)
    worlds.close()
    worlds, journals = journaled(path)
    assert told(journals) == before
    worlds.close()


@pytest.mark.slow
def test_a_full_disk_is_told_and_what_it_refused_is_kept_when_there_is_room(path):
    worlds, journals = journaled(path, DEFAULT)
    database = worlds._file._database
    pages = worlds._file._value("PRAGMA page_count")
    database.execute(f"PRAGMA max_page_count={pages + 2}")
    answers = [worlds.respond(post(number)) for number in range(30)]
    assert {answer.status for answer in answers} == {200, 500}
    with pytest.raises(ConfigurationError, match=r"disk is full\. Make room, or give a file on another disk"):
        worlds.fault(KEY, ({"fault": "reset", "payment_instrument_id": "x" * 60_000},))
    assert worlds.place(KEY).faults == ()
    database.execute("PRAGMA max_page_count=1000000")
    assert worlds.respond(get()).status == 200
    assert [one.status for one in journals["w1"].entries()] == [one.status for one in answers] + [200]
    before = told(journals)
    worlds.close()
    worlds, journals = journaled(path)
    assert told(journals) == before
    worlds.close()


@contextmanager
def as_somebody():
    """Root may write wherever it likes; anybody else is themselves."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY_ID)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


NOBODY_ID = 65534


@pytest.mark.parametrize(
    ("mode", "folder_mode", "told"),
    [
        (0o444, 0o777, r"you may not read and write it\. Allow it \(chmod u\+rw\)"),
        (0o200, 0o777, r"you may not read and write it\. Allow it \(chmod u\+rw\)"),
        (0o666, 0o555, r"It cannot be written to\. Look at its folder and its disk"),
    ],
)
def test_a_file_that_may_not_be_written_is_told(mode, folder_mode, told):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        opened(path, DEFAULT).close()
        path.chmod(mode)
        Path(folder).chmod(folder_mode)
        try:
            with as_somebody(), pytest.raises(ConfigurationError, match=told):
                Worlds(path)
        finally:
            Path(folder).chmod(0o700)


def test_threads_find_the_nth_fault_once_and_leave_each_exchange_once(path):
    worlds, journals = journaled(path, replace(DEFAULT, faults=({"fault": "503 that says 500", "nth": 40},)))
    threads = [Thread(target=lambda: [worlds.respond(get()) for _ in range(25)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [one.status for one in journals["w1"].entries()]
    assert (len(statuses), statuses.count(503), statuses[39]) == (100, 1, 503)
    before = told(journals)
    worlds.close()
    worlds, journals = journaled(path)
    assert told(journals) == before
    worlds.close()


@pytest.mark.slow
def test_resets_and_new_scenarios_under_load_leave_file_and_memory_alike(path):
    worlds, journals = journaled(path, DEFAULT, DEFAULT)
    done = Event()

    def ask(key):
        while not done.is_set():
            worlds.respond(get(key))

    threads = [Thread(target=ask, args=(key,)) for key in worlds.keys for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        worlds.reset(KEY)
        worlds.open("key-1", load("flaky-back-end"))
        worlds.fault(KEY, NTH)
        worlds.open("key-1", DEFAULT)
    done.set()
    for thread in threads:
        thread.join()
    before, remembered = told(journals), memory(worlds)
    worlds.close()
    worlds, journals = journaled(path)
    assert (told(journals), memory(worlds)) == (before, remembered)
    assert [one.number for one in journals["w1"].entries()] == [*range(1, journals["w1"].count + 1)]
    worlds.close()


def test_a_closed_file_acknowledges_nothing(path):
    worlds = opened(path, DEFAULT)
    worlds.close()
    worlds.close()
    assert worlds.respond(get()).status == 500


# A crash at any moment

LOAD = """
import os, sys
sys.path.insert(0, sys.argv[3])
from test_state import get, journaled, post
worlds, journals = journaled(sys.argv[1])
first = int(sys.argv[2])
os.write(1, b"up\\n")
for number in range(first, first + 1_000_000):
    for key in worlds.keys:
        for request in (get(key), post(number, key)):
            assert worlds.respond(request).status == 200
            os.write(1, f"{request.method} {key} {number}\\n".encode())
"""
ROUNDS = 10


def killed_under_load(path, first, seconds):
    """The lines that a process acknowledged before it was killed."""
    command = [sys.executable, "-c", LOAD, path, str(first), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"up\n"
        time.sleep(seconds)
        process.kill()
        said = process.stdout.read()
    assert process.returncode == -9
    return said.decode().splitlines()  # a pipe takes each line whole


@pytest.mark.slow
def test_nothing_that_was_acknowledged_is_lost_when_the_process_is_killed(path):
    faults = ({"fault": "503 that says 500", "nth": 1_000_000},)
    opened(path, *[replace(DEFAULT, faults=faults)] * 2).close()
    moments, acknowledged, first = random.Random(7), [], 1
    for _ in range(ROUNDS):
        acknowledged += killed_under_load(path, first, moments.uniform(0.001, 0.15))
        first += 100_000
        worlds = opened(path)
        worlds.close()
        found = {key: worlds.place(key).service.memory.get(ID, Memory()) for key in worlds.keys}
        for key, one in found.items():
            # All of one exchange is there, or nothing of it.
            journal = worlds.place(key).journal
            assert worlds.place(key).service.plan.counts == (journal.count,)
            assert [each.number for each in journal.entries()] == [*range(1, journal.count + 1)]
            assert sum(each.method == "POST" for each in journal.entries()) == one.opcs
            assert sum(each.method == "GET" for each in journal.entries()) == one.activations
            mine = [line.split() for line in acknowledged if f" {key} " in line]
            gets, posts = ([number for method, _key, number in mine if method == m] for m in ("GET", "POST"))
            # Each time, one answer at most was on the disk and not yet heard of.
            assert len(gets) <= one.activations <= len(gets) + ROUNDS
            assert len(posts) <= one.opcs <= len(posts) + ROUNDS
            assert all(
                output_digest(json.loads(post(int(number), key).body)["sdkOutput"]) in one.used for number in posts
            )
    assert len(acknowledged) > ROUNDS * 5
