"""The two classes that the app supplies for the wallet: how to write them, and the ones to start from.

`ExtensionHandler` is the base with what a handler finds around it: the storage, the back end and the wallet's library.
On a phone the system provides all three; here they are attributes, and each use spends time on the clock of the call
that is under way. `ReferenceHandler` keeps every rule and is worth copying. `AuthorizationProvider` is the base of the
authorization UI. The host makes a new one of either for every call (X-HANDLER-1), so the next call does not find what
one left in `self`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbook import errors
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import is_number
from workbook.flows import messages as m
from workbook.runs.back_end import BackEnd
from workbook.runs.extension.service import (
    AddPaymentPassRequest,
    CardArt,
    ExtensionProvisioningService,
    ExtensionStatus,
    PassEntry,
)
from workbook.runs.own_code import BACK_END_WAIT
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import current
from workbook.simulation.service import ORIGIN


class Storage:
    """The secure storage as an extension reads it (X-CACHE-1); empty when app and extension share no app group."""

    def __init__(self, phone: PhoneB) -> None:
        self._phone = phone

    def __repr__(self) -> str:
        return f"Storage({len(self._values())} sdkInputs)"

    def read(self, payment_instrument_id: str) -> bytes | None:
        """The sdkInput that the app saved for one instrument, or None; each call reads the storage once."""
        return self.read_all().get(payment_instrument_id)

    def read_all(self) -> dict[str, bytes]:
        """Every sdkInput that the app saved, by its instrument, in one read; empty if the app was never opened."""
        values = self._values()
        current().spend(self._phone.latencies.storage)
        current().seen(m.StorageRead(len(values), out_of_reach=len(self._phone.storage.values()) - len(values)))
        return values

    def _values(self) -> dict[str, bytes]:
        return self._phone.storage.values() if self._phone.app_group_shared else {}


class Library:
    """The cards in the wallet, on the phone and on the watch; a handler does not offer them again (wallet)."""

    def __init__(self, phone: PhoneB) -> None:
        self._phone = phone

    def __repr__(self) -> str:
        return f"Library({len(self.on_phone)} on the phone, {len(self.on_watch)} on the watch)"

    @property
    def on_phone(self) -> frozenset[str]:
        """The instruments in the phone's wallet."""
        return frozenset(self._phone.cards)

    @property
    def on_watch(self) -> frozenset[str]:
        """The instruments in the watch's wallet."""
        return frozenset(self._phone.watch.cards if self._phone.watch else ())


class ExtensionBackEnd:
    """The issuer's back end as an extension reaches it: bytes in and bytes out (API-8, API-13).

    Attributes:
        gets: seconds that each GET takes, one after the other; when they run out, the phone's own figure.

    Raises:
        ParameterError: `gets` cannot be iterated.
    """

    def __init__(self, relay: BackEnd, phone: PhoneB, gets: Iterable[float] = ()) -> None:
        if not isinstance(gets, Iterable):
            raise errors.ParameterError(f"gets is a list of seconds, one for each GET; not {type(gets).__name__}.")
        self.gets = iter(gets)
        self._relay = relay
        self._phone = phone

    def __repr__(self) -> str:
        return "ExtensionBackEnd()"

    def get(self, payment_instrument_id: str, *, timeout: float | None = None) -> bytes:
        """The GET's sdkInput for one instrument (API-12).

        Args:
            payment_instrument_id: the card.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`.
            ActivationDataError: the API gave none.
            OpaqueDataError: what it gave is no base64.
            ParameterError: the id is no text, or `timeout` no number of seconds.
        """
        current().seen(m.BackEndAsked("GET", _id(payment_instrument_id)))
        takes = _seconds("what a GET takes", next(self.gets, self._phone.latencies.get))
        return self._exchanged(payment_instrument_id, None, takes, timeout)

    def get_all(self, payment_instrument_ids: Iterable[str], *, timeout: float | None = None) -> dict[str, bytes]:
        """One GET for each instrument, all at the same time (API-12); those that fail or are late are left out.

        Args:
            payment_instrument_ids: the cards; the answers have their order. Without one, nothing is asked.
            timeout: seconds for each GET, and so for all; None waits as long as the slowest takes.

        Raises:
            ParameterError: the ids are no list of texts, or `timeout` no number of seconds.
        """
        if isinstance(payment_instrument_ids, str):
            raise errors.ParameterError("get_all takes a list of payment instrument ids; for one, call get.")
        answers: dict[str, bytes] = {}
        with current().side_by_side() as next_one:
            for instrument in payment_instrument_ids:
                next_one()
                try:
                    answers[instrument] = self.get(instrument, timeout=timeout)
                except (errors.ActivationDataError, errors.OpaqueDataError):
                    continue
        return answers

    def post(self, payment_instrument_id: str, sdk_output: bytes, *, timeout: float | None = None) -> bytes:
        """The POST's sdkInput (API-11).

        Args:
            payment_instrument_id: the card.
            sdk_output: what the SDK gave the delegate.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`; whether it arrived is not known (REL-1).
            ActivationDataError: the API gave none.
            OpaqueDataError: sdk_output is not bytes, or what the API gave is no base64.
            ParameterError: the id is no text, or the two came in the other order.
        """
        if isinstance(payment_instrument_id, bytes) and isinstance(sdk_output, str):
            current().seen(m.ArgumentsSwapped())
            raise errors.ParameterError(
                "post takes (payment_instrument_id, sdk_output), and they came in the other order. The extension's "
                "delegate is given paymentInstrumentId first, the one in the app sdkOutput first (sdk-b)."
            )
        current().seen(m.BackEndAsked("POST", _id(payment_instrument_id)))
        output = SdkOutput.from_bytes(sdk_output)
        return self._exchanged(payment_instrument_id, output, self._phone.latencies.post, timeout)

    def _exchanged(self, instrument: str, output: SdkOutput | None, takes: float, timeout: float | None) -> bytes:
        """The answer's bytes.

        Raises:
            DeadlineError: it takes longer than `timeout`. A back end that times its attempts goes on all the same,
                so what happens to it later is reported too.
        """
        call, method = current(), "GET" if output is None else "POST"
        limit = None if timeout is None else _seconds("timeout", timeout)
        if limit == 0:
            raise errors.ParameterError("timeout is a number of seconds above 0, or None; not 0.")
        if limit is not None and takes > limit and not self._relay.times_attempts:
            error = _too_late(instrument, limit, method)
            call.seen(m.ApiRequested(method, instrument))
            call.spend(limit)
            call.seen(m.ApiFailed(type(error).__name__, str(error)))
            raise error
        # The relay's own clock began at 0, so its events are moved to this call's clock. Then the call's time is set
        # back: it is spent once, below, for as long as the handler waits.
        exchange = self._relay.exchange(instrument, output)
        took, began = takes if exchange.took is None else exchange.took, call.spent
        for at, event in exchange.timeline(took):
            call.spent = round(began + at, 9)
            call.seen(event)
        call.spent = began
        if limit is not None and took > limit:
            call.spend(limit)
            call.seen(m.Noted(f"The handler gives up after {limit:g} s; the back end goes on."))
            raise _too_late(instrument, limit, method)
        call.spend(took)
        answer: Any = exchange.answer()
        return answer.data if isinstance(answer, SdkInput) else b""  # a careless back end may pass on nothing


def _id(payment_instrument_id: object) -> str:
    if not isinstance(payment_instrument_id, str):
        kind = type(payment_instrument_id).__name__
        raise errors.ParameterError(f"A payment instrument id is text, not {kind}; mind the order of the arguments.")
    return payment_instrument_id


def _seconds(name: str, value: float) -> float:
    """A number of seconds; the error does not repeat the value, which may be opaque data in the wrong place."""
    if not is_number(value, 0.0):
        raise errors.ParameterError(f"{name} is a number of seconds, 0 or more; this {type(value).__name__} is none.")
    return value


def _too_late(payment_instrument_id: str, timeout: float, method: str) -> errors.DeadlineError:
    message = (
        f"The {method} took longer than {timeout:g} s. The handler gave up; whether the back end goes on is unknown."
    )
    request = errors.RedactedRequest(method, f"{ORIGIN}/…/{payment_instrument_id}/…", 0)
    return errors.DeadlineError(message, request=request, elapsed=timeout, attempts=1, sent=True)


class ExtensionHandler:
    """The base of a handler. It has no operation and keeps no rule: what a class of it leaves out, the run shows.

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


class ReferenceHandler(ExtensionHandler):
    """A handler that keeps every rule; it is its own delegate.

    Attributes:
        Bare: its base, for a class of your own that is to show what it leaves out.
    """

    Bare = ExtensionHandler

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
        except errors.SdkError:
            usable = [each for each in sdk_inputs if self._accepted(each)]
        return ExtensionProvisioningService(sdk_inputs=usable) if usable else None

    def _accepted(self, sdk_input: bytes) -> bool:
        try:
            return bool(ExtensionProvisioningService(sdk_input=sdk_input))
        except errors.SdkError:
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
        """The picture of exactly this card; the app brings it, nothing is fetched (X-ART-1).

        `which` is the payment instrument id; in the earlier variant it is a brand.
        """
        return CardArt(shows=which)

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | None:
        """The POST's sdkInput, or None when the back end has none (X-DEL-1)."""
        try:
            return self.back_end.post(payment_instrument_id, sdk_output, timeout=BACK_END_WAIT)
        except errors.WorkbookError:
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
