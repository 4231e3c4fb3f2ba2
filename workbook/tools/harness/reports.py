"""Writes the reports of a run into one folder, all of them or none.

    conform.json    everything; the others are made from it alone
    conform.html    to read in a browser, with both sides of every case
    conform.md      a short summary, for the page of a CI job
    conform.xml     JUnit, for a CI system
    conform.sarif   for a code host's page; preflight's is called preflight.sarif

In JUnit each group is a suite:

    fail, flaky                                           failure
    warn                                                  passes, with what was missed in system-out; strict: failure
    note                                                  passes, with what was observed in system-out
    harness error                                         error: the workbook failed, not the back end
    not looked at, not testable                           skipped, with the reason; strict: failure
    known, not applicable, disabled                       skipped, with the reason
    new to the baseline                                   passes, with what was missed in system-out
    pass                                                  passes

An interrupted run contains only the cases that finished; each suite's `complete` is `false`.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from operator import attrgetter
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from workbook.api.redaction import refuse_constant
from workbook.base.files import read_named, write_all
from workbook.base.forms import choices
from workbook.base.junit import Ending, JUnitCase, JUnitSuite, junit
from workbook.errors import ConfigurationError, ExitCode
from workbook.tools.harness import report
from workbook.tools.harness.model import ReportedExchange, Verdict
from workbook.tools.harness.report import FORMAT, PHONE, UNSEEN, About, CaseRecord, RunRecord, counts, to_look_at, todos
from workbook.tools.harness.sarif import to_sarif
from workbook.tools.harness.selection import is_new
from workbook.views.table import clean
from workbook.views.templates import TEMPLATES, fill, page

NAME_A_REPORT = "Name the conform.json of a run of `workbook conform`."
_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+\Z")


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    about: About
    cases: tuple[CaseRecord, ...]


def to_json(record: RunRecord) -> str:
    """The record as JSON: ASCII only, keys in the order of the format, the same bytes for the same record.

    Each field of a case and each exchange has a line. `json` indents in Python, which takes ten times as long.
    """
    counts = {verdict.value: len(record.ended(verdict)) for verdict in Verdict}
    cases = []
    for case in record.cases:
        fields = {key: _encoded(value) for key, value in _fields(case).items() if key != "exchanges"}
        exchanges = "[" + ",".join(f"\n  {_encoded(exchange)}" for exchange in case.exchanges) + "]"
        lines = [f'"{key}": {fields.get(key, exchanges)}' for key in _fields(case)]
        cases.append(" {" + ",\n  ".join(lines) + "}")
    top = {"format": FORMAT, "about": record.about, "counts": counts}
    lines, listed = [f'"{key}": {_encoded(value)}' for key, value in top.items()], ",\n".join(cases)
    return _paired(",\n".join(["{" + lines[0], *lines[1:], f'"cases": [\n{listed}\n]}}'])) + "\n"


def from_json(text: str, name: str = "The report") -> RunRecord:
    """The record that this JSON describes.

    Raises:
        ConfigurationError: it is not JSON, of another format, or a value in it is wrong; says where.
    """
    try:
        document = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigurationError(f"{name} is no JSON{where}. {NAME_A_REPORT}") from None
    number = document.get("format") if isinstance(document, dict) else None
    mistake = ""
    if not isinstance(document, dict):
        mistake = f"the file is {_kind(document)}; it has to be an object."
    elif type(number) is not int:
        mistake = f"it does not say its format; this workbook reads format {FORMAT}."
    elif number != FORMAT:
        newer = " Use the workbook that wrote it, or a newer one." * (number > FORMAT)
        mistake = f"it is of format {str(number)[:20]}; this workbook reads format {FORMAT}.{newer}"
    else:
        try:
            read = _Document.model_validate_json(_paired(text))
        except ValidationError as error:
            mistake = _sentence(error.errors(include_url=False)[0])
        else:
            mistake = next(_more_mistakes(read), "")
    if mistake:
        raise ConfigurationError(f"{name} is not the report of a run: {mistake} {NAME_A_REPORT}")
    return RunRecord(read.about, read.cases)


def read_record(path: Path) -> RunRecord:
    """The record in this file.

    Raises:
        ConfigurationError: it cannot be read, or is no record.
    """
    try:
        return from_json(read_named(path, 256 * 1_048_576, NAME_A_REPORT).decode(), repr(str(path)))
    except UnicodeDecodeError:
        raise ConfigurationError(f"{str(path)!r} is no text in UTF-8. {NAME_A_REPORT}") from None


def _fields(value: Any) -> dict[str, Any]:
    """A dataclass as JSON writes it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


# JSON on one line.
_encoded = json.JSONEncoder(allow_nan=False, default=_fields).encode


def _paired(text: str) -> str:
    """JSON with U+FFFD for each half of a surrogate pair: a back end may send one, and readers refuse it."""
    # escapes in JSON: a backslash, a surrogate pair, and half a pair
    escapes = r"(?i)\\\\|\\ud[89ab]\w\w\\ud[c-f]\w\w|\\ud[89a-f]\w\w"
    return re.sub(escapes, lambda match: r"\ufffd" if len(match[0]) == len(r"\ud800") else match[0], text)


def _sentence(details: ErrorDetails) -> str:
    """What is wrong at one place of the file."""
    place, value, kind = details["loc"], details.get("input"), details["type"]
    if "headers" in place and len(place) > place.index("headers") + 2:
        return f"{_where(place[: place.index('headers') + 2])} is no pair of a header's name and its value."
    if kind == "missing":
        return f"{_where(place[:-1])} has no {place[-1]!r}."
    if kind in ("enum", "literal_error"):
        return f"{_where(place)} is {str(value)[:40]!r}; it has to be one of: {', '.join(choices(details))}."
    if kind == "json_invalid":
        return "it is nested too deep."
    wanted = {
        "string_type": "text",
        "bool_type": "true or false",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "finite_number": "a number of a usual size",
        "tuple_type": "a list",
    }
    return f"{_where(place)} is {_kind(value)}; it has to be {wanted.get(kind, 'an object')}."


def _more_mistakes(document: _Document) -> Iterator[str]:
    """What a type cannot say: names, bodies, and that no two cases have one name."""
    names: set[str] = set()
    for at, name in enumerate(document.about.unfinished):
        if not _NAME.match(name):
            yield f"the file.about.unfinished[{at}] is no name of a case, such as relay.get.path."
    for at, case in enumerate(document.cases):
        if not _NAME.match(case.name):
            yield f"the file.cases[{at}].name is no name of a case, such as relay.get.path."
        if case.name in names:
            yield f"two cases are called {case.name!r}."
        names.add(case.name)
        for number, exchange in enumerate(case.exchanges):
            for side in ("request", "answer"):
                message = getattr(exchange, side)
                if message is not None and _is_deep(message.body):
                    yield f"the file.cases[{at}].exchanges[{number}].{side}.body is nested too deep."


def _is_deep(value: Any, room: int = 12) -> bool:
    """Whether a body is nested deeper than `room`; the bodies that a run writes are less deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return room < 0 or any(_is_deep(item, room - 1) for item in inner)


def _where(place: tuple[str | int, ...]) -> str:
    return "the file" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row of the page's table: a request, its answer, or both at once.

    Attributes:
        at: seconds since the case began.
        exchange: the exchange that the row belongs to.
        asks: the row shows the request.
        answers: the row shows the answer.
    """

    at: float
    exchange: ReportedExchange
    asks: bool
    answers: bool


def to_html(record: RunRecord) -> str:
    """The page: it loads nothing; what to do comes first. Its policy allows only its own filter."""
    about, script = record.about, (TEMPLATES / "conform.js").read_text(encoding="utf-8")
    return page(
        "conform.html",
        **_summary(record),
        title=f"Conformance of {about.target}",
        ending=ending(record),
        to_look_at=to_look_at(record),
        settled=_settled(record),
        facts=[
            ("Versions", ", ".join(f"{name} {version}" for name, version in about.versions.items())),
            ("Mock API's profile", about.profile),
            ("Each case was run", "once" if about.repeat == 1 else f"{about.repeat} times"),
            ("A warning counts as a failure", "yes" if about.strict else "no"),
            ("Chosen by", ", ".join(about.only)),
            ("Exit code", about.exit_code),
        ],
        legs=_legs,
        telling=report.telling,
        script=Markup(script),  # noqa: S704  # our own file
        digest=b64encode(sha256(script.encode()).digest()).decode(),
        first=report.ADVICE_SHOWN,
        Values=report.Values,
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
    number_of = {case.name: next((advice[miss.todo] for miss in case.misses if miss.todo in advice), "")
                 for case in failed}  # fmt: skip
    return fill("conform.md", **_summary(record), failed=failed, number_of=number_of, most=40, most_cases=200)


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
    endings: dict[Verdict, Ending] = {
        Verdict.FAIL: "failure",
        Verdict.FLAKY: "failure",
        Verdict.HARNESS_ERROR: "error",
        Verdict.KNOWN: "skipped",
        Verdict.NOT_LOOKED_AT: "skipped",
        Verdict.NOT_TESTABLE: "skipped",
        Verdict.NOT_APPLICABLE: "skipped",
        Verdict.DISABLED: "skipped",
    }
    if about.strict:
        endings |= dict.fromkeys((Verdict.WARN, *UNSEEN), "failure")
    suites = []
    for group in dict.fromkeys(case.group for case in record.cases):
        cases = [case for case in record.cases if case.group == group]
        seconds, started = sum(case.seconds for case in cases), clean(about.started.removesuffix("Z"))
        rows = tuple(_junit_case(case, None if is_new(case.why) else endings.get(case.verdict)) for case in cases)
        suites.append(JUnitSuite(f"conform.{group}", rows, seconds, started, properties))
    return junit("workbook conform", suites, about.seconds)


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_all({folder / name: text for name, text in texts.items()})
    except OSError as error:
        raise ConfigurationError(f"Cannot write the reports into {str(folder)!r}: {error.strerror}.") from error
    return [folder / name for name in texts]


JSON_FILE = "conform.json"
FORMS: Mapping[str, Callable[[RunRecord], str]] = {
    "conform.html": to_html,
    "conform.xml": to_junit,
    "conform.md": to_markdown,
}


def _summary(record: RunRecord) -> dict[str, Any]:
    """What both templates need."""
    return {
        "about": record.about,
        "headline": report.headline(record),
        "counts": counts(record),
        "by_group": report.by_group(record),
        "todos": todos(record),
    }


def _settled(record: RunRecord) -> list[tuple[str, dict[str, list[CaseRecord]]]]:
    """The cases that need no look, below a heading for each verdict, by group."""
    settled = []
    for verdict, heading in report.SETTLED.items():
        groups: dict[str, list[CaseRecord]] = {}
        for case in record.ended(verdict):
            groups.setdefault(case.group, []).append(case)
        if groups:
            settled.append((heading, groups))
    return settled


def _legs(exchanges: Iterable[ReportedExchange]) -> dict[str, list[PageRow]]:
    """Both sides in the order of time, one table for each app that called; without a name where there is one app."""
    apps: dict[str, list[PageRow]] = {}
    for exchange in exchanges:
        steps = apps.setdefault(exchange.platform, [])
        if exchange.side == PHONE and exchange.ended is not None:
            steps += [
                PageRow(exchange.at, exchange, asks=True, answers=False),
                PageRow(exchange.ended, exchange, asks=False, answers=True),
            ]
        else:
            steps.append(PageRow(exchange.at, exchange, asks=True, answers=True))
    return {name if len(apps) > 1 else "": sorted(steps, key=attrgetter("at")) for name, steps in apps.items()}


def _junit_case(case: CaseRecord, ending: Ending | None) -> JUnitCase:
    reasons = [clean(case.why)] if case.why else []
    for miss in case.misses:
        rule, expected, observed, todo = map(clean, (miss.rule, miss.expected, miss.observed, miss.todo))
        more = f" ({miss.see})" if miss.see else ""
        reasons.append(f"{rule}: expected {expected}; observed {observed}. {todo}{more}")
    text = "\n".join([case.says, *reasons, *filter(None, [case.unproven or case.reproduce])])
    shown = {"text": f"{case.verdict}: {text}"} if case.verdict is not Verdict.PASS else {}
    if ending:
        message = clean(next(iter(reasons), case.verdict.meaning))
        shown = {"text": text, "message": message, "kind": case.verdict.value}
    return JUnitCase(case.name, f"conform.{case.group}", case.seconds, ending, **shown)
