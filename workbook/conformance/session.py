"""One run from beginning to end: the API, the back end, the plain attempt, the cases, the baseline.

It runs on a thread with an event loop of its own, so a notebook, which has a loop already, can call it, and so Ctrl-C
keeps what has ended by then.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from threading import Thread
from time import monotonic, time

from workbook.conformance.api_side import MockApi
from workbook.conformance.case_runner import CaseRunner, Rounds, run_cases, without
from workbook.conformance.cases import CASES
from workbook.conformance.config import Config
from workbook.conformance.findings import PlainFailure, common_causes, plain_attempt
from workbook.conformance.model import Case, CaseResult, Verdict
from workbook.conformance.process import Launcher, StartError, Stopping
from workbook.conformance.progress import RunProgress
from workbook.conformance.report import INTERRUPTED, About, Record, exit_code, moment, record
from workbook.conformance.selection import Known, apply_baseline
from workbook.secrecy import KEY_VARIABLE, Secrets, session_secrets

STOPPING = 15.0
"""Seconds in which an interrupted run cleans up."""
GLANCE = 0.2
"""Seconds between two looks whether a run is over. Ctrl-C is noticed in between."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Which cases to run, and how.

    Attributes:
        cases: which; all by default.
        repeat: how many times each.
        strict: a warning counts as a failure.
        known: the baseline's entries.
        only: the patterns that chose the cases, for the report.
        keep_going: carry out every case, even where a plain call does not work.
        command: repeats the run, for the report: a command line, or a call where no file says everything.
    """

    cases: Sequence[Case] = field(default_factory=lambda: tuple(CASES.values()))
    repeat: int = 1
    strict: bool = False
    known: tuple[Known, ...] = ()
    only: tuple[str, ...] = ()
    keep_going: bool = False
    command: str = "conform(config, options)"


def conform(
    config: Config,
    options: RunOptions | None = None,
    *,
    api: MockApi | None = None,
    progress: RunProgress | None = None,
    stopping: Stopping | None = None,
) -> Record:
    """Run cases against a back end, and return their record, ready for `reports.write_reports`.

    Args:
        config: of the back end.
        options: what to run; everything by default.
        api: the API where it listens already and the back end has its address and key; None creates one.
        progress: shows what happens; nothing by default.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.

    Raises:
        ConfigurationError: a port is taken, an adapter cannot be loaded, or an address is never contacted.
    """
    progress = progress or RunProgress()
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        known, settings = api is not None, config.api
        api = api or stack.enter_context(
            MockApi(
                config.instruments,
                key=settings.key,
                port=settings.port,
                profile=settings.profile,
                seed=settings.seed,
                tls=settings.tls,
            )
        )
        ours = filter(None, [os.environ.get(KEY_VARIABLE)])  # a command may read it from somewhere else
        secrets = (api.key, *config.target.session_secrets(), *ours)
        clean = Secrets.of_keys({*secrets, *session_secrets(secrets)}).scrub
        launcher = Launcher(config, api, progress, stack, clean, known=known)
        runner = CaseRunner(launcher.target, api, settings.seed)
        run = _Run(config, options or RunOptions(), runner, launcher=launcher, progress=progress, clean=clean)
        return run.record(stopping, secrets)


class _Run:
    """A run, and its results so far."""

    def __init__(
        self,
        config: Config,
        options: RunOptions,
        runner: CaseRunner,
        *,
        launcher: Launcher,
        progress: RunProgress,
        clean: Callable[[str], str],
    ) -> None:
        self._config, self._options, self._runner, self._launcher = config, options, runner, launcher
        self._progress, self._clean = progress, clean
        self._rounds, self._trouble = Rounds(), ""
        self._plain: tuple[PlainFailure, ...] = ()
        self._undecided = self._interrupted = self._over = False
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def record(self, stopping: Stopping, secrets: tuple[str, ...]) -> Record:
        """Run everything, and return the record. After a signal it holds only what had ended by then."""
        began, clock = time(), monotonic()
        stopping.begin(self._stop)
        thread = Thread(target=self._on_thread, name="conform", daemon=True)
        thread.start()
        # Short joins, because a signal handler runs only between two steps of the main thread.
        try:
            while thread.is_alive() and not self._interrupted:
                thread.join(GLANCE)
            thread.join(STOPPING)
        finally:
            self._over = True
            self._progress.close()
        if self._failure is not None:
            raise self._failure
        options, config = self._options, self._config
        ended = {case.name: self._result_of(case) for case in options.cases}
        results, stale = apply_baseline(
            options.known, [result for result in ended.values() if result], CASES, datetime.now(UTC).date()
        )
        gone, how = map(self._clean, (self._runner.gone, self._launcher.ended if self._runner.gone else ""))
        findings = [*(failure.finding(results) for failure in self._plain), *common_causes(results, gone, how)]
        code = exit_code(
            [result.verdict for result in results],
            strict=options.strict,
            stale=bool(stale),
            undecided=self._undecided,
            failed=any(finding.fails for finding in findings),
        )
        about = About(
            target=config.file or config.target.base_url,
            base_url=config.target.base_url,
            seed=config.api.seed,
            started=moment(began),
            seconds=round(monotonic() - clock, 3),
            exit_code=INTERRUPTED if self._interrupted else code,
            command=options.command,
            config=config.file,
            versions={"workbook": _version(), "python": platform.python_version()},
            profile=config.api.profile,
            repeat=options.repeat,
            strict=options.strict,
            only=options.only,
            interrupted=self._interrupted,
            unfinished=tuple(name for name, result in ended.items() if result is None),
            trouble=self._trouble,
            stale=stale,
            findings=tuple(findings),
        )
        values = tuple(value for _card, value in self._runner.values) if options.repeat > 1 else ()
        return record(results, about, secrets, values)

    def _result_of(self, case: Case) -> CaseResult | None:
        """How a case ended; None where it did not, because of an interruption."""
        ended = self._rounds.ended(case.name) or without(case, self._runner.target)
        if ended is not None or self._interrupted:
            return ended
        return CaseResult(case, Verdict.NOT_TESTABLE, why=self._trouble)

    def _on_thread(self) -> None:
        try:
            with suppress(asyncio.CancelledError):
                asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - it is raised again on the caller's thread
            self._failure = error

    def _stop(self) -> None:
        """Cancel the run. A signal handler calls this, so it does little and prints nothing."""
        self._interrupted = True
        if self._loop is not None and self._task is not None:
            with suppress(RuntimeError):  # the loop is closed: the run was over anyway
                self._loop.call_soon_threadsafe(self._task.cancel)

    async def _main(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._interrupted:  # before there was a task to cancel
            return
        limit = self._config.timeouts.whole
        try:
            async with asyncio.timeout(limit) as clock:
                await self._launcher.ready(self._runner)
                await self._cases()
        except StartError as error:
            self._report_trouble(str(error), undecided=True)
        except TimeoutError:
            if not clock.expired():
                raise
            self._report_trouble(
                f"The time limit of {limit:g} s for all cases passed: [timeouts] whole.", undecided=True
            )

    async def _cases(self) -> None:
        """The plain attempt, and where anything can be judged, the cases."""
        runner, options = self._runner, self._options
        failures, alive = await plain_attempt(runner)
        says = " ".join(map(str, failures))
        if failures and self._launcher.misled:
            says += f" {self._launcher.misled}"
        if not alive or (any(failure.by_configuration for failure in failures) and not options.keep_going):
            self._report_trouble(f"{says} {self._launcher.ended}", undecided=True)
            return
        if failures:
            self._plain = failures
            self._progress.say(self._clean(says))
        broken = [(app, failure.operation) for failure in failures for app in failure.apps]
        single = [case for case in options.cases if not case.script.whole]
        whole = [case for case in options.cases if case.script.whole]
        self._progress.begin(len(single) * options.repeat + len(whole))
        for repetition in range(1, options.repeat + 1):
            if repetition > 1:
                runner.forget()
            await run_cases(single, runner, self._on_result, repetition, () if options.keep_going else broken)
        if runner.gone:
            self._progress.say(self._clean(f"{runner.gone} {self._launcher.ended}".strip()))
        if whole:
            await asyncio.to_thread(self._launcher.end)
            await run_cases(whole, runner, self._on_result)

    def _on_result(self, result: CaseResult) -> None:
        if not self._over:  # otherwise the report is being written
            clean = replace(result, why=self._clean(result.why))
            self._rounds.keep(clean)
            self._progress.ended(clean)

    def _report_trouble(self, text: str, *, undecided: bool) -> None:
        """Add something that a reader has to know first, and say it at once."""
        self._undecided = self._undecided or undecided
        if text := self._clean(text.strip()):
            self._trouble = f"{self._trouble} {text}".strip()
            self._progress.say(text)


def _version() -> str:
    try:
        return version("provisioning-workbook")
    except PackageNotFoundError:
        return "not installed"
