"""The plan of a call that fetches one sdkInput for each card, and the chance that it takes too long.

passEntries() has 20 s for all its GETs (X-ENTRIES-3). Whether that is enough depends on how long one GET
takes, how many there are, whether they run at the same time, and when one is given up. A plan holds these
choices; simulating it a million times, or a closed form where there is one, gives the chance.

What a plan assumes: the GETs' latencies are independent, and a GET that runs beside nine others is as fast
as one that runs alone. A network that is down for all of them at once is worse than any figure here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbook.errors import ParameterError
from workbook.flows.limits import limit as limit_of
from workbook.timing import closed_form, estimate, search
from workbook.timing.checked import choice, number, shown, whole
from workbook.timing.totals import GETS, MOST_CARDS, ONE_BY_ONE, totals
from workbook.timing.verdict import TARGET
from workbook.timing.wording import span, times

if TYPE_CHECKING:
    from workbook.flows.limits import Limit
    from workbook.timing.distribution import Latency
    from workbook.timing.estimate import Estimate
    from workbook.timing.search import Answer

__all__ = ["Plan", "totals"]

MOST_RETRIES = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """How a call fetches its cards' sdkInputs.

    Attributes:
        latency: how long one GET takes: `LogNormal` or `Resampled`.
        cards: how many GETs there are, one for each card, 1 to 100.
        gets: "one by one" or "concurrent".
        timeout: seconds after which an attempt is given up; None waits for ever.
        retries: how often a GET that was given up is made again, 0 to 10; nothing is, without a timeout.
        overhead: seconds that pass before the first GET.
        limit: seconds for the whole call; taking exactly that long is in time.
        call: which call it is, for the verdict.

    Raises:
        ParameterError: one of these is not what it may be.
    """

    latency: Latency
    cards: int = 10
    gets: str = ONE_BY_ONE
    timeout: float | None = None
    retries: int = 0
    overhead: float = 0.0
    limit: float = 20.0
    call: str = "pass_entries"

    def __post_init__(self) -> None:
        if not (callable(getattr(self.latency, "draw", None)) and callable(getattr(self.latency, "cdf", None))):
            raise ParameterError(
                f"latency is {shown(self.latency)}. Give LogNormal(median=…, p99=…) or Resampled([…]), in seconds."
            )
        limit_of(self.call)
        for name, value in self._checked().items():
            object.__setattr__(self, name, value)

    def _checked(self) -> dict[str, object]:
        return {
            "cards": whole("cards", self.cards, least=1, most=MOST_CARDS),
            "gets": choice("gets", self.gets, GETS),
            "timeout": None if self.timeout is None else number("timeout", self.timeout, above=True),
            "retries": whole("retries", self.retries, least=0, most=MOST_RETRIES),
            "overhead": number("overhead", self.overhead),
            "limit": number("limit", self.limit, above=True),
        }

    @property
    def bound(self) -> Limit:
        """The limit that the verdict is about: the call's own, with this plan's seconds."""
        return replace(limit_of(self.call), seconds=self.limit)

    @property
    def words(self) -> str:
        """The plan in words."""
        timeout = "without a timeout" if self.timeout is None else f"each given up after {span(self.timeout)}"
        retries = f", then made again up to {times(self.retries, 'time')}" if self.timeout and self.retries else ""
        overhead = f", {span(self.overhead)} beforehand" if self.overhead else ""
        return f"{times(self.cards, 'card')} {self.gets}, {timeout}{retries}{overhead}"

    def exact(self) -> float | None:
        """The chance to miss the limit where there is a closed form, else None."""
        return closed_form.missed(self)

    def simulate(self, calls: int = 1_000_000, seed: int = 7, *, target: float = TARGET) -> Estimate:
        """Simulate so many calls; the same seed gives the same estimate.

        Raises:
            ParameterError: `calls` is not 1 to 10,000,000, `seed` no whole number of 0 or more, `target` no share.
        """
        return estimate.simulate(self, calls, seed, target)

    def timeout_for(self, target: float = TARGET, *, seed: int = 7) -> Answer:
        """The largest timeout, in steps of 0.1 s up to the limit, that keeps the chance to miss at or under `target`.

        A timeout is good when a closed form says so, or else when 200,000 simulated calls do with 95 % confidence
        (fewer calls with many cards and retries: the answer says how many).

        Raises:
            ParameterError: `target` is no share, or `seed` no whole number of 0 or more.
        """
        return search.timeout_for(self, target, seed)

    def cards_for(self, target: float = TARGET, *, seed: int = 7) -> Answer:
        """How many cards fit, 0 to 100, with the chance to miss at or under `target`; as sure as `timeout_for`.

        Raises:
            ParameterError: `target` is no share, or `seed` no whole number of 0 or more.
        """
        return search.cards_for(self, target, seed)
