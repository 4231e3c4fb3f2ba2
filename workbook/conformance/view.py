"""A record in a notebook: how it ended, what to do first, what did not hold, and what changed since another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.cases import CASES
from workbook.conformance.compare import Change, compare
from workbook.conformance.report_summary import (
    MARKS,
    begin_here,
    by_group,
    counts,
    headline,
    timeless,
    to_look_at,
    todos,
)
from workbook.conformance.selection import chosen
from workbook.conformance.verdict import MEANINGS
from workbook.views.markup import tag, trusted
from workbook.views.table import paragraph, table
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.conformance.report import CaseRecord, Record
    from workbook.views.table import Table

MOST = 20
"""Rows of each table; `conform.html` has them all."""


@dataclass(frozen=True, slots=True, repr=False)
class Conformance(View):
    """A record to look at. What it says is what the report says."""

    record: Record

    def text(self) -> str:
        """The headline and the tables."""
        return "\n\n".join([*self._sentences(), *(one.text() for one in self._tables())])

    def html(self) -> str:
        """The same as HTML."""
        return tag("div", *map(paragraph, self._sentences()), *(trusted(one.html()) for one in self._tables()))

    def _sentences(self) -> Iterator[str]:
        yield headline(self.record)
        if self.record.about.trouble:
            yield self.record.about.trouble
        yield from self.record.about.stale
        if first := begin_here(self.record):
            yield first

    def _tables(self) -> Iterator[Table]:
        record = self.record
        if found := counts(record):
            head = ("group", *(f"{MARKS[verdict]} {verdict}" for verdict, _count in found))
            yield table("By group", head, ((group, *(count or "" for count in row)) for group, row in by_group(record)))
        if asked := todos(record):
            rows = ((MARKS[one.verdict], one.verdict, len(one.cases), one.text) for one in asked[:MOST])
            yield table(_title("What to do first", len(asked)), ("", "verdict", "cases", "what"), rows)
        if open_ := to_look_at(record):
            title = _title("What did not hold", len(open_))
            yield table(title, ("case", "verdict", "rule", "expected; observed"), map(_row, open_[:MOST]))


def conformance(record: Record) -> Conformance:
    """The view of a record."""
    return Conformance(record)


def case_table(*patterns: str) -> Table:
    """The cases that these names, groups or globs mean; all where there is none.

    Raises:
        ParameterError: a pattern means no case.
    """
    rows = ((case.name, f"{case.rule} ({case.rests_on.level})", case.says) for case in chosen(CASES, patterns))
    return table("What is asked", ("case", "rule", "in a sentence"), rows)


def changes(old: Record, new: Record) -> Table:
    """What changed from one run to another; a case that the later one left out is only counted."""
    found = compare(old, new)
    rows = ((one.change, one.name, one.verdicts) for one in found.changed if one.change is not Change.NOT_RUN)
    return table(found.headline, ("change", "case", "verdict"), rows)


def _title(title: str, count: int) -> str:
    return f"{title} ({MOST} of {count})" if count > MOST else title


def _row(case: CaseRecord) -> tuple[str, ...]:
    miss = next(iter(case.misses), None)
    told = f"{miss.expected}; {timeless(miss.observed)}" if miss else case.why or MEANINGS[case.verdict]
    more = f" (and {len(case.misses) - 1} more)" if len(case.misses) > 1 else ""
    return case.name, f"{MARKS[case.verdict]} {case.verdict}", case.rule.id, told + more
