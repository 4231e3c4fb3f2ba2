"""Makes the record of a run from its results: redacted, with the baseline applied, and with its exit code."""

import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from time import monotonic, time
from typing import Any

from workbook.api.redaction import SHOWN_HEADERS, Redaction
from workbook.base.rules import Owner
from workbook.base.secrecy import SecretKind, Secrets
from workbook.errors import ExitCode
from workbook.tools.harness.logs import without_values
from workbook.tools.harness.model import Case, CaseResult, Evidence, Miss, RunFinding, Verdict
from workbook.tools.harness.report import JUDGED, About, CaseRecord, RunRecord, moment
from workbook.tools.harness.selection import Options, ResultT, apply_baseline, is_new
from workbook.tools.harness.sessions import canaries_in, session_secrets


def exit_code(done: About, verdicts: Iterable[Verdict]) -> int:
    """The worst exit code that follows from a run and the verdicts of its cases."""
    if done.interrupted:
        return ExitCode.INTERRUPTED
    counts = Counter(verdicts)
    failing = {Verdict.FAIL, Verdict.FLAKY} | ({Verdict.WARN, Verdict.NOT_LOOKED_AT} if done.strict else set())
    if counts[Verdict.HARNESS_ERROR]:
        return ExitCode.BROKEN
    if done.stale or any(finding.fails for finding in done.findings) or failing & counts.keys():
        return ExitCode.FAILED
    if done.trouble or not JUDGED & counts.keys():
        return ExitCode.NOTHING_DONE
    return ExitCode.FAILED if done.strict and counts[Verdict.NOT_TESTABLE] else ExitCode.OK


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
    cases = (_record_case(result, about, redaction, known, first) for result in results)
    return RunRecord(about, tuple(cases), secrets=known)


def _record_case(result: CaseResult, about: About, redaction: Redaction, known: Secrets, first: float) -> CaseRecord:
    """The record of one result; `first` is when the first case of the run began."""
    case, began, owner = result.case, result.began, result.verdict.owner
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
        began=None if began is None else round(began - first, 4),
    )


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
    seconds = monotonic() - began
    try:
        ours = version("provisioning-workbook")
    except PackageNotFoundError:
        ours = "not installed"
    done = about(
        started=moment(time() - seconds),
        seconds=round(seconds, 3),
        versions={"workbook": ours, "python": platform.python_version()},
        command=options.command,
        strict=options.strict,
        only=options.only,
        stale=stale,
        findings=tuple(findings(marked)),
    )
    code = exit_code(done, (result.verdict for result in marked if not is_new(result.why)))
    return record(marked, replace(done, exit_code=code), secrets, values)
