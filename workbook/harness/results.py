"""Any report as one thing: what was judged, how it ended, why, and how long it took.

`workbook compare` and `workbook evidence` know only this model. Each kind of report has one function that reads it so:
here those of `workbook conform`, `conform app`, `preflight`, `run` and `sweep`; for recordings see `proxy.drift`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from workbook.api.redaction import refuse_constant
from workbook.base.files import read_named
from workbook.errors import ConfigurationError
from workbook.harness.model import Verdict
from workbook.harness.report import PHONE, CaseRecord, RunRecord, headline, timeless
from workbook.harness.reports import JSON_FILE, from_json

_NAME_ONE = (
    "Name the conform.json, run.json or sweep.json of a run, a recording (.jsonl) of workbook proxy, or its folder."
)


@unique
class ReportKind(StrEnum):
    """What made a report: the words of its command after `workbook`."""

    PREFLIGHT = "preflight"
    CONFORM = "conform"
    APP = "conform app"
    RUN = "run"
    SWEEP = "sweep"
    RECORDING = "proxy"

    @property
    def option(self) -> str:
        """Of `workbook evidence`, which asks for the first four."""
        return self.split()[-1]


@dataclass(frozen=True, slots=True)
class ReportedCase:
    """How one thing ended.

    Attributes:
        name: of the case, the check, the kind of failure, or the call.
        verdict: how it ended.
        reasons: why it failed, each once, without what differs from run to run.
        seconds: how long it took, each time that it was measured; empty where nobody measured.
        rule: the id of the rule that it tests; empty where it tests none.
        times: how often it failed, where that is counted.
    """

    name: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    seconds: tuple[float, ...] = ()
    rule: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class AnyReport:
    """A report of any kind.

    Attributes:
        kind: what made it.
        cases: in their order; each name once.
        headline: how it ended, in a sentence.
        started: when, as ISO 8601 in UTC; empty where the report does not say.
        facts: what two reports should have in common, by what it is; a difference is worth a note.
        partial: it may have left out cases that exist.
        tried: names everything that was tried. Where two reports tried the same, a case that one does not name passed
            there; empty where a missing name says nothing.
        timed: what is no case, and was measured: it passes, and can only be slower.
    """

    kind: ReportKind
    cases: tuple[ReportedCase, ...]
    headline: str
    started: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    partial: bool = False
    tried: str = ""
    timed: tuple[ReportedCase, ...] = ()


def timings(seconds: Mapping[str, Iterable[float]]) -> tuple[ReportedCase, ...]:
    """What was measured, by its name, in seconds each time."""
    return tuple(ReportedCase(name, Verdict.PASS, (), tuple(times)) for name, times in sorted(seconds.items()))


def report_file(path: Path) -> Path:
    """The file itself, or the only report in a folder.

    Raises:
        ConfigurationError: the folder has none, or several.
    """
    if not path.is_dir():
        return path
    names = (JSON_FILE, "run.json", "sweep.json")
    found = [path / name for name in names if (path / name).is_file()] or sorted(path.glob("*.jsonl"))
    if len(found) == 1:
        return found[0]
    has = f"several reports: {', '.join(file.name for file in found)}" if found else "no report"
    raise ConfigurationError(f"{str(path)!r} has {has}. {_NAME_ONE}")


def read_report(path: Path) -> AnyReport:
    """The report in this file, whatever wrote it; a recording is not read here.

    Raises:
        ConfigurationError: it cannot be read, or is no report; says why.
    """
    content, name = read_named(path, 256 * 1_048_576, _NAME_ONE), repr(str(path))
    try:
        document = json.loads(text := content.decode(), parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigurationError(f"{name} is no JSON{where}; it may be cut off. {_NAME_ONE}") from None
    keys = set(document) if isinstance(document, dict) else set()
    try:
        if {"matrix", "failures"} <= keys:
            return of_sweep(_Sweep.model_validate(document))
        if "notebooks" in keys:
            return of_run(_Run.model_validate(document))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]  # nothing of the file is repeated
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"{name} is not as the workbook writes it, at {place!r:.80}. {_NAME_ONE}") from None
    if not {"format", "about", "cases"} <= keys:
        raise ConfigurationError(f"{name} is no report of the workbook. {_NAME_ONE}")
    return of_record(from_json(text, name))


def of_record(record: RunRecord) -> AnyReport:
    """A run of `workbook conform`, `conform app` or `preflight`."""
    about = record.about
    kind = next((kind for kind in ReportKind if f"workbook {kind}" == about.program), ReportKind.CONFORM)
    facts = {"target": about.target, "base url": about.base_url, "profile": about.profile, "repeat": str(about.repeat)}
    facts |= {f"{name}'s version": version for name, version in about.versions.items()}
    cases = tuple(
        ReportedCase(case.name, case.verdict, _reasons(case), (case.seconds,), case.rule.id) for case in record.cases
    )
    calls: dict[str, list[float]] = {}
    for each in (exchange for case in record.cases for exchange in case.exchanges):
        if each.side == PHONE and each.status == 200 and each.ended is not None:
            calls.setdefault(f"all calls that lead to a {each.operation}", []).append(each.ended - each.at)
    timed = timings(calls if kind is ReportKind.CONFORM else {})  # in front of an app, the workbook answers the calls
    return AnyReport(kind, cases, headline(record), about.started, facts, about.partial, timed=timed)


def _reasons(case: CaseRecord) -> tuple[str, ...]:
    """Why a case failed, each reason once, without durations and places in a log, which differ from run to run."""
    reasons = [case.why] if case.why else []
    reasons += [f"{miss.rule}: expected {miss.expected}, observed {miss.observed}" for miss in case.misses]
    place = r", line \d+(, and in \d+ more lines?)?"
    return tuple(dict.fromkeys(re.sub(place, "", timeless(reason)) for reason in reasons))


class _Check(BaseModel):
    name: str
    passed: bool
    rule: str | None = None


class _Notebook(BaseModel):
    name: str
    status: str
    seconds: float = Field(ge=0, allow_inf_nan=False)
    error: str | None = None
    checks: tuple[_Check, ...] = ()


class _Run(BaseModel):
    version: Literal[1]
    started: str = ""
    interrupted: bool = False
    parameters: dict[str, Any] = {}
    notebooks: tuple[_Notebook, ...]


class _Failure(BaseModel):
    kind: str
    rows: int
    smallest: dict[str, str] = {}


class _Sweep(BaseModel):
    version: Literal[1]
    matrix: str
    rows: int
    failed: int
    failures: tuple[_Failure, ...]
    durations: dict[str, dict[str, float]] = {}


def of_run(run: _Run) -> AnyReport:
    """A run of notebooks: a case for the execution of each, and one for each check. Exercises judge a learner only."""
    cases, ended = list[ReportedCase](), True
    for each in run.notebooks:
        whole = each.status in ("ok", "check-failed")
        ended &= whole
        reasons = () if whole else (timeless(each.error or each.status),)
        cases.append(ReportedCase(each.name, Verdict.PASS if whole else Verdict.FAIL, reasons, (each.seconds,)))
        for check in each.checks:
            verdict, rule = Verdict.PASS if check.passed else Verdict.FAIL, check.rule or ""
            cases.append(ReportedCase(f"{each.name}: {check.name}", verdict, (), (), rule))
    failed = sum(case.verdict is Verdict.FAIL for case in cases)
    ending = f"Notebooks: {len(run.notebooks)}. Checks: {len(cases) - len(run.notebooks)}. Failed: {failed}."
    facts = {f"parameter {name}": str(value) for name, value in sorted(run.parameters.items())}
    partial = run.interrupted or not ended
    return AnyReport(ReportKind.RUN, _unique(cases), ending, run.started, facts, partial)


def of_sweep(sweep: _Sweep) -> AnyReport:
    """A sweep: a case for each kind of failure, and one for each call's duration, in virtual seconds."""
    cases = []
    for failure in sweep.failures:
        smallest = ", ".join(f"{name} {value}" for name, value in failure.smallest.items())
        reasons = (f"smallest combination: {smallest}",) if smallest else ()
        cases.append(ReportedCase(failure.kind, Verdict.FAIL, reasons, times=failure.rows))
    timed = timings({f"95 of 100 calls of {call}": [each["p95"]] for call, each in sweep.durations.items()})
    ending = f"{sweep.failed:,} of {sweep.rows:,} combinations failed, in {len(sweep.failures)} ways."
    facts = {"matrix": sweep.matrix[:12], "combinations": str(sweep.rows)}
    return AnyReport(
        ReportKind.SWEEP, _unique(cases), ending, "", facts, tried=f"{sweep.matrix} {sweep.rows}", timed=timed
    )


def _unique(cases: Iterable[ReportedCase]) -> tuple[ReportedCase, ...]:
    """The cases, the second one of a name with a number behind it."""
    seen, found = Counter[str](), []
    for case in cases:
        seen[case.name] += 1
        found.append(replace(case, name=f"{case.name} ({seen[case.name]})") if seen[case.name] > 1 else case)
    return tuple(found)
