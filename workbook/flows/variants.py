"""Variants are data: one field for each difference that the document names, and presets that pair them.

The document ties the *flow* to version 0.4.0, but the ApiError outcome and library 18.8.0 only to
"the later variant". So a `Variant` keeps its flow and its `Facts` apart, and any pair can be made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.flows import platform_a

if TYPE_CHECKING:
    from workbook.flows.machine import Machine, Row


@dataclass(frozen=True, slots=True)
class Facts:
    """What differs between platform A's two SDK variants, the flow aside.

    Attributes:
        name: the document's word, `earlier` or `later`.
        api_error: canProvision can answer ApiError (A-CAN-5).
        push_provisioning_library: version of the wallet provider's library (A-DEP-1).
    """

    name: str
    api_error: bool
    push_provisioning_library: str


EARLIER = Facts("earlier", api_error=False, push_provisioning_library="18.3.3")
LATER = Facts("later", api_error=True, push_provisioning_library="18.8.0")


@dataclass(frozen=True)
class Variant:
    """One way to integrate platform A: which calls a tap makes, and which facts hold.

    Attributes:
        name: what a parameter or a title calls it.
        rows: the flow's table.
        facts: everything else that differs.
        two_step: a tap makes the calls from before 0.4.0 (A-PROV-1) rather than one (A-PROV-2).
        guarded: the app disables its button during an attempt (A-BTN-1).
        by_hand: no app plays; somebody makes each call of the SDK, one after the other.
    """

    name: str
    rows: tuple[Row, ...]
    facts: Facts
    two_step: bool
    guarded: bool = True
    by_hand: bool = False

    def __repr__(self) -> str:
        guard = "" if self.guarded else ", button not guarded"
        return f"Variant({self.name!r}, {self.facts.name} facts{guard})"

    @property
    def title(self) -> str:
        """What a picture is called."""
        how = ", called by hand" if self.by_hand else "" if self.guarded else ", button not guarded"
        return f"Platform A, SDK {self.name.replace('-', ' ')}{how}"

    @cached_property
    def machine(self) -> Machine:
        """The table as a machine; made once."""
        facts = platform_a.API_ERROR if self.facts.api_error else ()
        return platform_a.machine(f"platform A {self.name}", (*self._rows(), *facts))

    def _rows(self) -> tuple[Row, ...]:
        """The flow's rows; without a button there is nothing to guard, and by hand nothing happens at the same time."""
        if self.by_hand or not self.guarded:
            careless = platform_a.unguarded(self.rows)
            return careless if self.by_hand else platform_a.overlapping(careless, self._answers)
        return self.rows

    @property
    def _answers(self) -> platform_a.Answers:
        return platform_a.BY_TWO_STEPS if self.two_step else platform_a.BY_PROVIDER


A_BEFORE_0_4_0 = Variant("before-0.4.0", platform_a.BEFORE, EARLIER, two_step=True)
A_FROM_0_4_0 = Variant("from-0.4.0", platform_a.FROM_0_4_0, LATER, two_step=False)
A_NOT_MIGRATED = Variant("from-0.4.0, app not migrated", platform_a.FROM_0_4_0, LATER, two_step=True)
"""The new SDK under an app that still makes the old calls: it works, and each call is deprecated."""

VARIANTS = {variant.name: variant for variant in (A_BEFORE_0_4_0, A_FROM_0_4_0)}


def variant(name: str) -> Variant:
    """The preset with this name.

    Raises:
        ParameterError: there is none; the message names the nearest.
    """
    try:
        return VARIANTS[name]
    except KeyError:
        raise ParameterError(f"No variant {name!r}. {did_you_mean(name, VARIANTS)}") from None
