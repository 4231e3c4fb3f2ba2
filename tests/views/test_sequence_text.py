import pytest

from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.views.sequence import sequence
from workbook.views.table import width


def test_the_list_is_the_one_that_was_read(story, golden):
    name, trace = story
    golden(f"sequence_{name}", sequence(trace).text())


def test_the_list_is_at_most_110_columns_wide(story):
    assert max(map(width, sequence(story[1]).text().splitlines())) <= 110


def test_an_empty_trace_says_that_nothing_happened():
    assert sequence(Trace("new")).text() == "new\nNothing happened yet."


def one(kind, message, rules=()):
    trace = Trace("one")
    trace.append(Record(0.0, kind, message, "a", "a", rules))
    return sequence(trace).text().splitlines()[1:]


@pytest.mark.parametrize(
    ("kind", "message", "line"),
    [
        (Kind.NOTE, m.Noted("hello"), "  0.000 s note: hello"),
        (Kind.EVENT, m.AddTapped(), "  0.000 s Cardholder → App: taps Add"),
        (Kind.REFUSED, m.AddTapped(), "  0.000 s Cardholder → App: refused: taps Add (not allowed in state “a”)"),
        (
            Kind.EVENT,
            m.Opened("\u5361\u7247"),
            "  0.000 s Cardholder → App: opens the card (id \u5361\u7247)",
        ),
    ],
)
def test_a_line_says_when_who_to_whom_and_what(kind, message, line):
    assert one(kind, message) == [line]
