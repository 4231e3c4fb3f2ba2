"""An integrator's own handler in real time: made anew, called as a wallet calls it, and measured.

The SDK's stand-in takes only the time that its Python code needs. A network call really waits for the given seconds.
Whether a call uses the network is read from its trace, never guessed from the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from workbook.base.values import choice, number
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.trace import CALLS
from workbook.flows.variants import B_LATER, VariantB
from workbook.reading.timing import measured
from workbook.reading.timing.measured import Measurement
from workbook.reading.timing.verdict import times
from workbook.runs.back_end import simulated_back_end
from workbook.runs.extension.handler import ExtensionBackEnd, ExtensionHandler, Library, Storage
from workbook.runs.own_code import completed
from workbook.runs.platform_b import PlatformBRun
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import Call, under_way
from workbook.simulation.world import INSTRUMENT_IDS, World

MEASURED = ("status", "pass_entries", "remote_pass_entries")
"""The calls that take no arguments, so that they can be made again and again."""


@dataclass(frozen=True, slots=True, repr=False)
class HandlerTiming:
    """How long a handler's call takes on this machine.

    Attributes:
        measurement: the figures.
        network_calls: how many network calls one call makes, as its trace has them.
    """

    measurement: Measurement
    network_calls: int

    @property
    def median(self) -> float:
        """The median of the warm calls, in seconds."""
        return self.measurement.judgements[1].spread.p50

    @property
    def network(self) -> str:
        """What the trace says of the network, in words."""
        return f"{times(self.network_calls, 'network call')} in each {self.measurement.call}(), as its trace shows"

    def __repr__(self) -> str:
        return f"{self.measurement.text}\n      {self.network}"


def measure(
    handler: type[ExtensionHandler],
    call: str = "status",
    *,
    network: float = 0.25,
    warm: int = 200,
    cold: int = 20,
    at_most: float = 30.0,
    variant: VariantB = B_LATER,
    cards: Sequence[str] = INSTRUMENT_IDS,
    sleep: Callable[[float], None] = time.sleep,
    stopwatch: Callable[[], int] = time.perf_counter_ns,
) -> HandlerTiming:
    """Measure your own handler here, cold and warm, with a new handler for each call (X-HANDLER-1).

    Args:
        handler: your class.
        call: `status`, `pass_entries` or `remote_pass_entries`.
        network: seconds that each GET takes.
        warm: how many warm calls to make.
        cold: how many cold ones: with everything made anew before each.
        at_most: seconds after which no new call begins.
        variant: the SDK's variant.
        cards: the ids of the cardholder's payment instruments.
        sleep: waits; for tests.
        stopwatch: gives nanoseconds; for tests.

    Raises:
        ParameterError: an argument is not what it may be.
    """
    choice("call", call, MEASURED)
    if not isinstance(handler, type) or not callable(getattr(handler, call, None)):
        needed = ", ".join(sorted(set(CALLS.values()) & set(MEASURED)))
        raise ParameterError(f"handler is {handler!r:.60}; give your class itself, with the methods {needed}.")
    waits = number("network", network)
    latencies = LatenciesB(get=waits, post=waits, service=0.0, storage=0.0, handler=0.0, card_art=0.0)
    events: list[Event] = []

    def make() -> Callable[[], object]:
        """Make everything anew; the function returned performs one call with a fresh handler."""
        # A subclass made for this occasion: what a handler keeps in its class is empty again.
        kind = type(handler.__name__, (handler,), {})
        phone = PhoneB()
        for card in cards:
            PlatformBRun(payment_instrument_id=card, phone=phone).open()  # the app saves each card's sdkInput
        phone.latencies = latencies
        back_end = ExtensionBackEnd(simulated_back_end(World(seed=phone.seed)), phone)

        def once() -> object:
            events.clear()
            under = Call(phone, later=variant.later, tell=lambda _at, event: events.append(event), pace=pace)
            with under_way(under):
                return completed(getattr(kind(Storage(phone), back_end, Library(phone), tuple(cards)), call))

        return once

    def pace(seconds: float) -> None:
        if seconds > 0:
            sleep(seconds)

    found = measured.measure(make, call=call, warm=warm, cold=cold, at_most=at_most, sleep=sleep, stopwatch=stopwatch)
    return HandlerTiming(found, sum(isinstance(event, m.BackEndAsked) for event in events))
