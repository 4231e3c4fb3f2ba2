"""A stage to play by hand: press what the phone shows, and the whole is played again with one act more.

Nothing is kept but the script. What may be pressed is read from the picture of the frame that the browser shows, here
once more: a browser is asked, not believed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError, did_you_mean
from workbook.parameters import quoted
from workbook.scenes.script import REACTION, Act, Play, Script, play
from workbook.views.phone import Phone
from workbook.views.phone_svg import draw
from workbook.views.reel import reel
from workbook.views.snapshot import Snapshot
from workbook.widgets.chooser import literal
from workbook.widgets.live import Live
from workbook.widgets.player import HAPPENING, Player

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.views.film import Frame
    from workbook.views.picture import Control

HINT = "This is how it goes when each thing is pressed once. Live, it is played by hand."
TWICE = "This is how it goes after two quick taps, which the app does not keep apart. Live, it is played by hand."
NOT_OFFERED = "That is not offered at this moment."
CHOICES = (
    "variant", "phone", "card", "guarded", "surface", "fault", "operation", "moment", "seconds", "back_end",
)  # fmt: skip
"""What is chosen before anything is done."""
CARELESS = ("platform A",)
"""The flows whose document says what quick taps do (A-BTN-2)."""
BACK = "look"
"""Leads back to the beginning of a flow that starts in the wallet."""


class Stage(Live):
    """A flow to play by hand.

    Attributes:
        script: what was done so far.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._player: Player | None = None
        self._last: Play | None = None

    def __repr__(self) -> str:
        return spelled(self.script)

    def snapshot(self) -> Snapshot:
        """The story of a run, the first thing pressed that is offered each time, for a reader without a kernel."""
        told = Phone(play(walked(self._empty)).film)
        hint = TWICE if careless(self.script) else HINT
        text = f"{spelled(self._empty)}\n{told.text()}\n{hint}"
        return Snapshot(text, f"{told.html()}<p>{hint}</p>")

    def widget(self) -> Player:
        """The phone and what happens behind it; always the same one."""
        if self._player is None:
            values = self._values()
            self._player = Player(values.pop("reel"), answer=self.answer, speed=HAPPENING, **values)
        return self._player

    def begin(self, script: Script) -> None:
        """Set another stage; the panels follow."""
        self.script = script
        if self._player is None:
            return
        with self._player.hold_sync():
            for name, value in self._values().items():
                setattr(self._player, name, value)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """What changes when this message comes; a refusal changes nothing but says why."""
        try:
            self.script = self._next(message)
        except ParameterError as error:
            return {"hint": str(error)}
        return self._values()

    @property
    def _empty(self) -> Script:
        return replace(self.script, acts=())

    def _next(self, message: Mapping[str, Any]) -> Script:
        match message.get("kind"), message.get("value"):
            case "act", _:
                return self._acted(message)
            case "again", _:
                return self._empty
            case "careless", bool(wrong) if self.script.flow in CARELESS:
                return replace(self._empty, guarded=not wrong)
            case _:
                raise ParameterError(NOT_OFFERED)

    def _acted(self, message: Mapping[str, Any]) -> Script:
        """One act more, made on a frame of the film that the browser had."""
        frame = self._frame(message.get("frame"))
        name, value = message.get("name"), message.get("value")
        unseen = message.get("seen") != self._seen
        if (unseen and self.script.guarded) or (name, value) not in [(one.act, one.value) for one in offered(frame)]:
            raise ParameterError(NOT_OFFERED)
        quick = unseen or (message.get("playing") is True and not self.script.guarded)
        return acted(self.script, frame.at, str(name), str(value), again=quick)

    @property
    def _seen(self) -> int:
        return 0 if self._player is None else self._player.number

    def _frame(self, number: object) -> Frame:
        frames = self._played.film.frames
        if type(number) is not int or not 0 <= number < len(frames):
            raise ParameterError(NOT_OFFERED)
        return frames[number]

    @property
    def _played(self) -> Play:
        """What came of the script; played once for each."""
        if self._last is None or self._last.script != self.script:
            self._last = play(self.script)
        return self._last

    def _values(self) -> dict[str, Any]:
        return {
            "reel": reel(self._played.film, self._played.findings),
            "acts": len(self.script.acts),
            "guarded": self.script.guarded,
            "careless_offered": self.script.flow in CARELESS,
            "hint": "",
        }


def stage(flow: str = "platform A", **choices: Any) -> Stage:
    """A flow to play by hand.

    Args:
        flow: one of `workbook.scenes.script.FLOWS`.
        choices: any of `CHOICES`, as `workbook.scenes.script.Script` has them.

    Raises:
        ParameterError: nothing has this name, or something else is chosen.
    """
    for name in choices:
        if name not in CHOICES:
            raise ParameterError(f"A stage has no {quoted(name)}. {did_you_mean(name, CHOICES)}")
    return Stage(Script(flow, **choices))


def offered(frame: Frame) -> tuple[Control, ...]:
    """What can be pressed on a frame, in the order of reading."""
    return tuple(control for control in draw(frame.screen).controls if control.enabled)


def acted(script: Script, at: float, name: str, value: str = "", *, again: bool = False) -> Script:
    """The script with one act more, made on the frame that stood at `at` seconds.

    Whoever goes back and does something else takes back what came after. `again` is for a tap that was made before
    the answer to the last one was seen, or while it is still being played: it comes after that one.
    """
    kept = script.acts if again else tuple(act for act in script.acts if act.at <= at)
    last = max((act.at for act in kept), default=0.0)
    moment = max(at, last if again else 0.0) + REACTION
    return replace(script, acts=(*kept, Act(name, round(moment, 9), value)))


def careless(script: Script) -> bool:
    """Whether quick taps all count, in an app that does not disable its button."""
    return not script.guarded and script.flow in CARELESS


def walked(script: Script) -> Script:
    """The script of a cardholder who presses the first thing that is offered, each kind once and does not go back.

    The button of an app that does not disable it is tapped twice, quickly: one tap would show nothing wrong.
    """
    while True:
        frame = play(script).film.frames[-1]
        done = {BACK, *(act.name for act in script.acts)}
        fresh = [control for control in offered(frame) if control.act not in done]
        if not fresh:
            return script
        for again in (False, True) if careless(script) else (False,):
            script = acted(script, frame.at, fresh[0].act, fresh[0].value, again=again)


def spelled(script: Script) -> str:
    """The call that sets this stage, as Python to copy."""
    plain = Script(script.flow)
    given = [
        f"{name}={literal(getattr(script, name))}" for name in CHOICES if getattr(script, name) != getattr(plain, name)
    ]
    return f"stage({', '.join([literal(script.flow), *given])})"
