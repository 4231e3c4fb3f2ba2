"""The loop alone, on a table of its own: events in time, commands to their ports, and every step recorded."""

from enum import StrEnum

import pytest

from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.machine import Machine, row
from workbook.flows.trace import Kind
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.loop import Loop
from workbook.play.platform_a import PlatformARun
from workbook.play.platform_b import PlatformBRun
from workbook.simulation.clock import VirtualClock


class Lamp(StrEnum):
    OFF = "off"
    WAITING = "waiting"
    ON = "on"


ROWS = (
    *row(Lamp.OFF, m.AddTapped, Lamp.WAITING, m.AskCanAddCard, m.StartProvisionBudget, rules="B-CAN-1"),
    *row(Lamp.WAITING, m.CanAddCard, Lamp.ON, m.StopBudget, m.HandToApp, rules="B-CAN-1"),
    *row(Lamp.WAITING, m.DelegateTimeSpent, Lamp.OFF, rules="B-DEL-3"),
    *row(Lamp.ON, m.AddTapped, Lamp.WAITING, m.AskCanAddCard, m.StartProvisionBudget, rules="B-CAN-1"),
)
MACHINE = Machine("a lamp", ROWS, initial=Lamp.OFF, final=[Lamp.ON])


class LampLoop(Loop):
    def __init__(self, seconds=1.0, log=None, name="lamp"):
        self.seconds, self.handed, self.log, self.name = seconds, [], log, name
        super().__init__(MACHINE, name, VirtualClock())

    ports = Loop.ports | {
        m.AskCanAddCard: lambda run, _command: (run.seconds, m.CanAddCard()),
        m.HandToApp: lambda run, event: run.handed.append(event),
    }

    def _happen(self, event):
        super()._happen(event)
        if self.log is not None:
            self.log.append((self._agenda.now, self.name, type(event).__name__))


def steps(loop):
    return [(record.at, record.kind.value, record.name, record.before, record.after) for record in loop.trace]


def test_a_step_is_recorded_with_its_commands_and_the_reply_comes_in_its_time():
    loop = LampLoop()
    assert loop.feed(m.AddTapped()) is loop.trace
    assert steps(loop) == [
        (0.0, "event", "AddTapped", "off", "waiting"),
        (0.0, "command", "AskCanAddCard", "waiting", "waiting"),
        (0.0, "command", "StartProvisionBudget", "waiting", "waiting"),
        (1.0, "event", "CanAddCard", "waiting", "on"),
        (1.0, "command", "StopBudget", "on", "on"),
        (1.0, "command", "HandToApp", "on", "on"),
    ]
    assert (loop.state, loop.due) == (Lamp.ON, None)


def test_what_is_handed_to_the_app_is_the_event_itself():
    loop = LampLoop()
    loop.feed(m.AddTapped())
    assert loop.handed == [m.CanAddCard()]


@pytest.mark.parametrize(
    ("seconds", "ends", "state"),
    [(20.0, ["CanAddCard"], "on"), (20.001, ["DelegateTimeSpent", "!CanAddCard"], "off")],
)
def test_a_budget_is_stopped_in_time_or_spent_and_exactly_all_of_it_is_in_time(seconds, ends, state):
    loop = LampLoop(seconds)
    loop.feed(m.AddTapped())
    events = [record for record in loop.trace if record.kind is not Kind.COMMAND][1:]
    assert [f"{'!' if record.kind is Kind.REFUSED else ''}{record.name}" for record in events] == ends
    assert loop.state == state


def test_stopping_a_budget_that_never_began_or_is_over_does_nothing():
    loop = LampLoop()
    loop._stop_budget(m.StopBudget())
    loop.feed(m.AddTapped())
    loop._stop_budget(m.StopBudget())
    assert loop.state is Lamp.ON


def test_what_no_row_allows_is_recorded_and_changes_nothing():
    loop = LampLoop()
    loop.feed(m.CanAddCard())
    assert steps(loop) == [(0.0, "refused", "CanAddCard", "off", "off")]
    assert (loop.state, loop.trace[0].rules, loop.trace[0].attempt) == (Lamp.OFF, m.CanAddCard.rules, 0)


def test_an_aside_is_recorded_by_its_kind_and_steps_nothing():
    loop = LampLoop()
    for aside in (m.WalletKitAsked(), m.Noted("a note")):
        loop.feed(aside)
    assert [(record.kind, record.before, record.after) for record in loop.trace] == [
        (Kind.EXCHANGE, "off", "off"),
        (Kind.NOTE, "off", "off"),
    ]


def test_each_record_says_which_attempt_it_belongs_to_and_a_refused_tap_begins_none():
    loop = LampLoop()
    for delay in (0.0, 0.5, 2.0):
        loop.soon(m.AddTapped(), delay)
    loop.run()
    taps = loop.trace.select(m.AddTapped)
    assert [(record.kind, record.attempt) for record in taps] == [("event", 1), ("refused", 1), ("event", 2)]
    assert loop.trace[-1].attempt == 2


def test_a_records_rules_are_the_rows_and_a_commands_own_before_those():
    loop = LampLoop()
    loop.feed(m.AddTapped())
    assert loop.trace[0].rules == ("B-CAN-1",)
    assert loop.trace.select(m.StopBudget)[0].rules == ("B-CAN-1",)
    assert loop.trace.select(m.StartProvisionBudget)[0].rules == ("B-DEL-3",)


def test_soon_runs_nothing_yet_and_due_says_when_it_will():
    loop = LampLoop()
    assert loop.due is None
    loop.soon(m.AddTapped(), 2.5)
    assert (loop.due, len(loop.trace)) == (2.5, 0)


def test_what_is_allowed_now_is_what_the_table_has_rows_for():
    loop = LampLoop()
    assert loop.allowed == (m.AddTapped,)
    loop.state = Lamp.WAITING
    assert loop.allowed == (m.CanAddCard, m.DelegateTimeSpent)


@pytest.mark.parametrize("wrong", ["x", None, m.AddTapped, m.ShowButton(), 5])
def test_only_an_event_can_be_fed(wrong):
    loop = LampLoop()
    with pytest.raises(ParameterError, match=r"^feed takes an event, such as AddTapped\(\), not "):
        loop.feed(wrong)
    assert (len(loop.trace), loop.due) == (0, None)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"times": "x"}, "times is 'x'"),
        ({"times": -1}, "times is -1"),
        ({"times": True}, "times is True"),
        ({"every": "x"}, "every is 'x'"),
        ({"every": -0.1}, "every is -0.1"),
    ],
    ids=str,
)
def test_taps_are_counted_and_timed_in_numbers(wrong, words):
    run = PlatformARun()
    with pytest.raises(ParameterError, match=words):
        run.tap(**wrong)
    assert (len(run.trace), run.due) == (0, None)


class Stopped(BackEnd):
    """A back end in whose call the cell is stopped: its first, or its second."""

    def __init__(self, nth):
        super().__init__(simulated_back_end().api)
        self.left = nth

    def exchange(self, payment_instrument_id, sdk_output=None, **more):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return super().exchange(payment_instrument_id, sdk_output, **more)


@pytest.mark.parametrize("kind", [PlatformARun, PlatformBRun])
@pytest.mark.parametrize(("nth", "state"), [(1, "unavailable"), (2, "failed")])
def test_a_cell_that_is_stopped_in_the_back_end_leaves_nothing_stuck(kind, nth, state):
    run = kind(back_end=Stopped(nth))
    with pytest.raises(KeyboardInterrupt):
        run.walk()
    assert (run.state, run.due) == (state, None)
    run.walk()
    assert run.state == "in the wallet"
