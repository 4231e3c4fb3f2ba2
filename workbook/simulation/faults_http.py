"""Faults in the status: another answer stands where the right one belongs.

The documented statuses are 200, 400, 401, 403, 422 and 500, and one example of a 503 says 500 in its body
(openapi). The others come from whatever stands between two machines: gateways, limits, caches (assumed).
"""

from __future__ import annotations

from email.utils import formatdate
from typing import TYPE_CHECKING, Any

from workbook.simulation import problems as p
from workbook.simulation.fault import ASSUMED, OPENAPI, Fault, Number, OneOf, Text
from workbook.simulation.http import PROBLEM_HEADERS, Response
from workbook.simulation.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workbook.simulation.fault import Chance, Change

TOLD = "This answer is a fault that was planned."
HTML_HEADERS = (("content-type", "text/html"),)
ELSEWHERE = "https://elsewhere.invalid/"
"""Another origin, which can never exist."""
EPOCH = 1_767_225_600
"""What the clock of an answer with a date says: 1 January 2026, so that its bytes are the same on every run."""
LONGEST_PAUSE = 86_400

CONFLICT = Problem(409, "00_409", "Conflict", ASSUMED)
TOO_MANY = Problem(429, "00_429", "Too many requests", ASSUMED)
SAYS_500 = Problem(500, "99_500", "An internal error happened", OPENAPI)
"""The body of the published 503, which says status 500."""


def _unchanged(answer: Response, _chance: Chance, _values: Mapping[str, Any]) -> Response:
    return answer


def _answers(problem: Problem, status: int | None = None) -> Change:
    """The problem's body, under its own status or another."""
    answer = Response(status or problem.status, PROBLEM_HEADERS, problem.body(TOLD), problem.basis)
    return lambda _answer, _chance, _values: answer


def _gateway(status: int, words: str) -> Change:
    """A page for people, as gateways write it."""
    answer = Response(status, HTML_HEADERS, f"<html><h1>{status} {words}</h1></html>".encode(), ASSUMED)
    return lambda _answer, _chance, _values: answer


def _redirect(_answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
    return Response(values["status"], (("location", values["location"]),), b"", ASSUMED)


def _limited(headers: Callable[[Mapping[str, Any]], tuple[tuple[str, str], ...]]) -> Change:
    """A 429 with these headers."""

    def change(_answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
        return Response(TOO_MANY.status, PROBLEM_HEADERS + headers(values), TOO_MANY.body(TOLD), TOO_MANY.basis)

    return change


def _in_seconds(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return (("retry-after", str(values["seconds"])),)


def _at_a_date(values: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """A date means something only beside the answer's own (RFC 9110), so both are given."""
    then = formatdate(EPOCH + values["seconds"], usegmt=True)
    return (("date", formatdate(EPOCH, usegmt=True)), ("retry-after", then))


def _documented(problem: Problem) -> Fault:
    sentence = f"{problem.status} ({problem.title}), which is documented."
    return Fault(str(problem.status), sentence, problem.source, _answers(problem))


PAUSE = {"seconds": Number(1, 0, LONGEST_PAUSE, whole=True)}

STATUSES = (
    Fault("200", "The answer as it is: the row without a fault.", OPENAPI, _unchanged, harmless=True),
    _documented(p.NOT_JSON),
    _documented(p.WRONG_KEY),
    _documented(p.NO_ROLE),
    _documented(p.INACTIVE_INSTRUMENT),
    _documented(p.INTERNAL),
    Fault("404", "404 (Not found), as for a path that nobody serves.", ASSUMED, _answers(p.NO_SUCH_PATH)),
    Fault("409", "409 (Conflict).", ASSUMED, _answers(CONFLICT)),
    Fault("429 in seconds", "429, and Retry-After is a number of seconds.", ASSUMED, _limited(_in_seconds), PAUSE),
    Fault(
        "429 at a date",
        "429, and Retry-After is an HTTP date, so many seconds after the answer's own.",
        ASSUMED,
        _limited(_at_a_date),
        PAUSE,
    ),
    Fault(
        "429 with garbage",
        "429, and Retry-After is neither a number nor a date.",
        ASSUMED,
        _limited(lambda _values: (("retry-after", "soon"),)),
    ),
    Fault("502", "502 (Bad gateway) with a page for people.", ASSUMED, _gateway(502, "Bad Gateway")),
    Fault(
        "503 that says 500",
        "503 whose body says 500, as the one published example has it.",
        OPENAPI,
        _answers(SAYS_500, 503),
    ),
    Fault("504", "504 (Gateway timeout) with a page for people.", ASSUMED, _gateway(504, "Gateway Timeout")),
    Fault(
        "redirect",
        "A redirect to another origin, where the key must not go.",
        ASSUMED,
        _redirect,
        {"status": OneOf(302, (301, 302, 303, 307, 308)), "location": Text(ELSEWHERE)},
    ),
)
"""Every fault of the status, the one that does nothing first."""
