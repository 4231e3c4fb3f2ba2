"""Handlers with one mistake each, for lessons and tests that show what the wallet does about it.

Every class here is the reference handler with one mistake, which its docstring names.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from workbook.base.values import lookup
from workbook.errors import ActivationDataError, WorkbookError
from workbook.play.handler import (
    AddPaymentPassRequest,
    AuthorizationProvider,
    CardArt,
    ExtensionHandler,
    ExtensionProvisioningService,
    ExtensionStatus,
    PassEntry,
    ReferenceHandler,
)


class NetworkInStatus(ReferenceHandler):
    """It fetches fresh activation data in status() (X-STATUS-3)."""

    def status(self) -> ExtensionStatus:
        """Ask the back end."""
        service = ExtensionProvisioningService(sdk_input=self.back_end.get(self.cards[0]))
        return service.extension_status(requires_authentication=True)


class FailsWithoutCache(ReferenceHandler):
    """It lets status() fail when no service can be made (X-STATUS-2)."""

    def status(self) -> ExtensionStatus:
        """Catch nothing."""
        service = ExtensionProvisioningService(sdk_inputs=list(self.storage.read_all().values()))
        return service.extension_status(requires_authentication=True)


class NeverUnavailable(ReferenceHandler):
    """It says that there are entries when no service can be made (X-STATUS-2)."""

    def status(self) -> ExtensionStatus:
        """Promise what pass_entries cannot keep."""
        super().status()
        return ExtensionStatus(requires_authentication=True)


class KeepsItsService(ReferenceHandler):
    """It makes the service in status() and looks for it in pass_entries(), which is another handler (X-HANDLER-1)."""

    service: ExtensionProvisioningService

    def status(self) -> ExtensionStatus:
        """Keep the service in `self`."""
        self.service = ExtensionProvisioningService(sdk_inputs=list(self.storage.read_all().values()))
        return self.service.extension_status(requires_authentication=True)

    def pass_entries(self) -> list[PassEntry]:
        """Use what is not there."""
        return self.service.pass_entries(with_delegate=self)


class KeepsItInItsClass(ReferenceHandler):
    """It keeps the service in its class: there until the wallet ends the extension's process (X-HANDLER-1)."""

    kept: ClassVar[Any] = None

    def status(self) -> ExtensionStatus:
        """Keep the service where every handler sees it."""
        service = ExtensionProvisioningService(sdk_inputs=list(self.storage.read_all().values()))
        type(self).kept = service
        return service.extension_status(requires_authentication=True)


class MixesUpEntries(ReferenceHandler):
    """remote_pass_entries() calls pass_entries(), as a published sample did (X-ENTRIES-2, sdk-b)."""

    def remote_pass_entries(self) -> list[PassEntry]:
        """Return the phone's."""
        return self.pass_entries()


class MixesUpPhone(ReferenceHandler):
    """pass_entries() calls remote_pass_entries() (X-ENTRIES-1)."""

    def pass_entries(self) -> list[PassEntry]:
        """Return the watch's."""
        return self.remote_pass_entries()


class OwnEntries(ReferenceHandler):
    """It makes pass entries itself instead of returning the SDK's (X-ENTRIES-1)."""

    def pass_entries(self) -> list[PassEntry]:
        """Make them without the SDK."""
        return [PassEntry(card, "My card", CardArt(card), card) for card in self.cards]


class OffersWhatIsThere(ReferenceHandler):
    """It offers every card, those in the wallet too (X-ENTRIES-1, wallet)."""

    def pass_entries(self) -> list[PassEntry]:
        """Forget the library."""
        fresh = self.back_end.get_all(self.cards)
        return ExtensionProvisioningService(sdk_inputs=list(fresh.values())).pass_entries(with_delegate=self)


class ChangingIdentifiers(ReferenceHandler):
    """It numbers its entries, so adding a card changes the identifiers of those after it (X-GEN-1, wallet)."""

    def pass_entries(self) -> list[PassEntry]:
        """Number them through."""
        numbered = enumerate(super().pass_entries(), start=1)
        return [replace(entry, identifier=f"card-{number}") for number, entry in numbered]


class SameIdentifiers(ReferenceHandler):
    """It gives all its entries one identifier (X-GEN-1, wallet)."""

    def pass_entries(self) -> list[PassEntry]:
        """Call each of them the same."""
        return [replace(entry, identifier="card") for entry in super().pass_entries()]


class OneGetForAll(ReferenceHandler):
    """It makes one GET and uses its sdkInput for every card (API-12)."""

    def pass_entries(self) -> list[PassEntry]:
        """Fetch once."""
        sdk_input = self.back_end.get(self.cards[0])
        return ExtensionProvisioningService(sdk_inputs=[sdk_input] * len(self.cards)).pass_entries(self)


class OneAfterTheOther(ReferenceHandler):
    """It makes its GETs one after the other and waits for each as long as it takes (X-ENTRIES-3)."""

    def pass_entries(self) -> list[PassEntry]:
        """Add the waits up."""
        fresh = [self.back_end.get(card) for card in self.cards]
        return ExtensionProvisioningService(sdk_inputs=fresh).pass_entries(with_delegate=self)


class ReturnsNoList(ReferenceHandler):
    """pass_entries() returns None where a list belongs (X-ENTRIES-1)."""

    def pass_entries(self) -> Any:
        """Return nothing."""
        return


class WrongCardArt(ReferenceHandler):
    """It shows one picture for every card (X-ART-1)."""

    def card_art(self, which: str) -> CardArt:
        """Show another card."""
        return CardArt(shows=f"not {which}", personal=True)


class NoCardArt(ReferenceHandler):
    """It has no picture to show (X-ART-1)."""

    def card_art(self, which: str) -> Any:
        """Return nothing."""


class ReturnsNil(ReferenceHandler):
    """Its delegate returns nil (X-DEL-1)."""

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | None:
        """Give up."""


class ReturnsText(ReferenceHandler):
    """Its delegate returns base64 text where bytes belong (API-8, X-DEL-1)."""

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> Any:  # noqa: ARG002  # that is the mistake
        """Decode one time too few."""
        return "eyJzaW11bGF0ZWQiOiJub3QgYnl0ZXMifQ=="


class CrossesCards(ReferenceHandler):
    """Its delegate posts for another card than the SDK named, where there is one (X-DEL-1)."""

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | None:
        """Post for the wrong card."""
        others = [card for card in self.cards if card != payment_instrument_id]
        return super().provision(next(iter(others), payment_instrument_id), sdk_output)


class WaitsForThePost(ReferenceHandler):
    """Its delegate waits for the POST as long as it takes, and the wallet does not (X-GEN-1, wallet)."""

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | None:
        """Give no limit of its own."""
        try:
            return self.back_end.post(payment_instrument_id, sdk_output)
        except ActivationDataError:
            return None


class LetsItThrow(ReferenceHandler):
    """It passes on what the SDK throws instead of returning nil (X-GEN-1)."""

    def generate_add_payment_pass_request_for_pass_entry_with_identifier(
        self, identifier: str, **wallet: Any
    ) -> AddPaymentPassRequest | None:
        """Catch nothing, with a service that knows no card of this name."""
        service = ExtensionProvisioningService(sdk_input=self.back_end.get(self.cards[-1]))
        return service.generate_add_payment_pass_request_for_pass_entry_with_identifier(
            identifier, **wallet, delegate=self
        )


class OwnRequest(ReferenceHandler):
    """It makes the request by itself, without the SDK and its delegate (X-FLOW-1)."""

    def generate_add_payment_pass_request_for_pass_entry_with_identifier(
        self, identifier: str, **wallet: Any
    ) -> AddPaymentPassRequest | None:
        """Put together what only the SDK can."""
        return AddPaymentPassRequest(identifier, b"made up", 1, wallet["nonce"])


class ChangesWhatTheWalletGave(ReferenceHandler):
    """The base of handlers that hand on something else than the wallet gave (X-GEN-1).

    Attributes:
        changed: what becomes of an argument, by its name.
    """

    changed: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def generate_add_payment_pass_request_for_pass_entry_with_identifier(
        self, identifier: str, **wallet: Any
    ) -> AddPaymentPassRequest | None:
        """Change what the SDK needs unchanged."""
        mine = wallet | {name: change(wallet[name]) for name, change in self.changed.items()}
        return super().generate_add_payment_pass_request_for_pass_entry_with_identifier(identifier, **mine)


class OtherNonce(ChangesWhatTheWalletGave):
    """It hands on another nonce than the wallet's (X-GEN-1)."""

    changed: ClassVar = {"nonce": lambda _nonce: b"another"}


class TextNonce(ChangesWhatTheWalletGave):
    """It turns the wallet's nonce into hexadecimal text (X-GEN-1; symptoms, row 35)."""

    changed: ClassVar = {"nonce": bytes.hex}


class OtherSignature(ChangesWhatTheWalletGave):
    """It hands on another signature than the wallet's (X-GEN-1)."""

    changed: ClassVar = {"nonce_signature": lambda _signature: b"another"}


class AppsOrder(ReferenceHandler):
    """Its delegate takes the arguments in the order of the app's delegate (X-DEL-1)."""

    def provision(self, sdk_output: Any, payment_instrument_id: Any) -> bytes | None:  # type: ignore[override]  # the mistake
        """Take them in the other order."""
        try:
            return self.back_end.post(payment_instrument_id, sdk_output)
        except WorkbookError:
            return None


# Each handler by its mistake; the first has none.
HANDLERS: Mapping[str, type[ExtensionHandler]] = {
    "reference": ReferenceHandler,
    "network call in status()": NetworkInStatus,
    "status() fails without a cache": FailsWithoutCache,
    "never says unavailable": NeverUnavailable,
    "keeps its service in self": KeepsItsService,
    "keeps its service in its class": KeepsItInItsClass,
    "remote_pass_entries() calls pass_entries()": MixesUpEntries,
    "pass_entries() calls remote_pass_entries()": MixesUpPhone,
    "entries of its own": OwnEntries,
    "offers cards that are there": OffersWhatIsThere,
    "changing identifiers": ChangingIdentifiers,
    "one identifier for all": SameIdentifiers,
    "one GET for all cards": OneGetForAll,
    "GETs one after the other": OneAfterTheOther,
    "pass_entries() returns no list": ReturnsNoList,
    "another card's art": WrongCardArt,
    "no card art": NoCardArt,
    "delegate returns nil": ReturnsNil,
    "delegate returns text": ReturnsText,
    "delegate posts for another card": CrossesCards,
    "POST without a limit": WaitsForThePost,
    "lets the SDK throw": LetsItThrow,
    "request of its own": OwnRequest,
    "another nonce": OtherNonce,
    "nonce as text": TextNonce,
    "another signature": OtherSignature,
    "delegate in the app's order": AppsOrder,
}

# The phone or surface on which a mistake shows, where that is not the phone on which the app was opened.
SHOWS_ON: Mapping[str, Mapping[str, str]] = {
    "status() fails without a cache": {"phone": "app was never opened"},
    "never says unavailable": {"phone": "app was never opened"},
    "remote_pass_entries() calls pass_entries()": {"phone": "with a watch", "surface": "watch"},
    "offers cards that are there": {"phone": "first card is there already"},
    "GETs one after the other": {"phone": "slow network"},
    "POST without a limit": {"phone": "back end takes 25 s"},
}


class Refuses(AuthorizationProvider):
    """It refuses every cardholder (X-AUTH-1)."""

    def view_did_appear(self) -> None:
        """Say no."""
        self.completion_handler(False)  # noqa: FBT003  # the platform's handler takes one value


class NeverReports(AuthorizationProvider):
    """It never calls the completion handler (X-AUTH-1)."""

    def view_did_appear(self) -> None:
        """Say nothing."""


class ReportsTwice(AuthorizationProvider):
    """It calls the completion handler a second time (X-AUTH-1; symptoms, row 33)."""

    def view_did_appear(self) -> None:
        """Say yes, and again."""
        super().view_did_appear()
        super().view_did_appear()


# Each authorization UI by what it does.
AUTHORIZATIONS: Mapping[str, type[AuthorizationProvider] | None] = {
    "lets the cardholder in": AuthorizationProvider,
    "refuses": Refuses,
    "never reports": NeverReports,
    "reports twice": ReportsTwice,
    "none": None,
}


def handler_named(handler: object) -> type[ExtensionHandler]:
    """A handler by its name, or the integrator's own class.

    Raises:
        ParameterError: no handler has this name.
    """
    if handler is None or isinstance(handler, str):
        return lookup("handler", handler, HANDLERS)
    return handler  # type: ignore[return-value]  # the wallet app says what else is wrong with it
