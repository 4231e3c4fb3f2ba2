"""The proof that a plan and the wallet's clock agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.flows import messages as m
from workbook.flows.trace import handler_calls
from workbook.runs.back_end import simulated_back_end
from workbook.runs.extension.handler import ReferenceHandler
from workbook.runs.extension.service import ExtensionProvisioningService, PassEntry
from workbook.runs.extension.wallet_app import WalletApp
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.world import Instrument, World
from workbook.views.table import Table, facts

if TYPE_CHECKING:
    from workbook.reading.timing.planner import Latency, Plan

NOTHING_ELSE = LatenciesB(storage=0.0, service=0.0, handler=0.0, card_art=0.0)
"""A phone on which only the network takes time."""


@dataclass(frozen=True, slots=True)
class Played:
    """One call, played by the wallet's clock.

    Attributes:
        seconds: how long it took.
        lost: how many cards it lacks.
    """

    seconds: float
    lost: int


def agreement(latency: Latency | None = None, *, cards: int = 10, calls: int = 100, seed: int = 7) -> Table:
    """The same latencies through the plan and, call by call, through the simulated wallet.

    Without a latency it takes the planner's: half of the GETs within 0.8 s, 99 in 100 within 6 s.

    Raises:
        ParameterError: one of these is not what it may be.
    """
    from workbook.reading.timing.planner import LogNormal, Plan  # numpy

    latency = latency or LogNormal(0.8, 6.0)
    plans = {
        "one by one": Plan(latency, cards=cards),
        "concurrent": Plan(latency, cards=cards, gets="concurrent"),
        "concurrent, 5 s for each GET": Plan(latency, cards=cards, gets="concurrent", timeout=5.0),
    }
    rows = {name: _agreed(plan, calls, seed) for name, plan in plans.items()}
    return facts(f"{calls} calls of {cards} cards, planned and played", rows)


def _agreed(plan: Plan, calls: int, seed: int) -> str:
    from workbook.reading.timing.planner import (
        generator,  # numpy
        totals,  # numpy
    )

    drawn = plan.latency.draw(generator(seed), (calls, plan.cards, 1))
    planned, lost = totals(drawn, plan)
    played = [play(plan, [float(each[0]) for each in call]) for call in drawn]
    apart = max(abs(float(one) - other.seconds) for one, other in zip(planned, played, strict=True))
    same = [int(one) for one in lost] == [other.lost for other in played]
    within = "the same total to the microsecond" if apart < 1e-6 else f"up to {apart:.6f} s apart"  # what it says
    return f"{within}; {'the same' if same else 'other'} cards missing"


def play(plan: Plan, gets: list[float]) -> Played:
    """One call of pass_entries() under the wallet's clock; its GETs take these seconds, one for each card."""
    ids = [f"PISIMULATED{number:014d}" for number in range(1, plan.cards + 1)]
    world = World({one: Instrument(one) for one in ids})
    host = WalletApp(
        _handler(plan), phone=PhoneB(latencies=NOTHING_ELSE), cards=ids, back_end=simulated_back_end(world), gets=gets
    )
    host.phone.storage.save(ids[0], simulated_back_end(world).get(ids[0]).data)
    host.open_list()
    host.choose_app()
    call = [call for call in handler_calls(host.trace) if call.name == "pass_entries"][-1]
    made: Any = [record.message for record in call.did(m.ServiceMade)]
    return Played(call.seconds or 0.0, plan.cards - sum(len(each.cards) for each in made))


def _handler(plan: Plan) -> type[ReferenceHandler]:
    """A handler that fetches as the plan says."""
    at_once, timeout = plan.gets == "concurrent", plan.timeout

    class Planned(ReferenceHandler):
        def pass_entries(self) -> list[PassEntry]:
            fresh = self.back_end.get_all(self.cards, timeout=timeout) if at_once else self._one_by_one()
            return ExtensionProvisioningService(sdk_inputs=list(fresh.values())).pass_entries(self) if fresh else []

        def _one_by_one(self) -> dict[str, bytes]:
            return {card: self.back_end.get(card, timeout=timeout) for card in self.cards}

    return Planned
