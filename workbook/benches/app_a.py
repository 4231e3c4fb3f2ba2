"""The issuer's app, as the document describes its part: what its own code calls, and when.

A table again. Whenever a flow hands over to the app, the app looks up where it stands and makes the
call that stands there. Leave a call out of the table, or put another in, and you have a mistaken app.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.flows import messages as m
from workbook.flows.platform_a import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from enum import StrEnum

    from workbook.flows.messages import Event
    from workbook.flows.variants import Variant

    Calls = Mapping[StrEnum, type[Event]]

UNTIL_TAP: dict[StrEnum, type[Event]] = {
    State.FETCHED: m.CreateCalled,
    State.CREATED: m.CanProvisionCalled,
    State.ADDED: m.CanProvisionCalled,
}

PROVIDER_CALLS: Calls = MappingProxyType(UNTIL_TAP | {State.TAPPED: m.ProvisionWithProviderCalled})
"""From 0.4.0: one call on tap (A-PROV-2)."""

TWO_STEP_CALLS: Calls = MappingProxyType(
    UNTIL_TAP | {State.TAPPED: m.CreateSdkOutputCalled, State.OPC_READY: m.ProvisionCalled}
)
"""Before 0.4.0: createSdkOutput on tap, provision once the POST has answered (A-PROV-1)."""


@dataclass(frozen=True, slots=True)
class CardAddress:
    """The cardholder's address. The document shows no fields; these seven are public (sdk-a).

    With no arguments it is empty (A-PROV-5), and the wallet asks the cardholder. Its repr names which
    fields are filled and never their values.
    """

    address_line_1: str = ""
    address_line_2: str = ""
    locality: str = ""
    administrative_area: str = ""
    country_code: str = ""
    postal_code: str = ""
    phone_number: str = ""

    def __repr__(self) -> str:
        return f"CardAddress({self.summary()})"

    def summary(self) -> str:
        """Which fields are filled, for a trace."""
        filled = [name for name in self.__slots__ if getattr(self, name)]
        return ", ".join(filled) or "empty"


@dataclass(frozen=True, slots=True)
class App:
    """The issuer's app.

    Attributes:
        calls: where the app stands, and the call it then makes; by default those from 0.4.0.
        card_display_name: what the wallet shows under the card.
        fetch_opc: the integrator's own OpcProvider.fetchOpc, plain or a coroutine function (A-OPC-1);
            None asks the back end.
    """

    calls: Calls = field(default_factory=lambda: PROVIDER_CALLS)
    card_display_name: str = "Example card"
    card_address: CardAddress = field(default_factory=CardAddress)
    fetch_opc: Callable[[str, str], Any] | None = None

    @classmethod
    def of(cls, variant: Variant, **settings: Any) -> App:
        """The app that makes this variant's calls."""
        return cls(TWO_STEP_CALLS if variant.two_step else PROVIDER_CALLS, **settings)

    def next_call(self, state: StrEnum, event: Event) -> Event | None:
        """The call that the app makes in `state`, or None when it has nothing to do."""
        call = self.calls.get(state)
        return None if call is None else call(**self._arguments(call, event))

    def _arguments(self, call: type[Event], event: Event) -> dict[str, Any]:
        """Each field of the call, from the event just handed over or from the app's own settings."""
        names: tuple[str, ...] = call.__match_args__
        return {name: getattr(event, name, getattr(self, name, None)) for name in names}
