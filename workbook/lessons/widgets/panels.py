"""The live panels: a run's phone, the messages behind it, the states, the time limits and the findings.

All are drawn from one film, so they move together. A snapshot of each is stored; with a kernel they can be played.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import anywidget
import traitlets

from workbook.lessons.pages import PANELS, browser_file, player_script, recording
from workbook.lessons.run import AnyLoop, Run
from workbook.views.exchange import Exchange
from workbook.views.film import Film, film, timing
from workbook.views.findings import findings
from workbook.views.html import View, join, tag, trust
from workbook.views.phone import KeyScreens
from workbook.views.player_data import player_data
from workbook.views.states import States
from workbook.views.table import Snapshot, Stack

# The base of everything live. A notebook gets two outputs: a snapshot, which is stored, and a view, which is not.
#
# A view lives as long as its kernel. A notebook that was saved and is opened again still has the view's address, and
# JupyterLab then shows an error message instead of another form of the same output. So the snapshot is an output of its
# own. Its style sheet hides it while a living view is below it, and replaces a dead view by a sentence. In a notebook
# that is not trusted JupyterLab removes both the style sheet and the view, and the snapshot remains.

WAKE = "Run the cells to make it live."
_OUTPUT, _DEAD = ".jp-OutputArea-child", ".jp-OutputArea-output.jupyter-widgets:not(:has(*))"
SNAPSHOT_STYLE = (
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

    _widget: Any = None

    def widget(self) -> Any:
        """The live form, always the same ipywidget."""
        if self._widget is None:
            self._widget = self.make_widget()
        return self._widget

    @abstractmethod
    def make_widget(self) -> Any:
        """Make the live form."""

    def recording(self) -> dict[str, Any]:
        """What is stored beside the snapshot, so that an exported page can play it; see `pages.recording`."""
        return {}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The snapshot's two forms, and the recording."""
        stored = self.snapshot()
        html = tag("div", tag("style", trust(SNAPSHOT_STYLE)), trust(stored.html()), class_="wb-snapshot")
        return {"text/plain": stored.text(), "text/html": str(join(html)), **self.recording()}

    def _ipython_display_(self) -> None:
        from IPython.display import display  # only a notebook displays

        display(self._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]
        view: dict[str, Any] = self.widget()._repr_mimebundle_()
        bundle = view[0] if isinstance(view, tuple) else view
        display(bundle | {"text/plain": WAKE}, raw=True)  # type: ignore[no-untyped-call]


# The panels as one widget: Python draws everything and answers taps, the browser only plays. Six files of plain
# JavaScript make its module: `frames.js` chooses the frame (pure functions), `kernel.js` watches the kernel, `parts.js`
# makes elements, `exchange.js` is one of the panels, `breaking.js` breaks one of its messages, and `player.js` is the
# whole page.


# Takes a message of the browser, and returns the values of the traits that change.
Answer: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Player(anywidget.AnyWidget):
    """The panels of one run.

    Attributes:
        player_data: the run; see `workbook.views.player_data`.
        panels: which of `PANELS` are shown.
        speed: the speed at the start, one of those in `frames.js`.
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

    _esm = player_script()
    _css = browser_file("player.css")

    player_data = traitlets.Dict().tag(sync=True)
    panels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    speed = traitlets.Unicode("for reading").tag(sync=True)
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
        self, data: Mapping[str, Any], panels: Iterable[str] = PANELS, *, answer: Answer | None = None, **more: Any
    ) -> None:
        """Show a run.

        Args:
            data: the run.
            panels: which of `PANELS` are shown.
            answer: called once for each number.
            more: values of further traits.
        """
        super().__init__(player_data=dict(data), panels=list(panels), by_hand=answer is not None, **more)
        self._answer = answer
        self.on_msg(self._receive)

    def __repr__(self) -> str:
        return f"Player({self.player_data['title']!r}, {', '.join(self.panels)})"

    def _receive(self, _widget: object, content: object, _buffers: object) -> None:
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


def film_of(run: Run | AnyLoop) -> Film:
    """The film of a run; its `before` is the screen at the beginning, if it has one."""
    return film(run.trace, run.machine, getattr(run, "before", None))


class Panels(Live):
    """Some panels of one film.

    Attributes:
        film: the run.
        shown: which of `PANELS`, in this order.
    """

    def __init__(self, run: Run, *shown: str) -> None:
        self.film = film_of(run)
        self.shown = shown
        self._run = run

    def snapshot(self) -> Snapshot:
        """The stored forms of the panels."""
        stored: dict[str, Callable[[], View]] = {
            "phone": lambda: KeyScreens(self.film),
            "exchange": lambda: Exchange(self.film),
            "states": lambda: States(self.film),
            "timing": lambda: timing(self.film),
            "findings": lambda: findings(self._run.findings),
        }
        panels = Stack(tuple(stored[name]() for name in self.shown))
        return Snapshot(panels.text(), panels.html())

    def recording(self) -> dict[str, Any]:
        """The run."""
        return recording(self._run, panels=self.shown)

    def make_widget(self) -> Player:
        """The panels, to be played."""
        return Player(player_data(self.film, self._run.findings), self.shown)
