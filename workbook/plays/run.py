"""A run: what one play of a flow left behind. It shows itself, and every view is computed from its trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.checks import Finding, check
from workbook.checks.advice import Advice
from workbook.errors import ConfigurationError
from workbook.extension.wallet_app import WalletApp
from workbook.files import write_whole
from workbook.flows.machine import Machine
from workbook.flows.variants import VariantA, VariantB
from workbook.runs.back_end import BackEnd
from workbook.runs.platform_a import PlatformARun
from workbook.runs.platform_b import PlatformBRun
from workbook.simulation.phones import PhoneA, PhoneB
from workbook.simulation.service import DirectApi
from workbook.simulation.world import Instrument, World
from workbook.trace import Kind, Trace
from workbook.views.screen import Screen

if TYPE_CHECKING:
    from workbook.views.compare import Comparison
    from workbook.views.table import Stack

BUTTONS = {
    "absent": "no add button yet",
    "shown": "the add button",
    "disabled": "the add button, greyed out",
    "hidden": "no add button",
}
"""What the cardholder sees of the button."""

NEXT = 'Next: wb.show(_, VIEW) for "phone", "messages", "states", "limits", "findings", "all"; _.trace; _.findings.'
"""The last line of a run's text form; `_` is the value of the last cell."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What every platform needs of a session.

    Attributes:
        card: the payment instrument id of the card that is added.
        seed: of everything that the simulation draws.
        variant_a: platform A's variant.
        variant_b: platform B's variant.
        api: the simulated API, called directly: it gives data that the SDK stand-ins can open.
        back_end: makes the back end of one play.
    """

    card: str
    seed: int
    variant_a: VariantA
    variant_b: VariantB
    api: DirectApi
    back_end: Callable[[], BackEnd]


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """What one play of a flow left behind.

    Attributes:
        trace: every step, in order; `trace.to_frame()` is a pandas frame.
        machine: the flow's table of states and events.
        phone: the phone at the end; `phone.cards` are the ids in its wallet.
        card: the payment instrument id of the card that the cardholder adds.
        before: the screen before the first step.
        state: the flow's state at the end.
        button: the add button at the end: `absent`, `shown`, `disabled` or `hidden`; empty in the wallet app.
        label: the app's other words at the end, such as `Added to Wallet`; often empty.
        offered: the identifiers of the pass entries that the wallet app offers; None in the issuer's app.
    """

    trace: Trace
    machine: Machine
    phone: PhoneA | PhoneB
    card: str
    before: Screen
    state: str
    button: str = ""
    label: str = ""
    offered: tuple[str, ...] | None = None

    @property
    def added(self) -> bool:
        """Whether the card is in the phone's wallet at the end."""
        return self.card in self.phone.cards

    @property
    def ended(self) -> float:
        """The time of the last step on the phone, in seconds of virtual time; exchanges with the API do not count."""
        return max((record.at for record in self.trace if record.kind not in (Kind.EXCHANGE, Kind.NOTE)), default=0.0)

    @property
    def summary(self) -> dict[str, str]:
        """The run in a few lines."""
        return self.ends

    @property
    def ends(self) -> dict[str, str]:
        """How it ended: the state, the button, the card and the time."""
        lines = {"ended": self.state}
        if self.offered is None:
            lines["add button"] = self.button
        else:
            lines["cards offered"] = str(len(self.offered)) if self.offered else "none"
        if self.label and isinstance(self.phone, PhoneB):
            lines["screen says"] = self.label
        return lines | self._places() | {"took": f"{self.trace[-1].at:.2f} s of virtual time"}

    @property
    def findings(self) -> list[Finding]:
        """What the checks find in the trace, in the order of time: rule, whose job it is, what to do."""
        return check(self.trace)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about the failure that was played; None where none was."""
        return None

    def compare(self, other: Run) -> Comparison:
        """This run and another, step by step: common steps fold, what differs is marked.

        Args:
            other: the second run, of any platform.

        Example:
            >>> import workbook as wb
            >>> flow = wb.session().platform_a
            >>> print(flow.play().compare(flow.play()).text().splitlines()[-1])
            = 24 steps as in the first run
        """
        from workbook.plays.saved import recording  # the saved form reads runs, not the reverse
        from workbook.views.compare import compare

        return compare(self, other, recording(self, other))

    def save(self, path: Path | str) -> Path:
        """Write the run as one HTML file that plays it in any browser, without kernel, network or link.

        It is redacted: opaque data is in it as a length and a digest. An older file is replaced.

        Args:
            path: of the file, such as `run.html`.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        from workbook.widgets.page import saved_page  # the players import the runs

        target = Path(path)
        try:
            write_whole(target, saved_page(self))
        except OSError as error:
            raise ConfigurationError(f"Cannot write {str(target)!r}: {error.strerror}.") from error
        return target

    @staticmethod
    def load(path: Path | str) -> Run:
        """The run of a file that `save` wrote: it shows, compares and saves itself as before.

        Raises:
            ConfigurationError: the file cannot be read.
            ParameterError: it holds no run.
        """
        from workbook.plays.saved import from_page  # the saved form reads runs, not the reverse

        try:
            return from_page(Path(path).read_text("utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"Cannot read {str(path)!r}.") from error

    def _places(self) -> dict[str, str]:
        if isinstance(self.phone, PhoneA):
            return {"card in the wallet": _yes_or_no(self.added)}
        watch = self.phone.watch
        on_watch = "no watch is paired" if watch is None else _yes_or_no(self.card in watch.cards)
        return {"card on the phone": _yes_or_no(self.added), "card on the watch": on_watch}

    def _view(self) -> Stack:
        from workbook.views.findings import whole  # loaded when somebody looks at the run
        from workbook.views.html import tag
        from workbook.views.table import Snapshot, Stack, paragraph

        return Stack((*whole(self).views, Snapshot(NEXT, paragraph(tag("small", NEXT)))))

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from workbook.plays.saved import recording

        return self._view()._repr_mimebundle_() | recording(self)


AnyLoop: TypeAlias = PlatformARun | PlatformBRun | WalletApp
"""Whatever plays a flow."""


def run_of(loop: AnyLoop, before: Screen, card: str = "") -> Run:
    """The run that a finished loop left behind.

    Args:
        loop: a loop in which nothing is due any more.
        before: the screen before its first step.
        card: the payment instrument id of the card, where the loop has several.
    """
    end = Run(loop.trace, loop.machine, loop.phone, card, before, str(loop.state))
    if isinstance(loop, WalletApp):
        return replace(end, offered=tuple(entry.identifier for entry in loop.entries))
    return replace(end, card=loop.payment_instrument_id, button=loop.button, label=loop.label)


def screen_of(phone: PhoneA | PhoneB, surface: str = "phone") -> Screen:
    """The screen before anything happens: the cards in each wallet, and nothing else."""
    watch = getattr(phone, "watch", None)
    return Screen(
        on_phone=frozenset(phone.cards), on_watch=None if watch is None else frozenset(watch.cards), surface=surface
    )


def world_for(card: str, seed: int = 7, *, known: bool = True) -> World:
    """The simulated API's default world, which also knows this payment instrument where `known` says so."""
    world = World(seed=seed)
    return replace(world, instruments={card: Instrument(card), **world.instruments}) if known else world


def _yes_or_no(truth: object) -> str:
    return "yes" if truth else "no"
