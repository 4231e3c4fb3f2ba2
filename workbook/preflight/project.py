"""The files of a project: found and read within limits, so that a hostile tree ends quickly and clearly.

A symbolic link to a folder is not followed, so no walk is endless. What a build made, and what others wrote (packages,
pods, modules), is left out. A file is read when it is needed, once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from workbook.base.files import read_regular
from workbook.errors import ParameterError

LARGEST_FILE = 16 * 1_048_576
"""Bytes of a file that is read; no property list, project file, source or environment has more."""


@dataclass(frozen=True)
class File:
    """One file.

    Attributes:
        path: where it is.
        name: its path from the folder that the user named, with `/`; reports show it.
    """

    path: Path
    name: str

    @cached_property
    def _read(self) -> tuple[bytes, str]:
        try:
            content = read_regular(self.path, LARGEST_FILE)
        except OSError as error:
            return b"", error.strerror or "it cannot be opened"
        return (content, "") if len(content) <= LARGEST_FILE else (b"", f"more than {LARGEST_FILE:,} bytes")

    @property
    def content(self) -> bytes:
        """What it holds; nothing where it cannot be read, or is larger than any file that people write."""
        return self._read[0]

    @property
    def no_text(self) -> str:
        """Why this is no text that a person wrote; empty where it may be one, in any encoding."""
        content, why = self._read
        # bytes that no text has in any encoding
        binary = b"\0" in content or ("\ufffd" in self.text and re.search(rb"[\x01-\x08\x0e-\x19\x1c-\x1f]", content))
        return "binary data, and no text" if binary else why

    @cached_property
    def text(self) -> str:
        """The same as text; what is not UTF-8 becomes U+FFFD."""
        return self.content.decode("utf-8-sig", "replace")

    def line(self, wanted: str) -> int:
        """The first line with this text, from 1; 1 where there is none."""
        at = self.text.find(wanted)
        return self.text.count("\n", 0, at) + 1 if at >= 0 else 1

    @cached_property
    def _small(self) -> bytes:
        return self.content.lower()

    def mentions(self, *words: bytes) -> bool:
        """Whether one of these words, in small letters, is in it; much faster than a pattern."""
        return any(word in self._small for word in words)

    @property
    def is_test(self) -> bool:
        """Whether it lies in a folder of tests."""
        return _is_test(self.name.rpartition("/")[0])


@cache
def _is_test(folder: str) -> bool:
    patterns = ("test*", "*test", "*tests", "androidtest*", "mock*", "sample*server*")
    return any(fnmatchcase(part, pattern) for part in folder.lower().split("/") for pattern in patterns)


@dataclass(frozen=True)
class Project:
    """All files below the paths that the user named."""

    files: tuple[File, ...]
    _by_path: dict[str, File] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_path.update((str(file.path), file) for file in self.files)

    def named(self, *patterns: str) -> Iterator[File]:
        """The files with one of these names, or one of these endings (`*` in front), in the order of their names."""
        names = tuple(pattern for pattern in patterns if not pattern.startswith("*"))
        endings = tuple(pattern[1:] for pattern in patterns if pattern.startswith("*"))
        for file in self.files:
            if file.name.endswith(endings) or file.name.rpartition("/")[2] in names:
                yield file

    def at(self, path: Path) -> File | None:
        """The file with this path; None where there is none."""
        return self._by_path.get(os.path.normpath(path))


def read_project(paths: Sequence[Path], *, most_files: int = 200_000, most_bytes: int = 1024 * 1_048_576) -> Project:
    """Find the files below these paths.

    Args:
        paths: folders and files.
        most_files: of all paths; a tree may have twice as many entries.
        most_bytes: of all readable files in one tree.

    Raises:
        ParameterError: a path does not exist, or a tree is larger than a project can be.
    """
    files: dict[str, File] = {}
    for path in paths:
        if path.is_file():
            files[os.path.normpath(path)] = File(Path(os.path.normpath(path)), path.name)
            continue
        if not path.is_dir():
            raise ParameterError(f"No folder {str(path)!r}. Name the folder of a mobile project.")
        for found in _walk(path, 2 * most_files, most_bytes):
            place = os.path.normpath(found)
            name = found[len(str(path)) :].replace(os.sep, "/").lstrip("/")
            files[place] = File(Path(place), name if len(paths) == 1 else f"{path.name}/{name}")
            if len(files) > most_files:
                raise ParameterError(
                    f"{str(path)!r} has more than {most_files:,} files. Name the project's own folder in it."
                )
    return Project(tuple(sorted(files.values(), key=lambda file: file.name)))


def _walk(top: Path, most_entries: int, most_bytes: int) -> Iterator[str]:
    """The files below a folder, without what a build made and what others wrote."""
    readable = (".swift", ".kt", ".java", ".m", ".mm", ".plist", ".xml", ".gradle", ".kts", ".properties", ".toml",
                ".xcconfig", ".strings", ".entitlements", ".pbxproj", ".resolved")  # fmt: skip
    left_out = {"build", "out", "bin", "target", "node_modules", "Pods", "Carthage", "DerivedData", "SourcePackages",
                "vendor", "third_party", "__pycache__"}  # fmt: skip
    folders: list[tuple[str, int]] = [(str(top), 0)]
    entries = size = 0
    while folders:
        folder, depth = folders.pop()
        for entry in _listed(folder):
            entries += 1
            size += entry.stat(follow_symlinks=False).st_size if entry.name.endswith(readable) else 0
            if entries > most_entries or size > most_bytes:
                what = "entries" if size <= most_bytes else "bytes of sources"
                raise ParameterError(f"{str(top)!r} has too many {what}. Name the project's own folder in it.")
            if entry.is_dir(follow_symlinks=False):
                if depth >= 64:
                    raise ParameterError(f"{str(top)!r} has more than 64 folders inside one another.")
                if entry.name not in left_out and not entry.name.startswith("."):
                    folders.append((entry.path, depth + 1))
            elif not entry.is_symlink():
                yield entry.path


def _listed(folder: str) -> Iterator[os.DirEntry[str]]:
    # a folder that this user may not read, or that goes away meanwhile, holds nothing of the project
    with suppress(OSError), os.scandir(folder) as entries:
        yield from entries


def table(value: Any) -> dict[str, Any]:
    """The value if it is a table, else an empty table: what a file holds may have any form."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[Any]:
    """The value if it is a list, else an empty list."""
    return value if isinstance(value, list) else []
