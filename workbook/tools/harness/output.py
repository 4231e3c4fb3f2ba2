"""The reports of a run in each form: as files in one folder, all of them or none, and in a notebook.

    conform.json    everything; the others are made from it alone
    conform.html    to read in a browser, with both sides of every case
    conform.md      a short summary, for the page of a CI job
    conform.xml     JUnit, for a CI system
    conform.sarif   for a code host's page; preflight's is called preflight.sarif

In JUnit each group is a suite:

    fail                                                  failure
    warn                                                  passes, with what was missed in system-out; strict: failure
    note                                                  passes, with what was observed in system-out
    harness error                                         error: the workbook failed, not the back end
    not looked at, not testable                           skipped, with the reason; strict: failure
    known, not applicable, disabled                       skipped, with the reason
    pass                                                  passes

An interrupted run contains only the cases that finished; each suite's `complete` is `false`. Where nothing was decided,
and where the exit code is not 0 although no case failed, one more case, `the run`, is an error.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree as ET

from markupsafe import Markup

from workbook.base.files import explain_failure, write_all
from workbook.base.values import lookup
from workbook.errors import ExitCode
from workbook.tools.harness import summary
from workbook.tools.harness.model import ReportedMessage, Verdict
from workbook.tools.harness.report import (
    FAILING,
    JSON_FILE,
    PHONE,
    UNSEEN,
    CaseRecord,
    RunRecord,
    compare_reports,
    from_json,
    timeless,
    to_json,
)
from workbook.tools.harness.summary import (
    HalfExchange,
    Values,
    by_group,
    counts,
    headline,
    steps_by_app,
    to_look_at,
    todos,
)
from workbook.views.html import View
from workbook.views.table import Stack, Table, clean, facts, statement, table
from workbook.views.templates import fill, page

# JUnit XML has one writer for these reports and those of `workbook run`. It uses only the elements and attributes that
# every CI system reads.

Ending = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One test case.

    Attributes:
        name: of the case.
        classname: the group that a CI system files it under.
        seconds: how long it took.
        ending: how it ended; None when it passed.
        message: one line about the ending.
        text: everything else about the ending; of a case that passed it becomes its `system-out`.
        kind: the ending's `type`, such as the class of an error.
    """

    name: str
    classname: str
    seconds: float = 0.0
    ending: Ending | None = None
    message: str = ""
    text: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class JUnitSuite:
    """The test cases of one group, in order.

    Attributes:
        name: of the suite.
        cases: its cases.
        seconds: how long they took.
        started: when they began, as an ISO 8601 time without a zone; empty leaves it out.
        properties: what else a reader should know, by name.
    """

    name: str
    cases: tuple[JUnitCase, ...]
    seconds: float
    started: str = ""
    properties: Mapping[str, object] = field(default_factory=dict)


def junit(name: str, suites: Iterable[JUnitSuite], seconds: float) -> str:
    """The XML document; characters that XML cannot hold are left out, and lines break between elements only."""
    suites = tuple(suites)
    every_case = tuple(case for suite in suites for case in suite.cases)
    counts = _counts(every_case)
    del counts["skipped"]  # no CI system reads it here, and one of their schemas forbids it
    document = _element(None, "testsuites", name=name, **counts, time=_time(seconds))
    for suite in suites:
        element = _element(document, "testsuite", name=suite.name, **_counts(suite.cases), time=_time(suite.seconds))
        if suite.started:
            element.set("timestamp", _text(suite.started))
        if suite.properties:
            properties = _element(element, "properties")
            for key, value in suite.properties.items():
                _element(properties, "property", name=key, value=value)
        for case in suite.cases:
            row = _element(element, "testcase", classname=case.classname, name=case.name, time=_time(case.seconds))
            if case.ending is not None:
                kind = {"type": case.kind} if case.kind else {}
                _element(row, case.ending, message=case.message, **kind).text = _text(case.text) or None
            elif case.text:
                _element(row, "system-out").text = _text(case.text)
    ET.indent(document, "")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(document, encoding="unicode")}\n'


def _element(parent: ET.Element | None, tag: str, **attributes: object) -> ET.Element:
    values = {key: _text(value) for key, value in attributes.items()}
    return ET.Element(tag, values) if parent is None else ET.SubElement(parent, tag, values)


def _counts(cases: Iterable[JUnitCase]) -> dict[str, int]:
    endings = [case.ending for case in cases]
    counted: dict[str, Ending] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(endings)} | {name: endings.count(ending) for name, ending in counted.items()}


def _text(value: object) -> str:
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(value))


def _time(seconds: float) -> str:
    return f"{max(seconds, 0):.3f}"


# The findings in SARIF 2.1.0, for the pages of a code host.

# The level in SARIF of each verdict that shows findings.
LEVELS: Mapping[Verdict, str] = {
    Verdict.FAIL: "error",
    Verdict.WARN: "warning",
    Verdict.NOTE: "note",
    Verdict.KNOWN: "note",
}


def to_sarif(done: RunRecord) -> str:
    """The findings; a failure that the baseline knows is suppressed, and a case not looked at is open.

    A code host takes a finding only with a place: without a file that shows it, that is the run's configuration.
    """
    shown = [case for case in done.cases if case.verdict in {*LEVELS, Verdict.NOT_LOOKED_AT}]
    rules = [
        {
            "id": case.name,
            "shortDescription": {"text": case.says},
            "fullDescription": {"text": case.rule_in_words},
            "defaultConfiguration": {"level": "error" if case.verdict in FAILING else "note"},
        }
        for case in shown
    ]
    driver = {"name": done.about.program, "version": done.about.versions.get("workbook", ""), "rules": rules}
    results = [result for case in shown for result in _results(case, done.about.config)]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _results(case: CaseRecord, config: str) -> list[dict[str, Any]]:
    """What SARIF shows of a case: a result for each miss, and one where nothing was looked at."""

    def result(level: str, text: str, file: str, line: int) -> dict[str, Any]:
        place = {"artifactLocation": {"uri": file}, "region": {"startLine": max(line, 1)}}
        located = {"locations": [{"physicalLocation": place}]} if file else {}
        return {"ruleId": case.name, "level": level, "message": {"text": text}} | located

    if case.verdict is Verdict.NOT_LOOKED_AT:
        return [{"kind": "open", **result("none", case.why, "", 0)}]
    results = []
    for miss in case.misses:
        more = f" More: {miss.see}" if miss.see else ""
        text = f"{miss.rule}: expected {miss.expected}, observed {miss.observed}. {miss.todo}{more}"
        results.append(
            result(LEVELS[Verdict.NOTE if miss.noted else case.verdict], text, miss.file or config, miss.line)
        )
        if case.verdict is Verdict.KNOWN:
            results[-1]["suppressions"] = [{"kind": "external", "justification": case.why}]
    return results


# The reports of a run.


def to_html(record: RunRecord) -> str:
    """The page: it loads nothing; what to do comes first. Its policy allows only its own filter."""
    about = record.about
    script = Path(__file__).with_name("conform.js").read_text(encoding="utf-8")
    return page(
        "tools/harness/conform.html",
        **_summary(record),
        title=f"Conformance of {about.target}",
        ending=ending(record),
        to_look_at=to_look_at(record),
        settled=_settled(record),
        facts=[
            ("Versions", ", ".join(f"{name} {version}" for name, version in about.versions.items())),
            ("Mock API's profile", about.profile),
            ("The back end", about.tempo),
            ("A warning counts as a failure", "yes" if about.strict else "no"),
            ("Chosen by", ", ".join(about.only)),
            ("Exit code", about.exit_code),
        ],
        legs=summary.steps_by_app,
        telling=summary.telling,
        script=Markup(script),  # noqa: S704  # our own file
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        first=summary.ADVICE_SHOWN,
        Values=summary.Values,
        most_shown=12,  # exchanges of a case; more of them are folded
        most_unfolded=3,  # cases that did not hold; the others show their names
        most_named=3,  # cases beside a piece of advice; more of them are folded
    )


def ending(record: RunRecord) -> tuple[str, Verdict]:
    """The exit code in a word or two, and the verdict whose colour fits it."""
    good = ("Known failures only", Verdict.KNOWN) if record.ended(Verdict.KNOWN) else ("No harm seen", Verdict.PASS)
    endings: Mapping[int, tuple[str, Verdict]] = {
        ExitCode.OK: ("No harm seen, but warnings", Verdict.WARN) if record.ended(Verdict.WARN) else good,
        ExitCode.FAILED: ("Failed", Verdict.FAIL),
        ExitCode.INTERRUPTED: ("Interrupted", Verdict.NOT_TESTABLE),
        ExitCode.BROKEN: ("The workbook failed", Verdict.HARNESS_ERROR),
    }
    return endings.get(record.about.exit_code, ("Undecided", Verdict.NOT_TESTABLE))


def to_markdown(record: RunRecord) -> str:
    """The summary: how it ended, how many of each verdict, what to do, what failed, and how to run it again.

    A job's summary may have one mebibyte, so advice and cases are limited.
    """
    failed = [case for case in to_look_at(record) if case.verdict is not Verdict.NOT_TESTABLE]
    advice = {todo.text: number for number, todo in enumerate(todos(record), 1)}
    number_of = {}
    for case in failed:
        number_of[case.name] = next((advice[miss.todo] for miss in case.misses if miss.todo in advice), "")
    measured = [case for case in record.ended(Verdict.PASS) if case.why]
    values = {"failed": failed, "number_of": number_of, "measured": measured, "most": 40, "most_cases": 200}
    return fill("tools/harness/conform.md", **_summary(record), **values)


def to_junit(record: RunRecord) -> str:
    """The JUnit XML."""
    about = record.about
    properties = {
        "target": clean(about.target),
        "base url": clean(about.base_url),
        "seed": about.seed,
        "command": clean(about.command),
        "complete": "false" if about.interrupted or about.unfinished else "true",
    }
    endings: dict[Verdict, Ending] = dict.fromkeys(Verdict, "skipped")
    for verdict in (Verdict.PASS, Verdict.NOTE, Verdict.WARN):
        del endings[verdict]
    failing = (Verdict.FAIL, *((Verdict.WARN, *UNSEEN) if about.strict else ()))
    endings |= dict.fromkeys(failing, "failure") | {Verdict.HARNESS_ERROR: "error"}
    program = about.program.removeprefix("workbook ").replace(" ", "-")
    started, suites = clean(about.started.removesuffix("Z")), []
    for group in dict.fromkeys(case.group for case in record.cases):
        cases = [case for case in record.cases if case.group == group]
        seconds, name = sum(case.seconds for case in cases), f"{program}.{group}"
        rows = tuple(_junit_case(case, name, endings.get(case.verdict)) for case in cases)
        suites.append(JUnitSuite(name, rows, seconds, started, properties))
    red = any(row.ending in {"failure", "error"} for suite in suites for row in suite.cases)
    if about.exit_code == ExitCode.NOTHING_DONE or (about.exit_code and not red):
        why = [about.trouble, *about.stale, *(finding.says for finding in about.findings if finding.fails)]
        told = {"message": clean(headline(record)), "text": "\n".join(map(clean, filter(None, why)))}
        row = JUnitCase("the run", program, about.seconds, "error", **told)
        suites.append(JUnitSuite(program, (row,), about.seconds, started, properties))
    return junit(about.program, suites, about.seconds)


def reports(record: RunRecord) -> dict[str, str]:
    """Each report's text by its file's name. The JSON is read back, so the others cannot contain more than it does."""
    text, sarif = to_json(record), f"{record.about.program.split()[1]}.sarif"
    again = from_json(text)
    return {JSON_FILE: text, sarif: to_sarif(again)} | {name: form(again) for name, form in FORMS.items()}


def write_reports(record: RunRecord, folder: Path) -> list[Path]:
    """Write the reports into this folder, which is made when it is missing.

    Raises:
        LeakError: one of them would hold a secret; nothing was written.
        ConfigurationError: the folder cannot be written, or the disk is full; older reports are as they were.
    """
    texts = reports(record)
    record.secrets.check(texts)
    with explain_failure(f"Cannot write the reports into {str(folder)!r}"):
        folder.mkdir(parents=True, exist_ok=True)
        write_all({folder / name: text for name, text in texts.items()})
    return [folder / name for name in texts]


FORMS: Mapping[str, Callable[[RunRecord], str]] = {
    "conform.html": to_html,
    "conform.xml": to_junit,
    "conform.md": to_markdown,
}


def _summary(record: RunRecord) -> dict[str, Any]:
    """What both templates need."""
    return {
        "about": record.about,
        "headline": summary.headline(record),
        "counts": counts(record),
        "by_group": summary.by_group(record),
        "todos": todos(record),
    }


def _settled(record: RunRecord) -> list[tuple[str, dict[str, list[CaseRecord]]]]:
    """The cases that need no look, below a heading for each verdict, by group."""
    settled = []
    for verdict, heading in summary.SETTLED.items():
        groups: dict[str, list[CaseRecord]] = {}
        for case in record.ended(verdict):
            groups.setdefault(case.group, []).append(case)
        if groups:
            settled.append((heading, groups))
    return settled


def _junit_case(case: CaseRecord, suite: str, ending: Ending | None) -> JUnitCase:
    reasons = [clean(case.why)] if case.why else []
    for miss in case.misses:
        rule, expected, observed, todo = map(clean, (miss.rule, miss.expected, miss.observed, miss.todo))
        more = f" ({miss.see})" if miss.see else ""
        reasons.append(f"{rule}: expected {expected}; observed {observed}. {todo}{more}")
    text = "\n".join([case.says, *reasons, *filter(None, [case.reproduce])])
    shown = {"text": f"{case.verdict}: {text}"} if case.verdict is not Verdict.PASS else {}
    if ending:
        message = clean(next(iter(reasons), case.verdict.meaning))
        shown = {"text": text, "message": message, "kind": case.verdict.value}
    return JUnitCase(case.name, suite, case.seconds, ending, **shown)


# In a notebook: how the run ended, what to do first, and one case with both sides.


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


def _rows(step: HalfExchange, values: Values) -> Iterator[tuple[str, str, str]]:
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

    next_steps = "Next: result.failed, .case(NAME), .changes(OTHER), .write(FOLDER), .exit_code."

    def __init__(self, record: RunRecord, note: str = "") -> None:
        self.record = record
        self.note = note

    @property
    def exit_code(self) -> int:
        """The exit code of `workbook conform`: 0 when all is well."""
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

    def changes(self, later: Result) -> Table:
        """What a later run has fixed, broken, or left as it was; where it was partial, of the cases that it has."""
        names = {case.name for case in later.record.cases}
        here = (case for case in self.record.cases if not later.record.about.partial or case.name in names)
        comparison = compare_reports(replace(self.record, cases=tuple(here)), later.record)
        rows = ((case.change, case.name, case.verdicts) for case in comparison.changed)
        return table(comparison.headline, ("change", "case", "verdict"), rows)

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
