"""The wallet app as the extension's host: it calls a handler exactly as a wallet would, and watches the clock.

Every call gets a new handler. What a call takes is virtual time: the storage, the SDK and the network each spend
theirs, and the answer happens when the call is over. A handler runs to its end at once, so two calls never mix within
one another's lines; hosts on phone and watch run side by side call by call (see `loop.together`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbook.callback import completed
from workbook.errors import ParameterError, WorkbookError
from workbook.extension_handler import AuthorizationProvider, ExtensionHandler, ReferenceHandler
from workbook.extension_service import AddPaymentPassRequest, ExtensionStatus, PassEntry
from workbook.flows import messages as m
from workbook.flows.variants_b import B_LATER, SURFACES, VariantB
from workbook.in_app import simulated_back_end
from workbook.loop import Loop
from workbook.plist import plist, plist_problems
from workbook.simulation.call import Call, under_way
from workbook.simulation.phone import Phone
from workbook.simulation.sdk_b import wrong_with
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World
from workbook.surroundings import ExtensionBackEnd, Library, Storage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbook.back_end import BackEnd
    from workbook.flows.messages import Command, Event
    from workbook.loop import Port, Reply
    from workbook.trace import Trace

GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
GIVEN = frozenset({"storage", "back_end", "library", "cards"})
"""What a handler has from the beginning; anything else in it is its own."""


class ExtensionHost(Loop):
    """One wallet app with one issuer's extensions.

    Attributes:
        variant: whose SDK plays.
        surface: `phone` or `watch`: where the wallet app runs.
        phone: the phone, and the watch that may be paired with it.
        entries: the pass entries that the wallet shows.

    Raises:
        ParameterError: the handler is no class, or the variant or surface does not exist.
    """

    begins = m.IssuerListOpened

    def __init__(
        self,
        handler: type[ExtensionHandler] = ReferenceHandler,
        variant: VariantB = B_LATER,
        *,
        surface: str = SURFACES[0],
        phone: Phone | None = None,
        authorization: type[AuthorizationProvider] | None = AuthorizationProvider,
        cards: Sequence[str] = INSTRUMENT_IDS,
        back_end: BackEnd | None = None,
        gets: Iterable[float] = (),
        plists: Mapping[str, object] | None = None,
    ) -> None:
        self.handler = _handler_class(handler)
        self.variant = _variant(variant)
        self.surface = surface
        self.phone = phone or Phone()
        self.entries: tuple[PassEntry, ...] = ()
        self._authorization = authorization
        self._cards = tuple(cards)
        self._seal = Seal(self.phone.seed)
        self._back_end = ExtensionBackEnd(back_end or simulated_back_end(World(seed=self.phone.seed)), self.phone, gets)
        self._plists = {name: plist(name) for name in ("extension", "authorization UI")} | dict(plists or {})
        self._requires_authentication = authorization is not None
        self._nonces = 0
        super().__init__(variant.extension(surface), variant.extension_title(surface))

    def __repr__(self) -> str:
        return (
            f"ExtensionHost({self.handler.__name__}, {self.surface!r}, {self.state.value}, {len(self.trace)} records)"
        )

    def walk(self) -> Trace:
        """The whole way: open the list, choose the app, choose its first card, as far as the wallet offers it."""
        self.open_list()
        if m.IssuerChosen in self.allowed:
            self.choose_app()
        if self.entries and m.EntryChosen in self.allowed:
            self.choose_card()
        return self.trace

    def open_list(self) -> Trace:
        """The cardholder opens the wallet's list of apps that offer cards."""
        return self.feed(m.IssuerListOpened())

    def choose_app(self) -> Trace:
        """The cardholder chooses the issuer's app."""
        return self.feed(m.IssuerChosen())

    def choose_card(self, identifier: str | None = None) -> Trace:
        """The cardholder chooses a card; by default the first that is shown.

        Raises:
            ParameterError: none is shown and none was named.
        """
        if identifier is None and not self.entries:
            raise ParameterError("The wallet shows no card to choose. Call choose_app() first, or name an identifier.")
        return self.feed(m.EntryChosen(identifier or self.entries[0].identifier))

    def _connect(self) -> dict[type[Command], Port]:
        shown = (m.HideIssuer, m.ShowNoEntries, m.ShowCardAdded, m.ShowNotAdded, m.IgnoreLate)
        nothing: dict[type[Command], Port] = dict.fromkeys(shown, _nothing)
        calls: dict[type[Command], Port] = {
            m.CallStatus: self._status,
            m.CallPassEntries: lambda _command: self._ask_entries("pass_entries"),
            m.CallRemotePassEntries: lambda _command: self._ask_entries("remote_pass_entries"),
            m.CallGenerate: self._generate,
            m.Authenticate: self._authenticate,
            m.AddPass: self._add,
            m.ListIssuer: self._list,
            m.ShowEntries: self._show,
        }
        return super()._connect() | nothing | calls

    # each call of the handler, and what its answer means

    def _status(self, _command: Command) -> Reply:
        why = self._not_found("extension")
        if why:
            return 0.0, m.ExtensionNotFound(why)
        return self._answer("status", self._status_meant)

    def _status_meant(self, returned: object) -> Event | None:
        if not isinstance(returned, ExtensionStatus):
            return None
        on_phone = self.surface == SURFACES[0]
        available = returned.pass_entries_available if on_phone else returned.remote_pass_entries_available
        return m.EntriesAvailable(returned.requires_authentication) if available else m.EntriesUnavailable()

    def _ask_entries(self, call: str) -> Reply:
        return self._answer(call, _entries_meant)

    def _generate(self, command: Any) -> Reply:
        self._nonces += 1
        wallet = {
            "configuration": "the platform's add-payment-pass configuration",
            "certificate_chain": [b"simulated leaf certificate", b"simulated intermediate certificate"],
            "nonce": self._nonce,
            "nonce_signature": b"simulated signature",
        }
        return self._answer(GENERATE, _request_meant, command.identifier, **wallet)

    def _answer(self, name: str, meant: Any, *given: Any, **named: Any) -> Reply:
        """Call a new handler, and tell when its answer comes and what it is."""
        call = self._call()
        call.spend(self.phone.waits.handler)
        with under_way(call):
            event = self._called(name, meant, given, named)
        return call.spent, event

    def _called(self, name: str, meant: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Event:
        handler = self.handler(Storage(self.phone), self._back_end, Library(self.phone), self._cards)
        before = _own(vars(self.handler))
        try:
            returned = completed(getattr(handler, name), *given, **named)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
            return m.HandlerRaised(name, _told(error))
        finally:
            self._look_for_what_was_kept(handler, before)
        return meant(returned) or m.HandlerRaised(name, f"it returned {type(returned).__name__}")

    def _look_for_what_was_kept(self, handler: ExtensionHandler, before: dict[str, Any]) -> None:
        after = _own(vars(self.handler))
        changed = sorted(name for name in after if after[name] is not before.get(name))
        for where, names in (("the handler", sorted(vars(handler).keys() - GIVEN)), ("its class", changed)):
            if names:
                self._clock.after(0.0, m.HandlerKept(where, tuple(names)))

    def _call(self) -> Call:
        return Call(self.phone, later=self.variant.later, tell=self._tell)

    def _tell(self, at: float, event: Event) -> None:
        self._clock.after(at, event)

    # what the wallet does itself

    def _not_found(self, name: str) -> str:
        """Why the wallet finds no such extension; empty when it does."""
        if name not in self.phone.entitled:
            return f"the {name} target lacks the provisioning entitlement (sdk-b)"
        return "; ".join(plist_problems(name, self._plists[name]))

    def _list(self, command: m.ListIssuer) -> None:
        self._requires_authentication = command.requires_authentication

    def _show(self, command: m.ShowEntries) -> None:
        self.entries = tuple(command.entries)
        for instrument in sorted({entry.payment_instrument_id for entry in self.entries}):
            if not self._lacks(instrument):
                self._clock.after(0.0, m.AlreadyThere(instrument))

    def _authenticate(self, command: m.Authenticate) -> Reply:
        """By the authorization UI where status() said so; otherwise the wallet asks by itself (assumed)."""
        takes = self.phone.waits.authorization
        if not self._requires_authentication:
            return takes, m.Authorized(command.identifier)
        why = self._not_found("authorization UI")
        if self._authorization is None or why:
            return 0.0, m.AuthorizationMissing(why or "requiresAuthentication is true, and there is no UI for it")
        return takes, self._authorized(self._authorization, command.identifier)

    def _authorized(self, provider: type[AuthorizationProvider], identifier: str) -> Event:
        reported: list[bool] = []
        try:
            view = provider()
            view.completion_handler = reported.append
            completed(view.view_did_appear)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
            return m.AuthorizationMissing(f"the authorization UI failed: {_told(error)}")
        for succeeded in reported:
            self._clock.after(0.0, m.CompletionHandlerCalled(bool(succeeded)))
        if not reported:
            return m.AuthorizationMissing("completionHandler was never called")
        return m.Authorized(identifier) if reported[0] else m.AuthorizationCanceled()

    def _add(self, command: m.AddPass) -> Reply:
        request: AddPaymentPassRequest = command.request
        why = self._wrong_with(request)
        if not why:
            self.phone.add(request.payment_instrument_id, self.surface)
        return self.phone.waits.wallet, m.PassRefused(why) if why else m.PassAdded()

    def _wrong_with(self, request: AddPaymentPassRequest) -> str:
        instrument = request.payment_instrument_id
        if not self._lacks(instrument):
            return "the card is in the wallet already, or there is no such wallet"
        if request.nonce != self._nonce:
            return "the request answers another nonce than the wallet's"
        return wrong_with(self._seal, request.sdk_input, instrument, request.attempt) or ""

    def _lacks(self, payment_instrument_id: str) -> bool:
        """Whether this wallet could take the card."""
        return dict(zip(SURFACES, self.phone.missing(payment_instrument_id), strict=True))[self.surface]

    @property
    def _nonce(self) -> bytes:
        return f"simulated nonce {self._nonces}".encode()


def _entries_meant(returned: object) -> Event | None:
    if not isinstance(returned, list | tuple) or not all(isinstance(entry, PassEntry) for entry in returned):
        return None
    return m.EntriesReturned(tuple(returned)) if returned else m.NoEntries()


def _request_meant(returned: object) -> Event | None:
    if returned is None:
        return m.NoRequest()
    return m.RequestReturned(returned) if isinstance(returned, AddPaymentPassRequest) else None


def _told(error: BaseException) -> str:
    """An exception in words that can hold no opaque data: its type, and what is known to be harmless."""
    if isinstance(error, AttributeError) and error.name:
        return f"AttributeError: {error.name}"
    return f"{type(error).__name__}: {error}" if isinstance(error, WorkbookError) else type(error).__name__


def _own(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if not name.startswith("__")}


def _nothing(_command: Command) -> None:
    """Carry out nothing: what the cardholder sees is in the trace."""


def _handler_class(handler: object) -> type[ExtensionHandler]:
    if not isinstance(handler, type) or not issubclass(handler, ExtensionHandler):
        raise ParameterError(
            f"A host takes a handler class, for it makes a new one for each call; not {handler!r:.60}. "
            "Write one: class MyHandler(ReferenceHandler), and pass MyHandler itself."
        )
    return handler


def _variant(variant: object) -> VariantB:
    if not isinstance(variant, VariantB):
        raise ParameterError(f"A host takes B_EARLIER or B_LATER, not {variant!r:.40}.")
    return variant
