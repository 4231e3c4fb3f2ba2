"""Plays the combinations of a sweep, and makes a row of each.

A row fails if it shows a finding, or lacks a card, that the ordinary choices do not show or lack in the same
surroundings. So a fault of the API fails no app that copes with it as well as the ordinary one.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from workbook.checks import Severity, check
from workbook.checks.own_code import API_ERRORS
from workbook.flows.trace import Trace
from workbook.flows.variants import VARIANTS_A, VARIANTS_B
from workbook.lessons.run import Run, run_of, screen_of
from workbook.play.back_end import BackEnd, Network, back_end_over, simulated_back_end
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.own_code import PATIENCE, exception_words
from workbook.play.platform_a import AppA, PlatformARun
from workbook.play.platform_b import PlatformBRun, app_named
from workbook.play.wallet_app import WalletApp
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.phones import NEVER_OPENED, PHONES_A, PHONES_B, WALLETS, PhoneB
from workbook.simulation.service import CLIENT_LIMITS, Service
from workbook.simulation.world import SIMULATED_CARDS, Instrument, World
from workbook.tools.sweep.matrix import DIMENSIONS, Combination, choices, from_spec, imported, ordinary, spec

Loop = PlatformARun | PlatformBRun | WalletApp
# The kind of failure of code after which there is nobody to say more.
EXITED = "It ended the process, as os._exit or a crash of a library does."
# The columns of a row: the combination's number and values, and what came of it.
Row = dict[str, Any]


@lru_cache(maxsize=256)
def _world(card: str, cards: int, seed: int) -> tuple[World, tuple[str, ...]]:
    """What the API knows, and the ids of the cardholder's cards, the one that is added first."""
    ids = [f"PISIMULATED{number:014d}" for number in range(1, max(cards, 3) + 1)]
    first = ids.pop({"second": 1, "third": 2}.get(card, 0))
    held = (first, *ids[: cards - 1])
    known = dict(SIMULATED_CARDS) | {each: Instrument(each, last_four=each[-4:]) for each in held}
    if card in ("inactive", "suspended", "closed"):
        known[first] = replace(known[first], status=card)
    elif card == "bankAccount":
        known[first] = replace(known[first], type=card)
    elif card == "of another wallet":
        known[first] = replace(known[first], supported_wallets=())
    elif card == "unknown":
        del known[first]
    return World(MappingProxyType(known), seed=seed), held


def _back_end(c: Combination, world: World, card: str, phone: Any) -> BackEnd:
    """The back end of a combination; one that has nothing to stand is called without HTTP, which is faster."""
    takes = {"GET": phone.latencies.get, "POST": phone.latencies.post}
    limits = CLIENT_LIMITS.timeouts
    faulted = c["fault"] != "200"
    if c["back_end"] == "good" and not faulted and takes["GET"] < limits.get and takes["POST"] < limits.read:
        return simulated_back_end(world)
    planned = [Planned(fault(c["fault"]), c["operation"], card, 1, None, c["moment"])] if faulted else []  # type: ignore[arg-type]
    return back_end_over(c["back_end"], Network(Service(world, FaultPlan(planned, int(c["seed"]))), takes))


def loop_of(c: Combination) -> tuple[Loop, str]:
    """The loop of a combination, before its first step, and the id of the card that is added.

    Raises:
        ParameterError: the SDK cannot call code of the integrator's own.
    """
    platform = c["platform"]
    seed = int(c["seed"])
    world, cards = _world(c["card"], int(c.get("cards", "1")), seed)
    table: Mapping[str, Callable[[str], Any]] = {"a": PHONES_A, "b": PHONES_B, "wallet": WALLETS}[platform]
    phone = table[c["phone"]](cards[0])
    if c["latency"] != "usual":
        phone.latencies = replace(phone.latencies, get=float(c["latency"]), post=float(c["latency"]))
    back_end = _back_end(c, world, cards[0], phone)
    if platform == "a":
        variant = VARIANTS_A[c["variant"]]
        variant = variant if c["guarded"] == "yes" else replace(variant, guarded=False)
        fetch_opc = imported("app", c["app"]) if ":" in c["app"] else None
        app = AppA(fetch_opc=fetch_opc)
        return PlatformARun(variant, cards[0], phone=phone, app=app, back_end=back_end, seed=seed), cards[0]
    phone.seed = seed
    flow = VARIANTS_B[c["variant"]]
    if platform == "b":
        delegate = imported("app", c["app"])() if ":" in c["app"] else None
        flow, app_b = app_named("good" if delegate else c["app"], flow, delegate)
        return PlatformBRun(flow, cards[0], phone=phone, app=app_b, back_end=back_end), cards[0]
    if c["phone"] != NEVER_OPENED:
        _open(phone, cards, world)
    handler = imported("handler", c["handler"]) if ":" in c["handler"] else HANDLERS[c["handler"]]
    wallet = WalletApp(
        handler,
        flow,
        surface=c["surface"],
        phone=phone,
        authorization=AUTHORIZATIONS[c["authorization"]],
        cards=cards,
        back_end=back_end,
    )
    return wallet, cards[0]


def _open(phone: PhoneB, cards: tuple[str, ...], world: World) -> None:
    """The cardholder opens each card's page, so that the app saves its sdkInput (X-CACHE-1)."""
    for card in cards:
        PlatformBRun(payment_instrument_id=card, phone=phone, back_end=simulated_back_end(world)).open()


def walk(loop: Loop, c: Combination, patience: float = 9.0) -> None:
    """Play the loop of a combination to its end: the cardholder goes on as far as possible, with this `patience`."""
    token = PATIENCE.set(patience)
    try:
        if isinstance(loop, PlatformARun) and c["taps"] != "1":
            loop.open()
            if loop.button == "shown":
                loop.tap(int(c["taps"]))
        else:
            loop.walk()
    finally:
        PATIENCE.reset(token)


class Outcome(NamedTuple):
    """What came of a combination.

    Attributes:
        state: of the flow at its end.
        added: the card is on the phone or on the watch.
        found: what the checks find that has to be done something about, each in words that repeat no figure.
        ended: virtual seconds until the end.
    """

    state: str
    added: bool = False
    found: tuple[str, ...] = ()
    ended: float = 0.0


def play_out(c: Combination, patience: float = 9.0) -> Outcome:
    """Play a combination and check its trace; code that cannot be played is an outcome, too."""
    try:
        loop, card = loop_of(c)
        walk(loop, c, patience)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the integrator's code may raise anything
        return Outcome("broke off", found=(f"it raised {exception_words(error)}",))
    watch = getattr(loop.phone, "watch", None)
    added = card in loop.phone.cards or (watch is not None and card in watch.cards)
    return Outcome(str(loop.state), added, (*_found(loop.trace),), loop.trace[-1].at)


def _found(trace: Trace) -> Iterator[str]:
    for finding in check(trace):
        if finding.level is not Severity.NOTE:
            failed = re.search(r"Your (?:fetchOpc|provision)\(\) failed: (\w+)", finding.text)
            if failed and failed[1] in API_ERRORS:
                continue  # the app hands on a failure of the API as a failure, as well as it can be done
            # two rows with other seconds or another card show the same kind
            text = re.sub(r"(?<=Error): (GET|POST) .*?(?=\. [\w.]+, line |$)", "", finding.text)
            text = re.sub(r"\b\d[\d.,]*(?= (s|ms|µs|%)\b)", "…", re.sub(r"PISIMULATED\d+", "the card", text))
            yield f"{finding.rule}: {text}"


class Player:
    """Plays combinations of one matrix; those that share their surroundings are compared with one reference."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._reference = "", Outcome("")

    def failures(self, c: Combination, mine: Outcome) -> tuple[str, ...]:
        """What the integrator's choices add in these surroundings, a kind of failure each."""
        usual = ordinary(c["platform"])
        good = {name: usual.get(name, value) if name in choices() else value for name, value in c.items()}
        if good == c:
            return ()
        surroundings = spec(good)
        if self._reference[0] != surroundings:
            self._reference = surroundings, play_out(good)
        reference = self._reference[1]
        new = tuple(dict.fromkeys(kind for kind in mine.found if kind not in reference.found))
        lost = reference.added and not mine.added
        return new or ((f"The card is not added: {mine.state!r} in place of {reference.state!r}.",) if lost else ())

    def row(self, number: int, c: Combination) -> Row:
        """The row of a combination."""
        mine = play_out(c, self.patience)
        return row_of(number, c, mine, self.failures(c, mine))


def row_of(number: int, c: Combination, mine: Outcome, failures: tuple[str, ...]) -> Row:
    """A row from its parts; several findings or failures are lines of one cell."""
    return {
        "number": number,
        **{name: c.get(name, "") for name in DIMENSIONS},
        "outcome": mine.state,
        "added": mine.added,
        "ended": mine.ended,
        "found": "\n".join(mine.found),
        "failure": "\n".join(failures),
    }


def replayed(line: str) -> Run:
    """One combination as a run for a notebook, from the line that `workbook sweep` printed.

    Raises:
        ParameterError: it is no such line, or a name or a value is unknown.
    """
    combination = from_spec(line)
    loop, card = loop_of(combination)
    before = screen_of(loop.phone, combination.get("surface", "phone"))
    walk(loop, combination)
    return run_of(loop, before, card)
