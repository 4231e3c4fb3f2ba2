"""What a reader wants to know first: how it ended, how many of each, and what to do in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.conformance.report import FAILING, UNDECIDED
from workbook.conformance.report_cause import cause, in_order
from workbook.conformance.verdict import MEANINGS, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.conformance.report import CaseRecord, Record

GRAVEST_FIRST = (
    Verdict.FAIL,
    Verdict.FLAKY,
    Verdict.HARNESS_ERROR,
    Verdict.WARN,
    Verdict.KNOWN,
    Verdict.NOT_TESTABLE,
    Verdict.NOTE,
    Verdict.PASS,
    Verdict.NOT_APPLICABLE,
    Verdict.DISABLED,
)
MARKS: Mapping[Verdict, str] = {
    Verdict.PASS: "✓",
    Verdict.WARN: "▲",
    Verdict.FAIL: "✗",
    Verdict.NOTE: "•",
    Verdict.NOT_TESTABLE: "○",
    Verdict.NOT_APPLICABLE: "-",
    Verdict.DISABLED: "-",
    Verdict.KNOWN: "◆",
    Verdict.FLAKY: "≈",
    Verdict.HARNESS_ERROR: "!",
}
"""Each verdict's symbol; the verdict stands beside it in words."""
SETTLED = (Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.DISABLED)
"""Nobody has to look at these."""
LENIENT = "Warnings fail the run with --strict only."
_TIME = re.compile(r", after \d+(\.\d+)? s|; the line, without its values: .*")


@dataclass(frozen=True, slots=True)
class Todo:
    """One thing to do, and what it is for.

    Attributes:
        verdict: the gravest of the cases that ask for it.
        text: what to do.
        cases: the names of those cases.
        rules: the ids of the rules that are broken.
    """

    verdict: Verdict
    text: str
    cases: tuple[str, ...]
    rules: tuple[str, ...]


def headline(record: Record) -> str:
    """How the run ended, in one sentence or two."""
    told = " ".join(_ended(record))
    left = len(record.about.unfinished)
    if record.about.interrupted or left:
        told += f" The run was interrupted: {_cases(left)} did not come to an end." if left else " It was interrupted."
    return told


def _ended(record: Record) -> Iterator[str]:
    total, bad = len(record.cases), record.ended(*FAILING - {Verdict.KNOWN})
    if not total:
        yield "No case came to an end."
    elif bad:
        yield f"{len(bad)} of {_cases(total)} did not hold: {_told(record, *GRAVEST_FIRST)}."
        if not record.about.strict and all(case.verdict is Verdict.WARN for case in bad):
            yield LENIENT
    elif record.ended(*UNDECIDED):
        yield f"Of {_cases(total)} none failed, and some could not be decided: {_told(record, *GRAVEST_FIRST)}."
    else:
        yield f"{_cases(total)}, and none failed: {_told(record, *GRAVEST_FIRST)}."
    if stale := len(record.about.stale):
        yield f"The baseline has {stale} stale {'entry' if stale == 1 else 'entries'}."


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def _told(record: Record, *verdicts: Verdict) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in counts(record) if verdict in verdicts)


def counts(record: Record) -> list[tuple[Verdict, int]]:
    """How many cases ended with each verdict that occurs, the gravest first."""
    every = ((verdict, len(record.ended(verdict))) for verdict in GRAVEST_FIRST)
    return [(verdict, count) for verdict, count in every if count]


def by_group(record: Record) -> list[tuple[Group, list[int]]]:
    """For each group that occurs: how many of its cases ended with each verdict of `counts`."""
    verdicts = [verdict for verdict, _count in counts(record)]
    rows = ((group, [_in(group, record.ended(verdict)) for verdict in verdicts]) for group in Group)
    return [(group, row) for group, row in rows if any(row)]


def _in(group: Group, cases: tuple[CaseRecord, ...]) -> int:
    return sum(case.group is group for case in cases)


def to_look_at(record: Record) -> list[CaseRecord]:
    """The cases that somebody has to look at, the gravest first, else in their order.

    Where nothing worked any more from some moment on, the order is that of time.
    """
    open_ = (case for case in record.cases if case.verdict not in SETTLED)
    return sorted(in_order(open_, cause(record)), key=lambda case: GRAVEST_FIRST.index(case.verdict))


def todos(record: Record) -> list[Todo]:
    """What to do, the gravest first, then in the order of the cases: the later ones build on the earlier ones.

    Advice that is only for what follows from a cause that stands out comes after all other of its verdict.
    """
    asked: dict[str, list[tuple[CaseRecord, str]]] = {}
    for case in to_look_at(record):
        if case.verdict is not Verdict.NOTE:
            for text, rule in _asks(case):
                asked.setdefault(text, []).append((case, rule))
    found, first = [_todo(text, by) for text, by in asked.items()], cause(record)
    return sorted(found, key=lambda one: (GRAVEST_FIRST.index(one.verdict), first.follows(one.text)))


def begin_here(record: Record) -> str:
    """What many of the failures may follow from, in a sentence or two; empty where nothing stands out."""
    return cause(record).says


def _asks(case: CaseRecord) -> Iterator[tuple[str, str]]:
    """What a case asks for; without a miss its verdict says why it is as it is."""
    for miss in case.misses:
        if not miss.noted:
            yield miss.todo, miss.rule
    if not case.misses:
        yield case.why or MEANINGS[case.verdict], case.rule.id


def _todo(text: str, by: list[tuple[CaseRecord, str]]) -> Todo:
    names = tuple(dict.fromkeys(case.name for case, _rule in by))
    rules = tuple(dict.fromkeys(rule for _case, rule in by if rule))
    return Todo(by[0][0].verdict, text, names, rules)


def timeless(text: str) -> str:
    """What was observed without how long it took and without a line of a log, which are never the same."""
    return _TIME.sub("", text)
