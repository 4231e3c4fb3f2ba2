"""When which fault is played: rules in order, at most one fault for a request, the same for the same seed.

A rule says for which requests it is meant, and which of those it faults: all, the n-th, or a share. It counts
the requests that it is meant for, whether or not an earlier rule takes them, so no rule disturbs another.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation.fault import Fault
from workbook.simulation.faults import fault as named

if TYPE_CHECKING:
    from collections.abc import Iterable

OPERATIONS = ("GET", "POST")
MOMENTS = ("before", "after")
BITS = 52
"""Of a digest that make a draw: with half a step added, it is exact and between 0 and 1."""
STEPS = 1 << BITS


@dataclass(frozen=True, slots=True)
class Planned:
    """One rule: this fault, for these requests.

    Attributes:
        fault: what is played.
        operation: GET or POST; None for both.
        payment_instrument_id: only this instrument's requests; None for all.
        nth: only the n-th of these requests, from 1.
        share: only this share of them, 0 to 1, drawn anew for each.
        moment: `before` the service has done anything (its state does not move), or `after` it has (its state has
            moved, once, and the answer is spoilt). A harmless fault lets the request through in either moment.

    Raises:
        ParameterError: a value is not allowed.
    """

    fault: Fault
    operation: Literal["GET", "POST"] | None = None
    payment_instrument_id: str | None = None
    nth: int | None = None
    share: float | None = None
    moment: Literal["before", "after"] = "before"

    def __post_init__(self) -> None:
        if not isinstance(self.fault, Fault):
            raise ParameterError(f"A plan takes a fault, not {self.fault!r:.60}. Write fault('reset').")
        if self.operation is not None:
            _one_of("operation", self.operation, OPERATIONS)
        _one_of("moment", self.moment, MOMENTS)
        self._check_which()

    @classmethod
    def of(cls, **settings: Any) -> Planned:
        """A rule from plain values, as a TOML table has them: `fault`, this class's fields, the fault's settings.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        if "fault" not in settings:
            raise ParameterError("A planned fault needs a name. Write fault = 'reset', for one.")
        chosen, own = named(settings.pop("fault")), {field.name for field in fields(cls)}
        for name in settings:
            if name not in own and name not in chosen.settings:
                hint = did_you_mean(name, own | set(chosen.settings))
                raise ParameterError(f"A planned fault {chosen.name!r} has no setting {name!r:.60}. {hint}")
        of_fault = {name: value for name, value in settings.items() if name not in own}
        return cls(chosen.but(**of_fault), **{name: settings[name] for name in settings if name in own})

    def is_meant_for(self, operation: str, payment_instrument_id: str) -> bool:
        """Whether it counts a request like this."""
        return self.operation in (None, operation) and self.payment_instrument_id in (None, payment_instrument_id)

    def takes(self, count: int, drawn: float) -> bool:
        """Whether it faults the request that it counted as this one."""
        return self.nth in (None, count) and (self.share is None or drawn < self.share)

    def _check_which(self) -> None:
        who = self.payment_instrument_id
        if who is not None and not (isinstance(who, str) and who):
            raise ParameterError(f"payment_instrument_id is {who!r:.60}. Allowed: text that is not empty.")
        if self.nth is not None and (type(self.nth) is not int or self.nth < 1):
            raise ParameterError(f"nth is {self.nth!r:.60}. Allowed: a whole number, 1 or more.")
        if self.share is not None and (type(self.share) not in (int, float) or not 0 <= self.share <= 1):
            raise ParameterError(f"share is {self.share!r:.60}. Allowed: a number, 0 to 1.")
        if self.nth is not None and self.share is not None:
            raise ParameterError("A planned fault takes the n-th request or a share. Leave out nth or share.")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rule that takes a request, and the number that its fault draws on (see `fault.Chance`)."""

    planned: Planned
    draw: float

    @property
    def moves_state(self) -> bool:
        """Whether the service does what it was asked before its answer is faulted."""
        return self.planned.moment == "after" or self.planned.fault.harmless


class FaultPlan:
    """Chooses the fault of each request; holds one count for each rule, and nothing else.

    Args:
        planned: the rules; the first that takes a request wins.
        seed: of the shares and of what faults draw.

    Raises:
        ParameterError: something else than a rule stands among them, or the seed is no whole number.
    """

    def __init__(self, planned: Iterable[Planned] = (), seed: int = 7) -> None:
        self.planned = tuple(planned)
        self.seed = seed
        self._counts = [0] * len(self.planned)
        if wrong := [one for one in self.planned if not isinstance(one, Planned)]:
            raise ParameterError(f"A plan is made of Planned(...), not of {wrong[0]!r:.60}.")
        if type(seed) is not int:
            raise ParameterError(f"A seed is a whole number, such as 7, not {seed!r:.40}.")

    def __repr__(self) -> str:
        return f"FaultPlan({', '.join(one.fault.name for one in self.planned)}; seed {self.seed})"

    def choose(self, operation: str, payment_instrument_id: str) -> Chosen | None:
        """Count this request, and say which fault it gets, if any."""
        found = None
        for rule, planned in enumerate(self.planned):
            if planned.is_meant_for(operation, payment_instrument_id):
                self._counts[rule] += 1
                if found is None and planned.takes(self._counts[rule], self._drawn(rule, "share")):
                    found = Chosen(planned, self._drawn(rule, "draw"))
        return found

    @property
    def counts(self) -> tuple[int, ...]:
        """How many requests each rule has counted: all that a plan remembers."""
        return tuple(self._counts)

    def go_on(self, counts: Iterable[int]) -> None:
        """Be where a plan of the same rules was when it had these counts: what it draws goes on, too.

        Raises:
            ParameterError: these are no counts of as many rules.
        """
        listed = [*counts]
        if len(listed) != len(self.planned) or not all(type(one) is int and one >= 0 for one in listed):
            raise ParameterError(f"This plan has {len(self.planned)} counts, each a whole number from 0.")
        self._counts = listed

    def _drawn(self, rule: int, purpose: str) -> float:
        """A number between 0 and 1, both excluded, that only depends on what stands here."""
        text = f"{self.seed} {rule} {self._counts[rule]} {purpose}"
        digest = blake2b(text.encode(), digest_size=8, person=b"faults").digest()
        return ((int.from_bytes(digest, "big") >> (64 - BITS)) + 0.5) / STEPS


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) if isinstance(value, str) else f"Known: {', '.join(known)}."
        raise ParameterError(f"{name} is {value!r:.60}. {hint}")
