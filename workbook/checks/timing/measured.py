"""Real time: how long the integrator's own handler takes on this machine.

One of the two places of the package that read the wall clock (the other drives a real back end). What it finds is true
of this machine and this moment. So it also measures its instrument: what reading the clock costs, and how late a short
sleep comes back, which shows how busy the machine is.

The handler is made anew and called as a wallet calls it. The SDK's stand-in takes only the time that its Python code
needs, and a network call really waits for the given seconds. Whether a call uses the network is read from its trace,
never guessed from the time.

The garbage collector runs before each series and stays on during it. So it does not clean up earlier garbage during the
series, while the garbage that a handler makes is part of what the handler costs.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import isawaitable

from workbook.base.values import choice, number, quoted, whole
from workbook.checks.timing.verdict import (
    TARGET,
    Judgement,
    LimitVerdict,
    Spread,
    judge_durations,
    span,
    times,
    wrapped,
)
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import Event, limit_of
from workbook.flows.trace import CALLS
from workbook.flows.variants import B_LATER, VariantB
from workbook.play.back_end import simulated_back_end
from workbook.play.extension.handler import ExtensionBackEnd, ExtensionHandler, Library, Storage
from workbook.play.own_code import NOTICEABLE, completed, within
from workbook.play.platform_b import PlatformBRun
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import Call, under_way
from workbook.simulation.world import INSTRUMENT_IDS, World

# Performs one call with a fresh handler, to its end.
TimedCall = Callable[[], object]
# Makes everything anew and returns a call.
Make = Callable[[], TimedCall]


@dataclass(frozen=True, slots=True)
class Stopwatch:
    """How good the stopwatch is.

    Attributes:
        overhead: seconds that timing nothing takes; it is part of every duration.
        lateness: seconds that a sleep of 1 ms comes back too late; a busy machine is later.
    """

    overhead: Spread
    lateness: Spread

    @property
    def text(self) -> str:
        """Both in words."""
        itself = f"the stopwatch itself takes {span(self.overhead.p50)} (99th percentile {span(self.overhead.p99)})"
        late = f"{span(self.lateness.p50)} late (99th percentile {span(self.lateness.p99)})"
        return f"{itself}; a sleep of 1 ms comes back {late}"


@dataclass(frozen=True, slots=True, repr=False)
class Measurement:
    """What was measured of one call.

    Attributes:
        call: which call.
        cold: the first call after everything was made anew, in seconds, in the order measured.
        warm: calls after a first one that was discarded, in seconds, in the order measured.
        asked: how many cold and how many warm ones were wanted; fewer were done when the time was up.
        raised: the type of each error that calls raised, and its count; such a call failed, whatever its duration.
        instrument: how good the stopwatch is.
        target: the share that may be over.
    """

    call: str
    cold: tuple[float, ...]
    warm: tuple[float, ...]
    asked: tuple[int, int]
    raised: tuple[tuple[str, int], ...]
    instrument: Stopwatch
    target: float = TARGET

    @property
    def judgements(self) -> tuple[Judgement, Judgement]:
        """One for the cold calls, one for the warm ones."""
        series = (("cold", self.cold), ("warm", self.warm))
        cold, warm = (judge_durations(took, self.call, label=label, target=self.target) for label, took in series)
        return cold, warm

    @property
    def failed(self) -> int:
        """How many calls raised an error."""
        return sum(count for _name, count in self.raised)

    @property
    def verdict(self) -> LimitVerdict:
        """Fail when any call raised, else the worse of both judgements."""
        found = {LimitVerdict.FAIL} if self.raised else {one.verdict for one in self.judgements}
        return next(one for one in (LimitVerdict.FAIL, LimitVerdict.WARN, LimitVerdict.PASS) if one in found)

    @property
    def text(self) -> str:
        """The measurement in words."""
        judged = [] if self.raised else [one.text for one in self.judgements]
        return "\n".join([*judged, self.facts])

    @property
    def facts(self) -> str:
        """What the judgements and their picture do not say: what was raised, whether all was done, the stopwatch."""
        done = len(self.cold), len(self.warm)
        early = f"stopped early, the time was up: {done[0]} of {self.asked[0]} cold, {done[1]} of {self.asked[1]} warm"
        kinds = ", ".join(f"{name} ({count})" for name, count in self.raised)
        raised = [f"FAIL  {self.failed} of {times(sum(done), 'call')} raised: {kinds}"] if self.raised else []
        facts = wrapped(early if done != self.asked else "", self.instrument.text)
        return "\n".join([*raised, f"      {facts}"])

    def __repr__(self) -> str:
        return self.text


def measure_calls(
    make: Make,
    *,
    call: str = "status",
    warm: int = 200,
    cold: int = 20,
    at_most: float = 30.0,
    target: float = TARGET,
    stopwatch: Callable[[], int] = time.perf_counter_ns,
    sleep: Callable[[float], None] = time.sleep,
    collect: Callable[[], object] = gc.collect,
) -> Measurement:
    """Measure the integrator's handler, cold and warm.

    `make` makes everything anew (the handler's class, the phone, its storage) and returns a function that performs
    one call with a fresh handler, to its end. A cold call here is the first one after `make`: caches of the handler's
    own are empty, while Python has its modules loaded and its code compiled. On a device a cold start also loads the
    extension's process, which takes far longer than anything measured here: leave room for it.

    `stopwatch` gives nanoseconds; it, `sleep` and `collect` are there for tests, which have no time to lose.

    No new call begins after `at_most` seconds, or after half of them for the cold ones; at least one of each is made.
    A call under way is stopped then, unless it is still within its limit, and counts as one that raised.

    Raises:
        ParameterError: a parameter is not what it may be, or the call returned a coroutine, which would not have run.
    """
    limit = limit_of(call)
    asked = whole("cold", cold, least=1, most=1_000_000), whole("warm", warm, least=1, most=1_000_000)
    seconds, target = number("at_most", at_most, above=True), number("target", target, most=1)
    if not callable(make):
        raise ParameterError(f"make is {quoted(make)}. Give a function that makes a handler and returns a call of it.")
    timer = Timer(stopwatch, collect, max(limit.seconds, NOTICEABLE))
    instrument = Stopwatch(timer.overhead(), timer.lateness(sleep))
    cold_ones = timer.cold(make, asked[0], seconds / 2)
    warm_ones = timer.warm(make, asked[1], seconds)
    return Measurement(call, cold_ones, warm_ones, asked, tuple(sorted(timer.errors.items())), instrument, target)


class Timer:
    """A stopwatch with what it has seen.

    Attributes:
        errors: how many calls raised an error, by its type.
    """

    def __init__(self, stopwatch: Callable[[], int], collect: Callable[[], object], least: float) -> None:
        self.errors: Counter[str] = Counter()
        self._stopwatch, self._collect, self._least = stopwatch, collect, least
        self._began = stopwatch()

    def overhead(self) -> Spread:
        """What timing nothing takes, a thousand times."""
        return Spread.of(sorted(self._took(lambda: None) for _ in range(1000)))

    def lateness(self, sleep: Callable[[float], None]) -> Spread:
        """How late a sleep of 1 ms comes back, twenty times."""
        took = (self._took(lambda: sleep(0.001)) for _ in range(20))
        return Spread.of(sorted(max(seconds - 0.001, 0.0) for seconds in took))

    def cold(self, make: Make, count: int, until: float) -> tuple[float, ...]:
        """First calls, each after everything was made anew."""
        found: list[float] = []
        while len(found) < count and (not found or self._since(self._began) < until):
            call = _made(make)
            self._collect()
            found.append(self._call(call, until))
        return tuple(found)

    def warm(self, make: Make, count: int, until: float) -> tuple[float, ...]:
        """Calls after a first one, all with what was made once."""
        call, found, before = _made(make), list[float](), self.errors.copy()
        self._call(call, until)
        self.errors = before  # neither the time nor an error of the first one counts
        self._collect()
        while len(found) < count and (not found or self._since(self._began) < until):
            found.append(self._call(call, until))
        return tuple(found)

    def _call(self, call: TimedCall, until: float) -> float:
        """How long one call takes, whether it returns, raises, or is stopped because the time is up."""
        result: object = None
        took = 0.0

        def timed() -> None:
            nonlocal result, took
            began = self._stopwatch()
            try:
                result = call()
            finally:
                took = self._since(began)

        try:
            within(max(until - self._since(self._began), self._least), timed)
        except Exception as error:  # noqa: BLE001  # the integrator's code may raise anything; that it did is the finding
            self.errors[type(error).__name__] += 1
        if isawaitable(result):
            getattr(result, "close", lambda: None)()  # else Python warns that it was never awaited
            raise ParameterError(
                "The call returned a coroutine, which has not run, so its time means nothing. "
                "Return a function that runs it to its end, such as lambda: asyncio.run(handler.status())."
            )
        return took

    def _took(self, call: TimedCall) -> float:
        began = self._stopwatch()
        call()
        return self._since(began)

    def _since(self, began: int) -> float:
        """Seconds since this moment of the stopwatch."""
        return (self._stopwatch() - began) / 1e9  # it gives nanoseconds


def _made(make: Make) -> TimedCall:
    call = make()
    if callable(call):
        return call
    raise ParameterError(f"make returned {quoted(call)}. Return a function that performs one call of a fresh handler.")


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
    without_arguments = ("status", "pass_entries", "remote_pass_entries")  # can be made again and again
    choice("call", call, without_arguments)
    if not isinstance(handler, type) or not callable(getattr(handler, call, None)):
        needed = ", ".join(sorted(set(CALLS.values()) & set(without_arguments)))
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

    found = measure_calls(make, call=call, warm=warm, cold=cold, at_most=at_most, sleep=sleep, stopwatch=stopwatch)
    return HandlerTiming(found, sum(isinstance(event, m.BackEndAsked) for event in events))
