"""How the back end comes to the API's address and key: a command that runs it, a hook, or a person."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from workbook.conformance.origin import Origin, listens
from workbook.conformance.reach import Reach
from workbook.errors import WorkbookError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

GRACE = 3.0
"""Seconds between asking a command to end and ending it."""
PAUSE = 0.1
LAST_LINES, LONGEST_LINE = 5, 200
"""How much of what a command printed is told."""
TAIL = 65_536
SUCCESS = range(200, 300)


class StartError(WorkbookError):
    """The back end did not start, so nothing could be decided."""


class Command:
    """A back end that a shell command runs, until the block ends; what it prints is kept in a file.

    Args:
        line: the command line.
        folder: where it runs.
        values: what its environment gets besides our own.
    """

    def __init__(self, line: str, folder: Path | None, values: Mapping[str, str]) -> None:
        self._line, self._folder, self._values = line, folder, values
        self._kept = TemporaryDirectory(prefix="workbook-conform-", ignore_cleanup_errors=True)
        self.output = Path(self._kept.name) / "command-output.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._over = False

    def __repr__(self) -> str:
        return f"Command({self._line!r})"

    def __enter__(self) -> Self:
        self.output.touch()
        return self

    def start(self) -> None:
        """Run it."""
        with self.output.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S602  # the configuration's own command, as a shell would run it
                self._line,
                shell=True,
                cwd=self._folder,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **self._values},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self.end()
        self._kept.cleanup()

    async def listening(self, origin: Origin, seconds: float) -> None:
        """Wait until somebody listens.

        Raises:
            StartError: nobody does in time, or the command ended before.
        """
        until = monotonic() + seconds
        while monotonic() < until:
            if self.ended:
                raise StartError(f"The back end did not start. {self.ended}")
            if await listens(origin, 1):
                return
            await asyncio.sleep(PAUSE)
        where = f"{origin.scheme}://{origin.authority}"
        raise StartError(f"The back end did not listen at {where} within {seconds:g} s. {self._words()} "
                         "Does it listen at another address or port, or take longer ([timeouts] start)?")  # fmt: skip

    @property
    def ended(self) -> str:
        """How the command ended, in words; empty while it runs."""
        code = None if self._process is None else self._process.poll()
        if code is None:
            return ""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"Its command {how}. {self._words()}"

    def _words(self) -> str:
        with self.output.open("rb") as file:
            file.seek(max(0, self.output.stat().st_size - TAIL))
            lines = file.read().decode("utf-8", "replace").split("\n")
        told = ["".join(filter(str.isprintable, line)).strip()[:LONGEST_LINE] for line in lines]
        last = [line for line in told if line][-LAST_LINES:]
        return f"It printed last: {' | '.join(last)}" if last else "It printed nothing."

    def end(self) -> None:
        """End it, with the whole group of its processes: a shell's children outlive it."""
        if self._process is None or self._over:
            return
        self._over = True
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(GRACE)


async def posted(hook: str, values: Mapping[str, str], seconds: float, ca_file: Path | None = None) -> None:
    """Post the values to a hook, as JSON.

    Args:
        hook: its URL.
        values: by their names.
        seconds: for which it is waited.
        ca_file: certificates that are trusted besides those that this machine trusts.

    Raises:
        StartError: it did not take them.
        ConfigurationError: its name leads where nobody may go.
    """
    origin = Origin.of(hook)
    body = json.dumps(values).encode()
    headers = [("content-type", "application/json")]
    async with Reach(Origin.of(f"{origin.scheme}://{origin.authority}"), seconds, ca_file=ca_file) as reach:
        try:
            async with asyncio.timeout(seconds):
                answer = await reach.exchange("POST", urlsplit(hook).path or "/", headers, body)
        except TimeoutError:
            raise StartError(f"The hook gave no answer within {seconds:g} s.") from None
    if answer.broke:
        why = f" ({answer.why})" if answer.why else ""
        raise StartError(
            f"The hook {origin.scheme}://{origin.authority} did not take the values: {answer.broke.value}{why}."
        )
    if answer.status not in SUCCESS:
        raise StartError(f"The hook did not take the values: it answered with status {answer.status}.")
