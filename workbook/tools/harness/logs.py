"""The back end's log files: what was written since the run began is read line by line, and never kept.

A line that is longer than `PIECE` comes in several pieces with the same line number. Each piece begins with the
last `OVERLAP` bytes of the one before, so a secret at a border is whole in one of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

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
        without: spans whose lines belong to other cases.
    """

    began: Mapping[Path, LogPosition] = field(default_factory=dict)
    ended: Mapping[Path, LogPosition] = field(default_factory=dict)
    without: tuple[LogSpan, ...] = field(default=(), repr=False)

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
                    if not any(span.holds(path, number) for span in self.without):
                        yield LogLine(path.name, number, piece.rstrip(b"\r\n").decode("utf-8", "replace"))
                    if block.endswith(b"\n"):
                        number += 1
                        piece = b""

    def holds(self, path: Path, number: int) -> bool:
        """Whether the line with this number began in the span."""
        end = self.ended.get(path)
        return end is not None and self.began.get(path, LogPosition()).start_of(end).lines < number <= end.lines

    def missing(self) -> tuple[str, ...]:
        """The names of the files that never existed."""
        return tuple(path.name for path in self.began if path not in self.ended)


class Logs:
    """The log files of one back end. What they hold at this moment is not part of the run.

    Args:
        paths: of the files; a file need not exist yet.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._known: dict[Path, LogPosition] = {}
        now = self.positions()
        self._began = {path: now.get(path, LogPosition()) for path in self._paths}
        self._judged: list[LogSpan] = []

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

    def since(self, began: Mapping[Path, LogPosition]) -> LogSpan:
        """What was written since `began`. Only the case that called this judges these lines."""
        span = LogSpan({path: began.get(path, LogPosition()) for path in self._paths}, self.positions())
        self._judged.append(span)
        return span

    def rest(self) -> LogSpan:
        """What was written in the run, apart from judged lines."""
        return LogSpan(self._began, self.positions(), tuple(self._judged))


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
