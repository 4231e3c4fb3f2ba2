"""Faults of the way: the answer is late, slow, cut or lost. Nothing in it is changed (all of it assumed).

A delay ends in the answer; a stall never does, for after it the connection is closed.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from workbook.simulation.fault import ASSUMED, Fault, Number
from workbook.simulation.wire import Ending

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.simulation.fault import Chance, Change
    from workbook.simulation.http import Response

LONGEST = 3600.0
"""Seconds: no wait is longer."""
P99 = NormalDist().inv_cdf(0.99)
"""How many standard deviations lie between the median and the 99th percentile."""


def _seconds(default: float) -> Number:
    return Number(default, 0.0, LONGEST)


def _late(draw: Callable[[float, Mapping[str, Any]], float]) -> Change:
    """The answer, after as many seconds as are drawn."""

    def change(answer: Response, chance: Chance, values: Mapping[str, Any]) -> Response:
        return replace(answer, wire=replace(answer.wire, before_headers=min(LONGEST, draw(chance.draw, values))))

    return change


def _uniform(draw: float, values: Mapping[str, Any]) -> float:
    least, most = values["least"], values["most"]
    return float(least + draw * (most - least))


def _log_normal(draw: float, values: Mapping[str, Any]) -> float:
    """The two figures that are known of a service: its usual time, and what one request in a hundred exceeds."""
    median, p99 = values["median"], values["p99"]
    return float(median * (p99 / median) ** (NormalDist().inv_cdf(draw) / P99))


def _travels(ending: Ending = Ending.WHOLE, **waits: str) -> Change:
    """The answer with this ending; `waits` names the setting that holds the seconds of each wait."""

    def change(answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
        seconds = {wait: float(values[setting]) for wait, setting in waits.items()}
        return replace(answer, wire=replace(answer.wire, ending=ending, **seconds))

    return change


def _fault(name: str, sentence: str, change: Change, *, rising: bool = False, **settings: Number) -> Fault:
    """A delay may be set and does no harm; every other breach loses the answer."""
    return Fault(name, sentence, ASSUMED, change, settings, rising, harmless="latency" in name or name == "dribble")


ON_THE_WIRE = (
    _fault("latency", "The answer comes late.", _late(lambda _draw, values: values["seconds"]), seconds=_seconds(0.5)),
    _fault(
        "uniform latency",
        "The answer comes late, by any time between two limits.",
        _late(_uniform),
        rising=True,
        least=_seconds(0.1),
        most=_seconds(0.9),
    ),
    _fault(
        "log-normal latency",
        "The answer comes late, seldom by much, as services do.",
        _late(_log_normal),
        rising=True,
        median=Number(0.2, 0.001, LONGEST),
        p99=Number(1.0, 0.001, LONGEST),
    ),
    _fault("dribble", "The body comes byte by byte.", _travels(every="seconds"), seconds=_seconds(0.1)),
    _fault(
        "stall before headers",
        "Silence, and then the connection is closed without an answer.",
        _travels(Ending.CLOSED, before_headers="seconds"),
        seconds=_seconds(30.0),
    ),
    _fault(
        "stall after headers",
        "The headers, silence, half of the body, and then the connection is closed.",
        _travels(Ending.TRUNCATED, after_headers="seconds"),
        seconds=_seconds(30.0),
    ),
    _fault("reset", "The connection is reset (RST) instead of an answer.", _travels(Ending.RESET)),
    _fault("close", "The connection is closed (FIN) instead of an answer.", _travels(Ending.CLOSED)),
    _fault(
        "truncated body",
        "The connection is closed in the middle of the body that content-length promised.",
        _travels(Ending.TRUNCATED),
    ),
    _fault(
        "missing last chunk",
        "The body comes in chunks, and the connection is closed before the one that ends it.",
        _travels(Ending.NO_LAST_CHUNK),
    ),
    _fault(
        "bad chunk",
        "The body comes in chunks, and where the second one's size belongs there is none.",
        _travels(Ending.BAD_CHUNK),
    ),
    _fault(
        "wrong content-length",
        "The content-length says half of the body's, and all of it is sent.",
        _travels(Ending.WRONG_LENGTH),
    ),
)
"""Every fault of the way, the harmless ones first."""
