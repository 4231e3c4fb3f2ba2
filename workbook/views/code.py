"""Source code to read: a class, a function or a whole file, as it stands."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from workbook.errors import ParameterError
from workbook.views.table import preformatted
from workbook.views.view import View


@dataclass(frozen=True, slots=True, repr=False)
class Code(View):
    """Some source code.

    Attributes:
        source: the lines, as they stand in the file.
    """

    source: str

    def text(self) -> str:
        """The source."""
        return self.source

    def html(self) -> str:
        """The source, in letters of one width."""
        return preformatted(self.source)


def code(thing: object) -> Code:
    """The source of a class or a function, or a file's text.

    Raises:
        ParameterError: it has none that could be found.
    """
    try:
        if isinstance(thing, Path):
            return Code(thing.read_text(encoding="utf-8").rstrip())
        return Code(dedent(inspect.getsource(thing)).rstrip())  # type: ignore[arg-type]  # it says so itself
    except (TypeError, OSError, UnicodeDecodeError):
        message = f"No source is known for {thing!r:.60}. Give a class or a function that stands in a file, or a Path."
        raise ParameterError(message) from None
