"""What can go wrong between the proxy and the real API, and what the proxy then answers for itself.

Such an answer says twice that it is the proxy's: in the header `x-workbook-proxy` and in its body (all of it assumed).
"""

from __future__ import annotations

from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.simulation.http import PROBLEM_HEADERS, Response
from workbook.simulation.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADER = "x-workbook-proxy"
"""The header of an answer that is the proxy's own; its value is the failure's name."""


@unique
class Failure(StrEnum):
    """Why there is no answer of the real API's."""

    UNREACHABLE = "unreachable"
    TLS = "tls"
    FORBIDDEN = "forbidden"
    RESET = "reset"
    CLOSED = "closed"
    GARBAGE = "garbage"
    CUT = "cut"
    TOO_LARGE = "too-large"
    LATE = "late"
    BAD_REQUEST = "bad-request"
    REQUEST_TOO_LARGE = "request-too-large"
    MISDIRECTED = "misdirected"
    STOPPED = "stopped"


WORDS: Mapping[Failure, tuple[int, str]] = {
    Failure.UNREACHABLE: (502, "The API cannot be reached: its name is not known, or nobody listens there."),
    Failure.TLS: (502, "The API's certificate is not trusted, or TLS failed. A private authority needs --ca-file."),
    Failure.FORBIDDEN: (502, "The API's name leads to an address that the proxy does not connect to."),
    Failure.RESET: (502, "The API reset the connection."),
    Failure.CLOSED: (502, "The API closed the connection without an answer."),
    Failure.GARBAGE: (502, "The API answered something that is not HTTP/1.1."),
    Failure.CUT: (502, "The API's answer broke off in the middle of its body."),
    Failure.TOO_LARGE: (502, "The API's answer is larger than the proxy passes on."),
    Failure.LATE: (504, "The API did not finish its answer in time."),
    Failure.BAD_REQUEST: (400, "This request cannot be passed on as it is."),
    Failure.REQUEST_TOO_LARGE: (413, "The request's body is larger than the proxy passes on."),
    Failure.MISDIRECTED: (421, "The proxy does not go by that name. Ask for 127.0.0.1 or localhost."),
    Failure.STOPPED: (503, "The proxy was stopped before the API answered."),
}
"""Each failure's status and sentence."""

OWN = frozenset({Failure.BAD_REQUEST, Failure.REQUEST_TOO_LARGE, Failure.MISDIRECTED, Failure.STOPPED})
"""Failures that say nothing about the real API."""
AWAY = frozenset({Failure.UNREACHABLE, Failure.TLS, Failure.FORBIDDEN})
"""Failures before anything was sent: they say something about the way to the API."""


def said(failure: Failure) -> Response:
    """The proxy's own answer."""
    status, sentence = WORDS[failure]
    problem = Problem(status, f"proxy_{failure.replace('-', '_')}", "The proxy says so, not the API", "assumed")
    return Response(status, (*PROBLEM_HEADERS, (HEADER, failure.value)), problem.body(sentence), problem.basis)
