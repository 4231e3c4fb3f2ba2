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

from workbook.base.values import choice, number, whole
from workbook.checks.timing.verdict import Judgement, LimitVerdict, Spread, judge_durations, span, times, wrap_sentences
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.messages import Event, limit_of
from workbook.flows.variants import B_LATER, VariantB
from workbook.play.back_end import simulated_back_end
from workbook.play.extension.handler import ExtensionBackEnd, ExtensionHandler, Library, Storage
from workbook.play.own_code import NOTICEABLE, run_to_end, within
from workbook.play.platform_b import PlatformBRun
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import Call, under_way
from workbook.simulation.world import INSTRUMENT_IDS, World

# Performs one call with a fresh handler, to its end.
TimedCall = Callable[[], object]
# The calls that can be made again and again, because they take no arguments.
CALLS = ("status", "pass_entries", "remote_pass_entries")


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
    """How long a handler's call takes on this machine.

    Attributes:
        call: which call.
        cold: the first call after everything was made anew, in seconds, in the order measured.
        warm: calls after a first one that was discarded, in seconds, in the order measured.
        asked: how many cold and how many warm ones were wanted; fewer were done when the time was up.
        raised: the type of each error that calls raised, and its count; such a call failed, whatever its duration.
        instrument: how good the stopwatch is.
        network_calls: how many network calls one call makes, as its trace has them.
    """

    call: str
    cold: tuple[float, ...]
    warm: tuple[float, ...]
    asked: tuple[int, int]
    raised: tuple[tuple[str, int], ...]
    instrument: Stopwatch
    network_calls: int

    @property
    def judgements(self) -> tuple[Judgement, Judgement]:
        """One for the cold calls, one for the warm ones."""
        return (
            judge_durations(self.cold, self.call, label="cold"),
            judge_durations(self.warm, self.call, label="warm"),
        )

    @property
    def median(self) -> float:
        """The median of the warm calls, in seconds."""
        return self.judgements[1].spread.p50

    @property
    def verdict(self) -> LimitVerdict:
        """Fail when any call raised, else the worse of both judgements."""
        verdicts = {LimitVerdict.FAIL} if self.raised else {judgement.verdict for judgement in self.judgements}
        return next(verdict for verdict in reversed(LimitVerdict) if verdict in verdicts)

    @property
    def network(self) -> str:
        """What the trace says of the network, in words."""
        return f"{times(self.network_calls, 'network call')} in each {self.call}(), as its trace shows"

    @property
    def facts(self) -> str:
        """What the judgements and their picture do not say: errors, whether all was done, stopwatch, network."""
        cold, warm = len(self.cold), len(self.warm)
        lines = []
        if self.raised:
            count = sum(count for _name, count in self.raised)
            kinds = ", ".join(f"{name} ({count})" for name, count in self.raised)
            lines.append(f"FAIL  {count} of {times(cold + warm, 'call')} raised: {kinds}")
        early = f"stopped early, the time was up: {cold} of {self.asked[0]} cold, {warm} of {self.asked[1]} warm"
        facts = wrap_sentences(early if (cold, warm) != self.asked else "", self.instrument.text, self.network)
        return "\n".join([*lines, f"      {facts}"])

    def __repr__(self) -> str:
        judged = [] if self.raised else [judgement.text for judgement in self.judgements]
        return "\n".join([*judged, self.facts])


class Timer:
    """A stopwatch that times calls of the integrator's code.

    Args:
        stopwatch: gives nanoseconds.
        least: seconds that each call has, even when the time is up.

    Attributes:
        errors: how many calls of a series raised an error, by its type.
    """

    def __init__(self, stopwatch: Callable[[], int], least: float) -> None:
        self.errors: Counter[str] = Counter()
        self._stopwatch = stopwatch
        self._least = least
        self._began = stopwatch()

    def instrument(self, sleep: Callable[[float], None]) -> Stopwatch:
        """How good the stopwatch is: timing nothing a thousand times, and twenty sleeps of 1 ms."""
        nothing = (self._time(lambda: None) for _ in range(1000))
        late = (max(self._time(lambda: sleep(0.001)) - 0.001, 0.0) for _ in range(20))
        return Stopwatch(Spread.of(sorted(nothing)), Spread.of(sorted(late)))

    def series(self, make: Callable[[], TimedCall], count: int, until: float) -> tuple[float, ...]:
        """How long so many calls took; no new one begins after `until`, in seconds since the timer was made."""
        took: list[float] = []
        while len(took) < count and (not took or self._since(self._began) < until):
            seconds, error = self.call(make(), until)
            took.append(seconds)
            if error:
                self.errors[error] += 1
        return tuple(took)

    def call(self, call: TimedCall, until: float) -> tuple[float, str]:
        """How long one call takes, and the type of its error; empty where it returned.

        A call that is still under way at `until` is stopped, unless it is within its limit.
        """
        took: list[float] = []
        left, began = until - self._since(self._began), self._stopwatch()
        try:
            within(max(left, self._least), lambda: took.append(self._time(call)))
        except Exception as error:  # noqa: BLE001  # the integrator's code may raise anything; that it did is the finding
            return self._since(began), type(error).__name__
        return took[0], ""

    def _time(self, call: TimedCall) -> float:
        began = self._stopwatch()
        call()
        return self._since(began)

    def _since(self, began: int) -> float:
        """Seconds since this moment of the stopwatch."""
        return (self._stopwatch() - began) / 1e9  # it gives nanoseconds


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
) -> Measurement:
    """Measure your own handler here, cold and warm, with a new handler for each call (X-HANDLER-1).

    A cold call here is the first one after everything was made anew: caches of the handler's own are empty, while
    Python has its modules loaded and its code compiled. On a device a cold start also loads the extension's process,
    which takes far longer than anything measured here: leave room for it.

    Args:
        handler: your class.
        call: `status`, `pass_entries` or `remote_pass_entries`.
        network: seconds that each GET takes.
        warm: how many warm calls to make.
        cold: how many cold ones: with everything made anew before each.
        at_most: seconds after which no new call begins, half of them for the cold ones; at least one of each is made.
            A call under way is stopped then, unless it is still within its limit, and counts as one that raised.
        variant: the SDK's variant.
        cards: the ids of the cardholder's payment instruments.
        sleep: waits; for tests.
        stopwatch: gives nanoseconds; for tests.

    Raises:
        ParameterError: an argument is not what it may be.
    """
    choice("call", call, CALLS)
    if not isinstance(handler, type) or not callable(getattr(handler, call, None)):
        methods = ", ".join(CALLS)
        raise ParameterError(f"handler is {handler!r:.60}; give your class itself, with the methods {methods}.")
    counts = whole("cold", cold, least=1, most=1_000_000), whole("warm", warm, least=1, most=1_000_000)
    until, waits = number("at_most", at_most, above=True), number("network", network)
    events: list[Event] = []
    latencies = LatenciesB(get=waits, post=waits, service=0.0, storage=0.0, handler=0.0, card_art=0.0)

    def make() -> TimedCall:
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
                return run_to_end(getattr(kind(Storage(phone), back_end, Library(phone), tuple(cards)), call))

        gc.collect()
        return once

    def pace(seconds: float) -> None:
        if seconds > 0:
            sleep(seconds)

    timer = Timer(stopwatch, max(limit_of(call).seconds, NOTICEABLE))
    instrument = timer.instrument(sleep)
    took_cold = timer.series(make, counts[0], until / 2)
    warm_call = make()
    timer.call(warm_call, until)  # the first one is discarded
    gc.collect()
    took_warm = timer.series(lambda: warm_call, counts[1], until)
    network_calls = sum(isinstance(event, m.BackEndAsked) for event in events)
    return Measurement(
        call, took_cold, took_warm, counts, tuple(sorted(timer.errors.items())), instrument, network_calls
    )
