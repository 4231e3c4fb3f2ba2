"""A report: what was judged, how each case ended, and why. Its JSON is the same for every command.

`workbook conform`, `conform app`, `preflight`, `run`, `sweep` and `drift` each make a `RunRecord` and write it by
`to_json`; `read_report` reads any of them, and `compare_reports` says what changed from one to the next. To
make one of your own:

    about = About(program="workbook run", seconds=3.2, exit_code=0, facts={"parameter seed": "7"})
    cases = [CaseRecord("01: the button is shown", Verdict.PASS, rule="A-CAN-1")]
    text = to_json(RunRecord(about, tuple(cases), {"notebooks": [...]}))

The JSON, format 1, keys in this order:

    format      1
    about       the run: see `About`
    counts      how many cases ended with each verdict; for people only
    details     what reports of this command alone have, as it likes; for programs
    cases       each on a line of its own: see `CaseRecord`

A body in an exchange has, instead of each string, its length and a salted digest of four bytes: within one run, equal
digests mean equal values. A string from the simulator is marked as simulated. No value, no key and no session is in it.
"""

import json
import platform
import re
import shlex
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from itertools import filterfalse
from pathlib import Path
from time import monotonic, time
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from workbook.api.redaction import SHOWN_HEADERS, Redaction
from workbook.base.files import read_named
from workbook.base.forms import explain_mistake
from workbook.base.rules import Owner, rules
from workbook.base.secrecy import NO_SECRETS, SecretKind, Secrets
from workbook.errors import ConfigurationError, ExitCode, ParameterError
from workbook.tools.harness.model import (
    Case,
    CaseOptions,
    CaseResult,
    Evidence,
    Miss,
    ReportedExchange,
    ResultT,
    RunFinding,
    Verdict,
    apply_baseline,
)
from workbook.tools.harness.program import without_values
from workbook.views.table import clean, wrap

Program = Annotated[str, Field(pattern=r"^workbook (conform|conform app|preflight|run|sweep|drift|proxy)\z")]
# The names of the files with JSON, one of which a folder of reports holds.
JSON_FILE = "conform.json"
JSON_FILES = (JSON_FILE, "run.json", "sweep.json", "drift.json")
# The side of an exchange on which the phone calls; the other one is the API's.
PHONE = "phone"
# Verdicts of cases in which a rule was not kept.
FAILING = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.KNOWN})
# Verdicts that say something about the back end.
JUDGED = FAILING | {Verdict.PASS, Verdict.NOTE}
# Verdicts of cases of which nothing was seen.
UNSEEN = (Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE)


@dataclass(frozen=True, slots=True)
class About:
    """The run as a whole.

    Attributes:
        target: the name of the back end; free text.
        base_url: where it is, without a secret.
        seed: of the canaries.
        started: when, as `moment` writes it.
        seconds: how long the run took.
        exit_code: of the process.
        command: runs the same again.
        config: the path of the configuration; empty where it came from Python.
        versions: of the workbook and of Python, by name.
        profile: of the mock API.
        strict: a warning, and a case that was not looked at, count as a failure.
        only: the patterns that chose cases; empty for all.
        interrupted: Ctrl-C ended the run.
        unfinished: names of the chosen cases that did not finish.
        trouble: why cases could not be judged; empty where they could.
        stale: one sentence for each stale entry of the baseline.
        findings: what the run as a whole shows; it explains failures of single cases.
        program: the words before a configuration on the command line.
        facts: what else two reports should have in common, by what it is; `compare` notes a difference.
        tempo: how a back end works, as it was measured; empty where it was not.
        tried: id of the set of cases; with equal ids a missing case has passed. Empty: it says nothing.
    """

    target: str = ""
    base_url: str = ""
    seed: int = 0
    started: str = ""
    seconds: float = 0.0
    exit_code: int = 0
    command: str = ""
    config: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    strict: bool = False
    only: tuple[str, ...] = ()
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    trouble: str = ""
    stale: tuple[str, ...] = ()
    findings: tuple[RunFinding, ...] = ()
    program: Program = "workbook conform"
    facts: Mapping[str, str] = field(default_factory=dict)
    tempo: str = ""
    tried: str = ""

    @property
    def partial(self) -> bool:
        """Whether the run left out cases. A case that is not in it may still exist."""
        return self.interrupted or bool(self.only or self.unfinished)

    @property
    def is_seeded(self) -> bool:
        """Whether anything in the run was made up from its seed."""
        return self.program.startswith("workbook conform")

    @property
    def subject(self) -> str:
        """What its reports are about, as the beginning of a title."""
        return "Conformance" if self.is_seeded else self.program.removeprefix("workbook ").capitalize()

    def reproduce(self, *names: str) -> str:
        """How to run these cases again, or all: a command line, or a notebook's call; empty for another call."""
        only = ["--only", *names] if names else []
        if self.config or self.program != "workbook conform":
            config = [shlex.quote(self.config)] if self.config else []
            seed = ["--seed", str(self.seed)] if self.is_seeded else []
            return " ".join([self.program, *config, *only, *seed])
        if self.command.startswith("wb."):  # a class of a notebook
            return f"{self.command[:-1]}{''.join(f', {name!r}' for name in names)})"
        return ""


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """The result of one case.

    Attributes:
        name: unique in its report.
        verdict: how it ended.
        says: what it requires, as a sentence.
        rule: the id of the rule that it tests; empty where it tests none.
        group: what it is about.
        owner: who must fix a failure.
        platform: whose app made the calls.
        why: what else a reader has to know, such as what is missing.
        seconds: how long it took.
        misses: every way in which the rule was broken.
        exchanges: in the order of time; those of a second app follow those of the first.
        left_out: how many exchanges of one app beyond 200 are not here.
        reproduce: runs this case again; everything, if it judges the whole run.
    """

    name: str
    verdict: Verdict
    says: str = ""
    rule: str = ""
    group: str = ""
    owner: Owner = Owner.YOU
    platform: str = ""
    why: str = ""
    seconds: float = 0.0
    misses: tuple[Miss, ...] = ()
    exchanges: tuple[ReportedExchange, ...] = ()
    left_out: int = 0
    reproduce: str = ""

    @property
    def rule_in_words(self) -> str:
        """The rule as `API-1 (must): its text`; its id alone where this version does not know it."""
        return next((str(rule) for rule in rules() if rule.id == self.rule), self.rule)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it failed, each reason once, without durations and places in a log, which differ from run to run."""
        reasons = [self.why] if self.why else []
        reasons += [f"{miss.rule}: expected {miss.expected}, observed {miss.observed}" for miss in self.misses]
        place = r", line \d+(, and in \d+ more lines?)?"
        return tuple(dict.fromkeys(re.sub(place, "", timeless(reason)) for reason in reasons))


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run.

    Attributes:
        about: the run as a whole.
        cases: every case that finished, in the order of the cases.
        details: what reports of this command alone have.
        secrets: what no report may hold; unknown for a record that was read from a file.
    """

    about: About
    cases: tuple[CaseRecord, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    secrets: Secrets = field(default=NO_SECRETS, repr=False, compare=False)

    def ended(self, *verdicts: Verdict) -> tuple[CaseRecord, ...]:
        """The cases that ended with one of these verdicts."""
        return tuple(case for case in self.cases if case.verdict in verdicts)


def moment(seconds: float) -> str:
    """A moment in seconds since 1970 as ISO 8601, in UTC and whole seconds."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def timeless(text: str) -> str:
    """An observation without its duration and without a log line, which differ from run to run."""
    return re.sub(r", after \d+(\.\d+)? s| \(line \d+ of [^)]*\)|; the line, without its values: .*", "", text)


def to_json(record: RunRecord) -> str:
    """The record as JSON: keys in the order of the format, the same bytes for the same record.

    Half a surrogate pair, which a back end may send, becomes a question mark: no file can hold it.
    """
    counts = {verdict.value: len(record.ended(verdict)) for verdict in Verdict}
    top = {"format": 1, "about": record.about, "counts": counts, "details": record.details}
    lines = [f'"{key}": {_encode(value)}' for key, value in top.items()]
    cases = ",\n".join(map(_encode, record.cases))
    text = "{" + ",\n".join([*lines, f'"cases": [\n{cases}\n]']) + "}\n"
    return text.encode("utf-8", "replace").decode()


def _fields(value: Any) -> dict[str, Any]:
    """A dataclass as JSON writes it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=_fields).encode


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    format: Literal[1]
    about: About
    cases: tuple[CaseRecord, ...]
    details: dict[str, Any]


def from_json(text: str | bytes, name: str = "The report") -> RunRecord:
    """The record that this JSON describes; `name` is for the error.

    Raises:
        ConfigurationError: it is not a report as this version writes it.
    """
    again = "Name the conform.json, run.json, sweep.json or drift.json that a run left, or its folder."
    with explain_mistake(f"{name} is not a report of this version of the workbook", again):
        read = _Document.model_validate_json(text)
    return RunRecord(read.about, read.cases, read.details)


def read_report(path: Path) -> RunRecord:
    """The record in this file, or in the only report of this folder.

    Raises:
        ConfigurationError: it cannot be read, or is no report; or the folder has none or several.
    """
    file = _report_file(path) if path.is_dir() else path
    return from_json(read_named(file, 256 * 1_048_576, "Name the report of a run, or its folder."), repr(str(file)))


def _report_file(folder: Path) -> Path:
    """The only report in a folder.

    Raises:
        ConfigurationError: the folder has none, or several.
    """
    reports = [folder / name for name in JSON_FILES if (folder / name).is_file()]
    if len(reports) == 1:
        return reports[0]
    has = f"several reports: {', '.join(file.name for file in reports)}" if reports else "no report"
    raise ConfigurationError(f"{str(folder)!r} has {has}. Name one file: {', '.join(JSON_FILES)}.")


# What no report may hold, besides keys: sessions and opaque data.


def is_weak(value: str) -> bool:
    """Whether a value is a plain word or an address: any report contains such text without giving a secret away."""
    word = "[A-Za-z]{0,15}"
    address = r"[0-9]{1,3}(\.[0-9]{1,3})+(:[0-9]+)?"
    media_type = "[a-z]+/[a-z0-9.+*-]+(;.*)?"
    return re.match(rf"({word}|{address}|{media_type})\Z", value, re.IGNORECASE) is not None


def session_secrets(values: Iterable[str]) -> Iterator[str]:
    """The secrets in values of headers: each value, and the parts of it that may travel without the rest."""
    for value in filterfalse(is_weak, values):
        parts = re.split(r"[\s;,]+", value)
        every = {value, *parts, *(part.partition("=")[2] for part in parts)}
        yield from (part for part in every if not is_weak(part))


def canaries_in(value: str) -> set[str]:
    """The canaries in an opaque value, also where it is base64."""
    try:
        inner = b64decode(value, validate=True).decode("latin-1")
    except ValueError:
        inner = ""
    return set(re.findall("canary-[0-9a-f]{18}", f"{value}\n{inner}"))


# How the record of a run is made from its results: redacted, with the baseline applied, and with its exit code.


def few_looked_at(program: str, verdicts: Iterable[Verdict]) -> str:
    """Says that a run looked at less than nine of ten cases for which everything is there; empty where it did.

    What `preflight` does not look at is not in the project's files, whatever the run does.
    """
    counts = Counter(verdicts)
    judged = sum(counts[verdict] for verdict in JUDGED)
    total = judged + counts[Verdict.NOT_LOOKED_AT]
    few = program.startswith("workbook conform") and 10 * judged < 9 * total
    return f"Only {judged} of {total} cases were looked at." if few else ""


def exit_code(done: About, verdicts: Iterable[Verdict]) -> int:
    """The worst exit code that follows from a run and the verdicts of its cases."""
    if done.interrupted:
        return ExitCode.INTERRUPTED
    counts = Counter(verdicts := tuple(verdicts))
    failing = {Verdict.FAIL} | ({Verdict.WARN} if done.strict else set())
    if counts[Verdict.HARNESS_ERROR]:
        return ExitCode.BROKEN
    if done.stale or any(finding.fails for finding in done.findings) or failing & counts.keys():
        return ExitCode.FAILED
    if done.trouble or not JUDGED & counts.keys():
        return ExitCode.NOTHING_DONE
    if done.strict and {*UNSEEN} & counts.keys():
        return ExitCode.FAILED
    return ExitCode.NOTHING_DONE if few_looked_at(done.program, verdicts) else ExitCode.OK


def record(results: Iterable[CaseResult], about: About, secrets: Iterable[str] = ()) -> RunRecord:
    """The record of these results, redacted.

    Args:
        results: one for each case.
        about: the run as a whole.
        secrets: session secrets, and what else no report may hold; the results hold keys and opaque data.
    """
    results = tuple(results)
    known = Secrets(_secrets(results, secrets))
    # A run repeats itself: of forty thousand texts a few hundred are different.
    redaction = Redaction(SHOWN_HEADERS | {"cache-control"}, simulated=False, text=cache(known.cleaned))
    cases = (_record_case(result, about, redaction, known) for result in results)
    return RunRecord(about, tuple(cases), secrets=known)


def _record_case(result: CaseResult, about: About, redaction: Redaction, known: Secrets) -> CaseRecord:
    """The record of one result."""
    case = result.case
    owner = result.verdict.owner
    seen = [(part.platform, part.seen) for part in result.each if part.seen is not None]
    exchanges = [evidence.exchanges(platform, redaction) for platform, evidence in seen]
    most = 200  # exchanges with one app; a back end that loops makes more

    def shown(miss: Miss) -> Miss:
        observed = _with_log_line(miss, [evidence for _platform, evidence in seen], known.has_part)
        return replace(
            miss,
            expected=redaction.text(miss.expected),
            observed=redaction.text(observed),
            todo=redaction.text(miss.todo),
            rule=miss.rule or case.rule,
        )

    return CaseRecord(
        name=case.name,
        verdict=result.verdict,
        says=case.says,
        rule=case.rule,
        group=str(case.group),
        owner=case.owner if owner is Owner.YOU else owner,
        platform=result.platform,
        why=redaction.text(result.why),
        seconds=round(result.seconds, 4),
        misses=tuple(map(shown, result.misses)),
        exchanges=tuple(exchange for of_one_app in exchanges for exchange in of_one_app[:most]),
        left_out=sum(len(of_one_app[most:]) for of_one_app in exchanges),
        reproduce=about.reproduce(case.name) if case.runs_by_itself else about.reproduce(),
    )


def _secrets(results: Iterable[CaseResult], sessions: Iterable[str]) -> Iterator[tuple[SecretKind, str]]:
    """Sessions, keys, and the opaque data of these results, with the canaries in it."""
    yield from ((SecretKind.SESSION, value) for value in session_secrets(sessions))
    every = (part.seen for result in results for part in result.each if part.seen is not None)
    for kind, value in (pair for evidence in every for pair in evidence.secrets()):
        if kind is SecretKind.OPAQUE:
            yield from ((SecretKind.CANARY, canary) for canary in canaries_in(value))
        yield kind, value


def _with_log_line(miss: Miss, evidence: Iterable[Evidence], is_known: Callable[[str], bool]) -> str:
    """What was observed, and the log line that shows it, if it can be read: once the run is over, the log may be gone.

    Args:
        miss: names the file and the line.
        evidence: what the case saw; the logs are read again.
        is_known: whether a text holds a secret, or is part of one.
    """
    for seen in evidence if miss.file else ():
        with suppress(OSError):  # the log is gone
            text = next((line.text for line in seen.log if (line.file, line.number) == (miss.file, miss.line)), "")
            if text:
                return f"{miss.observed}; the line, without its values: {without_values(text, is_known)}"
    return miss.observed


def conclude(
    about: Callable[..., About],
    began: float,
    results: Iterable[ResultT],
    cases: Mapping[str, Case[Any]],
    options: CaseOptions[Any],
    *,
    findings: Callable[[Sequence[ResultT]], Iterable[RunFinding]] = lambda _results: (),
    secrets: Iterable[str] = (),
) -> RunRecord:
    """The record of a run that is over: the baseline marks what is known, and the verdicts give the exit code.

    Args:
        about: makes the `About` from the fields that are found out here.
        began: when the run began, in seconds of the monotonic clock.
        results: one for each case that ended.
        cases: all cases by name.
        options: of the run.
        findings: finds what explains many results at once.
        secrets: as in `record`.
    """
    marked, stale = apply_baseline(options.baseline, results, cases, datetime.now(UTC).date())
    seconds = monotonic() - began
    done = about(
        started=moment(time() - seconds),
        seconds=round(seconds, 3),
        versions={"workbook": version("provisioning-workbook"), "python": platform.python_version()},
        command=options.command,
        strict=options.strict,
        only=options.only,
        stale=stale,
        findings=tuple(findings(marked)),
    )
    code = exit_code(done, (result.verdict for result in marked))
    return record(marked, replace(done, exit_code=code), secrets)


# What changed from one report to a later one of the same command.


class CaseChange(StrEnum):
    """What became of a case, what got worse first; `meaning` says it in words, after `Each`."""

    WORSE = "newly failing", "fails, and did not before, or failed less gravely"
    WARNS = "newly warned", "has a warning, and had none before"
    LOST = "no longer decided", "was decided before, and is not now, or is not in the later report"
    STILL = "still failing", "failed before, and does now"
    STILL_WARNS = "still warned", "failed or had a warning before, and has a warning now"
    FIXED = "fixed", "failed, had a warning or was not decided before, and passes now"
    NEW = "unknown before", "is not in the older report, so it is never worse by itself"
    GONE = "gone", "did not pass before, and is not in the later report"

    meaning: str

    def __new__(cls, words: str, meaning: str) -> Self:
        """A change that knows its meaning."""
        change = str.__new__(cls, words)
        change._value_, change.meaning = words, meaning
        return change

    @property
    def is_worse(self) -> bool:
        """Whether a comparison with such a case ends with 1."""
        return self in {CaseChange.WORSE, CaseChange.WARNS, CaseChange.LOST}


@dataclass(frozen=True, slots=True)
class Changed:
    """One case whose result changed, or that still fails.

    Attributes:
        name: of the case.
        change: how its result changed.
        before: its result in the old report; None where that does not have it.
        now: its result in the new report; None where that does not have it.
    """

    name: str
    change: CaseChange
    before: CaseRecord | None
    now: CaseRecord | None

    @property
    def verdicts(self) -> str:
        """Both verdicts in words."""
        before, now = (str(case.verdict) if case else "not there" for case in (self.before, self.now))
        return before if before == now else f"{before}, now {now}"

    @property
    def gone(self) -> tuple[str, ...]:
        """Reasons of the old report that no longer hold."""
        return _only_in(self.before, self.now)

    @property
    def come(self) -> tuple[str, ...]:
        """Reasons of the new report that did not hold before."""
        return _only_in(self.now, self.before)


@dataclass(frozen=True, slots=True)
class ReportComparison:
    """What changed.

    Attributes:
        changed: the cases, by their change and then in their order.
        notes: what a reader must know, such as that the runs were of different back ends.
        same: how many cases did not change.
    """

    changed: tuple[Changed, ...]
    notes: tuple[str, ...]
    same: int

    @property
    def exit_code(self) -> int:
        """Of the process: 1 when something got worse, else 0."""
        return ExitCode.FAILED if any(case.change.is_worse for case in self.changed) else ExitCode.OK

    @property
    def headline(self) -> str:
        """The numbers in one sentence."""
        numbers = [f"{len(cases)} {change}" for change, cases in self.by_change()] + [f"{self.same} as before"]
        return f"{'Something' if self.exit_code else 'Nothing'} got worse: {', '.join(numbers)}."

    def by_change(self) -> list[tuple[CaseChange, list[Changed]]]:
        """The cases of each change that occurs."""
        every = ((change, [case for case in self.changed if case.change is change]) for change in CaseChange)
        return [(change, cases) for change, cases in every if cases]

    def text(self) -> str:
        """For a terminal: below a heading for each change, its cases."""
        lines = [self.headline, *(f"Note: {clean(note)}" for note in self.notes)]
        for change, cases in self.by_change():
            lines += ["", f"{change.capitalize()} ({len(cases)}): {change.meaning}"]
            for case, *others in alike(cases):
                lines.append(f"  {clean(case.name)}: {case.verdicts}")
                for sign, reasons in (("-", case.gone), ("+", case.come)):
                    for reason in reasons:
                        first, *more = wrap(clean(reason), 104) or [""]
                        lines += [f"    {sign} {first}", *(f"      {line}" for line in more)]
                if others:
                    names = [clean(other.name) for other in others[:3]] + (["…"] if len(others) > 3 else [])
                    lines.append(f"    and {len(others)} more: {', '.join(names)}")
        return "\n".join(lines) + "\n"


def alike(cases: Iterable[Changed]) -> list[list[Changed]]:
    """These cases; those that changed for the same reasons together."""
    groups: dict[object, list[Changed]] = {}
    for case in cases:
        why = (case.gone, case.come)
        groups.setdefault((case.verdicts, why) if any(why) else case.name, []).append(case)
    return list(groups.values())


def compare_reports(old: RunRecord, new: RunRecord) -> ReportComparison:
    """What changed from the old report to the new one.

    Raises:
        ParameterError: they are of different commands, or the new one has decided nothing.
    """
    if old.about.program != new.about.program:
        message = f"The first report is of {old.about.program}, the second of {new.about.program}"
        raise ParameterError(f"{message}. Compare two of one kind.")
    if not new.ended(*JUDGED) and not new.about.tried:
        raise ParameterError("The second report has no case with a verdict: its run decided nothing.")
    before = _by_name(old.cases)
    now = _by_name(new.cases)
    names = before | now
    if old.about.tried and old.about.tried == new.about.tried:
        passed = {name: CaseRecord(name, Verdict.PASS) for name in names}
        before = passed | before
        now = passed | now
    changed = []
    for name in names:
        change = _change(before.get(name), now.get(name))
        if change is not None:
            changed.append(Changed(name, change, before.get(name), now.get(name)))
    order = list(CaseChange)
    changed.sort(key=lambda case: order.index(case.change))
    return ReportComparison(tuple(changed), tuple(_differences(old, new)), len(names) - len(changed))


def _by_name(cases: Iterable[CaseRecord]) -> dict[str, CaseRecord]:
    """The cases; the second one of a name has a number behind it."""
    seen = Counter[str]()
    named = {}
    for case in cases:
        seen[case.name] += 1
        named[f"{case.name} ({seen[case.name]})" if seen[case.name] > 1 else case.name] = case
    return named


def _differences(old: RunRecord, new: RunRecord) -> list[str]:
    """What a reader must know of the two: other back ends, another order in time, cases left out."""
    notes = []
    first = _facts(old)
    second = _facts(new)
    for name in first | second:
        if first.get(name) != second.get(name):
            was, now = (facts.get(name) or "not given" for facts in (first, second))
            notes.append(f"{name} was {was}, and is {now} now.")
    if old.about.started > new.about.started > "":
        notes.append(f"The first report is the later one ({old.about.started}): did you mean the other order?")
    for report, which in ((old, "old"), (new, "new")):
        if report.about.partial:
            notes.append(f"The {which} run is a partial one: it may have left out the cases that are missing there.")
    return notes


def _facts(report: RunRecord) -> dict[str, str]:
    """What two reports should have in common, by what it is."""
    about = report.about
    address = re.sub(r"(?<=//127\.0\.0\.1):\d+", "", about.base_url)  # a free port is another one each time
    facts = {"target": about.target, "base url": address, "profile": about.profile}
    return facts | {f"{name}'s version": version for name, version in about.versions.items()} | dict(about.facts)


def _change(before: CaseRecord | None, now: CaseRecord | None) -> CaseChange | None:
    """What became of a case; None where nothing did."""
    if before is None or now is None:
        passed = before is not None and before.verdict in JUDGED - FAILING
        return CaseChange.NEW if now else CaseChange.LOST if passed else CaseChange.GONE
    was = _kind(before.verdict)
    is_now = _kind(now.verdict)
    if is_now == "failed":
        graver = now.verdict.gravity < before.verdict.gravity
        changes = (CaseChange.WORSE, CaseChange.STILL)
        if now.verdict is Verdict.WARN:
            changes = (CaseChange.WARNS, CaseChange.STILL_WARNS)
        return changes[was == "failed" and not graver]
    if was == is_now:
        return None
    if is_now == "undecided" or (was == "failed" and now.verdict not in (Verdict.PASS, Verdict.NOTE)):
        return CaseChange.LOST
    return CaseChange.FIXED


def _kind(verdict: Verdict) -> str:
    if verdict in FAILING:
        return "failed"
    return "undecided" if verdict in {Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE, Verdict.HARNESS_ERROR} else "held"


def _only_in(case: CaseRecord | None, other: CaseRecord | None) -> tuple[str, ...]:
    """Why a case failed in one of two reports that both have it, and not in the other."""
    return tuple(why for why in case.reasons if why not in other.reasons) if case and other else ()
