"""The wallet app that calls the extension: it calls a handler exactly as a wallet would, and watches the clock.

Every call gets a new handler. Time is virtual: the storage, the SDK and the network each spend theirs, and the answer
happens when the call is over. A handler runs to its end at once, so two calls never interleave.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import quoted
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.extension import EXTENSIONS, State, plist, plist_problems
from workbook.flows.messages import Command, Event
from workbook.flows.trace import CALLS, Trace
from workbook.flows.variants import B_LATER, SURFACES, VariantB
from workbook.play import handler as surroundings
from workbook.play.back_end import BackEnd, simulated_back_end
from workbook.play.handler import AddPaymentPassRequest, ExtensionStatus, PassEntry
from workbook.play.loop import Loop
from workbook.play.own_code import call_watched, exception_words, find_misspelt, own_failures, relay_through
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import Call, Reply, under_way, wrong_with
from workbook.simulation.seal import Seal
from workbook.simulation.world import INSTRUMENT_IDS, World

# The attributes of an object or a class: each value, and what is in it where that can change in place.
Contents = dict[str, list[object]]


def _contents(attributes: Mapping[str, object]) -> Contents:
    return {name: [value, *_inside(value)] for name, value in attributes.items() if not name.startswith("__")}


def _inside(value: object) -> list[object]:
    match value:
        case dict():
            return [*value, *value.values()]
        case list() | set():
            return [*value]
        case _:
            return []


def _contents_of_class(handler: type) -> Contents:
    classes = [
        kind for kind in handler.__mro__ if kind not in (surroundings.ExtensionHandler, surroundings.ReferenceHandler)
    ]
    return {name: values for kind in reversed(classes) for name, values in _contents(vars(kind)).items()}


def _changes(before: Contents, after: Contents) -> tuple[str, ...]:
    """The names of changed attributes, by identity: to compare for equality would run the handler's code."""
    same = {
        name
        for name, values in after.items()
        if [id(value) for value in values] == [id(value) for value in before.get(name, [])]
    }
    return tuple(sorted(set(after) - same))


# Each function turns a handler's answer into an event for the wallet, or None where the answer has the wrong type. An
# event never repeats what the handler was given.


def status_event(returned: object, surface: str) -> Event | None:
    """What status() returned, for the wallet app on this surface (X-STATUS-1)."""
    if not isinstance(returned, ExtensionStatus):
        return None
    on_phone = surface == "phone"
    available = returned.pass_entries_available if on_phone else returned.remote_pass_entries_available
    return m.EntriesAvailable(returned.requires_authentication) if available else m.EntriesUnavailable()


def entries_event(returned: object) -> Event | None:
    """What passEntries() or remotePassEntries() returned (X-ENTRIES-1)."""
    if not isinstance(returned, list | tuple) or not all(isinstance(entry, PassEntry) for entry in returned):
        return None
    return m.EntriesReturned(tuple(returned)) if returned else m.NoEntries()


def request_event(returned: object) -> Event | None:
    """What the request's generation returned (X-GEN-1)."""
    if returned is None:
        return m.NoRequest()
    return m.RequestReturned(returned) if isinstance(returned, AddPaymentPassRequest) else None


def _kind(returned: object, call: str) -> str:
    """The type of what a handler returned; where a list belongs, also the types of what is in it."""
    kind = type(returned).__name__
    if not isinstance(returned, list | tuple) or not call.endswith("pass_entries"):
        return kind
    return f"a {kind} of {', '.join(sorted({type(item).__name__ for item in returned}))}"


def _check_settings(handler: object, authorization: object, cards: object) -> None:
    """Make sure that what an integrator gives has its type, before anything runs.

    Raises:
        ParameterError: something has not; says what is allowed.
    """
    if not isinstance(handler, type) or not issubclass(handler, surroundings.ExtensionHandler):
        wrong = (
            f"the class {handler.__name__}, which is no ExtensionHandler"
            if isinstance(handler, type)
            else quoted(handler)
        )
        raise ParameterError(
            f"A wallet app takes a handler class, because each call gets a new handler; not {wrong}. "
            "Write one: class MyHandler(ReferenceHandler), and pass MyHandler itself."
        )
    if authorization is not None and not (
        isinstance(authorization, type) and issubclass(authorization, surroundings.AuthorizationProvider)
    ):
        raise ParameterError(
            f"authorization is {quoted(authorization)}; allowed: a class below AuthorizationProvider, or None."
        )
    if not isinstance(cards, list | tuple) or not all(isinstance(card, str) for card in cards):
        raise ParameterError(f"cards is {quoted(cards)}; allowed: a list of payment instrument ids.")


class WalletApp(Loop):
    """One wallet app with one issuer's extensions.

    Args:
        handler: the handler's class; each call makes a new one (X-HANDLER-1).
        variant: the SDK's variant.
        surface: `phone` or `watch`: where the wallet app runs.
        phone: the phone, and the watch that may be paired with it; by default a new one.
        authorization: the class of the authorization UI; None where there is no such extension.
        cards: the ids of the cardholder's payment instruments, as the app knows them.
        back_end: the issuer's back end; by default one in front of the simulated service.
        gets: seconds that each GET takes, in order; then the phone's own figure.
        plists: the project file of each extension; by default as X-PLIST-1 to X-PLIST-3 want it.

    Attributes:
        entries: the pass entries that the wallet shows.

    Raises:
        ParameterError: handler, authorization or cards have another type, or there is no such surface.
    """

    begins = m.IssuerListOpened

    def __init__(
        self,
        handler: type[surroundings.ExtensionHandler] = surroundings.ReferenceHandler,
        variant: VariantB = B_LATER,
        *,
        surface: str = SURFACES[0],
        phone: PhoneB | None = None,
        authorization: type[surroundings.AuthorizationProvider] | None = surroundings.AuthorizationProvider,
        cards: Sequence[str] = INSTRUMENT_IDS,
        back_end: BackEnd | None = None,
        gets: Iterable[float] = (),
        plists: Mapping[str, object] | None = None,
    ) -> None:
        _check_settings(handler, authorization, cards)
        self.handler = handler
        self.variant = variant
        self.surface = surface
        self.phone = phone or PhoneB()
        self.entries: tuple[PassEntry, ...] = ()
        self._authorization = authorization
        self._cards = tuple(cards)
        self._seal = Seal(self.phone.seed)
        relay = back_end or simulated_back_end(World(seed=self.phone.seed))
        self._back_end = surroundings.ExtensionBackEnd(relay, self.phone, gets)
        self._plists = {name: plist(name) for name in (*EXTENSIONS, *(plists or {}))} | dict(plists or {})
        self._requires_authentication = authorization is not None
        self._nonces = 0
        self._unanswered: list[int] = []
        super().__init__(variant.extension(surface), variant.extension_title(surface), relay.clock)
        for kind, base in (
            (handler, surroundings.ReferenceHandler),
            (authorization, surroundings.AuthorizationProvider),
        ):
            for note in () if kind is None else find_misspelt(kind, base):
                self.soon(note)

    def __repr__(self) -> str:
        known = f"{self.handler.__name__}, {self.surface!r}, {self.state.value}, {len(self.trace)} records"
        steps = {m.IssuerListOpened: "open_list()", m.IssuerChosen: "choose_app()", m.EntryChosen: "choose_card()"}
        possible = [text for event, text in steps.items() if event in self.allowed]
        return f"WalletApp({known})\nNext: {', '.join([*possible, '.entries', '.trace'])}."

    def walk(self) -> Trace:
        """Open the list, choose the app and choose its first card, as far as the wallet offers it."""
        self.open_list()
        while (act := self.next_act()) is not None:
            self.feed(act)
        return self.trace

    def next_act(self) -> Event | None:
        """What the cardholder does next to add a card; None when there is nothing to do."""
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

    # each call of the handler

    def _status(self, _command: Command) -> Reply | None:
        why = self._not_found("extension")
        if why:
            return 0.0, m.ExtensionNotFound(why)
        self._call_handler("status", lambda returned: status_event(returned, self.surface))
        return None

    def _generate(self, command: m.CallGenerate) -> None:
        self._nonces += 1
        wallet = self._given | {"certificate_chain": [*self._given["certificate_chain"]]}
        self._call_handler(CALLS[m.CallGenerate], request_event, command.identifier, **wallet)

    def _call_handler(
        self, name: str, answer: Callable[[object], Event | None], *given: object, **named: object
    ) -> None:
        """Call a new handler; what it does, what it keeps, and its answer as `answer` reads it, are due in time."""
        self._forget_earlier_calls()
        clock = self._agenda.clock

        def tell(at: float, event: Event) -> None:
            self._unanswered.append(self._agenda.at(at, event))

        call = Call(self.phone, later=self.variant.later, clock=clock, tell=tell)
        clock.sleep(self.phone.latencies.handler)
        handler: surroundings.ExtensionHandler | None = None
        in_self, in_class = Contents(), _contents_of_class(self.handler)
        event: Event = m.HandlerRaised(name, "it was interrupted")  # such as by the kernel's stop button

        def make_and_call() -> object:
            nonlocal handler, in_self
            handler = self.handler(
                surroundings.Storage(self.phone), self._back_end, surroundings.Library(self.phone), self._cards
            )
            in_self = _contents(vars(handler))
            return getattr(handler, name)(*given, **named)

        with under_way(call), relay_through(self._post_from_handler):
            try:
                returned = call_watched(name, call.seen, make_and_call, spend=clock.sleep, owner=self.handler)
                event = answer(returned) or m.HandlerRaised(name, f"it returned {_kind(returned, name)}")
            except own_failures() as error:
                event = m.HandlerRaised(name, exception_words(error))
            finally:
                if isinstance(handler, surroundings.ExtensionHandler) and (
                    names := _changes(in_self, _contents(vars(handler)))
                ):
                    call.seen(m.HandlerKept("the handler", names))
                if names := _changes(in_class, _contents_of_class(self.handler)):
                    call.seen(m.HandlerKept("its class", names))
                call.seen(event)

    def _post_from_handler(self, payment_instrument_id: str, sdk_output: SdkOutput) -> SdkInput:
        """What `Session.exchange` asks for inside a handler."""
        return SdkInput.from_bytes(self._back_end.post(payment_instrument_id, sdk_output.data))

    def _forget_earlier_calls(self) -> None:
        """Cancel late answers that are still to come: they would be taken for the next call's answers."""
        while self._unanswered:
            self._agenda.cancel(self._unanswered.pop())

    # what the wallet does itself

    def _not_found(self, name: str) -> str:
        """Why the wallet finds no such extension; empty when it does."""
        if name not in self.phone.entitled:
            return f"the {name} target lacks the provisioning entitlement (sdk-b; that it is then not found: inferred)"
        return "; ".join(plist_problems(name, self._plists[name]))

    def _list(self, command: m.ListIssuer) -> None:
        self._requires_authentication = command.requires_authentication
        self.entries = ()

    def _show(self, command: m.ShowEntries) -> None:
        self.entries = tuple(command.entries)
        for instrument in sorted(self._there & {entry.payment_instrument_id for entry in self.entries}):
            self.soon(m.AlreadyThere(instrument))

    def _show_none(self, _command: Command) -> None:
        self.entries = ()

    def _authenticate(self, command: m.Authenticate) -> Reply:
        """Use the authorization UI where status() said so; otherwise the wallet asks by itself (assumed)."""
        self._forget_earlier_calls()
        takes = self.phone.latencies.authorization
        if not self._requires_authentication:
            return takes, m.AuthenticatedByWallet(command.identifier)
        why = self._not_found("authorization UI")
        if self._authorization is None or why:
            return 0.0, m.AuthorizationMissing(why or "requiresAuthentication is true, and there is no UI for it")
        really: list[float] = []
        event = self._authorize(self._authorization, command.identifier, really.append)
        return takes + sum(really), event

    def _authorize(
        self, provider: type[surroundings.AuthorizationProvider], identifier: str, spend: Callable[[float], object]
    ) -> Event:
        reported: list[object] = []
        self.soon(m.AuthorizationUiShown())

        def appear() -> object:
            view: Any = provider()
            view.completion_handler = reported.append
            return view.view_did_appear()

        try:
            call_watched("viewDidAppear", self.soon, appear, spend=spend, owner=provider)
        except own_failures() as error:
            return m.AuthorizationMissing(f"the authorization UI failed: {exception_words(error)}")
        except BaseException:
            self.soon(m.AuthorizationMissing("it was interrupted"))
            raise
        for succeeded in reported:
            self.soon(m.CompletionHandlerCalled(succeeded is True), self.phone.latencies.authorization)
        match reported:  # the first call counts (assumed)
            case []:
                return m.AuthorizationMissing("completionHandler was never called")
            case [True, *_]:
                return m.Authorized(identifier)
            case [False, *_]:
                return m.AuthorizationCanceled()
            case _:
                return m.AuthorizationMissing("completionHandler was given neither True nor False")

    def _add(self, command: m.AddPass) -> Reply:
        """Add the card of this request to this wallet, unless something is wrong with the request."""
        request: AddPaymentPassRequest = command.request
        instrument = request.payment_instrument_id
        if instrument in self._there:
            why = "the card is in the wallet already"
        elif self.surface == "watch" and self.phone.watch is None:
            why = "no watch is paired"
        elif other := [name for name, value in self._given.items() if getattr(request, name) != value]:
            why = f"the request was made with another {other[0].replace('_', ' ')} than the wallet's"
        else:
            why = wrong_with(self._seal, request.sdk_input, instrument, request.attempt) or ""
        if not why:
            self.phone.add(instrument, self.surface)
        return self.phone.latencies.wallet, m.PassRefused(why) if why else m.PassAdded()

    @property
    def _there(self) -> frozenset[str]:
        """The cards in this wallet."""
        library = surroundings.Library(self.phone)
        return library.on_phone if self.surface == SURFACES[0] else library.on_watch

    @property
    def _given(self) -> dict[str, Any]:
        """What the wallet gives for the latest request, besides the identifier (X-GEN-1)."""
        return {
            "configuration": "the platform's add-payment-pass configuration",
            "certificate_chain": (b"simulated leaf certificate", b"simulated intermediate certificate"),
            "nonce": f"simulated nonce {self._nonces}".encode(),
            "nonce_signature": b"simulated signature",
        }

    ports: ClassVar = {
        **Loop.ports,
        m.CallStatus: _status,
        m.CallPassEntries: lambda self, _command: self._call_handler("pass_entries", entries_event),
        m.CallRemotePassEntries: lambda self, _command: self._call_handler("remote_pass_entries", entries_event),
        m.CallGenerate: _generate,
        m.Authenticate: _authenticate,
        m.AddPass: _add,
        m.ListIssuer: _list,
        m.HideIssuer: _show_none,
        m.ShowEntries: _show,
        m.ShowNoEntries: _show_none,
        # what the cardholder sees is in the trace
        **dict.fromkeys((m.ShowCardAdded, m.ShowNotAdded, m.IgnoreLate), lambda _self, _command: None),
    }
