"""One run from beginning to end: the API, the back end, the plain attempt, the cases, the baseline.

It runs on a thread with an event loop of its own, so a notebook, which has a loop already, can call it. After Ctrl-C it
keeps the results of the cases that had ended.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from math import ceil, inf
from time import monotonic

from workbook.base.secrecy import KEY_VARIABLE, Secrets
from workbook.simulation.http import Headers
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import PLAIN_ATTEMPT, CaseRunner
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import Config, is_header_value
from workbook.tools.conform.back_end.findings import PlainFailure, common_causes, plain_attempt
from workbook.tools.conform.back_end.model import BAD_TLS, BackEndCase, BackEndResult, FromCommand, FromEnvironment
from workbook.tools.conform.back_end.schedule import is_paced, measured, run_cases, seconds_of, without
from workbook.tools.harness.model import CaseOptions, RunFinding, Verdict
from workbook.tools.harness.origin import Origin
from workbook.tools.harness.program import StartCommand, StartError, Stopping, listens, printed
from workbook.tools.harness.report import About, RunRecord, conclude, is_weak, session_secrets
from workbook.tools.harness.summary import RunProgress


class Launcher:
    """Starts the back end with the API's address and key, and waits until it listens.

    Args:
        config: says how.
        api: the API.
        progress: shows what a person has to do.
        stack: closes with the run, and then ends the command.
        clean: takes secrets out of what a command printed.
        known: the back end has the values already, so there is nothing to do.

    Attributes:
        target: the back end, with its output among its logs.
    """

    def __init__(
        self,
        config: Config,
        api: MockApi,
        progress: RunProgress,
        stack: ExitStack,
        clean: Callable[[str], str],
        *,
        known: bool,
    ) -> None:
        self._config = config
        self._api = api
        self._progress = progress
        self._values = config.form.export.values(api.url, api.key, api.ca_file)
        self._by_hand = not (known or config.form.start.command)
        self._command: StartCommand | None = None
        self.target = config.target
        start = config.form.start
        if start.command and not known:
            values = read_unasked(api) | self._values
            if config.port:
                values[config.form.export.port] = str(config.port)
            self._command = stack.enter_context(StartCommand(start.command, config.start_folder, values, clean))
            logs = (*self.target.logs, self._command.output)
            self.target = replace(self.target, logs=logs, folder=config.start_folder)

    @property
    def ended(self) -> str:
        """How the back end's command ended, in words; empty while it runs, or where there is no command."""
        return "" if self._command is None else self._command.ended

    def end(self) -> None:
        """End the back end where a command runs it: what it logs as it ends belongs to the run."""
        if self._command is not None:
            self._command.end()

    async def ready(self, runner: CaseRunner) -> None:
        """Wait until the back end has the values and listens.

        Raises:
            StartError: it does not.
            ConfigurationError: its address is never contacted.
        """
        limits = self._config.form.timeouts
        target = self.target
        self._progress.exported(self._values if self._by_hand else {}, self._api.url)
        origin = Origin.of(target.base_url)
        try:
            await origin.addresses()
        except OSError:
            raise StartError(f"The name {origin.host!r} of the back end has no address.") from None
        if self._command is not None:
            if await listens(origin, 1):
                raise StartError(
                    f"A program listens at {target.base_url} already. End it first, or leave the command out if that "
                    "program is your back end."
                )
            self._command.start()
            await self._command.listening(origin, limits.start)
        await self._sign_in(origin, limits.start)
        runner.target = self.target
        if self._by_hand:
            await self._first_call(runner, limits.first_call)

    async def _sign_in(self, origin: Origin, seconds: float) -> None:
        """Put what commands print into the place of the sessions that are to come, once the back end listens."""
        config = self._config
        port = {config.form.export.port: str(config.port)} if config.port else {}

        async def session(owner: str, headers: Headers) -> Headers:
            return tuple([(name, await value_of(f"{owner}'s {name}", value)) for name, value in headers])

        async def value_of(what: str, value: str) -> str:
            if not isinstance(value, FromCommand):
                return value
            while self._by_hand and not await listens(origin):
                pass
            try:
                text = await printed(value.line, config.start_folder, port, seconds)
            except StartError as error:
                raise StartError(f"The command that prints {what} failed. {error}") from None
            if not is_header_value(text) or is_weak(text):
                why = f"printed {len(text)} characters that are no line of printable ASCII, or a plain word or address"
                raise StartError(f"The command that prints {what} {why}. Let it print the value alone.")
            return FromEnvironment(f"{value.prefix}{text}")

        holders = [
            replace(
                holder,
                session=await session(holder.name, holder.session),
                sessions={card: await session(holder.name, own) for card, own in holder.sessions.items()},
            )
            for holder in self.target.cardholders
        ]
        self.target = replace(self.target, cardholders=tuple(holders))

    async def _first_call(self, runner: CaseRunner, seconds: float) -> None:
        """Call until something comes of it, because a person may still be starting the back end with the values."""
        self._progress.say(f"waiting for the first call: {seconds:g} s at most")
        target = self.target
        until = monotonic() + seconds
        while monotonic() < until:
            seen = await runner.run(PLAIN_ATTEMPT, target.cardholders[0].cards[:1], next(iter(target.surfaces)))
            no_tls = any(call.broke in BAD_TLS for call in seen.calls)
            if seen.arrived or no_tls or all(call.succeeded for call in seen.calls):  # waiting changes no certificate
                return
            await asyncio.sleep(min(1.0, max(0.0, until - monotonic())))


def read_unasked(api: MockApi) -> dict[str, str]:
    """Environment variables that HTTP libraries read unasked: no proxy leads to the mock API, and whom they trust."""
    past = ",".join(filter(None, [os.environ.get("no_proxy"), "127.0.0.1"]))
    variables = dict.fromkeys(("no_proxy", "NO_PROXY"), past)
    if api.ca_file:
        authorities = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
        variables |= dict.fromkeys(authorities, str(api.ca_file))
    return variables


def conform(
    config: Config,
    options: CaseOptions[BackEndCase],
    *,
    api: MockApi | None = None,
    progress: RunProgress | None = None,
    stopping: Stopping | None = None,
) -> RunRecord:
    """Run cases against a back end, and return their record, ready for `reports.write_reports`.

    Args:
        config: of the back end.
        options: what to run.
        api: an API that listens already, and whose address and key the back end has; None creates one.
        progress: shows what happens; nothing by default.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.

    Raises:
        ConfigurationError: a port is taken, or an address is never contacted.
    """
    progress = progress or RunProgress()
    settings = config.form.api
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        known = api is not None
        api = api or stack.enter_context(MockApi(config.instruments, **settings.model_dump() | {"key": config.key}))
        ours = tuple(filter(None, [os.environ.get(KEY_VARIABLE)]))  # a start command may hold the real key too

        def secrets() -> tuple[str, ...]:  # a command may have printed a session
            return (api.key, *ours, *launcher.target.session_secrets())

        def clean(text: str) -> str:
            return _scrub(secrets())(text)

        launcher = Launcher(config, api, progress, stack, clean, known=known)
        runner = CaseRunner(launcher.target, api, settings.seed)
        return _Run(config, options, runner, launcher, progress, clean).record(stopping, secrets)


@lru_cache(maxsize=2)
def _scrub(secrets: tuple[str, ...]) -> Callable[[str], str]:
    return Secrets.of_keys({*secrets, *session_secrets(secrets)}).scrub


@dataclass
class _Run:
    """A run, and its results so far."""

    config: Config
    options: CaseOptions[BackEndCase]
    runner: CaseRunner
    launcher: Launcher
    progress: RunProgress
    clean: Callable[[str], str]
    results: dict[str, BackEndResult] = field(default_factory=dict)
    trouble: str = ""
    plain: tuple[PlainFailure, ...] = ()
    over: bool = False

    def record(self, stopping: Stopping, secrets: Callable[[], tuple[str, ...]]) -> RunRecord:
        """Run everything, and return the record. After a signal it holds only what had ended by then."""
        began = monotonic()
        try:
            stopping.run(self._main)
        finally:
            self.over = True
            self.progress.close()
        return self._record(began, secrets(), interrupted=stopping.asked)

    def _record(self, began: float, secrets: tuple[str, ...], *, interrupted: bool) -> RunRecord:
        """The record of what has ended; `began` is when the run did."""
        options = self.options
        config = self.config
        runner = self.runner
        results = list[BackEndResult]()
        unfinished = list[str]()
        for case in options.cases:
            result = self.results.get(case.name) or without(case, runner.target)
            if result is None and interrupted:
                unfinished.append(case.name)
            else:
                results.append(result or BackEndResult(case, Verdict.NOT_LOOKED_AT, why=self.trouble))
        about = partial(
            About,
            target=config.file or config.target.base_url,
            base_url=config.target.base_url,
            seed=config.form.api.seed,
            config=config.file,
            profile=config.form.api.profile,
            interrupted=interrupted,
            unfinished=tuple(unfinished),
            trouble=self.trouble,
            tempo=self._tempo(),
        )
        return conclude(about, began, results, CASES, options, findings=self._findings, secrets=secrets)

    def _tempo(self) -> str:
        """How the back end works, in a line; empty where that was not measured."""
        limit = self.runner.limit
        gives_up = f"; gives up a request to the API after {limit:.1f} s" if limit < inf else ""
        return f"{self.runner.tempo}{gives_up}" if self.runner.tempo else ""

    def _findings(self, results: Sequence[BackEndResult]) -> Iterator[RunFinding]:
        """What explains many results at once."""
        gone = self.clean(self.runner.gone)
        ended = self.clean(self.launcher.ended) if gone else ""
        yield from (failure.finding(results) for failure in self.plain)
        runner = self.runner
        yield from common_causes(results, gone, ended, runner.tempo, pace=runner.target.pace)

    async def _main(self) -> None:
        limit = self.config.form.timeouts.whole
        try:
            async with asyncio.timeout(limit) as clock:
                await self.launcher.ready(self.runner)
                await self._cases()
        except StartError as error:
            self._report_trouble(str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            self._report_trouble(f"The time limit of {limit:g} s for all cases ran out ([timeouts] whole).")

    async def _cases(self) -> None:
        """The plain attempt, and where anything can be judged, the cases."""
        if not await self._can_be_judged():
            return
        runner = self.runner
        options = self.options
        single = [case for case in options.cases if not case.script.judges_run]
        whole = [case for case in options.cases if case.script.judges_run]
        if is_paced(single):
            tempo = await measured(runner)
            minutes = ceil(seconds_of(single, runner) / 60)
            self.progress.say(f"{tempo}; {f'about {minutes} min' if minutes > 1 else 'less than a minute'}")
        self.progress.begin(len(single) + len(whole))
        broken = [(app, failure.operation) for failure in self.plain for app in failure.apps]
        await run_cases(single, runner, self._on_result, broken)
        if runner.gone:
            self.progress.say(self.clean(f"{runner.gone} {self.launcher.ended}".strip()))
        if whole:
            await asyncio.to_thread(self.launcher.end)
            await run_cases(whole, runner, self._on_result)

    async def _can_be_judged(self) -> bool:
        """Make the plain calls. What fails of them is kept and said; False where no case could be judged then."""
        failures, alive = await plain_attempt(self.runner)
        sentences = " ".join(map(str, failures))
        misconfigured = any(failure.by_configuration for failure in failures)
        if not alive or misconfigured:
            self._report_trouble(f"{sentences} {self.launcher.ended}")
            return False
        self.plain = failures
        if failures:
            self.progress.say(self.clean(sentences))
        return True

    def _on_result(self, result: BackEndResult) -> None:
        if not self.over:  # otherwise the report is being written
            clean = replace(result, why=self.clean(result.why))
            self.results[clean.case.name] = clean
            self.progress.ended(clean)

    def _report_trouble(self, text: str) -> None:
        """Add something that a reader has to know first, and say it at once."""
        if text := self.clean(text.strip()):
            self.trouble = f"{self.trouble} {text}".strip()
            self.progress.say(text)
