"""A signal asks once for the end of a run, breaks off nothing, and means afterwards what it meant before."""

import os
import signal
import threading

import pytest

from workbook.tools.harness.program import Stopping


def press(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_only_the_first_signal_is_passed_on_and_none_raises(number):
    before, came = signal.getsignal(number), []
    with Stopping() as stopping:
        stopping.begin(lambda: came.append(1))
        for _ in range(3):
            press(number)
    assert (came, stopping.asked, signal.getsignal(number)) == ([1], True, before)


def test_before_it_begins_a_signal_means_what_it_means():
    with pytest.raises(KeyboardInterrupt), Stopping():
        press()


def test_the_last_thing_of_a_process_is_not_broken_off_either():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        with Stopping(last=True) as stopping:
            stopping.begin(lambda: None)
            press()
        press()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_on_another_thread_no_signal_is_touched():
    before, failed = signal.getsignal(signal.SIGINT), []

    def run():
        try:
            with Stopping() as stopping:
                stopping.begin(lambda: None)
                failed.append(signal.getsignal(signal.SIGINT) != before)
        except ValueError:
            failed.append(True)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failed == [False]
