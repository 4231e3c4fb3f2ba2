"""A session's verbs on each platform: the SDK by hand, one whole play, and the live stage.

Platform A and platform B begin in the issuer's app. On platform B a cardholder can also begin in the wallet app
(FLOW-4), which calls the app's extensions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput
from workbook.base.files import needs_lab
from workbook.base.values import flag, lookup, whole
from workbook.flows.variants import A_NOT_MIGRATED, VARIANTS_A, VARIANTS_B, VariantA, VariantB
from workbook.lessons.run import Run, run_of, screen_of
from workbook.lessons.tools import tool
from workbook.play.back_end import BackEnd
from workbook.play.handler import ExtensionHandler
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS, SHOWS_ON, handler_named
from workbook.play.own_code import check_callable
from workbook.play.platform_a import FETCH_OPC, AppA, CardProvisioning, CardProvisioningCreateResult, PlatformARun
from workbook.play.platform_b import APPS_B, AppB, PlatformBRun, ProvisioningService, app_named, opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import PHONES_A, PHONES_B, WALLETS, PhoneB
from workbook.simulation.seal import DAMAGES, damaged
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.table import Table, table

if TYPE_CHECKING:
    from workbook.lessons.widgets.panels import Live
    from workbook.lessons.widgets.stage import Stage


@dataclass(frozen=True, slots=True)
class Setup:
    """What every platform needs of a session.

    Attributes:
        card: the payment instrument id of the card that is added.
        seed: of everything that the simulation draws.
        variant_a: platform A's variant.
        variant_b: platform B's variant.
        sdk_input: makes activation data that the SDK stand-ins can open.
        back_end: makes the back end of one play.
    """

    card: str
    seed: int
    variant_a: VariantA
    variant_b: VariantB
    sdk_input: Callable[[], SdkInput]
    back_end: Callable[[], BackEnd]

    def on_a(self, variant: str | None) -> VariantA:
        """The variant of platform A with this name; the session's without one."""
        return self.variant_a if variant is None else lookup("variant", variant, VARIANTS_A)

    def on_b(self, variant: str | None) -> VariantB:
        """The variant of platform B with this name; the session's without one."""
        return self.variant_b if variant is None else lookup("variant", variant, VARIANTS_B)


class Verbs:
    """The verbs of a session on one platform."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup


def _serve_phone(setup: Setup, platform: str, phone: str, port: int, pace: float) -> Live:
    served: Live = tool("LivePhone")(phone, platform, port=port, pace=pace, seed=setup.seed)
    return served


class InApp(Verbs):
    """What both platforms' apps have."""

    platform: str
    phones: tuple[str, ...]

    @needs_lab("serve_phone()")
    def serve_phone(self, phone: str = "ready", *, port: int = 0, pace: float = 1.0) -> Live:
        """Serve a phone for your own app's test, and watch phone, messages and states while the test runs.

        It is `workbook phone` in a notebook: `settings` has the test's two environment variables, `stop()` ends it.

        Args:
            phone: one of `phones`.
            port: where it listens; 0 takes any free one.
            pace: multiplies the SDK's seconds; 0 answers at once.

        Raises:
            ParameterError: there is no such phone.
            ConfigurationError: the port is taken.
        """
        return _serve_phone(self._setup, self.platform, phone, port, pace)


class PlatformA(InApp):
    """Platform A of a session: `create` for the SDK by hand, `play` for a whole flow, `live` to press it yourself.

    `serve_phone` serves a phone for an app of your own.

    Attributes:
        phones: the names of the phones that `open_page`, `play` and `live` take.
        variants: the names of the variants that every verb takes.
        damages: the names of the damages that `create` takes.
    """

    in_python = "session.platform_a"
    platform = "A"
    phones = tuple(PHONES_A)
    variants = tuple(VARIANTS_A)
    damages = tuple(DAMAGES)

    def __repr__(self) -> str:
        return (
            f"Platform A, SDK {self._setup.variant_a.name}\n"
            "Next: .create() for the SDK by hand, .play() for a whole flow, .open_page(), .live(), .serve_phone(); "
            ".phones, .variants."
        )

    def create(
        self, variant: str | None = None, *, phone: str = "ready", damage: str = "none"
    ) -> CardProvisioningCreateResult:
        """Call `CardProvisioning.create` with simulated activation data (A-CREATE-1).

        Args:
            variant: one of `variants`; None takes the session's.
            phone: the phone that the SDK runs on, one of `phones`.
            damage: what happens to the sdkInput on its way, one of `damages`.

        Returns:
            `CreateSuccess` with `card_provisioning`, `WalletPayNotSupported` or `InvalidSdkInput`.

        Raises:
            ParameterError: a name is unknown.
        """
        flow = self._setup.on_a(variant)
        lookup("damage", damage, DAMAGES)
        held = lookup("phone", phone, PHONES_A)(self._setup.card)
        sdk_input, seed = self._setup.sdk_input(), self._setup.seed
        given = sdk_input if damage == "none" else damaged(sdk_input.text, damage)
        return CardProvisioning.create(given, lambda: "the app's activity", variant=flow, phone=held, seed=seed)

    def open_page(self, phone: str = "ready", variant: str | None = None) -> Run:
        """The cardholder opens the card's page and does nothing else: is the button shown or hidden?

        Args:
            phone: one of `phones`.
            variant: one of `variants`; None takes the session's.

        Raises:
            ParameterError: a name is unknown.
        """
        return self.play(phone, variant, taps=0)

    def play(
        self,
        phone: str = "ready",
        variant: str | None = None,
        *,
        taps: int = 1,
        guarded: bool = True,
        migrated: bool = True,
        fetch_opc: Callable[[str, str], Any] | None = None,
    ) -> Run:
        """Play the whole flow: the cardholder opens the card's page and taps Add, where there is a button.

        Args:
            phone: one of `phones`.
            variant: one of `variants`; None takes the session's.
            taps: the number of taps, 0.1 s apart; 0 to 20.
            guarded: False plays an app that does not disable its button (A-BTN-1).
            migrated: False plays an app that still makes the calls from before 0.4.0 with the SDK from 0.4.0.
            fetch_opc: your own `OpcProvider.fetchOpc(payment_instrument_id, sdk_output)`, a function or a coroutine
                function (A-OPC-1); None asks the back end.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        whole("taps", taps, least=0, most=20)  # 20 taps take two seconds, and the picture can still be read
        flag("guarded", guarded)
        flag("migrated", migrated)
        if fetch_opc is not None:
            check_callable(fetch_opc, "play", "fetch_opc", FETCH_OPC)
        setup = self._setup
        flow = replace(setup.on_a(variant) if migrated else A_NOT_MIGRATED, guarded=guarded)
        held, app = lookup("phone", phone, PHONES_A)(setup.card), AppA(fetch_opc=fetch_opc)
        run = PlatformARun(flow, setup.card, phone=held, app=app, back_end=setup.back_end(), seed=setup.seed)
        before = screen_of(held)
        run.open()
        if run.button == "shown" and taps:
            run.tap(taps)
        return run_of(run, before)

    @needs_lab("live()")
    def live(self, **choices: Any) -> Stage:
        """A phone that you operate, with every message behind it.

        Args:
            choices: `phone`, `variant`, `guarded`, a fault with `fault`, `operation`, `moment` and `seconds`, and code
                of your own: `fetch_opc`, `back_end` (a name, or your class, which takes a client of the API and has
                `get` and `post`).

        Raises:
            ParameterError: a choice or its value is unknown, or the SDK cannot call your code.
        """
        from workbook.lessons.widgets.stage import stage  # widgets are for notebooks

        return stage("platform A", **{"variant": self._setup.variant_a.name} | choices)


class PlatformB(InApp):
    """Platform B of a session, in the app: `service` for the SDK by hand, `play` for a whole flow, `live` to press it.

    Attributes:
        phones: the names of the phones that `play`, `open_page` and `live` take.
        variants: the names of the variants that every verb takes.
        apps: the names of the apps that `play` takes; all but the first and the last make one mistake.
    """

    in_python = "session.platform_b"
    platform = "B"
    phones = tuple(PHONES_B)
    variants = tuple(VARIANTS_B)
    apps = tuple(APPS_B)

    def __repr__(self) -> str:
        return (
            f"Platform B, {self._setup.variant_b.name} variant\n"
            "Next: .service() for the SDK by hand, .play() for a whole flow, .open_page(), .live(), "
            ".serve_phone(); .phones, .variants, .apps."
        )

    def service(self, variant: str | None = None) -> ProvisioningService:
        """A `ProvisioningService` from simulated activation data, on a new phone (B-INIT-1).

        Args:
            variant: one of `variants`; None takes the session's.

        Raises:
            ParameterError: the variant is unknown.
        """
        phone = PhoneB(seed=self._setup.seed)
        return ProvisioningService(self._setup.sdk_input().data, variant=self._setup.on_b(variant), phone=phone)

    def open_page(self, phone: str = "ready", variant: str | None = None) -> Run:
        """The cardholder opens the card's page and does nothing else; the app saves the card's sdkInput (X-CACHE-1).

        Args:
            phone: one of `phones`.
            variant: one of `variants`; None takes the session's.

        Raises:
            ParameterError: a name is unknown.
        """
        return self._play(self._setup.on_b(variant), phone, AppB(), pages=1, tap=False)

    def play(
        self,
        phone: str = "ready",
        variant: str | None = None,
        app: str = "good",
        *,
        delegate: object = None,
        pages: int = 1,
    ) -> Run:
        """Play the whole flow: the cardholder opens the card's page and taps Add, where there is a button.

        Args:
            phone: one of `phones`.
            variant: one of `variants`; None takes the session's.
            app: one of `apps`.
            delegate: your own delegate, an object with `provision(...)` and `did_finish_provisioning(pass_, error)`;
                None relays through the back end.
            pages: how often the cardholder opens the page before the tap, 1 to 9.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        whole("pages", pages, least=1, most=9)
        flow, played = app_named(app, self._setup.on_b(variant), delegate)
        return self._play(flow, phone, played, pages=pages, tap=True)

    @needs_lab("live()")
    def live(self, **choices: Any) -> Stage:
        """A phone to press yourself, with every message behind it.

        Args:
            choices: `phone`, `variant`, `app`, a fault with `fault`, `operation`, `moment` and `seconds`, and code of
                your own: `delegate` (an object, or its class to begin each run with a new one), `back_end` (a name,
                or your class).

        Raises:
            ParameterError: a choice or its value is unknown, or the SDK cannot call your code.
        """
        from workbook.lessons.widgets.stage import stage  # widgets are for notebooks

        return stage("platform B", **{"variant": self._setup.variant_b.name} | choices)

    def _play(self, flow: VariantB, phone: str, app: AppB, *, pages: int, tap: bool) -> Run:
        chosen = lookup("phone", phone, PHONES_B)(self._setup.card)
        run = PlatformBRun(flow, self._setup.card, phone=chosen, app=app, back_end=self._setup.back_end())
        before = screen_of(chosen)
        for _page in range(pages):
            run.open()
        if tap and run.button == "shown":
            run.tap()
        return run_of(run, before)


class Wallet(Verbs):
    """The wallet app of a session: `play` for a whole flow, `live` to press it yourself.

    Attributes:
        phones: the names of the phones that `play` and `live` take.
        handlers: the names of the handlers that `play` takes; each but the first makes one mistake.
        authorizations: the names of the authorization UIs that `play` takes.
        variants: the names of the variants that every verb takes.
    """

    in_python = "session.wallet"
    phones = tuple(WALLETS)
    handlers = tuple(HANDLERS)
    authorizations = tuple(AUTHORIZATIONS)
    variants = tuple(VARIANTS_B)

    def __repr__(self) -> str:
        return (
            f"The wallet app on platform B, {self._setup.variant_b.name} variant\n"
            "Next: .play() for a whole flow, .live(), .mistakes(); "
            ".phones, .handlers, .authorizations, .variants."
        )

    def play(
        self,
        handler: str | type[ExtensionHandler] = "reference",
        phone: str | None = None,
        *,
        surface: str | None = None,
        variant: str | None = None,
        authorization: str = "lets the cardholder in",
        cards: Sequence[str] | None = None,
    ) -> Run:
        """Play the whole flow: the cardholder looks for the app in the wallet and chooses it and its first card.

        Args:
            handler: one of `handlers`, or your own class.
            phone: one of `phones`; None takes the one on which the handler's mistake shows.
            surface: `phone` or `watch`, where the wallet app runs; None takes the one on which the mistake shows.
            variant: one of `variants`; None takes the session's.
            authorization: one of `authorizations`.
            cards: the payment instrument ids of the cardholder; None takes three, the session's first.

        Raises:
            ParameterError: a name is unknown, or a value is not of its kind.
        """
        shows_on = {"phone": "app was opened", "surface": "phone"} | dict(SHOWS_ON.get(str(handler), {}))
        ids = self._cards() if cards is None else cards
        wallet = WalletApp(
            handler_named(handler),
            self._setup.on_b(variant),
            surface=shows_on["surface"] if surface is None else surface,
            phone=opened_phone(shows_on["phone"] if phone is None else phone, ids),
            authorization=lookup("authorization", authorization, AUTHORIZATIONS),
            cards=ids,
            back_end=self._setup.back_end(),
        )
        before = screen_of(wallet.phone, wallet.surface)
        wallet.walk()
        return run_of(wallet, before, card=ids[0] if ids else self._setup.card)

    @needs_lab("serve()")
    def serve(self, phone: str = "ready", *, port: int = 0, pace: float = 1.0) -> Live:
        """Serve a phone for your own extension's test, and watch what the extension asks of the SDK while it runs.

        Args:
            phone: one of the phones of `session.platform_b`.
            port: where it listens; 0 takes any free one.
            pace: multiplies the SDK's seconds; 0 answers at once.

        Raises:
            ParameterError: there is no such phone.
            ConfigurationError: the port is taken.
        """
        return _serve_phone(self._setup, "B", phone, port, pace)

    @needs_lab("live()")
    def live(self, **choices: Any) -> Stage:
        """A wallet app to press yourself, with every message behind it.

        Args:
            choices: `phone`, `variant`, `surface`, a fault with `fault`, `operation`, `moment` and `seconds`, and code
                of your own: `handler` (one of `handlers`, or your class), `authorization` (your class; without one the
                cardholder decides), `back_end` (a name, or your class).

        Raises:
            ParameterError: a choice or its value is unknown, or the wallet cannot call your code.
        """
        from workbook.lessons.widgets.stage import stage  # widgets are for notebooks

        shows_on = SHOWS_ON.get(str(choices.get("handler")), {})
        return stage("from the wallet", **{"variant": self._setup.variant_b.name} | dict(shows_on) | choices)

    def mistakes(self) -> Table:
        """Every handler with one mistake, played: by how it ends for the cardholder."""
        ends: dict[str, list[str]] = {}
        for name in self.handlers[1:]:
            ends.setdefault(self.play(name).state, []).append(name)
        rows = [(state, "; ".join(names)) for state, names in ends.items()]
        return table("Handlers with one mistake each", ("ends", "mistake"), rows)

    def _cards(self) -> tuple[str, ...]:
        """The session's card, and the simulation's others."""
        return (self._setup.card, *[card for card in INSTRUMENT_IDS if card != self._setup.card][:2])
