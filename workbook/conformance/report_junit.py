"""A record as JUnit XML: one suite a group, one case each, and nothing but what every CI system reads.

    fail                                failure
    flaky                               failure: it did not come to the same end each time
    warn                                passes, with what was missed in system-out; a failure in a strict run
    note                                passes, with what was observed in system-out
    harness error                       error: the workbook failed, not the back end
    known, not testable,
    not applicable, disabled            skipped, with the reason
    pass                                passes

A partial run has only the cases that came to an end; each suite's property `complete` says `false`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.conformance.verdict import MEANINGS, Verdict
from workbook.views.markup import joined, tag, void
from workbook.views.plain import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from workbook.conformance.report import CaseRecord, Record
    from workbook.views.markup import Markup

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
ELEMENTS: Mapping[Verdict, str] = {
    Verdict.FAIL: "failure",
    Verdict.FLAKY: "failure",
    Verdict.HARNESS_ERROR: "error",
    Verdict.KNOWN: "skipped",
    Verdict.NOT_TESTABLE: "skipped",
    Verdict.NOT_APPLICABLE: "skipped",
    Verdict.DISABLED: "skipped",
}
"""The element that says how a case ended; it passed where none stands here."""
STRICT = {Verdict.WARN: "failure"}


def to_junit(record: Record) -> str:
    """The whole document; lines break between elements only."""
    elements = {**ELEMENTS, **(STRICT if record.about.strict else {})}
    suites = [_suite(group, record, elements) for group in Group if any(one.group is group for one in record.cases)]
    totals = _totals(record.cases, elements)
    totals.pop("skipped")
    whole = tag("testsuites", *_lines(suites), name="workbook conform", time=_time(record.about.seconds), **totals)
    return f"{HEAD}{whole}\n"


def _suite(group: Group, record: Record, elements: Mapping[Verdict, str]) -> Markup:
    cases = [case for case in record.cases if case.group is group]
    about = record.about
    told = {"target": about.target, "base url": about.base_url, "seed": about.seed, "command": about.command}
    told["complete"] = "false" if about.interrupted or about.unfinished else "true"
    properties = tag("properties", *(void("property", name=name, value=clean(value)) for name, value in told.items()))
    return tag(
        "testsuite",
        *_lines([properties, *(_case(case, elements) for case in cases)]),
        name=f"conform.{group}",
        time=_time(sum(case.seconds for case in cases)),
        timestamp=clean(about.started.removesuffix("Z")),
        **_totals(cases, elements),
    )


def _totals(cases: Iterable[CaseRecord], elements: Mapping[Verdict, str]) -> dict[str, int]:
    found = [elements.get(case.verdict) for case in cases]
    named = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(found)} | {name: found.count(element) for name, element in named.items()}


def _case(case: CaseRecord, elements: Mapping[Verdict, str]) -> Markup:
    inside = []
    told = "\n".join([case.says, *_reasons(case), case.reproduce])
    if element := elements.get(case.verdict):
        inside.append(tag(element, told, type=case.verdict.value, message=clean(_message(case))))
    elif case.verdict is not Verdict.PASS:
        inside.append(tag("system-out", f"{case.verdict}: {told}"))
    return tag("testcase", *inside, name=case.name, classname=f"conform.{case.group}", time=_time(case.seconds))


def _message(case: CaseRecord) -> str:
    """One line: the first thing that was missed, or why the case ended as it did."""
    return next(_reasons(case), MEANINGS[case.verdict])


def _reasons(case: CaseRecord) -> Iterator[str]:
    if case.why:
        yield clean(case.why)
    for miss in case.misses:
        rule, expected, observed, todo = map(clean, (miss.rule, miss.expected, miss.observed, miss.todo))
        yield f"{rule}: expected {expected}; observed {observed}. {todo}"


def _lines(parts: Iterable[Markup]) -> list[Markup]:
    return [joined("\n", part) for part in parts] + [joined("\n")]


def _time(seconds: float) -> str:
    return f"{max(seconds, 0):.3f}"
