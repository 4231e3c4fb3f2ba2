"""The file that `workbook conform init` writes is one that `workbook conform` reads."""

import json
import re
import socket
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.config import BackEndForm, parse_config
from workbook.tools.conform.back_end.init import QUESTIONS, asked, likely_place, text, tried, unset, usual, write_config

ENVIRON = {"CARDHOLDER_SESSION": "s" * 20, "OTHER_SESSION": "other-session-2f7a"}


def read(answers, path, environ=ENVIRON):
    return parse_config(tomllib.loads(text(answers)), path / "back-end.toml", environ)


def test_the_usual_answers_make_a_file_in_order(tmp_path):
    config = read(usual(), tmp_path)
    assert config.target.base_url == "http://127.0.0.1:8080"
    assert len(config.target.cardholders[0].cards) == 6
    assert config.target.cardholders[0].session == (("authorization", f"Bearer {'s' * 20}"),)
    assert list(config.target.surfaces) == ["platform A", "platform B"]


def test_every_key_at_the_top_is_explained():
    told = text(usual())
    shown = {
        key: re.search(rf"^(# )?(\[+{key}[].]|{key} = )|: {key} = ", told, re.MULTILINE)
        for key in BackEndForm.model_fields
    }
    assert [key for key, place in shown.items() if place is None] == []


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        ({"platforms": "A"}, lambda config: list(config.target.surfaces) == ["platform A"]),
        ({"header": "none"}, lambda config: config.target.cardholders[0].session == ()),
        ({"header": "Cookie"}, lambda config: config.target.cardholders[0].session == (("cookie", f"sid={'s' * 20}"),)),
        (
            {"header": "cookie", "cookie": "__Host-a.session-of.the-app"},
            lambda config: config.target.cardholders[0].session[0][1] == f"__Host-a.session-of.the-app={'s' * 20}",
        ),
        ({"prefix": "sid="}, lambda config: config.target.cardholders[0].session[0][1] == f"sid={'s' * 20}"),
        ({"prefix": "none"}, lambda config: config.target.cardholders[0].session[0][1] == "s" * 20),
        ({"command": 'python "a b.py"'}, lambda config: config.start.command == 'python "a b.py"'),
        (
            {"sdk_output": "raw", "get_sdk_input": "raw", "post_sdk_input": "raw", "encoding": "bytes"},
            lambda config: config.target.surfaces["platform B"].decoded,
        ),
        ({"get_path": "/data"}, lambda config: config.target.surfaces["platform A"].get.id == "/cardId"),
        (
            {"other_cards": "X"},
            lambda config: config.target.cardholders[1].session[0][1] == "Bearer other-session-2f7a",
        ),
        ({"cards": "c1, c2", "instruments": "P1, P2"}, lambda config: config.instruments == ("P1", "P2")),
        (
            {"cards": "c1", "instruments": "P1", "other_cards": "c2", "other_instruments": "P2"},
            lambda config: config.instruments == ("P1", "P2"),
        ),
        ({"tls": "yes", "ca_name": "MY_CA"}, lambda config: (config.api.tls, config.exports.ca) == (True, "MY_CA")),
        ({"logs": "relay.log"}, lambda config: [path.name for path in config.target.logs] == ["relay.log"]),
        ({"cards": 'A, "B"'}, lambda config: config.instruments == ("A", '"B"')),
    ],
)
def test_every_answer_arrives_in_the_configuration(tmp_path, given, holds):
    assert holds(read(usual() | given, tmp_path))


def test_a_question_with_a_wrong_answer_is_asked_again_with_the_reason():
    answers = iter(["ftp://x", "http://127.0.0.1:9999", "C", "A"])
    told = []
    got = asked(lambda _prompt: next(answers, ""), told.append)
    assert (got["base_url"], got["platforms"]) == ("http://127.0.0.1:9999", "A")
    assert [line.strip().partition(".")[0] for line in told] == [
        "it has neither the scheme https nor http",
        "it cannot be 'C'",
    ]


def test_only_what_matters_is_asked():
    prompts = []

    def ask(prompt):
        prompts.append(prompt)
        return "none" if "session" in prompt else ""

    asked(ask, print)
    assert not any("environment variable" in one or "base64 text" in one for one in prompts)
    assert len(prompts) == len(QUESTIONS) - 9


@given(st.lists(st.text(max_size=30), min_size=1, max_size=40))
def test_whatever_a_person_types_the_file_is_in_order(tmp_path_factory, typed):
    answers = iter(typed)
    got = asked(lambda _prompt: next(answers, ""), lambda _line: None)
    read(got, tmp_path_factory.getbasetemp(), {got["variable"]: "s" * 20, got["other_variable"]: "o2" * 10})


def test_a_file_that_is_there_stays_unless_it_is_said_otherwise(tmp_path):
    path = tmp_path / "back-end.toml"
    write_config(path, "first")
    with pytest.raises(ConfigurationError, match="exists already"):
        write_config(path, "second")
    assert path.read_text() == "first"
    write_config(path, "second", over=True)
    assert path.read_text() == "second"
    with pytest.raises(ConfigurationError, match="not a file in an existing folder"):
        write_config(tmp_path / "nowhere" / "x.toml", "x")


FOLDER = Path(__file__).parents[4] / "fixtures" / "back_ends"
SESSIONS = json.dumps({"s" * 20: usual()["cards"].split(", ")})


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.mark.slow
def test_the_calls_are_tried_once_and_the_places_of_the_values_corrected(tmp_path):
    port = free_port()
    command = f"RELAY_SESSIONS='{SESSIONS}' PORT={port} exec {sys.executable} {FOLDER / 'reference.py'}"
    wrong = {"get_sdk_input": "/activation", "post_sdk_input": "/x", "sdk_output": "/output"}
    given = usual() | wrong | {"base_url": f"http://127.0.0.1:{port}", "command": command}
    answers, lines = tried(given, tmp_path / "back-end.toml", ENVIRON)
    assert lines == [
        "The GET works, and its sdkInput is at /sdkInput.",
        "The POST works, and its sdkInput is at /sdkInput.",
        "The sdkOutput belongs at /sdkOutput, not at /output.",
    ]
    assert {key: answers[key] for key in wrong} == dict.fromkeys(wrong, "/sdkInput") | {"sdk_output": "/sdkOutput"}


@pytest.mark.slow
def test_a_route_that_is_none_is_told_before_the_file_is_written(tmp_path):
    port = free_port()
    command = f"RELAY_SESSIONS='{SESSIONS}' PORT={port} exec {sys.executable} {FOLDER / 'reference.py'}"
    given = usual() | {"base_url": f"http://127.0.0.1:{port}", "command": command, "get_path": "/card/{id}"}
    answers, lines = tried(given, tmp_path / "back-end.toml", ENVIRON)
    assert answers == given
    assert lines[0].startswith("The GET does not work: status 404")
    assert "Is the path right" in lines[0]


@pytest.mark.slow
def test_a_post_that_is_refused_is_told_as_the_configured_call_showed_it(tmp_path):
    port = free_port()
    sessions = json.dumps({"s" * 20: []})
    command = f"RELAY_SESSIONS='{sessions}' PORT={port} exec {sys.executable} {FOLDER / 'reference.py'}"
    given = usual() | {"base_url": f"http://127.0.0.1:{port}", "command": command}
    _answers, lines = tried(given, tmp_path / "back-end.toml", ENVIRON)
    assert [line.partition(".")[0] for line in lines] == [
        "The GET does not work: status 404",
        "The POST does not work: status 404",
    ]


def test_where_a_session_is_not_set_nothing_is_tried_and_the_answers_stay(tmp_path):
    both = usual() | {"other_cards": "X"}
    assert unset(usual(), {}) == ("CARDHOLDER_SESSION",)
    assert unset(both, {"CARDHOLDER_SESSION": ""}) == ("CARDHOLDER_SESSION", "OTHER_SESSION")
    assert unset(both | {"header": "none"}, {}) == unset(both, ENVIRON) == ()
    told = "Nothing was tried, because CARDHOLDER_SESSION and OTHER_SESSION are not set. The run needs the value too."
    assert tried(both, tmp_path / "x.toml", {}) == (both, [told])


@pytest.mark.slow
def test_where_nothing_listens_nothing_is_tried(tmp_path):
    given = usual() | {"base_url": f"http://127.0.0.1:{free_port()}"}
    assert tried(given, tmp_path / "x.toml", ENVIRON)[1][0].startswith("No program listens at http://127.0.0.1:")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b'{"data": {"sdk_input": "v"}, "id": "1"}', "/data/sdk_input"),
        (b'{"a~/b": ["x", {"sdkInput": "v"}]}', "/a~0~1b/1/sdkInput"),
        (json.dumps({"token": "t" * 50, "id": "1"}).encode(), "/token"),
        (json.dumps({"token": "t" * 50, "other": "t" * 50}).encode(), None),
        (b'{"id": "1"}', None),
        (b"no JSON", None),
    ],
)
def test_a_value_is_found_by_its_name_or_its_length(body, place):
    assert likely_place(body) == place


@pytest.mark.parametrize("path", ["/cards/:id", "/cards/<id>", "/cards/<int:id>/x", "/cards/${id}", "/cards/*"])
def test_a_route_as_a_framework_writes_it_is_refused_with_what_is_allowed(path):
    answers = iter(["", "", "", path, "/cards/{id}/x"])
    told = []
    assert asked(lambda _prompt: next(answers, ""), told.append)["get_path"] == "/cards/{id}/x"
    assert "is no placeholder here. Write {id}, such as /cards/{id}/provision." in told[0]
