"""Every fault of the service, on both operations, before and after the API has done its work.

Whatever happens there: the app is never told of a success, it has an answer in time, a POST is not sent again by
itself, and once the fault is over everything works.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.conformance.case import Case, Group
from workbook.conformance.judging import all_of, but_last, in_time, no_success, recovers, requests
from workbook.conformance.script import GET, POST, Ask, Calm, Order, Script
from workbook.simulation.faults import FAULTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.simulation.fault import Fault

OPAQUE = ("sdkInput foreign", "sdkInput stale", "sdkInput damaged")
"""A back end cannot see these: the data is opaque to it, so it hands them on, and the SDK refuses them."""
HARMLESS = ("200", "latency", "uniform latency", "log-normal latency")
"""These cost time only, and less than any limit: the attempt succeeds."""
EITHER = ("JSON with duplicate keys",)
"""The same value stands there twice, so taking it and refusing it are both right."""
LEFT_OUT = {*OPAQUE, *HARMLESS, *EITHER}

TELL = "Take anything but a 200 with an sdkInput that is not empty as a failure, and tell the app so."
HURRY = "Set a limit for the whole call, retries and body included, that ends well below the wallet's 20 seconds."
ONCE = "Never send a POST again by itself once it may have left: the API may have carried it out."


def _moments(operation: str) -> tuple[str, ...]:
    """A GET changes nothing, so before and after are the same to it."""
    return ("before", "after") if operation == POST else ("before",)


def _case(fault: Fault, operation: str, moment: str) -> Case:
    name = re.sub("[^a-z0-9]+", "-", fault.name.lower()).strip("-")
    again = Ask(operation)
    script = Script((Ask(operation), Calm(), again), (Order(operation, fault=fault.name, moment=moment),))
    judges = [but_last(no_success(TELL)), in_time(HURRY), recovers]
    if operation == POST:
        judges.append(requests(POST, 2, ONCE, "REL-1"))
    says = f"{operation}, {moment} the API has done its work: {fault.sentence}"
    told = f"relay.{operation.lower()}.fault-{name}{'-after' if moment == 'after' else ''}"
    return Case(told, says, "REL-1" if moment == "after" else "REL-6", Group.FAULTS, script, all_of(*judges))


def _harmless(fault: Fault, operation: str) -> Case:
    name = re.sub("[^a-z0-9]+", "-", fault.name.lower()).strip("-")
    script = Script((Ask(operation),), (Order(operation, fault=fault.name),))
    says = f"{operation}: {fault.sentence} The attempt succeeds all the same."
    return Case(
        f"relay.{operation.lower()}.slow-{name}", says, "REL-5", Group.FAULTS, script, all_of(recovers, in_time(HURRY))
    )


def _all() -> Iterator[Case]:
    for fault in FAULTS.values():
        for operation in (GET, POST):
            if fault.name in HARMLESS[1:]:
                yield _harmless(fault, operation)
            elif fault.name not in LEFT_OUT:
                yield from (_case(fault, operation, moment) for moment in _moments(operation))


CASES = tuple(_all())
