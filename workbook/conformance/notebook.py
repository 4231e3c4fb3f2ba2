"""`conform` in a notebook: judges a relay class in this process, or the back end of a configuration file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbook.conformance import baseline, config_file, sample, session
from workbook.conformance.cases import CASES
from workbook.conformance.compare import Change, compare
from workbook.conformance.model import MEANINGS, Values
from workbook.conformance.report import (
    MARKS,
    PHONE,
    CaseRecord,
    Exchange,
    Message,
    Record,
    begin_here,
    by_group,
    counts,
    headline,
    timeless,
    to_look_at,
    todos,
)
from workbook.conformance.reports import write_reports
from workbook.conformance.selection import chosen
from workbook.values import lookup
from workbook.views.html import View, tag, trusted
from workbook.views.table import Facts, Table, facts, paragraph, table

# A record in a notebook: how the run ended, what to do first, one case with both sides, and what changed since a run.
#
# Views leave out times, addresses and headers, which differ on every run; `conform.html` has them.

MOST = 20
"""Rows of each table; `conform.html` has them all."""


@dataclass(frozen=True, slots=True, repr=False)
class Parts(View):
    """Sentences and tables, one below the other."""

    parts: tuple[str | Facts | Table, ...]

    def text(self) -> str:
        """All of it as text."""
        return "\n\n".join(part if isinstance(part, str) else part.text() for part in self.parts)

    def html(self) -> str:
        """The same as HTML."""
        parts = (paragraph(part) if isinstance(part, str) else trusted(part.html()) for part in self.parts)
        return tag("div", *parts)


def conformance(record: Record) -> Parts:
    """How the run ended, what to do first, and what did not hold."""
    about = record.about
    parts: list[str | Facts | Table] = [headline(record)]
    parts += [sentence for sentence in (about.trouble, *about.stale, begin_here(record)) if sentence]
    if verdicts := counts(record):
        head = ("group", *(f"{MARKS[verdict]} {verdict}" for verdict, _count in verdicts))
        parts.append(table("By group", head, ((group, *(n or "" for n in row)) for group, row in by_group(record))))
    if advice := todos(record):
        rows = ((MARKS[todo.verdict], todo.verdict, len(todo.cases), todo.text) for todo in advice[:MOST])
        parts.append(table(_title("What to do first", len(advice)), ("", "verdict", "cases", "what"), rows))
    if cases := to_look_at(record):
        head = ("case", "verdict", "rule", "expected; observed")
        parts.append(table(_title("What did not hold", len(cases)), head, map(_row, cases[:MOST])))
    return Parts(tuple(parts))


def one_case(record: Record, name: str) -> Parts:
    """One case of a record.

    Raises:
        ParameterError: the record has no such case.
    """
    return shown_case(lookup("case", name, {case.name: case for case in record.cases}))


def shown_case(case: CaseRecord) -> Parts:
    """What the case expected, what it observed, and both sides in the order of time, with a table for each app."""
    lines = [("the case", case.says), (f"{case.rule.id} ({case.rule.level})", case.rule.text)]
    for miss in case.misses:
        lines += [
            ("expected", miss.expected),
            ("observed", timeless(miss.observed)),
            (f"for {case.owner}", miss.todo),
        ]
    if not case.misses:
        lines.append(("so", case.why or MEANINGS[case.verdict]))
    parts: list[str | Facts | Table] = [facts(f"{MARKS[case.verdict]} {case.verdict}  {case.name}", lines)]
    values, apps = Values(), dict.fromkeys(exchange.platform for exchange in case.exchanges)
    for app in apps:
        with_app = f" with the app of {app}" if len(apps) > 1 else ""
        exchanges = [exchange for exchange in case.exchanges if exchange.platform == app]
        title = f"Both sides{with_app}, in the order of time"
        parts.append(table(title, ("from", "to", "what"), _rows(exchanges, values)))
    return Parts(tuple(parts))


def case_table(*patterns: str) -> Table:
    """The cases that these names, groups or globs select; all cases without any.

    Raises:
        ParameterError: a pattern selects no case.
    """
    rows = ((case.name, f"{case.rule} ({case.rests_on.level})", case.says) for case in chosen(CASES, patterns))
    return table("What is asked", ("case", "rule", "in a sentence"), rows)


def changes(old: Record, new: Record) -> Table:
    """What changed from one run to another; cases that the new run left out are only counted."""
    comparison = compare(old, new)
    changed = (case for case in comparison.changed if case.change is not Change.NOT_RUN)
    rows = ((case.change, case.name, case.verdicts) for case in changed)
    return table(comparison.headline, ("change", "case", "verdict"), rows)


def _title(title: str, count: int) -> str:
    return f"{title} ({MOST} of {count})" if count > MOST else title


def _row(case: CaseRecord) -> tuple[str, ...]:
    what = case.why or MEANINGS[case.verdict]
    if case.misses:
        first, *more = case.misses
        what = f"{first.expected}; {timeless(first.observed)}{f' (and {len(more)} more)' if more else ''}"
    return case.name, f"{MARKS[case.verdict]} {case.verdict}", case.rule.id, what


def _rows(exchanges: list[Exchange], values: Values) -> list[tuple[str, str, str]]:
    """Each request and each answer: from whom, to whom, and what; equal values have one letter."""

    def body(message: Message | None) -> str:
        return f" {values.text(message.body)}" if message is not None and message.body is not None else ""

    steps: list[tuple[float, Exchange, bool]] = []
    for exchange in exchanges:
        ended = exchange.at if exchange.ended is None else exchange.ended
        steps += [(exchange.at, exchange, True), (ended, exchange, False)]
    rows = []
    for _moment, exchange, asks in sorted(steps, key=lambda step: step[0]):
        near, far = ("phone", "back end") if exchange.side == PHONE else ("back end", "API")
        if asks:
            rows.append((near, f"→ {far}", f"{exchange.method} {exchange.path}{body(exchange.request)}"))
        else:
            status = "no answer" if exchange.status is None else f"{exchange.status}{body(exchange.answer)}"
            rows.append((far, f"→ {near}", f"{status} ({exchange.ending})" if exchange.ending else status))
    return rows


NEXT = "Next: result.failed, .case(NAME), .changes(OTHER), .write(FOLDER), .exit_code."


class Result(View):
    """What judging a back end came to.

    Attributes:
        record: everything that the reports are made of.
    """

    def __init__(self, record: Record) -> None:
        self.record = record

    @property
    def exit_code(self) -> int:
        """The exit code that `workbook conform` ends with: 0 when no case failed."""
        return self.record.about.exit_code

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the cases that did not pass, to judge them again."""
        return tuple(self.record.to_rerun)

    def __len__(self) -> int:
        return len(self.record.cases)

    def case(self, name: str) -> View:
        """One case: what was expected, what was observed, and the messages on both sides of the back end.

        Raises:
            ParameterError: the run has no such case.
        """
        return one_case(self.record, name)

    def verdict(self, name: str) -> str:
        """The verdict of one case, such as `pass` or `fail`.

        Raises:
            ParameterError: the run has no such case.
        """
        return str(next(case.verdict for case in self.record.cases if case.name == name))

    def changes(self, later: Result) -> View:
        """What a later run has mended, broken, or left as it was."""
        return changes(self.record, later.record)

    def write(self, folder: str | Path) -> list[Path]:
        """Write `conform.json`, `.html`, `.xml` and `.md` into a folder, all of them or none."""
        return write_reports(self.record, Path(folder))

    def text(self) -> str:
        """How it ended, what to do first, and every case that did not pass."""
        return f"{conformance(self.record).text()}\n{NEXT}"

    def html(self) -> str:
        """The same as HTML."""
        return conformance(self.record).html()


def conform(what: Any = sample.Relay, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> Result:
    """Judge a back end between a simulated phone and a simulated API, case by case.

    Args:
        what: a class of a relay, run in this process; or the path of a `back-end.toml`, which says where yours is.
        only: names, groups and globs of cases; none means all.
        seed: of everything that the run makes up.
        known: known failures: the name of each case with a comment.

    Returns:
        The result: it shows itself, and has `failed`, `case`, `changes`, `write` and `exit_code`.

    Raises:
        ParameterError: `what` is neither a relay's class nor a file, or a pattern means no case.
        ConfigurationError: the file has mistakes; each is named.

    Example:
        >>> import workbook as wb
        >>> wb.conform(wb.Relay, "relay.get.path").exit_code
        0
    """
    entries = tuple(baseline.Known(name, comment) for name, comment in (known or {}).items())
    if isinstance(what, str | Path):
        options = session.RunOptions(chosen(CASES, only), known=entries, only=only)
        return Result(session.conform(config_file.load(Path(what)), options))
    return Result(sample.judge(what, *only, seed=seed, known=entries))
