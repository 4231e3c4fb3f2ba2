"""Every fault that the simulated service can play, by name.

What each does stands where its kind does: on the way (`faults_wire`), in the status (`faults_http`), in the
body (`faults_body`). When one is played is said by a plan (`fault_plan`).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation.faults_body import BODIES
from workbook.simulation.faults_http import STATUSES
from workbook.simulation.faults_wire import ON_THE_WIRE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.fault import Fault

FAULTS: Mapping[str, Fault] = MappingProxyType({one.name: one for one in (*STATUSES, *ON_THE_WIRE, *BODIES)})
"""Each fault by its name; the first, `200`, does nothing."""


def fault(name: str) -> Fault:
    """The fault of this name; `fault("latency").but(seconds=2.0)` sets what can be set.

    Raises:
        ParameterError: there is none.
    """
    if not isinstance(name, str) or name not in FAULTS:
        raise ParameterError(f"No fault {name!r:.60}. {did_you_mean(str(name)[:60], FAULTS)}")
    return FAULTS[name]
