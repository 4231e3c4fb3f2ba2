"""The judges of lesson 06: plans, logs, and handlers on slow phones and slow networks."""

from itertools import takewhile
from typing import Any

from workbook.base.files import sample
from workbook.base.values import quoted
from workbook.flows import messages as m
from workbook.lessons.exercises.lesson_05 import left_out, played
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.session import session
from workbook.play.extension.handler import ExtensionProvisioningService, ReferenceHandler
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.durations import durations


def in_words(share: float) -> str:
    """A share of all calls as the exercise words it."""
    bounds = {0.0: "none", 0.003: "1 in 1000", 0.03: "1 in 100", 0.2: "1 in 8", 0.45: "1 in 3", 1.0: "1 in 2"}
    return next(words for bound, words in bounds.items() if share <= bound)


def planned_shares() -> Observed:
    """What becomes of ten cards: one after the other, at the same time, and at the same time with a time limit."""
    from workbook.checks.timing.planner import LogNormal, Plan  # numpy, which a page in a browser may lack

    gets, calls = LogNormal(median=0.8, p99=9.0), 100_000
    one_by_one = Plan(gets, cards=10).simulate(calls=calls)
    at_once = Plan(gets, cards=10, gets="concurrent").simulate(calls=calls)
    limited = Plan(gets, cards=10, gets="concurrent", timeout=5.0).simulate(calls=calls)
    return Observed(
        durations("Ten cards", [one_by_one, at_once, limited]),
        one_by_one=in_words(one_by_one.missed),
        at_once=in_words(at_once.missed),
        with_limit=in_words(limited.missed),
        card_missing=in_words(limited.card_missing),
    )


def status_on_an_old_phone(handler: Any) -> Reason | Observed:  # noqa: PLR0911  # one reason each
    """status() keeps 100 ms where each read of the storage takes 40 ms, and still offers every card."""
    if reason := left_out(handler, "status"):
        return reason
    old = played(handler, storage=0.04)
    made = next((record.message for record in old.trace if isinstance(record.message, m.ServiceMade)), None)
    answers = m.EntriesAvailable | m.EntriesUnavailable | m.HandlerRaised
    until_then = takewhile(lambda record: not isinstance(record.message, answers), old.trace)
    reads = sum(isinstance(record.message, m.StorageRead) for record in until_then)
    if old.state == "app not listed" and reads > 1:
        took = f"{reads * 40} ms for {reads} reads of 40 ms each"
        return Reason("X-STATUS-3", f"status() needed {took}, and the wallet had stopped waiting after 100 ms.", old)
    late = (finding for finding in old.findings if finding.rule == "X-STATUS-3")
    if finding := next(late, None):
        return Reason(finding.rule, f"{finding.text} {finding.todo}", old)
    if reason := first_finding(old):
        return reason
    if not reads:
        return Reason("X-CACHE-1", "status() never read the storage, so it cannot know whether there is a card.", old)
    if made is None or len(made.cards) < len(INSTRUMENT_IDS):
        cards = len(made.cards) if made else 0
        return Reason("X-INIT-1", f"the service of status() knew {cards} of {len(INSTRUMENT_IDS)} saved cards.", old)
    never = played(handler, on="app was never opened")
    return first_finding(never) or Observed(old)


def gate(ships: Any) -> Reason | Observed:
    """A gate lets a good log through, and stops one with a failure, without status(), without a cold call, or empty."""
    from workbook.checks.timing.recorded import read_durations  # pandas

    good = read_durations(sample("measurements/good_build.csv"))
    bad = read_durations(sample("measurements/network_in_status.csv"))
    logs = [
        (good, True, "a good build, with cold and warm calls on two phones"),
        (bad[bad.call == "status"], False, "a build in which at least one status() in five is late"),
        (bad, False, "a build with late calls of status() and good ones of pass_entries()"),
        (good[good.call != "status"], False, "a log in which status() was never called"),
        (good[~good.cold], False, "a log of warm calls only, which no cardholder's first look is"),
        (bad[bad.call != "status"], False, "the bad build's log without its calls of status()"),
        (good[good.cold], True, "a good build of which only cold calls were logged"),
        (good.head(0), False, "a log without any call"),
    ]
    for log, right, what in logs:
        answer = ships(log.copy())
        if answer is ...:
            return Reason("", "your function still returns `...`.")
        if type(answer).__name__.rstrip("_") != "bool":  # numpy's, too
            return Reason("", f"your function returned {quoted(answer)} for {what}; return True or False.")
        if bool(answer) is not right:
            return Reason("X-STATUS-3", f"your gate {'ships' if answer else 'stops'} {what}.")
    return Observed()


# Lesson 06's native exercise: each choice of Swift is played as the same in Python.


def list_in_swift(fetch: str, limit: str, failure: str) -> type[ReferenceHandler]:
    """A handler that fetches its list as these choices of the Swift code do."""

    class Chosen(ReferenceHandler):
        def pass_entries(self) -> Any:
            missing = [card for card in self.cards if card not in self.library.on_phone]
            groups = [[card] for card in missing] if fetch == "a" else [missing]  # one by one, or at the same time
            fresh: dict[str, bytes] = {}
            for group in groups:
                fresh |= self.back_end.get_all(group, timeout={"a": None, "b": 9.0, "c": 25.0}[limit])
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
            runs = (played(handler, get=7.0), played(handler, gets=(0.25, 60.0)))
            offered[key] = sum(len(run.offered or ()) for run in runs)
        facts[gap] = " or ".join(key for key in keys if offered[key] == max(offered.values()))
    return Observed(played(list_in_swift(**right), gets=(0.25, 60.0)), **facts)


def services_of_a_flow() -> Observed:
    """How many services the handlers of one flow make, and of how many sdkInputs each."""
    run = session().wallet.play()
    made = [len(record.message.cards) for record in run.trace if isinstance(record.message, m.ServiceMade)]
    return Observed(run, services=len(made), in_the_list=made[1], in_the_request=made[-1])


def order_of_provision_and_request() -> Observed:
    """Which of the delegate's provision and the request begins first, which ends first, and what both wait for."""
    run = session().wallet.play()
    seen = [type(record.message) for record in run.trace]
    begun, ended = seen.index(m.CallGenerate), seen.index(m.RequestReturned)
    asked = [record.message.method for record in run.trace[begun:ended] if isinstance(record.message, m.BackEndAsked)]
    return Observed(
        run,
        begins_first="request" if begun < seen.index(m.ExtensionProvisionCalled) else "provision",
        ends_first="request" if ended < seen.index(m.DelegateReturned) else "provision",
        within_its_20_s=" and ".join(asked),
    )
