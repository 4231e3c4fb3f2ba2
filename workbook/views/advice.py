"""What a good back end does about a failure: the whole table, or the row that fits one failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.checks.advice import ADVICE
from workbook.views.facts import Facts, facts
from workbook.views.table import Table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.checks.advice import Advice

TITLE = "What a good back end does about it"


def advised(advice: Advice) -> Facts:
    """What fits one failure, as a card."""
    return facts(TITLE, [("the failure", advice.kind), *_lines(advice)])


def advice_table() -> Table:
    """Every kind of failure that a back end can tell apart, and what to do about it."""
    rows = [(one.kind if not number else "", *line) for one in ADVICE for number, line in enumerate(_lines(one))]
    return table("What a good back end does about a failure", ("the failure", "point", "what to do"), rows)


def _lines(advice: Advice) -> Iterator[tuple[str, str]]:
    yield "seen as", advice.seen_as
    yield "on a GET", advice.on_get
    yield "on a POST", advice.on_post
    yield "tells the app", advice.to_app
