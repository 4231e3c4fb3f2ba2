"""The file that `workbook conform init` writes is one that `workbook conform` reads."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.conformance.config_file import BackEndForm, parse
from workbook.conformance.init import QUESTIONS, asked, text, usual, write
from workbook.errors import ConfigurationError

ENVIRON = {"CARDHOLDER_SESSION": "s" * 20}


def read(answers, path, environ=ENVIRON):
    return parse(tomllib.loads(text(answers)), path / "back-end.toml", environ)


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
        ({"prefix": "none"}, lambda config: config.target.cardholders[0].session[0][1] == "s" * 20),
        ({"command": 'python "a b.py"'}, lambda config: config.start.command == 'python "a b.py"'),
        (
            {"sdk_output": "raw", "get_sdk_input": "raw", "post_sdk_input": "raw", "encoding": "bytes"},
            lambda config: config.target.surfaces["platform B"].decoded,
        ),
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
        "it has neither the scheme http nor https",
        "it cannot be 'C'",
    ]


def test_only_what_matters_is_asked():
    prompts = []

    def ask(prompt):
        prompts.append(prompt)
        return "none" if "session" in prompt else ""

    asked(ask, print)
    assert not any("environment variable" in one or "base64 text" in one for one in prompts)
    assert len(prompts) == len(QUESTIONS) - 3


@given(st.lists(st.text(max_size=30), min_size=1, max_size=40))
def test_whatever_a_person_types_the_file_is_in_order(tmp_path_factory, typed):
    answers = iter(typed)
    got = asked(lambda _prompt: next(answers, ""), lambda _line: None)
    read(got, tmp_path_factory.getbasetemp(), {got["variable"]: "s" * 20})


def test_a_file_that_is_there_stays_unless_it_is_said_otherwise(tmp_path):
    path = tmp_path / "back-end.toml"
    write(path, "first")
    with pytest.raises(ConfigurationError, match="exists already"):
        write(path, "second")
    assert path.read_text() == "first"
    write(path, "second", over=True)
    assert path.read_text() == "second"
    with pytest.raises(ConfigurationError, match="not a file in an existing folder"):
        write(tmp_path / "nowhere" / "x.toml", "x")
