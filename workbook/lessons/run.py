"""A run: what one play of a flow left behind. It shows itself, and every view is computed from its trace."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbook.base.files import explain_failure, write_whole
from workbook.checks import Finding, check
from workbook.checks.api import Advice
from workbook.flows.machine import Machine
from workbook.flows.trace import Kind, Trace
from workbook.lessons.pages import player_values, recording, saved_page
from workbook.play.platform_a import PlatformARun
from workbook.play.platform_b import PlatformBRun
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import PhoneA, PhoneB
from workbook.views.findings import run_views
from workbook.views.html import tag
from workbook.views.screen import Screen
from workbook.views.table import Snapshot, Stack, paragraph

if TYPE_CHECKING:
    from workbook.views.compare import Comparison


@dataclass(frozen=True, slots=True, repr=False)
class Run:
    """What one play of a flow left behind.

    Attributes:
        trace: every step, in order.
        machine: the flow's table of states and events.
        phone: the phone at the end; `phone.cards` are the ids in its wallet.
        card: the payment instrument id of the card that the cardholder adds.
        before: the screen before the first step.
        state: the flow's state at the end.
        button: the add button at the end: `absent`, `shown`, `disabled` or `hidden`; empty in the wallet app.
        label: the app's other words at the end, such as `Added to Wallet`; often empty.
        offered: the identifiers of the pass entries that the wallet app offers; None in the issuer's app.

    Example:
        >>> run = wb.session().platform_a.play("wallet times out")
        >>> run.added, run.state, run.button
        (False, 'failed', 'shown')
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
        yes = {True: "yes", False: "no"}
        lines["card in the wallet" if isinstance(self.phone, PhoneA) else "card on the phone"] = yes[self.added]
        if isinstance(self.phone, PhoneB):
            watch = self.phone.watch
            lines["card on the watch"] = "no watch is paired" if watch is None else yes[self.card in watch.cards]
        return lines | {"took": f"{self.trace[-1].at:.2f} s of virtual time"}

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
            >>> flow = wb.session().platform_a
            >>> print(flow.play().compare(flow.play()).text().splitlines()[-1])
            = 24 steps as in the first run
        """
        from workbook.views.compare import compare  # loaded when somebody compares

        return compare(self, other)

    def save(self, path: Path | str) -> Path:
        """Write the run as one HTML file that plays it in any browser, without kernel, network or link.

        It is redacted: opaque data is in it as a length and a digest. An older file is replaced.

        Args:
            path: of the file, such as `run.html`.

        Raises:
            ConfigurationError: the file cannot be written.
        """
        target, page = Path(path), saved_page(self.trace.title, player_values(self))
        with explain_failure(f"Cannot write {str(target)!r}"):
            write_whole(target, page)
        return target

    def _view(self) -> Stack:
        views = '"phone", "messages", "states", "limits", "findings", "all"'
        more = f"Next: wb.show(_, VIEW) for {views}; _.trace; _.findings."  # `_` is the value of the last cell
        return Stack((*run_views(self).views, Snapshot(more, paragraph(tag("small", more)))))

    def __repr__(self) -> str:
        return self._view().text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return self._view()._repr_mimebundle_() | recording(self)


# Whatever plays a flow.
AnyLoop: TypeAlias = PlatformARun | PlatformBRun | WalletApp


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
