"""The wallet's verbs of a session: platform B's flow starts in the wallet app (FLOW-4), which calls the extensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbook.base.files import needs_lab
from workbook.base.values import lookup
from workbook.flows.machine import Difference, difference
from workbook.flows.variants import SURFACES, VARIANTS_B, VariantB
from workbook.notebook.plays.run import Run, Setup, run_of, screen_of
from workbook.reading.checks.finding import Severity
from workbook.runs.extension.handler import ExtensionHandler, ReferenceHandler
from workbook.runs.extension.mistakes import AUTHORIZATIONS, HANDLERS, SHOWS_ON, handler_named
from workbook.runs.extension.plist import plist_problems
from workbook.runs.extension.wallet_app import WalletApp
from workbook.runs.loop import together
from workbook.runs.platform_b import opened_phone
from workbook.simulation.phones import WALLETS, PhoneB
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.table import Table, table

if TYPE_CHECKING:
    from workbook.notebook.widgets.stage import Stage


class Wallet:
    """The wallet app of a session: `open` to go step by step, `play` for a whole flow, `live` to press it yourself.

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

    def __init__(self, setup: Setup) -> None:
        self._setup = setup

    def __repr__(self) -> str:
        return (
            f"The wallet app on platform B, {self._setup.variant_b.name} variant\n"
            "Next: .open() to go step by step, .play() for a whole flow, .play_both(), .live(), .mistakes(), "
            ".plist_problems(...); .phones, .handlers, .authorizations, .variants."
        )

    def open(
        self,
        handler: type[ExtensionHandler] = ReferenceHandler,
        *,
        phone: PhoneB | None = None,
        cards: Sequence[str] | None = None,
        plists: Mapping[str, object] | None = None,
    ) -> WalletApp:
        """A wallet app to go through step by step: `open_list()`, `choose_app()`, `choose_card()`, or `walk()`.

        Args:
            handler: the class of the issuer-provisioning extension, your own or `wb.ReferenceHandler`.
            phone: the phone; None takes a new one, on which the app was never opened.
            cards: the payment instrument ids of the cardholder; None takes the session's card alone.
            plists: the parsed project file of an extension, by its name, to see what a wrong one does.

        Raises:
            ParameterError: a value is not of its kind.
        """
        return WalletApp(
            handler,
            self._setup.variant_b,
            phone=PhoneB(seed=self._setup.seed) if phone is None else phone,
            cards=[self._setup.card] if cards is None else cards,
            back_end=self._setup.back_end(),
            plists=plists,
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
            self._variant(variant),
            surface=shows_on["surface"] if surface is None else surface,
            phone=opened_phone(shows_on["phone"] if phone is None else phone, ids),
            authorization=lookup("authorization", authorization, AUTHORIZATIONS),
            cards=ids,
            back_end=self._setup.back_end(),
        )
        before = screen_of(wallet.phone, wallet.surface)
        wallet.walk()
        return run_of(wallet, before, card=ids[0] if ids else self._setup.card)

    def play_both(self, handler: str | type[ExtensionHandler] = "reference", variant: str | None = None) -> list[Run]:
        """Play the wallet app on the phone and the one on the watch at the same time, through one phone.

        Args:
            handler: one of `handlers`, or your own class.
            variant: one of `variants`; None takes the session's.

        Returns:
            The run on the phone, and the run on the watch.

        Raises:
            ParameterError: a name is unknown, or the handler is no class.
        """
        ids = self._cards()
        phone, back_end = opened_phone("with a watch", ids), self._setup.back_end()
        kind, flow = handler_named(handler), self._variant(variant)
        wallets = [
            WalletApp(kind, flow, surface=surface, phone=phone, cards=ids, back_end=back_end) for surface in SURFACES
        ]
        before = [screen_of(phone, wallet.surface) for wallet in wallets]
        while acts := [(wallet, act) for wallet in wallets if (act := wallet.next_act()) is not None]:
            for wallet, act in acts:
                wallet.soon(act)
            together(*wallets)
        return [run_of(wallet, screen, card=ids[0]) for wallet, screen in zip(wallets, before, strict=True)]

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
        from workbook.notebook.widgets.stage import stage  # widgets are for notebooks

        shows_on = SHOWS_ON.get(str(choices.get("handler")), {})
        return stage("from the wallet", **{"variant": self._setup.variant_b.name} | dict(shows_on) | choices)

    def mistakes(self) -> Table:
        """Every handler with one mistake, played: how it ends for the cardholder, and the rules that it breaks."""
        rows = []
        for name in self.handlers[1:]:
            run = self.play(name)
            rules = dict.fromkeys(finding.rule for finding in run.findings if finding.level is not Severity.NOTE)
            rows.append((name, run.state, " ".join(rules)))
        return table("Handlers with one mistake each", ("handler", "ends", "rules"), rows)

    def migration(self) -> Difference:
        """What changes in the flow from the earlier variant to the later one."""
        return difference(VARIANTS_B["earlier"].extension(), VARIANTS_B["later"].extension())

    def plist_problems(self, extension: str, document: object) -> list[str]:
        """What is wrong with an extension's project file; empty when all is right (X-PLIST-1 to X-PLIST-3).

        Args:
            extension: `extension` or `authorization UI`.
            document: the parsed file, as `plistlib.load` returns it.

        Raises:
            ParameterError: there is no such extension.
        """
        return plist_problems(extension, document)

    def _cards(self) -> tuple[str, ...]:
        """The session's card, and the simulation's others."""
        return (self._setup.card, *[card for card in INSTRUMENT_IDS if card != self._setup.card][:2])

    def _variant(self, name: str | None) -> VariantB:
        return self._setup.variant_b if name is None else lookup("variant", name, VARIANTS_B)
