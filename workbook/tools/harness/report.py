"""A run as reports may show it. `reports` writes it as JSON, reads it back, and makes the other forms.

`conform.json`, format 1, keys in this order. Other keys of a file are ignored.

    format      1
    about       the run: target, base_url, seed, started (UTC), seconds, exit_code, command (runs the same again),
                config, versions, profile, repeat, strict, only, interrupted, unfinished (names), trouble, stale,
                findings (what explains many cases: root, says, todo, cases), program, spent (seconds by what for)
    counts      how many cases ended with each verdict; for readers only
    cases       each: name, says, rule (id, level, section, text, harm), group, verdict, owner (who has to act),
                platform, why, seconds, misses (expected, observed, todo, rule, noted, harms, root,
                file, line: which file shows it, if one does), exchanges,
                left_out (exchanges beyond 200 of one app), reproduce (runs this case again; everything, if it judges
                the whole run), began (seconds since the first case; null if the case made no call),
                unproven (why that command is not known to show the failure; empty where it was run and did)
    exchanges   in the order of time: side (phone, API), at and ended (seconds since the case began; null if unknown),
                method, path, who (whose session), request, status (null without an answer), answer, ending (why there
                is no answer, or which fault the mock API played), elsewhere (it went where a redirect pointed),
                platform (whose app called; the exchanges of a second app follow those of the first),
                operation (GET or POST of the API, whatever the method; empty for another request)
    request,    headers: pairs of a name and its value, null for a value that is not shown; body: JSON, null for none;
    answer      length of the body in bytes

In a body, each string is replaced by its length and a salted digest of four bytes: within one run, equal digests mean
equal values. A string from the simulator is marked as simulated. No value, no key and no session is in the file.
"""

import json
import platform
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from string import ascii_uppercase
from time import monotonic, time
from typing import Any, Literal

from workbook.api.redaction import SHOWN_HEADERS, Redaction
from workbook.base.rules import Owner, Rule
from workbook.base.secrecy import NO_SECRETS, SecretKind, Secrets, canaries_in, session_secrets
from workbook.errors import ExitCode
from workbook.tools.harness.logs import without_values
from workbook.tools.harness.model import Case, CaseResult, Evidence, Miss, ReportedExchange, Root, RunFinding, Verdict
from workbook.tools.harness.selection import Options, ResultT, apply_baseline, is_new
from workbook.views.table import clean

FORMAT = 1
# The side of an exchange on which the phone calls; the other one is the API's.
PHONE = "phone"
# Verdicts of cases in which a rule was not kept.
FAILING = frozenset({Verdict.FAIL, Verdict.WARN, Verdict.FLAKY, Verdict.KNOWN})
# Verdicts that say something about the back end.
JUDGED = FAILING | {Verdict.PASS, Verdict.NOTE}
# Verdicts of cases of which nothing was seen.
UNSEEN = (Verdict.NOT_LOOKED_AT, Verdict.NOT_TESTABLE)


def exit_code(
    verdicts: Iterable[Verdict],
    *,
    strict: bool = False,
    stale: bool = False,
    undecided: bool = False,
    failed: bool = False,
) -> int:
    """The worst exit code that follows from these verdicts.

    Args:
        verdicts: one for each case.
        strict: a warning, and a case that was not looked at or lacks configuration, count as a failure.
        stale: an entry of the baseline is no longer right.
        undecided: something kept cases from being judged.
        failed: the back end fails as a whole: a plain call does not work, or it no longer answers.
    """
    counts = Counter(verdicts)
    failing = {Verdict.FAIL, Verdict.FLAKY} | ({Verdict.WARN, Verdict.NOT_LOOKED_AT} if strict else set())
    if counts[Verdict.HARNESS_ERROR]:
        return ExitCode.BROKEN
    if stale or failed or any(counts[verdict] for verdict in failing):
        return ExitCode.FAILED
    if undecided or not any(counts[verdict] for verdict in JUDGED):
        return ExitCode.NOTHING_DONE
    return ExitCode.FAILED if strict and counts[Verdict.NOT_TESTABLE] else ExitCode.OK


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
    """

    target: str
    base_url: str
    seed: int
    started: str
    seconds: float
    exit_code: int
    command: str
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
    program: Literal["workbook conform", "workbook conform app", "workbook preflight"] = "workbook conform"
    spent: dict[str, float] = field(default_factory=dict)

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
        only = ["--in-order"] * in_order + (["--only", *names] if names else [])
        return " ".join([self.program, shlex.quote(self.config), *only, "--seed", str(self.seed)])


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """The result of one case; the head of the module explains each field."""

    name: str
    says: str
    rule: Rule
    group: str
    verdict: Verdict
    owner: Owner
    platform: str
    why: str
    seconds: float
    misses: tuple[Miss, ...]
    exchanges: tuple[ReportedExchange, ...]
    left_out: int
    reproduce: str
    began: float | None = None
    unproven: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run.

    Attributes:
        about: the run as a whole.
        cases: every case that finished, in the order of the cases.
        secrets: what no report may hold; unknown for a record that was read from a file.
    """

    about: About
    cases: tuple[CaseRecord, ...]
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


# A report may show what the journal shows of an exchange, without the key and the text that the simulator made. That
# text contains the canary, and a report with a canary in it would look like one that leaks.


# Makes the record of a run from its results.

# Pieces of advice that a terminal prints, and that a page shows with their exchanges.
ADVICE_SHOWN = 3


def record(
    results: Sequence[CaseResult], about: About, secrets: Iterable[str] = (), values: Iterable[str] = ()
) -> RunRecord:
    """The record of these results, redacted.

    Args:
        results: one for each case.
        about: the run as a whole.
        secrets: session secrets, and what else no report may hold; the results hold keys and opaque data.
        values: opaque data of rounds whose results are not here.
    """
    known = Secrets(_secrets(results, secrets, values))
    # A run repeats itself: of forty thousand texts a few hundred are different.
    redaction = Redaction(SHOWN_HEADERS | {"cache-control"}, simulated=False, text=cache(known.cleaned))
    first = min((result.began for result in results if result.began is not None), default=0.0)
    cases = []
    for result in results:
        case, began, owner = result.case, result.began, result.verdict.owner
        parts = [(part.platform, part.seen) for part in result.each if part.seen is not None]
        exchanges = [seen.exchanges(platform, redaction) for platform, seen in parts]
        most = 200  # exchanges with one app; a back end that loops makes more
        cases.append(
            CaseRecord(
                name=case.name,
                says=case.says,
                rule=case.rests_on,
                group=str(case.group),
                verdict=result.verdict,
                owner=case.owner if owner is Owner.YOU else owner,
                platform=result.platform,
                why=redaction.text(result.why),
                seconds=round(result.seconds, 4),
                misses=tuple(
                    replace(
                        miss,
                        expected=redaction.text(miss.expected),
                        observed=redaction.text(
                            _with_log_line(miss, [seen for _platform, seen in parts], known.has_part)
                        ),
                        todo=redaction.text(miss.todo),
                        rule=miss.rule or case.rule,
                    )
                    for miss in result.misses
                ),
                exchanges=tuple(exchange for of_one_app in exchanges for exchange in of_one_app[:most]),
                left_out=sum(len(of_one_app[most:]) for of_one_app in exchanges),
                reproduce=about.reproduce(*[case.name] * case.runs_by_itself),
                began=None if began is None else round(began - first, 4),
            )
        )
    return RunRecord(about, tuple(cases), known)


def _secrets(
    results: Iterable[CaseResult], sessions: Iterable[str], values: Iterable[str]
) -> Iterator[tuple[SecretKind, str]]:
    """Sessions, keys, and the opaque data of these results and of earlier rounds, with the canaries in it."""
    yield from ((SecretKind.SESSION, value) for value in session_secrets(sessions))
    every = (part.seen for result in results for part in result.each if part.seen is not None)
    seen = (pair for evidence in every for pair in evidence.secrets())
    for kind, value in chain(seen, ((SecretKind.OPAQUE, value) for value in values)):
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


def concluded(
    about: Callable[..., About],
    began: float,
    results: Iterable[ResultT],
    cases: Mapping[str, Case[Any]],
    options: Options[Any],
    *,
    findings: Callable[[Sequence[ResultT]], Iterable[RunFinding]] = lambda _results: (),
    secrets: Iterable[str] = (),
    values: Iterable[str] = (),
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
        values: as in `record`.
    """
    marked, stale = apply_baseline(options.baseline, results, cases, datetime.now(UTC).date())
    found, seconds = tuple(findings(marked)), monotonic() - began
    try:
        ours = version("provisioning-workbook")
    except PackageNotFoundError:
        ours = "not installed"
    done = about(
        started=moment(time() - seconds),
        seconds=round(seconds, 3),
        exit_code=ExitCode.INTERRUPTED,
        versions={"workbook": ours, "python": platform.python_version()},
        command=options.command,
        strict=options.strict,
        only=options.only,
        stale=stale,
        findings=found,
    )
    if not done.interrupted:
        failed = any(finding.fails for finding in found)
        verdicts = [result.verdict for result in marked if not is_new(result.why)]
        code = exit_code(verdicts, strict=done.strict, stale=bool(stale), undecided=bool(done.trouble), failed=failed)
        done = replace(done, exit_code=code)
    return record(marked, done, secrets, values)


# The summary: how the run ended, how many cases of each verdict, and what to do in which order.

# Verdicts of cases that need no look, each with the heading above these cases.
SETTLED = {
    Verdict.PASS: "What passed",
    Verdict.NOT_APPLICABLE: "What does not apply",
    Verdict.DISABLED: "What the configuration leaves out",
}


@dataclass(frozen=True, slots=True)
class Todo:
    """One piece of advice.

    Attributes:
        verdict: the gravest verdict of the cases that give it.
        text: what to do.
        cases: the names of those cases.
        rules: the ids of the rules that were not kept.
        root: where the failure that it mends comes from.
        shown: the case whose exchanges show it; None where no case shows it.
        miss: what that case expected and observed.
    """

    verdict: Verdict
    text: str
    cases: tuple[str, ...]
    rules: tuple[str, ...]
    root: Root = Root.CASE
    shown: CaseRecord | None = None
    miss: Miss | None = None


def headline(record: RunRecord) -> str:
    """How the run ended, in one to three sentences."""
    total = _cases(len(record.cases))
    failed = [case for case in record.cases if case.verdict in FAILING - {Verdict.KNOWN}]
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts(record))
    if not record.cases:
        sentences = ["No case finished."]
    elif failed:
        sentences = [f"{len(failed)} of {total} did not hold: {verdicts}."]
        lenient = not record.about.strict and not any(finding.fails for finding in record.about.findings)
        old = [case.verdict for case in failed if not is_new(case.why)]
        if lenient and set(old) == {Verdict.WARN}:
            sentences.append("There are warnings only; with --strict the run would fail.")
    elif not any(case.verdict in JUDGED for case in record.cases):
        sentences = [f"Nothing could be decided: {verdicts}."]
    elif record.about.trouble or record.ended(Verdict.HARNESS_ERROR):
        sentences = [f"Of {total} none failed, and some could not be decided: {verdicts}."]
    else:
        left = len(record.about.unfinished)
        of_all = f"Of {_cases(len(record.cases) + left)} {len(record.cases)} finished" if left else total
        sentences = [f"{of_all}, and none {'of these ' if left else ''}failed: {verdicts}."]
    if fresh := sum(is_new(case.why) for case in record.cases):
        sentences.append(f"{_cases(fresh).capitalize()} not in the baseline: new, so no failure until it is taken in.")
    decided = any(case.verdict in JUDGED for case in record.cases)
    looked_for = UNSEEN if decided else (Verdict.NOT_LOOKED_AT,)
    if unseen := sum(not is_new(case.why) for case in record.ended(*looked_for)):
        how = "which fails the run" if record.about.strict else "which fails the run with --strict"
        sentences.append(f"{_cases(unseen).capitalize()} not looked at, {how}: the report says why.")
    if stale := len(record.about.stale):
        entries = "entry, which fails" if stale == 1 else "entries, which fail"
        sentences.append(f"The baseline has {stale} stale {entries} the run.")
    if left := len(record.about.unfinished):
        sentences.append(f"The run was interrupted: {_cases(left)} did not finish.")
    elif record.about.interrupted:
        sentences.append("The run was interrupted.")
    return " ".join(sentences)


def _cases(count: int) -> str:
    return f"{count} case" if count == 1 else f"{count} cases"


def counts(record: RunRecord) -> list[tuple[Verdict, int]]:
    """How many cases ended with each verdict that occurs, the gravest first."""
    every = ((verdict, len(record.ended(verdict))) for verdict in Verdict)
    return [(verdict, count) for verdict, count in every if count]


def by_group(record: RunRecord) -> list[tuple[str, list[int]]]:
    """For each group that occurs: how many of its cases ended with each verdict of `counts`."""
    endings = Counter((case.group, case.verdict) for case in record.cases)
    groups = dict.fromkeys(case.group for case in record.cases)
    return [(group, [endings[group, verdict] for verdict, _count in counts(record)]) for group in groups]


def to_look_at(record: RunRecord) -> list[CaseRecord]:
    """The cases that need a look, the gravest first, otherwise in their order."""
    unsettled = [case for case in record.cases if case.verdict not in SETTLED]
    return sorted(unsettled, key=lambda case: case.verdict.gravity)


def todos(record: RunRecord) -> list[Todo]:
    """What to do: by root, because earlier roots explain later ones; then the gravest; then what mends most cases.

    A finding of the whole run stands for the cases that could not be judged because of it.
    """
    findings = record.about.findings
    found = []
    for finding in findings:
        verdict = Verdict.FAIL if finding.fails else Verdict.NOT_TESTABLE
        found.append(Todo(verdict, f"{finding.says} {finding.todo}", finding.cases, (), finding.root))
    explained = {name for finding in findings for name in finding.cases}
    advice: dict[str, list[tuple[CaseRecord, Miss]]] = {}
    for case in to_look_at(record):
        if case.verdict is Verdict.NOTE or case.name in explained:
            continue
        misses = [miss for miss in case.misses if not miss.noted]
        if not case.misses:
            misses = [Miss("", "", case.why or case.verdict.meaning, case.rule.id)]
        for miss in misses:
            advice.setdefault(miss.todo, []).append((case, miss))
    for text, sources in advice.items():
        root = min((miss.root for _case, miss in sources), key=list(Root).index)
        # of the cases that show it the first that does not wait for long, because a reader will run it again
        nearest = (source for source in sources if source[1].root is root)
        case, miss = min(nearest, key=lambda source: source[0].seconds > 5)
        names, rules = ([case.name for case, _miss in sources], [miss.rule for _case, miss in sources if miss.rule])
        unique = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(rules))
        if root is Root.CONCURRENCY and len(unique[0]) < 3:  # one that mixes up calls fails many cases (assumed)
            root = Root.FOLLOWS
        found.append(Todo(sources[0][0].verdict, text, *unique, root, case, miss))
    return sorted(
        found,
        key=lambda todo: (
            todo.verdict in UNSEEN and todo.root is Root.CASE,  # what is not there explains nothing
            list(Root).index(todo.root),
            todo.verdict.gravity,
            -len(todo.cases),
        ),
    )


def telling(case: CaseRecord, most: int = 4) -> list[ReportedExchange]:
    """The one call of a case that shows best why it failed, with the requests at the API that it led to; `most` of all.

    That is the call during which the API played a fault, else the first that failed, else the last of the operation
    that the case is named after.
    """
    calls = [exchange for exchange in case.exchanges if exchange.side == PHONE]
    named = [call for call in calls if call.operation.lower() in case.name.split(".")] or calls

    def requests(call: ReportedExchange) -> list[ReportedExchange]:
        ended = call.at if call.ended is None else call.ended
        others = (one for one in case.exchanges if one.side != PHONE and one.platform == call.platform)
        return [one for one in others if call.at <= one.at <= ended]

    faulted = (call for call in calls if any(request.ending for request in requests(call)))
    failed = (call for call in calls if not 200 <= (call.status or 0) < 300)
    call = next(faulted, None) or next(failed, None) or next(reversed(named), None)
    # a value that reached another card has two exchanges: where it came from, and where it arrived
    if call is None or len(case.exchanges) == 2:
        return list(case.exchanges[:most])
    return [call, *requests(call)][:most]


def first_lines(record: RunRecord) -> Iterator[str]:
    """What to do first, for a terminal: each advice with its cases, one example, and how to run that again."""
    advice = todos(record)
    for number, todo in enumerate(advice[:ADVICE_SHOWN], 1):
        cases = f", {_cases(len(todo.cases))}" if todo.cases else ""
        yield f"{number}. {todo.verdict.mark} {todo.verdict}{cases}: {clean(todo.text, 600)}"
        if todo.shown is not None and todo.miss is not None and todo.miss.expected:
            name, expected, observed = map(clean, (todo.shown.name, todo.miss.expected, todo.miss.observed))
            yield f"   {name}: expected {expected}, observed {observed}"
        if todo.shown is not None:
            yield f"   {clean(todo.shown.unproven or todo.shown.reproduce, 600)}"
    if len(advice) > ADVICE_SHOWN:
        yield f"   … and {len(advice) - ADVICE_SHOWN} more; see conform.html"


def timeless(text: str) -> str:
    """An observation without its duration and without a log line, which differ from run to run."""
    return re.sub(r", after \d+(\.\d+)? s| \(line \d+ of [^)]*\)|; the line, without its values: .*", "", text)


# A body as it may be shown: its shape as JSON. Words in the place of each value say which one it is and how long.


class Values:
    """Shows bodies, and gives equal values of one case the same letter."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def text(self, body: Any) -> str:
        """A body as JSON, with words in the place of its values."""
        return "".join(text for text, _is_value in self.pieces(body))

    def pieces(self, body: Any) -> Iterator[tuple[str, bool]]:
        """The same in pieces; each says whether it stands in the place of a value."""
        match body:
            case {"length": int(length), **value} if "digest" in value or value.get("simulated") is True:
                name, digest = "spoilt", value.get("digest")  # simulated data that was changed has no digest
                if isinstance(digest, str):
                    round_, place = divmod(len(self._letters), len(ascii_uppercase))
                    name = "value " + self._letters.setdefault(digest, f"{ascii_uppercase[place]}{round_ or ''}")
                if value.get("simulated"):
                    kinds = {"activation": "activation data", "output": "sdkOutput", "opc": "OPC data"}
                    name += f": simulated {kinds.get(str(value.get('kind')), 'data')}"
                    name += f" #{value['serial']}" if "serial" in value else ""
                yield f"⟨{name}, {length} characters⟩", True
            case dict() | list():
                begin, end = "{}" if isinstance(body, dict) else "[]"
                yield begin, False
                for place, item in enumerate(body):
                    comma = ", " if place else ""
                    if isinstance(body, dict):
                        yield f"{comma}{json.dumps(item, ensure_ascii=False)}: ", False
                        yield from self.pieces(body[item])
                    else:
                        yield comma, False
                        yield from self.pieces(item)
                yield end, False
            case _:
                yield json.dumps(body, ensure_ascii=False), False
