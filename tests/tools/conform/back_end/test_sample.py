"""The reference relay as a lesson runs it: in this process, quickly, and the same on every run."""

import contextlib
import logging
import re
import sys
from types import SimpleNamespace

import pytest

from workbook.api.exchange import Options
from workbook.base.files import sample
from workbook.errors import ParameterError
from workbook.tools.conform.notebook import RELAY_CARDS, RELAY_SESSIONS, Refused, Relay, judge_relay
from workbook.tools.harness.output import Result

Again, asked_to_wait = (getattr(sys.modules[Relay.__module__], name) for name in ("Again", "asked_to_wait"))
BLANKS = ("relay.get.text-outer-blanks", "relay.post.text-outer-blanks")


class Tidy(Relay):
    """It trims what it hands on."""

    def sdk_input(self, answered):
        return super().sdk_input(answered).strip()


@pytest.mark.slow
@pytest.mark.rule("API-7")
def test_the_reference_passes_and_a_relay_made_of_it_is_caught():
    assert {case.verdict for case in judge_relay(Relay, *BLANKS).cases} == {"pass"}
    assert [case.name for case in judge_relay(Tidy, *BLANKS).ended("fail")] == list(BLANKS)


@pytest.mark.slow
def test_the_same_seed_says_the_same_to_the_letter():
    first, second = (Result(judge_relay(Tidy, "relay.get.text-*", seed=3)).text() for _ in range(2))
    assert first == second
    assert not re.search(r"127\.0\.0\.1|\d s\b", first)


@pytest.mark.slow
def test_a_record_names_the_class_and_no_address_that_is_gone():
    about = judge_relay(Tidy, BLANKS[0]).about
    assert about.target == "Tidy"
    assert "://" not in about.base_url


@pytest.mark.slow
@pytest.mark.rule("REL-3")
def test_what_a_relay_logs_is_scanned_and_stays_off_the_console(caplog, capsys):
    class Chatty(Relay):
        def sdk_input(self, answered):
            logging.getLogger("relay").info("the API answered %s", answered)
            return super().sdk_input(answered)

    kept = logging.getLogger("relay").level, logging.getLogger("relay").propagate
    assert [case.name for case in judge_relay(Chatty, "relay.log.no-opaque-data-ever").ended("fail")]
    assert (logging.getLogger("relay").level, logging.getLogger("relay").propagate) == kept
    assert logging.getLogger("relay").handlers == []
    assert capsys.readouterr() == ("", "")


def test_two_cardholders_have_cards_of_their_own():
    ann, bob = RELAY_SESSIONS.values()
    assert sorted([*ann, *bob]) == sorted(RELAY_CARDS)
    assert not set(ann) & set(bob)


@pytest.mark.parametrize("wrong", [None, "Relay", Refused, dict, Relay("http://127.0.0.1:9", "k", {})])
def test_what_is_no_relay_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"is no relay\. Give a class: class Mine\(Relay\)"):
        judge_relay(wrong)


@pytest.mark.rule("REL-1", "REL-5", "GAP-2")
def test_every_back_end_of_the_samples_keeps_the_limits_of_the_client():
    """The table that lessons print is made of the client's; the native apps' are compared in `test_native`."""
    limits = Options()
    expected = (limits.retries.attempts, limits.timeouts.get, limits.deadline)
    assert (Relay.attempts, Relay.patience, Relay("http://127.0.0.1:9", "k", {}).deadline) == expected
    python, node = (sample(f"back_ends/{name}").read_text("utf-8") for name in ("asgi.py", "node.js"))
    assert "ATTEMPTS, ANSWER = {}, {}".format(*expected) in python
    assert f"[ATTEMPTS, ANSWER] = [{expected[0]}, {1000 * expected[1]:.0f}]" in node
    assert '"RELAY_DEADLINE", "8"' in python
    assert 'RELAY_DEADLINE || "8"' in node


class Answers(Relay):
    """The API as a list of what each call brings, and a clock that only pauses move."""

    def __init__(self, *brings):
        super().__init__("http://127.0.0.1:9", "k", {"session": ["card"]})
        self.brings, self.calls = list(brings), 0

    def call(self, method, url, ends, body=None):
        self.calls += 1
        brought = self.brings.pop(0)
        if isinstance(brought, Refused):
            raise brought
        return brought


@pytest.mark.rule("REL-1", "GAP-2")
@pytest.mark.parametrize(
    ("brings", "calls"),
    [
        ([Again(502, "later"), (200, b"{}")], 2),
        ([Again(502, "later"), Again(504, "later"), Again(502, "later")], 3),
        ([Again(502, "later", 0.05), (200, b"{}")], 2),
        ([Again(502, "later", 9.0)], 1),  # longer than the call has left
        ([Refused(502, "too large")], 1),
    ],
)
def test_the_reference_asks_a_get_again_where_that_can_help(brings, calls):
    relay = Answers(*brings)
    with contextlib.suppress(Refused):
        relay.get("card")
    assert (relay.calls, relay.brings) == (calls, [])
    relay = Answers(Again(502, "later"))
    with pytest.raises(Refused):
        relay.post("card", "output")
    assert relay.calls == 1


@pytest.mark.rule("GAP-2")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT", "date": "Thu, 01 Jan 2026 12:00:00 GMT"}, 30.0),
        ({"retry-after": "Thu, 01 Jan 2026 12:00:30 GMT", "date": "soon"}, 0.0),
        ({"retry-after": "soon"}, 0.0),
        ({"retry-after": "²"}, 0.0),
        ({}, 0.0),
    ],
)
def test_the_reference_reads_a_retry_after(headers, seconds):
    assert asked_to_wait(SimpleNamespace(headers={"date": ""} | headers)) == seconds
