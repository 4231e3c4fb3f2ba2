"""Answers that are wrong in one way each, for lessons: what a client makes of them is the point.

A `CannedService` gives the same answer to every request. Faults on the wire and their timing need a
server.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from textwrap import wrap

from workbook.base.values import lookup
from workbook.simulation.contract import SPEC, Broken
from workbook.simulation.http import JSON_HEADERS, PROBLEM_HEADERS, Request, Response


def _ok(body: bytes) -> Response:
    return Response(200, JSON_HEADERS, body, "lesson: assumed")


def _refused(broken: Broken) -> Response:
    problem = SPEC.problems[broken]
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
    "400": _refused(Broken.JSON),
    "401": _refused(Broken.WRONG_KEY),
    "403": _refused(Broken.ROLE),
    "422": _refused(Broken.INACTIVE),
    "500": _refused(Broken.OURS),
}
"""Each answer by its name."""


class CannedService:
    """Gives the same answer to every request, in place of a `Service`."""

    def __init__(self, answer: str) -> None:
        self._answer = lookup("answer", answer, CANNED)

    def respond(self, _request: Request) -> Response:
        """The one answer."""
        return self._answer


# What happens to opaque text between the API and the SDK when code on the way does too much or too little.
#
# Each damage is one pure function of the text, named as the diagnosis catalogue names the mistake.

LINE = 76
"""Characters to a line where an encoder wraps its text."""


def _one_character_changed(text: str) -> str:
    middle = len(text) // 2
    other = "A" if text[middle] != "A" else "B"
    return text[:middle] + other + text[middle + 1 :]


DAMAGES: Mapping[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "decoded": lambda text: b64decode(text).decode("utf-8", "replace"),
    "encoded twice": lambda text: b64encode(text.encode()).decode("ascii"),
    "quoted": json.dumps,
    # base64's other alphabet; its two letters are put in, as the data may not need them
    "url-safe alphabet": lambda text: "-_" + text[2:].replace("+", "-").replace("/", "_"),
    "padding trimmed": lambda text: text.rstrip("=")[:-1],
    "wrapped into lines": lambda text: "\n".join(wrap(text, LINE)),
    "cut off": lambda text: text[: len(text) // 8 * 4],
    "one character changed": _one_character_changed,
    "empty": lambda _text: "",
}
"""Every damage by its name; the first does nothing."""


def damaged(text: str, damage: str) -> str:
    """The text after this damage.

    Raises:
        ParameterError: there is no damage of this name.
    """
    return lookup("damage", damage, DAMAGES)(text)
