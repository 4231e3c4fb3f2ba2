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
    known, not applicable                                 skipped, with the reason
    pass                                                  passes

An interrupted run contains only the cases that finished; each suite's `complete` is `false`. Where nothing was decided,
and where the exit code is not 0 although no case failed, one more case, `the run`, is an error.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

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
        level = LEVELS[Verdict.NOTE if miss.noted else case.verdict]
        results.append(result(level, miss.text, miss.file or config, miss.line))
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
        title=f"{about.subject} of {about.target}",
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
        script=Markup(script),  # noqa: S704  # our own file
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        first=summary.ADVICE_SHOWN,
        Values=summary.Values,
        causes={todo.shown.name for todo in todos(record)[: summary.ADVICE_SHOWN] if todo.shown is not None},
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


class JUnitRow(NamedTuple):
    """A case in the JUnit XML: its element, empty where it passes, what that says in a line, and all that it says."""

    case: CaseRecord
    ending: str
    message: str
    text: str


def to_junit(record: RunRecord) -> str:
    """The JUnit XML; of `workbook run`, too. It has only the elements and attributes that every CI system reads."""
    about = record.about
    failing = {Verdict.FAIL, *((Verdict.WARN, *UNSEEN) if about.strict else ())}
    endings = dict.fromkeys(Verdict, "skipped") | dict.fromkeys((Verdict.PASS, Verdict.NOTE, Verdict.WARN), "")
    endings |= dict.fromkeys(failing, "failure") | {Verdict.HARNESS_ERROR: "error"}
    program = about.program.removeprefix("workbook ").replace(" ", "-")
    suites = {
        f"{program}.{group}": [_junit_row(case, endings[case.verdict]) for case in cases]
        for group, cases in _grouped(record.cases).items()
    }
    red = any(row.ending in {"failure", "error"} for rows in suites.values() for row in rows)
    if about.exit_code == ExitCode.NOTHING_DONE or (about.exit_code and not red):
        why = [about.trouble, *about.stale, *(finding.says for finding in about.findings if finding.fails)]
        run = CaseRecord("the run", Verdict.FAIL, says=headline(record), why=" ".join(filter(None, why)))
        suites[program] = [_junit_row(run, "error")]
    properties = {
        "target": about.target,
        "base url": about.base_url,
        "seed": about.seed,
        "command": about.command,
        "complete": "false" if about.interrupted or about.unfinished else "true",
    }
    return fill("tools/harness/conform.xml", about=about, suites=suites, properties=properties)


def _junit_row(case: CaseRecord, ending: str) -> JUnitRow:
    reasons = [clean(reason) for reason in (case.why, *(miss.text for miss in case.misses)) if reason]
    lines = filter(None, [clean(case.says), *reasons, case.reproduce])
    return JUnitRow(case, ending, next(iter(reasons), case.rule_in_words or case.verdict.meaning), "\n".join(lines))


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
    settled = ((heading, _grouped(record.ended(verdict))) for verdict, heading in summary.SETTLED.items())
    return [(heading, groups) for heading, groups in settled if groups]


def _grouped(cases: Iterable[CaseRecord]) -> dict[str, list[CaseRecord]]:
    groups: dict[str, list[CaseRecord]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return groups


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
    values = Values(case)
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

    def body(message: ReportedMessage | None, *, handed_on: bool) -> str:
        has = message is not None and message.body is not None
        return f" {values.text(message.body, handed_on=handed_on)}" if message and has else ""

    exchange = step.exchange
    near, far = ("phone", "back end") if exchange.side == PHONE else ("back end", "API")
    if step.asks:
        said = body(exchange.request, handed_on=exchange.side != PHONE)
        yield near, f"→ {far}", f"{exchange.method} {exchange.path}{said}"
    if step.answers:
        said = body(exchange.answer, handed_on=exchange.side == PHONE and exchange.status == 200)
        status = "no answer" if exchange.status is None else f"{exchange.status}{said}"
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
