"""The cases of `workbook conform app` on platform B: the app with its delegate, and the extension of the wallet.

In the app the steps and most judges are platform A's. The extension's cases have the wallet call one function of the
handler after the other, each in a new process or with a new handler in the same one (X-HANDLER-1).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, TypeAlias

from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.variants import B_LATER
from workbook.simulation.phones import TARGETS
from workbook.tools.conform.app import cases as c
from workbook.tools.conform.app import protocol as p
from workbook.tools.conform.app.cases import (
    ADDED,
    HELD_POST,
    NOT_OPENED,
    NOT_SHOWN,
    OPEN,
    OPENED,
    TAP,
    AppSeen,
    Fail,
    Hold,
    Release,
    Rest,
    Until,
)
from workbook.tools.conform.app.device_b import DeviceB
from workbook.tools.conform.app.phone import WRONG_ANSWERS, Arrival
from workbook.tools.conform.back_end.judging import all_of
from workbook.tools.conform.back_end.model import GET, POST
from workbook.tools.harness.model import Miss, Root

# The functions of the handler that the wallet calls, by name, with the seconds that each has (X-STATUS-3, X-ENTRIES-3,
# and for the request: wallet).
STATUS, ENTRIES, REMOTE_ENTRIES, GENERATE = "status", "passEntries", "remotePassEntries", "generate"
LIMITS = dict(zip((STATUS, ENTRIES, REMOTE_ENTRIES, GENERATE), m.LIMITS.values(), strict=False))


# What the wallet does, besides the steps of platform A. Data only; `wallet.WalletStage` carries it out.


@dataclass(frozen=True, slots=True)
class WalletCall:
    """The wallet calls a function of the handler.

    Attributes:
        function: one of `LIMITS`.
        card: the number of the card that a request is for; 99 for one that nobody knows.
        new_process: the handler runs in a process of its own, else in one that the case keeps.
        stays: its process stays after the function has returned, until what it still does would have been seen.
    """

    function: str
    card: int = 0
    new_process: bool = True
    stays: bool = False


@dataclass(frozen=True, slots=True)
class AtOnce:
    """The wallet makes these calls at the same time."""

    calls: tuple[WalletCall, ...]


@dataclass(frozen=True, slots=True)
class UsePhone:
    """From here on the phone is the one of this name, one of `simulation.phones.PHONES_B`."""

    name: str


@dataclass(frozen=True, slots=True)
class Damage:
    """Each file that app and extension share loses its second half."""


@dataclass(frozen=True, slots=True)
class Expire:
    """The SDK no longer takes what the back end has given for these cards so far."""

    cards: tuple[int, ...] = (0, 1)


@dataclass(frozen=True, slots=True)
class Swap:
    """From here on this operation is answered with an sdkInput of another card."""

    operation: str = POST


@dataclass(frozen=True, slots=True)
class Die:
    """The system ends the app's process; a new one begins."""


WalletStep: TypeAlias = c.AppStep | WalletCall | AtOnce | UsePhone | Damage | Expire | Swap | Die


@dataclass(frozen=True, slots=True)
class HandlerCall:
    """One call of the wallet, as it went.

    Attributes:
        call: which.
        began: seconds since the phone began.
        ended: the same of its end.
        left: the same of when its process was told to end.
        answer: what the process told; None where it told nothing.
        failed: why it told nothing, in words.
        cold: it was the first call of its process.
        request: what a request was asked with.
    """

    call: WalletCall
    began: float
    ended: float
    left: float
    answer: p.Next | None
    failed: str = ""
    cold: bool = True
    request: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def own_seconds(self) -> float:
        """What the integrator's code took by the process's own clock, without the stand-in's calls of the workbook."""
        return 0.0 if self.answer is None else max(0, self.answer.microseconds - self.answer.of_standin) / 1e6


@dataclass(slots=True)
class WalletSeen(AppSeen):
    """Everything that one case saw on platform B.

    Attributes:
        calls: the wallet's calls.
        desk: how many times slower a phone is taken to be than this machine.
        saved: whether there were files in the shared storage when they were damaged.
        authorizes: app.toml says that there is an authorization UI.
    """

    device: DeviceB
    calls: list[HandlerCall] = field(default_factory=list)
    desk: float = 1.0
    saved: bool = True
    authorizes: bool = False

    def during(self, call: HandlerCall, *events: type[Event]) -> list[Any]:
        """The events of these kinds while the call ran."""
        return [record.message for record in self.happened(*events) if call.began <= record.at <= call.ended]

    def arrived(self, call: HandlerCall) -> list[Arrival]:
        """The requests at the back end while the call ran."""
        return [arrival for arrival in self.arrivals if call.began <= arrival.at - self.device.began <= call.ended]


# The judges of the app.

ANEW = "Begin anew after the end of the process: nothing of an attempt may be left behind."
SHOW = "Show the button when canAddCard is true, and only then."
DECODE = (
    "JSON has base64 text and the SDK has bytes: decode the answer's sdkInput once, and encode sdkOutput once, each in "
    "one place (API-8)."
)
NOTHING_ELSE = "Hand the SDK the bytes of the back end's answer, and nothing else."


def service_made(seen: AppSeen) -> Iterator[Miss]:
    """The service is made of the GET's sdkInput, once decoded."""
    texts = {arrival.given for arrival in seen.came(GET)}
    calls = seen.happened(m.ServiceCalled)
    if not calls:
        todo = f"Make it of the GET's sdkInput. {c.AT_PLACE}"
        yield c.unused(seen, GET, "a ProvisioningService", "none was made", todo)
    for record in calls:
        if c.opaque_text(getattr(record.message, "sdk_input", b"")) not in texts:
            observed = "it was made of other bytes"
            yield Miss("a service of the GET's sdkInput", observed, DECODE, rule="API-8", root=Root.PLAIN_CALL)


def given_bytes_only(seen: AppSeen) -> Iterator[Miss]:
    """Whatever the delegate returned is a POST's sdkInput, decoded once; for everything else it returned nil."""
    texts = {arrival.given for arrival in seen.came(POST)}
    for record in seen.happened(m.SdkInputReceived, m.DelegateReturned):
        returned = getattr(record.message, "sdk_input", None)
        if returned is not None and c.opaque_text(returned) not in texts:
            todo = DECODE if any(texts) else f"Return nil (B-DEL-3, X-DEL-1). {c.ONLY_200}"
            what = "empty data" if not returned else f"{len(returned)} bytes that the back end never gave"
            rule = "API-8" if any(texts) else ""
            yield Miss("the bytes of the POST's sdkInput, or nil", f"the delegate returned {what}", todo, rule=rule)


def returned_bytes(seen: AppSeen) -> Iterator[Miss]:
    """The delegate returned the POST's sdkInput."""
    yield from given_bytes_only(seen)
    if not seen.happened(m.SdkInputReceived, m.DelegateReturned):
        root = Root.CASE if seen.came(POST) else Root.FOLLOWS
        todo = "Return the bytes of the POST's sdkInput."
        yield Miss("an sdkInput from the delegate", "the SDK got none", todo, root=root)


def watch_as_heard(seen: AppSeen) -> Iterator[Miss]:
    """`isWatchActivated` is what `activate()` answered."""
    heard: bool | None = None
    for record in seen.happened(m.WatchActivated, m.CanAddCardDetailsCalled):
        match record.message:
            case m.WatchActivated(is_watch_activated=answer):
                heard = answer
            case m.CanAddCardDetailsCalled(is_watch_activated=passed) if passed != heard:
                told = "activate() was not called" if heard is None else f"activate() answered {str(heard).lower()}"
                todo = "Ask WatchAvailability.activate() first, and pass on what it answers."
                yield Miss("isWatchActivated as activate() answered", f"it is {str(passed).lower()}, and {told}", todo)


def watch_once(seen: AppSeen) -> Iterator[Miss]:
    """One WatchAvailability for the whole app."""
    if (made := seen.device.phone.watch_sessions) > 1:
        todo = "Make one WatchAvailability where the app starts, and hand it to each page: a second takes its session."
        yield Miss("1 WatchAvailability", f"{made} were made", todo, root=Root.OLD_ANSWER)


def goes_on(seen: AppSeen) -> Iterator[Miss]:
    """The attempt ended well, although the app was in the background meanwhile."""
    todo = "Leave the attempt alone while the app is in the background: the wallet's sheet lies over it."
    return (replace(miss, todo=todo, root=Root.CASE) for miss in c.not_added(seen))


def says_so(seen: AppSeen) -> Iterator[Miss]:
    """After a success the page says a word that it did not say before."""
    if seen.message("added") in {"", seen.message("opened")}:
        yield Miss("a word that the card is in the wallet", "none", "Show 'Added to Wallet' when a pass has come.")
    elif seen.message("added") == seen.message("there"):
        expected = "'Available in Wallet' for a card that is there already"
        todo = "Tell the two apart: nothing was added just now."
        yield Miss(expected, "what the page says after a success", todo, noted=True)


# The judges of the extension.

GO_ON = "Nothing may end or block the process: no `!`, no fatalError, no index that may be missing, no waiting."
RETURN = (
    "Return from each function, whatever fails: call the completion once on every path, and give each call of the back "
    "end a time limit, a second or more below any deadline of your own: on Linux a request that is cancelled as it "
    "times out may never end."
)
RETURN_AT_ONCE = (
    f"status() has {LIMITS[STATUS]}: call the completion once on every path, wait for nothing, and read little. (This "
    "is a debug build, in which a loop over bytes is slow.)"
)
REFRESH = f"Fetch each card's sdkInput afresh here, where you have {LIMITS[ENTRIES]}: what was saved may have expired."
FRESH = "Make the SDK's service anew in each function, from what the app saved: each call has a new handler."
KEEP_NOTHING = "Await all of it before you return, or leave it out: the wallet suspends the process then."
UNCHANGED = "Hand on what the wallet gave, each argument at its own label, as it is."


def refusals(seen: WalletSeen, call: HandlerCall) -> list[str]:
    """Why the SDK made no service or no request while the call ran."""
    return [f"the SDK refused: {error.case}, {error.why}" for error in seen.during(call, m.ServiceNotMade, m.SdkThrew)]


def provoked(judge: Any, *events: type[Event]) -> Any:
    """The judge's misses; where it has none and none of these events happened, that nothing was there to judge."""

    def judged(seen: WalletSeen) -> Iterator[Miss]:
        misses = tuple(judge(seen))
        yield from misses
        if not misses and not seen.happened(*events):
            yield c.never_came(events[0].says)

    return judged


def status_is(*, available: bool, todo: str) -> c.AppJudge:
    """Each `status()` said this."""

    def judge(seen: WalletSeen) -> Iterator[Miss]:
        if not available and not seen.saved:
            return
        for call in of_function(seen, STATUS):
            if call.answer is not None and call.answer.pass_entries_available != available:
                words = {True: "entries are available", False: "entries are unavailable"}
                yield Miss(words[available], "; ".join([words[not available], *refusals(seen, call)]), todo)
                return

    return judge  # type: ignore[return-value]


def asks_for_authentication(seen: WalletSeen) -> Iterator[Miss]:
    """`status()` says that the authorization UI authenticates; where it is not known to be there, it is only noted."""
    for call in of_function(seen, STATUS):
        if call.answer is not None and call.answer.pass_entries_available and not call.answer.requires_authentication:
            todo = "Return extensionStatus(requiresAuthentication: true) where you have an authorization UI."
            more = "" if seen.authorizes else " If so, write authorization = true in app.toml."
            yield Miss("requiresAuthentication true", "it is false", todo + more, noted=not seen.authorizes)
            return


def no_network(seen: WalletSeen) -> Iterator[Miss]:
    """`status()` asked nobody."""
    todo = f"Use what the app saved; refresh it in passEntries() and remotePassEntries(), which have {LIMITS[ENTRIES]}."
    for call in of_function(seen, STATUS):
        if arrived := seen.arrived(call):
            asked = f"{len(arrived)} came, the first a {arrived[0].request.method}"
            yield Miss("no network call in status()", asked, todo, root=Root.PLAIN_CALL)
            return


def within_limit(seen: WalletSeen) -> Iterator[Miss]:
    """The quickest of the calls is within the function's limit, on a phone as well as on this machine."""
    quickest = min(seen.calls, key=attrgetter("own_seconds"))
    limit, own = LIMITS[quickest.call.function], quickest.own_seconds
    expected = f"{quickest.call.function}() within {limit}"
    todo = "Do less in it: read one small item, make the service, return. No network, no waiting, no large files."
    if own > limit.seconds:
        yield Miss(expected, f"it took {own * 1000:.0f} ms at best", todo, root=Root.PLAIN_CALL)
    elif own * seen.desk > limit.seconds:
        on_phone = f"{own * seen.desk * 1000:.0f} ms on a phone {seen.desk:g} times slower (assumed)"
        yield Miss(expected, f"{own * 1000:.0f} ms here, which is {on_phone}", todo, rule="APP-11")


def lists(function: str, *cards: int, todo: str = "") -> c.AppJudge:
    """Each call of this function listed these cards, through the SDK's operation of the same name."""
    ours = todo or f"Return {function}(withDelegate:) of a service made of each saved card's sdkInput."
    named = {ENTRIES: m.SdkPassEntriesCalled, REMOTE_ENTRIES: m.SdkRemotePassEntriesCalled}
    right, wrong = named[function], next(event for name, event in named.items() if name != function)

    def judge(seen: WalletSeen) -> Iterator[Miss]:
        wanted = {seen.cards[card] for card in cards}
        for call in of_function(seen, function):
            entries = [] if call.answer is None else call.answer.entries
            if seen.during(call, wrong) and not overlaps(seen, call):
                same = f"{function}() of the handler returns {function}(withDelegate:) of the SDK."
                yield Miss(f"the SDK's {function}", f"{wrong.says} was called", same, root=Root.PLAIN_CALL)
            elif set(entries) != wanted or len(entries) != len(wanted):
                asked = [] if seen.during(call, right) else [f"{right.says} was not called"]
                why = "; ".join([f"{len(entries)} came", *refusals(seen, call), *asked])
                yield Miss(f"{len(wanted)} entries in {function}()", why, ours)
            else:
                continue
            return

    return judge  # type: ignore[return-value]


def lists_nothing_unknown(seen: WalletSeen) -> Iterator[Miss]:
    """Whatever the lists hold, each entry is one of the cards, once."""
    for call in seen.calls:
        entries = [] if call.answer is None else call.answer.entries
        if not set(entries) <= set(seen.cards) or len(entries) != len(set(entries)):
            yield Miss("entries of the saved cards, each once", f"{len(entries)} came", "Return what the SDK returns.")


def initialised_each_time(seen: WalletSeen) -> Iterator[Miss]:
    """Each call has made a service of its own."""
    for call in seen.calls:
        answer = call.answer
        gave = answer is not None and (answer.pass_entries_available or answer.entries or answer.request)
        if gave and not seen.during(call, m.ServiceMade, m.ServiceNotMade):
            observed = f"{call.call.function}() used one that an earlier call had made"
            yield Miss("a service in each call", observed, FRESH, root=Root.OLD_ANSWER)
            return


def one_get_a_card(seen: WalletSeen) -> Iterator[Miss]:
    """A call asks the back end for each card at most once."""
    for call in seen.calls:
        asked = Counter(arrival.card for arrival in seen.arrived(call) if arrival.operation == GET)
        if asked and not overlaps(seen, call) and max(asked.values()) > 1:
            observed = f"{max(asked.values())} came in one {call.call.function}()"
            yield Miss("one GET for each card", observed, "Ask for each card once, all at the same time.", noted=True)


def nothing_afterwards(seen: WalletSeen) -> Iterator[Miss]:
    """Nothing reached the back end after a call had returned."""
    for call in seen.calls:
        for arrival in seen.arrivals:
            # what was sent before may be on its way
            if call.ended + 0.02 < arrival.at - seen.device.began <= call.left:
                observed = f"a {arrival.request.method} came after {call.call.function}() had returned"
                yield Miss("nothing that outlives the call", observed, KEEP_NOTHING, root=Root.CONCURRENCY)
                return


def art_of_the_card(seen: WalletSeen) -> Iterator[Miss]:
    """The picture of each entry is named as the SDK asked for it."""
    for call in seen.calls:
        asked = [card.payment_instrument_id for card in seen.during(call, m.CardArtForIdAsked)]
        asked += [card.brand for card in seen.during(call, m.CardArtForBrandAsked)]
        for wanted, art in zip(asked, call.answer.arts if call.answer else (), strict=False):
            if art != wanted:
                observed = "the picture of another card" if art in asked else "a picture of another name"
                todo = "Return the picture of the card that the SDK names; your adapter names each picture by its card."
                yield Miss(f"the picture of {wanted}", observed, todo, root=Root.WRONG_CARD)
                return


def request_made(seen: WalletSeen) -> Iterator[Miss]:
    """Each request came, for its card."""
    for call in of_function(seen, GENERATE):
        wanted = call.request["identifier"]
        if call.answer is None or call.answer.request == wanted:
            continue
        causes = refusals(seen, call)
        todo = "Return what the SDK's operation of the same name returns, with this handler as its delegate."
        if not seen.during(call, m.ServiceMade, m.ServiceNotMade):
            causes, todo = ["it made no service of the SDK in this call"], FRESH
        elif not seen.during(call, m.ServiceMade):
            todo = REFRESH
        elif not seen.during(call, m.SdkGenerateCalled):
            causes.append("the SDK's operation of the same name was not called")
        observed = "; ".join(["nil" if not call.answer.request else "one for another card", *causes])
        own = c.refused_for(observed)
        todo, follows = own or todo, not own and bool(seen.during(call, m.SdkThrew))
        yield Miss(f"a request for {wanted}", observed, todo, root=Root.FOLLOWS if follows else Root.CASE)
        return


def handed_on(seen: WalletSeen) -> Iterator[Miss]:
    """The SDK got what the wallet gave: identifier, configuration, chain, nonce and signature."""
    for call, got in zip(of_function(seen, GENERATE), seen.device.generated, strict=False):
        given = call.request
        chain, nonce, signature = given["certificateChain"], given["nonce"], given["nonceSignature"]
        if (got.nonce, got.nonce_signature) == (signature, nonce):
            yield Miss("nonce and nonceSignature at their own labels", "they were exchanged", UNCHANGED)
        elif got.certificate_chain != chain and sorted(got.certificate_chain) == sorted(chain):
            yield Miss("the certificate chain in the wallet's order", "it has another order", UNCHANGED)
        elif got.certificate_chain != chain:
            observed = f"{len(got.certificate_chain)} of other bytes came"
            yield Miss(f"the wallet's {len(chain)} certificates", observed, UNCHANGED)
        elif (got.nonce, got.nonce_signature) != (nonce, signature):
            yield Miss("the wallet's nonce and signature, byte for byte", "other bytes came", UNCHANGED)
        elif got.configuration != given["configuration"]:
            yield Miss("the wallet's configuration", "another one came", UNCHANGED)
        elif got.identifier != given["identifier"]:
            yield Miss("the wallet's identifier", "another one came", UNCHANGED)
    if not seen.device.generated:
        yield Miss("a call of the SDK's operation", "none was made", UNCHANGED, root=Root.FOLLOWS)


def request_nil(seen: WalletSeen) -> Iterator[Miss]:
    """No request came: there is none to return."""
    for call in of_function(seen, GENERATE):
        if call.answer is not None and call.answer.request:
            yield Miss("nil", "a request came", "Return nil when the SDK throws.")


def in_time(seen: WalletSeen) -> Iterator[Miss]:
    """Each call returned within its limit by our clock."""
    for call in seen.calls:
        limit = LIMITS[call.call.function].seconds
        if call.answer is not None and call.ended - call.began > limit:
            observed = f"it took {call.ended - call.began:.1f} s"
            yield Miss(f"{call.call.function}() within {limit:g} s", observed, c.LIMIT)


def of_function(seen: WalletSeen, function: str) -> list[HandlerCall]:
    """The calls of this function."""
    return [call for call in seen.calls if call.call.function == function]


def overlaps(seen: WalletSeen, call: HandlerCall) -> bool:
    """Whether another call ran at the same time."""
    others = (other for other in seen.calls if other is not call)
    return any(other.began < call.ended and call.began < other.ended for other in others)


def measure(seen: WalletSeen) -> str:
    """What the calls took, in words."""
    parts = []
    for cold, word in ((True, "cold"), (False, "warm")):
        calls = [call for call in seen.calls if call.cold is cold and call.answer is not None]
        if calls:
            quickest = min(call.own_seconds for call in calls)
            limit = LIMITS[calls[0].call.function]
            share = quickest * seen.desk / limit.seconds
            parts.append(
                f"{word} {quickest * 1000:.1f} ms, which is {share:.0%} of {limit} on a phone "
                f"{seen.desk:g} times slower (assumed)"
            )
    peak = max((call.answer.peak_memory for call in seen.calls if call.answer is not None), default=0)
    memory = f"peak memory {peak / 2**20:.0f} MiB on this machine"
    return f"{seen.calls[0].call.function}(): {'; '.join([*parts, memory])}." if seen.calls else ""


def extension_case(  # noqa: PLR0917 - a row of a table
    group: c.AppGroup, name: str, says: str, rule: str, steps: tuple[WalletStep, ...], judge: Any, **needs: bool
) -> c.AppCase:
    """One row of a table of the extension's cases. If a call did not return, its judge is not asked."""

    def judged(seen: WalletSeen) -> Iterator[Miss]:
        for call in seen.calls:
            if call.failed:
                hangs = RETURN_AT_ONCE if call.call.function == STATUS else RETURN
                todo = hangs if "within" in call.failed else GO_ON
                yield Miss(f"an answer of {call.call.function}()", call.failed, todo, harms=True, root=Root.NO_ANSWER)
                return
        yield from judge(seen)

    return c.app_case(group, name, says, rule, steps, judged, **needs)  # type: ignore[arg-type]


# The cases. A row is: group, name, what it requires, rule, steps, judge.

IS_SHOWN = (c.SHOWN,)
# Two cards' pages were opened, so both are saved.
SAVED = (*OPENED, c.CLOSE, c.Do("openCardPage", 1), Until("opened", IS_SHOWN), c.CLOSE)
OFFERED = all_of(c.in_order, c.button_is("opened", c.SHOWN, todo=SHOW))
NO_RETRY = f"{SHOW} (A button that makes the GET again is not this one: report .hidden for it.)"
OFFERS_NOTHING = all_of(c.in_order, c.button_is("opened", *c.NOT_OFFERED, todo=NO_RETRY))
COMES_BACK = c.button_is("after", c.SHOWN, todo=c.AGAIN, rule="APP-10")
FAILED_ONCE = all_of(c.in_order, given_bytes_only, c.post_once, COMES_BACK)
CANCELS, BREAKS = c.SetPhone({"ends_with": "userCancelled"}), c.SetPhone({"ends_with": "walletKitError"})
IN_BACKGROUND, BACK = c.Do("enterBackground"), c.Do("enterForeground")

ROWS: list[tuple[Any, ...]] = [
    ("screen", "shown-when-possible", "canAddCard shows the button.", "B-CAN-1", OPENED, OFFERED),
    ("screen", "hidden-when-in-wallet", "A card that is in the wallet is not offered.", "B-CAN-3",
     (UsePhone("card already in the wallet"), *NOT_OPENED),
     all_of(c.in_order, c.button_is("opened", *c.NOT_OFFERED, todo=SHOW))),
    ("screen", "not-shown-while-asking", "Before canAddCard has answered, no button can be pressed.", "FLOW-3",
     (Hold(GET), OPEN, c.Reached(GET), Rest("opened", c.NOT_OFFERED), Release(GET), Until("shown", IS_SHOWN)),
     c.button_is("opened", *c.NOT_OFFERED, todo=SHOW)),
    ("screen", "not-shown-before-the-answer", "Before activate() has answered, no button can be pressed, either.",
     "FLOW-3", (Hold(c.CAN_ADD), OPEN, c.Reached(c.CAN_ADD), Rest("opened", c.NOT_OFFERED), Release(c.CAN_ADD),
                Until("shown", IS_SHOWN)), c.button_is("opened", *c.NOT_OFFERED, todo=SHOW)),
    ("screen", "hidden-without-wallet", "Without a service no button is offered (assumed).", "APP-1",
     (UsePhone("another wallet"), *NOT_OPENED), OFFERS_NOTHING),
    ("screen", "hidden-after-success", "A card that was added is not offered again.", "B-CAN-3", c.ADDED_WATCHED,
     all_of(c.in_order, c.once_added(c.button_is("after", *NOT_SHOWN, todo="Ask canAddCard once more at the end.")))),
    ("screen", "offered-for-the-watch-after-success", "What the watch lacks is offered after a success (assumed).",
     "APP-10", (UsePhone("with a watch"), *c.FAILED_WATCHED),
     c.once_added(c.button_is("after", c.SHOWN, todo="Ask canAddCard once more at the end: the watch lacks it."))),
    ("screen", "offered-for-the-watch", "A card that only the watch lacks is offered.", "B-CAN-2",
     (UsePhone("card on the phone, not on the watch"), *OPENED), all_of(watch_as_heard, OFFERED)),
    ("form", "one-get-before-service", "The service is made of the GET's sdkInput, decoded once.", "B-INIT-1", OPENED,
     all_of(service_made, c.in_order)),
    ("fidelity", "output-unchanged", "The POST carries the SDK's sdkOutput as base64 text, once, for its card.",
     "API-8", ADDED, c.output_unchanged),
    ("fidelity", "input-unchanged", "The delegate returns the POST's sdkInput, decoded once.", "B-DEL-3", ADDED,
     returned_bytes),
    ("fidelity", "json-escaped", "What JSON escapes passes unchanged.", "API-8", (c.Escape(), *ADDED),
     c.escaped(c.first_of(service_made, c.output_unchanged, returned_bytes))),
    ("recovery", "enabled-after-cancel", "After a cancel the button can be pressed again (assumed).", "APP-10",
     (CANCELS, *c.FAILED_WATCHED), all_of(c.in_order, c.called_once, COMES_BACK)),
    ("recovery", "enabled-after-neither", "After an end with neither pass nor error it can be pressed again (assumed).",
     "APP-10", (UsePhone("neither pass nor error"), *c.FAILED_WATCHED), COMES_BACK),
    ("recovery", "enabled-after-start-threw", "After start has thrown, the button can be pressed again (assumed).",
     "APP-10", (c.SetPhone({"entitled": TARGETS[1:]}), *c.FAILED_WATCHED), all_of(c.in_order, COMES_BACK)),
    ("life", "background-during-attempt", "An attempt goes on while the app is in the background (assumed).", "APP-2",
     (*HELD_POST, IN_BACKGROUND, Release(POST), Rest("behind"), BACK, Rest("after", NOT_SHOWN)),
     all_of(c.in_order, c.one_attempt, c.post_once,
            c.first_of(goes_on, c.button_is("after", *NOT_SHOWN, todo=c.FOLLOW)))),
    ("life", "process-death", "After the process has ended, the page works again (assumed).", "APP-2",
     (*HELD_POST, Die(), Release(POST), *c.WATCHED),
     all_of(c.post_once, c.in_order, c.button_is("opened", c.SHOWN, todo=ANEW))),
    ("form", "one-watch-availability", "Two pages share one WatchAvailability.", "B-WATCH-2",
     (*OPENED, c.CLOSE, *c.WATCHED), watch_once, {"variant": B_LATER.name}),
    ("form", "watch-as-heard", "isWatchActivated is what activate() answered.", "B-WATCH-1",
     (*OPENED, c.CLOSE, UsePhone("with a watch"), *OPENED), watch_as_heard, {"variant": B_LATER.name}),
    ("screen", "says-added", "After a success the page says so.", "B-FIN-2",
     (*OPENED, TAP, Until("added", NOT_SHOWN, says=True), c.CLOSE, OPEN, Until("there", NOT_SHOWN, says=True)),
     c.once_added(says_so), {"reads": True}),
]  # fmt: skip

MAKE = "Read what the app saved, make ExtensionProvisioningService of it, and return its extensionStatus."
NO_LOCK = "Let no call of the extension lock out another: two of them may run at the same time."
LEAVE_OUT = "Leave out what the SDK refuses: one bad sdkInput has it refuse the whole list (assumed)."
NO_SERVICE = "Return entriesUnavailableExtensionStatus when no service can be made."
STATUS_CALL, LIST, WATCH_LIST, REQUEST = map(WalletCall, LIMITS)
KEPT = tuple(WalletCall(name, new_process=False) for name in LIMITS)
WITH_WATCH = (UsePhone("with a watch"), *SAVED)
EXTENSION_ROWS: list[tuple[Any, ...]] = [
    ("status", "available-once-saved", "After the app saved a card, status() says that there are entries.",
     "X-STATUS-1", (*SAVED, STATUS_CALL), status_is(available=True, todo=MAKE)),
    ("status", "asks-for-authentication", "status() says that your authorization UI authenticates.", "X-STATUS-1",
     (*SAVED, STATUS_CALL), asks_for_authentication),
    ("status", "available-without-the-app", "status() needs no app that runs.", "X-CACHE-1",
     (*SAVED, Die(), STATUS_CALL), status_is(available=True, todo=MAKE)),
    ("status", "unavailable-without-card", "Where nothing was saved, status() says so.", "X-STATUS-2", (STATUS_CALL,),
     status_is(available=False, todo=NO_SERVICE)),
    ("status", "unavailable-when-refused", "Where the SDK makes no service, status() says so.", "X-STATUS-2",
     (*SAVED, Expire(), STATUS_CALL), status_is(available=False, todo=NO_SERVICE)),
    ("status", "unavailable-when-damaged", "What was saved and cannot be read is no card.", "X-STATUS-2",
     (*SAVED, Damage(), STATUS_CALL), status_is(available=False, todo=NO_SERVICE)),
    ("status", "available-when-partly-usable", "One sdkInput that is refused hides no other card (assumed).", "APP-11",
     (*SAVED, Expire((0,)), STATUS_CALL), status_is(available=True, todo=LEAVE_OUT)),
    ("status", "no-network", "status() makes no network call.", "X-STATUS-3", (*SAVED, STATUS_CALL),
     provoked(no_network, m.ServiceMade)),
    ("status", "cold-within-100-ms", f"status() of a new process returns within {LIMITS[STATUS]}.", "X-STATUS-3",
     (*SAVED, *(STATUS_CALL,) * 3), provoked(within_limit, m.ServiceMade), {"measures": True}),
    ("status", "warm-within-100-ms", f"status() of a running process returns within {LIMITS[STATUS]}.", "X-STATUS-3",
     (*SAVED, *(KEPT[0],) * 4), provoked(within_limit, m.ServiceMade), {"measures": True}),
    ("status", "twice-at-once", "Two calls at the same time get the same answer (assumed).", "APP-11",
     (*SAVED, AtOnce((STATUS_CALL, STATUS_CALL))), status_is(available=True, todo=NO_LOCK)),
    ("entries", "phone-list", "passEntries() returns the SDK's list for the phone.", "X-ENTRIES-1",
     (*SAVED, STATUS_CALL, LIST), lists(ENTRIES, 0, 1)),
    ("entries", "watch-list", "remotePassEntries() returns the SDK's list for the watch.", "X-ENTRIES-2",
     (*WITH_WATCH, STATUS_CALL, WATCH_LIST, LIST), all_of(lists(REMOTE_ENTRIES, 0, 1), lists(ENTRIES, 0, 1))),
    ("entries", "twice", "A list that is asked for twice is the same.", "X-ENTRIES-1", (*SAVED, LIST, LIST),
     all_of(lists(ENTRIES, 0, 1), one_get_a_card)),
    ("entries", "initialised-in-each-call", "In one process each call makes the service anew.", "X-HANDLER-1",
     (*WITH_WATCH, *KEPT, KEPT[3]), initialised_each_time),
    ("entries", "none-without-card", "Where nothing was saved, the list ends well.", "X-ENTRIES-1", (LIST,),
     lists_nothing_unknown),
    ("entries", "refreshed-when-expired", "Fresh data from the back end takes the place of what expired (assumed).",
     "APP-11", (*SAVED, Expire(), LIST), lists(ENTRIES, 0, 1, todo=REFRESH)),
    ("entries", "back-end-down", "A back end that fails ends no list.", "X-ENTRIES-3", (*SAVED, Fail(GET, "500"), LIST),
     lists_nothing_unknown),
    ("entries", "back-end-cut", "A connection that is cut ends no list.", "X-ENTRIES-3",
     (*SAVED, Fail(GET, "connection cut"), LIST), lists_nothing_unknown),
    ("entries", "get-of-another-card", "A GET that is answered for another card ends no list.", "X-ENTRIES-1",
     (*OPENED, c.CLOSE, Swap(GET), LIST), lists_nothing_unknown),
    ("entries", "none-after-sign-out", "After a sign-out no card is left for the wallet (assumed).", "APP-13",
     (*SAVED, c.SIGN_OUT, Rest("after"), STATUS_CALL, LIST), c.first_of(c.signed_out,
      status_is(available=False, todo=c.FORGET), lists(ENTRIES, todo=c.FORGET))),
    ("entries", "back-end-slow", f"Both lists return within {LIMITS[ENTRIES]}, also while the back end hangs.",
     "X-ENTRIES-3", (*WITH_WATCH, c.Do("openCardPage", 2), Until("opened", IS_SHOWN), c.CLOSE, Hold(GET),
      AtOnce((LIST, WATCH_LIST)), Release(GET)), in_time),
    ("entries", "nothing-afterwards", "Nothing goes on after a list was returned (assumed).", "APP-11",
     (*SAVED, WalletCall(STATUS, stays=True), WalletCall(ENTRIES, stays=True)),
     provoked(nothing_afterwards, m.SdkPassEntriesCalled)),
    ("art", "of-the-card", "Each entry has the picture of its own card.", "X-ART-1", (*WITH_WATCH, LIST, WATCH_LIST),
     provoked(art_of_the_card, m.CardArtForIdAsked, m.CardArtForBrandAsked)),
    ("request", "made", "The handler returns the SDK's request.", "X-GEN-1", (*SAVED, STATUS_CALL, LIST, REQUEST),
     request_made),
    ("request", "handed-on-unchanged", "The SDK gets what the wallet gave, unchanged (inferred).", "X-GEN-1",
     (*SAVED, REQUEST), handed_on),
    ("request", "output-unchanged", "The POST carries the sdkOutput as base64 text, once, for its card.", "X-DEL-1",
     (*SAVED, REQUEST), c.output_unchanged),
    ("request", "input-unchanged", "The delegate returns the POST's sdkInput, decoded once.", "X-DEL-1",
     (*SAVED, REQUEST), returned_bytes),
    ("request", "second-card", "A request is for the card that the wallet names.", "X-GEN-1",
     (*SAVED, WalletCall(GENERATE, card=1)), all_of(request_made, c.posts_unchanged)),
    ("request", "made-when-expired", "A request is made with fresh data where what was saved expired (assumed).",
     "APP-11", (*SAVED, Expire(), REQUEST), request_made),
    ("request", "nil-when-nothing-works", "Where all is expired and the back end fails, the handler returns nil.",
     "X-GEN-1", (*SAVED, Expire(), Fail(GET, "500"), REQUEST), request_nil),
    ("request", "nil-when-the-sdk-throws", "The handler returns nil when the SDK throws.", "X-GEN-1",
     (*SAVED, Swap(), REQUEST), provoked(request_nil, m.ExtensionProvisionCalled)),
    ("request", "nil-for-an-unknown-card", "For an identifier that nobody knows the handler returns nil.", "X-GEN-1",
     (*SAVED, WalletCall(GENERATE, card=99)), request_nil),
    ("request", "nil-without-card", "Where nothing was saved, the handler returns nil.", "X-GEN-1", (REQUEST,),
     request_nil),
    ("request", "in-one-process", "A request in a process that served the list is made as well.", "X-HANDLER-1",
     (*SAVED, KEPT[1], KEPT[3]), request_made),
    ("request", "back-end-slow", f"The handler returns within {LIMITS[GENERATE]}, also while the back end hangs.",
     "REL-5", (*SAVED, Hold(POST), REQUEST, Release(POST)), all_of(in_time, request_nil)),
    ("secrecy", "no-value-in-the-extensions-log", "The extension's log contains no sdkInput and no sdkOutput.", "REL-3",
     (*SAVED, *KEPT), provoked(all_of(c.silent("sdkInput"), c.silent("sdkOutput")), m.ExtensionProvisionCalled)),
    ("secrecy", "no-session-in-the-extensions-log", "The extension's log contains no session (assumed).", "APP-12",
     (*SAVED, *KEPT), c.silent("session")),
    ("secrecy", "back-end-only-in-the-extension", "The extension calls the back end, and never the HTTP API.", "API-13",
     (*SAVED, LIST, REQUEST), c.own_back_end_only),
]  # fmt: skip


def _cases() -> Iterator[c.AppCase]:
    works = c.SetPhone({"ends_with": None})
    rules = {"begins": "B-START-1", "adds": "B-FIN-1", "one": "APP-10", "show": SHOW}
    both = c.shared_rows(**rules, cancels=CANCELS, breaks=BREAKS, works=works)
    yield from c.cases_of([*ROWS, *both])
    for group, name, says, rule, steps, judge, *needs in EXTENSION_ROWS:
        yield extension_case(group, name, says, rule, steps, judge, **dict(*needs))
    yield from c.fault_cases("nil for the SDK", FAILED_ONCE, all_of(service_of_nothing_else, OFFERS_NOTHING))
    for name in WRONG_ANSWERS:
        slug = name.lower().replace(" ", "-")
        says = f"In the extension, a POST that ends with {name!r} is nil for the SDK and for the wallet."
        steps = (*SAVED, Fail(POST, name), REQUEST)
        judge = all_of(given_bytes_only, c.post_once, request_nil)
        yield extension_case("request", f"nil-after-{slug}", says, "X-DEL-1", steps, judge)


def service_of_nothing_else(seen: AppSeen) -> Iterator[Miss]:
    """No service is made of what the back end never gave."""
    if seen.happened(m.ServiceCalled) and not any(arrival.given for arrival in seen.came(GET)):
        yield Miss("no service without an sdkInput", "one was made of other bytes", f"{NOTHING_ELSE} {c.ONLY_200}")


# Every case by its name.
APP_CASES_B: Mapping[str, c.AppCase] = {case.name: case for case in _cases()}
