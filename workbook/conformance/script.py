"""What a case does: the phone's calls, and what the API answers meanwhile. Data only; the rig carries it out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Made = Callable[[str], str]
    """Makes a value from a canary that no other case has."""

GET, POST, STATUS = "GET", "POST", "status()"
"""What the phone asks the back end for; the API knows the first two."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The phone makes one call.

    Attributes:
        operation: GET or POST.
        card: which of the case's cards, from 0.
        cardholder: whose session, from 0; -1 for none, -2 for one that is not genuine.
        output: for a POST, makes the sdkOutput; None has the SDK stand-in make one.
        cancel: the phone gives up after so many seconds; None waits.
    """

    operation: str
    card: int = 0
    cardholder: int = 0
    output: Made | None = field(default=None, repr=False)
    cancel: float | None = None


@dataclass(frozen=True, slots=True)
class Together:
    """Several calls at the same time."""

    steps: tuple[Ask, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing for a while, in seconds: what comes by itself shows."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Down:
    """The API is away: nobody listens where it was."""


@dataclass(frozen=True, slots=True)
class Up:
    """The API is back at the same address."""


@dataclass(frozen=True, slots=True)
class Calm:
    """From here on the API answers as it should: the orders are over."""


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
    """

    operation: str
    card: int = 0
    value: Made | None = field(default=None, repr=False)
    more: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    moment: str = "before"
    settings: Mapping[str, Any] = field(default_factory=dict)
    nth: int | None = None


Step = Ask | Together | Rest | Down | Up | Calm


@dataclass(frozen=True, slots=True)
class Script:
    """A case's doing.

    Attributes:
        steps: one after the other.
        orders: in force from the beginning to the end.
        cards: how many payment instruments it needs, all of the first cardholder unless a step says otherwise.
        alone: nothing else may run meanwhile.
    """

    steps: tuple[Step, ...]
    orders: tuple[Order, ...] = ()
    cards: int = 1
    alone: bool = False


def both(**post: Any) -> tuple[Ask, Ask]:
    """The two calls of one attempt, in their order."""
    return Ask(GET), Ask(POST, **post)
