"""What the simulator would have answered to the requests of a record, under a scenario.

What the scenario does not say is taken from the record: an instrument that the real API knew counts as an active card,
and a key that it refused throughout as one that opens nothing, or has no role. An sdkOutput of a real SDK cannot be
opened here, so a genuine one of the simulator replaces it. Equal ones get the same replacement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Any

from workbook.api.opaque import decode_strictly, json_object
from workbook.mockserver.mock import Worlds
from workbook.proxy import record
from workbook.proxy.record import EMPTY_BODY, TWICE, RecordedExchange
from workbook.proxy.upstream import LARGEST_ANSWER, ProxyFailure
from workbook.simulation.faults import FAULTS, FaultKind, Planned
from workbook.simulation.http import MAX_BODY, Request, Response, header_values
from workbook.simulation.scenario import Scenario
from workbook.simulation.seal import Content, Genuine, Seal, damaged
from workbook.simulation.world import Instrument

Caller = tuple[int, str]


# The outcome of a recorded exchange, in one word, and which fault of the simulator's plays the same.
#
# Some outcomes are transient: a limit, a fault, a lost connection. They say nothing about the request, so they are
# counted and compared as shares. The others are answers to the request, and are compared one by one.

FINE = "200"
DOCUMENTED_STATUSES = frozenset({"200", "400", "401", "403", "422", "500"})
"""The statuses that are published for the two operations (openapi)."""

OUTCOME_WORDS: Mapping[str, str] = {
    ProxyFailure.LATE: "no answer within the proxy's deadline",
    ProxyFailure.CUT: "an answer that breaks off in its body",
    ProxyFailure.CLOSED: "the connection closed without an answer",
    ProxyFailure.RESET: "the connection reset",
    ProxyFailure.TOO_LARGE: "an answer too large for the proxy",
    ProxyFailure.GARBAGE: "something that is not HTTP/1.1",
}
"""Outcomes that are no status, in words; the others say what they are."""

PLAYED: Mapping[str, str] = {
    **{word: fault.name for fault in FAULTS.values() for word in fault.seen_as},
    # the plainest of those that look alike from outside
    "429": "429 in seconds",
    "200, not JSON": "not JSON",
    ProxyFailure.CLOSED: "close",
    ProxyFailure.CUT: "truncated body",
    ProxyFailure.LATE: "stall before headers",
    ProxyFailure.TOO_LARGE: "huge body",
}
"""The name of the fault that is played for an outcome."""


def outcome_of(exchange: RecordedExchange) -> str:
    """A status, how the exchange was lost, or what is wrong with a 200."""
    if exchange.failure:
        return exchange.failure
    if exchange.status != int(FINE):
        return str(exchange.status)
    whole = exchange.response_shape.get("", "")
    if whole != "object":
        return f"{FINE}, {whole}" if whole else FINE
    kind = exchange.response_shape.get("sdkInput", "missing")
    return FINE if kind == "string" else f"{FINE}, sdkInput {kind}"


def is_transient_outcome(word: str) -> bool:
    """Whether this outcome says nothing about the request."""
    return word in OUTCOME_WORDS or word == "429" or bool(re.fullmatch("[35][0-9][0-9]", word))


def outcomes_of(planned: Planned) -> frozenset[str]:
    """The outcomes that a planned fault may have; none where it cannot be recognised from outside."""
    fault = planned.fault
    values = fault.effective
    if "status" in values:
        return frozenset({str(values["status"])})
    passed_on = values.get("bytes", LARGEST_ANSWER) < LARGEST_ANSWER
    return frozenset(fault.seen_as) - ({ProxyFailure.TOO_LARGE} if passed_on else set())


def settings(word: str, seen: Sequence[RecordedExchange]) -> dict[str, Any] | None:
    """The fault that plays this outcome, with settings from these exchanges; None where no fault does."""
    if word not in PLAYED:
        return None
    fault = PLAYED[word]
    if "status" in FAULTS[fault].settings:
        return {"fault": fault, "status": int(word)}
    if word == ProxyFailure.LATE:
        return {"fault": fault, "seconds": float(round(max(exchange.seconds for exchange in seen) + 1))}
    if FAULTS[fault].kind is FaultKind.LIMIT:
        return _limit([value for each in seen for value in header_values(each.response_headers, "retry-after")])
    return {"fault": fault, **({"bytes": 2 * LARGEST_ANSWER} if word == ProxyFailure.TOO_LARGE else {})}


def _limit(pauses: Sequence[str]) -> dict[str, Any]:
    """The fault that plays a 429 with the first of these values of Retry-After."""
    if not pauses:
        return {"fault": "429 without Retry-After"}
    first = pauses[0]
    in_seconds = FAULTS["429 in seconds"]
    if first.isascii() and first.isdigit() and in_seconds.settings["seconds"].fits(int(first[:9])):
        return {"fault": in_seconds.name, "seconds": int(first)}
    return {"fault": "429 at a date" if first.endswith("GMT") else "429 with garbage"}


# Each rule draws once for each request: the rule's share is its chance to take the request, if no rule before took it.
# The count of a rule is a sum of such draws, so their means add up, and so do their variances. By chance alone, one
# count in 370 is off by more than three standard deviations. Half a count more is for those too small for a normal
# curve.


class Expected:
    """How often each rule of a plan should have been seen in these exchanges, and which counts are within chance."""

    def __init__(self, rules: Sequence[Planned], exchanges: Iterable[RecordedExchange]) -> None:
        self.mean = [0.0] * len(rules)
        self._variance = [0.0] * len(rules)
        counts: dict[tuple[int, int, str | None], int] = {}
        for exchange in exchanges:
            left = 1.0  # the chance that no rule before took this request
            for number, rule in enumerate(rules):
                if not rule.is_meant_for(exchange.operation or "", exchange.instrument or ""):
                    continue
                key = (number, exchange.run, exchange.credential)
                counts[key] = counts.get(key, 0) + 1
                share = 1.0 if rule.share is None else float(rule.share)
                taken = left * (share if rule.nth is None else float(counts[key] == rule.nth))
                self.mean[number] += taken
                self._variance[number] += taken * (1 - taken)
                left -= taken

    def fits(self, number: int, seen: int) -> bool:
        """Whether a rule's count is within chance."""
        return abs(seen - self.mean[number]) <= 3 * sqrt(self._variance[number]) + 0.5


_DAMAGES: Mapping[str, str] = {
    "quoted": "quoted",
    "decoded-once-too-often": "decoded",
    "line-breaks": "wrapped into lines",
    "url-safe": "url-safe alphabet",
    "alphabet": "quoted",
    "padding": "padding trimmed",
    "pad-bits": "one character changed",
    "encoded-twice": "encoded twice",
}
"""What is done to a genuine sdkOutput so that it is wrong in the layer in which the recorded one was."""
_SAMPLES: Mapping[str, Any] = {
    "string": "text",
    "empty string": "",
    "number": 1,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


class Replay:
    """Answers the requests of a record, each in the world of its caller.

    Args:
        scenario: as it is to be played; take its faults out to see what a request alone is answered with.
        exchanges: all of the record: only all of them show which keys were refused throughout.

    Attributes:
        scenario: the same, with every instrument that the real API answered for.
    """

    def __init__(self, scenario: Scenario, exchanges: Sequence[RecordedExchange]) -> None:
        known = {instrument.id for instrument in scenario.instruments}
        answered: dict[str, None] = {}
        seen: dict[Caller, set[str]] = {}
        for exchange in exchanges:
            word = outcome_of(exchange)
            if exchange.instrument is not None and exchange.instrument not in known and exchange.status == int(FINE):
                answered[exchange.instrument] = None
            if exchange.credential is not None and exchange.sent and not is_transient_outcome(word):
                seen.setdefault((exchange.run, exchange.credential), set()).add(word)
        self.scenario = replace(scenario, instruments=(*scenario.instruments, *map(Instrument, answered)))
        self._refused = {caller: min(words) for caller, words in seen.items() if words in ({"401"}, {"403"})}
        self._worlds = Worlds()
        self._seal = Seal(scenario.seed)
        self._own_seed = any(isinstance(self._seal.open(text), Genuine) for text in _texts(exchanges))
        self._outputs: dict[tuple[int, str | None, str], str] = {}
        self._serial = 1_000_000  # far from those that a service draws

    def answer(self, exchange: RecordedExchange) -> Response:
        """What the simulator answers; a request that is sent again is another request."""
        key = ""
        if exchange.credential is not None:
            key = f"recorded-{exchange.run}-{exchange.credential}"
            name = self.credential(exchange)
            if name is not None and key not in self._worlds:
                self._worlds.add(self.scenario, key, credential=name)
        headers = tuple((name, key if name.lower() == "x-api-key" else value) for name, value in exchange.headers)
        return self._worlds.respond(Request(exchange.method, exchange.target, headers, self._body(exchange)))

    def lacks_role(self, exchange: RecordedExchange) -> bool:
        """Whether this caller got nothing but 403."""
        return self._refused.get((exchange.run, exchange.credential or "")) == "403"

    def credential(self, exchange: RecordedExchange) -> str | None:
        """The scenario's credential that plays this caller; None for one whose key opens nothing."""
        refused = self._refused.get((exchange.run, exchange.credential or ""))
        if exchange.credential is None or refused == "401":
            return None
        held = {name: bool(credential.roles) for name, credential in self.scenario.credentials.items()}
        wanted = refused != "403"
        return next((name for name, role in held.items() if role is wanted), next(iter(held)))

    def _body(self, exchange: RecordedExchange) -> bytes:
        """A body of the recorded shape, and as long where that matters."""
        whole = exchange.body_shape.get("", EMPTY_BODY)
        if whole == EMPTY_BODY:
            body = b""
        elif whole == record.NOT_JSON:
            body = b"not JSON"
        elif whole in ("object", TWICE):
            pairs = []
            for name, kind in exchange.body_shape.items():
                if name and "." not in name and "[]" not in name:
                    output = (name, kind) == ("sdkOutput", "string")
                    value = self._output(exchange) if output else _SAMPLES.get(kind, {})
                    pairs.append(f"{json.dumps(name)}: {json.dumps(value)}")
            if whole == TWICE:
                pairs += pairs[:1]
            body = f"{{{', '.join(pairs)}}}".encode()
        else:
            body = json.dumps(_SAMPLES.get(whole)).encode()
        return body.ljust(MAX_BODY + 1) if exchange.body_length > MAX_BODY else body

    def _output(self, exchange: RecordedExchange) -> str:
        """The recorded sdkOutput where the simulator made it, else a genuine one that is wrong in the same layer."""
        shown = exchange.body.get("sdkOutput") if isinstance(exchange.body, dict) else None
        fields = shown if isinstance(shown, dict) else {}
        text = fields.get("text")
        if isinstance(text, str):
            resealed = text if self._own_seed else self._resealed(text)
            if resealed is not None:
                return resealed
        identity = str(fields.get("digest") or fields.get("serial") or f"line {exchange.line}")
        self._serial += 1
        instrument = exchange.instrument or ""
        fresh = self._seal.close(Content.OUTPUT, instrument, self._serial, attempt=self._serial)
        output = self._outputs.setdefault((exchange.run, exchange.instrument, identity), fresh)
        return damaged(output, _DAMAGES.get(exchange.body_layer or "", "none"))

    def _resealed(self, text: str) -> str | None:
        """The same claims under this scenario's seed: another server's seal cannot be checked, only believed."""
        claims: dict[str, Any] = json_object(decode_strictly(text) or b"") or {}
        try:
            content, instrument, serial = Content(claims["kind"]), claims["paymentInstrumentId"], claims["serial"]
        except (KeyError, ValueError):
            return None
        more = {"attempt": claims["attempt"]} if "attempt" in claims else {}
        return self._seal.close(content, str(instrument), serial, **more)


def _texts(exchanges: Sequence[RecordedExchange]) -> Iterator[str]:
    """All simulated data of the record."""
    for exchange in exchanges:
        for body in (exchange.body, exchange.response_body):
            for value in body.values() if isinstance(body, dict) else ():
                if isinstance(value, dict) and isinstance(value.get("text"), str):
                    yield value["text"]
