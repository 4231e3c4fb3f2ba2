"""Any report as one thing: what was judged, how it ended, why, and how long it took.

`workbook compare`, and `workbook evidence` at the end of this module, know only this model. Each kind of report has one
function that reads it so: here those of `workbook conform`, `conform app`, `preflight`, `run`, `sweep` and `drift`;
for recordings see `proxy.drift`.
"""

import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, unique
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from workbook.api.redaction import refuse_constant
from workbook.base.files import needs_lab, new_folder, read_named, write_whole
from workbook.base.rules import Rule, rules
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError, LeakError, ParameterError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import JUDGED, PHONE, SETTLED, CaseRecord, RunRecord, headline, moment, timeless
from workbook.tools.harness.reports import JSON_FILE, from_json
from workbook.views.templates import page

if TYPE_CHECKING:
    from workbook.checks.timing.verdict import Judgement


_NAME_ONE = (
    "Name the conform.json, run.json or sweep.json of a run, a recording (.jsonl) of workbook proxy, its folder, "
    "or what workbook drift --json printed."
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
    DRIFT = "drift"

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
    names = (JSON_FILE, "run.json", "sweep.json", "drift.json")
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
        if {"scenario", "findings"} <= keys:
            return of_drift(_Drift.model_validate(document))
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


class _Setting(BaseModel):
    table: str
    number: int


class _Difference(BaseModel):
    kind: str
    operation: str
    real: str
    simulated: str
    setting: _Setting | None


class _Drift(BaseModel):
    scenario: str
    compared: int
    findings: tuple[_Difference, ...]


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


def of_drift(drift: _Drift) -> AnyReport:
    """What `workbook drift` found: a case for each difference, which fails; what differs from run to run is a reason.

    The scenario names what was tried: a difference that only one of two reports has was not there in the other.
    """
    cases = []
    for each in drift.findings:
        about = each.setting
        varies = about is not None and (about.table == "latencies" or about.number)  # it counts, or measures
        name = f"{about.table} {about.number or ''}".strip() if about and varies else each.real
        verdict = Verdict.FAIL if each.kind.startswith("contradicts") else Verdict.WARN
        reasons = (each.kind, f"{each.real}; the simulator: {each.simulated}")
        cases.append(ReportedCase(f"{each.operation} {name}", verdict, reasons))
    ending = f"{drift.compared} exchanges compared with the scenario {drift.scenario!r}; {len(cases)} differences."
    tried = f"scenario {drift.scenario}"
    return AnyReport(ReportKind.DRIFT, _unique(cases), ending, facts={"scenario": drift.scenario}, tried=tried)


def _unique(cases: Iterable[ReportedCase]) -> tuple[ReportedCase, ...]:
    """The cases, the second one of a name with a number behind it."""
    seen, found = Counter[str](), []
    for case in cases:
        seen[case.name] += 1
        found.append(replace(case, name=f"{case.name} ({seen[case.name]})") if seen[case.name] > 1 else case)
    return tuple(found)


# What the operator's and the wallet provider's reviews ask for: one page, and a zip of the data behind it.
#
# Each figure has the file that it comes from, with date and SHA-256. What is missing is named, with the command that
# makes it. The same files give the same bytes. Nothing is written where a file holds the API key, or what looks like
# card data.


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """A file that the page rests on.

    Attributes:
        file: its name in the zip.
        text: its content.
        date: when it was made, in UTC: as it says, else as its file says.
        report: what it holds; None for durations.
        durations: what it holds; empty for a report.
    """

    file: str
    text: str
    date: str
    report: AnyReport | None = None
    durations: tuple["Judgement", ...] = ()

    @property
    def part(self) -> str:
        """Of the evidence: the kind of its report, or `durations`."""
        return self.report.kind if self.report else "durations"

    @property
    def digest(self) -> str:
        """Its SHA-256 in hexadecimal."""
        return sha256(self.text.encode()).hexdigest()

    def of_rule(self, rule: Rule) -> str:
        """How this file covers a rule, in words; empty where it does not."""
        cases = [case for case in (self.report.cases if self.report else ()) if case.rule == rule.id]
        held = [case.verdict in (Verdict.PASS, Verdict.NOTE) for case in cases if case.verdict in JUDGED]
        held += [one.verdict != "fail" for one in self.durations if one.limit.rule == rule.id]
        return f"{'✓' if all(held) else '✗'} {sum(held)} of {len(held)}" if held else ""


def found_reports(
    folder: Path, named: Container[ReportKind] = (), tell: Callable[[str], object] = lambda _: None
) -> dict[ReportKind, Path]:
    """The reports in this folder and directly below it, of each kind that a review asks for and that is not `named`.

    `tell` is told of a file that is called like a report and is none.

    Raises:
        ConfigurationError: there are two of one kind.
    """
    found: dict[ReportKind, Path] = {}
    for name in ("conform.json", "run.json"):
        for path in sorted([*folder.glob(name), *folder.glob(f"*/{name}")]):
            try:
                kind = read_report(path).kind
            except ConfigurationError as error:  # another program's, or cut off
                tell(f"Left out: {error}")
                continue
            if kind in named:
                continue
            if kind in found:
                both = f"{str(found[kind])!r} and {str(path)!r}"
                raise ConfigurationError(f"{both} are both of workbook {kind}. Name one: --{kind.option} FILE.")
            found[kind] = path
    return found


def read_sources(reports: Mapping[ReportKind, Path], durations: Iterable[Path]) -> list[EvidenceSource]:
    """These files, each checked; reports in the order of `ReportKind`.

    Raises:
        ConfigurationError: one cannot be read, or is of another kind.
        LeakError: one holds what looks like card data.
    """
    again, most, sources = "Name the file of a report.", 256 * 1_048_576, []
    for kind in [kind for kind in ReportKind if kind in reports]:
        path = report_file(reports[kind])
        report = read_report(path)
        if report.kind is not kind:
            raise ParameterError(f"{str(path)!r} is a report of workbook {report.kind}, not of workbook {kind}.")
        name, text = f"{kind.replace(' ', '-')}/{path.name}", read_named(path, most, again).decode()
        sources.append(EvidenceSource(name, text, report.started or moment(path.stat().st_mtime), report))
    for number, path in enumerate(durations, 1):
        with needs_lab("evidence --durations"):
            from workbook.checks.timing.recorded import judge, read_durations  # pandas
        judged = tuple(judge(read_durations(path)))
        name, text = f"durations/{number}-{path.name}", read_named(path, most, again).decode()
        sources.append(EvidenceSource(name, text, moment(path.stat().st_mtime), durations=judged))
    # a card's number, as it is or in groups of four; a long value in base64; the mark of simulated card data
    card = r"(?<![\w.-])[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,7}(?![\w.-])"
    for source in sources:
        if match := re.search(rf"{card}|[A-Za-z0-9+/_-]{{200,}}|canary-[0-9a-f]{{18}}", source.text):
            line = source.text.count("\n", 0, match.start()) + 1
            raise LeakError(f"Nothing was written: {source.file}, line {line}, holds what looks like card data.")
    return sources


def write_evidence(sources: Sequence[EvidenceSource], out: Path, secrets: Secrets) -> list[str]:
    """Write `evidence.html` and `evidence.zip` into a new folder; returns the parts that are missing.

    Raises:
        ConfigurationError: the folder is not empty, or cannot be written.
        LeakError: a file holds a secret; nothing was written.
    """
    asked = (*[*ReportKind][:4], "durations")
    missing = [part for part in asked if part not in {source.part for source in sources}]
    covered = [(rule, [source.of_rule(rule) for source in sources]) for rule in rules()]
    html = page(
        "evidence.html",
        title="Evidence for the reviews",
        sources=sources,
        missing=missing,
        verdicts=list(Verdict),
        settled=SETTLED,
        covered=[row for row in covered if any(row[1])],
        uncovered=[rule for rule, cells in covered if not any(cells)],
    )
    texts = {"evidence.html": html, **{source.file: source.text for source in sources}}
    secrets.check(texts)
    manifest = "".join(f"{sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(texts.items()))
    with new_folder(out) as draft:
        write_whole(draft / "evidence.html", html)
        with zipfile.ZipFile(draft / "evidence.zip", "w") as archive:  # not compressed: the same bytes everywhere
            for name, text in sorted({**texts, "manifest.sha256": manifest}.items()):
                archive.writestr(zipfile.ZipInfo(name), text.encode())  # its date is that of the format's beginning
    return missing
