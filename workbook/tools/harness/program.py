"""A program under test: the command that starts it, Ctrl-C while it is judged, and its log files.

Of a log, what was written since the run began is read line by line, and never kept. A line that is longer than `PIECE`
comes in several pieces with the same line number. Each piece begins with the last `OVERLAP` bytes of the one before, so
a secret at a border is whole in one of them.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.base.children import child_environment
from workbook.base.files import ScratchFolder
from workbook.base.terminal import end_with_parent, ending_signals
from workbook.errors import WorkbookError

if TYPE_CHECKING:  # it loads TLS, which a browser lacks
    from workbook.tools.harness.origin import Origin

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


async def printed(line: str, folder: Path, values: Mapping[str, str], seconds: float) -> str:
    """What a shell command prints, without the blanks around it.

    Raises:
        StartError: it fails, or has not ended after so many seconds.
    """
    process = await asyncio.create_subprocess_shell(
        line,
        cwd=folder,
        env={**child_environment(), **values},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate()
    except TimeoutError:
        raise StartError(f"It has not ended after {seconds:g} s.") from None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise StartError(f"It ended with exit code {process.returncode}.")
    return out.decode("utf-8", "replace").strip()


class StartCommand(AbstractContextManager["StartCommand"]):
    """A program under test that a shell command runs until the block ends. What it prints is kept in a file.

    Args:
        line: the command line.
        folder: where it runs.
        values: environment variables besides the inherited ones.
        clean: takes secrets out of what it printed.

    Attributes:
        output: the file.
    """

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
        self._kept = ScratchFolder()
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


# The log files of a program.

# Bytes of a line that are read at once, and bytes that two pieces share. A scan needs many times a piece's memory.
PIECE, OVERLAP = 65_536, 4_096


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log, or a piece of a very long one.

    Attributes:
        file: the log's name.
        number: of the line in the file, from 1.
        text: without the line's end.
    """

    file: str
    number: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LogPosition:
    """A position in a log file.

    Attributes:
        inode: of the file. Another file of the same name is read from its beginning.
        at: bytes before the position.
        lines: whole lines before it.
    """

    inode: int = 0
    at: int = 0
    lines: int = 0

    def start_of(self, end: LogPosition) -> LogPosition:
        """Where to begin reading towards `end`: at the file's beginning where it was rotated or truncated since."""
        return self if self.inode == end.inode and self.at <= end.at else LogPosition(end.inode)


@dataclass(frozen=True, slots=True)
class LogSpan:
    """The lines that were written between two moments. Each iteration reads the files again.

    Attributes:
        began: each file's position at the first moment.
        ended: each file's position at the second; a file that did not exist is missing.
    """

    began: Mapping[Path, LogPosition] = field(default_factory=dict)
    ended: Mapping[Path, LogPosition] = field(default_factory=dict)

    def __iter__(self) -> Iterator[LogLine]:
        for path, end in self.ended.items():
            start = self.began.get(path, LogPosition()).start_of(end)
            with path.open("rb") as file:
                file.seek(start.at)
                number = start.lines + 1
                left = end.at - start.at
                piece = b""
                while left > 0 and (block := file.readline(min(left, PIECE))):
                    left -= len(block)
                    piece = piece[-OVERLAP:] + block
                    yield LogLine(path.name, number, piece.rstrip(b"\r\n").decode("utf-8", "replace"))
                    if block.endswith(b"\n"):
                        number += 1
                        piece = b""

    @property
    def extent(self) -> str:
        """What was written, in words."""
        lines = {path: end.lines - self.began.get(path, LogPosition()).start_of(end).lines
                 for path, end in self.ended.items()}  # fmt: skip
        words = [f"{count} lines {'that the command printed' if path.name == PRINTED else f'of {path.name}'}"
                 for path, count in lines.items()]  # fmt: skip
        return f"{', '.join(words)}{'; no file was named' if {path.name for path in self.began} == {PRINTED} else ''}."

    def missing(self) -> tuple[str, ...]:
        """The names of the files that never existed."""
        return tuple(path.name for path in self.began if path not in self.ended)


class Logs:
    """The log files of one back end. What they hold at this moment is not part of the run.

    Args:
        paths: of the files; a file need not exist yet.
        folder: where its command runs; None where there is no command.
    """

    def __init__(self, paths: Iterable[Path], folder: Path | None = None) -> None:
        self._paths = tuple(paths)
        self._folder = folder
        self._sizes = self._beside()
        self._known: dict[Path, LogPosition] = {}
        now = self.positions()
        self._began = {path: now.get(path, LogPosition()) for path in self._paths}

    def positions(self) -> dict[Path, LogPosition]:
        """The end of each existing file. Line counting resumes at the last known position."""
        for path in self._paths:
            if path.is_file():
                status = path.stat()
                start = self._known.get(path, LogPosition())
                start = start.start_of(LogPosition(status.st_ino, status.st_size))
                at = start.at
                lines = start.lines
                with path.open("rb") as file:
                    file.seek(at)
                    while block := file.read(min(1_048_576, status.st_size - at)):  # a mebibyte at a time
                        at += len(block)
                        lines += block.count(b"\n")
                self._known[path] = LogPosition(status.st_ino, at, lines)
            else:
                self._known.pop(path, None)
        return dict(self._known)

    def _beside(self) -> dict[Path, int]:
        """The sizes of the other files in the command's folder, and in its folders for logs."""
        folders = [self._folder, *self._folder.glob("*log*/")] if self._folder else []
        files = (file for folder in folders for file in os.scandir(folder) if not file.name.startswith("."))
        named = {path.resolve() for path in self._paths}
        ours = set[int]()  # where the workbook itself prints
        with suppress(OSError):
            ours = {os.fstat(number).st_ino for number in (1, 2)}
        sizes = dict[Path, int]()
        for file in files:
            with suppress(OSError):  # it is gone again
                if file.is_file() and file.inode() not in ours and Path(file.path).resolve() not in named:
                    sizes[Path(file.path)] = file.stat().st_size
        return sizes

    def unnamed(self) -> tuple[str, ...]:
        """The names of other files beside the command that grew since the run began."""
        return tuple(sorted(path.name for path, size in self._beside().items() if size > self._sizes.get(path, 0)))

    def since(self, began: Mapping[Path, LogPosition]) -> LogSpan:
        """What was written since `began`."""
        return LogSpan({path: began.get(path, LogPosition()) for path in self._paths}, self.positions())

    def rest(self) -> LogSpan:
        """What was written since the beginning."""
        return LogSpan(self._began, self.positions())


# A line of a log, quoted without its values.


def without_values(line: str, is_known: Callable[[str], bool], longest: int = 160) -> str:
    """The ordinary words of a line, up to so many characters, and `…` in place of everything else."""
    # a word of a language, the name of a header or a short number; what is longer may be a value
    part = r"[A-Za-z]?[a-z]{1,20}"
    plain = re.compile(rf"{part}([-_.]{part})*|[A-Za-z]|[A-Z]{{1,10}}|[0-9]{{1,3}}|[!-/]+")

    def shown(word: re.Match[str]) -> str:
        return word[0] if plain.fullmatch(word[0]) and not is_known(word[0]) else "…"

    text = re.sub(r"[^\s\"'`=:,;&?(){}\[\]<>|/\\]+", shown, line.strip())
    return text if len(text) <= longest else f"{text[:longest].rsplit(' ', 1)[0]} …"
