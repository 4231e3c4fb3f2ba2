"""What a person is told while cases run: exported values on stdout, and progress on stderr."""

from __future__ import annotations

import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from workbook.conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.conformance.run import Result

QUIET = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.DISABLED})
"""Verdicts of which a person who watches a bar need not be told one by one."""
EVERY = 10.0
"""Seconds between two lines of a countdown, where there is no terminal."""


class Progress(Protocol):
    """Is told what happens."""

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """The values to configure; none where the back end gets them by itself."""
        ...

    def say(self, line: str) -> None:
        """Something to read."""
        ...

    def wait(self, seconds: float) -> None:
        """The first call is waited for, for so many seconds more."""
        ...

    def begin(self, total: int) -> None:
        """So many results will come."""
        ...

    def ended(self, result: Result) -> None:
        """A case came to its end."""
        ...

    def close(self) -> None:
        """Nothing more comes."""
        ...


class Silent:
    """Tells nobody."""

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """Tell nobody."""

    def say(self, line: str) -> None:
        """Tell nobody."""

    def wait(self, seconds: float) -> None:
        """Tell nobody."""

    def begin(self, total: int) -> None:
        """Tell nobody."""

    def ended(self, result: Result) -> None:
        """Tell nobody."""

    def close(self) -> None:
        """Tell nobody."""


class Terminal:
    """Tells whoever started the command: a bar where a person watches stderr, and plain lines elsewhere."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._watched = sys.stderr.isatty()
        self._told = float("-inf")

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """On stdout, ready for a shell or a file of settings."""
        lines = [f"{name}={value}" for name, value in values.items()] or [f"The API's side listens at {url}"]
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()

    def say(self, line: str) -> None:
        """On stderr."""
        if self._bar is not None:
            self._bar.clear()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    def wait(self, seconds: float) -> None:
        """A countdown in one place, or a line now and then."""
        if self._watched:
            sys.stderr.write(f"\rwaiting for the first call: {seconds:4.0f} s \033[K")
            sys.stderr.flush()
        elif monotonic() - self._told >= EVERY:
            self._told = monotonic()
            self.say(f"waiting for the first call: {seconds:.0f} s left")

    def begin(self, total: int) -> None:
        """Start the bar."""
        if self._watched:
            from tqdm import tqdm  # noqa: PLC0415  # only with a terminal

            sys.stderr.write("\r\033[K")
            self._bar = tqdm(total=total, unit="case", leave=False)

    def ended(self, result: Result) -> None:
        """One step of the bar, and a line where there is something to read."""
        if self._bar is None or result.verdict not in QUIET:
            self.say(_line(result))
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _line(result: Result) -> str:
    told = [f"{result.verdict:<14} {result.case.name}"]
    if result.misses:
        first = result.misses[0]
        told.append(f"expected {first.expected}, observed {first.observed}")
    elif result.verdict not in QUIET and result.why:
        told.append(result.why)
    return ": ".join(told)
