"""Answers that are wrong in one way each, for lessons: what a client makes of them is the point.

A transport that gives the same answer to every request. The real thing, with faults on the wire and
their timing, is a server's business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation import problems as p
from workbook.simulation.http import JSON_HEADERS, PROBLEM_HEADERS, Request, Response

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.problems import Problem


def _ok(body: bytes) -> Response:
    return Response(200, JSON_HEADERS, body, "lesson: assumed")


def _refused(problem: Problem) -> Response:
    return Response(problem.status, PROBLEM_HEADERS, problem.body("Played by a lesson."), problem.basis)


CANNED: Mapping[str, Response] = {
    "sdkInput missing": _ok(b"{}"),
    "sdkInput null": _ok(b'{"sdkInput": null}'),
    "sdkInput empty": _ok(b'{"sdkInput": ""}'),
    "sdkInput a number": _ok(b'{"sdkInput": 7}'),
    "sdkInput twice": _ok(b'{"sdkInput": "a", "sdkInput": "b"}'),
    "not JSON": _ok(b"<html>Welcome</html>"),
    "cut off": _ok(b'{"sdkInput": "eyJz'),
    "nested 100,000 deep": _ok(b"[" * 100_000),
    "larger than 1 MiB": _ok(b'{"sdkInput": "' + b"x" * 1_100_000 + b'"}'),
    "redirect": Response(302, (("location", "https://elsewhere.invalid/"),), b"", "lesson: assumed"),
    "400": _refused(p.NOT_JSON),
    "401": _refused(p.WRONG_KEY),
    "403": _refused(p.NO_ROLE),
    "422": _refused(p.INACTIVE_INSTRUMENT),
    "500": _refused(p.INTERNAL),
}
"""Each answer by its name."""


class CannedService:
    """Answers everything the same; stands in where a `Service` is expected."""

    def __init__(self, answer: str) -> None:
        if not isinstance(answer, str) or answer not in CANNED:
            raise ParameterError(f"No answer {answer!r:.60}. {did_you_mean(str(answer), CANNED)}")
        self._answer = CANNED[answer]

    def respond(self, _request: Request) -> Response:
        """The one answer."""
        return self._answer
