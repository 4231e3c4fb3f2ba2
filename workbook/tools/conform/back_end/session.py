"""One run from beginning to end: the API, the back end, the plain attempt, the cases, the baseline.

It runs on a thread with an event loop of its own, so a notebook, which has a loop already, can call it. After Ctrl-C it
keeps the results of the cases that had ended.
"""

import asyncio
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, ClassVar

from workbook.api.net import Origin
from workbook.base.children import environment
from workbook.base.secrecy import KEY_VARIABLE, Secrets
from workbook.base.terminal import end_with_parent, ending_signals
from workbook.errors import WorkbookError
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import Config
from workbook.tools.conform.back_end.findings import PlainFailure, common_causes, first_call, plain_attempt
from workbook.tools.conform.back_end.model import PRINTED, BackEndCase, BackEndResult, Broke
from workbook.tools.conform.back_end.phone import listens
from workbook.tools.conform.back_end.schedule import Rounds, run_cases, without
from workbook.tools.harness.model import RunFinding, Verdict
from workbook.tools.harness.progress import RunProgress
from workbook.tools.harness.report import About, RunRecord, conclude, session_secrets
from workbook.tools.harness.selection import Options

# How the back end gets the API's address and key: from a command that starts it, or from a person.


class StartError(WorkbookError):
    """The back end did not start, so nothing could be decided."""


@dataclass
class StartCommand(AbstractContextManager["StartCommand"]):
    """A back end that a shell command runs until the block ends. What it prints is kept in a file.

    Attributes:
        line: the command line.
        folder: where it runs.
        values: environment variables besides the inherited ones.
        clean: takes secrets out of what it printed.
        output: the file.
        most_printed: bytes; a command that prints more is stopped, before it fills the disk.
    """

    most_printed: ClassVar[int] = 2**30
    line: str
    folder: Path | None
    values: Mapping[str, str]
    clean: Callable[[str], str] = lambda text: text
    _process: subprocess.Popen[bytes] | None = None
    _said: str | None = None

    def __post_init__(self) -> None:
        self._kept = TemporaryDirectory(prefix="workbook-conform-", ignore_cleanup_errors=True)
        self.output = Path(self._kept.name) / PRINTED
        self.output.touch()
        self._mark = f"WORKBOOK_COMMAND={secrets.token_hex(16)}"  # all that it starts inherits this, and nothing else

    def __exit__(self, *_error: object) -> None:
        self.end()
        self._kept.cleanup()

    def start(self) -> None:
        """Start it."""
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S602 - the configuration's own command, run as its author would
                self.line,
                shell=True,
                cwd=self.folder,
                env={**environment(), "PYTHONUNBUFFERED": "1", **self.values, **dict([self._mark.split("=")])},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=end_with_parent(),  # noqa: PLW1509 - it calls one function that was found before the fork
            )

    async def listening(self, origin: Origin, seconds: float) -> None:
        """Wait until it listens.

        Raises:
            StartError: it does not listen in time, or it ended.
        """
        until = monotonic() + seconds
        while monotonic() < until:
            if self.ended:
                raise StartError(f"The back end did not start. {self.ended}")
            if await listens(origin, 1):
                return
            await asyncio.sleep(0.1)
        where = f"{origin.scheme}://{origin.authority}"
        raise StartError(f"The back end did not listen at {where} within {seconds:g} s. {self._printed()} "
                         "Does it listen at another address or port, or take longer ([timeouts] start)?")  # fmt: skip

    @property
    def ended(self) -> str:
        """How the command ended, in words; empty while it runs."""
        if self._said is not None:  # how it ended then is our doing
            return self._said
        code = None if self._process is None else self._process.poll()
        if self._process and code is None and self.output.stat().st_size > self.most_printed:
            self._stop(self._process)
            self._said = (
                f"Its command printed more than {self.most_printed:,} bytes, and was stopped. {self._printed()}"
            )
            return self._said
        if code is None:
            return ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"Its command {how}. {self._printed()}"

    def _printed(self, tail: int = 65_536) -> str:
        """The last lines of the output, from its last `tail` bytes.

        Secrets are taken out before a line is cut, or part of one would remain.
        """
        with self.output.open("rb") as file:
            size = self.output.stat().st_size
            file.seek(max(0, size - tail))
            text = file.read(tail).decode("utf-8", "replace")  # it may grow faster than it is read
        if size > tail:  # it begins within a line, perhaps within a secret, which is not recognised then
            text = text.partition("\n")[2] or text[4096:]
        lines = (self.clean("".join(filter(str.isprintable, line)).strip()) for line in text.split("\n"))
        last = [line[:200] for line in lines if line][-5:]
        return f"It printed last: {' | '.join(last)}" if last else "It printed nothing."

    def end(self) -> None:
        """End it and all that it started: a shell's children outlive the shell, and a daemon leaves its group."""
        ended = self.ended
        if self._process is not None and self._said is None:
            self._said = ended
            self._stop(self._process)

    def _stop(self, process: subprocess.Popen[bytes]) -> None:
        # `start_new_session` made the shell's process id the id of its group.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(3)  # seconds
        for environ in Path("/proc").glob("[0-9]*/environ"):  # there is none but on Linux
            with suppress(OSError):
                if self._mark.encode() in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)


@dataclass
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

    config: Config
    api: MockApi
    progress: RunProgress
    stack: InitVar[ExitStack]
    clean: InitVar[Callable[[str], str]]
    known: bool = field(kw_only=True)
    _command: StartCommand | None = None

    def __post_init__(self, stack: ExitStack, clean: Callable[[str], str]) -> None:
        config, api = self.config, self.api
        self._values = config.form.export.values(api.url, api.key, api.ca_file)
        self.target, start = config.target, config.form.start
        if start.command and not self.known:
            values = surroundings(api, proxy=start.proxy) | self._values
            if config.port:
                values[config.form.export.port] = str(config.port)
            self._command = stack.enter_context(StartCommand(start.command, config.start_folder, values, clean))
            self.target = replace(self.target, logs=(*self.target.logs, self._command.output), proxied=start.proxy)

    @property
    def ended(self) -> str:
        """How the back end's command ended, in words; empty while it runs, or where there is no command."""
        return "" if self._command is None else self._command.ended

    @property
    def misled(self) -> str:
        """Says that the environment's proxy kept the back end from other servers; empty where it did not."""
        if not (self.target.proxied and self.api.proxy.foreign):
            return ""
        return (
            "The back end's calls to other servers came to the proxy that its environment names; that proxy leads to "
            "the mock API only. If the back end needs those servers, set [start] proxy = false."
        )

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
        limits, target = self.config.form.timeouts, self.target
        by_hand = not (self.known or self.config.form.start.command)
        self.progress.exported(self._values if by_hand else {}, self.api.url)
        origin = Origin.of(target.base_url)
        try:
            await origin.addresses()
        except OSError:
            raise StartError(f"The name {origin.host!r} of the back end has no address.") from None
        if self._command is not None:
            if await listens(origin, 1):
                raise StartError(f"A program listens at {target.base_url} already. End it first, "
                                 "or leave the command out if that program is your back end.")  # fmt: skip
            self._command.start()
            await self._command.listening(origin, limits.start)
        elif by_hand:
            await self._first_call(runner, limits.first_call)

    async def _first_call(self, runner: CaseRunner, seconds: float) -> None:
        """Call until something comes of it, because a person may still be starting the back end with the values."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0:
            self.progress.wait(left)
            seen = await first_call(runner)
            no_tls = any(call.broke in (Broke.UNTRUSTED, Broke.NO_TLS) for call in seen.calls)
            if seen.arrived or no_tls or all(call.succeeded for call in seen.calls):  # waiting changes no certificate
                return
            await asyncio.sleep(min(1.0, max(0.0, until - monotonic())))


def surroundings(api: MockApi, *, proxy: bool) -> dict[str, str]:
    """Environment variables that HTTP libraries read unasked, besides those of the export."""
    found: dict[str, str] = {}
    if api.ca_file:
        authorities = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
        found |= dict.fromkeys(authorities, str(api.ca_file))
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") if proxy else ():
        found[name] = found[name.upper()] = "" if name == "no_proxy" else api.proxy.base_url
    return found


@contextmanager
def exported(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for the block."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


# Ctrl-C during a run: asks once for its end, and never interrupts what is being cleaned up or written.


class Stopping(AbstractContextManager["Stopping"]):
    """From `begin` to the end of the block, a signal that ends a process raises no exception.

    Args:
        last: the process ends after the block, so signals after the first are ignored for good.

    Attributes:
        asked: whether a signal has come.
    """

    def __init__(self, *, last: bool = False) -> None:
        self.asked = False
        self._last = last
        self._stop: Callable[[], None] | None = None
        self._handlers: dict[int, Any] = {}

    def __exit__(self, *_error: object) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, signal.SIG_IGN if self.asked and self._last else handler)
        self._handlers.clear()

    def begin(self, stop: Callable[[], None]) -> None:
        """From here on the first signal calls `stop`, and later ones do nothing. Only the main thread gets signals."""
        self._stop = stop
        if threading.current_thread() is threading.main_thread() and not self._handlers:
            self._handlers = {number: signal.signal(number, self._on_signal) for number in ending_signals()}

    def _on_signal(self, _number: int, _frame: object) -> None:
        first, self.asked = not self.asked, True
        if first and self._stop is not None:
            self._stop()

    def run(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a coroutine to its end. The first signal cancels it, and leaves it 15 s to clean up.

        It runs on a thread with an event loop of its own, because a notebook's thread has a loop already.
        """
        running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []
        failures: list[BaseException] = []

        async def cancellable() -> None:
            task = asyncio.create_task(main())
            running.append((asyncio.get_running_loop(), task))
            if self.asked:  # before there was a task to cancel
                task.cancel()
            with suppress(asyncio.CancelledError):
                await task

        def work() -> None:
            try:
                asyncio.run(cancellable())
            except BaseException as error:  # noqa: BLE001 - it is raised again on the caller's thread
                failures.append(error)

        def stop() -> None:  # a signal handler calls this, so it does little and prints nothing
            for loop, task in running:
                with suppress(RuntimeError):  # the loop is closed: the run was over anyway
                    loop.call_soon_threadsafe(task.cancel)

        self.begin(stop)
        thread = threading.Thread(target=work, name="conform", daemon=True)
        thread.start()
        while thread.is_alive() and not self.asked:  # short waits: a signal is handled between two of them
            thread.join(0.2)
        thread.join(15.0)
        if failures:
            raise failures[0]


@dataclass(frozen=True, slots=True)
class RunOptions(Options[BackEndCase]):
    """Which cases to run against a back end, and how.

    Attributes:
        repeat: how many times each.
        keep_going: carry out every case, even where a plain call does not work.
    """

    cases: Sequence[BackEndCase] = field(default_factory=lambda: tuple(CASES.values()))
    repeat: int = 1
    keep_going: bool = False
    command: str = field(default="conform(config, options)", kw_only=True)


def conform(
    config: Config,
    options: RunOptions | None = None,
    *,
    api: MockApi | None = None,
    progress: RunProgress | None = None,
    stopping: Stopping | None = None,
) -> RunRecord:
    """Run cases against a back end, and return their record, ready for `reports.write_reports`.

    Args:
        config: of the back end.
        options: what to run; everything by default.
        api: an API that listens already, and whose address and key the back end has; None creates one.
        progress: shows what happens; nothing by default.
        stopping: handles Ctrl-C until the caller has written the reports; None handles it until the run ends.

    Raises:
        ConfigurationError: a port is taken, or an address is never contacted.
    """
    progress, options, settings = progress or RunProgress(), options or RunOptions(), config.form.api
    with ExitStack() as stack:
        stopping = stopping or stack.enter_context(Stopping())
        known = api is not None
        api = api or stack.enter_context(MockApi(config.instruments, **settings.model_dump() | {"key": config.key}))
        ours = filter(None, [os.environ.get(KEY_VARIABLE)])  # a start command may hold the real key too
        secrets = (api.key, *config.target.session_secrets(), *ours)
        clean = Secrets.of_keys({*secrets, *session_secrets(secrets)}).scrub
        launcher = Launcher(config, api, progress, stack, clean, known=known)
        runner = CaseRunner(launcher.target, api, settings.seed)
        return _Run(config, options, runner, launcher, progress, clean).record(stopping, secrets)


@dataclass
class _Run:
    """A run, and its results so far."""

    config: Config
    options: RunOptions
    runner: CaseRunner
    launcher: Launcher
    progress: RunProgress
    clean: Callable[[str], str]
    rounds: Rounds = field(default_factory=Rounds)
    trouble: str = ""
    plain: tuple[PlainFailure, ...] = ()
    over: bool = False
    started: float = 0.0

    def record(self, stopping: Stopping, secrets: tuple[str, ...]) -> RunRecord:
        """Run everything, and return the record. After a signal it holds only what had ended by then."""
        began = self.started = monotonic()
        try:
            stopping.run(self._main)
        finally:
            self.over = True
            self.progress.close()
        options, config, runner = self.options, self.config, self.runner
        ended = {}
        for case in options.cases:
            undecided = None if stopping.asked else BackEndResult(case, Verdict.NOT_TESTABLE, why=self.trouble)
            ended[case.name] = self.rounds.ended(case.name) or without(case, runner.target) or undecided

        def findings(results: Sequence[BackEndResult]) -> Iterator[RunFinding]:
            gone, how = map(self.clean, (runner.gone, self.launcher.ended if runner.gone else ""))
            yield from (failure.finding(results) for failure in self.plain)
            yield from common_causes(results, gone, how, runner.upstream.arrived())

        about = partial(
            About,
            target=config.file or config.target.base_url,
            base_url=config.target.base_url,
            seed=config.form.api.seed,
            config=config.file,
            profile=config.form.api.profile,
            repeat=options.repeat,
            interrupted=stopping.asked,
            unfinished=tuple(name for name, result in ended.items() if result is None),
            spent={
                "starting": self.started - began,
                "cases": monotonic() - self.started - runner.repeated,
                "repeated": runner.repeated,
            },
            trouble=self.trouble,
        )
        values = tuple(value for _card, value in runner.values) if options.repeat > 1 else ()
        results = [result for result in ended.values() if result]
        return conclude(about, began, results, CASES, options, findings=findings, secrets=secrets, values=values)

    async def _main(self) -> None:
        limit = self.config.form.timeouts.whole
        try:
            async with asyncio.timeout(limit) as clock:
                await self.launcher.ready(self.runner)
                self.started = monotonic()
                await self._cases()
        except StartError as error:
            self._report_trouble(str(error))
        except TimeoutError:
            if not clock.expired():
                raise
            self._report_trouble(f"The time limit of {limit:g} s for all cases ran out ([timeouts] whole).")

    async def _cases(self) -> None:
        """The plain attempt, and where anything can be judged, the cases."""
        runner, options = self.runner, self.options
        failures, alive = await plain_attempt(runner)
        says = " ".join(map(str, failures))
        if failures and self.launcher.misled:
            says += f" {self.launcher.misled}"
        if not alive or (any(failure.by_configuration for failure in failures) and not options.keep_going):
            self._report_trouble(f"{says} {self.launcher.ended}")
            return
        if failures:
            self.plain = failures
            self.progress.say(self.clean(says))
        broken = [(app, failure.operation) for failure in failures for app in failure.apps]
        # a run takes as long as the configuration tells it to
        if not (runner.target.pace or runner.target.recovers_late):
            # a call that was made by then may take another 25 s; with few cards the stalled cases wait more often
            cards = len(self.config.instruments)
            runner.until = monotonic() + 75 * options.repeat * max(1, 6 / cards)
        single = [case for case in options.cases if not case.script.judges_run]
        whole = [case for case in options.cases if case.script.judges_run]
        self.progress.begin(len(single) * options.repeat + len(whole))
        for repetition in range(1, options.repeat + 1):
            if repetition > 1:
                runner.forget()
            left_out = () if options.keep_going else broken
            await run_cases(single, runner, self._on_result, repetition, left_out)
        if runner.is_over:
            self._report_trouble("The back end kept so many calls waiting that the run's time was up before its end.")
        runner.until = float("inf")
        if runner.gone:
            self.progress.say(self.clean(f"{runner.gone} {self.launcher.ended}".strip()))
        if whole:
            await asyncio.to_thread(self.launcher.end)
            await run_cases(whole, runner, self._on_result)

    def _on_result(self, result: BackEndResult) -> None:
        if not self.over:  # otherwise the report is being written
            clean = replace(result, why=self.clean(result.why))
            self.rounds.keep(clean)
            self.progress.ended(clean)

    def _report_trouble(self, text: str) -> None:
        """Add something that a reader has to know first, and say it at once."""
        if text := self.clean(text.strip()):
            self.trouble = f"{self.trouble} {text}".strip()
            self.progress.say(text)
