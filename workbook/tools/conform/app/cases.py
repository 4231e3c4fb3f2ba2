"""The cases of `workbook conform app` on platform A; steps, what a case saw, and judges are those of both platforms."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, Literal, TypeAlias, get_args
from urllib.parse import unquote

from pydantic.alias_generators import to_snake

from workbook.api.opaque import decode_strictly
from workbook.base.secrecy import SHORTEST
from workbook.base.values import quoted
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.flows.trace import Record
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, VARIANTS_A, VariantB
from workbook.simulation.phones import CAN_PROVISION_FAILURES
from workbook.simulation.wallet import CANCELED, ERRORS, PROVISION_FAILURES
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.conform.app.device import Device
from workbook.tools.conform.app.phone import WRONG_ANSWERS, Arrival
from workbook.tools.conform.back_end.judging import all_of
from workbook.tools.conform.back_end.model import GET, POST
from workbook.tools.harness.model import Case, Miss, Root
from workbook.tools.harness.program import LogLine

# What the page may say of its button.
SHOWN, DISABLED, HIDDEN, ABSENT = "shown", "disabled", "hidden", "absent"
# Where an app can be held besides the back end's GET and POST: before each answers. The last is platform B's, and means
# activate() as well; an app may ask before its page opens, so that nothing can be held.
ON_PHONE = WALLET, ASKING, CAN_ADD = "wallet", "canProvision", "canAddCard"
# Seconds that the wallet waits (REL-5). An app waits no longer than that for its back end (assumed).
WALLET_WAITS = m.LIMITS["provision"].seconds


# What a cardholder, a phone and a back end do. Data only; `run.AppStage` carries it out.


@dataclass(frozen=True, slots=True)
class Do:
    """The cardholder acts: openCardPage, tapAdd, closeCardPage, rotate, processDeath, signOut."""

    what: str
    card: int = 0


@dataclass(frozen=True, slots=True)
class OfPage:
    """A step that waits for what the page is to show, and then notes what it shows, in any case within the patience.

    Attributes:
        name: of the look.
        buttons: what the button is to be, one of these; empty where it may be anything.
        says: whether the page is to have a message.
    """

    name: str
    buttons: tuple[str, ...] = ()
    says: bool = False


class Until(OfPage):
    """An expectation: it holds once it is seen. What was there before proves nothing until the page rests."""


class Rest(OfPage):
    """A prohibition: the page is watched until it rests, and counts as what it is then."""


@dataclass(frozen=True, slots=True)
class OfPlace:
    """A step about one place where an app can be held: GET, POST or one of `ON_PHONE`."""

    where: str


class Hold(OfPlace):
    """From here on the answer to GET, POST or canProvision, or the wallet, waits."""


class Reached(OfPlace):
    """An expectation: something is held there."""


class Outlast(OfPlace):
    """Hold GET or POST until the app has given it up, or for as long as the wallet waits."""


class Release(OfPlace):
    """What is held there goes on."""


@dataclass(frozen=True, slots=True)
class Fail:
    """From here on the back end answers like this; an empty name ends that."""

    operation: str
    how: str = ""


@dataclass(frozen=True, slots=True)
class Escape:
    """From here on each sdkOutput ends in characters that JSON escapes, and the back end escapes what it may."""


@dataclass(frozen=True, slots=True)
class SetPhone:
    """From here on the phone has these facts; see `simulation.phones.PhoneA`."""

    facts: Mapping[str, Any]


AppStep: TypeAlias = Do | Until | Rest | Hold | Reached | Outlast | Release | Fail | Escape | SetPhone

OPEN, TAP, CLOSE, ROTATE, DIE = map(Do, ("openCardPage", "tapAdd", "closeCardPage", "rotate", "processDeath"))
SIGN_OUT = Do("signOut")
NOT_SHOWN = (HIDDEN, ABSENT)
NOT_OFFERED = (*NOT_SHOWN, DISABLED)
OPENED = (OPEN, Until("opened", (SHOWN,)))
ADDED = (*OPENED, TAP, Until("after", NOT_SHOWN))
# The same, where something must not be: watched to the end.
WATCHED = (OPEN, Rest("opened", (SHOWN,)))
ADDED_WATCHED = (*OPENED, TAP, Rest("after", NOT_SHOWN))
FAILED_WATCHED = (*OPENED, TAP, Rest("after", (SHOWN,)))
NOT_OPENED = (OPEN, Rest("opened", NOT_OFFERED))


@dataclass(slots=True)
class AppSeen:
    """Everything that one case saw; `run.AppStage` fills it in.

    Attributes:
        cards: the ids of the case's cards.
        looks: what the page showed, by the name of each look: its button and its message.
        device: the phone, with the trace of all calls.
        arrivals: the requests at the back end.
        threw: what the app's own code threw, out of an action or uncaught elsewhere, in words.
        hosts: every host and port that the app's process asked for.
        back_end: host and port of the back end.
        reports: how many card configuration issues the app says it reported in this case; None where it cannot say.
        log: what the process printed meanwhile.
        session: what the app was given to present.
        lacking: what the case needs and the app does not have, in words; then nothing is judged.
        signed_out: when the cardholder had signed out, on the monotonic clock.
        kept: what the extension can still read then.
        unreached: where the attempt should have been held but never arrived; empty where it arrived.
        slow: which function of the adapter was answered late though nothing was held, in words; empty where none was.
        blocked: which function of the adapter was not answered while something was held, in words; empty where none.
        earlier: every sdkInput that the back end gave in the cases before.
    """

    cards: tuple[str, ...]
    looks: dict[str, tuple[str, str]]
    device: Device
    arrivals: tuple[Arrival, ...] = ()
    threw: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)
    back_end: str = ""
    reports: int | None = None
    log: tuple[LogLine, ...] = field(default=(), repr=False)
    session: str = field(default="", repr=False)
    lacking: str = ""
    signed_out: float = inf
    kept: str = field(default="", repr=False)
    unreached: str = ""
    slow: str = ""
    blocked: str = ""
    earlier: frozenset[str] = field(default=frozenset(), repr=False)

    def button(self, look: str) -> str:
        """The button at that look."""
        return self.looks.get(look, (ABSENT, ""))[0]

    def message(self, look: str) -> str:
        """What the page says at that look."""
        return self.looks.get(look, ("", ""))[1]

    def came(self, operation: str) -> list[Arrival]:
        """The requests of one operation."""
        return [arrival for arrival in self.arrivals if arrival.operation == operation]

    def happened(self, *events: type[Event]) -> list[Record]:
        """The records of these events on the phone."""
        return self.device.trace.select(*events)


AppJudge: TypeAlias = Callable[[AppSeen], Iterator[Miss]]


# What a case is about.
AppGroup: TypeAlias = Literal[
    "screen", "form", "fidelity", "concurrency", "recovery", "secrecy", "life", "isolation", "faults",
    "status", "entries", "art", "request",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AppCase(Case[AppSeen]):
    """One case in front of an app, with a name like `app.screen.hidden-when-in-wallet`.

    Attributes:
        steps: what happens.
        variant: the only SDK variant that it is for; empty for both.
        asks: it asks how many reports there were.
        reads: it needs the app to hand over what its page says.
        measures: it runs alone, and reports what its calls took.
    """

    steps: tuple[Any, ...] = field(default=(), repr=False)
    variant: str = ""
    asks: bool = False
    reads: bool = False
    measures: bool = False


def app_case(  # noqa: PLR0917 - a row of a table
    group: AppGroup, name: str, says: str, rule: str, steps: tuple[Any, ...], judge: AppJudge, **needs: Any
) -> AppCase:
    """One row of a table of cases; `name` is without `app.` and its group, `needs` are the last fields of `AppCase`.

    If the app hung or threw, or did not get as far as the case needs, its judge is not asked.
    """

    def judged(seen: AppSeen) -> Iterator[Miss]:
        unread = tuple(unread_requests(seen))
        waits = SUSPEND_B if isinstance(seen.device.variant, VariantB) else SUSPEND
        if seen.blocked:
            yield Miss("a main thread that waits for nothing", seen.blocked, waits, rule="APP-7", root=Root.NO_ANSWER)
        elif seen.threw:
            ends = "It ends the app. If the call outlived its page, end it with the page; else catch what it throws."
            yield from in_order(seen)
            for text in seen.threw:
                todo = ONCE if "twice" in text else NO_MAIN if "MainDispatchers" in text else ends
                yield Miss("no exception in the app", text, todo, harms=True)
        elif seen.lacking:
            return
        elif unread:
            yield unread[0]
        elif seen.unreached == GET:
            yield NO_GET
        elif seen.unreached:
            yield never_came(seen.unreached)
        else:
            yield from judge(seen)
            if seen.slow:  # by our own clock, so no verdict
                yield Miss("a main thread that is free", seen.slow, waits, rule="APP-7", noted=True)

    return AppCase(f"app.{group}.{name}", says, rule, group, judged, steps=steps, **needs)


# The judges.

ATTEMPTS = (m.ProvisionCalled, m.ProvisionWithProviderCalled, m.StartCalled)
# What hands an sdkOutput to the app; the delegate's call in platform B's earlier variant names no card.
OUTPUTS = (m.FetchOpcCalled, m.SdkOutputCreated, m.DelegateProvisionWithIdCalled, m.DelegateProvisionCalled,
           m.ExtensionProvisionCalled)  # fmt: skip
SUCCESSES = (m.ProvisionSuccess, m.FinishedWithPass)
FAILURES = (m.ProvisionFailure, m.ProviderFailed, m.OpcFailed, m.ServiceRefused, m.StartThrew, m.DelegateFailed,
            m.FinishedWithError, m.FinishedWithNeither)  # fmt: skip
GUARD = "Disable the button in the tap itself, before anything suspends, and enable it when the attempt is over."
SUSPEND = (
    "Nothing may wait on the main thread: no runBlocking, no blocking HTTP call, no latch. Call your back end on "
    "another dispatcher, in fetchOpc too, the SDK in a coroutine. If only the adapter waits, let it return at once."
)
SUSPEND_B = (
    "Nothing may wait on the main thread: no DispatchSemaphore, no DispatchQueue.main.sync, no blocking HTTP call. "
    "Await your back end in a Task, and let each function of the adapter return at once."
)
NO_MAIN = (
    "A plain JVM has no Dispatchers.Main: give your core another dispatcher, or set it with kotlinx-coroutines-test, "
    "whose jar belongs to `libraries` of [kotlin]."
)
SIGN = "Send the session that conform gives your app, as authorization: Bearer SESSION; save it for your extension."
PLACE = "Write into app.toml where your app puts the value: sdk_output of [post], or id, each a JSON pointer."
JSON_ALONE = "Read and write JSON with a library for it alone: it may escape any character, and has to escape some."
ALONE = "No case of app.form or app.fidelity says why: look at this case's own requests in the report."
ELSEWHERE = "Its cause is in another case: look at app.form first, then at app.fidelity."
ENCODE_ONCE = "Encode sdkOutput once: on platform A it is text already, on platform B its bytes become base64 (API-8)."
ONCE = "Call each completion once, on every path."
AT_PLACE = "Its place in the answer is sdk_input of app.toml, if you have one."
AS_IT_IS = "Hand it on as it is."
LIMIT = f"Give each call of your back end a time limit: above its own, and below the wallet's {WALLET_WAITS:g} s."
FORGET = "At a sign-out forget the session and what was made with it, and delete all that the extension reads."
PRESENT = "Return the activity of this moment, not the first one, which a rotation has ended."
# What to do, by what the SDK says when it refuses.
REFUSED: Mapping[str, str] = {
    "activityProvider": PRESENT,
    "(answers|is of) attempt": "Make a POST for each sdkOutput, hand on its answer, and keep none: it serves once.",
    "of kind 'activation'": "Hand on the sdkInput of the POST, not that of the GET.",
}
# The miss of an app that keeps activation data beyond its page.
KEPT = Miss(
    "the sdkInput of this page's own GET",
    "create got one that an earlier page was given",
    "Fetch activation data each time the page opens, and keep it nowhere.",
    rule="REL-7",
    root=Root.OLD_ANSWER,
)
NO_GET = Miss("a GET each time a page opens", "none came", KEPT.todo, root=Root.OLD_ANSWER)


def button_is(look: str, *allowed: str, todo: str, rule: str = "") -> AppJudge:
    """At this look, the button is one of these; `rule` is what it breaks else, the case's own where it is empty."""

    def judge(seen: AppSeen) -> Iterator[Miss]:
        if (now := seen.button(look)) not in allowed:
            yield Miss(f"a button that is {' or '.join(allowed)}", f"it is {now}", todo, rule=rule)

    return judge


def never_came(what: str) -> Miss:
    """The miss of an app that did not come as far as the case needs."""
    return Miss(f"an attempt that comes as far as its {what}", "it did not", ELSEWHERE, harms=True, root=Root.FOLLOWS)


def unread_requests(seen: AppSeen) -> Iterator[Miss]:
    """Each request that the back end could take for none of the app's two, or without a value or the session."""
    for arrival in seen.arrivals:
        if not arrival.operation and not seen.came(GET):
            sent = f"{arrival.request.method} {arrival.request.target}"
            todo = "Write the app's own route as path of [get] in app.toml, with {id} where the card's id is."
            yield Miss("a GET on the route that app.toml names", f"{sent} came", todo, root=Root.PLAIN_CALL)
        elif arrival.misplaced:
            expected = f"a {arrival.operation} with each value at its place"
            todo = JSON_ALONE if "no JSON" in arrival.misplaced else PLACE
            yield Miss(expected, arrival.misplaced, todo, root=Root.PLAIN_CALL)
        elif arrival.operation and not arrival.session and arrival.status == 401 and arrival.at < seen.signed_out:
            sent = (arrival.request.header("authorization") or "").removeprefix("Bearer").strip()
            carried = "another one" if sent else "none"
            yield Miss(f"a {arrival.operation} with the session", f"it carried {carried}", SIGN, root=Root.PLAIN_CALL)


def set_up_once(seen: AppSeen) -> Iterator[Miss]:
    """A page has one SDK client, also after a rotation. A second one fails where the attempt under way is harmed."""
    todo = (
        "The GET and the SDK's client belong to the opening of a page, once. Keep the client where a rotation does not "
        "end it (a view model); on a return to the page ask it again whether the card can be added."
    )
    clients = len(seen.happened(m.CreateCalled, m.ServiceCalled))
    for what, made in (("client of the SDK", clients), ("GET", len(seen.came(GET)))):
        if made > 1:
            harms = len(seen.happened(*ATTEMPTS)) > 1 or seen.button("rotated") == SHOWN
            root = Root.OLD_ANSWER if harms else Root.CASE
            yield Miss(f"one {what} for a page", f"{made} were made", todo, rule="APP-2", harms=harms, root=root)
            return


def one_attempt(seen: AppSeen) -> Iterator[Miss]:
    """One attempt, no more and no fewer; one that the SDK's order does not allow counts as well."""
    refused = sum(sentence.startswith(("start(", "provision(")) for sentence in seen.device.refused)
    if (attempts := len(seen.happened(*ATTEMPTS)) + refused) != 1:
        rule = "APP-10" if isinstance(seen.device.variant, VariantB) else "A-BTN-1"
        yield Miss("1 attempt", f"{attempts} were begun", GUARD, rule=rule)


def in_order(seen: AppSeen) -> Iterator[Miss]:
    """No call came in an order that the document does not show."""
    for sentence in seen.device.refused:
        yield Miss("calls in the document's order", sentence, "Call the SDK in the order of the flow.", rule="FLOW-2")


def given(call: type[Event], operation: str, expected: str, observed: str, todo: str) -> AppJudge:
    """Each such call carries an sdkInput that this operation gave in this case."""

    def judge(seen: AppSeen) -> Iterator[Miss]:
        texts = {arrival.given for arrival in seen.came(operation)}
        for _record, called in seen.device.trace.seen(call):
            if (text := opaque_text(getattr(called, "sdk_input", ""))) not in texts:
                yield KEPT if text in seen.earlier else Miss(expected, observed, todo)

    return judge


def escaped(judge: AppJudge) -> AppJudge:
    """The misses of a judge where the one thing that is unusual is how JSON is written."""
    return lambda seen: (replace(miss, todo=JSON_ALONE, root=Root.CASE) for miss in judge(seen))


def unused(seen: AppSeen, operation: str, expected: str, observed: str, todo: str) -> Miss:
    """The miss of a call that an answer of the back end leads to; without such an answer something else explains it."""
    answered = any(arrival.given for arrival in seen.came(operation))
    return Miss(expected, observed, todo, root=Root.PLAIN_CALL if answered else Root.CASE)


def at_least_one(call: type[Event], operation: str, expected: str, observed: str, todo: str) -> AppJudge:
    """Such a call was made, of an answer to this operation."""
    return lambda seen: iter(() if seen.happened(call) else (unused(seen, operation, expected, observed, todo),))


def posts_unchanged(seen: AppSeen) -> Iterator[Miss]:
    """Each POST that came carries the sdkOutput that the SDK made, for its card."""
    messages: list[Any] = [record.message for record in seen.happened(*OUTPUTS)]
    cards = {opaque_text(message.sdk_output): getattr(message, "payment_instrument_id", "") for message in messages}
    made = {output + seen.device.output_ends: card for output, card in cards.items()}
    for arrival in seen.came(POST):
        if arrival.sdk_output not in made:
            twice = arrival.sdk_output in {b64encode(text.encode()).decode() for text in made}
            observed, todo = ("it is encoded twice", ENCODE_ONCE) if twice else ("it carries another text", AS_IT_IS)
            yield Miss("a POST with the SDK's sdkOutput, byte for byte", observed, todo)
        elif arrival.card != (made[arrival.sdk_output] or arrival.card):
            todo = "Send it for the paymentInstrumentId that the SDK gives with it."
            expected = f"a POST for {made[arrival.sdk_output]}"
            yield Miss(expected, f"it is for {arrival.card}", todo, rule="APP-3", root=Root.WRONG_CARD)


def output_unchanged(seen: AppSeen) -> Iterator[Miss]:
    """A POST came, and each is as it should be."""
    yield from posts_unchanged(seen)
    if not seen.came(POST):
        yield Miss("a POST", "none came", "Have the OpcProvider ask the back end.")


def called_once(seen: AppSeen) -> Iterator[Miss]:
    """The one tap of a case began no more than one attempt."""
    todo = "Begin one attempt for each tap. After a failure enable the button: the next attempt is the cardholder's."
    if (attempts := len(seen.happened(*ATTEMPTS))) > 1:
        yield Miss("1 attempt for one tap", f"{attempts} were begun", todo, rule="REL-1")


def post_once(seen: AppSeen) -> Iterator[Miss]:
    """The one tap of a case began one attempt, which sent its POST once, whatever became of it."""
    todo = "Turn repeats off in your HTTP library for this call, and let the cardholder tap again."
    if not seen.came(POST):
        yield never_came(POST)
    yield from called_once(seen)
    if len(seen.came(POST)) > max(1, len(seen.happened(*ATTEMPTS))):
        yield Miss("one POST", f"{len(seen.came(POST))} came", todo, rule="REL-1")


def not_added(seen: AppSeen) -> Iterator[Miss]:
    """If no attempt succeeded: why the last one failed or none began."""
    if seen.happened(*SUCCESSES):
        return
    todo, observed, own = ELSEWHERE, "no attempt was begun", False
    if not seen.happened(*ATTEMPTS):
        todo = "Begin the attempt when Add is tapped. Is tapAdd() of your adapter connected with your button?"
        own = seen.button("opened") == SHOWN
    for record in seen.happened(*FAILURES):
        observed = f"{record.message.says}: {getattr(record.message, 'why', '')}"
    cause = refused_for(observed)
    root = Root.CASE if cause or own else Root.FOLLOWS
    yield Miss("a card that was added", observed, cause or todo, root=root)


def refused_for(observed: str) -> str:
    """What to do where these words of the SDK say why it failed; empty where they do not."""
    return next((todo for words, todo in REFUSED.items() if re.search(words, observed)), "")


def first_of(*judges: AppJudge) -> AppJudge:
    """The misses of the first judge that has any: what the others miss follows from them."""
    return lambda seen: iter(next(filter(None, (tuple(judge(seen)) for judge in judges)), ()))


def once_added(judge: AppJudge) -> AppJudge:
    """The judge's misses if a card was added; else why none was."""
    return first_of(not_added, judge)


def in_wallet(card: int) -> AppJudge:
    """This card, and no other, ended in the wallet."""

    def judge(seen: AppSeen) -> Iterator[Miss]:
        if seen.device.phone.cards != {seen.cards[card]}:
            there, todo = ", ".join(sorted(seen.device.phone.cards)), "Keep each page's card with its own client."
            yield Miss(f"{seen.cards[card]} in the wallet", f"{there} in it", todo, root=Root.WRONG_CARD)

    return once_added(judge)


def ended_with_process(seen: AppSeen) -> Iterator[Miss]:
    """All of the ended process stopped; else it is the adapter's fault."""
    if seen.happened(m.ProvisionSuccess):
        todo = "In processDeath() of your adapter, cancel everything that the app has begun."
        yield Miss("an attempt that ends with its process", "it went on and added the card", todo)


def get_each_opening(seen: AppSeen) -> Iterator[Miss]:
    """One GET for each time that the page was opened."""
    if len(seen.came(GET)) < 2:
        yield NO_GET


def late_get_unused(seen: AppSeen) -> Iterator[Miss]:
    """No call of create uses a GET's answer that comes after the wallet's limit."""
    for record in seen.happened(m.CreateCalled):
        if seen.device.began + record.at - seen.came(GET)[0].at > WALLET_WAITS:
            yield Miss("a GET that the app has given up by then", "create was called with its late answer", LIMIT)


def nothing_before_tap(seen: AppSeen) -> Iterator[Miss]:
    """Opening the page begins no attempt."""
    for record in seen.happened(*ATTEMPTS, m.CreateSdkOutputCalled):
        observed = f"{record.message.says} was called"
        yield Miss("no attempt before a tap", observed, "Begin it in the tap.", root=Root.PLAIN_CALL)
    if seen.came(POST):
        yield Miss("no POST before a tap", "one came", "Send it when the SDK has made an sdkOutput.")


def provider_ended(seen: AppSeen) -> Iterator[Miss]:
    """The provider ended with its page, while the back end still held the POST."""
    ended = [seen.device.began + record.at for record in seen.happened(m.OpcFailed)]
    answered = [arrival.answered or inf for arrival in seen.came(POST) if arrival.status]  # else the app cut it
    two_steps = seen.happened(m.SdkOutputCreated) and not seen.happened(m.ProvisionCalled)  # the second never came
    if not two_steps and (not ended or max(ended) > min(answered, default=inf)):
        todo = "Let fetchOpc suspend cancellably, and run the attempt in the page's scope."
        yield Miss("fetchOpc to end with its scope", "it still ran afterwards", todo, noted=True)


def reported(seen: AppSeen) -> Iterator[Miss]:
    """The app reported the card configuration issue; one that did not ask after its success could not see it."""
    if not seen.reports:
        todo = "Report it to the operator's contact, so that the scheme's card configuration is verified."
        asked = asked_after_success(seen)
        todo = todo if asked else f"Ask canProvision once more after a success; where it says yes: {todo}"
        yield Miss("a report: CanBeProvisioned for a card that was just added", "none was made", todo, noted=not asked)


def not_reported(seen: AppSeen) -> Iterator[Miss]:
    """The app reported nothing."""
    if seen.reports:
        todo = "Report CanBeProvisioned for a card that is in the wallet, and nothing else."
        yield Miss("no report: the card is configured as it should be", f"{seen.reports} came", todo)


def not_deprecated(seen: AppSeen) -> Iterator[Miss]:
    """No call that 0.4.0 deprecates."""
    for record in seen.happened(m.CreateSdkOutputCalled, m.ProvisionCalled):
        todo = "Remove createSdkOutput, implement OpcProvider, and call the new provision (A-MIG-1)."
        yield Miss("no deprecated call", f"{record.message.says} was called", todo)


def signed_out(seen: AppSeen) -> Iterator[Miss]:
    """After a sign-out the session is not used, no card is offered, and nothing is left to read."""
    late = [arrival.operation for arrival in seen.arrivals if arrival.session and arrival.at > seen.signed_out]
    left = [f"a {operation} presented it" for operation in late[:1]]
    left += ["the page shows its button"] * (seen.button("after") == SHOWN)
    left += [f"the {kind} is still saved" for kind in sorted(kinds(secrets_of(seen), seen.kept))]
    for observed in left:
        yield Miss("nothing of the session that ended", observed, FORGET, root=Root.OLD_ANSWER)


def two_steps(seen: AppSeen) -> Iterator[Miss]:
    """createSdkOutput, the POST, provision, in this order."""
    made = [record.at for record in seen.happened(m.SdkOutputCreated)]
    used = [record.at for record in seen.happened(m.ProvisionCalled)]
    if not made or not used or not seen.came(POST) or made[0] > used[0]:
        yield Miss("createSdkOutput(), the POST, provision(sdkInput)", "another order", "Follow the flow (FLOW-1).")


def activity_there(seen: AppSeen) -> Iterator[Miss]:
    """The activityProvider returned an activity."""
    for _record, failure in seen.device.trace.seen(m.ProvisionFailure):
        if "activityProvider" in failure.why:
            yield Miss("an activity from the activityProvider", failure.why, PRESENT)


def own_back_end_only(seen: AppSeen) -> Iterator[Miss]:
    """The app's process talks to its back end and to nobody else."""
    for host in sorted(seen.hosts - {seen.back_end}):
        todo = "Only your back end calls the HTTP API."
        yield Miss("calls of the back end only", f"the app asked for {host}", todo, root=Root.KEY)
    for arrival in seen.arrivals:
        if arrival.request.header("x-api-key") is not None:
            yield Miss("no API key in the app", "a request carried x-api-key", "Keep the key on your back end.")


# So many characters in a row give a value away: logs cut values. Opaque data has the card's id, which a log may say.
ENOUGH, NO_SECRET = 20, "|".join(["paymentinstrumentid", *INSTRUMENT_IDS]).lower()


def forms(text: str) -> list[str]:
    """This text without ids, as it is, and its letters and digits alone: whatever the case and the escapes are."""
    pieces = re.split(NO_SECRET, unquote(text).lower())
    return pieces + [re.sub("[^a-z0-9]", "", piece) for piece in pieces]


def spelled(value: str) -> set[str]:
    """What gives this value away: itself, decoded (with the cardholder's name), in hexadecimal, as a list of bytes."""
    data = decode_strictly(value) or b""
    ways = (value, data.decode("latin-1"), data.hex(), " ".join(map(str, data)))
    long = [form for way in ways for form in forms(way) if len(form) >= SHORTEST]
    return {form[at : at + ENOUGH] for form in long for at in range(max(1, len(form) - ENOUGH + 1))}


def secrets_of(seen: AppSeen) -> tuple[Mapping[str, set[str]], ...]:
    """What gives away each kind of secret value of the case: first what no other kind has, then all of it."""
    values: Mapping[str, set[str | None]] = {
        "sdkInput": {arrival.given for arrival in seen.arrivals},
        "sdkOutput": {arrival.sdk_output for arrival in seen.arrivals},
        "session": {seen.session},
    }
    every = {kind: set[str]().union(*map(spelled, filter(None, values[kind]))) for kind in values}
    own = {kind: every[kind].difference(*(every[other] for other in every if other != kind)) for kind in every}
    return own, every


def kinds(secrets: Iterable[Mapping[str, set[str]]], text: str) -> set[str]:
    """Which kinds of secret values this text holds."""
    said = " ".join(forms(text))
    found = ({kind for kind in of if any(piece in said for piece in of[kind])} for of in secrets)
    return next(filter(None, found), set())


def silent(what: str) -> AppJudge:
    """The log holds none of these values."""

    def judge(seen: AppSeen) -> Iterator[Miss]:
        secrets = secrets_of(seen)
        for line in seen.log:
            if what in kinds(secrets, line.text):
                todo = "Log where a value came from and its length, never the value."
                observed = f"it is there (line {line.number} of {line.file})"
                yield Miss(f"no {what} in the log", observed, todo)
                return

    return judge


# The looks of `TOLD` after an attempt that failed.
FAILED = ("failed", "without OPC data")


def cancel_is_no_failure(seen: AppSeen) -> Iterator[Miss]:
    """After a cancel the page does not say what it says after a failure, nor a word for one (English only)."""
    text = seen.message("cancelled")
    as_failed = seen.message(FAILED[0]) != seen.message("added") and text in map(seen.message, FAILED)
    if text and (as_failed or re.search(r"(?i)error|fail|wrong|unable|sorry", text)):
        todo = f"Tell {CANCELED} or userCancelled from the other names: enable the button, and say nothing."
        yield Miss("no failure told after a cancel", "the page says that the attempt failed", todo)


def failure_told(seen: AppSeen) -> Iterator[Miss]:
    """After a failure the page says something that it says neither before nor after a success."""
    tell_apart = "Say after a failure that nothing was added, and after a success that the card was."
    for look in FAILED:
        if seen.message(look) in {"", seen.message("opened")}:
            yield Miss("a word about the failure", f"none ({look})", "Say that the card was not added.")
        elif seen.message(look) == seen.message("added"):
            yield Miss("a word about the failure", f"the same as after a success ({look})", tell_apart)


def nothing_technical(seen: AppSeen) -> Iterator[Miss]:
    """No value, and no name or number of the code or the back end, is on the page."""
    # not a word such as Error
    names = "|".join(name for name in (*PROVISION_FAILURES, *ERRORS) if re.search("[a-z][A-Z]", name))
    names += r"|\w+(?:Exception|Result|Error)|[A-Z]+(?:_[A-Z0-9]+)+|null|nil"
    technical = rf"\b(?:{names})\b|https?://|[{{}}]|(?i:\b(?:http|status|code)\W*\d+)"
    secrets = secrets_of(seen)
    for look, (_button, text) in seen.looks.items():
        todo = "Say what the cardholder can do, in words of yours; log the rest."
        for kind in sorted(kinds(secrets, text)):
            yield Miss(f"no {kind} on the page", f"it is there ({look})", todo, harms=True)
        if found := re.search(technical, text):
            yield Miss("nothing technical on the page", f"it says {quoted(found[0])} ({look})", todo)


def get_failure_told(seen: AppSeen) -> Iterator[Miss]:
    """After a GET that failed the page says a sentence, or offers to try again: there is no button to tap."""
    if not seen.message("opened"):
        todo = "Say that the card cannot be added now, and offer a button that asks anew."
        yield Miss("a sentence or a way to try again", "the page says nothing", todo)


def asked_after_success(seen: AppSeen) -> bool:
    """Whether the page that added the card asked canProvision again."""
    opened = [arrival.at - seen.device.began for arrival in seen.came(GET)]
    (added, *_) = (record.at for record in seen.happened(m.ProvisionSuccess))
    return any(added < record.at < max(opened, default=0) for record in seen.happened(m.CanProvisionCalled))


def offered_where_asked(seen: AppSeen) -> Iterator[Miss]:
    """Shown after each CanBeProvisioned; an app may hide its button after a success without asking again."""
    for look in ("after", "opened") if asked_after_success(seen) else ("opened",):
        yield from button_is(look, SHOWN, todo=SHOW)(seen)


def opaque_text(value: Any) -> str:
    """The text of opaque data, wrapped or bare; bytes as base64."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return str(getattr(value, "text", value))


# The cases. A row is: group, name, what it requires, rule, steps, judge.

CREATED = all_of(
    given(m.CreateCalled, GET, "create with the GET's sdkInput, byte for byte", "create got another text", AS_IT_IS),
    at_least_one(
        m.CreateCalled, GET, "a call of create", "none was made", f"Call it with the GET's sdkInput. {AT_PLACE}"
    ),
)
RECEIVED = all_of(
    given(m.OpcReceived, POST, "the POST's sdkInput, byte for byte", "the SDK got another text", AS_IT_IS),
    at_least_one(m.OpcReceived, POST, "OPC data for the SDK", "it got none", f"Return the POST's sdkInput. {AT_PLACE}"),
)
# Only texts that the back end gave reach create and the SDK.
FROM_BACK_END = "only calls with an sdkInput from the back end"
FOREIGN = "got a text that the back end never gave"
ONLY_200 = "Take a 200 with a filled sdkInput for a success, and everything else for a failure."
ONLY_GIVEN = all_of(
    given(m.CreateCalled, GET, FROM_BACK_END, f"create {FOREIGN}", ONLY_200),
    given(m.OpcReceived, POST, FROM_BACK_END, f"the SDK {FOREIGN}", ONLY_200),
)
SHOW = "Show the button when canProvision answers CanBeProvisioned, and only then."
FOLLOW = "Leave the attempt alone on a rotation, and let the page that is made anew follow it to its end."
AGAIN = "Show the button enabled again after any Failure: nothing was added, and only a Success hides it."
OWN_STATE = "Begin each page with a state of its own: nothing of an earlier page may be on it."
FAILED_ONCE = all_of(in_order, post_once, button_is("after", SHOWN, todo=AGAIN))
HELD_POST = (*OPENED, Hold(POST), TAP, Reached(POST))
TRY = (*OPENED, TAP)


def shared_rows(
    *, begins: str, adds: str, one: str, show: str, cancels: SetPhone, breaks: SetPhone, works: SetPhone
) -> list[tuple[Any, ...]]:
    """The rows that both platforms have.

    Args:
        begins: the rule about when an attempt begins.
        adds: the rule about a card that was added.
        one: the rule about one attempt at a time.
        show: when to show the button.
        cancels: on such a phone the cardholder ends the wallet's flow.
        breaks: on such a phone the wallet fails.
        works: on such a phone all goes well again.
    """
    # four attempts, each on a page opened anew: cancelled, failed, without OPC data, and one that adds the card
    told = (
        *(cancels, *TRY, Rest("cancelled", (SHOWN,)), CLOSE),
        *(breaks, *TRY, Rest("failed", (SHOWN,), says=True), CLOSE),
        *(works, Fail(POST, "500"), *TRY, Rest("without OPC data", (SHOWN,), says=True), CLOSE),
        *(Fail(POST), *TRY, Rest("added", NOT_SHOWN)),
    )
    assumed = " (assumed)" * one.startswith("APP-")
    off = (DISABLED, HIDDEN, ABSENT) if assumed else (DISABLED, HIDDEN)
    held, disabled = Rest("held", off), button_is("held", *off, todo=GUARD)
    offered = button_is("opened", SHOWN, todo=show)
    return [
        ("form", "nothing-before-tap", "The page begins no attempt by itself.", begins, WATCHED, nothing_before_tap),
        ("form", "adds-the-card", "A tap adds the card.", adds, ADDED_WATCHED,
         all_of(in_order, first_of(called_once, in_wallet(0)))),
        ("concurrency", "one-get-a-page", "Opening the page asks for activation data once.", "REL-7", WATCHED,
         set_up_once),
        ("concurrency", "disabled-at-once", f"The button is disabled while the back end is asked{assumed}.", one,
         (*HELD_POST, held, Release(POST), Until("after", NOT_SHOWN)), disabled),
        ("concurrency", "disabled-in-the-wallet", f"The button is disabled while the wallet provisions{assumed}.", one,
         (*OPENED, Hold(WALLET), TAP, Reached(WALLET), held, Release(WALLET), Until("after", NOT_SHOWN)), disabled),
        ("concurrency", "quick-taps", f"Five quick taps make one attempt{assumed}.", one,
         (*OPENED, *(TAP,) * 5, Rest("after", NOT_SHOWN)), one_attempt),
        ("concurrency", "taps-during-attempt", f"Taps while the attempt runs begin no other{assumed}.", one,
         (*HELD_POST, TAP, TAP, Release(POST), Rest("after", NOT_SHOWN)), one_attempt),
        ("recovery", "enabled-after-failure", "After a failure the button can be pressed again (assumed).", "APP-10",
         (breaks, *FAILED_WATCHED), FAILED_ONCE),
        ("recovery", "offered-after-get-failure", "A page that is opened again asks again (assumed).", "REL-7",
         (Fail(GET, "503"), OPEN, Until("failed", NOT_OFFERED), CLOSE, Fail(GET), *OPENED), all_of(in_order, offered)),
        ("life", "closed-and-opened", "A page that is opened again fetches activation data afresh.", "REL-7",
         (*OPENED, CLOSE, *OPENED), all_of(in_order, get_each_opening, offered)),
        ("life", "sign-out", "After a sign-out the app uses nothing of the session (assumed).", "APP-13",
         (*OPENED, CLOSE, SIGN_OUT, OPEN, Rest("after", NOT_OFFERED)), all_of(in_order, signed_out)),
        ("recovery", "adds-after-failure", "A tap after a failure adds the card (assumed).", "APP-10",
         (Fail(POST, "500"), *TRY, Until("failed", (SHOWN,)), Fail(POST), TAP, Until("after", NOT_SHOWN)),
         all_of(in_order, in_wallet(0))),
        ("recovery", "post-not-repeated", "A POST whose connection was cut is not sent again by itself.", "REL-1",
         (Fail(POST, "connection cut"), *FAILED_WATCHED), post_once),
        ("secrecy", "no-sdk-input-in-log", "The app's log contains no sdkInput.", "REL-3", ADDED_WATCHED,
         silent("sdkInput")),
        ("secrecy", "no-sdk-output-in-log", "The app's log contains no sdkOutput.", "REL-3", ADDED_WATCHED,
         silent("sdkOutput")),
        ("secrecy", "no-session-in-log", "The app's log contains no session (assumed).", "APP-12", ADDED_WATCHED,
         silent("session")),
        ("secrecy", "no-value-in-log-after-failure", "The log of a failure contains no sdkOutput.", "REL-3",
         (Fail(POST, "500"), *FAILED_WATCHED), silent("sdkOutput")),
        ("secrecy", "back-end-only", "The app calls its back end, and never the HTTP API.", "API-13", ADDED_WATCHED,
         own_back_end_only),
        ("isolation", "second-card", "Another card's page adds that card (assumed).", "APP-3",
         (*OPENED, CLOSE, Hold(GET), Do("openCardPage", 1), Reached(GET), Rest("fetching", NOT_OFFERED), Release(GET),
          Until("opened", (SHOWN,)), TAP, Until("after", NOT_SHOWN)),
         all_of(in_order, first_of(posts_unchanged, in_wallet(1)),
                button_is("fetching", *NOT_OFFERED, todo=OWN_STATE))),
        ("faults", "post-never-answered", f"A POST without an answer is given up within {WALLET_WAITS:g} s (assumed).",
         "REL-5",
         (*HELD_POST, Outlast(POST), Until("late", (SHOWN,)), Release(POST), Rest("after")),
         all_of(in_order, post_once, button_is("late", SHOWN, todo=LIMIT))),
        ("screen", "cancel-is-no-failure", "A cardholder who cancelled is told of no failure (assumed).", "APP-4", told,
         all_of(in_order, once_added(cancel_is_no_failure)), {"reads": True}),
        ("screen", "failure-told", "A cardholder is told that an attempt failed (assumed).", "APP-4", told,
         all_of(in_order, once_added(failure_told)), {"reads": True}),
        ("screen", "nothing-technical", "The page shows no value, and no name of the code (assumed).", "APP-6", told,
         all_of(in_order, once_added(nothing_technical)), {"reads": True}),
        # the failed attempt shows whether the adapter hands texts over
        ("screen", "get-failure-told", "A page whose GET failed says so, or offers to try again (assumed).", "APP-9",
         (Fail(POST, "500"), *TRY, Until("failed", (SHOWN,)), CLOSE, Fail(POST), Fail(GET, "503"), OPEN,
          Until("opened", says=True)), get_failure_told, {"reads": True}),
    ]  # fmt: skip


def fault_cases(nothing: str, after_post: AppJudge, after_get: AppJudge) -> Iterator[AppCase]:
    """Two cases for each wrong answer of the back end; `nothing` says what a failed POST is for the SDK."""
    for name in WRONG_ANSWERS:
        slug = name.lower().replace(" ", "-")
        says = f"A POST that ends with {name!r} is a failure, and {nothing}."
        yield app_case("faults", f"post-{slug}", says, "REL-6", (Fail(POST, name), *FAILED_WATCHED), after_post)
        says = f"A GET that ends with {name!r} is a failure, and offers no button."
        yield app_case("faults", f"get-{slug}", says, "REL-6", (Fail(GET, name), *NOT_OPENED), after_get)


# Added, and the page is opened once more, where the scheme has not configured the card.
OFFERED_AGAIN = (SetPhone({"scheme_configured": False}), *TRY, Rest("after"), CLOSE, *WATCHED)
# After a row's judge comes what the case needs of the app, where it needs something.
ROWS: list[tuple[Any, ...]] = [
    ("screen", "shown-when-possible", "CanBeProvisioned shows the button.", "A-CAN-1", OPENED,
     button_is("opened", SHOWN, todo=SHOW)),
    ("screen", "hidden-when-in-wallet", "AlreadyExistsInWallet hides the button.", "A-CAN-2",
     (*ADDED, CLOSE, *NOT_OPENED), once_added(button_is("opened", *NOT_SHOWN, todo=SHOW))),
    ("screen", "not-shown-while-asking", "Before canProvision has answered, no button can be pressed.", "FLOW-2",
     (Hold(GET), Hold(ASKING), OPEN, Reached(GET), Rest("fetching", NOT_OFFERED), Release(GET), Reached(ASKING),
      Rest("asking", NOT_OFFERED), Release(ASKING), Until("opened", (SHOWN,))),
     all_of(*(button_is(look, *NOT_OFFERED, todo=SHOW) for look in ("fetching", "asking")))),
    ("screen", "hidden-without-wallet", "After WalletPayNotSupported no button is offered (assumed).", "APP-1",
     (SetPhone({"wallet_pay_supported": False}), *NOT_OPENED),
     all_of(in_order, button_is("opened", *NOT_OFFERED, todo=SHOW))),
    ("screen", "hidden-on-invalid-sdk-input", "After InvalidSdkInput no button is offered (assumed).", "APP-1",
     (SetPhone({"takes_sdk_input": False}), *NOT_OPENED),
     all_of(in_order, button_is("opened", *NOT_OFFERED, todo=SHOW))),
    ("screen", "hidden-after-success", "A card that was added is not offered again (assumed).", "APP-1", ADDED_WATCHED,
     all_of(in_order, once_added(button_is("after", *NOT_SHOWN, todo="Ask canProvision once more after a success.")))),
    ("screen", "offered-while-possible", "CanBeProvisioned shows the button, also for a card that was just added.",
     "A-CAN-1", OFFERED_AGAIN, once_added(offered_where_asked)),
    ("form", "one-get-before-create", "create gets the sdkInput of the GET, unchanged.", "API-10", OPENED,
     all_of(CREATED, in_order)),
    ("form", "activity", "The activityProvider returns the activity of this moment (assumed).", "APP-3",
     (*OPENED, ROTATE, Rest("rotated", (SHOWN,)), TAP, Until("after", NOT_SHOWN)), activity_there),
    ("fidelity", "output-unchanged", "The POST carries the SDK's sdkOutput, byte for byte, for its card.", "API-7",
     ADDED, output_unchanged),
    ("fidelity", "json-escaped", "What JSON escapes passes unchanged, in the POST and in the answers.", "API-7",
     (Escape(), *ADDED), escaped(first_of(CREATED, output_unchanged, RECEIVED))),
    ("fidelity", "opc-unchanged", "The SDK gets the POST's sdkInput, byte for byte.", "A-OPC-1", ADDED, RECEIVED),
    ("recovery", "enabled-after-cancel", "After a cancel the button can be pressed again (assumed).",
     "APP-10", (SetPhone({"provision_failure": CANCELED}), *FAILED_WATCHED), FAILED_ONCE),
    ("life", "rotation", "A rotation leaves the page as it is (assumed).", "APP-2",
     (*OPENED, ROTATE, Rest("after", (SHOWN,))), all_of(in_order, set_up_once, button_is("after", SHOWN, todo=SHOW))),
    ("life", "rotation-during-attempt", "A rotation leaves the attempt alone, and the button disabled (assumed).",
     "APP-2", (*HELD_POST, ROTATE, Rest("rotated", (DISABLED, HIDDEN)), TAP, Release(POST), Rest("after", NOT_SHOWN)),
     all_of(in_order, first_of(set_up_once, button_is("rotated", *NOT_OFFERED, todo=FOLLOW, rule="A-BTN-1"),
                               button_is("rotated", DISABLED, HIDDEN, todo=FOLLOW), one_attempt, post_once,
                               once_added(button_is("after", *NOT_SHOWN, todo=FOLLOW))))),
    ("life", "closed-during-attempt", "A page that is closed ends its fetchOpc (assumed).", "APP-2",
     (*HELD_POST, CLOSE, Rest("closed"), Release(POST), Rest("after")), all_of(in_order, post_once, provider_ended)),
    ("life", "process-death", "After the process has ended, the page works again (assumed).", "APP-2",
     (*HELD_POST, DIE, Release(POST), OPEN, Rest("after", (SHOWN,))),
     all_of(in_order, post_once, first_of(ended_with_process, button_is("after", SHOWN, todo=SHOW)))),
    ("faults", "get-never-answered", f"A GET without an answer is given up within {WALLET_WAITS:g} s (assumed).",
     "REL-5", (Hold(GET), OPEN, Reached(GET), Outlast(GET), Release(GET), Rest("opened")),
     all_of(in_order, late_get_unused)),
    ("form", "migrated", "From 0.4.0 no deprecated call is made.", "A-MIG-1", ADDED, not_deprecated,
     {"variant": A_FROM_0_4_0.name}),
    ("form", "two-steps", "Before 0.4.0 a tap makes createSdkOutput, the POST and provision.", "A-PROV-1", ADDED,
     two_steps, {"variant": A_BEFORE_0_4_0.name}),
    ("screen", "reported", "CanBeProvisioned for a card that was just added is reported.", "A-CAN-6",
     OFFERED_AGAIN, once_added(reported), {"asks": True}),
    ("screen", "not-reported-when-opened", "CanBeProvisioned for a card that is not in the wallet is no issue.",
     "A-CAN-6", WATCHED, not_reported, {"asks": True}),
    ("screen", "not-reported-when-added", "A card that was added, and is found in the wallet, is no issue.",
     "A-CAN-6", ADDED_WATCHED, not_reported, {"asks": True}),
]  # fmt: skip


def cases_of(rows: Iterable[tuple[Any, ...]]) -> Iterator[AppCase]:
    """The cases of these rows, in the order of the groups."""
    groups = get_args(AppGroup)
    for group, name, says, rule, steps, judge, *needs in sorted(rows, key=lambda row: groups.index(row[0])):
        yield app_case(group, name, says, rule, steps, judge, **dict(*needs))


def _cases() -> Iterator[AppCase]:
    phones = [SetPhone({"provision_failure": failure}) for failure in (CANCELED, "InternalError", None)]
    cancels, breaks, works = phones
    rules = {"begins": "A-PROV-2", "adds": "A-PROV-3", "one": "A-BTN-1", "show": SHOW}
    both = shared_rows(**rules, cancels=cancels, breaks=breaks, works=works)
    yield from cases_of([*ROWS, *both])
    offers_nothing = all_of(in_order, button_is("opened", *NOT_OFFERED, todo=SHOW))
    yield from fault_cases("gives the SDK nothing", all_of(ONLY_GIVEN, FAILED_ONCE), all_of(ONLY_GIVEN, offers_nothing))
    for name, outcome in CAN_PROVISION_FAILURES.items():
        slug = to_snake(name).replace("_", "-")
        having = [key for key, variant in VARIANTS_A.items() if type(outcome) not in variant.facts.lacks]
        only, steps = having[0] if len(having) == 1 else "", (SetPhone({"can_provision": outcome}), *NOT_OPENED)
        says = f"After {name} no button is offered (assumed)."
        yield app_case("screen", f"hidden-on-{slug}", says, "APP-1", steps, offers_nothing, variant=only)


# Every case by its name.
APP_CASES: Mapping[str, AppCase] = {case.name: case for case in _cases()}
