"""The wallet app as the extension's host: it calls a handler exactly as a wallet would, and watches the clock.

Every call gets a new handler. What a call takes is virtual time: the storage, the SDK and the network each spend
theirs, and the answer happens when the call is over. A handler runs to its end at once, so two calls never mix within
one another's lines; hosts on phone and watch run side by side call by call (see `loop.together`).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbook.benches.callback import completed
from workbook.benches.in_app import simulated_back_end
from workbook.benches.loop import Loop
from workbook.errors import ParameterError
from workbook.extension.answers import entries_meant, request_meant, status_meant, told
from workbook.extension.handler import AuthorizationProvider, ExtensionHandler, ReferenceHandler
from workbook.extension.kept import Belongings
from workbook.extension.plist import plist_problems
from workbook.extension.settings import card_ids, handler_class, phone_b, project_files, provider_class, variant_b
from workbook.extension.surroundings import ExtensionBackEnd, Library, Storage
from workbook.flows import messages as m
from workbook.flows.extension import State
from workbook.flows.variants_b import B_LATER, SURFACES
from workbook.parameters import quoted
from workbook.simulation.call import Call, current, under_way
from workbook.simulation.sdk_b import wrong_with
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbook.benches.back_end import BackEnd
    from workbook.benches.loop import Port, Reply
    from workbook.extension.service import AddPaymentPassRequest, PassEntry
    from workbook.flows.messages import Command, Event
    from workbook.flows.variants_b import VariantB
    from workbook.simulation.phone import Phone
    from workbook.trace import Trace

GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
INTERRUPTED = "it was interrupted"


class ExtensionHost(Loop):
    """One wallet app with one issuer's extensions.

    Attributes:
        variant: whose SDK plays.
        surface: `phone` or `watch`: where the wallet app runs.
        phone: the phone, and the watch that may be paired with it.
        entries: the pass entries that the wallet shows.

    Raises:
        ParameterError: the handler is no class, the variant or surface does not exist, or another argument is not of
            its kind.
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
        self.handler = handler_class(handler)
        self.variant = variant_b(variant)
        self.surface = surface
        self.phone = phone_b(phone)
        self.entries: tuple[PassEntry, ...] = ()
        self._authorization = provider_class(authorization)
        self._cards = card_ids(cards)
        self._seal = Seal(self.phone.seed)
        self._back_end = ExtensionBackEnd(back_end or simulated_back_end(World(seed=self.phone.seed)), self.phone, gets)
        self._plists = project_files(plists)
        self._requires_authentication = authorization is not None
        self._nonces = 0
        self._unanswered: list[int] = []
        super().__init__(variant.extension(surface), variant.extension_title(surface))

    def __repr__(self) -> str:
        return (
            f"ExtensionHost({self.handler.__name__}, {self.surface!r}, {self.state.value}, {len(self.trace)} records)"
        )

    def walk(self) -> Trace:
        """The whole way: open the list, choose the app, choose its first card, as far as the wallet offers it."""
        self.open_list()
        while (act := self.next_act()) is not None:
            self.feed(act)
        return self.trace

    def next_act(self) -> Event | None:
        """What the cardholder does next on the way to a card; None when there is nothing to do."""
        match self.state:
            case State.CLOSED:
                return m.IssuerListOpened()
            case State.LISTED:
                return m.IssuerChosen()
            case State.OFFERED:
                return m.EntryChosen(self.entries[0].identifier)
            case _:
                return None

    def open_list(self) -> Trace:
        """The cardholder opens the wallet's list of apps that offer cards."""
        return self.feed(m.IssuerListOpened())

    def choose_app(self) -> Trace:
        """The cardholder chooses the issuer's app."""
        return self.feed(m.IssuerChosen())

    def choose_card(self, identifier: str | None = None) -> Trace:
        """The cardholder chooses a card; by default the first that is shown.

        Raises:
            ParameterError: none is shown and none was named, or what was named is no text.
        """
        if identifier is None and not self.entries:
            raise ParameterError("The wallet shows no card to choose. Call choose_app() first, or name an identifier.")
        chosen = self.entries[0].identifier if identifier is None else identifier
        if not isinstance(chosen, str):
            raise ParameterError(f"identifier is {quoted(chosen)}; give the text of an entry's identifier.")
        return self.feed(m.EntryChosen(chosen))

    def _connect(self) -> dict[type[Command], Port]:
        shown = (m.ShowCardAdded, m.ShowNotAdded, m.IgnoreLate)
        nothing: dict[type[Command], Port] = dict.fromkeys(shown, _nothing)
        calls: dict[type[Command], Port] = {
            m.CallStatus: self._status,
            m.CallPassEntries: lambda _command: self._answer("pass_entries", entries_meant),
            m.CallRemotePassEntries: lambda _command: self._answer("remote_pass_entries", entries_meant),
            m.CallGenerate: self._generate,
            m.Authenticate: self._authenticate,
            m.AddPass: self._add,
            m.ListIssuer: self._list,
            m.HideIssuer: self._show_none,
            m.ShowEntries: self._show,
            m.ShowNoEntries: self._show_none,
        }
        return super()._connect() | nothing | calls

    # each call of the handler

    def _status(self, _command: Command) -> Reply | None:
        why = self._not_found("extension")
        if why:
            return 0.0, m.ExtensionNotFound(why)
        return self._answer("status", lambda returned: status_meant(returned, self.surface))

    def _generate(self, command: Any) -> Reply | None:
        self._nonces += 1
        wallet = {
            "configuration": "the platform's add-payment-pass configuration",
            "certificate_chain": [b"simulated leaf certificate", b"simulated intermediate certificate"],
            "nonce": self._nonce,
            "nonce_signature": b"simulated signature",
        }
        return self._answer(GENERATE, request_meant, command.identifier, **wallet)

    def _answer(self, name: str, meant: Any, *given: Any, **named: Any) -> Reply | None:
        """Call a new handler, and tell when its answer comes and what it is."""
        self._forget_earlier_calls()
        call = Call(self.phone, later=self.variant.later, tell=self._tell)
        call.spend(self.phone.waits.handler)
        with under_way(call):
            try:
                call.seen(self._called(name, meant, given, named))
            except BaseException:  # such as the kernel's stop button: the wallet sees the process end
                call.seen(m.HandlerRaised(name, INTERRUPTED))
                raise
        return None

    def _called(self, name: str, meant: Any, given: tuple[Any, ...], named: dict[str, Any]) -> Event:
        belongings = Belongings(self.handler)
        try:
            handler = self.handler(Storage(self.phone), self._back_end, Library(self.phone), self._cards)
            returned = completed(getattr(belongings.of(handler), name), *given, **named)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
            return m.HandlerRaised(name, told(error))
        finally:
            for where, names in belongings.left():
                current().seen(m.HandlerKept(where, names))
        return meant(returned) or m.HandlerRaised(name, f"it returned {type(returned).__name__}")

    def _tell(self, at: float, event: Event) -> None:
        self._unanswered.append(self._clock.after(at, event))

    def _forget_earlier_calls(self) -> None:
        """A late answer that is still on its way would be taken for the next call's; nobody waits for it any more."""
        while self._unanswered:
            self._clock.cancel(self._unanswered.pop())

    # what the wallet does itself

    def _not_found(self, name: str) -> str:
        """Why the wallet finds no such extension; empty when it does."""
        if name not in self.phone.entitled:
            return f"the {name} target lacks the provisioning entitlement (sdk-b)"
        return "; ".join(plist_problems(name, self._plists[name]))

    def _list(self, command: m.ListIssuer) -> None:
        self._requires_authentication = command.requires_authentication
        self.entries = ()

    def _show(self, command: m.ShowEntries) -> None:
        self.entries = tuple(command.entries)
        for instrument in sorted(self._there & {entry.payment_instrument_id for entry in self.entries}):
            self._seen_now(m.AlreadyThere(instrument))

    def _show_none(self, _command: Command) -> None:
        self.entries = ()

    def _authenticate(self, command: m.Authenticate) -> Reply:
        """By the authorization UI where status() said so; otherwise the wallet asks by itself (assumed)."""
        self._forget_earlier_calls()
        takes = self.phone.waits.authorization
        if not self._requires_authentication:
            return takes, m.AuthenticatedByWallet(command.identifier)
        why = self._not_found("authorization UI")
        if self._authorization is None or why:
            return 0.0, m.AuthorizationMissing(why or "requiresAuthentication is true, and there is no UI for it")
        return takes, self._authorized(self._authorization, command.identifier)

    def _authorized(self, provider: type[AuthorizationProvider], identifier: str) -> Event:
        reported: list[object] = []
        self._seen_now(m.AuthorizationUiShown())
        try:
            view = provider()
            view.completion_handler = reported.append
            completed(view.view_did_appear)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # not our code
            return m.AuthorizationMissing(f"the authorization UI failed: {told(error)}")
        except BaseException:
            self._seen_now(m.AuthorizationMissing(INTERRUPTED))
            raise
        for succeeded in reported:
            self._clock.after(self.phone.waits.authorization, m.CompletionHandlerCalled(succeeded is True))
        return _reported(reported, identifier)

    def _add(self, command: m.AddPass) -> Reply:
        request: AddPaymentPassRequest = command.request
        why = self._wrong_with(request)
        if not why:
            self.phone.add(request.payment_instrument_id, self.surface)
        return self.phone.waits.wallet, m.PassRefused(why) if why else m.PassAdded()

    def _wrong_with(self, request: AddPaymentPassRequest) -> str:
        instrument = request.payment_instrument_id
        if instrument in self._there:
            return "the card is in the wallet already"
        if self.surface != SURFACES[0] and self.phone.watch is None:
            return "no watch is paired"
        if request.nonce != self._nonce:
            return "the request answers another nonce than the wallet's"
        return wrong_with(self._seal, request.sdk_input, instrument, request.attempt) or ""

    @property
    def _there(self) -> frozenset[str]:
        """The cards in this wallet."""
        library = Library(self.phone)
        return library.on_phone if self.surface == SURFACES[0] else library.on_watch

    @property
    def _nonce(self) -> bytes:
        return f"simulated nonce {self._nonces}".encode()


def _reported(reported: list[object], identifier: str) -> Event:
    """What the authorization UI told the wallet; the first word counts (assumed)."""
    if not reported:
        return m.AuthorizationMissing("completionHandler was never called")
    if not isinstance(reported[0], bool):
        return m.AuthorizationMissing("completionHandler was given neither True nor False")
    return m.Authorized(identifier) if reported[0] else m.AuthorizationCanceled()


def _nothing(_command: Command) -> None:
    """Carry out nothing: what the cardholder sees is in the trace."""
