"""The issuer's app on platform B, as the document describes its part: what its own code calls, and when.

A table again: where the app stands, and the call that it then makes. The rest are the choices in which apps go
wrong: whether the base64 is decoded, whether one WatchAvailability is kept, what the delegate does.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.platform_b import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

    from workbook.api.opaque import SdkInput
    from workbook.flows.messages import Event
    from workbook.flows.variants_b import VariantB

    Calls = Mapping[StrEnum, type[Event]]

EARLIER_CALLS: Calls = MappingProxyType({
    State.FETCHED: m.ServiceCalled,
    State.CREATED: m.CanAddCardCalled,
    State.TAPPED: m.StartCalled,
    State.ADDED: m.CanAddCardCalled,
})  # fmt: skip
"""One question (B-CAN-1)."""

LATER_CALLS: Calls = MappingProxyType({
    State.FETCHED: m.ServiceCalled,
    State.CREATED: m.WatchActivateCalled,
    State.WATCH_KNOWN: m.CanAddCardDetailsCalled,
    State.TAPPED: m.StartCalled,
    State.ADDED: m.CanAddCardDetailsCalled,
})  # fmt: skip
"""The watch first, then both places (B-WATCH-1, B-CAN-2)."""

NO_WATCH_CALLS: Calls = MappingProxyType(
    {state: call for state, call in LATER_CALLS.items() if call is not m.WatchActivateCalled}
    | {State.CREATED: m.CanAddCardDetailsCalled}
)
"""A mistaken app of the later variant: it never activates WatchAvailability, and so never knows of a watch."""


@dataclass(frozen=True, slots=True)
class AppB:
    """The issuer's app on platform B.

    Attributes:
        calls: where the app stands, and the call it then makes; None makes the calls of the variant that is played.
        delegate: the integrator's own delegate with `provision(...)` and, if it likes, `did_finish_provisioning(pass_,
            error)`; plain or coroutine functions. None relays through the back end (B-DEL-3). Time is virtual: a
            delegate that really waits costs whoever runs it the wait, and is in time all the same.
        decodes: the app hands over the bytes; False hands over the base64 text, the classic mistake (API-8).
        keeps_watch_availability: the app makes one WatchAvailability; False makes one for each page (B-WATCH-2).
    """

    calls: Calls | None = None
    delegate: Any = None
    decodes: bool = True
    keeps_watch_availability: bool = True

    def calls_in(self, variant: VariantB) -> Calls:
        """Where this app stands in this variant, and the call it then makes."""
        own = LATER_CALLS if variant.later else EARLIER_CALLS
        return own if self.calls is None else self.calls

    def handed_over(self, sdk_input: SdkInput) -> bytes | str:
        """What the app makes of an sdkInput from its back end."""
        return sdk_input.data if self.decodes else sdk_input.text


def check_delegate(delegate: object, variant: VariantB) -> None:
    """Make sure that this variant's SDK can call the delegate; a compiler would (B-DEL-1, B-DEL-2, B-FIN-1).

    Raises:
        ParameterError: it lacks `provision`, or a method of it cannot be called as the SDK will.
    """
    given = ("sdk_output", "payment_instrument_id") if variant.later else ("sdk_output",)
    if isinstance(delegate, type) or not callable(getattr(delegate, "provision", None)):
        raise ParameterError(f"A delegate is an object with a method provision({', '.join(given)}).")
    _check_method(delegate, "provision", given)
    if hasattr(delegate, "did_finish_provisioning"):
        _check_method(delegate, "did_finish_provisioning", ("pass_", "error"))


def _check_method(delegate: object, name: str, given: tuple[str, ...]) -> None:
    try:
        inspect.signature(getattr(delegate, name)).bind(*given)
    except TypeError as error:
        needed = f"{name}({', '.join(given)}), given by position"
        raise ParameterError(f"The delegate needs {needed}. It cannot be called so: {error}.") from None
    except ValueError:  # a function in C may not tell its parameters; then the call will
        return
