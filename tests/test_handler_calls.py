"""A run cut into the calls of the handler: each with its answer, its time, and what it did."""

from workbook.flows import messages as m
from workbook.flows.trace import ANSWERS, CALLS, Kind, Record, Trace, handler_calls
from workbook.play.handler import ReferenceHandler


def trace(*steps):
    """A trace of messages a second apart; commands are known by their class."""
    made = Trace()
    for at, message in enumerate(steps):
        kind = Kind.COMMAND if isinstance(message, m.Command) else Kind.EVENT
        made.append(Record(float(at), kind, message, "here", "there", message.rules))
    return made


def seconds(call):
    return call.answer and call.answer.at - call.made.at


def cut(*steps):
    return [(call.name, seconds(call), call.late) for call in handler_calls(trace(*steps))]


def test_a_call_ends_with_the_first_answer_and_what_comes_between_two_calls_belongs_to_none():
    assert cut(m.CallStatus(), m.EntriesUnavailable(), m.HideIssuer(), m.NoEntries(), m.CallStatus()) == [
        ("status", 1.0, False),
        ("status", None, False),
    ]
    assert cut(m.IssuerListOpened(), m.NoRequest()) == []
    assert cut() == []


def test_a_call_without_an_answer_does_not_vanish_when_the_next_one_is_made():
    calls = [*handler_calls(trace(m.CallStatus(), m.StorageRead(1), m.CallPassEntries(), m.NoEntries()))]
    assert [(call.name, seconds(call)) for call in calls] == [("status", None), ("pass_entries", 1.0)]
    assert (calls[0].answer, calls[0].ended, len(calls[0].inside)) == (None, 0.0, 1)
    assert not calls[0].answered(*ANSWERS)


def test_every_call_of_every_table_is_known():
    from workbook.flows.variants import SURFACES, VARIANTS_B  # used here alone

    machines = [variant.extension(surface) for variant in VARIANTS_B.values() for surface in SURFACES]
    handed_out = {command for machine in machines for row in machine.rows for command in row.commands}
    assert {one for one in handed_out if one.__name__.startswith("Call")} == set(CALLS)
    assert set(CALLS.values()) <= set(dir(ReferenceHandler))
    assert set(ANSWERS) <= {row.event for machine in machines for row in machine.rows}
