"""How the back end gets the API's address and key: from a command that starts it, from a hook, or from a person."""

import asyncio
import json
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, ClassVar
from urllib.parse import urlsplit

from workbook.api.net import Origin
from workbook.base.signals import end_with_parent, ending_signals
from workbook.errors import WorkbookError
from workbook.harness.progress import RunProgress
from workbook.relay.api_side import MockApi
from workbook.relay.case_runner import CaseRunner
from workbook.relay.config import PRINTED, Config
from workbook.relay.findings import first_call
from workbook.relay.model import POST, SUCCESS, Broke, PhoneCall
from workbook.relay.phone import OriginClient, listens, loaded


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
        # The workbook's own variables hold a real API key, which no back end under test gets.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("WORKBOOK_")}
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S602 - the configuration's own command, run as its author would
                self.line,
                shell=True,
                cwd=self.folder,
                env={**inherited, "PYTHONUNBUFFERED": "1", **self.values, **dict([self._mark.split("=")])},
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
        said = self.ended
        if self._process is not None and self._said is None:
            self._said = said
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


async def post_values(hook: str, values: Mapping[str, str], seconds: float, ca_file: Path | None = None) -> None:
    """Post the values to a hook, as JSON.

    Args:
        hook: its URL.
        values: by their names.
        seconds: time limit.
        ca_file: certificates that are trusted besides the machine's own.

    Raises:
        StartError: the hook did not accept them.
        ConfigurationError: its name has an address that is never contacted.
    """
    where = Origin.of(hook)
    origin, call = Origin.of(f"{where.scheme}://{where.authority}"), PhoneCall(1, POST, "", "")
    headers = [("content-type", "application/json")]
    async with OriginClient(origin, seconds, ca_file=ca_file) as client:
        try:
            async with asyncio.timeout(seconds):
                await client.exchange(call, "POST", urlsplit(hook).path or "/", headers, json.dumps(values).encode())
        except TimeoutError:
            raise StartError(f"The hook gave no answer within {seconds:g} s.") from None
    if call.broke:
        why = f" ({call.why})" if call.why else ""
        address = f"{origin.scheme}://{origin.authority}"
        raise StartError(f"The hook {address} did not take the values: {call.broke.value}{why}.")
    if call.status not in SUCCESS:
        raise StartError(f"The hook did not take the values: it answered with status {call.status}.")


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
        target: the back end, with its adapter loaded and its output among its logs.

    Raises:
        ConfigurationError: the adapter cannot be loaded.
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
        self._values = config.exports.values(api.url, api.key, api.ca_file)
        self.target, start = config.target, config.start
        if config.adapter:
            stack.enter_context(exported(self._values))
            adapter = stack.enter_context(loaded(config.adapter, config.folder))
            self.target = replace(self.target, adapter=adapter)
        elif start.command and not self.known:
            values = surroundings(api, proxy=start.proxy) | self._values
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
        hook, limits, target = self.config.start.hook, self.config.timeouts, self.target
        by_hand = not (self.known or self.config.start.command or hook or target.adapter)
        self.progress.exported(self._values if by_hand else {}, self.api.url)
        if target.adapter is not None:
            return
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
        elif hook and not self.known:
            await post_values(hook, self._values, limits.start, target.ca_file)
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
