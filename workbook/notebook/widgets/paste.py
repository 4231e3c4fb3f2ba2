"""A panel to paste a text into: a function reads the text, and the panel shows the result below the field.

What is pasted may be card data. The panel empties its field as soon as it has read it, so no saved notebook holds the
text. The kernel keeps the text until the next one comes, and sends it nowhere. The notebook stores the redacted result.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import ipywidgets

from workbook.notebook.widgets.chooser import Keys
from workbook.notebook.widgets.player import Live
from workbook.views.html import tag, trusted
from workbook.views.table import Snapshot, failure, paragraph

LEFT = "Paste here, then press Tab. The field is emptied at once: nothing is kept in the notebook, nothing is sent."


class Paste(Live):
    """A field, a box to tick where there is a choice, and the result for what was pasted last.

    Args:
        value: the text to read first; empty shows `ask`.
        ask: the sentence that is shown until something is pasted.
        option: the label of the box; empty shows no box.
        ticked: whether the box is ticked at first.
    """

    def __init__(self, value: str | bytes, ask: str, option: str = "", *, ticked: bool = False) -> None:
        self._value = value
        self._ask = ask
        self._option = option
        self._ticked = ticked
        self._box: Any = None

    @abstractmethod
    def read(self, value: str | bytes, *, ticked: bool) -> Snapshot:
        """The result for a value; `ticked` is the one choice, where there is one."""

    def snapshot(self) -> Snapshot:
        """The result for what was given last, or what to give."""
        if not self._value:
            return Snapshot(self._ask, paragraph(self._ask))
        try:
            return self.read(self._value, ticked=self._ticked)
        except Exception as error:  # noqa: BLE001  # the reader wants to see every error
            return failure(error)

    def widget(self) -> Any:
        """The field and the result; always the same box."""
        if self._box is not None:
            return self._box
        field = ipywidgets.Textarea(placeholder=LEFT, continuous_update=False, rows=5, layout={"width": "100%"})
        tick = ipywidgets.Checkbox(value=self._ticked, description=self._option, indent=False)
        result = ipywidgets.HTML()

        def show() -> None:
            result.value = str(tag("div", trusted(self.snapshot().html()), role="status", style="line-height:1.4"))

        def pasted(change: Any) -> None:
            if change["new"]:
                self._value, field.value = change["new"], ""
                show()

        def decided(change: Any) -> None:
            self._ticked = change["new"]
            show()

        field.observe(pasted, "value")
        tick.observe(decided, "value")
        show()
        self._box = ipywidgets.VBox([field, *([tick] if self._option else []), Keys(), result])
        return self._box
