"""The back end's log files, from where they stood before it was called: read by line, and never kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

BLOCK = 1_048_576
"""Bytes that are read at once to count lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log.

    Attributes:
        file: the log's name.
        number: its place in the file, from 1.
        text: without the line's end.
    """

    file: str
    number: int
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log file.

    Attributes:
        inode: of the file that it is a place in; another file of the same name is read from its beginning.
        at: bytes before it.
        lines: whole lines before it.
    """

    inode: int = 0
    at: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was written between two moments, by line; read anew each time.

    Attributes:
        began: where each file stood at the first of them.
        ended: where each stood at the second; a file that was not there is missing.
        without: stretches that are somebody else's.
    """

    began: Mapping[Path, Mark] = field(default_factory=dict)
    ended: Mapping[Path, Mark] = field(default_factory=dict)
    without: tuple[Stretch, ...] = field(default=(), repr=False)

    def __iter__(self) -> Iterator[Line]:
        for path, end in self.ended.items():
            start = _start(self.began.get(path, Mark()), end)
            for line in _lines(path, start, end):
                if not any(one.holds(path, line.number) for one in self.without):
                    yield line

    def holds(self, path: Path, number: int) -> bool:
        """Whether this line was written in it, from its beginning on."""
        end = self.ended.get(path)
        return end is not None and _start(self.began.get(path, Mark()), end).lines < number <= end.lines

    def missing(self) -> tuple[str, ...]:
        """The names of the files that were never there."""
        return tuple(path.name for path in self.began if path not in self.ended)


class Logs:
    """The log files of one back end; where they stand now is where they begin.

    Args:
        paths: of the files; one need not be there yet.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = tuple(paths)
        self._known: dict[Path, Mark] = {}
        self._began = {path: self.mark().get(path, Mark()) for path in self._paths}
        self._judged: list[Stretch] = []

    def mark(self) -> dict[Path, Mark]:
        """Where each file that is there stands now."""
        for path in self._paths:
            if path.is_file():
                self._known[path] = _now(path, self._known.get(path, Mark()))
            else:
                self._known.pop(path, None)
        return dict(self._known)

    def since(self, began: Mapping[Path, Mark]) -> Stretch:
        """What was written since that moment; a case that is alone has looked at it, and no other will."""
        stretch = Stretch({path: began.get(path, Mark()) for path in self._paths}, self.mark())
        self._judged.append(stretch)
        return stretch

    def rest(self) -> Stretch:
        """What was written from the beginning to now and nobody has looked at."""
        return Stretch(self._began, self.mark(), tuple(self._judged))


def _start(began: Mark, ended: Mark) -> Mark:
    """Where to begin: a file that was rotated or cut is read whole."""
    return began if began.inode == ended.inode and began.at <= ended.at else Mark(ended.inode)


def _now(path: Path, known: Mark) -> Mark:
    status = path.stat()
    start = _start(known, Mark(status.st_ino, status.st_size))
    at, lines = start.at, start.lines
    with path.open("rb") as file:
        file.seek(at)
        while block := file.read(min(BLOCK, status.st_size - at)):
            at, lines = at + len(block), lines + block.count(b"\n")
    return Mark(status.st_ino, at, lines)


def _lines(path: Path, start: Mark, end: Mark) -> Iterator[Line]:
    with path.open("rb") as file:
        file.seek(start.at)
        number, left = start.lines, end.at - start.at
        while left > 0 and (line := file.readline(left)):
            number, left = number + 1, left - len(line)
            yield Line(path.name, number, line.rstrip(b"\r\n").decode("utf-8", "replace"))
