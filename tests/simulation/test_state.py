"""`--state FILE`: nothing that was acknowledged is lost, however the process ends, and every restart is clean."""

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError
from workbook.simulation import service as service_module
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.plain import UNREADABLE, dump_world, restored_world
from workbook.simulation.scenario import load, scenarios
from workbook.simulation.seal import Content, Seal
from workbook.simulation.service import Memory
from workbook.simulation.state import Kept, dump, restored
from workbook.simulation.world import INSTRUMENT_IDS, World
from workbook.simulation.worlds import Worlds

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


def kept(path, *scenarios_):
    """Worlds kept in this file, with these scenarios added under the keys key-0, key-1 and so on, first of all KEY."""
    worlds = Kept(Worlds(), path)
    for number, scenario in enumerate(scenarios_):
        worlds.add(scenario, f"key-{number}" if number else KEY)
    return worlds


def memory(worlds):
    """Everything that is remembered, plainly."""
    return {
        (key, instrument): dump(one)
        for key in worlds.keys
        for instrument, one in worlds.place(key).memory.items()
        if one.activations or one.opcs
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state"


# Plain values


@given(st.lists(st.sampled_from(["get", "post"])), st.integers(0, 5))
def test_a_memory_goes_out_and_comes_back(steps, since):
    memory_ = Memory()
    for number, step in enumerate(steps):
        memory_.issue_activation() if step == "get" else memory_.issue_opc(str(number))
    plain = json.loads(json.dumps(dump(memory_)))
    assert dump(restored(plain)) == plain
    assert [restored(plain).knows(str(number)) for number in range(len(steps))] == [step == "post" for step in steps]
    assert dump(memory_, since=since)["outputs"] == plain["outputs"][since:]


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"activations": "1", "opcs": 0, "outputs": []},
        {"activations": True, "opcs": 0, "outputs": []},
        {"activations": 1, "opcs": None, "outputs": []},
        {"activations": 1, "opcs": 1, "outputs": [7]},
        {"activations": 1, "opcs": 1, "outputs": ["xy"]},
        {"activations": 1, "opcs": 1, "outputs": None},
    ],
)
def test_a_memory_that_is_none_is_not_read(wrong):
    with pytest.raises(UNREADABLE):
        restored(wrong)


@pytest.mark.parametrize("name", scenarios())
def test_a_world_goes_out_and_comes_back_without_its_key(name):
    scenario = load(name)
    world = scenario.world(api_key=CANARY)
    text = json.dumps(dump_world(world, scenario.faults))
    assert CANARY not in text
    assert restored_world(json.loads(text), CANARY) == (world, scenario.faults)


# Over a restart


@pytest.mark.rule("API-11")
def test_a_restart_changes_nothing_that_a_client_sees(path):
    with kept(path, DEFAULT, load("every-instrument-state"), load("no-role")) as worlds:
        answers = [worlds.respond(request) for request in (get(), get(), post(1), post(2), get(instrument=OTHER))]
        assert [answer.status for answer in answers] == [200] * 5
        refused = [worlds.respond(request) for request in (post(1), get("key-1"), get("key-2"), get("nobody's"))]
        before, keys = memory(worlds), worlds.keys
    with Kept(Worlds(), path) as worlds:
        assert (memory(worlds), worlds.keys) == (before, keys)
        assert [
            worlds.respond(request) for request in (post(1), get("key-1"), get("key-2"), get("nobody's"))
        ] == refused
        assert [serial(worlds.respond(request)) for request in (get(), post(3), get(instrument=OTHER))] == [3, 3, 2]


def test_seed_latencies_faults_and_profile_come_back(path):
    scenario = load("flaky-back-end")
    with kept(path, scenario) as worlds:
        place = worlds.place(KEY)
    with Kept(Worlds(), path) as worlds:
        assert worlds.place(KEY).world == place.world
        assert worlds.place(KEY).faults == scenario.faults
        assert worlds.respond(get()).fault == "latency"


def test_a_reset_and_a_removal_come_back(path):
    with kept(path, DEFAULT, DEFAULT, DEFAULT) as worlds:
        for key in worlds.keys:
            worlds.respond(get(key))
            worlds.respond(post(1, key))
        worlds.reset(KEY)
        worlds.remove("key-1")
        fresh = worlds.add(DEFAULT)
    with Kept(Worlds(), path) as worlds:
        assert worlds.keys == (KEY, "key-2", fresh)
        assert list(memory(worlds)) == [("key-2", ID)]
        assert worlds.respond(post(1)).status == 200
        worlds.add(DEFAULT, "key-1")
        assert worlds.respond(post(1, "key-1")).status == 200


def test_a_reset_world_that_goes_on_is_kept(path):
    with kept(path, DEFAULT) as worlds:
        worlds.respond(post(1))
        worlds.reset(KEY)
        worlds.respond(post(2))
    with Kept(Worlds(), path) as worlds:
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
    with Kept(Worlds(), path) as worlds:
        assert worlds.keys == (KEY, "key-1", "key-2")
        assert {key: (worlds.place(key).world, worlds.place(key).faults) for key in worlds.keys} == places
        assert memory(worlds) == before
        assert [worlds.respond(post(1, key)).status for key in worlds.keys] == [422, 503, 422]


def test_worlds_that_are_there_already_are_stored_and_the_file_s_win(path):
    worlds = Worlds()
    worlds.add(World(), KEY)
    worlds.add(DEFAULT, "key-1")
    worlds.respond(get())
    Kept(worlds, path).close()
    others = Worlds()
    others.add(load("no-role"), KEY)
    others.add(DEFAULT, "key-9")
    with Kept(others, path) as both:
        assert set(both.keys) == {KEY, "key-1", "key-9"}
        assert serial(both.respond(get())) == 2
    with Kept(Worlds(), path) as again:
        assert set(again.keys) == {KEY, "key-1", "key-9"}


def test_what_a_service_forgets_is_not_kept_either(path, monkeypatch):
    for module in (service_module, sys.modules[Kept.__module__]):
        monkeypatch.setattr(module, "MOST_OUTPUTS", 3)
    with kept(path, DEFAULT) as worlds:
        assert [worlds.respond(post(number)).status for number in range(1, 8)] == [200] * 7
        before = memory(worlds)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT number FROM output ORDER BY number").fetchall() == [(5,), (6,), (7,)]
    with Kept(Worlds(), path) as worlds:
        assert memory(worlds) == before
        assert [worlds.respond(post(number)).status for number in (7, 5, 4)] == [422, 422, 200]


def test_an_answer_that_changes_nothing_leaves_the_disk_alone(path):
    with kept(path, DEFAULT) as worlds:
        worlds.respond(post(1))
        before = Path(f"{path}-wal").stat().st_size
        for request in (post(1), get("nobody's"), get(instrument="x"), Request("GET", "/", ())):
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
    with Kept(Worlds(), path) as worlds:
        assert serial(worlds.respond(get())) == 82


# Whose file it is


@pytest.mark.rule("REL-2")
def test_only_its_owner_can_read_it_and_no_key_is_shown(path):
    old = os.umask(0)
    try:
        with Kept(Worlds(), path) as worlds:
            worlds.add(DEFAULT, CANARY)
            worlds.respond(get(CANARY))
            modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
            assert modes == {"state": 0o600, "state-wal": 0o600}
            assert CANARY not in repr(worlds)
    finally:
        os.umask(old)
    path.chmod(0o644)
    with Kept(Worlds(), path):
        assert path.stat().st_mode & 0o777 == 0o600


def test_one_process_has_it_at_a_time(path):
    program = "import sys; from workbook.simulation.state import *; from workbook.simulation.worlds import Worlds\n"
    program += "try: Kept(Worlds(), sys.argv[1])\nexcept Exception as error: print(type(error).__name__, error)"
    with kept(path, DEFAULT):
        with pytest.raises(ConfigurationError, match="Another process has the state file"):
            Kept(Worlds(), path)
        done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("ConfigurationError Another process has")
    Kept(Worlds(), path).close()


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


def torn(path):
    """A page in the middle is not as it was written."""
    with kept(path, *[DEFAULT] * 40):
        pass
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


UNUSABLE = {
    "text": (lambda path: path.write_text("my diary\n" * 1000), "is no state file"),
    "a short text": (lambda path: path.write_text("my diary"), "is no state file"),
    "another database": (foreign, "is the database of something else"),
    "another version": (changed("PRAGMA user_version=2"), "was written by another version"),
    "a torn page": (torn, "is damaged"),
    "no table": (changed("DROP TABLE memory"), "is damaged"),
    "no JSON": (changed("UPDATE world SET said = '{'"), "a world in it cannot be read"),
    "no world": (changed("UPDATE world SET said = '{}'"), "a world in it cannot be read"),
    "no key": (changed("UPDATE world SET key = x'ff'"), "is damaged"),
    "a count that is none": (changed("UPDATE memory SET opcs = 'many'"), "a world in it cannot be read"),
    "a digest that is none": (changed("UPDATE output SET digest = 'zz'"), "a world in it cannot be read"),
    "an output of nobody": (changed("UPDATE output SET instrument = 'x'"), "belongs to no instrument"),
    "nested deep": (changed(f"UPDATE world SET said = '{'[' * 100_000}'"), "a world in it cannot be read"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_file_that_is_no_state_is_refused_and_left_as_it_is(what, path):
    make, expected = UNUSABLE[what]
    make(path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match=expected) as caught:
        Kept(Worlds(), path)
    assert KEY not in str(caught.value)
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_had_is_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for wrong in (tmp_path, tmp_path / "no" / "state", tmp_path / "pipe", tmp_path / ("x" * 300), tmp_path / "a\0b"):
        with pytest.raises(ConfigurationError, match="Cannot have the state file"):
            Kept(Worlds(), wrong)


def test_an_empty_file_is_a_new_one(path):
    path.touch()
    with kept(path, DEFAULT) as worlds:
        assert worlds.respond(get()).status == 200


@given(st.binary(min_size=2, max_size=300))  # a single byte is an empty file to SQLite
def test_any_bytes_are_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("any") / "state"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError):
        Kept(Worlds(), path)


# Where the disk refuses


def test_what_cannot_be_written_is_not_acknowledged_and_written_later(path):
    with kept(path, DEFAULT) as worlds:
        worlds._file._database.execute("PRAGMA query_only=ON")
        told = worlds.respond(post(1))
        assert (told.status, json.loads(told.body)["errorCode"]) == (500, "00_500")
        assert "state file" in json.loads(told.body)["detail"]
        for refused in (lambda: worlds.add(DEFAULT, "new"), lambda: worlds.remove(KEY), lambda: worlds.reset(KEY)):
            with pytest.raises(ConfigurationError, match="cannot be used"):
                refused()
        assert worlds.keys == (KEY,)
        assert worlds.respond(get("nobody's")).status == 401
        worlds._file._database.execute("PRAGMA query_only=OFF")
        assert worlds.respond(post(1)).status == 422
    with Kept(Worlds(), path) as worlds:
        assert worlds.respond(post(1)).status == 422


def test_a_closed_file_acknowledges_nothing(path):
    worlds = kept(path, DEFAULT)
    worlds.close()
    worlds.close()
    assert worlds.respond(get()).status == 500


# A crash at any moment

LOAD = """
import os, sys
sys.path.insert(0, sys.argv[3])
from test_state import Kept, Worlds, get, post
worlds = Kept(Worlds(), sys.argv[1])
first = int(sys.argv[2])
os.write(1, b"up\\n")
for number in range(first, first + 1_000_000):
    for key in worlds.keys:
        for request in (get(key), post(number, key)):
            assert worlds.respond(request).status == 200
            os.write(1, f"{request.method} {key} {number}\\n".encode())
"""
ROUNDS = 20


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


def test_nothing_that_was_acknowledged_is_lost_when_the_process_is_killed(path):
    kept(path, DEFAULT, DEFAULT).close()
    moments, acknowledged, first = random.Random(7), [], 1
    for _ in range(ROUNDS):
        acknowledged += killed_under_load(path, first, moments.uniform(0.001, 0.15))
        first += 100_000
        with Kept(Worlds(), path) as worlds:
            found = {key: worlds.place(key).memory.get(ID, Memory()) for key in worlds.keys}
        for key, one in found.items():
            mine = [line.split() for line in acknowledged if f" {key} " in line]
            gets, posts = ([number for method, _key, number in mine if method == m] for m in ("GET", "POST"))
            # Each time, one answer at most was on the disk and not yet heard of.
            assert len(gets) <= one.activations <= len(gets) + ROUNDS
            assert len(posts) <= one.opcs <= len(posts) + ROUNDS
            assert all(one.knows(json.loads(post(int(number), key).body)["sdkOutput"]) for number in posts)
    assert len(acknowledged) > ROUNDS * 5
