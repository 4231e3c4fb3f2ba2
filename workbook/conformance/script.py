"""What a case does: the phone's calls, and what the API answers meanwhile. Data only; the rig carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum, unique
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Made = Callable[[str], str]
    """Makes a value from a canary that no other case has, or one id from another."""

GET, POST, STATUS = "GET", "POST", "status()"
"""What the phone asks the back end for; the API knows the first two."""


@unique
class Manner(StrEnum):
    """How the phone makes a call: HTTP allows all of these, and means the same by them."""

    PLAIN = ""
    CHUNKED = "a body in chunks"
    UPPER_CASE = "header names in capitals"
    CLOSING = "a connection of its own"
    UNPACKED = "no encoding of the answer"


@dataclass(frozen=True, slots=True)
class Ask:
    """The phone makes one call.

    Attributes:
        operation: GET or POST.
        card: which of the case's cards, from 0.
        cardholder: whose session, from 0; -1 for none, -2 for one that is not genuine.
        output: for a POST, makes the sdkOutput; None has the SDK stand-in make one.
        cancel: the phone gives up after so many seconds; None waits.
        own: the card is one of that cardholder's own, from 0, and not one of the case's.
        instrument: makes the id that is asked for from the card's; None asks for the card's.
        manner: how the call is made.
    """

    operation: str
    card: int = 0
    cardholder: int = 0
    output: Made | None = field(default=None, repr=False)
    cancel: float | None = None
    own: bool = False
    instrument: Made | None = field(default=None, repr=False)
    manner: Manner = Manner.PLAIN


@dataclass(frozen=True, slots=True)
class Together:
    """Several calls at the same time."""

    steps: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing for a while, in seconds: what comes by itself shows."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Recover:
    """Nothing for as long as the configuration allows a back end to take until it works again."""


@dataclass(frozen=True, slots=True)
class Down:
    """The API is away: nobody listens where it was."""


@dataclass(frozen=True, slots=True)
class Up:
    """The API is back at the same address."""


@dataclass(frozen=True, slots=True)
class Order:
    """What the API answers to one of the case's cards instead of its own answer.

    Attributes:
        operation: GET or POST.
        card: which of the case's cards.
        value: makes the sdkInput of a plain 200; None leaves the answer as it is.
        more: fields that stand beside the sdkInput.
        fault: one of `simulation.faults.FAULTS`; None for none.
        moment: whether the fault comes `before` or `after` the API has done what it was asked.
        settings: the fault's.
        nth: only the n-th such request; None for all.
        share: sets the fault's seconds, as a share of the bound within which the back end has to answer.
        packed: a plain 200 is compressed with gzip for whoever says that it may be, as a gateway in between may do.
    """

    operation: str
    card: int = 0
    value: Made | None = field(default=None, repr=False)
    more: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    moment: str = "before"
    settings: Mapping[str, Any] = field(default_factory=dict)
    nth: int | None = None
    share: float | None = None
    packed: bool = False

    def within(self, bound: float) -> Order:
        """The same order where the back end has so many seconds."""
        if self.share is None:
            return self
        return replace(self, settings={**self.settings, "seconds": self.share * bound}, share=None)


@dataclass(frozen=True, slots=True)
class Now:
    """From here on the API answers so, and no longer as before; as it should, where nothing is ordered."""

    orders: tuple[Order, ...] = ()


Step = Ask | Together | Rest | Recover | Down | Up | Now
CALM = Now()
"""From here on the API answers as it should."""


@dataclass(frozen=True, slots=True)
class Script:
    """A case's doing.

    Attributes:
        steps: one after the other.
        orders: in force from the beginning until a step says otherwise.
        cards: how many payment instruments it needs, all of the first cardholder unless a step says otherwise.
        alone: nothing else may run meanwhile.
        whole: nothing is done: the case looks at the whole run, once the back end has ended or all else is over.
    """

    steps: tuple[Step, ...]
    orders: tuple[Order, ...] = ()
    cards: int = 1
    alone: bool = False
    whole: bool = False

    @property
    def operations(self) -> frozenset[str]:
        """What the phone asks for."""
        asks = (ask for step in self.steps for ask in asks_of(step))
        return frozenset(ask.operation for ask in asks)

    @property
    def faulty(self) -> bool:
        """Whether the API fails or is away meanwhile."""
        later = (order for step in self.steps if isinstance(step, Now) for order in step.orders)
        failing = any(order.fault for order in (*self.orders, *later))
        return failing or any(isinstance(step, Down) for step in self.steps)


def asks_of(step: Step) -> tuple[Ask, ...]:
    """The calls of one step."""
    return step.steps if isinstance(step, Together) else (step,) if isinstance(step, Ask) else ()


def both(**post: Any) -> tuple[Ask, Ask]:
    """The two calls of one attempt, in their order."""
    return Ask(GET), Ask(POST, **post)
