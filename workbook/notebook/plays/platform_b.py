"""Platform B's verbs of a session, inside the issuer's app: the SDK by hand, one whole play, and the live stage."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from workbook.base.files import needs_lab
from workbook.base.values import choice, lookup, whole
from workbook.flows.machine import Difference, difference
from workbook.flows.variants import VARIANTS_B, VariantB
from workbook.notebook.plays.run import Run, Setup, run_of, screen_of
from workbook.runs.platform_b import APPS_B, AppB, PlatformBRun, app_named
from workbook.runs.provisioning_service import ProvisioningService
from workbook.simulation.phones import PHONES_B, PhoneB

if TYPE_CHECKING:
    from workbook.notebook.widgets.stage import Stage

MOST_PAGES = 9


class PlatformB:
    """Platform B of a session, in the app: `service` for the SDK by hand, `play` for a whole flow, `live` to press it.

    Attributes:
        phones: the names of the phones that `play`, `open_page` and `live` take.
        variants: the names of the variants that every verb takes.
        apps: the names of the apps that `play` takes; all but the first and the last make one mistake.
    """

    in_python = "session.platform_b"
    phones = tuple(PHONES_B)
    variants = tuple(VARIANTS_B)
    apps = tuple(APPS_B)

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._phones = 0

    def __repr__(self) -> str:
        return (
            f"Platform B, {self._setup.variant_b.name} variant\n"
            "Next: .service() for the SDK by hand, .play() for a whole flow, .open_page(), .live(), .phone(); "
            ".phones, .variants, .apps."
        )

    def phone(self, name: str | None = None, **facts: Any) -> PhoneB:
        """A new phone, whose SDK makes other sdkOutputs than the session's other phones.

        Args:
            name: one of `phones`; None takes the ordinary one.
            facts: the phone's own attributes, such as `watch=wb.Watch()`, `cards={...}` or `profile="field"`.

        Raises:
            ParameterError: the name is unknown, or a fact is none of a phone's.
        """
        known = [each.name for each in fields(PhoneB)]
        for fact in facts:
            choice("A phone's fact", fact, known)
        self._phones += 1
        phone = PhoneB(**facts) if name is None else lookup("phone", name, PHONES_B)(self._setup.card)
        phone.number, phone.seed = self._phones, self._setup.seed
        return phone

    def service(self, phone: PhoneB | None = None, variant: str | None = None) -> ProvisioningService:
        """A `ProvisioningService` from simulated activation data (B-INIT-1).

        Args:
            phone: the phone it runs on; None takes a new one.
            variant: one of `variants`; None takes the session's.

        Raises:
            SdkError: the SDK refuses the data or the phone.
            ParameterError: the variant is unknown.
        """
        sdk_input = self._setup.api.get(self._setup.card).sdk_input
        return ProvisioningService(sdk_input.data, variant=self._variant(variant), phone=phone or self.phone())

    def open_page(self, phone: str | PhoneB = "ready", variant: str | None = None) -> Run:
        """The cardholder opens the card's page and does nothing else; the app saves the card's sdkInput (X-CACHE-1).

        Args:
            phone: one of `phones`, or a phone that `phone()` made.
            variant: one of `variants`; None takes the session's.

        Raises:
            ParameterError: a name is unknown.
        """
        return self._played(self._variant(variant), phone, AppB(), pages=1, tap=False)

    def play(
        self,
        phone: str | PhoneB = "ready",
        variant: str | None = None,
        app: str = "good",
        *,
        delegate: object = None,
        pages: int = 1,
    ) -> Run:
        """Play the whole flow: the cardholder opens the card's page and taps Add, where there is a button.

        Args:
            phone: one of `phones`, or a phone that `phone()` made.
            variant: one of `variants`; None takes the session's.
            app: one of `apps`.
            delegate: your own delegate, an object with `provision(...)` and `did_finish_provisioning(pass_, error)`;
                None relays through the back end.
            pages: how often the cardholder opens the page before the tap, 1 to 9.

        Raises:
            ParameterError: a name is unknown, or a value is not allowed.
        """
        whole("pages", pages, least=1, most=MOST_PAGES)
        flow, played = app_named(app, self._variant(variant), delegate)
        return self._played(flow, phone, played, pages=pages, tap=True)

    @needs_lab("live()")
    def live(self, **choices: Any) -> Stage:
        """A phone to press yourself, with every message behind it.

        Args:
            choices: `phone`, `variant`, `app`, a fault with `fault`, `operation`, `moment` and `seconds`, and code of
                your own: `delegate` (an object, or its class to begin each run with a new one), `calls` (by state,
                the name of the app's call there, or None), `back_end` (a name, or your class).

        Raises:
            ParameterError: a choice or its value is unknown, or the SDK cannot call your code.
        """
        from workbook.notebook.widgets.stage import stage  # widgets are for notebooks

        return stage("platform B", **{"variant": self._setup.variant_b.name} | choices)

    def migration(self) -> Difference:
        """What changes in the flow from the earlier variant to the later one."""
        return difference(VARIANTS_B["earlier"].machine, VARIANTS_B["later"].machine)

    def _variant(self, name: str | None) -> VariantB:
        return self._setup.variant_b if name is None else lookup("variant", name, VARIANTS_B)

    def _played(self, flow: VariantB, phone: str | PhoneB, app: AppB, *, pages: int, tap: bool) -> Run:
        chosen = phone if isinstance(phone, PhoneB) else lookup("phone", phone, PHONES_B)(self._setup.card)
        run = PlatformBRun(flow, self._setup.card, phone=chosen, app=app, back_end=self._setup.back_end())
        before = screen_of(chosen)
        for _page in range(pages):
            run.open()
        if tap and run.button == "shown":
            run.tap()
        return run_of(run, before)
