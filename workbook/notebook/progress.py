"""A progress bar for a cell that takes a while. It is gone when the cell has ended, and only its sentence is stored."""

from __future__ import annotations

import sys
from typing import Any

from workbook.harness.model import CaseResult
from workbook.harness.progress import RunProgress


class Bar:
    """A bar below the cell that runs.

    Args:
        total: how many steps come.
        what: one step's name, such as `case`.
    """

    def __init__(self, total: int, what: str) -> None:
        import ipywidgets  # of the extra [lab]
        from IPython.display import display  # only a notebook displays

        self.total, self.what = total, what
        self._bar = ipywidgets.IntProgress(max=total)
        self._label = ipywidgets.Label(f"0 of {total} {what}s")
        self.view = ipywidgets.HBox([self._bar, self._label])
        view: dict[str, Any] = self.view._repr_mimebundle_()
        stored = {"text/plain": f"A bar showed the progress of {total} {what}s."}
        display(view | stored, raw=True)  # type: ignore[no-untyped-call]

    def step(self) -> None:
        """One more is done."""
        self._bar.value += 1
        self._label.value = f"{self._bar.value} of {self.total} {self.what}s"

    def close(self) -> None:
        """Take the bar away."""
        self.view.close()


class Cell(RunProgress):
    """Shows a bar below the cell of a notebook."""

    def __init__(self) -> None:
        self._bar: Any = None

    def begin(self, total: int) -> None:
        """Start the bar, where there is enough to wait for."""
        if total >= 100:  # fewer cases take only a few seconds
            self._bar = Bar(total, "case")

    def ended(self, result: CaseResult) -> None:  # noqa: ARG002  # the bar only counts
        """Advance the bar."""
        if self._bar is not None:
            self._bar.step()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def cell_progress() -> RunProgress | None:
    """The progress below the cell of a notebook that runs this; None outside a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return None if getattr(shell, "kernel", None) is None else Cell()
