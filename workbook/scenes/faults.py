"""The scene of a fault: one call that plays it, on one platform, in front of one back end, and shows what came of it.

Everything but the fault goes well: one card, one tap, a phone that is ready. All that is told is read from the trace
and from the simulated service; nothing is looked up in a table of expected results.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from workbook.benches.back_ends import BACK_ENDS
from workbook.benches.line import Line
from workbook.benches.watched import SDK_INPUT, WatchedBackEnd
from workbook.checks.advice import advice_for
from workbook.flows import messages as m
from workbook.scenes.fault_platforms import FIRST, PLATFORMS
from workbook.scenes.platform_a import named
from workbook.scenes.staged import Staged
from workbook.simulation.fault_plan import MOMENTS, OPERATIONS, FaultPlan, Planned
from workbook.simulation.faults import fault as fault_named
from workbook.simulation.service import Service
from workbook.trace import Kind
from workbook.views.screen import Screen

__all__ = ["FIRST", "MOMENTS", "OPERATIONS", "PLATFORMS", "FaultScene", "break_it"]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.checks.advice import Advice
    from workbook.flows.machine import Machine
    from workbook.scenes.fault_platforms import Played
    from workbook.trace import Record, Trace


@dataclass(frozen=True, slots=True, repr=False)
class FaultScene(Staged):
    """What came of a fault.

    Attributes:
        planned: which fault, for which request, in which moment.
        platform: one of `PLATFORMS`.
        back_end: one of `BACK_ENDS`.
        played: what the platform made of it.
        line: what passed between the back end and the API.
    """

    planned: Planned
    platform: str
    back_end: str
    played: Played
    line: Line

    @property
    def trace(self) -> Trace:  # type: ignore[override]  # the platform's own
        """Every step."""
        return self.played.trace

    @property
    def machine(self) -> Machine:  # type: ignore[override]  # the platform's own
        """The table that was stepped."""
        return self.played.machine

    @property
    def first(self) -> Screen:  # type: ignore[override]  # every phone here begins without a card
        """What was to be seen before."""
        return Screen()

    @property
    def method(self) -> str:
        """The operation that was faulted."""
        return str(self.planned.operation)

    @property
    def added(self) -> bool:
        """The card is in the phone's wallet."""
        return FIRST in self.played.cards

    @property
    def took(self) -> str:
        """How long the cardholder was kept waiting, in words."""
        return f"{self.ended:.2f} s of virtual time"

    @property
    def ended(self) -> float:
        """When the last thing happened that concerns the cardholder, in seconds."""
        return max((record.at for record in _steps(self.trace)), default=0.0)

    @property
    def longest_wait(self) -> float:
        """The longest time, in seconds, in which nothing happened on the phone."""
        times = [record.at for record in _steps(self.trace)]
        return max((later - before for before, later in pairwise(times)), default=0.0)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about it."""
        return advice_for(self.trace, self.method)

    @property
    def summary(self) -> dict[str, str]:
        """The story in a few lines, from the API to the cardholder."""
        fault = self.planned.fault
        return {
            "fault": f"{fault.name}: {fault.sentence} ({fault.source})",
            "played": self._when,
            "the API": self._carried_out,
            "the back end got": self._got,
            "the app got": self._handed_on,
            "the cardholder sees": self.played.screen,
            "the card": self._where,
            "took": self.took,
        }

    @property
    def _when(self) -> str:
        which = "every" if self.planned.nth is None else f"the {_ordinal(self.planned.nth)}"
        if not self.line.played:
            nothing = f"{which} {self.method} was answered as it is" if self.line.asked[self.method] else "never"
            return f"{nothing}: nothing was changed"
        moment = "before the API did anything" if self.planned.moment == "before" else "after the API had done its part"
        if self.planned.fault.harmless:
            moment = "the answer is whole"
        return f"on {which} {self.method}; {moment}"

    @property
    def _carried_out(self) -> str:
        asked, done = self.line.asked[self.method], self.line.service.carried_out[self.method]
        if not asked:
            return f"was never asked for a {self.method}"
        outcome = f"carried the {self.method} out {times(done)}" if done else f"did not carry the {self.method} out"
        return f"was asked {times(asked)}; {outcome}"

    @property
    def _got(self) -> str:
        ends = [over for _record, over in self.trace.seen(m.ApiCallEnded) if over.method == self.method]
        if not ends:
            return f"made no {self.method}"
        over = next((one for one in ends if one.ending != SDK_INPUT or one.attempts > 1), ends[0])
        attempts = "1 attempt" if over.attempts == 1 else f"{over.attempts} attempts"
        return f"{over.ending} after {attempts} and {over.took:.2f} s"

    @property
    def _handed_on(self) -> str:
        """The last that the app's own code had of its back end."""
        kinds = [kind for kind in HANDED_ON if kind is not m.NoRequest or not self.trace.select(m.DelegateReturned)]
        got = [record.message for record in self.trace.select(*kinds) if record.kind is not Kind.REFUSED]
        return HANDED_ON[type(got[-1])](got[-1]) if got else "nothing"

    @property
    def _where(self) -> str:
        if others := self.played.cards - {FIRST}:
            return f"another card is in the wallet: {', '.join(sorted(others))}"
        return "in the wallet" if self.added else "not in the wallet"


def _value(message: Any) -> str:
    return "sdkInput" if message.sdk_input else "an answer without sdkInput, as if it were a success"


def _reason(message: Any) -> str:
    return f"no sdkInput: “{message.reason}”"


def _returned(message: Any) -> str:
    return "nil" if message.sdk_input is None else _value(message)


HANDED_ON: Mapping[type[m.Message], Callable[[Any], str]] = {
    m.ActivationDataReceived: _value,
    m.ActivationDataFailed: _reason,
    m.OpcReceived: _value,
    m.OpcFailed: _reason,
    m.SdkInputReceived: _value,
    m.NoSdkInput: lambda message: f"nil: “{message.reason}”",
    m.IgnoreLateSdkInput: lambda _message: "nothing in time; what came later was ignored",
    m.NoEntries: lambda _message: "no activation data, so it offers no entries",
    m.NoRequest: lambda _message: "nil",
    m.DelegateReturned: _returned,
    m.RequestReturned: lambda _message: "sdkInput",
}
"""What tells what the app's own code, or its extension, had of the back end."""


def _steps(trace: Trace) -> list[Record]:
    """What happens on the phone: all but the exchanges and the remarks."""
    return [record for record in trace if record.kind not in (Kind.EXCHANGE, Kind.NOTE)]


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def times(number: int) -> str:
    """How often, in words."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def break_it(  # noqa: PLR0917  # one choice each, in the order of the sentence
    fault: str = "503 that says 500",
    operation: str = "POST",
    moment: str = "after",
    platform: str = "platform A",
    back_end: str = "good",
    nth: int | None = 1,
    **settings: Any,
) -> FaultScene:
    """Play one fault, and see what the API, the back end, the app and the cardholder make of it.

    Args:
        fault: one of `simulation.faults.FAULTS`.
        operation: GET or POST.
        moment: `before` the API has done anything, or `after` it has done its part.
        platform: one of `PLATFORMS`.
        back_end: one of `BACK_ENDS`.
        nth: on which of these requests, counted from 1; None faults all of them.
        settings: the fault's own, such as `seconds=2.0`.

    Raises:
        ParameterError: nothing has this name, or a value is not allowed.
    """
    named(operation, dict.fromkeys(OPERATIONS), "operation")
    named(moment, dict.fromkeys(MOMENTS), "moment")
    stage, kind = named(platform, PLATFORMS, "platform"), named(back_end, BACK_ENDS, "back end")
    planned = Planned(fault_named(fault).but(**settings), operation, FIRST, nth, None, moment)  # type: ignore[arg-type]  # checked
    line = Line(Service(plan=FaultPlan([planned])))
    return FaultScene(planned, platform, back_end, stage(WatchedBackEnd(kind.make(line), line)), line)
