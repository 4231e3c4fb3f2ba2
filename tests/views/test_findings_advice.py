"""What a good back end does about a failure, as a table and as a card."""

import re
from itertools import pairwise

import pytest

from workbook.api.exchange import Options
from workbook.checks.api import REMEDIES
from workbook.lessons.faults import fault_table
from workbook.lessons.session import session
from workbook.views.findings import advice_matrix, advice_table, show_advice, waits


def test_advice_reads_as_a_table(golden):
    golden("advice", advice_table().text())


def test_faults_read_as_tables(golden):
    golden("faults", fault_table().text())


def test_a_fault_reads_as_a_scene_with_its_advice_last(golden):
    golden("fault_scene", session().break_it("reset", "GET", platform="platform B, in the app").__repr__())


def test_a_card_says_what_the_table_says():
    cards = [row[1] for one in REMEDIES for row in show_advice(one).rows[1:]]
    assert cards == [row[2] for row in advice_table().rows]


def test_the_matrix_has_a_row_for_each_failure_and_a_sign_for_each_request():
    shown = advice_matrix()
    assert shown.text() == advice_table().text()
    rows = re.findall("<tr>(.*?)</tr>", shown.html())[1:]
    signs = [re.findall("[↻✗✓]", row) for row in rows]
    assert signs == [["↻", "↻"], ["↻", "✗"], ["↻", "✗"], ["✗", "✗"], ["✗", "✗"], ["✗", "✗"], ["✓", "✓"]]


@pytest.mark.rule("REL-5")
def test_each_limit_lies_within_that_of_whoever_waits_longer():
    shown = waits()
    seconds = [float(wait) for wait in re.findall(r"([\d.]+) s \(", shown.text())]
    assert seconds == sorted(seconds)
    assert len(set(seconds)) == 4
    attempts = Options().retries.attempts
    assert attempts * seconds[0] < seconds[1]
    one, *others = [99 * inner / outer for inner, outer in pairwise(seconds)]
    shares = [float(share) for share in re.findall(r"width:([\d.]+)%", shown.html())]
    assert shares == pytest.approx([99, *reversed(others), *[one] * attempts], abs=0.1)
