"""The record: a file of JSON lines, for its owner alone, whole after each line, and never written over.

Its first line says what it is; each run of a proxy that appends to it begins with such a line again.
"""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from time import monotonic
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError
from workbook.proxy.record_line import FORMAT, VERSION, Lines

if TYPE_CHECKING:
    from pathlib import Path

    from workbook.proxy.forwarding import Exchange

MODE = 0o600
_LONGEST_HEAD = 10_000


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line says.

    Attributes:
        to: the API's base URL; it holds no secret.
        began: the moment of second 0, in UTC.
        pseudonyms: whether every id of a payment instrument is one.
        format: what the file is.
        version: of the format.
    """

    to: str
    began: str
    pseudonyms: bool = False
    format: str = FORMAT
    version: int = VERSION


class Recording:
    """An open record; close it.

    Args:
        path: the file; it is made, or appended to where `append` says so.
        head: what this run begins with.
        append: go on with a record that is there.

    Attributes:
        count: how many exchanges were written.
        cut: whether an unfinished last line of an earlier run was taken away.

    Raises:
        ConfigurationError: the file is there already, is no record, or cannot be written.
    """

    def __init__(self, path: Path, head: Head, *, append: bool = False) -> None:
        self.path = path
        self.count = 0
        self.cut = False
        self._lines = Lines(pseudonyms=head.pseudonyms)
        self._began = monotonic()
        try:
            self._file = self._continued() if append and path.exists() else self._claimed(os.O_CREAT | os.O_EXCL)
            self._write(json.dumps(asdict(head)))
        except FileExistsError:
            message = f"{path} is there already. Give another --out, or say --append to go on with it."
            raise ConfigurationError(message) from None
        except BlockingIOError:
            raise ConfigurationError(f"Another proxy writes {path}. Stop it, or give another --out.") from None
        except OSError as error:
            raise ConfigurationError(f"Cannot write the record {path}: {error.strerror or error}.") from None

    def keep(self, exchange: Exchange) -> str:
        """Write one exchange; returns what a person may be told of it.

        Raises:
            OSError: the disk is full, for one; nothing is kept of the line.
        """
        written = self._lines.line(exchange, self._began)
        self._write(written.line)
        self.count += 1
        return written.told

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)

    def _claimed(self, flags: int = 0) -> int:
        """The open file, which is this process's alone for as long as it is open."""
        file = os.open(self.path, os.O_RDWR | flags, MODE)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(file)
            raise
        return file

    def _continued(self) -> int:
        """A record that is there, from the end of its last whole line on."""
        file = self._claimed()
        try:
            os.fchmod(file, MODE)
            end = self._checked(file)
            os.ftruncate(file, end)
            os.lseek(file, 0, os.SEEK_END)
        except BaseException:
            os.close(file)
            raise
        return file

    def _checked(self, file: int) -> int:
        """Where the last whole line ends."""
        size = os.lseek(file, 0, os.SEEK_END)
        os.lseek(file, 0, os.SEEK_SET)
        if not is_head(os.read(file, _LONGEST_HEAD).partition(b"\n")[0]):
            raise ConfigurationError(f"{self.path} is no record of a proxy. Give another --out.")
        end = size
        while end and os.pread(file, 1, end - 1) != b"\n":
            end -= 1
        self.cut = end != size
        return end

    def _write(self, line: str) -> None:
        """One whole line in one call; what a full disk cut is taken back."""
        data = f"{line}\n".encode()
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, end)
                os.lseek(self._file, end, os.SEEK_SET)
            raise


def is_head(line: bytes) -> bool:
    """Whether this line begins a run of a record in this version."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and (said.get("format"), said.get("version")) == (FORMAT, VERSION)
