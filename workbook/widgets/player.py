"""The live panels as one widget: Python draws a reel and answers taps, the browser only plays.

Five short texts in plain JavaScript make its module: `reel.js`, pure functions, `kernel.js`, whether there still is
one, `parts.js`, what a page is made of, `exchange.js`, one of its panels, and `player.js`, the page.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbook.errors import ParameterError, did_you_mean
from workbook.parameters import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

PANELS = ("phone", "exchange", "states", "timing", "findings")
"""What a player can show."""

READING, HAPPENING = "for reading", "as it happens"
"""Two of the speeds that `reel.js` knows."""

_HERE = Path(__file__).parent
_TEXTS = ("reel.js", "kernel.js", "parts.js", "exchange.js", "player.js")


class Player(anywidget.AnyWidget):
    """The panels of one reel.

    Attributes:
        reel: what is played; see `views/reel.py`.
        panels: which of `PANELS` are shown.
        speed: at which it is played first.
        by_hand: what can be pressed on the phone is told to `answer`.
        number: of the last message that was answered; an older one is dropped, so that a click never counts twice.
        acts: how many acts led to this reel.
        guarded: the app disables its button, so the browser drops a tap that comes before the answer (A-BTN-1).
        careless_offered: there is a switch for an app that does not.
        hint: why the last message was refused; empty if it was not.
    """

    _esm = "".join((_HERE / name).read_text("utf-8") for name in _TEXTS)
    _css = (_HERE / "player.css").read_text("utf-8")

    reel = traitlets.Dict().tag(sync=True)
    panels = traitlets.List(traitlets.Unicode()).tag(sync=True)
    speed = traitlets.Unicode(READING).tag(sync=True)
    by_hand = traitlets.Bool(default_value=False).tag(sync=True)
    number = traitlets.Int(0).tag(sync=True)
    acts = traitlets.Int(0).tag(sync=True)
    guarded = traitlets.Bool(default_value=True).tag(sync=True)
    careless_offered = traitlets.Bool(default_value=False).tag(sync=True)
    hint = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        reel: Mapping[str, Any],
        panels: Iterable[str] = PANELS,
        *,
        answer: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> None:
        """Show a reel.

        Args:
            reel: what is played.
            panels: which of `PANELS` are shown.
            answer: takes a message and gives the values of the traits that change; called once for each number.
            more: values of further traits.

        Raises:
            ParameterError: there is no such panel.
        """
        super().__init__(reel=dict(reel), panels=_checked(panels), by_hand=answer is not None, **more)
        self._answer = answer
        self.on_msg(self._received)

    def __repr__(self) -> str:
        return f"Player({self.reel['title']!r}, {', '.join(self.panels)})"

    def _received(self, _widget: object, content: object, _buffers: object) -> None:
        """What comes from a browser is not trusted: only a newer number of a known shape is answered."""
        if self._answer is None or not isinstance(content, dict):
            return
        number = content.get("number")
        if type(number) is not int or number <= self.number:
            return
        with self.hold_sync():
            for name, value in self._answer(content).items():
                setattr(self, name, value)
            self.number = number


def _checked(panels: Iterable[str]) -> list[str]:
    names = list(panels)
    for name in names:
        if name not in PANELS:
            raise ParameterError(f"No panel {quoted(name)}. {did_you_mean(str(name), PANELS)}")
    return names
