"""Every fault at a glance: what it is, and what the good back end makes of it, found by running each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from workbook.benches.back_ends import BACK_ENDS
from workbook.flows import messages as m
from workbook.scenes.faults import PLATFORMS, break_it, times
from workbook.simulation.fault_plan import OPERATIONS
from workbook.simulation.faults import FAULTS
from workbook.simulation.faults_body import BODIES
from workbook.simulation.faults_http import STATUSES
from workbook.simulation.faults_wire import ON_THE_WIRE
from workbook.views.scene import Stack
from workbook.views.table import Table, table

if TYPE_CHECKING:
    from workbook.scenes.faults import FaultScene
    from workbook.simulation.fault import Fault

GROUPS = {
    "Another status": STATUSES,
    "On the wire: late, cut, lost": ON_THE_WIRE,
    "In the body": BODIES,
}
"""The faults by where they strike."""
SIDE_BY_SIDE = ("the cardholder sees", "the app got")
"""What is compared between the platforms."""


def fault_table() -> Stack:
    """Every fault: its name, what can be set (and what a number is otherwise), its source, what it does."""
    head = ("fault", "can be set", "source", "what it does")
    return Stack(tuple(table(group, head, map(_row, faults)) for group, faults in GROUPS.items()))


def _row(fault: Fault) -> tuple[str, ...]:
    settings = ", ".join(f"{name}{_default(setting.default)}" for name, setting in fault.settings.items())
    return fault.name, settings or "-", fault.source, fault.sentence


def _default(value: object) -> str:
    """A number, to be compared with others; what is text is too long for a column."""
    return f" = {value:,}" if isinstance(value, int | float) else ""


def back_end_table() -> Table:
    """The back ends to compare."""
    rows = [(name, one.breaks or "none", one.sentence) for name, one in BACK_ENDS.items()]
    return table("The back ends", ("back end", "breaks", "what it does"), rows)


def on_each_platform(
    fault: str = "reset", operation: str = "POST", moment: str = "after", back_end: str = "good", **settings: Any
) -> Table:
    """One fault on each platform, side by side; the arguments are those of `break_it`.

    Raises:
        ParameterError: nothing has this name, or a value is not allowed.
    """
    scenes = [break_it(fault, operation, moment, one, back_end, **settings) for one in PLATFORMS]
    rows = [(one.platform, f"{one.ended:.2f} s", *(one.summary[name] for name in SIDE_BY_SIDE)) for one in scenes]
    title = f"{fault} on the first {operation}, {moment} the API did its part; back end: {back_end}"
    return table(title, ("platform", "after", *SIDE_BY_SIDE), rows)


def outcomes(moment: str = "after") -> Table:
    """Every fault on the first GET and on the first POST, on platform A: what the good back end makes of it.

    Raises:
        ParameterError: `moment` is neither `before` nor `after`.
    """
    rows = [(name, *(_outcome(name, operation, moment) for operation in OPERATIONS)) for name in FAULTS]
    return table("What the good back end makes of each fault", ("fault", *OPERATIONS), rows)


@cache
def _outcome(name: str, operation: str, moment: str) -> str:
    scene = break_it(name, operation, moment)
    return f"{_got(scene, operation)}; {_card(scene)}"


def _got(scene: FaultScene, operation: str) -> str:
    """How the call that was faulted ended; an error by its class, which is what a program acts on."""
    over = next(over for _record, over in scene.trace.seen(m.ApiCallEnded) if over.method == operation)
    return f"{over.ending}, asked {times(over.attempts)}" if over.attempts > 1 else over.ending


def _card(scene: FaultScene) -> str:
    if scene.added:
        return "added"
    return "another card added" if scene.played.cards else "not added"
