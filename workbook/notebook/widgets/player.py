"""The live panels as one widget: Python draws everything and answers taps, the browser only plays.

Six files of plain JavaScript make its module: `frames.js` chooses the frame (pure functions), `kernel.js` watches the
kernel, `parts.js` makes elements, `exchange.js` is one of the panels, `breaking.js` breaks one of its messages, and
`player.js` is the whole page.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anywidget
import traitlets

from workbook.base.values import choice
from workbook.notebook.widgets.page import PANELS, SOURCES, source
from workbook.views.html import joined, tag, trusted
from workbook.views.table import Snapshot

READING, EACH_MESSAGE = "for reading", "message by message"
"""Two of the speeds in `frames.js`."""


class Player(anywidget.AnyWidget):
    """The panels of one run.

    Attributes:
        player_data: the run; see `workbook.views.player_data`.
        panels: which of `PANELS` are shown.
        speed: the speed at the start.
        by_hand: the phone's buttons work, and each press is sent to `answer`.
        number: the number of the last answered message; an older one is dropped, so that no click counts twice.
        acts: how many acts led to this run.
        guarded: the app disables its button, so the browser drops a tap that comes before the answer (A-BTN-1).
        careless_offered: there is a switch for an app that does not disable its button.
        hint: why the last message was refused; empty if it was not.
        faults: what can go wrong with a message, by groups.
        requests: of each line that is a request or an answer, by the line's number: which request it is.
        broken: which message is broken, and how; empty where none is.
        call: the call that plays this very run, as Python to copy.
        printed: what code of the learner's own printed in this run.
    """

    _esm = source(*SOURCES)
    _css = source("player.css")

    player_data = traitlets.Dict().tag(sync=True)
    panels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    speed = traitlets.Unicode(READING).tag(sync=True)
    by_hand = traitlets.Bool(default_value=False).tag(sync=True)
    number = traitlets.Int(0).tag(sync=True)
    acts = traitlets.Int(0).tag(sync=True)
    guarded = traitlets.Bool(default_value=True).tag(sync=True)
    careless_offered = traitlets.Bool(default_value=False).tag(sync=True)
    hint = traitlets.Unicode("").tag(sync=True)
    faults = traitlets.List(traitlets.Dict()).tag(sync=True)
    requests = traitlets.Dict().tag(sync=True)
    broken = traitlets.Unicode("").tag(sync=True)
    call = traitlets.Unicode("").tag(sync=True)
    printed = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        data: Mapping[str, Any],
        panels: Iterable[str] = PANELS,
        *,
        answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> None:
        """Show a run.

        Args:
            data: the run.
            panels: which of `PANELS` are shown.
            answer: takes a message and returns the values of the traits that change; called once for each number.
            more: values of further traits.

        Raises:
            ParameterError: there is no such panel.
        """
        names = list(panels)
        for name in names:
            choice("panel", name, PANELS)
        super().__init__(player_data=dict(data), panels=names, by_hand=answer is not None, **more)
        self._answer = answer
        self.on_msg(self._received)

    def __repr__(self) -> str:
        return f"Player({self.player_data['title']!r}, {', '.join(self.panels)})"

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """Messages from a browser are not trusted: only one with a newer number is answered."""
        if self._answer is None or not isinstance(content, dict):
            return
        number = content.get("number")
        if type(number) is not int or number <= self.number:
            return
        with self.hold_sync():
            for name, value in self._answer(content).items():
                setattr(self, name, value)
            self.number = number


# The base of everything live. A notebook gets two outputs: a snapshot, which is stored, and a view, which is not.
#
# A view lives as long as its kernel. A notebook that was saved and is opened again still has the view's address, and
# JupyterLab then shows an error message instead of another form of the same output. So the snapshot is an output of its
# own. Its style sheet hides it while a living view is below it, and replaces a dead view by a sentence. In a notebook
# that is not trusted JupyterLab removes both the style sheet and the view, and the snapshot remains.

WAKE = "Run the cells down to this one to make it live."
_OUTPUT, _DEAD = ".jp-OutputArea-child", ".jp-OutputArea-output.jupyter-widgets:not(:has(*))"
STYLE = (
    f"{_OUTPUT}:has(.wb-snapshot):has(+{_OUTPUT} :is(.wb-player,.jupyter-widgets *)){{display:none}}"
    f"{_OUTPUT}:has(.wb-snapshot)+{_OUTPUT} {_DEAD}{{visibility:hidden;font-size:0}}"
    f"{_OUTPUT}:has(.wb-snapshot)+{_OUTPUT} {_DEAD}::after"
    f'{{content:"{WAKE}";visibility:visible;font-size:var(--jp-ui-font-size1,13px)}}'
)


class Live(ABC):
    """A live panel, with a snapshot for a reader without a kernel."""

    def __repr__(self) -> str:
        return self.snapshot().text()

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The stored form, the same on every run."""

    @abstractmethod
    def widget(self) -> Any:
        """The live form, always the same ipywidget."""

    def recording(self) -> dict[str, Any]:
        """What is stored beside the snapshot, so that an exported page can play it; see `plays.run.recording`."""
        return {}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The snapshot's two forms, and the recording."""
        stored = self.snapshot()
        html = tag("div", tag("style", trusted(STYLE)), trusted(stored.html()), class_="wb-snapshot")
        return {"text/plain": stored.text(), "text/html": str(joined(html)), **self.recording()}

    def _ipython_display_(self) -> None:
        from IPython.display import display  # only a notebook displays

        display(self._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]
        view: dict[str, Any] = self.widget()._repr_mimebundle_()
        bundle = view[0] if isinstance(view, tuple) else view
        display(bundle | {"text/plain": WAKE}, raw=True)  # type: ignore[no-untyped-call]
