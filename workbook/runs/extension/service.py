"""Platform B's SDK in the extension: `ExtensionProvisioningService`, shaped as the document has it, in snake case.

The service works on bytes (API-8), throws an `SdkError` where the document lets it fail, and keeps nothing between
calls: a new handler makes a new service each time (X-HANDLER-1). Used in a cell of its own, it runs on a new phone. A
`ParameterError` refuses an argument that a phone's compiler would refuse.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, Protocol

from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.runs.own_code import check_callable, watched
from workbook.simulation.ecc_v2 import WalletRequest
from workbook.simulation.sdks import CURRENT, OUR_CASE, Call, activation_data, current, next_output, wrong_with
from workbook.simulation.seal import Genuine, Seal

# Card art: the picture that the wallet shows of a card before it is added (X-ART-1).
#
# That it must show the card accurately is the document's word. The rest of what makes it right is public knowledge of
# the wallet platform (wallet): its size, its corners, and what must not be on it.

WIDTH, HEIGHT = 1536, 969
"""In pixels (wallet)."""


@dataclass(frozen=True, slots=True)
class CardArt:
    """What there is to say about a picture; the picture itself is not needed here.

    Attributes:
        shows: the brand or the payment instrument id whose card is on it.
        width: in pixels.
        height: in pixels.
        size: of the file, in bytes.
        square_corners: the wallet rounds them itself.
        personal: a name or a number is on it.

    Raises:
        ParameterError: a size is no whole number.
    """

    shows: str
    width: int = WIDTH
    height: int = HEIGHT
    size: int = 180_000
    square_corners: bool = True
    personal: bool = False

    def __post_init__(self) -> None:
        for name in ("width", "height", "size"):
            if type(getattr(self, name)) is not int:
                kind = type(getattr(self, name)).__name__
                raise ParameterError(f"A card art's {name} is a whole number of pixels or bytes, not {kind}.")


def problems_with(art: object, asked: str) -> str:
    """What is wrong with the art that was returned for `asked`; empty when nothing is."""
    if not isinstance(art, CardArt):
        return f"it is {'nil' if art is None else type(art).__name__}, not an image"
    most = 4 * 1024 * 1024  # the picture's file is smaller (wallet)
    problems = {
        "it shows another card": art.shows != asked,
        f"it is {art.width} x {art.height} pixels, not {WIDTH} x {HEIGHT} (wallet)": (
            (art.width, art.height) != (WIDTH, HEIGHT)
        ),
        f"its file has {art.size} bytes; fewer than {most} are allowed (wallet)": art.size >= most,
        "its corners are rounded (wallet)": not art.square_corners,
        "a name or a number is on it (wallet)": art.personal,
    }
    return "; ".join(problem for problem, found in problems.items() if found)


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
            _check_type(field.name, getattr(self, field.name), bool, "True or False")


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
        _check_type("identifier", self.identifier, str, "text")
        _check_type("payment_instrument_id", self.payment_instrument_id, str, "text")

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
        attempt: the number of the sdkOutput that they answer.
        nonce: the wallet's, made for this request alone; it and the next three are as the handler handed them on.
        nonce_signature: of the wallet.
        certificate_chain: of the wallet, the leaf first.
        configuration: the platform's.

    Raises:
        ParameterError: the id is no text.
    """

    payment_instrument_id: str
    sdk_input: bytes
    attempt: int
    nonce: bytes
    nonce_signature: bytes = b""
    certificate_chain: tuple[bytes, ...] = ()
    configuration: object = None

    def __post_init__(self) -> None:
        _check_type("payment_instrument_id", self.payment_instrument_id, str, "text")

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
        sdk_inputs: several of them; give the one or the other. An empty list raises: ask whether there is one first.

    Raises:
        SdkError: `emptySDKInputs`, `invalidSDKInput` or `walletNotSupported` (sdk-b).
        ParameterError: both were given, or `sdk_inputs` is no list.
    """

    def __init__(self, sdk_input: bytes | None = None, *, sdk_inputs: Iterable[bytes] | None = None) -> None:
        self._made_in = current()
        self._seal = Seal(self._call.phone.seed)
        self._call.spend(self._call.phone.latencies.service)
        given = _several(sdk_input, sdk_inputs)
        try:
            self._cards = self._activated(given)
        except SdkError as error:
            self._call.seen(m.ServiceNotMade(error.case, error.why))
            raise
        self._call.seen(m.ServiceMade(tuple(card.payment_instrument_id for card in self._cards)))

    def __repr__(self) -> str:
        return f"ExtensionProvisioningService({len(self._cards)} payment instruments)"

    @property
    def _call(self) -> Call:
        """The call under way; a service that a handler kept from an earlier call works, and takes time, in this one."""
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
        configuration: object,
        certificate_chain: Sequence[bytes],
        nonce: bytes,
        nonce_signature: bytes,
        delegate: ExtensionDelegate,
    ) -> AddPaymentPassRequest:
        """Have the delegate provision, and make the request from what it returns (X-GEN-1).

        The document says that the request is optional. This one is never None: it throws instead (sdk-b).

        `configuration`, `certificate_chain`, `nonce` and `nonce_signature` are the wallet's, and are handed on as
        they came; the wallet refuses a request that was made with others.

        Raises:
            SdkError: no card has this identifier, certificates, nonce or signature are no bytes, the delegate has no
                `provision` of two arguments, or it returned nil or something that cannot be used.
        """
        self._call.seen(m.SdkGenerateCalled(identifier))
        chain = certificate_chain if isinstance(certificate_chain, list | tuple) and certificate_chain else [None]
        if not all(isinstance(value, bytes) and value for value in (*chain, nonce, nonce_signature)):
            raise self._threw("unableToConstructSDKOutput", "certificates, nonce and signature must be bytes")
        if identifier not in [card.payment_instrument_id for card in self._cards]:
            raise self._threw("invalidSDKInput", "no sdkInput of this service has this identifier")
        self._check_delegate(delegate, "provision", ("payment_instrument_id", "sdk_output"))
        given = WalletRequest(certificate_chain, nonce, nonce_signature)
        output = next_output(self._call.phone, self._seal, identifier, given)
        attempt = self._call.phone.outputs
        self._call.seen(m.ExtensionProvisionCalled(identifier, output))
        try:
            returned = self._own("provision", delegate.provision, identifier, output.data)
        except Exception as error:
            self._call.seen(
                m.SdkThrew(
                    "unableToConstructSDKOutput", f"the delegate's provision raised {type(error).__name__}; {OUR_CASE}"
                )
            )
            raise
        self._call.seen(m.DelegateReturned(returned))
        if why := wrong_with(self._seal, returned, identifier, attempt):
            if returned is None:
                raise self._threw("unableToConstructSDKOutput", f"{why}; {OUR_CASE}")
            raise self._threw("invalidSDKInput", why)
        wallet = nonce, nonce_signature, tuple(certificate_chain), configuration
        return AddPaymentPassRequest(identifier, returned, attempt, *wallet)

    def _entry(self, card: Genuine, delegate: ExtensionDelegate) -> PassEntry:
        """The card's entry, with the art that the delegate gives for it."""
        self._check_delegate(delegate, "card_art", ("which",))
        identifier, later = card.payment_instrument_id, self._call.later
        which = identifier if later else str(card.claims.get("brand", ""))
        self._call.seen(m.CardArtForIdAsked(which) if later else m.CardArtForBrandAsked(which))
        self._call.spend(self._call.phone.latencies.card_art)
        art = self._own("cardArt", delegate.card_art, which)
        self._call.seen(m.CardArtReturned(problems_with(art, which)))
        title = f"•••• {card.claims.get('lastFour', '')}"
        return PassEntry(identifier, title, art if isinstance(art, CardArt) else None, identifier)

    def _own(self, name: str, function: Callable[..., Any], *given: object) -> Any:
        """What the delegate's function returns."""
        return watched(name, self._call.seen, function, *given, spend=self._call.spend)

    def _check_delegate(self, delegate: object, operation: str, arguments: tuple[str, ...]) -> None:
        """Make sure that the operation can be called; report arguments in the order of the app's delegate."""
        method: Any = getattr(delegate, operation, None)
        try:
            check_callable(method, "the delegate", operation, arguments)
        except ParameterError as error:
            raise self._threw("delegateNotSet", str(error).rstrip(".")) from None
        with suppress(ValueError):  # a function in C may not have a signature
            if [*signature(method).parameters][:2] == ["sdk_output", "payment_instrument_id"]:
                self._call.seen(m.ArgumentsSwapped())

    def _activated(self, given: Sequence[Any]) -> list[Genuine]:
        if not given:
            raise SdkError("emptySDKInputs", "there is no sdkInput at all")
        return [activation_data(self._seal, each, self._call.phone.wallet) for each in given]

    def _threw(self, case: str, why: str) -> SdkError:
        self._call.seen(m.SdkThrew(case, why))
        return SdkError(case, why)


def _several(sdk_input: object, sdk_inputs: object) -> Sequence[Any]:
    """One sdkInput or several, as a sequence; None is an empty one."""
    if sdk_inputs is None:
        return () if sdk_input is None else (sdk_input,)
    if sdk_input is not None:
        raise ParameterError("Give sdk_input for one card or sdk_inputs for several, not both (X-INIT-1).")
    if isinstance(sdk_inputs, str | bytes | bytearray | memoryview | Mapping) or not isinstance(sdk_inputs, Iterable):
        kind = type(sdk_inputs).__name__
        raise ParameterError(f"sdk_inputs is a list of bytes, not {kind}; one card's bytes are given as sdk_input.")
    return tuple(sdk_inputs)


def _check_type(name: str, value: object, kind: type, words: str) -> None:
    if not isinstance(value, kind):
        raise ParameterError(f"{name} is {words}, not {type(value).__name__}.")
