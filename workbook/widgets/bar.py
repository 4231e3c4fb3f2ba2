"""A progress bar for a cell that takes a while. It is gone when the cell has ended, and only its sentence is stored."""

from __future__ import annotations

from typing import Any

import ipywidgets


class Bar:
    """A bar below the cell that runs.

    Args:
        total: how many steps come.
        what: one step's name, such as `case`.
    """

    def __init__(self, total: int, what: str) -> None:
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
