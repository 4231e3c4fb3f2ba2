"""Platform B's SDK in the extension: `ExtensionProvisioningService`, shaped as the document has it, in snake case.

It works on bytes (API-8), throws an `SdkError` where the document lets it fail, and keeps nothing between calls: a
new handler makes a new service each time (X-HANDLER-1). Used in a cell of its own, it stands on a new phone. Where the
compiler of a phone's own language would refuse an argument, a `ParameterError` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from workbook.benches.callback import completed
from workbook.errors import ParameterError, SdkError
from workbook.extension.card_art import CardArt, problems_with
from workbook.flows import messages as m
from workbook.simulation.call import CURRENT, current
from workbook.simulation.sdk_b import next_output, opened, wrong_with
from workbook.simulation.seal import Content, Damaged, Genuine, Seal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from workbook.simulation.call import Call

__all__ = ["AddPaymentPassRequest", "ExtensionProvisioningService", "ExtensionStatus", "PassEntry"]


@dataclass(frozen=True, slots=True)
class ExtensionStatus:
    """What status() returns. The document shows `requires_authentication`; the other two are known (wallet).

    Attributes:
        requires_authentication: the authorization UI extension supplies authentication (X-STATUS-1).
        pass_entries_available: there are cards for the phone.
        remote_pass_entries_available: there are cards for the watch.

    Raises:
        ParameterError: one of them is neither True nor False.
    """

    requires_authentication: bool = False
    pass_entries_available: bool = True
    remote_pass_entries_available: bool = True

    def __post_init__(self) -> None:
        for field in fields(self):
            _belongs(field.name, getattr(self, field.name), bool, "True or False")


@dataclass(frozen=True, slots=True, repr=False)
class PassEntry:
    """One card that the wallet may offer (its fields are the platform's; these are enough here).

    Attributes:
        identifier: what the wallet calls the entry by; unique and the same each time (wallet).
        title: what the wallet writes below the picture.
        card_art: the picture (X-ART-1).
        payment_instrument_id: the card it is for.

    Raises:
        ParameterError: an id is no text.
    """

    identifier: str
    title: str
    card_art: CardArt | None
    payment_instrument_id: str

    def __post_init__(self) -> None:
        _belongs("identifier", self.identifier, str, "text")
        _belongs("payment_instrument_id", self.payment_instrument_id, str, "text")

    def __repr__(self) -> str:
        return f"PassEntry({self.identifier!r}, {self.title!r})"

    def summary(self) -> str:
        """The entry as a trace shows it."""
        return self.identifier


@dataclass(frozen=True, slots=True, repr=False)
class AddPaymentPassRequest:
    """What the wallet adds a card with; made by the SDK (X-GEN-1).

    Attributes:
        payment_instrument_id: the card it is for.
        sdk_input: the bytes that the delegate returned; never printed.
        attempt: the sdkOutput that they answer.
        nonce: the wallet's, for this request and no other.

    Raises:
        ParameterError: the id is no text.
    """

    payment_instrument_id: str
    sdk_input: bytes
    attempt: int
    nonce: bytes

    def __post_init__(self) -> None:
        _belongs("payment_instrument_id", self.payment_instrument_id, str, "text")

    def __repr__(self) -> str:
        return f"AddPaymentPassRequest({self.summary()})"

    def summary(self) -> str:
        """The request as a trace shows it."""
        return f"for {self.payment_instrument_id}"


class ExtensionDelegate(Protocol):
    """What the SDK asks of the app's code; `card_art` takes one value, which depends on the variant (X-ART-1)."""

    def card_art(self, which: str, /) -> CardArt:
        """The picture of this card, by brand in the earlier variant, by payment instrument id in the later one."""
        ...

    def provision(self, payment_instrument_id: str, sdk_output: bytes) -> bytes | Awaitable[bytes | None] | None:
        """The sdkInput of the back end's POST, or None (X-DEL-1)."""
        ...


class ExtensionProvisioningService:
    """The SDK's service for one or several payment instruments (X-INIT-1).

    Args:
        sdk_input: one sdkInput, as bytes.
        sdk_inputs: several of them; give the one or the other.

    Raises:
        SdkError: `emptySDKInputs`, `invalidSDKInput` or `walletNotSupported` (sdk-b).
        ParameterError: both were given, or `sdk_inputs` is no list.
    """

    def __init__(self, sdk_input: bytes | None = None, *, sdk_inputs: Iterable[bytes] | None = None) -> None:
        self._made_in = current()
        self._seal = Seal(self._call.phone.seed)
        self._call.spend(self._call.phone.waits.service)
        self._cards = self._opened(_together(sdk_input, sdk_inputs))
        self._call.seen(m.ServiceMade(tuple(card.payment_instrument_id for card in self._cards)))

    def __repr__(self) -> str:
        return f"ExtensionProvisioningService({len(self._cards)} payment instruments)"

    @property
    def _call(self) -> Call:
        """The call under way: a service that a handler kept from an earlier one works, and takes time, in this."""
        return CURRENT.get() or self._made_in

    def extension_status(self, *, requires_authentication: bool) -> ExtensionStatus:
        """The status for status(): there are entries, and who authenticates (X-STATUS-1)."""
        return ExtensionStatus(requires_authentication)

    @staticmethod
    def entries_unavailable_extension_status() -> ExtensionStatus:
        """The status for status() when no service could be initialised (X-STATUS-2)."""
        return ExtensionStatus(pass_entries_available=False, remote_pass_entries_available=False)

    def pass_entries(self, with_delegate: ExtensionDelegate) -> list[PassEntry]:
        """The entries for the phone; the delegate gives the card art (X-ENTRIES-1).

        Raises:
            SdkError: the delegate has no `card_art`.
        """
        self._call.seen(m.SdkPassEntriesCalled())
        return [self._entry(card, with_delegate) for card in self._cards]

    def remote_pass_entries(self, with_delegate: ExtensionDelegate) -> list[PassEntry]:
        """The entries for the watch; none when no watch is paired (X-ENTRIES-2; the latter is assumed).

        Raises:
            SdkError: the delegate has no `card_art`.
        """
        self._call.seen(m.SdkRemotePassEntriesCalled())
        cards = self._cards if self._call.phone.watch is not None else []
        return [self._entry(card, with_delegate) for card in cards]

    def generate_add_payment_pass_request_for_pass_entry_with_identifier(
        self,
        identifier: str,
        *,
        configuration: object,  # noqa: ARG002  # the platform's; nothing here depends on it
        certificate_chain: Sequence[bytes],
        nonce: bytes,
        nonce_signature: bytes,
        delegate: ExtensionDelegate,
    ) -> AddPaymentPassRequest:
        """Have the delegate provision, and make the request of what it returns (X-GEN-1).

        `configuration`, `certificate_chain`, `nonce` and `nonce_signature` are the wallet's, and are handed on as
        they came.

        Raises:
            SdkError: no card has this identifier, what the wallet gave was changed on the way, the delegate has no
                `provision`, or it returned nil or something that cannot be used.
        """
        self._call.seen(m.SdkGenerateCalled(identifier))
        if not (_several_bytes(certificate_chain) and _bytes(nonce, nonce_signature)):
            raise self._threw("unableToConstructSDKOutput", "certificates, nonce and signature must be bytes")
        if identifier not in [card.payment_instrument_id for card in self._cards]:
            raise self._threw("invalidSDKInput", "no sdkInput of this service has this identifier")
        self._has(delegate, "provision")
        return self._provisioned(identifier, delegate, nonce)

    def _provisioned(self, identifier: str, delegate: ExtensionDelegate, nonce: bytes) -> AddPaymentPassRequest:
        output = next_output(self._call.phone, self._seal, identifier)
        attempt = self._call.phone.outputs
        self._call.seen(m.ExtensionProvisionCalled(identifier, output))
        returned = completed(delegate.provision, identifier, output.data)
        self._call.seen(m.DelegateReturned(returned))
        if why := wrong_with(self._seal, returned, identifier, attempt):
            raise self._threw("unableToConstructSDKOutput" if returned is None else "invalidSDKInput", why)
        return AddPaymentPassRequest(identifier, returned, attempt, nonce)

    def _entry(self, card: Genuine, delegate: ExtensionDelegate) -> PassEntry:
        identifier = card.payment_instrument_id
        return PassEntry(identifier, f"•••• {card.claims.get('lastFour', '')}", self._art(card, delegate), identifier)

    def _art(self, card: Genuine, delegate: ExtensionDelegate) -> CardArt | None:
        self._has(delegate, "card_art")
        which = card.payment_instrument_id if self._call.later else str(card.claims.get("brand", ""))
        asked = m.CardArtForIdAsked(which) if self._call.later else m.CardArtForBrandAsked(which)
        self._call.seen(asked)
        self._call.spend(self._call.phone.waits.card_art)
        art = completed(delegate.card_art, which)
        self._call.seen(m.CardArtReturned(problems_with(art, which)))
        return art if isinstance(art, CardArt) else None

    def _has(self, delegate: object, operation: str) -> None:
        if not callable(getattr(delegate, operation, None)):
            raise self._threw("delegateNotSet", f"the delegate has no {operation}")

    def _opened(self, sdk_inputs: Sequence[object]) -> list[Genuine]:
        if not sdk_inputs:
            raise self._refused("emptySDKInputs", "there is no sdkInput at all")
        return [self._card(each) for each in sdk_inputs]

    def _card(self, sdk_input: object) -> Genuine:
        match opened(self._seal, sdk_input):
            case Damaged(why, advice):
                raise self._refused("invalidSDKInput", f"{why}. {advice}".strip(" ."))
            case Genuine() as data if data.content != Content.ACTIVATION:
                raise self._refused("invalidSDKInput", f"it is data of kind '{data.content}', not the GET's sdkInput")
            case Genuine() as data if self._call.phone.wallet not in data.claims.get("supportedWallets", ()):
                raise self._refused("walletNotSupported", "the card's supportedWallets lack this wallet")
            case Genuine() as data:
                return data

    def _refused(self, case: str, why: str) -> SdkError:
        self._call.seen(m.ServiceNotMade(case, why))
        return SdkError(case, why)

    def _threw(self, case: str, why: str) -> SdkError:
        self._call.seen(m.SdkThrew(case, why))
        return SdkError(case, why)


def _bytes(*values: object) -> bool:
    return all(isinstance(value, bytes) and value for value in values)


def _several_bytes(values: object) -> bool:
    return isinstance(values, list | tuple) and bool(values) and _bytes(*values)


def _together(sdk_input: object, sdk_inputs: object) -> Sequence[Any]:
    """The one or the several, as a list; None and nothing at all are both empty."""
    if sdk_inputs is None:
        return () if sdk_input is None else (sdk_input,)
    if sdk_input is not None:
        raise ParameterError("Give sdk_input for one card or sdk_inputs for several, not both (X-INIT-1).")
    if isinstance(sdk_inputs, NO_LIST) or not isinstance(sdk_inputs, Iterable):
        kind = type(sdk_inputs).__name__
        raise ParameterError(f"sdk_inputs is a list of bytes, not {kind}; one card's bytes are given as sdk_input.")
    return tuple(sdk_inputs)


NO_LIST = (str, bytes, bytearray, memoryview, Mapping)
"""What can be iterated, and is no list of sdkInputs; a mapping would give its ids."""


def _belongs(name: str, value: object, kind: type, words: str) -> None:
    if not isinstance(value, kind):
        raise ParameterError(f"{name} is {words}, not {type(value).__name__}.")
