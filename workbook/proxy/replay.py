"""What the simulator would have answered to the requests of a record, under a scenario.

What is a fact of the caller is taken from the record: the instruments that the real API knew are active cards where
the scenario says nothing of them, and a key that it refused throughout is one that opens nothing, or has no role. An
sdkOutput of a real SDK cannot be opened here, so a genuine one of the simulator's stands in its place: the same one
wherever the same one was sent.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbook.api.layers import decode_strictly, json_object
from workbook.proxy.outcome import FINE, is_weather, outcome
from workbook.proxy.shape import EMPTY, NOT_JSON, TWICE
from workbook.simulation.damage import damaged
from workbook.simulation.http import MAX_BODY, Request
from workbook.simulation.seal import Content, Genuine, Seal
from workbook.simulation.world import Instrument
from workbook.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workbook.proxy.record_file import Recorded
    from workbook.simulation.http import Response
    from workbook.simulation.scenario import Scenario

    Caller = tuple[int, str]

FIRST_SERIAL = 1_000_000
DAMAGES: Mapping[str, str] = {
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


def widened(scenario: Scenario, exchanges: Sequence[Recorded]) -> Scenario:
    """The scenario, with every instrument that the real API answered for."""
    known = {one.id for one in scenario.instruments}
    answered = dict.fromkeys(
        one.instrument for one in exchanges if one.instrument is not None and outcome(one).startswith(FINE)
    )
    more = tuple(Instrument(one) for one in answered if one not in known)
    return replace(scenario, instruments=(*scenario.instruments, *more))


def refused_callers(exchanges: Sequence[Recorded]) -> dict[Caller, str]:
    """The keys that the real API refused throughout: with 401 as one that opens nothing, with 403 as one without role.

    Keys it answered otherwise are not among them.
    """
    seen: dict[Caller, set[str]] = {}
    for one in exchanges:
        if one.credential is not None and not is_weather(outcome(one)) and one.sent:
            seen.setdefault((one.run, one.credential), set()).add(outcome(one))
    return {who: next(iter(words)) for who, words in seen.items() if words in ({"401"}, {"403"})}


class Replay:
    """Answers the requests of a record, each in the world of its caller.

    Args:
        scenario: as it is to be played; take its faults out to see what a request alone is answered with.
        exchanges: all of the record: who was refused throughout is seen in all of them only.
    """

    def __init__(self, scenario: Scenario, exchanges: Sequence[Recorded]) -> None:
        self.scenario = widened(scenario, exchanges)
        self._refused = refused_callers(exchanges)
        self._worlds = Worlds()
        self._seal = Seal(scenario.seed)
        self._own_seed = any(isinstance(self._seal.open(text), Genuine) for text in _texts(exchanges))
        self._outputs: dict[tuple[int, str | None, str], str] = {}
        self._serial = FIRST_SERIAL

    def answer(self, one: Recorded) -> Response:
        """What the simulator answers; a request that is sent again is another request."""
        return self._worlds.respond(Request(one.method, one.target, self._headers(one), self._body(one)))

    def lacks_role(self, one: Recorded) -> bool:
        """Whether this caller got nothing but 403."""
        return self._refused.get((one.run, one.credential or "")) == "403"

    def credential(self, one: Recorded) -> str | None:
        """The scenario's credential that stands for this caller; None for one whose key opens nothing."""
        refused = self._refused.get((one.run, one.credential or ""))
        if one.credential is None or refused == "401":
            return None
        held = {name: bool(said.roles) for name, said in self.scenario.credentials.items()}
        wanted = refused != "403"
        return next((name for name, role in held.items() if role is wanted), next(iter(held)))

    def _headers(self, one: Recorded) -> tuple[tuple[str, str], ...]:
        key = self._key(one)
        return tuple((name, key if name.lower() == "x-api-key" else value) for name, value in one.headers)

    def _key(self, one: Recorded) -> str:
        if one.credential is None:
            return ""
        key = f"recorded-{one.run}-{one.credential}"
        name = self.credential(one)
        if name is not None and key not in self._worlds:
            self._worlds.add(self.scenario, key, credential=name)
        return key

    def _body(self, one: Recorded) -> bytes:
        """A body of the recorded shape, and as long where that matters."""
        whole = one.body_shape.get("", EMPTY)
        made = {EMPTY: b"", NOT_JSON: b"not JSON"}.get(whole)
        if made is None:
            made = self._json(one, whole)
        too_long = one.body_length > MAX_BODY >= len(made)
        return made + b" " * (MAX_BODY + 1 - len(made)) * too_long

    def _json(self, one: Recorded, whole: str) -> bytes:
        if whole not in ("object", TWICE):
            return json.dumps(_SAMPLES.get(whole)).encode()
        fields = {name: kind for name, kind in one.body_shape.items() if name and "." not in name and "[]" not in name}
        pairs = [f"{json.dumps(name)}: {json.dumps(self._value(one, name, kind))}" for name, kind in fields.items()]
        return f"{{{', '.join(pairs + pairs[:1] * (whole == TWICE))}}}".encode()

    def _value(self, one: Recorded, name: str, kind: str) -> Any:
        return self._output(one) if (name, kind) == ("sdkOutput", "string") else _SAMPLES.get(kind, {})

    def _output(self, one: Recorded) -> str:
        """The recorded sdkOutput where the simulator made it, else a genuine one that is wrong in the same layer."""
        told = one.body.get("sdkOutput") if isinstance(one.body, dict) else None
        said = told if isinstance(told, dict) else {}
        text = said.get("text")
        if isinstance(text, str) and (self._own_seed or self._resealed(text) is not None):
            return text if self._own_seed else self._resealed(text) or text
        identity = str(said.get("digest") or said.get("serial") or f"line {one.line}")
        made = self._outputs.setdefault((one.run, one.instrument, identity), self._fresh(one.instrument or ""))
        return damaged(made, DAMAGES.get(one.body_layer or "", "none"))

    def _fresh(self, instrument: str) -> str:
        self._serial += 1
        return self._seal.close(Content.OUTPUT, instrument, self._serial, attempt=self._serial)

    def _resealed(self, text: str) -> str | None:
        """The same claims under this scenario's seed: another server's seal cannot be checked, only believed."""
        claims = _claims(text)
        try:
            content, instrument, serial = Content(claims["kind"]), claims["paymentInstrumentId"], claims["serial"]
        except (KeyError, ValueError):
            return None
        more = {"attempt": claims["attempt"]} if "attempt" in claims else {}
        return self._seal.close(content, str(instrument), serial, **more)


def _texts(exchanges: Sequence[Recorded]) -> Iterator[str]:
    """All simulated data of the record."""
    for one in exchanges:
        for body in (one.body, one.response_body):
            for value in body.values() if isinstance(body, dict) else ():
                if isinstance(value, dict) and isinstance(value.get("text"), str):
                    yield value["text"]


def _claims(text: str) -> dict[str, Any]:
    return json_object(decode_strictly(text) or b"") or {}
