"""The two classes that the app supplies for the wallet, and the SDK's service that they call: how to write them.

`ExtensionHandler` is the base with what a handler finds around it: the storage, the back end and the wallet's library.
On a phone the system provides all three; here they are attributes, and each use spends time on the clock of the call
that is under way. `ReferenceHandler` keeps every rule and is worth copying. `AuthorizationProvider` is the base of the
authorization UI. The host makes a new one of either for every call (X-HANDLER-1), so the next call does not find what
one left in `self`.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, Protocol

from workbook import errors
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import is_number
from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.play.back_end import BackEnd
from workbook.play.own_code import BACK_END_WAIT, call_watched, check_callable
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import CURRENT, OUR_CASE, Call, activation_data, current, next_output, wrong_with
from workbook.simulation.seal import Genuine, Seal
from workbook.simulation.service import ORIGIN

# Platform B's SDK in the extension: `ExtensionProvisioningService`, shaped as the document has it, in snake case.
#
# The service works on bytes (API-8), throws an `SdkError` where the document lets it fail, and keeps nothing between
# calls: a new handler makes a new service each time (X-HANDLER-1). Used in a cell of its own, it runs on a new phone. A
# `ParameterError` refuses an argument that a phone's compiler would refuse.


# Card art: the picture that the wallet shows of a card before it is added (X-ART-1).
#
# That it must show the card accurately is the document's word. The rest of what makes it right is public knowledge of
# the wallet platform (wallet): its size, its corners, and what must not be on it.

# In pixels (wallet).
WIDTH, HEIGHT = 1536, 969


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
    return "; ".join(problem for problem, holds in problems.items() if holds)


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

    Example:
        >>> service = wb.ExtensionProvisioningService(wb.session().activation_data().data)
        >>> service.extension_status(requires_authentication=True).pass_entries_available
        True
    """

    def __init__(self, sdk_input: bytes | None = None, *, sdk_inputs: Iterable[bytes] | None = None) -> None:
        self._made_in = current()
        self._seal = Seal(self._call.phone.seed)
        self._call.clock.sleep(self._call.phone.latencies.service)
        try:
            self._cards = self._open_all(_several(sdk_input, sdk_inputs))
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
        output = next_output(self._call.phone, self._seal, identifier)
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
        self._call.clock.sleep(self._call.phone.latencies.card_art)
        art = self._own("cardArt", delegate.card_art, which)
        self._call.seen(m.CardArtReturned(problems_with(art, which)))
        title = f"•••• {card.claims.get('lastFour', '')}"
        return PassEntry(identifier, title, art if isinstance(art, CardArt) else None, identifier)

    def _own(self, name: str, function: Callable[..., Any], *given: object) -> Any:
        """What the delegate's function returns."""
        return call_watched(name, self._call.seen, function, *given, spend=self._call.clock.sleep)

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

    def _open_all(self, given: Sequence[Any]) -> list[Genuine]:
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
        current().clock.sleep(self._phone.latencies.storage)
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
    """

    def __init__(self, relay: BackEnd, phone: PhoneB, gets: Iterable[float] = ()) -> None:
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
        return self._exchange(payment_instrument_id, None, next(self.gets, self._phone.latencies.get), timeout)

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
        with self._relay.clock.side_by_side() as next_one:
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
        return self._exchange(payment_instrument_id, output, self._phone.latencies.post, timeout)

    def _exchange(self, instrument: str, output: SdkOutput | None, takes: float, limit: float | None) -> bytes:
        """The answer's bytes.

        Raises:
            DeadlineError: it takes longer than `limit`. A back end that times its attempts goes on all the same,
                so what happens to it later is reported too.
        """
        call, clock, method = current(), self._relay.clock, "GET" if output is None else "POST"
        if limit is not None and not (is_number(limit, 0.0) and limit):
            kind = type(limit).__name__  # the value may be opaque data in the wrong place
            raise errors.ParameterError(f"timeout is a number of seconds above 0, or None; not this {kind}.")
        if limit is not None and takes > limit and not self._relay.times_attempts:
            error = _too_late(instrument, limit, method)
            call.seen(m.ApiRequested(method, instrument))
            clock.sleep(limit)
            call.seen(m.ApiFailed(type(error).__name__, str(error)))
            raise error
        ends = None if limit is None else clock.after(limit)
        exchange = self._relay.exchange(instrument, output, takes=takes)
        for at, event in exchange.events:
            call.tell(at, event)
        if ends is not None and clock.now() > ends:
            clock.move(ends)
            call.seen(m.Noted(f"The handler gives up after {limit:g} s; the back end goes on."))
            raise _too_late(instrument, limit or 0.0, method)
        sdk_input: Any = exchange.answer().sdk_input
        return sdk_input.data if isinstance(sdk_input, SdkInput) else b""  # a careless back end may pass on nothing


def _id(payment_instrument_id: object) -> str:
    if not isinstance(payment_instrument_id, str):
        kind = type(payment_instrument_id).__name__
        raise errors.ParameterError(f"A payment instrument id is text, not {kind}; mind the order of the arguments.")
    return payment_instrument_id


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

    Example:
        >>> class Silent(wb.ReferenceHandler):
        ...     def provision(self, payment_instrument_id, sdk_output): return None
        >>> wb.session().wallet.play(Silent).added
        False
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
            usable = [each for each in sdk_inputs if self._accepts(each)]
        return ExtensionProvisioningService(sdk_inputs=usable) if usable else None

    def _accepts(self, sdk_input: bytes) -> bool:
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
            Call it once (assumed).

    Example:
        >>> provider = wb.AuthorizationProvider()
        >>> provider.completion_handler = print
        >>> provider.view_did_appear()
        True
    """

    completion_handler: Callable[[bool], Any]

    def view_did_appear(self) -> None:
        """The view is on the screen. This one lets all in; ask for the app's own log-in."""
        self.completion_handler(True)  # noqa: FBT003  # the platform's handler takes one value
