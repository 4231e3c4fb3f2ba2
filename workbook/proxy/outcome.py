"""What became of a recorded exchange, in one word, and which fault of the simulator's makes the same of one.

Some outcomes are weather: a limit, a fault, a lost connection. They say nothing about the request, so they are counted
and compared as shares. The others are answers to what was asked, and are compared one by one.
"""

from __future__ import annotations

import re
from math import sqrt
from typing import TYPE_CHECKING, Any

from workbook.proxy.upstream import LARGEST_ANSWER
from workbook.simulation.faults_http import LONGEST_PAUSE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from workbook.proxy.record_file import Recorded
    from workbook.simulation.fault_plan import Planned

FINE = "200"
LATE, CUT, CLOSED, RESET, TOO_LARGE, GARBAGE = "late", "cut", "closed", "reset", "too-large", "garbage"
LOST = frozenset({LATE, CUT, CLOSED, RESET, TOO_LARGE, GARBAGE})
NOT_JSON = "200, not JSON"
DOCUMENTED = frozenset({"200", "400", "401", "403", "422", "500"})
"""The statuses that are published for the two operations (openapi)."""

WORDS: Mapping[str, str] = {
    LATE: "no answer within the proxy's deadline",
    CUT: "an answer that breaks off in its body",
    CLOSED: "the connection closed without an answer",
    RESET: "the connection reset",
    TOO_LARGE: "an answer too large for the proxy",
    GARBAGE: "something that is not HTTP/1.1",
}
"""Outcomes that are no status, in words; the others say what they are."""

FAULTS: Mapping[str, str] = {
    **{status: status for status in ("400", "401", "403", "404", "409", "422", "500", "502", "504")},
    **dict.fromkeys(("301", "302", "303", "307", "308"), "redirect"),
    "503": "503 that says 500",
    "429": "429 in seconds",
    RESET: "reset",
    CLOSED: "close",
    CUT: "truncated body",
    LATE: "stall before headers",
    TOO_LARGE: "huge body",
    NOT_JSON: "not JSON",
    "200, null": "JSON null",
    "200, array": "JSON of the wrong type",
    "200, fields twice": "JSON with duplicate keys",
    "200, sdkInput missing": "sdkInput missing",
    "200, sdkInput null": "sdkInput null",
    "200, sdkInput empty string": "sdkInput empty",
}
"""The fault that is played for an outcome, or the nearest there is."""

_ALSO: Mapping[str, tuple[str, ...]] = {
    "429 at a date": ("429",),
    "429 with garbage": ("429",),
    "stall before headers": (CLOSED, LATE),
    "stall after headers": (CUT, LATE),
    "missing last chunk": (CUT,),
    "bad chunk": (CUT,),
    "wrong content-length": (NOT_JSON,),
    "bad gzip": (NOT_JSON,),
    "gzip bomb": (NOT_JSON, TOO_LARGE),
    "JSON truncated": (NOT_JSON,),
    "JSON nested deep": (NOT_JSON,),
    "huge body": (),
}
_SIGMAS, _HALF = 3.0, 0.5


def outcome(one: Recorded) -> str:
    """What became of it: a status, how it was lost, or what is wrong with a 200."""
    if one.failure:
        return one.failure
    if one.status != int(FINE):
        return str(one.status)
    wrong = _wrong(one.response_shape)
    return f"{FINE}, {wrong}" if wrong else FINE


def is_weather(word: str) -> bool:
    """Whether this outcome says nothing about what was asked."""
    return word in LOST or word == "429" or bool(re.fullmatch("[35][0-9][0-9]", word))


def contradicts(word: str) -> str:
    """The rule that this outcome breaks: a 200 is JSON and carries sdkInput, a string that is not empty (API-9)."""
    return "API-9" if word.startswith(f"{FINE}, ") else ""


def shows(planned: Planned) -> frozenset[str]:
    """The outcomes by which a planned fault is known; none where nothing is seen from outside."""
    fault = planned.fault
    if fault.harmless:
        return frozenset()
    if fault.name == "redirect":
        return frozenset({str(fault.values.get("status", fault.settings["status"].default))})
    if fault.name in _ALSO:
        return frozenset(_ALSO[fault.name])
    return frozenset(word for word, name in FAULTS.items() if name == fault.name)


def settings(word: str, seen: Sequence[Recorded]) -> dict[str, Any] | None:
    """The fault that plays this outcome, and its own settings, from what was seen; None where there is none."""
    if word not in FAULTS:
        return None
    fault = FAULTS[word]
    if fault == "redirect":
        return {"fault": fault, "status": int(word)}
    if word == "429":
        return _limited(seen)
    own: dict[str, Any] = {}
    if word == LATE:
        own = {"seconds": float(round(max(one.seconds for one in seen) + 1))}
    elif word == TOO_LARGE:
        own = {"bytes": 2 * LARGEST_ANSWER}
    return {"fault": fault, **own}


class Expected:
    """How often each rule of a plan should have been seen in these exchanges, and which counts are no surprise."""

    def __init__(self, rules: Sequence[Planned], exchanges: Iterable[Recorded]) -> None:
        self.mean = [0.0] * len(rules)
        self._variance = [0.0] * len(rules)
        counts: dict[tuple[int, int, str | None], int] = {}
        for one in exchanges:
            left = 1.0  # of this request, after the rules before took theirs
            for number, rule in enumerate(rules):
                if not rule.is_meant_for(one.operation or "", one.instrument or ""):
                    continue
                key = (number, one.run, one.credential)
                counts[key] = counts.get(key, 0) + 1
                taken = left * _chance(rule, counts[key])
                self.mean[number] += taken
                self._variance[number] += taken * (1 - taken)
                left -= taken

    def fits(self, number: int, seen: int) -> bool:
        """Whether a rule's count is no surprise."""
        return abs(seen - self.mean[number]) <= _SIGMAS * sqrt(self._variance[number]) + _HALF


def _chance(rule: Planned, count: int) -> float:
    if rule.nth is not None:
        return float(count == rule.nth)
    return 1.0 if rule.share is None else float(rule.share)


def _limited(seen: Sequence[Recorded]) -> dict[str, Any]:
    """A 429 as its Retry-After was: seconds, a date, something else; one without any has no fault of its own."""
    said = [value for one in seen for name, value in one.response_headers if name.lower() == "retry-after"]
    first = said[0] if said else "1"
    if first.isascii() and first.isdigit() and int(first[:9]) <= LONGEST_PAUSE:
        return {"fault": "429 in seconds", "seconds": int(first)}
    return {"fault": "429 at a date" if first.endswith("GMT") else "429 with garbage"}


def _wrong(shape: Mapping[str, str]) -> str:
    """What of a 200's body cannot be used; empty where nothing."""
    whole = shape.get("", "")
    if whole != "object":
        return whole
    kind = shape.get("sdkInput", "missing")
    return "" if kind == "string" else f"sdkInput {kind}"
