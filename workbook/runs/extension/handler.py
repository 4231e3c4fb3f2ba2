"""The two classes that the app supplies for the wallet: how to write them, and the ones to start from.

`ExtensionHandler` is the base with what a handler finds around it; `ReferenceHandler` keeps every rule and is worth
copying. `AuthorizationProvider` is the base of the authorization UI. The host makes a new one of either for every
call (X-HANDLER-1), so the next call does not find what one left in `self`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.errors import SdkError, WorkbookError
from workbook.runs.extension.service import (
    AddPaymentPassRequest,
    CardArt,
    ExtensionProvisioningService,
    ExtensionStatus,
    PassEntry,
)
from workbook.runs.extension.surroundings import ExtensionBackEnd, Library, Storage


class ExtensionHandler:
    """The base of a handler.

    Attributes:
        storage: what the main app saved (X-CACHE-1).
        back_end: the issuer's back end.
        library: the cards that are in the wallet already.
        cards: the ids of the cardholder's payment instruments, as the app knows them.
    """

    def __init__(self, storage: Storage, back_end: ExtensionBackEnd, library: Library, cards: Sequence[str]) -> None:
        self.storage = storage
        self.back_end = back_end
        self.library = library
        self.cards = tuple(cards)


BACK_END_WAIT = 9.0
"""Seconds that the app and its extension wait for one call of their back end: more than the back end's own deadline for
it (8 s), and so little that the GET and the POST of one request fit into the wallet's 20 s (REL-5; assumed)."""


class ReferenceHandler(ExtensionHandler):
    """A handler that keeps every rule; it is its own delegate."""

    def status(self) -> ExtensionStatus:
        """From the storage alone: 100 ms are too short for the network (X-STATUS-3)."""
        service = self._service([*self.storage.read_all().values()])
        if service is None:
            return ExtensionProvisioningService.entries_unavailable_extension_status()
        return service.extension_status(requires_authentication=True)

    def pass_entries(self) -> list[PassEntry]:
        """What the phone lacks, with fresh activation data (X-ENTRIES-1)."""
        service = self._service_without(self.library.on_phone)
        return service.pass_entries(with_delegate=self) if service else []

    def remote_pass_entries(self) -> list[PassEntry]:
        """What the watch lacks, with fresh activation data (X-ENTRIES-2)."""
        service = self._service_without(self.library.on_watch)
        return service.remote_pass_entries(with_delegate=self) if service else []

    def _service_without(self, there: frozenset[str]) -> ExtensionProvisioningService | None:
        """For cards not there yet, each with its own GET (API-12); None if none is saved."""
        missing = [card for card in self.cards if card not in there]
        fresh = [*self.back_end.get_all(missing, timeout=BACK_END_WAIT).values()]
        return self._service(fresh) if fresh else None

    def _service(self, sdk_inputs: Sequence[bytes]) -> ExtensionProvisioningService | None:
        """Leaves out what the SDK refuses: one bad sdkInput must not spoil the list."""
        try:
            return ExtensionProvisioningService(sdk_inputs=sdk_inputs)
        except SdkError:
            usable = [each for each in sdk_inputs if self._accepted(each)]
        return ExtensionProvisioningService(sdk_inputs=usable) if usable else None

    def _accepted(self, sdk_input: bytes) -> bool:
        try:
            return bool(ExtensionProvisioningService(sdk_input=sdk_input))
        except SdkError:
            return False

    def generate_add_payment_pass_request_for_pass_entry_with_identifier(
        self, identifier: str, **wallet: Any
    ) -> AddPaymentPassRequest | None:
        """The SDK's request, or None when it throws (X-GEN-1); a new service in a new handler.

        `wallet` is what the wallet gives: configuration, certificate_chain, nonce and
        nonce_signature.
        """
        try:
            fresh = self.back_end.get(identifier, timeout=BACK_END_WAIT)
            service = ExtensionProvisioningService(sdk_input=fresh)
            return service.generate_add_payment_pass_request_for_pass_entry_with_identifier(
                identifier, **wallet, delegate=self
            )
        except Exception:  # noqa: BLE001  # nil when it throws, whatever it throws (X-GEN-1)
            return None

    def card_art(self, which: str) -> CardArt:
        """The picture of exactly this card (X-ART-1)."""
        return CardArt(shows=which)

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | None:
        """The POST's sdkInput, or None when the back end has none (X-DEL-1)."""
        try:
            return self.back_end.post(payment_instrument_id, sdk_output, timeout=BACK_END_WAIT)
        except WorkbookError:
            return None


class AuthorizationProvider:
    """The authorization UI: it reports whether authentication succeeded (X-AUTH-1).

    Attributes:
        completion_handler: set by the wallet before the view appears; takes True or False.
            Call it once (wallet).
    """

    completion_handler: Callable[[bool], Any]

    def view_did_appear(self) -> None:
        """The view is on the screen. This one lets all in; ask for the app's own log-in."""
        self.completion_handler(True)  # noqa: FBT003  # the platform's handler takes one value
