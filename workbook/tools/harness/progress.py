"""What a person sees while cases run: in a terminal exported values and a bar, in a notebook a bar below the cell."""

import sys
from collections.abc import Mapping
from time import monotonic
from typing import Any

from workbook.base.terminal import say
from workbook.tools.harness.model import CaseResult
from workbook.tools.harness.report import UNSEEN
from workbook.tools.harness.summary import SETTLED


class RunProgress:
    """Receives what happens in a run, and shows nothing of it but a bar, where one of the classes below made it."""

    _bar: Any = None

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """The values that a person has to configure; empty where the workbook configures the back end."""

    def say(self, line: str) -> None:
        """A line to read."""

    def wait(self, seconds: float) -> None:
        """The run waits for the first call, for `seconds` more."""

    def begin(self, total: int) -> None:
        """`total` results will come."""

    def ended(self, result: CaseResult) -> None:  # noqa: ARG002  # a bar only counts
        """A case has ended."""
        if self._bar is not None:
            self._bar.update()

    def close(self) -> None:
        """Nothing more comes: take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Terminal(RunProgress):
    """Shows a bar where stderr is a terminal, and everywhere a line for each case that needs a look.

    Args:
        values: exported values go to stdout; False where stdout is for a report.
    """

    def __init__(self, *, values: bool = True) -> None:
        self._values = sys.stdout if values else sys.stderr
        self._reasons = set[str]()
        self._is_terminal = sys.stderr.isatty()
        self._last_line = float("-inf")

    def exported(self, values: Mapping[str, str], url: str) -> None:
        """Print them on stdout, ready for a shell or a file of settings."""
        lines = [f"{name}={value}" for name, value in values.items()] or [f"The API's side listens at {url}"]
        say("\n".join(lines), self._values)

    def say(self, line: str) -> None:
        """Print it on stderr."""
        if self._bar is not None:
            self._bar.clear()
        say(line, sys.stderr)

    def wait(self, seconds: float) -> None:
        """Show a countdown in one place, or a line every 10 s where there is no terminal."""
        if self._is_terminal:
            sys.stderr.write(f"\rwaiting for the first call: {seconds:4.0f} s \033[K")
            sys.stderr.flush()
        elif monotonic() - self._last_line >= 10:
            self._last_line = monotonic()
            self.say(f"waiting for the first call: {seconds:.0f} s left")

    def begin(self, total: int) -> None:
        """Start the bar."""
        if self._is_terminal:
            from tqdm import tqdm  # slow to import, and only a terminal shows it

            sys.stderr.write("\r\033[K")
            self._bar = tqdm(total=total, unit="case", leave=False)

    def ended(self, result: CaseResult) -> None:
        """Advance the bar, and print a line where there is something to read.

        A pass needs none: a reader of a build's log looks for failures. Of the cases of which nothing was seen, each
        reason has one line.
        """
        repeats = result.verdict in UNSEEN and result.why in self._reasons
        self._reasons.add(result.why)
        if result.verdict not in SETTLED and not repeats:
            words = [f"{result.verdict:<14} {result.case.name}"]
            if result.misses:
                words.append(f"expected {result.misses[0].expected}, observed {result.misses[0].observed}")
            elif result.why:
                words.append(result.why)
            self.say(": ".join(words))
        super().ended(result)


class Cell(RunProgress):
    """Shows a bar below the cell of a notebook. It is gone when the cell has ended, and only its sentence is stored."""

    def begin(self, total: int) -> None:
        """Start the bar, where there is enough to wait for."""
        if total < 100:  # fewer cases take only a few seconds
            return
        from IPython.display import display  # only a notebook displays
        from tqdm.notebook import tqdm

        self._bar = tqdm(total=total, unit="case", leave=False, display=False)
        stored = {"text/plain": f"A bar showed the progress of {total} cases."}
        display(self._bar.container._repr_mimebundle_() | stored, raw=True)  # type: ignore[no-untyped-call]


def cell_progress() -> RunProgress | None:
    """The progress below the cell of a notebook that runs this; None outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else Cell()
