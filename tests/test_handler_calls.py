"""A run cut into the calls of the handler: each with its answer, its time, and what it did."""

import pytest

from workbook.flows import messages as m
from workbook.flows.trace import ANSWERS, CALLS, Kind, Record, Trace, handler_calls
from workbook.lessons.session import session
from workbook.play.handler import ReferenceHandler
from workbook.play.mistakes import NetworkInStatus
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import PhoneB

SESSION = session()

GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"


def trace(*steps):
    """A trace of messages a second apart; commands are known by their class."""
    made = Trace()
    for at, message in enumerate(steps):
        kind = Kind.COMMAND if isinstance(message, m.Command) else Kind.EVENT
        made.append(Record(float(at), kind, message, "here", "there", message.rules))
    return made


def cut(*steps):
    return [(call.name, call.seconds, call.late) for call in handler_calls(trace(*steps))]


@pytest.mark.rule("X-FLOW-1", "X-HANDLER-1")
@pytest.mark.parametrize(("surface", "entries"), [("phone", "pass_entries"), ("watch", "remote_pass_entries")])
def test_a_whole_run_is_three_calls_in_the_documents_order(surface, entries):
    calls = [*handler_calls(SESSION.wallet.play(phone="with a watch", surface=surface).trace)]
    assert [call.name for call in calls] == ["status", entries, GENERATE]
    assert not any(call.late for call in calls)
    assert all(call.made.at < call.ended for call in calls)
    answers = (m.EntriesAvailable, m.EntriesReturned, m.RequestReturned)
    assert [call.answered(kind) for call, kind in zip(calls, answers, strict=True)] == [True] * 3


def test_what_a_call_did_is_what_stands_between_it_and_its_answer():
    status, entries, generate = handler_calls(SESSION.wallet.play().trace)
    assert len(status.did(m.StorageRead)) == len(generate.did(m.ExtensionProvisionCalled)) == 1
    assert len(entries.did(m.BackEndAsked)) == len(entries.did(m.CardArtForIdAsked, m.CardArtForBrandAsked)) == 3
    assert status.did(m.BackEndAsked) == []
    assert entries.did(m.PassAdded) == []


@pytest.mark.rule("X-STATUS-3")
def test_a_late_call_has_its_answer_too():
    (status,) = handler_calls(WalletApp(NetworkInStatus).open_list())
    assert (status.late, status.answered(m.EntriesAvailable)) == (True, True)
    assert status.seconds == pytest.approx(0.260)


def test_a_call_ends_with_the_first_answer_and_what_comes_between_two_calls_belongs_to_none():
    assert cut(m.CallStatus(), m.EntriesUnavailable(), m.HideIssuer(), m.NoEntries(), m.CallStatus()) == [
        ("status", 1.0, False),
        ("status", None, False),
    ]
    assert cut(m.IssuerListOpened(), m.NoRequest()) == []
    assert cut() == []


def test_a_call_without_an_answer_does_not_vanish_when_the_next_one_is_made():
    calls = [*handler_calls(trace(m.CallStatus(), m.StorageRead(1), m.CallPassEntries(), m.NoEntries()))]
    assert [(call.name, call.seconds) for call in calls] == [("status", None), ("pass_entries", 1.0)]
    assert (calls[0].answer, calls[0].ended, len(calls[0].inside)) == (None, 0.0, 1)
    assert not calls[0].answered(*ANSWERS)


def test_a_call_that_was_interrupted_ends_as_one_that_raised():
    class Interrupted(ReferenceHandler):
        def status(self):
            raise KeyboardInterrupt

    host = WalletApp(Interrupted, phone=PhoneB())
    with pytest.raises(KeyboardInterrupt):
        host.open_list()
    (call,) = handler_calls(host.trace)
    assert (call.name, call.answered(m.HandlerRaised)) == ("status", True)


def test_every_call_of_every_table_is_known():
    from workbook.flows.variants import SURFACES, VARIANTS_B  # used here alone

    machines = [variant.extension(surface) for variant in VARIANTS_B.values() for surface in SURFACES]
    handed_out = {command for machine in machines for row in machine.rows for command in row.commands}
    assert {one for one in handed_out if one.__name__.startswith("Call")} == set(CALLS)
    assert set(CALLS.values()) <= set(dir(ReferenceHandler))
    assert set(ANSWERS) <= {row.event for machine in machines for row in machine.rows}
