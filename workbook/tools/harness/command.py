"""The command that starts a program under test, and Ctrl-C while it is judged."""

import asyncio
import os
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from workbook.api.net import Origin
from workbook.base.children import child_environment
from workbook.base.terminal import end_with_parent, ending_signals
from workbook.errors import WorkbookError

# The name of the log that holds what a start command prints.
PRINTED = "command-output.log"
# An environment variable by which all processes of a command are found.
MARK = "WORKBOOK_COMMAND"


class StartError(WorkbookError):
    """The back end did not start, so nothing could be decided."""


async def listens(origin: Origin, tries: int = 3) -> bool:
    """Whether a connection can be made; several tries leave a program about a second to restart."""
    pause = 0.4  # seconds between two tries
    for attempt in range(tries):
        await asyncio.sleep(pause if attempt else 0)
        with suppress(OSError):
            for address in await origin.addresses():
                with suppress(OSError, TimeoutError):
                    async with asyncio.timeout(pause * 2):
                        _reader, writer = await asyncio.open_connection(address, origin.port)
                    writer.close()
                    return True
    return False


class StartCommand(AbstractContextManager["StartCommand"]):
    """A program under test that a shell command runs until the block ends. What it prints is kept in a file.

    Args:
        line: the command line.
        folder: where it runs.
        values: environment variables besides the inherited ones.
        clean: takes secrets out of what it printed.

    Attributes:
        output: the file.
        most_printed: bytes; a command that prints more is stopped, before it fills the disk.
    """

    most_printed = 2**30

    def __init__(
        self,
        line: str,
        folder: Path | None,
        values: Mapping[str, str],
        clean: Callable[[str], str] = lambda text: text,
    ) -> None:
        self._line = line
        self._folder = folder
        self._values = values
        self._clean = clean
        self._kept = TemporaryDirectory(prefix="workbook-conform-", ignore_cleanup_errors=True)
        self.output = Path(self._kept.name) / PRINTED
        self.output.touch()
        self._mark = secrets.token_hex(16)  # all that it starts inherits this, and nothing else does
        self._process: subprocess.Popen[bytes] | None = None
        self._ending: str | None = None

    def __exit__(self, *_error: object) -> None:
        self.end()
        self._kept.cleanup()

    def start(self) -> None:
        """Start it."""
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S602 - the configuration's own command, run as its author would
                self._line,
                shell=True,
                cwd=self._folder,
                env={**child_environment(), "PYTHONUNBUFFERED": "1", **self._values, MARK: self._mark},
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
        raise StartError(
            f"The back end did not listen at {where} within {seconds:g} s. {self._printed()} "
            "Does it listen at another address or port, or take longer ([timeouts] start)?"
        )

    @property
    def ended(self) -> str:
        """How the command ended, in words; empty while it runs."""
        if self._ending is not None:  # how it ended then is our doing
            return self._ending
        code = None if self._process is None else self._process.poll()
        if self._process and code is None and self.output.stat().st_size > self.most_printed:
            self._stop(self._process)
            self._ending = (
                f"Its command printed more than {self.most_printed:,} bytes, and was stopped. {self._printed()}"
            )
            return self._ending
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
        lines = (self._clean("".join(filter(str.isprintable, line)).strip()) for line in text.split("\n"))
        last = [line[:200] for line in lines if line][-5:]
        return f"It printed last: {' | '.join(last)}" if last else "It printed nothing."

    def end(self) -> None:
        """End it and all that it started: a shell's children outlive the shell, and a daemon leaves its group."""
        ended = self.ended
        if self._process is not None and self._ending is None:
            self._ending = ended
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
                if f"{MARK}={self._mark}".encode() in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)


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
        first = not self.asked
        self.asked = True
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
