"""What arrives at the simulated API and what is answered: plain data, without a socket.

Headers hold the API key, so neither they nor a body are ever printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workbook.simulation.wire import AT_ONCE, Wire

BEFORE_ID = "/bcl/v2/paymentInstruments/"
AFTER_ID = "/networkTokenActivationData"
JSON_HEADERS = (("content-type", "application/json"),)
PROBLEM_HEADERS = (("content-type", "application/problem+json"),)
MAX_BODY = 1_048_576
"""The largest request body that is read, in bytes (assumed; the document shows no limit, GAP-2)."""


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived. `target` is the raw request target; header names come in any case."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)  # one of them holds the key
    body: bytes = field(default=b"", repr=False)

    def header(self, name: str) -> str | None:
        """The header's first value, by its lower-case name; None where there is none."""
        for key, value in self.headers:  # a generator would cost three times as much, on every request
            if key.lower() == name:
                return value
        return None

    def values(self, name: str) -> list[str]:
        """Every value of the header, by its lower-case name; a header may be sent twice."""
        return [value for key, value in self.headers if key.lower() == name]


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered.

    `basis` names the rules and sources that it rests on, `wire` says how it travels, and `fault` which fault was
    played, empty for none.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    basis: str
    wire: Wire = AT_ONCE
    fault: str = ""
