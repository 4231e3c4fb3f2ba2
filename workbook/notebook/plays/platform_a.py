"""Platform A's verbs of a session: the SDK by hand, one whole play, and the live stage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.base.files import needs_lab
from workbook.base.values import flag, lookup, whole
from workbook.flows.machine import Difference, Machine, difference
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, A_NOT_MIGRATED, VARIANTS_A, VariantA
from workbook.notebook.plays.run import Run, Setup, run_of, screen_of
from workbook.runs.card_provisioning import FETCH_OPC, CardProvisioning, CardProvisioningCreateResult
from workbook.runs.own_code import check_callable
from workbook.runs.platform_a import AppA, PlatformARun
from workbook.simulation.canned import DAMAGES, damaged
from workbook.simulation.phones import PHONES_A, PhoneA

if TYPE_CHECKING:
    from workbook.notebook.live_phone import LivePhone
    from workbook.notebook.widgets.stage import Stage


MOST_TAPS = 20
"""The most taps in one play: they take two seconds, and the picture can still be read."""


class PlatformA:
    """Platform A of a session: `create` for the SDK by hand, `play` for a whole flow, `live` to press it yourself.

    `serve_phone` serves a phone for an app of your own.

    Attributes:
        phones: the names of the phones that `open_page`, `play` and `live` take.
        variants: the names of the variants that every verb takes.
        damages: the names of the damages that `create` takes.
    """

    in_python = "session.platform_a"
    phones = tuple(PHONES_A)
    variants = tuple(VARIANTS_A)
    damages = tuple(DAMAGES)

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def __repr__(self) -> str:
        return (
            f"Platform A, SDK {self._setup.variant_a.name}\n"
            "Next: .create() for the SDK by hand, .play() for a whole flow, .open_page(), .live(), .serve_phone(); "
            ".phones, .variants."
        )

    def create(
        self, variant: str | None = None, *, phone: PhoneA | None = None, damage: str = "none"
    ) -> CardProvisioningCreateResult:
        """Call `CardProvisioning.create` with simulated activation data (A-CREATE-1).

        Args:
            variant: one of `variants`; None takes the session's.
            phone: the phone that the SDK runs on; None takes a new one.
            damage: what happens to the sdkInput on its way, one of `damages`.

        Returns:
            `CreateSuccess` with `card_provisioning`, `WalletPayNotSupported` or `InvalidSdkInput`.

        Raises:
            ParameterError: a name is unknown.
        """
        flow = self._variant(variant)
        lookup("damage", damage, DAMAGES)
        sdk_input = self._setup.api.get(self._setup.card).sdk_input
        given = sdk_input if damage == "none" else damaged(sdk_input.text, damage)
        return CardProvisioning.create(
            given, lambda: "the app's activity", variant=flow, phone=phone, seed=self._setup.seed
        )

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
        whole("taps", taps, least=0, most=MOST_TAPS)
        flag("guarded", guarded)
        flag("migrated", migrated)
        if fetch_opc is not None:
            check_callable(fetch_opc, "play", "fetch_opc", FETCH_OPC)
        flow = replace(self._variant(variant) if migrated else A_NOT_MIGRATED, guarded=guarded)
        played_on = lookup("phone", phone, PHONES_A)(self._setup.card)
        run = PlatformARun(
            flow,
            self._setup.card,
            phone=played_on,
            app=AppA(fetch_opc=fetch_opc),
            back_end=self._setup.back_end(),
            seed=self._setup.seed,
        )
        before = screen_of(played_on)
        run.open()
        if run.button == "shown" and taps:
            run.tap(taps)
        return run_of(run, before)

    @needs_lab("live()")
    def live(self, **choices: Any) -> Stage:
        """A phone that you operate, with every message behind it.

        Args:
            choices: `phone`, `variant`, `guarded`, a fault with `fault`, `operation`, `moment` and `seconds`, and code
                of your own: `fetch_opc`, `calls` (by state, the name of the app's call there, or None), `back_end`
                (a name, or your class, which takes a client of the API and has `get` and `post`).

        Raises:
            ParameterError: a choice or its value is unknown, or the SDK cannot call your code.
        """
        from workbook.notebook.widgets.stage import stage  # widgets are for notebooks

        return stage("platform A", **{"variant": self._setup.variant_a.name} | choices)

    @needs_lab("serve_phone()")
    def serve_phone(self, phone: str = "ready", *, port: int = 0, pace: float = 1.0) -> LivePhone:
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
        from workbook.notebook.live_phone import LivePhone  # a server and widgets, for a notebook that wants them

        return LivePhone(phone, port=port, pace=pace, seed=self._setup.seed)

    def machine(self, variant: str | None = None) -> Machine:
        """The flow's table of states and events: `f"{machine:md}"` and `f"{machine:mermaid}"` draw it."""
        return self._variant(variant).machine

    def migration(self) -> Difference:
        """What changes in the flow from before 0.4.0 to 0.4.0 (A-MIG-1)."""
        return difference(A_BEFORE_0_4_0.machine, A_FROM_0_4_0.machine)

    def _variant(self, name: str | None) -> VariantA:
        return self._setup.variant_a if name is None else lookup("variant", name, VARIANTS_A)
