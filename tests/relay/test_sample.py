"""The reference relay as a lesson runs it: in this process, quickly, and the same on every run."""

import logging
import re

import pytest

from workbook.errors import ParameterError
from workbook.notebook.conform import ODD_CARDS, RELAY_CARDS, RELAY_SESSIONS, Refused, Relay, Result, judge

BLANKS = ("relay.get.text-outer-blanks", "relay.post.text-outer-blanks")


class Tidy(Relay):
    """It trims what it hands on."""

    def sdk_input(self, answered):
        return super().sdk_input(answered).strip()


@pytest.mark.slow
@pytest.mark.rule("API-7")
def test_the_reference_passes_and_a_relay_made_of_it_is_caught():
    assert {case.verdict for case in judge(Relay, *BLANKS).cases} == {"pass"}
    assert [case.name for case in judge(Tidy, *BLANKS).ended("fail")] == list(BLANKS)


@pytest.mark.slow
def test_the_same_seed_says_the_same_to_the_letter():
    first, second = (Result(judge(Tidy, "relay.get.text-*", seed=3)).text() for _ in range(2))
    assert first == second
    assert not re.search(r"127\.0\.0\.1|\d s\b", first)


def test_a_record_names_the_class_and_no_address_that_is_gone():
    about = judge(Tidy, BLANKS[0]).about
    assert about.target == "Tidy"
    assert "://" not in about.base_url


@pytest.mark.slow
def test_known_failures_are_known_and_stale_ones_are_told():
    known = dict.fromkeys(BLANKS, "ticket 123")
    assert {case.verdict for case in judge(Tidy, *BLANKS, known=known).cases} == {"known"}
    told = Result(judge(Relay, *BLANKS, known=known)).text()
    assert all(f"{name}: " in told or name in told for name in BLANKS)
    assert "stale" in told


@pytest.mark.rule("REL-3")
def test_what_a_relay_logs_is_scanned_and_stays_off_the_console(caplog, capsys):
    class Chatty(Relay):
        def sdk_input(self, answered):
            logging.getLogger("relay").info("the API answered %s", answered)
            return super().sdk_input(answered)

    kept = logging.getLogger("relay").level, logging.getLogger("relay").propagate
    assert [case.name for case in judge(Chatty, "relay.log.no-opaque-data").ended("fail")]
    assert (logging.getLogger("relay").level, logging.getLogger("relay").propagate) == kept
    assert logging.getLogger("relay").handlers == []
    assert capsys.readouterr() == ("", "")


def test_two_cardholders_have_cards_of_their_own():
    ann, bob = RELAY_SESSIONS.values()
    assert sorted([*ann, *bob]) == sorted((*RELAY_CARDS, *ODD_CARDS))
    assert not set(ann) & set(bob)


@pytest.mark.parametrize("wrong", [None, "Relay", Refused, dict, Relay("http://127.0.0.1:9", "k", {})])
def test_what_is_no_relay_is_refused(wrong):
    with pytest.raises(ParameterError, match=r"is no relay\. Give a class: class Mine\(Relay\)"):
        judge(wrong)


def test_a_pattern_that_means_nothing_is_refused():
    with pytest.raises(ParameterError, match="No case and no group 'fidelty'"):
        judge(Relay, "fidelty")
