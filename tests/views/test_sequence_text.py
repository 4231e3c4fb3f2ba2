from dataclasses import replace

from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.views.sequence import Sequence, sequence
from workbook.views.table import width


def test_the_drawing_is_the_one_that_was_read(story, golden):
    name, trace = story
    golden(f"sequence_{name}", sequence(trace).text())


def test_the_drawing_is_at_most_110_columns_wide(story):
    assert max(map(width, sequence(story[1]).text().splitlines())) <= 110


def test_no_line_ends_in_a_blank(story):
    assert all(line == line.rstrip() for line in sequence(story[1]).text().splitlines())


def test_an_empty_trace_says_that_nothing_happened():
    assert sequence(Trace("new")).text() == "new\nNothing happened yet."


def test_one_actor_alone_is_drawn():
    trace = Trace("alone")
    trace.append(Record(0.0, Kind.NOTE, m.Noted("hello"), "a", "a", ()))
    assert "┃ note: hello" in sequence(trace).text()


def test_wide_letters_keep_the_lifelines_straight():
    trace = Trace("wide")
    trace.append(Record(0.0, Kind.EVENT, m.Opened("\u5361\u7247e\u0301"), "a", "a", ()))
    words, arrow = sequence(trace).text().splitlines()[4:6]
    assert width(words.partition("│")[0]) == width(arrow.partition("│")[0])
    assert "\u5361\u7247e\u0301" in words


def test_many_actors_get_bare_and_shorter_names_rather_than_overlapping_boxes():
    columns = tuple(_Named(f"Number {number} of many") for number in range(9))
    line = sequence(_tap()).lines[0]
    head = Sequence("crowd", columns, (replace(line, sender=columns[0], receiver=columns[8]),)).text().splitlines()[1]
    assert head.count("…") == 9


def test_actors_without_room_for_boxes_keep_their_whole_names():
    columns = tuple(
        _Named(name) for name in ("Cardholder", "Wallet app", "Extension", "Storage", "SDK", "Back end", "API")
    )
    line = sequence(_tap()).lines[0]
    head = Sequence("seven", columns, (replace(line, sender=columns[0], receiver=columns[6]),)).text().splitlines()[1]
    assert head.split() == " ".join(columns).split()


def test_more_rules_than_rows_get_rows_of_their_own():
    rules = tuple(f"A-LONG-RULE-{number}" for number in range(5))
    trace = Trace("rules")
    trace.append(Record(0.0, Kind.EVENT, m.AddTapped(), "a", "a", rules))
    drawn = sequence(trace).text()
    assert all(rule in drawn for rule in rules)


def _tap():
    trace = Trace("tap")
    trace.append(Record(0.0, Kind.EVENT, m.AddTapped(), "a", "a", ()))
    return trace


class _Named(str):
    __slots__ = ()

    @property
    def value(self):
        return str(self)
