"""Scenarios: those that come with the package, what a file may say, and how each slip is told."""

import os
import re
import socket
import tomllib
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.errors import ConfigurationError
from workbook.simulation.scenario import (
    FOLDER,
    CredentialForm,
    InstrumentForm,
    LatenciesForm,
    Scenario,
    ScenarioForm,
    load,
    parse,
    scenarios,
)
from workbook.simulation.world import INSTRUMENT_IDS, ROLE, SIMULATED_KEY, Status, World

ID = INSTRUMENT_IDS[0]
FORMS = {"instrument": InstrumentForm, "credential": CredentialForm, "latencies": LatenciesForm}
INSIDE = {name: list(form.model_fields) for name, form in FORMS.items()}
CANARY = "SECRET-CANARY-4711"


def said(text, file="mine.toml"):
    """What a text that is refused is told."""
    with pytest.raises(ConfigurationError) as caught:
        parse(text if isinstance(text, bytes) else text.encode(), name="mine", file=file)
    return str(caught.value)


# Those that come with the package


@pytest.mark.parametrize("name", scenarios())
def test_each_of_them_is_read_and_explained(name):
    scenario = load(name)
    assert scenario.name == name
    assert scenario.title
    assert scenario.world().instruments
    text = (FOLDER / f"{name}.toml").read_text()
    assert scenario == parse(text.encode(), name=name)
    lines = text.splitlines()
    assert lines[0].startswith("# ")
    assert max(map(len, lines)) <= 120


@pytest.mark.rule("API-15")
def test_each_credential_sees_the_same_world_with_its_own_role():
    scenario = load("no-role")
    roles = {name: scenario.world(credential=name).credentials[SIMULATED_KEY].roles for name in scenario.credentials}
    assert roles == {"without the role": frozenset(), "back end": frozenset({ROLE})}
    assert scenario.world() == scenario.world(credential="without the role")


# What a file may say

FULL = f"""
title = "All of it"
profile = "field"
seed = 99
[[instrument]]
id = "{ID}"
brand = "sample"
last_four = "0420"
supported_wallets = ["wallet-b"]
status = "closed"
type = "bankAccount"
[[instrument]]
id = "another"
[[credential]]
name = "a"
role = false
[[credential]]
name = "b"
[latencies]
get = 1
post = 0.5
[[fault]]
fault = "latency"
seconds = 2.5
payment_instrument_id = "another"
"""


def test_everything_that_a_file_says_arrives():
    scenario = parse(FULL.encode(), name="full")
    first, second = scenario.instruments
    assert (first.brand, first.last_four, first.supported_wallets, first.active) == (
        "sample",
        "0420",
        ("wallet-b",),
        False,
    )
    assert (second.active, second.last_four) == (True, "0001")
    world = scenario.world(api_key="k", credential="b", seed=5)
    assert (world.seed, world.name, world.profile, dict(world.latencies)) == (
        5,
        "full",
        "field",
        {"GET": 1, "POST": 0.5},
    )
    assert list(world.credentials) == ["k"]
    assert scenario.faults == ({"fault": "latency", "seconds": 2.5, "payment_instrument_id": "another"},)


def test_the_form_knows_every_fact_of_the_full_file_and_the_file_uses_every_key_of_the_form():
    document = tomllib.loads(FULL)
    assert set(document) == set(ScenarioForm.model_fields)
    for name, keys in INSIDE.items():
        found = document[name] if isinstance(document[name], dict) else {k for each in document[name] for k in each}
        assert set(found) == set(keys), name


@pytest.mark.parametrize("text", ["", "# nothing\n", "\ufeffseed = 7\n", 'title = "ü €"'])
def test_what_a_file_leaves_out_is_as_usual(text):
    scenario = parse(text.encode(), name="mine")
    assert scenario.world() == World(name="mine")
    assert scenario.plan() is None


# How each slip is told

TWICE = '[[instrument]]\nid = "a"\n[[instrument]]\nid = "a"'
SLIPS = {
    "a misspelt table": ("[latency]\n", "latency: there is no such key. Did you mean 'latencies'?"),
    "a misspelt key": (
        '[[instrument]]\nid = "a"\nstaus = "closed"',
        "[[instrument]] 1 staus: there is no such key. Did you mean 'status'?",
    ),
    "a misspelt value": (
        '[[instrument]]\nid = "a"\nstatus = "suspendet"',
        "[[instrument]] 1 status: it cannot be 'suspendet'. Did you mean 'suspended'?",
    ),
    "a misspelt value in a list": (
        '[[instrument]]\nid = "a"\nsupported_wallets = ["wallet-a", "walet-b"]',
        "[[instrument]] 1 supported_wallets 2: it cannot be 'walet-b'. Did you mean 'wallet-b'?",
    ),
    "a key of another table": ("[latencies]\nrole = true", "[latencies] role: there is no such key. It belongs in [["),
    "no list": (
        "[[instrument]]\nid = 'a'\nsupported_wallets = 1",
        "supported_wallets: it is 1; give a list of texts, each",
    ),
    "an unknown profile": ('profile = "filed"', "profile: it cannot be 'filed'. Did you mean 'field'?"),
    "a seed that is none": ("seed = true", "seed: it is true; give a whole number from 0 to 4294967295."),
    "a seed below": ("seed = -1", "seed: it is -1; give"),
    "a seed above": ("seed = 4294967296", "seed: it is 4294967296; give"),
    "a seed far above": (f"seed = 0x{'f' * 5000}", "seed: it is a whole number of 20000 bits; give"),
    "a number where text belongs": ("[[instrument]]\nid = 12", "[[instrument]] 1 id: it is 12; give text in quotes"),
    "text where a flag belongs": (
        '[[credential]]\nname = "a"\nrole = "true"',
        "[[credential]] 1 role: it is 'true'; give true or false.",
    ),
    "a date": ("title = 2020-01-01", "title: it is a value of type date; give text"),
    "three digits": ('[[instrument]]\nid = "a"\nlast_four = "123"', "give four digits in quotes"),
    "other digits": ('[[instrument]]\nid = "a"\nlast_four = "١٢٣٤"', "give four digits in quotes"),
    "a table where a list belongs": ("[instrument]\nid = 'a'", "instrument: give tables, each under a heading"),
    "a list where a table belongs": ("[[latencies]]\n", "latencies: it is a value of type list; give a table."),
    "faults that are no tables": ("fault = ['reset']", "[[fault]] 1: it is a text; give a table."),
    "an empty id": ('[[instrument]]\nid = ""', "id: it is ''; give text in quotes, 1 to 1000"),
    "a blank id": ('[[instrument]]\nid = " "', "id: it is ' '; give"),
    "an id of control characters": ('[[instrument]]\nid = "a\\u0007"', "give text"),
    "no id": ("[[instrument]]\nbrand = 'x'", "[[instrument]] 1 id: it is missing; give text"),
    "no name": ("[[credential]]\nrole = true", "[[credential]] 1 name: it is missing"),
    "no credential": ("credential = []", "credential: it is empty. Give one"),
    "an id twice": (TWICE, "[[instrument]] 2 id: it is 'a', which [[instrument]] 1 has already. Give each its own."),
    "a name twice": (TWICE.replace("instrument", "credential").replace("id", "name"), "Give each its own"),
    "a wallet twice": ('[[instrument]]\nid = "a"\nsupported_wallets = ["wallet-a", "wallet-a"]', "each once"),
    "a key twice": ("seed = 1\nseed = 2", "it is not TOML: Cannot overwrite a value (at "),
    "seconds below": ("[latencies]\nget = -1", "[latencies] get: it is -1; give a number of seconds from 0 to 3600."),
    "milliseconds": ("[latencies]\nget = 250000", "from 0 to 3600"),
    "no number": ("[latencies]\npost = nan", "post: it is nan"),
    "no end": ("[latencies]\npost = inf", "post: it is inf"),
    "a fault of no card": (
        '[[fault]]\nfault = "200"\npayment_instrument_id = "a"',
        "[[fault]] 1 payment_instrument_id: it is 'a', but this scenario has no such instrument",
    ),
    "a misspelt fault": ('[[fault]]\nfault = "rest"', "[[fault]] 1: No fault 'rest'. Did you mean 'reset'?"),
    "a misspelt key of a fault": ('[[fault]]\nfault = "reset"\nnht = 1', "has no setting 'nht'. Did you mean 'nth'?"),
    "a fault without a name": ('[[fault]]\nfault = "reset"\n[[fault]]\nnth = 1', "[[fault]] 2: A planned fault needs"),
    "a fault with a word of ours": ('[[fault]]\nfault = "reset"\ncls = 1', "[[fault]] 1: it cannot be read"),
    "a fault with no number": (f'[[fault]]\nfault = "reset"\nnth = 0x{"f" * 5000}', "more than 63 bits"),
    "not TOML": ("{]", "it is not TOML: Invalid statement (at line 1, column 1). For an example see /"),
    "nested deep": ("a = " + "[" * 5000, "it is not TOML: it is nested too deeply"),
    "not UTF-8": (b'title = "\xff"', "it is not UTF-8, see byte 9. Save it as UTF-8."),
    "too large": (b"#" * (2**20 + 1), "it is larger than 1048576 bytes"),
}  # fmt: skip


@rows("slip", SLIPS)
def test_a_slip_is_told_with_its_place_and_what_is_allowed(slip):
    text, expected = SLIPS[slip]
    told = said(text)
    assert expected in told
    assert told.startswith("mine.toml: 1 mistake.\n")
    assert len(told) < 1000


def test_every_slip_is_told_and_not_only_the_first():
    told = said('seed = -1\ntitel = "x"\n[latencies]\nget = -1\n[[instrument]]\n[[fault]]\nfault = "rest"')
    assert told.startswith("mine.toml: 5 mistakes.\n")
    places = ("seed", "titel", "[latencies] get", "[[instrument]] 1 id", "[[fault]] 1")
    assert [told.count(f"\n  {place}: ") for place in places] == [1] * 5


def test_a_wrong_value_that_its_table_must_have_hides_no_later_slip():
    told = said('[[instrument]]\nid = 5\n[[fault]]\nfault = "resett"\noperation = "PUT"\n[[fault]]\nfault = "rest"')
    places = ("[[instrument]] 1 id", "[[fault]] 1", "[[fault]] 2")
    assert [told.count(f"\n  {place}: ") for place in places] == [1] * 3
    assert "[[fault]] 1: No fault 'resett'. Did you mean 'reset'? operation is 'PUT'. Known: GET, POST." in told


@pytest.mark.rule("REL-2")
@rows("key", ["key", "api_key", "apiKey", '"x-api-key"', "API-KEY", "client_secret", "token", "password"])
@rows("table", ['[[credential]]\nname = "a"\n', "", '[[instrument]]\nid = "a"\n', "[latencies]\n"])
def test_a_key_in_a_scenario_is_refused_and_not_repeated(key, table):
    told = said(f'{table}{key} = "{CANARY}"')
    assert "keys are made when a server starts, or come from the environment" in told
    assert CANARY not in told


def test_a_long_word_is_not_repeated_whole():
    assert len(said(f"{'a' * 100_000} = 1")) < 500
    assert len(said(f'profile = "{"a" * 900}"')) < 500


# Where it is looked for


def test_a_file_is_read_from_its_path(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("seed = 5")
    assert load(path) == load(str(path)) == Scenario("mine", seed=5)


def test_a_name_is_the_packages_even_where_there_is_such_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "default").write_text("seed = 5")
    assert load("default").seed == 7
    assert load("./default").seed == 5


WRONG_PATHS = {
    "a misspelt name": ("clas-room", "Did you mean 'class-room'?"),
    "nothing like a name": ("zzz", "Known: class-room, default"),
    "a file that is not there": ("/nowhere/mine.toml", "No scenario '/nowhere/mine.toml', and no file of that name"),
    "a directory": (".", "it is a directory"),
    "nothing": ("", "A scenario is a name or the path of a file, not ''."),
    "None": (None, "not None."),
    "a number": (7, "not 7"),
    "an impossible name": ("a\0b", "No scenario"),
    "a name too long": ("a" * 5000, "Cannot read the scenario"),
    "no characters of a name": ("\ud800", "No scenario"),
}


@rows("wrong", WRONG_PATHS)
def test_what_cannot_be_found_is_told(wrong):
    path, expected = WRONG_PATHS[wrong]
    with pytest.raises(ConfigurationError, match=re.escape(expected)) as caught:
        load(path)
    assert len(str(caught.value)) < 600


def test_a_pipe_or_a_socket_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(tmp_path / "socket.toml"))
        for name in ("pipe.toml", "socket.toml"):
            with pytest.raises(ConfigurationError, match="it is not a regular file"):
                load(tmp_path / name)


def test_an_unknown_credential_is_told():
    with pytest.raises(ConfigurationError, match="default: no credential 'backend'"):
        load("default").world(credential="backend")


# Whatever anybody writes

VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from([*get_args(Status), ID]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def toml(value):
    """A value as TOML; what TOML cannot say becomes text."""
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{toml(str(key))} = {toml(one)}" for key, one in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(toml, value)) + "]"
        case int() | float():
            return repr(value)
    return '"' + "".join(f"\\U{ord(c):08x}" for c in str(value) if not 0xD800 <= ord(c) < 0xE000) + '"'


def read_or_refused(text):
    try:
        scenario = parse(text, name="any")
    except ConfigurationError:
        return
    scenario.world()
    scenario.plan()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_scenario_or_told(text):
    read_or_refused(text)


@given(st.data())
def test_one_wrong_value_in_a_good_file_is_told_or_good(data):
    document = tomllib.loads(FULL)
    table = data.draw(st.sampled_from(sorted(INSIDE)))
    place = document[table] if isinstance(document[table], dict) else document[table][0]
    place[data.draw(st.sampled_from(sorted(INSIDE[table])))] = data.draw(VALUES)
    read_or_refused("\n".join(f"{toml(name)} = {toml(value)}" for name, value in document.items()).encode())


def test_every_state_of_an_instrument_is_there():
    cards = load("every-instrument-state").instruments
    assert {card.status for card in cards} == set(get_args(Status))
    assert {card.type for card in cards} == {"card", "bankAccount"}
    assert [card.id for card in cards if not card.supported_wallets]


def test_a_flaky_back_end_has_a_plan():
    scenario = load("flaky-back-end")
    assert [each["fault"] for each in scenario.faults[:3]] == ["latency", "503 that says 500", "reset"]
    assert [each.fault.name for each in scenario.plan().planned] == [each["fault"] for each in scenario.faults]
    assert scenario.world().latencies == {"GET": 0.1, "POST": 0.1}
