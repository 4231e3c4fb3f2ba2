import hashlib
import os
import subprocess
import sys
from html import escape
from pathlib import Path

import pytest

from workbook.base.rules import sentence
from workbook.flows import messages as m
from workbook.flows.messages import Actor
from workbook.flows.trace import Kind, Record, Trace
from workbook.views.sequence import Shape, sequence


def test_the_columns_are_the_actors_that_occur_in_the_order_of_the_document(stories):
    assert sequence(stories["from_0_4_0"]()).columns == (
        Actor.CARDHOLDER, Actor.APP, Actor.SDK, Actor.BACK_END, Actor.API,
    )  # fmt: skip


def test_a_request_that_repeats_the_call_just_drawn_is_no_line(stories):
    labels = [line.label for line in sequence(stories["from_0_4_0"]()).lines]
    assert "create" not in labels
    assert "the app's own code runs" not in labels


def test_each_kind_of_record_has_its_shape(stories):
    shapes = {line.shape for line in sequence(stories["trouble"]()).lines}
    assert shapes == set(Shape)


def test_a_refused_record_says_so_and_names_the_state_even_when_it_has_no_arrow(stories):
    refused = [line for line in sequence(stories["trouble"]()).lines if line.shape is Shape.REFUSED]
    assert [line.label for line in refused] == ["refused: taps Add", "refused: the app's own code runs"]
    assert refused[0].detail == "not allowed in state “before”"


def test_the_http_exchange_reads_as_http(stories):
    lines = [line for line in sequence(stories["from_0_4_0"]()).lines if line.shape is Shape.HTTP]
    assert [(line.label, line.detail) for line in lines] == [
        ("GET …/{id}/networkTokenActivationData", "id PISIMULATED00000000000001"),
        ("200 OK, sdkInput", "simulated activation data #1 · content: assumed"),
        ("POST …/{id}/networkTokenActivationData", "id PISIMULATED00000000000001 · simulated sdkOutput #1"),
        ("200 OK, sdkInput", "simulated OPC data #1 · content: assumed"),
    ]


def test_data_that_is_not_simulated_gets_a_number_so_that_the_same_value_is_recognised(stories):
    lines = [line for line in sequence(stories["trouble"]()).lines if line.label.startswith("200")]
    assert [line.detail for line in lines] == [
        "opaque value #1, 12 characters", "opaque value #2, 8 characters", "opaque value #1, 12 characters",
    ]  # fmt: skip


def test_no_opaque_text_is_ever_shown(stories):
    drawn = sequence(stories["trouble"]())
    for form in (drawn.text(), drawn.svg(), drawn.html()):
        assert "R2VudWluZQ" not in form
    assert "opaque value #3, 4 characters" in drawn.text()
    assert "list, not shown" in drawn.text()


@pytest.mark.parametrize(
    ("command", "button"),
    [
        (m.ShowButton(), "shown"),
        (m.EnableButton(), "shown"),
        (m.DisableButton(), "disabled"),
        (m.HideButton(), "hidden"),
        (m.ShowAdded(), ""),
    ],
)
def test_a_command_to_the_cardholder_is_a_change_on_the_screen(command, button):
    trace = Trace("screen")
    trace.append(Record(0.0, Kind.COMMAND, command, "a", "a", ()))
    [line] = sequence(trace).lines
    assert (line.shape, line.button) == (Shape.SCREEN, button)


def test_the_attempts_stand_apart(stories):
    rows = [row for row in sequence(stories["trouble"]()).rows if isinstance(row, str)]
    assert rows == ["attempt 1 begins", "attempt 2 begins"]


def test_the_glossary_explains_only_the_words_that_occur(stories):
    assert [word for word, _meaning in sequence(stories["two_step"]()).glossary] == [
        "sdkInput",
        "sdkOutput",
        "OPC data",
    ]
    assert sequence(Trace("empty")).glossary == ()


def test_a_line_in_words_says_who_what_and_whether_it_is_deprecated(stories):
    said = [line.sentence for line in sequence(stories["two_step"]()).lines]
    assert said[1] == "0.000 s, App to SDK: createSdkOutput() [deprecated]."
    assert sequence(stories["trouble"]()).lines[-3].sentence.startswith("1.000 s, Note: note: The real world")


@pytest.mark.slow
def test_two_processes_give_the_same_bytes(stories):
    digests = {_digest_in_another_process(seed) for seed in ("0", "1")}
    assert digests == {_digest(stories)}


def _digest(stories):
    every = [form for tell in stories.values() for form in (sequence(tell()).text(), sequence(tell()).html())]
    return hashlib.sha256("".join(every).encode()).hexdigest()


def _digest_in_another_process(seed):
    code = "import conftest, test_sequence; print(test_sequence._digest(conftest.STORIES))"
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    environ = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environ
    ).stdout.strip()


def test_the_rules_beside_a_picture_are_a_footnote_with_their_sentences(stories):
    drawn = sequence(stories["from_0_4_0"]())
    footnote = drawn.html().partition("The rules beside it")[2]
    named = [rule_id for line in drawn.lines for rule_id in line.rules if sentence(rule_id)]
    assert named
    assert all(f"<b>{rule_id}</b> {escape(sentence(rule_id))}" in footnote for rule_id in named)
    assert "The rules beside it" not in sequence(Trace("empty")).html()
