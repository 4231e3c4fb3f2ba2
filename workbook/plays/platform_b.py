"""Platform B's verbs of a session, inside the issuer's app: the SDK by hand, one whole play, and the live stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.errors import ParameterError
from workbook.files import needs_lab
from workbook.flows.machine import Difference, difference
from workbook.flows.variants import VARIANTS_B, VariantB
from workbook.plays.run import Run, Setup, run_of, screen_of
from workbook.provisioning_service import ProvisioningService
from workbook.runs.platform_b import NO_WATCH_CALLS, AppB, PlatformBRun, check_delegate
from workbook.simulation.phones import NOTHING, TARGETS, LatenciesB, PhoneB, Watch
from workbook.values import choice, lookup, quoted, whole

if TYPE_CHECKING:
    from workbook.widgets.stage import Stage

PHONES_B: Mapping[str, Callable[[str], PhoneB]] = MappingProxyType({
    "ready": lambda _card: PhoneB(),
    "with a watch": lambda _card: PhoneB(watch=Watch()),
    "cardholder adds to both": lambda _card: PhoneB(watch=Watch(), adds_to="both"),
    "card on the phone, not on the watch": lambda card: PhoneB(watch=Watch(), cards={card}),
    "card on both": lambda card: PhoneB(watch=Watch({card}), cards={card}),
    "card already in the wallet": lambda card: PhoneB(cards={card}),
    "another wallet": lambda _card: PhoneB(wallet="wallet-c"),
    "cardholder cancels": lambda _card: PhoneB(ends_with="userCancelled"),
    "wallet fails": lambda _card: PhoneB(ends_with="walletKitError"),
    "neither pass nor error": lambda _card: PhoneB(ends_with=NOTHING),
    "no entitlement": lambda _card: PhoneB(entitled=TARGETS[1:]),
    "app not associated at the scheme": lambda _card: PhoneB(associated=False),
    "back end takes 25 s": lambda _card: PhoneB(latencies=LatenciesB(post=25.0)),
})  # fmt: skip
"""Platform B's phones by name; each is made for the card that the cardholder adds."""

SILENT = "keeps a failure to itself"
SAYS_AVAILABLE = "says “Available in Wallet” on completion"
APPS_B: Mapping[str, Mapping[str, Any]] = MappingProxyType({
    "good": {},
    "hands over base64 text": {"decodes": False},
    "a WatchAvailability for each page": {"keeps_watch_availability": False},
    "never looks for a watch": {"calls": NO_WATCH_CALLS},
    SILENT: {},
    SAYS_AVAILABLE: {},
})  # fmt: skip
"""The issuer's apps by name. The last shows the document's other label (B-FIN-2); each between makes one mistake."""

MOST_PAGES = 9


def app_named(name: str, variant: VariantB, delegate: object = None) -> tuple[VariantB, AppB]:
    """The app of this name with this delegate, and the variant as that app shows it.

    Raises:
        ParameterError: there is no such app, it needs the other variant, or the SDK cannot call the delegate.
    """
    mistake = lookup("app", name, APPS_B)
    if not variant.later and any(setting in mistake for setting in ("calls", "keeps_watch_availability")):
        raise ParameterError(f"The earlier variant knows no watch: {quoted(name)} needs variant='later'.")
    if delegate is not None:
        check_delegate(delegate, variant)
    shown = replace(variant, tells=name != SILENT, says_available=name == SAYS_AVAILABLE)
    return shown, AppB(delegate=delegate, **mistake)


class PlatformB:
    """Platform B of a session, in the app: `service` for the SDK by hand, `play` for a whole flow, `live` to press it.

    Attributes:
        phones: the names of the phones that `play`, `open_page` and `live` take.
        variants: the names of the variants that every verb takes.
        apps: the names of the apps that `play` takes; all but the first and the last make one mistake.
    """

    spelled = "session.platform_b"
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
        from workbook.widgets.stage import stage  # widgets are for notebooks

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
