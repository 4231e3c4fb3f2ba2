"""A scene: what came of one run, with all that is to be seen of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbook.checks import check
from workbook.views.screen import Screen

if TYPE_CHECKING:
    from workbook.checks import Finding
    from workbook.checks.advice import Advice
    from workbook.flows.machine import Machine
    from workbook.simulation.device import Device
    from workbook.simulation.phone import Phone
    from workbook.trace import Trace


class Staged:
    """What every scene has: it shows how it ended, what happened, and what is to be said about it.

    Attributes:
        trace: every step.
        machine: the table that was stepped.
        first: what was to be seen before.
    """

    __slots__ = ()

    trace: Trace
    machine: Machine
    first: Screen

    @property
    def summary(self) -> dict[str, str]:
        """The end of it, in a few lines."""
        raise NotImplementedError

    @property
    def findings(self) -> list[Finding]:
        """What the checks make of it."""
        return check(self.trace)

    @property
    def advice(self) -> Advice | None:
        """What a good back end does about a failure of the API; None where the scene is of something else."""
        return None

    @property
    def took(self) -> str:
        """How long it took, in words."""
        return f"{self.trace[-1].at:.2f} s of virtual time"

    def __repr__(self) -> str:
        from workbook.views.scene import show  # noqa: PLC0415  # views read scenes, not the reverse

        return show(self).text()

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from workbook.views.scene import show  # noqa: PLC0415  # views read scenes, not the reverse

        return show(self)._repr_mimebundle_()


def before(phone: Device | Phone, surface: str = "phone") -> Screen:
    """What is to be seen before anything happens: which cards are in which wallet, and no more."""
    watch = getattr(phone, "watch", None)
    on_watch = None if watch is None else frozenset(watch.cards)
    return Screen(on_phone=frozenset(phone.cards), on_watch=on_watch, surface=surface)
