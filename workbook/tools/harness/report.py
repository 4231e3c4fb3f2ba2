"""A report: what was judged, how each case ended, and why. Its JSON is the same for every command.

`workbook conform`, `conform app`, `preflight`, `run`, `sweep` and `drift` each make a `RunRecord` and write it by
`to_json`; `read_report` reads any of them, and `workbook compare` compares two. To make one of your own:

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
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from workbook.base.files import read_named
from workbook.base.rules import Owner, rules
from workbook.base.secrecy import NO_SECRETS, Secrets
from workbook.errors import ConfigurationError
from workbook.tools.harness.model import Miss, ReportedExchange, RunFinding, Verdict

Program = Literal[
    "workbook conform",
    "workbook conform app",
    "workbook preflight",
    "workbook run",
    "workbook sweep",
    "workbook drift",
    "workbook proxy",
]
# The names of the files with JSON, one of which a folder of reports holds.
JSON_FILE = "conform.json"
JSON_FILES = (JSON_FILE, "run.json", "sweep.json", "drift.json")
# The side of an exchange on which the phone calls; the other one is the API's.
PHONE = "phone"
# Verdicts of cases in which a rule was not kept.
FAILING = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.FLAKY, Verdict.KNOWN})
# Verdicts that say something about the back end.
JUDGED = FAILING | {Verdict.PASS, Verdict.NOTE}
# Verdicts of cases of which nothing was seen.
UNSEEN = (Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE)


@dataclass(frozen=True, slots=True)
class About:
    """The run as a whole.

    Attributes:
        target: the name of the back end; free text.
        base_url: where it is, without a secret; or its Python adapter.
        seed: of the canaries.
        started: when, as `moment` writes it.
        seconds: how long the run took.
        exit_code: of the process.
        command: runs the same again.
        config: the path of the configuration; empty where it came from Python.
        versions: of the workbook and of Python, by name.
        profile: of the mock API.
        repeat: how many times each case was run, from 1.
        strict: a warning, and a case that was not looked at, count as a failure.
        only: the patterns that chose cases; empty for all.
        interrupted: Ctrl-C ended the run.
        unfinished: names of the chosen cases that did not finish.
        trouble: why cases could not be judged; empty where they could.
        stale: one sentence for each stale entry of the baseline.
        findings: what the run as a whole shows; it explains failures of single cases.
        program: the words before a configuration on the command line.
        spent: the seconds of the run, by what for.
        facts: what else two reports should have in common, by what it is; `compare` notes a difference.
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
    repeat: int = 1
    strict: bool = False
    only: tuple[str, ...] = ()
    interrupted: bool = False
    unfinished: tuple[str, ...] = ()
    trouble: str = ""
    stale: tuple[str, ...] = ()
    findings: tuple[RunFinding, ...] = ()
    program: Program = "workbook conform"
    spent: dict[str, float] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    tried: str = ""

    @property
    def time(self) -> str:
        """Where the time went, in words; empty where that was not measured."""
        return ", ".join(f"{what} {seconds:.0f} s" for what, seconds in self.spent.items() if seconds >= 0.5)

    @property
    def partial(self) -> bool:
        """Whether the run left out cases. A case that is not in it may still exist."""
        return self.interrupted or bool(self.only or self.unfinished)

    def reproduce(self, *names: str, in_order: bool = False) -> str:
        """How to run these cases again, or all: a command line; where there is no configuration file, a Python call."""
        if not self.config:
            return f"conform(config, RunOptions([CASES[{names[0]!r}]]))" if names else "conform(config)"
        only = ["--in-order"] if in_order else []
        only += ["--only", *names] if names else []
        return " ".join([self.program, shlex.quote(self.config), *only, "--seed", str(self.seed)])


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
        times: how often it failed, where that is counted.
        misses: every way in which the rule was broken.
        exchanges: in the order of time; those of a second app follow those of the first.
        left_out: how many exchanges of one app beyond 200 are not here.
        reproduce: runs this case again; everything, if it judges the whole run.
        began: seconds since the first case; None if it made no call.
        unproven: why that command is not known to show the failure; empty where it was run and did.
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
    times: int = 1
    misses: tuple[Miss, ...] = ()
    exchanges: tuple[ReportedExchange, ...] = ()
    left_out: int = 0
    reproduce: str = ""
    began: float | None = None
    unproven: str = ""

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

    @property
    def to_rerun(self) -> tuple[str, ...]:
        """Names of the cases to run again: failed, ended in a harness error, or did not finish."""
        names = (case.name for case in self.cases if case.verdict in FAILING | {Verdict.HARNESS_ERROR})
        return (*names, *self.about.unfinished)


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
    try:
        read = _Document.model_validate_json(text)
    except ValidationError:
        again = "Name the conform.json, run.json, sweep.json or drift.json that a run left, or its folder."
        raise ConfigurationError(f"{name} is not a report of this version of the workbook. {again}") from None
    return RunRecord(read.about, read.cases, read.details)


def read_report(path: Path) -> RunRecord:
    """The record in this file, or in the only report of this folder.

    Raises:
        ConfigurationError: it cannot be read, or is no report; or the folder has none or several.
    """
    file = report_file(path)
    return from_json(read_named(file, 256 * 1_048_576, "Name the report of a run, or its folder."), repr(str(file)))


def report_file(path: Path) -> Path:
    """The file itself, or the only report in a folder.

    Raises:
        ConfigurationError: the folder has none, or several.
    """
    if not path.is_dir():
        return path
    found = [path / name for name in JSON_FILES if (path / name).is_file()] or sorted(path.glob("*.jsonl"))
    if len(found) == 1:
        return found[0]
    has = f"several reports: {', '.join(file.name for file in found)}" if found else "no report"
    raise ConfigurationError(f"{str(path)!r} has {has}. Name one file: {', '.join(JSON_FILES)}, or a recording.")
