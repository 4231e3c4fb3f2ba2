"""A run that somebody plays by hand, one act after the other.

A script holds the settings and the acts, each with its moment in virtual seconds. `play` plays a script from its
beginning, which takes milliseconds, and the same script gives the same film to the byte. Whoever acts once more adds an
act, and the whole script is played again; what happened before that act stays as it was. So between two acts nothing is
kept but the script, and a panel can be shown twice, opened again, or copied as a call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import Any

from workbook.base.values import choice, lookup, number
from workbook.checks import Finding, check
from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.variants import SURFACES, VARIANTS_A, VARIANTS_B, VariantA
from workbook.lessons.run import AnyLoop, Run, run_of, screen_of
from workbook.play.back_end import BackEnd, Network, back_end_over, check_back_end
from workbook.play.handler import AuthorizationProvider
from workbook.play.mistakes import handler_named
from workbook.play.own_code import check_callable
from workbook.play.platform_a import FETCH_OPC, AppA, PlatformARun
from workbook.play.platform_b import PlatformBRun, app_named, opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.faults import FaultPlan, Planned
from workbook.simulation.faults import fault as fault_named
from workbook.simulation.phones import PHONES_A, PHONES_B, WALLETS, PhoneA, PhoneB
from workbook.simulation.service import Service
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.film import Film, film
from workbook.views.screen import Screen


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that the cardholder does.

    Attributes:
        name: one of `ACTS`.
        at: when, in virtual seconds since the run began.
        value: what it is done to, such as the identifier of a pass entry.

    Raises:
        ParameterError: there is no such act, or its moment is no number of seconds.
    """

    name: str
    at: float
    value: str = ""

    def __post_init__(self) -> None:
        lookup("act", self.name, ACTS)
        number("An act's moment", self.at, unit="seconds")

    def event(self) -> m.Event | None:
        """Its event for the table; None for an act that only lets the run go on."""
        return ACTS[self.name](self.value)


# The settings that not every flow takes, and the flows that take each.
FLOWS_THAT_TAKE: Mapping[str, tuple[str, ...]] = {
    "handler": ("from the wallet",),
    "authorization": ("from the wallet",),
    "fetch_opc": ("platform A",),
    "delegate": ("platform B",),
    "app": ("platform B",),
}

# Each action of the cardholder, and its event.
ACTS: Mapping[str, Callable[[str], m.Event | None]] = {
    "open": m.Opened,
    "tap": lambda _value: m.AddTapped(),
    "look": lambda _value: m.IssuerListOpened(),
    "choose app": lambda _value: m.IssuerChosen(),
    "choose card": m.EntryChosen,
    "confirm": lambda _value: None,
    "cancel": lambda _value: None,
}


@dataclass(frozen=True, slots=True)
class Script:
    """Everything that a play depends on.

    Attributes:
        flow: one of `FLOWS`.
        variant: one of the flow's variants; empty for its latest.
        phone: one of the flow's phones; empty for its first.
        card: the payment instrument.
        guarded: False plays an app that does not disable its button (A-BTN-1); platform A only.
        surface: where the wallet app runs, `phone` or `watch`.
        fault: one of `simulation.faults.FAULTS`, played on the first request of `operation`; empty for none.
        operation: GET or POST.
        nth: the number of the request that is faulted among those of this operation, from 1.
        fault_card: only this card's requests are counted and faulted; empty for those of all cards.
        moment: whether the fault comes `before` or `after` the API has done its part.
        settings: the fault's own, by name, such as `seconds`.
        back_end: one of `back_ends.BACK_ENDS` for a fault to meet, or a class of the integrator's own.
        handler: from the wallet: one of `mistakes.HANDLERS`, or a class of the integrator's own.
        authorization: from the wallet: a class of the integrator's own; None lets the cardholder decide.
        fetch_opc: platform A: the integrator's own OpcProvider; None asks the back end.
        delegate: platform B: the integrator's own delegate, or the class of one; None asks the back end.
        app: platform B: one of `APPS_B`.
        acts: what was done, in order.

    Raises:
        ParameterError: nothing has this name, or the fault does not take these settings.
    """

    flow: str = "platform A"
    variant: str = ""
    phone: str = ""
    card: str = INSTRUMENT_IDS[0]
    guarded: bool = True
    surface: str = SURFACES[0]
    fault: str = ""
    operation: str = "POST"
    nth: int = 1
    fault_card: str = ""
    moment: str = "before"
    settings: Mapping[str, Any] = field(default_factory=dict)
    back_end: Any = "good"
    handler: Any = "reference"
    authorization: type[AuthorizationProvider] | None = None
    fetch_opc: Callable[[str, str], Any] | None = None
    delegate: Any = None
    app: str = "good"
    acts: tuple[Act, ...] = ()

    def __post_init__(self) -> None:
        flow = lookup("flow", self.flow, FLOWS)
        choice("variant", self.variant or flow.latest, flow.variants)
        choice("phone", self.phone or flow.first_phone, flow.phones)
        choice("card", self.card, INSTRUMENT_IDS)
        choice("surface", self.surface, SURFACES)
        check_back_end(self.back_end)
        for name, flows in FLOWS_THAT_TAKE.items():
            if getattr(self, name) != type(self).__dataclass_fields__[name].default and self.flow not in flows:
                raise ParameterError(f"The flow {self.flow!r} has no {name}. It belongs to: {', '.join(flows)}.")
        if self.fault_card:
            choice("fault_card", self.fault_card, INSTRUMENT_IDS)
        if self.fault:
            self.planned()
        if len(self.acts) > 40:  # far more than any lesson needs, and still played in a moment
            raise ParameterError("A script holds 40 acts at most. Begin again.")

    def planned(self) -> Planned:
        """The fault, as a rule for the one request that it is meant for."""
        chosen = fault_named(self.fault).but(**self.settings)
        return Planned(chosen, self.operation, self.fault_card or None, self.nth, None, self.moment)  # type: ignore[arg-type]  # it checks

    def watched_back_end(self, phone: PhoneA | PhoneB) -> BackEnd | None:
        """The back end that meets the fault, or the integrator's own, recorded by attempt; None without either."""
        if not self.fault and isinstance(self.back_end, str):
            return None
        plan = FaultPlan([self.planned()] if self.fault else [])
        takes = {"GET": phone.latencies.get, "POST": phone.latencies.post}
        return back_end_over(self.back_end, Network(Service(plan=plan), takes))

    @property
    def has_own_code(self) -> bool:
        """Whether code of the integrator's own is played."""
        named = isinstance(self.handler, str) and isinstance(self.back_end, str)
        return not named or any(value is not None for value in (self.authorization, self.fetch_opc, self.delegate))

    @property
    def decisions(self) -> tuple[str, ...]:
        """What the cardholder decided: the first belongs to the first authorization UI, and so on."""
        return tuple(act.name for act in self.acts if act.name in ("confirm", "cancel"))

    def then(self, name: str, at: float, value: str = "") -> Script:
        """The same script with one more act."""
        return replace(self, acts=(*self.acts, Act(name, at, value)))


@dataclass(frozen=True, slots=True)
class Play:
    """What came of a script.

    Attributes:
        script: what was played.
        film: what was seen.
        findings: what the checks make of it.
        run: the whole run, which may go on after the last thing seen.
        printed: what the integrator's own code printed, up to the end of the run.
    """

    script: Script
    film: Film
    findings: tuple[Finding, ...]
    run: Run = field(compare=False)
    printed: str = ""


def play(script: Script) -> Play:
    """Play a script from its beginning to the moment at which nothing is due."""
    printed = StringIO()
    with redirect_stdout(printed):  # a run is played anew after each act, and prints anew
        loop, screen, first = FLOWS[script.flow].begin(script)
        for act in (first, *script.acts):
            if (event := act.event()) is not None:
                loop.soon(event, act.at)
        loop.run()
    shown = film(loop.trace, loop.machine, screen)
    if script.authorization is None:
        shown = shown.until(m.AuthorizationUiShown, len(script.decisions) + 1)
    found = tuple(finding for finding in check(loop.trace) if finding.at <= shown.ends)
    last_printed = printed.getvalue()[-4_000:]  # characters
    return Play(script, shown, found, run_of(loop, screen, script.card), last_printed)


@dataclass(frozen=True, slots=True)
class Flow:
    """One of the ways to add a card.

    Attributes:
        variants: its variants by name, the latest last.
        phones: its phones by name, the ordinary one first.
        begin: builds the run that a script asks for, what is seen before it, and the act that opens it.
    """

    variants: Mapping[str, Any]
    phones: Mapping[str, Any]
    begin: Callable[[Script], tuple[AnyLoop, Screen, Act]]

    @property
    def latest(self) -> str:
        """The name of the latest variant."""
        return list(self.variants)[-1]

    @property
    def first_phone(self) -> str:
        """The name of the ordinary phone."""
        return next(iter(self.phones))


def _in_app(script: Script) -> tuple[AnyLoop, Screen, Act]:
    flow = FLOWS[script.flow]
    variant = flow.variants[script.variant or flow.latest]
    phone = flow.phones[script.phone or flow.first_phone](script.card)
    run: PlatformARun | PlatformBRun
    if isinstance(variant, VariantA):
        guarded = replace(variant, guarded=script.guarded)
        if script.fetch_opc is not None:
            check_callable(script.fetch_opc, "live", "fetch_opc", FETCH_OPC)
        app_a = AppA(fetch_opc=script.fetch_opc)
        run = PlatformARun(guarded, script.card, phone=phone, app=app_a, back_end=script.watched_back_end(phone))
    else:
        delegate = script.delegate() if isinstance(script.delegate, type) else script.delegate
        variant, app_b = app_named(script.app, variant, delegate)
        run = PlatformBRun(variant, script.card, phone=phone, app=app_b, back_end=script.watched_back_end(phone))
    return run, screen_of(phone), Act("open", 0.0, script.card)


def _wallet(script: Script) -> tuple[AnyLoop, Screen, Act]:
    flow = FLOWS[script.flow]
    phone = opened_phone(script.phone or flow.first_phone)
    wallet = WalletApp(
        handler_named(script.handler),
        variant=flow.variants[script.variant or flow.latest],
        surface=script.surface,
        phone=phone,
        authorization=script.authorization or _decide_by_acts(script),
        back_end=script.watched_back_end(phone),
    )
    return wallet, screen_of(phone, script.surface), Act("look", 0.0)


def _decide_by_acts(script: Script) -> type[AuthorizationProvider]:
    """The authorization UI that the cardholder answers: each showing has its own decision, in order."""
    decisions = iter(script.decisions)

    class Decided(AuthorizationProvider):
        """What comes after the last decision is not shown, so any answer will do."""

        def view_did_appear(self) -> None:
            self.completion_handler(next(decisions, "confirm") == "confirm")

    return Decided


# The ways to add a card.
FLOWS: Mapping[str, Flow] = {
    "platform A": Flow(VARIANTS_A, PHONES_A, _in_app),
    "platform B": Flow(VARIANTS_B, PHONES_B, _in_app),
    "from the wallet": Flow(VARIANTS_B, WALLETS, _wallet),
}
