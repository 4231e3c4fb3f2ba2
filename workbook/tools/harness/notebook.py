"""A result in a notebook: how the run ended, what to do first, and one case with both sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from workbook.base.values import lookup
from workbook.tools.harness.compare import CaseChange, compare_reports
from workbook.tools.harness.model import ReportedMessage, Verdict
from workbook.tools.harness.output import to_html, write_reports
from workbook.tools.harness.report import FAILING, PHONE, CaseRecord, RunRecord, timeless
from workbook.tools.harness.summary import Step, Values, by_group, counts, headline, steps_by_app, to_look_at, todos
from workbook.views.html import View
from workbook.views.table import Stack, Table, facts, statement, table


def case_view(case: CaseRecord) -> Stack:
    """What the case expected, what it observed, and both sides in the order of time, with a table for each app."""
    rule, _, text = case.rule_in_words.partition(": ")
    lines = [("the case", case.says), (rule, text)]
    who = f"for {case.owner.in_a_sentence}"
    for miss in case.misses:
        lines += [("expected", miss.expected), ("observed", timeless(miss.observed)), (who, miss.todo)]
        lines += [("read more", miss.see)] if miss.see else []
    if not case.misses:
        lines.append(("so", case.why or case.verdict.meaning))
    views = [facts(f"{case.verdict.mark} {case.verdict}  {case.name}", lines)]
    values = Values()
    for app, steps in steps_by_app(case.exchanges).items():
        with_app = f" with the app of {app}" if app else ""
        rows = [row for step in steps for row in _rows(step, values)]
        views.append(table(f"Both sides{with_app}, in the order of time", ("from", "to", "what"), rows))
    return Stack(tuple(views))


def _first_rows(title: str, head: Iterable[str], rows: Sequence[tuple[object, ...]]) -> list[Table]:
    """A table of 20 rows at most, because `conform.html` has them all; none without rows."""
    number = f" (20 of {len(rows)})" if len(rows) > 20 else ""
    return [table(f"{title}{number}", head, rows[:20])] if rows else []


def _missed(case: CaseRecord) -> str:
    """What was expected and what was observed first."""
    if not case.misses:
        return case.why or case.verdict.meaning
    first, *more = case.misses
    return f"{first.expected}; {timeless(first.observed)}{f' (and {len(more)} more)' if more else ''}"


def _rows(step: Step, values: Values) -> Iterator[tuple[str, str, str]]:
    """A request and an answer: from whom, to whom, and what; equal values have one letter."""

    def body(message: ReportedMessage | None) -> str:
        return f" {values.text(message.body)}" if message is not None and message.body is not None else ""

    exchange = step.exchange
    near, far = ("phone", "back end") if exchange.side == PHONE else ("back end", "API")
    if step.asks:
        yield near, f"→ {far}", f"{exchange.method} {exchange.path}{body(exchange.request)}"
    if step.answers:
        status = "no answer" if exchange.status is None else f"{exchange.status}{body(exchange.answer)}"
        yield far, f"→ {near}", f"{status} ({exchange.ending})" if exchange.ending else status


class Result(View):
    """The result of judging a back end or an app.

    Attributes:
        record: everything that the reports are made of.
        note: a sentence about where the record comes from; empty where it was just made.
    """

    next_steps = (
        'Next: result.failed, .case(NAME), .changes(OTHER), .write(FOLDER), .exit_code; wb.show(result, "report").'
    )

    def __init__(self, record: RunRecord, note: str = "") -> None:
        self.record = record
        self.note = note

    @property
    def exit_code(self) -> int:
        """The exit code of `workbook conform`: 0 when all is well; see `report`."""
        return self.record.about.exit_code

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the cases to judge again: failed, ended in a harness error, or did not finish."""
        names = (case.name for case in self.record.ended(*FAILING, Verdict.HARNESS_ERROR))
        return (*names, *self.record.about.unfinished)

    def __len__(self) -> int:
        return len(self.record.cases)

    def case(self, name: str) -> View:
        """One case: what was expected, what was observed, and the messages on both sides of the back end.

        Raises:
            ParameterError: the run has no such case.
        """
        return case_view(self._case(name))

    def verdict(self, name: str) -> str:
        """The verdict of one case, such as `pass` or `fail`.

        Raises:
            ParameterError: the run has no such case.
        """
        return str(self._case(name).verdict)

    def changes(self, later: Result) -> Table:
        """What a later run has fixed, broken, or left as it was; cases that it left out are only counted."""
        comparison = compare_reports(self.record, later.record)
        left_out = CaseChange.GONE if later.record.about.partial else None
        changed = (case for case in comparison.changed if case.change is not left_out)
        rows = ((case.change, case.name, case.verdicts) for case in changed)
        return table(comparison.headline, ("change", "case", "verdict"), rows)

    @property
    def report(self) -> str:
        """The page `conform.html`: every case with both sides of the back end.

        Raises:
            LeakError: it would hold a secret.
        """
        page = to_html(self.record)
        self.record.secrets.check({"conform.html": page})
        return page

    def write(self, folder: str | Path) -> list[Path]:
        """Write `conform.json`, `.html`, `.xml` and `.md` into a folder, all of them or none."""
        return write_reports(self.record, Path(folder))

    def shown(self) -> View:
        """How it ended, what to do first, and every case that did not pass."""
        record = self.record
        about = self.record.about
        sentences = (self.note, headline(record), about.trouble, *about.stale)
        views: list[View] = [statement(sentence) for sentence in sentences if sentence]
        if verdicts := counts(record):
            head = ("group", *(f"{verdict.mark} {verdict}" for verdict, _count in verdicts))
            views.append(table("By group", head, ((group, *(n or "" for n in row)) for group, row in by_group(record))))
        advice = [(todo.verdict.mark, todo.verdict, len(todo.cases), todo.text) for todo in todos(record)]
        views += _first_rows("What to do first", ("", "verdict", "cases", "what"), advice)
        unsettled = to_look_at(record)
        missed = [(case.name, f"{case.verdict.mark} {case.verdict}", case.rule, _missed(case)) for case in unsettled]
        views += _first_rows("What did not hold", ("case", "verdict", "rule", "expected; observed"), missed)
        return Stack(tuple(views))

    def text(self) -> str:
        """What is shown, and what can be done next."""
        return f"{self.shown().text()}\n{self.next_steps}"

    def html(self) -> str:
        """What is shown, as HTML."""
        return self.shown().html()

    def _case(self, name: str) -> CaseRecord:
        return lookup("case", name, {case.name: case for case in self.record.cases})
