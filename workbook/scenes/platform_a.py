"""Scenes: one call that sets a stage, walks through it, and shows all that is to be seen.

A lesson names a device and a variant; a scene builds the bench, runs it, and keeps what came of it. The
names are the lesson's vocabulary, so each stands in a table here and a misspelt one is explained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from workbook.api import ActivationDataClient, RetryPolicy
from workbook.benches.app_a import App
from workbook.benches.bench_a import Bench
from workbook.card_provisioning import CardProvisioning, check_fetch_opc
from workbook.errors import ActivationDataError, ParameterError, did_you_mean
from workbook.flows import messages as m
from workbook.flows.variants import VARIANTS
from workbook.lesson import expect
from workbook.parameters import quoted
from workbook.scenes.staged import Staged, before
from workbook.simulation.canned import CANNED, CannedService
from workbook.simulation.damage import DAMAGES, damaged
from workbook.simulation.device import NOT_ALLOWLISTED, Device
from workbook.simulation.direct import ORIGIN, DirectApi
from workbook.simulation.service import Service
from workbook.simulation.transport import SimulatedTransport
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, Credential, World

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.flows.machine import Machine
    from workbook.lesson import Check, Shown
    from workbook.trace import Trace
    from workbook.views.screen import Screen

Value = TypeVar("Value")

DEVICES: Mapping[str, Callable[[], Device]] = {
    "ready": Device,
    "card already in the wallet": lambda: Device(cards={INSTRUMENT_IDS[0]}),
    "wallet payment not supported": lambda: Device(wallet_pay_supported=False),
    "app not allowlisted": lambda: Device(allowlisted=False),
    "canProvision ends in Error": lambda: Device(can_provision=m.CanProvisionError("IOException")),
    "canProvision ends in UnknownFailure": lambda: Device(can_provision=m.UnknownFailure()),
    "canProvision ends in ApiError": lambda: Device(can_provision=m.ApiError(NOT_ALLOWLISTED)),
    "card not configured at the scheme": lambda: Device(scheme_configured=False),
    "identity check pending": lambda: Device(verification_pending=True),
    "cardholder cancels": lambda: Device(provision_failure="Canceled"),
    "wallet times out": lambda: Device(provision_failure="Timeout"),
}
"""The phones that a scene may be set on."""

MOST_TAPS = 20
"""How many taps a scene plays at most: they take two seconds, and the picture can still be read."""


@dataclass(frozen=True, slots=True, repr=False)
class Scene(Staged):
    """What came of a run.

    Attributes:
        trace: every step.
        state: where the app stands at the end.
        button: what the cardholder sees of the add button at the end.
        in_wallet: the card is in the wallet at the end.
        machine: the table that was stepped.
        first: what was to be seen before.
    """

    trace: Trace
    state: str
    button: str
    in_wallet: bool
    machine: Machine
    first: Screen

    @property
    def summary(self) -> dict[str, str]:
        """The end of it, in four lines."""
        return {
            "ended": self.state,
            "add button": self.button,
            "card in the wallet": "yes" if self.in_wallet else "no",
            "took": self.took,
        }


def open_card(device: str = "ready", variant: str = "from-0.4.0") -> Scene:
    """The cardholder opens the card's page, and no more: is the button shown or hidden?

    Raises:
        ParameterError: no device or variant has this name.
    """
    bench = _bench(device, variant)
    first = before(bench.device)
    bench.open()
    return _scene(bench, first)


def walk(
    device: str = "ready",
    variant: str = "from-0.4.0",
    *,
    taps: int = 1,
    guarded: bool = True,
    app: App | None = None,
) -> Scene:
    """The whole way: open the card, tap Add, and see what comes of it.

    Args:
        device: one of `DEVICES`.
        variant: `before-0.4.0` or `from-0.4.0`.
        taps: how often the cardholder taps, a tenth of a second apart; 0 to `MOST_TAPS`.
        guarded: False plays an app that does not disable its button (A-BTN-1).
        app: the issuer's app; by default the one that makes the variant's calls.

    Raises:
        ParameterError: no device or variant has this name, or another argument is not of its kind.
    """
    _check_taps(taps)
    _check_switch("guarded", guarded)
    _check_app(app)
    bench = _bench(device, variant, guarded=guarded, app=app)
    first = before(bench.device)
    bench.open()
    if bench.button == "shown":
        bench.tap(taps)
    return _scene(bench, first)


def create_with(damage: str = "none", variant: str = "from-0.4.0") -> Any:
    """CardProvisioning.create with an sdkInput that was damaged on its way: the outcome says what it met.

    Raises:
        ParameterError: no damage or variant has this name.
    """
    flow = named(variant, VARIANTS, "variant")
    named(damage, DAMAGES, "damage")
    text = DirectApi().get(INSTRUMENT_IDS[0]).sdk_input.text
    return CardProvisioning.create(damaged(text, damage), lambda: "activity", variant=flow)


def practice_client(
    answer: str | None = None, *, role: bool = True, api_key: str = SIMULATED_KEY
) -> ActivationDataClient:
    """A client for breaking things: it never reaches a real API and does not retry.

    Args:
        answer: one of `simulation.canned.CANNED`, given to every request; None asks the simulated service.
        role: False takes the activation-data role from the credential (API-15).
        api_key: what the client sends; the service knows the default only.

    Raises:
        ParameterError: there is no answer of this name, or `role` is neither True nor False.
        ConfigurationError: no header can carry the key.
    """
    _check_switch("role", role)
    if answer is not None:
        named(answer, CANNED, "answer")
    credential = Credential() if role else Credential(frozenset())
    service = Service(World(credentials={SIMULATED_KEY: credential})) if answer is None else CannedService(answer)
    transport = SimulatedTransport(service)
    once = RetryPolicy(attempts=1)
    return ActivationDataClient(base_url=ORIGIN, api_key=api_key, transport=transport, retries=once)


def ask(answer: str = "sdkInput missing") -> Shown | Check:
    """The error that the client makes of this answer to a GET, shown instead of raised.

    Raises:
        ParameterError: there is no answer of this name.
    """
    named(answer, CANNED, "answer")
    return expect(ActivationDataError, practice_client(answer).get, INSTRUMENT_IDS[0])


def _bench(device: str, variant: str, *, guarded: bool = True, app: App | None = None) -> Bench:
    flow = replace(named(variant, VARIANTS, "variant"), guarded=guarded)
    return Bench(flow, device=named(device, DEVICES, "device")(), app=app)


def _scene(bench: Bench, first: Screen) -> Scene:
    in_wallet = bench.payment_instrument_id in bench.device.cards
    return Scene(bench.trace, str(bench.state), bench.button, in_wallet, bench.machine, first)


def named(name: str, table: Mapping[str, Value], what: str) -> Value:
    """What the table has under this name; `what` says what kind of name it is.

    Raises:
        ParameterError: it has none.
    """
    if not isinstance(name, str):
        raise ParameterError(f"{what} is {quoted(name)}; allowed: {', '.join(table)}.")
    if name not in table:
        raise ParameterError(f"No {what} {quoted(name)}. {did_you_mean(name, table)}")
    return table[name]


def _check_taps(taps: object) -> None:
    if not isinstance(taps, int) or isinstance(taps, bool) or not 0 <= taps <= MOST_TAPS:
        raise ParameterError(f"taps is {quoted(taps)}; allowed: a whole number from 0 to {MOST_TAPS}.")


def _check_switch(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ParameterError(f"{name} is {quoted(value)}; allowed: True, False.")


def _check_app(app: object) -> None:
    if app is None:
        return
    if not isinstance(app, App):
        raise ParameterError(
            f"app is {quoted(app)}; allowed: an App(...) from workbook.scenes, such as App(fetch_opc=f)."
        )
    if app.fetch_opc is not None:
        check_fetch_opc(app.fetch_opc, "App's fetch_opc")
