"""A file of TOML, found and read: the configuration, and the baseline."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation.scenario_file import LARGEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class BadConfigurationError(ConfigurationError):
    """A configuration is not in order.

    Attributes:
        mistakes: a sentence each, which begins with its label.
    """

    def __init__(self, file: str, mistakes: Sequence[str]) -> None:
        many = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        super().__init__("\n  ".join([f"{file}: {many}.", *mistakes]))
        self.mistakes = tuple(mistakes)


def document(path: Path) -> dict[str, Any]:
    """What a file of TOML says. Only regular files are read: a pipe would wait for ever.

    Raises:
        BadConfigurationError: there is none, or it is not TOML.
    """
    text = _read(path)
    if len(text) > LARGEST:
        raise _bad(path, f"it is larger than {LARGEST} bytes; a person wrote no such file.")
    try:
        return tomllib.loads(text.decode("utf-8-sig"))  # some editors put a byte order mark in front
    except UnicodeDecodeError as error:
        raise _bad(path, f"it is not UTF-8, see byte {error.start}. Save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise _bad(path, f"it is not TOML: {_place(error)}. `workbook conform init` writes an example.") from None


def _place(error: Exception) -> str:
    """What TOML's reader says; it may repeat a key of the file, and never a value."""
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


def _read(path: Path) -> bytes:
    try:
        if path.is_file():
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
        near = [one.name for one in path.parent.glob("*.toml")] if path.parent.is_dir() else []
    except (OSError, ValueError, UnicodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise _bad(path, f"it cannot be read: {reason}.") from None
    hint = f"{did_you_mean(path.name[:100], near)} " if near else ""
    raise _bad(path, f"there is no such file. {hint}Write one: workbook conform init")


def _bad(path: Path, what: str) -> BadConfigurationError:
    return BadConfigurationError(str(path)[:200], [what])
