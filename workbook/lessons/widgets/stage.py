"""A flow to play by hand: each press on the phone adds one act to the script, which is then played from the start.

Only the script is kept. A message from the browser is checked against the picture of the frame that it names, so that
nothing can be pressed that the phone does not show.
"""

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from importlib import import_module
from threading import Timer
from typing import Any

from workbook.base.values import did_you_mean, lookup, quoted
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.lessons.faults import ordinal
from workbook.lessons.pages import PANELS, recording
from workbook.lessons.script import FLOWS, Act, Play, Script, play
from workbook.lessons.widgets.chooser import literal
from workbook.lessons.widgets.panels import Live, Player
from workbook.simulation.faults import BODIES, EDITED, ON_THE_WIRE, STATUSES, Fault, fault
from workbook.views.exchange import pairs
from workbook.views.film import Film, Frame
from workbook.views.findings import findings
from workbook.views.html import View
from workbook.views.paint import Pressable
from workbook.views.phone import KeyScreens, draw
from workbook.views.player_data import player_data
from workbook.views.table import Snapshot, Stack

NOT_OFFERED = "That is not offered at this moment."
# How the last line of each stored form of a stage begins.
STORED_RUN = "The run after"
# The settings of a stage, and the acts with which it begins; a fault's own settings are given beside them.
CHOICES = tuple(each.name for each in fields(Script) if each.name not in ("flow", "settings"))


class Stage(Live):
    """A flow to play by hand.

    Attributes:
        script: the settings, and the acts so far.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self._last: Play | None = None
        self._walked: tuple[Play, Play] | None = None

    def __repr__(self) -> str:
        return in_python(self.script)

    def _stored(self) -> Play:
        """A run for a reader without a kernel: the script's own, or one that presses the first button each time."""
        begun = self._played  # each is played once: code of the learner's own may be slow
        if self._walked is None or self._walked[0] is not begun:
            self._walked = begun, begun if begun.script.acts else walk_on(begun)
        return self._walked[1]

    def snapshot(self) -> Snapshot:
        """The phone in a run that goes to its end by itself."""
        done = self._stored()
        quickly = "two quick taps, which this app does not prevent"
        presses = quickly if careless(self.script) else "one press of each button"
        hint = f"{STORED_RUN} {presses}."
        shown: View = KeyScreens(done.film)
        if self.script.has_own_code:  # the picture alone does not say what the learner's code did
            shown = Stack((shown, findings(done.findings)))
        return Snapshot(f"{in_python(self.script)}\n{shown.text()}\n{hint}", f"{shown.html()}<p>{hint}</p>")

    def recording(self) -> dict[str, Any]:
        """The run of the snapshot, with all panels."""
        return recording(self._stored().run, panels=PANELS)

    def make_widget(self) -> Player:
        """The live panels."""
        values = self._values() | {"faults": offered_faults(), "speed": "message by message"}
        client = "workbook.api.client"  # only a run with a fault needs this module
        # It takes half a second to load, which the first broken message would wait; a browser has no threads.
        if client not in sys.modules and sys.platform != "emscripten":
            timer = Timer(1.0, import_module, [client])
            timer.daemon = True
            timer.start()
        return Player(values.pop("player_data"), answer=self.answer, **values)

    def begin(self, script: Script) -> None:
        """Replace the script; the live panels follow."""
        self.script = script
        if self._widget is None:
            return
        with self._widget.hold_sync():
            for name, value in self._values().items():
                setattr(self._widget, name, value)

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """The traits that change with a message of the browser; after a refusal only the hint, which says why."""
        before = self.script
        try:
            self.script = self._next(message)
            return self._values()
        except ParameterError as error:
            self.script = before
            return {"hint": str(error)}
        except (KeyboardInterrupt, SystemExit):  # the kernel's stop button, or exit() in code of the learner's own
            self.script = before
            return {"hint": "Stopped before your code had ended. Nothing was changed. Fix it, or press again."}

    def _next(self, message: Mapping[str, Any]) -> Script:
        match message.get("kind"), message.get("value"):
            case "act", _:
                return self._act(message)
            case "again", _:
                return replace(self.script, acts=())
            case "break", Mapping() as value:
                return self._break(value)
            case "fix", _:
                unbroken: dict[str, Any] = {"operation": "POST", "nth": 1, "fault_card": "", "moment": "before"}
                return replace(self.script, fault="", settings={}, **unbroken)
            case "careless", bool(wrong) if self.script.flow == "platform A":
                return replace(self.script, acts=(), guarded=not wrong)
            case _:
                raise ParameterError(NOT_OFFERED)

    def _act(self, message: Mapping[str, Any]) -> Script:
        """The script with one act more, made on a frame of the film that the browser shows."""
        frames, number = self._played.film.frames, message.get("frame")
        if type(number) is not int or not 0 <= number < len(frames):
            raise ParameterError(NOT_OFFERED)
        frame, act = frames[number], (message.get("name"), message.get("value"))
        # `seen` is the number of the last answer that the page had. With an older number, the tap was made before the
        # last tap was answered. A guarded app has disabled its button by then, so such a tap never happened.
        unseen = message.get("seen") != getattr(self._widget, "number", 0)
        if (unseen and self.script.guarded) or act not in [
            (control.act, control.value) for control in controls_on(frame)
        ]:
            raise ParameterError(NOT_OFFERED)
        name, value = act
        quick = unseen or (message.get("playing") is True and not self.script.guarded)
        return add_act(self.script, frame.at, str(name), str(value), again=quick)

    def _break(self, value: Mapping[str, Any]) -> Script:
        """The script with this fault on the request of a line; what was done after that request is taken back."""
        about = requests(self._played.film).get(str(value.get("row")))
        given = value.get("settings", {})
        if about is None or not isinstance(given, Mapping):
            raise ParameterError(NOT_OFFERED)
        script, chosen = self.script, fault(value.get("fault", ""))
        ordinary = {name: setting.default for name, setting in chosen.settings.items()}
        began = self._played.film.frames[about["from"]].at
        return replace(
            script,
            fault=chosen.name,
            operation=about["operation"],
            nth=about["nth"],
            fault_card=about["card"] if script.flow == "from the wallet" else "",
            moment=value.get("moment", ""),
            settings={name: item for name, item in given.items() if name not in ordinary or item != ordinary[name]},
            acts=tuple(act for act in script.acts if act.at <= began),
        )

    @property
    def _played(self) -> Play:
        """The run of the script, played once."""
        if self._last is None or self._last.script != self.script:
            self._last = play(self.script)
        return self._last

    def _values(self) -> dict[str, Any]:
        return {
            "player_data": player_data(self._played.film, self._played.findings),
            "acts": len(self.script.acts) + bool(self.script.fault),
            "guarded": self.script.guarded,
            "careless_offered": self.script.flow == "platform A",
            "hint": "",
            "requests": requests(self._played.film),
            "broken": meets(self.script),
            "call": in_python(self.script),
            "printed": self._played.printed,
        }


def stage(flow: str = "platform A", **choices: Any) -> Stage:
    """A flow to play by hand.

    Args:
        flow: one of `workbook.lessons.script.FLOWS`.
        choices: any of `CHOICES`, as `workbook.lessons.script.Script` has them.

    Raises:
        ParameterError: an unknown flow, setting or value.
    """
    settings = dict(fault(choices["fault"]).settings) if choices.get("fault") else {}
    for name in choices:
        if name not in (*CHOICES, *settings):
            raise ParameterError(f"live() has no choice {quoted(name)}. {did_you_mean(name, (*CHOICES, *settings))}")
    choices["settings"] = {name: choices.pop(name) for name in settings if name in choices}
    choices["acts"] = tuple(Act(*act) for act in choices.get("acts", ()))
    if choices.get("variant") == lookup("flow", flow, FLOWS).latest:
        choices |= {"variant": ""}
    script = Script(flow, **choices)
    FLOWS[flow].begin(script)  # says now what is wrong with code of the integrator's own
    return Stage(script)


# What either moment of a fault means, for each operation.
EFFECTS = {
    "GET": ("before the API does anything", "after the API has made the sdkInput; a GET uses nothing up"),
    "POST": (
        "before the API does anything: the sdkOutput stays good",
        "after the API's part: the sdkOutput is used up",
    ),
}


def offered_faults() -> list[dict[str, Any]]:
    """Every fault with what can be set, in groups for somebody who wants to break a message."""
    groups = {
        "Lose, cut or delay the answer": ON_THE_WIRE,
        "Another status": STATUSES[1:],
        "Another body": BODIES,
        "Write the answer": (EDITED,),
    }
    return [{"label": label, "faults": [_fault(one) for one in faults]} for label, faults in groups.items()]


def _fault(one: Fault) -> dict[str, Any]:
    settings = [
        {"name": name, "kind": setting.kind, "value": setting.default, **setting.limits}
        for name, setting in one.settings.items()
    ]
    return {"name": one.name, "sentence": one.sentence, "settings": settings, "harmless": one.harmless}


def requests(film: Film) -> dict[str, dict[str, Any]]:
    """Of each line that is a request or its answer, by the line's number: the request, counted for its card."""
    records = [line.record for line in film.sequence.lines if line.record is not None]  # every line has one
    answers, counts, found = pairs(records), Counter[tuple[str, str]](), dict[str, dict[str, Any]]()
    for number, record in enumerate(records):
        if not isinstance(message := record.message, m.ApiRequested):
            continue
        operation, card = message.method, message.payment_instrument_id
        counts[operation, card] += 1
        before, after = EFFECTS[operation]
        about = {"operation": operation, "card": card, "nth": counts[operation, card], "from": number}
        about |= {"before": before, "after": after, "name": f"{operation}'s answer"}
        for row in dict.fromkeys((number, answers.get(number, number))):
            found[str(row)] = about | {"row": row}
    return found


def meets(script: Script) -> str:
    """What is broken, how, and before or after which effect; empty where nothing is."""
    if not script.fault:
        return ""
    before, after = EFFECTS[script.operation]
    whose = f" for {script.fault_card}" if script.fault_card else ""
    moment = before if script.moment == "before" else after
    chosen = fault(script.fault)
    when = "and the answer is whole" if chosen.harmless else moment
    return f"{chosen.sentence} It meets the {ordinal(script.nth)} {script.operation}{whose}, {when}. It meets no other."


def controls_on(frame: Frame) -> tuple[Pressable, ...]:
    """The enabled controls of a frame, in the order of reading."""
    return tuple(control for control in draw(frame.screen).controls if control.enabled)


def add_act(script: Script, at: float, name: str, value: str = "", *, again: bool = False) -> Script:
    """The script with one act more, made on the frame at `at` seconds.

    An act on an earlier frame removes the acts after it. `again` is for a tap that was made before the answer to the
    last one was seen, or while that was still playing: it comes after the last one.
    """
    kept = script.acts if again else tuple(act for act in script.acts if act.at <= at)
    last = max((act.at for act in kept), default=0.0)
    moment = max(at, last if again else 0.0) + 0.1  # seconds from what a cardholder sees to the finger (assumed)
    return replace(script, acts=kept).then(name, round(moment, 9), value)


def careless(script: Script) -> bool:
    """Whether all quick taps count, because the app does not disable its button."""
    return not script.guarded and script.flow == "platform A"  # the document describes quick taps there (A-BTN-2)


def walk_on(played: Play) -> Play:
    """The play of a cardholder who goes on: presses the first control each time, each kind once, and does not go back.

    In an app that does not disable its button it is tapped twice, quickly: one tap would show no fault.
    """
    while True:
        script, frame = played.script, played.film.frames[-1]
        done = {"look", "open", *(act.name for act in script.acts)}  # these two lead back to the flow's beginning
        fresh = [control for control in controls_on(frame) if control.act not in done]
        if not fresh:
            return played
        for again in (False, True) if careless(script) else (False,):
            script = add_act(script, frame.at, fresh[0].act, fresh[0].value, again=again)
        played = play(script)


def in_python(script: Script) -> str:
    """The call that sets this stage, as Python to copy."""
    defaults = Script(script.flow)
    values = {name: getattr(script, name) for name in CHOICES if getattr(script, name) != getattr(defaults, name)}
    if script.acts:
        values["acts"] = [(act.name, act.at, *filter(None, [act.value])) for act in script.acts]
    given = ", ".join(f"{name}={literal(value)}" for name, value in {**values, **script.settings}.items())
    platforms = {"platform A": "platform_a", "platform B": "platform_b", "from the wallet": "wallet"}
    return f"session.{platforms[script.flow]}.live({given})"
