"""Judges of the wallet extension (lesson 05): handlers are played as the wallet calls them, in time or late."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal

from workbook.flows import messages as m
from workbook.flows.trace import CALLS
from workbook.flows.variants import SURFACES
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.run import Run, run_of, screen_of
from workbook.lessons.session import session
from workbook.play.back_end import Network, back_end_over
from workbook.play.handler import ExtensionProvisioningService, ReferenceHandler
from workbook.play.own_code import BACK_END_WAIT
from workbook.play.platform_b import opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.phones import LatenciesB
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS


def late_status() -> Observed:
    """What a status() with a GET of 250 ms leads to."""
    run = session().wallet.play("network call in status()")
    ended = next(record for record in run.trace if isinstance(record.message, m.EntriesAvailable | m.HandlerRaised))
    calls = [record.message for record in run.trace if isinstance(record.message, m.CallStatus | m.CallPassEntries)]
    return Observed(
        run,
        bob_sees="no app of yours" if run.state == "app not listed" else "your app",
        code_notices="an exception" if isinstance(ended.message, m.HandlerRaised) else "nothing",
        returns_after=f"{ended.at * 1000:.0f} ms",
        next_call="none" if len(calls) == 1 else str(calls[1]),
    )


def left_out(handler: type, *methods: str) -> Reason | None:
    """The first of these methods that the learner left to the reference handler, or left out."""
    for name in methods:
        if getattr(handler, name, None) is getattr(ReferenceHandler, name):
            return Reason("", f"your class leaves {name}() to the reference handler; write it yourself.")
        if not hasattr(handler, name):
            return Reason("", f"your class has no {name}(); write it.")
    return None


def status_without_network(handler: Any) -> Reason | Observed:
    """The app is listed after it was opened once, and says that it has no entries where it never was."""
    if reason := left_out(handler, "status"):
        return reason
    wallet = session().wallet
    opened = wallet.play(handler)
    never = wallet.play(handler, "app was never opened")
    if reason := first_finding(opened) or first_finding(never):
        return reason
    available = [record.message for record in opened.trace if isinstance(record.message, m.EntriesAvailable)]
    if not available:
        text = "the app was opened, its data is in the storage, and status() still says that there are no entries."
        return Reason("X-STATUS-1", text, opened)
    if not available[0].requires_authentication:
        text = "status() said requiresAuthentication: false, though this app has an authorization UI of its own."
        return Reason("X-STATUS-1", text, opened)
    return Observed(opened)


def play_flow(
    handler: Any,
    get: float = 0.25,
    post: float = 0.3,
    *,
    failing: Literal["GET", "POST"] | None = None,
    nth: int | None = 1,
    surface: str = "phone",
    all_there: bool = False,
    gets: tuple[float, ...] = (),
    storage: float | None = None,
    on: str = "app was opened",
) -> Run:
    """The flow with a back end that takes so many seconds, or whose n-th GET or POST fails (None: each).

    `gets` are the seconds of the first GETs, `get` of all others; `storage` those of a read on phone `on`. `surface` is
    where the wallet app runs; `all_there` puts every card on the phone and on its watch before.
    """
    phone = opened_phone("with a watch" if surface == "watch" else on, INSTRUMENT_IDS)
    if all_there:
        phone.cards.update(INSTRUMENT_IDS)
        if phone.watch:
            phone.watch.cards.update(INSTRUMENT_IDS)
    phone.latencies = LatenciesB(get=get, post=post)
    if storage is not None:
        phone.latencies = replace(phone.latencies, storage=storage)
    plan = FaultPlan([Planned(fault("403"), failing, nth=nth)])
    back_end = back_end_over("good", Network(Service(plan=plan))) if failing else None
    wallet = WalletApp(handler, surface=surface, phone=phone, back_end=back_end, gets=gets)
    before = screen_of(phone, surface)
    wallet.walk()
    return run_of(wallet, before, card=INSTRUMENT_IDS[0])


def find_mistake(handler: Any, **faults: Any) -> Reason | None:
    """What is found with this handler, and not with the reference, when the back end is as the settings say."""
    return first_finding(play_flow(handler, **faults), play_flow(ReferenceHandler, **faults))


def right_list(handler: Any) -> Reason | Observed:
    """The wallet is offered what it lacks, on phone and watch, in time, and without a card whose GET fails."""
    if reason := left_out(handler, "pass_entries", "remote_pass_entries"):
        return reason
    wallet = session().wallet
    ordinary = wallet.play(handler)
    there = wallet.play(handler, "first card is there already")
    watch = wallet.play(handler, "with a watch", surface="watch")
    slow = play_flow(handler, get=7.0)
    for run in (ordinary, there, watch, slow):
        if reason := first_finding(run):
            return reason
    failed = play_flow(handler, failing="GET", nth=2)
    for run, cards, when in [
        (ordinary, 3, "when all three cards could be added"),
        (there, 2, "when the first of three was in the wallet already"),
        (watch, 3, "on the watch, which has none of the three"),
        (slow, 3, "when each GET took 7 s"),
        (failed, 2, "when the GET of one of three failed"),
    ]:
        if len(run.offered or ()) != cards:
            text = f"the wallet was offered {len(run.offered or ())} cards {when}; {cards} were right."
            return Reason("X-ENTRIES-2" if run is watch else "X-ENTRIES-1", text, run)
    return find_mistake(handler, failing="GET", nth=2) or _empty_list(handler) or Observed(ordinary)


def _empty_list(handler: Any) -> Reason | None:
    """What is found where nothing can be offered: every card is there already, or every GET fails."""
    for surface in SURFACES:
        if reason := find_mistake(handler, surface=surface, all_there=True):
            return replace(reason, text=f"every card was there already. {reason.text}")
        if reason := find_mistake(handler, surface=surface, failing="GET", nth=None):
            return replace(reason, text=f"every GET failed. {reason.text}")
    return None


def delegate_slip(run: Run) -> Reason | None:
    """What a delegate did with the one POST of a flow in which the API works."""
    seen = [record.message for record in run.trace]
    posts = [message for message in seen if isinstance(message, m.BackEndAsked) and message.method == "POST"]
    sent = [message for message in seen if isinstance(message, m.ApiRequested) and message.method == "POST"]
    returned = [message.sdk_input for message in seen if isinstance(message, m.DelegateReturned)]
    if any(isinstance(message, m.ArgumentsSwapped) for message in seen):
        return Reason(
            "X-DEL-1", "provision() took its two values in the app's order; here the card's id is first.", run
        )
    if len(posts) > 1:
        return Reason("REL-1", f"one tap made {len(posts)} POSTs; the first had used the sdkOutput up (assumed).", run)
    if posts and not sent:
        return Reason("API-8", "the POST did not leave the back end: sdk_output must go there as the bytes it is.", run)
    if sent and returned == [None]:
        return Reason("X-DEL-1", "the POST was answered with 200, and provision() returned nothing of it.", run)
    return None


def request_and_delegate(handler: Any) -> Reason | Observed:  # noqa: PLR0911  # one reason each
    """The card is added; where the API fails or is slow, the handler returns nil in time."""
    if reason := left_out(handler, CALLS[m.CallGenerate], "provision"):
        return reason
    ordinary = play_flow(handler)
    if reason := delegate_slip(ordinary) or first_finding(ordinary):
        return reason
    if not ordinary.added:
        return Reason("X-GEN-1", f"all went well at the API, and the flow ended in {ordinary.state!r}.", ordinary)
    if sum(isinstance(record.message, m.ApiRequested) for record in ordinary.trace) <= len(INSTRUMENT_IDS) + 1:
        text = "the request was made without a GET of its own: the task asks for a fresh sdkInput."
        return Reason("REL-7", text, ordinary)
    if reason := find_mistake(handler, failing="POST") or find_mistake(handler, failing="GET", nth=4):
        return reason
    if reason := find_mistake(handler, gets=(0.25, 0.25, 0.25, 25.0)):
        return replace(reason, text=f"the request's GET took 25 s. {reason.text[:1].upper()}{reason.text[1:]}")
    if reason := find_mistake(handler, post=25.0):
        return replace(reason, text=f"the POST took 25 s. {reason.text[:1].upper()}{reason.text[1:]}")
    return Observed(ordinary)


def status_on_an_old_phone(handler: Any) -> Reason | Observed:  # noqa: PLR0911  # one reason each
    """status() keeps 100 ms where each read of the storage takes 40 ms, and still offers every card."""
    if reason := left_out(handler, "status"):
        return reason
    old = play_flow(handler, storage=0.04)
    made = next((record.message for record in old.trace if isinstance(record.message, m.ServiceMade)), None)
    answers = m.EntriesAvailable | m.EntriesUnavailable | m.HandlerRaised
    until_then = takewhile(lambda record: not isinstance(record.message, answers), old.trace)
    reads = sum(isinstance(record.message, m.StorageRead) for record in until_then)
    if old.state == "app not listed" and reads > 1:
        took = f"{reads * 40} ms for {reads} reads of 40 ms each, and the wallet had stopped waiting after"
        return Reason("X-STATUS-3", f"status() needed {took} {m.LIMITS['status']}.", old)
    if finding := next((finding for finding in old.findings if finding.rule == "X-STATUS-3"), None):
        return Reason(finding.rule, f"{finding.text} {finding.todo}", old)
    if reason := first_finding(old):
        return reason
    if not reads:
        return Reason("X-CACHE-1", "status() never read the storage, so it cannot know whether there is a card.", old)
    if made is None or len(made.cards) < len(INSTRUMENT_IDS):
        cards = len(made.cards) if made else 0
        return Reason("X-INIT-1", f"the service of status() knew {cards} of {len(INSTRUMENT_IDS)} saved cards.", old)
    return first_finding(play_flow(handler, on="app was never opened")) or Observed(old)


# The exercise in Swift: each choice is played as the same in Python.


def list_in_swift(fetch: str, limit: str, failure: str) -> type[ReferenceHandler]:
    """A handler that fetches its list as these choices of the Swift code do."""

    class Chosen(ReferenceHandler):
        def pass_entries(self) -> Any:
            missing = [card for card in self.cards if card not in self.library.on_phone]
            groups = [[card] for card in missing] if fetch == "a" else [missing]  # one by one, or at the same time
            fresh: dict[str, bytes] = {}
            for group in groups:
                fresh |= self.back_end.get_all(group, timeout={"a": None, "b": BACK_END_WAIT, "c": 25.0}[limit])
            if len(fresh) < len(missing) and failure == "a":
                return []  # the first error ends the group
            data = [*fresh.values()]
            return ExtensionProvisioningService(sdk_inputs=data).pass_entries(with_delegate=self) if data else []

    return Chosen


def swift_list() -> Observed:
    """For each gap the one choice that offers the most cards in time, the other gaps being right."""
    right = {"fetch": "b", "limit": "b", "failure": "b"}
    choices = {"fetch": "ab", "limit": "abc", "failure": "ab"}
    facts = {}
    for gap, keys in choices.items():
        offered = {}
        for key in keys:
            handler = list_in_swift(**(right | {gap: key}))
            runs = (play_flow(handler, get=7.0), play_flow(handler, gets=(0.25, 60.0)))
            offered[key] = sum(len(run.offered or ()) for run in runs)
        facts[gap] = " or ".join(key for key in keys if offered[key] == max(offered.values()))
    return Observed(play_flow(list_in_swift(**right), gets=(0.25, 60.0)), **facts)
