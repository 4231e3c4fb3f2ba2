"""A record as Markdown, short enough for the summary of a CI job. Whatever a back end said stays text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.conformance.leaks import MARKDOWN
from workbook.conformance.report_summary import MARKS, begin_here, by_group, counts, headline, to_look_at, todos
from workbook.conformance.verdict import MEANINGS, Verdict
from workbook.views.plain import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.conformance.report import CaseRecord, Record
    from workbook.conformance.report_summary import Todo

MOST = 40
"""Cases that are told one by one; a job's summary may hold a mebibyte."""
FEW = 10
"""Misses that are told of one case."""
LONGEST = 240
"""Characters of one text."""
LONGEST_CODE = 2000
"""Characters of one command line."""


def to_markdown(record: Record) -> str:
    """The summary: how it ended, how many of each, what to do, what failed, and how to run it again."""
    return "\n".join(line for block in _blocks(record) for line in (*block, "")).rstrip("\n") + "\n"


def escaped(text: object) -> str:
    """A text on one line, in which nothing is markup; it must not stand at the beginning of a line."""
    return MARKDOWN.sub(r"\\\g<0>", clean(text, LONGEST))


def code(text: object) -> str:
    """A text in letters of one width: between more backticks than stand in it."""
    line = clean(text, LONGEST_CODE)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line or ' '}{fence}"


def grid(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A table of cells that are Markdown already."""
    names = list(head)
    yield _row(names)
    yield _row(["---"] * len(names))
    yield from map(_row, rows)


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _blocks(record: Record) -> Iterator[Iterable[str]]:
    about = record.about
    yield [f"# Conformance of {escaped(about.target)}"]
    yield [f"**{escaped(headline(record))}**"]
    if about.trouble:
        yield [f"Trouble: {escaped(about.trouble)}"]
    if record.cases:
        yield grid(["group", *(_verdict(verdict) for verdict, _count in counts(record))], _groups(record))
    if found := todos(record):
        yield ["## What to do first"]
        if first := begin_here(record):
            yield [f"**{escaped(first)}**"]
        yield [f"{place}. {_todo(one)}" for place, one in enumerate(found[:MOST], 1)] + _more(len(found))
    yield from _cases(record)
    if about.stale:
        yield ["## The baseline"]
        yield [f"- Stale: {escaped(one)}" for one in about.stale[:MOST]] + _more(len(about.stale))
    told = f"Started {escaped(about.started)}, seed {about.seed}, {about.seconds:.1f} s."
    yield [f"{told} Run it again: {code(about.command)}"]


def _groups(record: Record) -> Iterator[list[object]]:
    for group, row in by_group(record):
        yield [group.value, *(count or "" for count in row)]
    yield ["**all**", *(f"**{count}**" for _verdict, count in counts(record))]


def _todo(one: Todo) -> str:
    of = "one case" if len(one.cases) == 1 else f"{len(one.cases)} cases"
    rules = f" ({', '.join(map(escaped, one.rules))})" if one.rules else ""
    return f"{_verdict(one.verdict)}, {of}{rules}: {escaped(one.text)}"


def _cases(record: Record) -> Iterator[Iterable[str]]:
    found = [case for case in to_look_at(record) if case.verdict is not Verdict.NOT_TESTABLE]
    if found:
        yield ["## What did not hold"]
        for case in found[:MOST]:
            yield _case(case)
        yield from ([line] for line in _more(len(found)))


def _case(case: CaseRecord) -> Iterator[str]:
    yield f"### {_verdict(case.verdict)}: {code(case.name)}"
    yield ""
    rule = f"{escaped(case.rule.id)}, {case.rule.level}"
    yield f"Asked for ({rule}): {escaped(case.says)} For {escaped(case.owner)}."
    yield ""
    if case.why or not case.misses:
        yield f"- Why: {escaped(case.why or MEANINGS[case.verdict])}"
    for miss in case.misses[:FEW]:
        yield f"- Expected: {escaped(miss.expected)}. Observed: {escaped(miss.observed)}. {escaped(miss.todo)}"
    yield from _more(len(case.misses), FEW)
    yield f"- Run it again: {code(case.reproduce)}"


def _verdict(verdict: Verdict) -> str:
    return f"{MARKS[verdict]} {verdict}"


def _more(count: int, most: int = MOST) -> list[str]:
    return [f"- … and {count - most} more; see conform.html"] if count > most else []
