"""One case of a record in a notebook: what was expected, what was seen, and both sides of the back end in their order.

Without times, addresses and headers, which differ on every run; `conform.html` has them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.report import PHONE
from workbook.conformance.report_summary import MARKS, timeless
from workbook.conformance.values import Values
from workbook.conformance.verdict import MEANINGS
from workbook.errors import ParameterError, did_you_mean
from workbook.views.facts import facts
from workbook.views.markup import tag, trusted
from workbook.views.table import table
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbook.conformance.report import CaseRecord, Exchange, Message, Record
    from workbook.views.facts import Facts
    from workbook.views.table import Table

HEAD = ("from", "to", "what")


@dataclass(frozen=True, slots=True, repr=False)
class Case(View):
    """One case to look at."""

    record: CaseRecord

    def text(self) -> str:
        """What was expected and seen, and below it both sides."""
        return "\n\n".join(one.text() for one in self._parts())

    def html(self) -> str:
        """The same as HTML."""
        return tag("div", *(trusted(one.html()) for one in self._parts()))

    def _parts(self) -> Iterator[Facts | Table]:
        case = self.record
        yield facts(f"{MARKS[case.verdict]} {case.verdict}  {case.name}", _told(case))
        values, apps = Values(), dict.fromkeys(one.platform for one in case.exchanges)
        for app in apps:
            whose = f" with the app of {app}" if len(apps) > 1 else ""
            mine = [one for one in case.exchanges if one.platform == app]
            yield table(f"Both sides{whose}, in the order of time", HEAD, _rows(mine, values))


def one_case(record: Record, name: str) -> Case:
    """The view of one case of a record.

    Raises:
        ParameterError: the record has no such case.
    """
    by_name = {case.name: case for case in record.cases}
    if name not in by_name:
        raise ParameterError(f"The run has no case {name!r:.80}. {did_you_mean(name, by_name)}")
    return Case(by_name[name])


def _told(case: CaseRecord) -> Iterator[tuple[str, str]]:
    yield "the case", case.says
    yield f"{case.rule.id} ({case.rule.level})", case.rule.text
    for miss in case.misses:
        yield "expected", miss.expected
        yield "observed", timeless(miss.observed)
        yield f"for {case.owner}", miss.todo
    if not case.misses:
        yield "so", case.why or MEANINGS[case.verdict]


def _rows(exchanges: Iterable[Exchange], values: Values) -> Iterator[tuple[str, str, str]]:
    """Each request and each answer in the order of time: from whom, to whom, and what; equal values have one letter."""
    for _moment, one, asks in sorted(_steps(exchanges), key=lambda step: step[0]):
        near, far = ("phone", "back end") if one.side == PHONE else ("back end", "API")
        words = f"{one.method} {one.path}{_body(one.request, values)}" if asks else _answer(one, values)
        yield (near, f"→ {far}", words) if asks else (far, f"→ {near}", words)


def _steps(exchanges: Iterable[Exchange]) -> Iterator[tuple[float, Exchange, bool]]:
    for one in exchanges:
        yield one.at, one, True
        yield one.at if one.ended is None else one.ended, one, False


def _answer(one: Exchange, values: Values) -> str:
    """The answer as it was meant; behind it, what became of it on its way, or why there is none."""
    told = "no answer" if one.status is None else f"{one.status}{_body(one.answer, values) if one.answer else ''}"
    return f"{told} ({one.ending})" if one.ending else told


def _body(message: Message, values: Values) -> str:
    return "" if message.body is None else f" {values.text(message.body)}"
