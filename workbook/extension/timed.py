"""An exchange of a back end that times its attempts, as a handler's call sees it, which may give up before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.errors import WorkbookError
from workbook.flows import messages as m
from workbook.simulation.call import current

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbook.api.opaque import SdkInput
    from workbook.benches.back_end import BackEnd
    from workbook.flows.messages import Event
    from workbook.simulation.call import Call

Told = list[tuple[float, "Event"]]


def timed(relay: BackEnd, ask: Callable[[], SdkInput], patience: float | None) -> SdkInput | None:
    """What the back end gave, each event at its own moment; None when `patience` seconds were over before.

    The back end goes on all the same, so what happens to it after that is reported too.

    Raises:
        WorkbookError: the back end's own error, where it came in time.
    """
    told: Told = []
    answer, problem = _asked(relay, ask, told)
    took = relay.took or 0.0
    in_time = patience is None or took <= patience
    _report(current(), told)
    current().spend(took if in_time else patience or 0.0)
    if not in_time:
        current().seen(m.Noted(f"The handler gives up after {patience:g} s; the back end goes on."))
        return None
    if problem is not None:
        raise problem
    return answer


def _asked(relay: BackEnd, ask: Callable[[], SdkInput], told: Told) -> tuple[SdkInput | None, WorkbookError | None]:
    before, relay.seen = relay.seen, lambda event: told.append((relay.at or 0.0, event))
    try:
        return ask(), None
    except WorkbookError as error:
        return None, error
    finally:
        relay.seen = before


def _report(call: Call, told: Told) -> None:
    """Each event at its moment, also those that come after the call is over."""
    began = call.spent
    for at, event in told:
        call.spent = round(began + at, 9)
        call.seen(event)
    call.spent = began
