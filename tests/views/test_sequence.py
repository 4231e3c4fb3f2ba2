from html import escape

import pytest

from workbook.base.rules import sentence
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.views.sequence import Shape, sequence


def test_each_kind_of_record_has_its_shape(stories):
    shapes = {line.shape for line in sequence(stories["trouble"]()).lines}
    assert shapes == set(Shape)


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


def test_the_glossary_explains_only_the_words_that_occur(stories):
    assert [word for word, _meaning in sequence(stories["two_step"]()).glossary] == [
        "sdkInput",
        "sdkOutput",
        "OPC data",
    ]
    assert sequence(Trace("empty")).glossary == ()


def test_the_rules_beside_a_picture_are_a_footnote_with_their_sentences(stories):
    drawn = sequence(stories["from_0_4_0"]())
    footnote = drawn.html().partition("The rules beside it")[2]
    named = [rule_id for line in drawn.lines for rule_id in line.rules if sentence(rule_id)]
    assert named
    assert all(f"<b>{rule_id}</b> {escape(sentence(rule_id))}" in footnote for rule_id in named)
    assert "The rules beside it" not in sequence(Trace("empty")).html()
