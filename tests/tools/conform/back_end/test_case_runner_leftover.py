"""What a slow back end still sends for an earlier case is no other case's."""

import threading

import pytest
import reference
import relays

from workbook.tools.harness.model import Verdict

CASES = ("relay.post.unknown-fields", "relay.attempt.one-of-each")
WAITS = 0.5
"""Seconds until the first POST is sent once more, in the middle of the second case's."""


class Straggles(reference.Relay):
    """The POST of the first case reaches the API once more while the second case is under way."""

    def __init__(self, *words, **more):
        super().__init__(*words, **more)
        self.came, self.again = 0, threading.Event()

    def post(self, card, sdk_output):
        self.came += 1
        if self.came == 1:
            threading.Timer(WAITS, self.once_more, (card, sdk_output)).start()
        else:
            self.again.wait(10)
        return super().post(card, sdk_output)

    def once_more(self, card, sdk_output):
        super().post(card, sdk_output)
        self.again.set()


class SendsTwice(reference.Relay):
    """It sends each POST twice."""

    def post(self, card, sdk_output):
        super().post(card, sdk_output)
        return super().post(card, sdk_output)


@pytest.mark.slow
@pytest.mark.rule("REL-1")
@pytest.mark.parametrize(("kind", "verdict"), [(Straggles, Verdict.PASS), (SendsTwice, Verdict.FAIL)])
def test_only_what_a_case_sent_itself_is_counted(monkeypatch, kind, verdict):
    monkeypatch.setattr(relays, "kinds", lambda: {"mine": kind})
    one_surface = {"surfaces": {"platform A": relays.surface()}}
    *_before, last = relays.results("mine", CASES, **one_surface)
    assert last.verdict is verdict
    assert ("REL-1" in {miss.rule for miss in last.misses}) is (verdict is Verdict.FAIL)
