"""The issuer's back end as the app under test sees it: the workbook plays it, well or badly, and keeps what arrived.

The document does not show how an app speaks to its back end. The routes are the integrator's own (`Surface`), so one
configuration serves `workbook conform`, which tests the back end, and `workbook conform app`, which plays it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import unquote

from jsonpointer import JsonPointer

from workbook.base.values import lookup, quoted
from workbook.errors import OpaqueDataError, WorkbookError
from workbook.mockserver.server import LEAVING
from workbook.relay.model import GET, POST, RAW, Surface
from workbook.relay.phone import text_at
from workbook.runs.back_end import TRY_LATER, BackEnd
from workbook.simulation.http import JSON_HEADERS, Ending, Request, Response, Wire
from workbook.simulation.seal import HardSeal
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import CARDS, World


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """What the back end answers instead of the sdkInput. All of it is made up: the integrator decides the contract.

    Attributes:
        status: of the answer.
        body: of the answer; None for one with `sdk_input` at its place.
        sdk_input: None or a text.
        ending: how its bytes end.
    """

    status: int = 200
    body: bytes | None = None
    sdk_input: str | None = None
    ending: Ending = Ending.WHOLE


WRONG_ANSWERS: Mapping[str, WrongAnswer] = {
    **{
        str(status): WrongAnswer(status, json.dumps({"error": TRY_LATER}).encode())
        for status in (401, 403, 404, 500, 502, 503)
    },
    "empty body": WrongAnswer(body=b""),
    "no sdkInput": WrongAnswer(body=b"{}"),
    "sdkInput null": WrongAnswer(),
    "sdkInput empty": WrongAnswer(sdk_input=""),
    "no JSON": WrongAnswer(body=b"<html>Please log in.</html>"),
    "connection cut": WrongAnswer(body=b"", ending=Ending.RESET),
    "cut in the middle": WrongAnswer(sdk_input="SIMULATED" * 9, ending=Ending.TRUNCATED),
}
"""Every way in which the back end fails, by its name. Where the body is cut, the cut is in the sdkInput."""


@dataclass(slots=True)
class Arrival:
    """One request of the app.

    Attributes:
        at: when it arrived, in seconds of the monotonic clock.
        operation: GET or POST; empty where it is neither.
        card: the id in it.
        request: as it came.
        sdk_output: what the POST carries; None where it carries none.
        answered: when its answer left; None while it is held.
        status: of the answer.
        given: the sdkInput of the answer; None where there is none.
        session: whether the session was presented.
        leaving: set once the app no longer waits for the answer; None where there is no network.
    """

    at: float
    operation: str
    card: str
    request: Request = field(repr=False)
    sdk_output: str | None = field(default=None, repr=False)
    answered: float | None = None
    status: int | None = None
    given: str | None = field(default=None, repr=False)
    session: bool = False
    leaving: asyncio.Event | None = field(default=None, repr=False)


class PlayedBackEnd:
    """The back end of one app.

    Args:
        surface: its two operations.
        seed: of the simulated service behind it.
        session: what the app has to present in the header `authorization`; empty where it presents nothing.

    Attributes:
        arrivals: every request so far.
        failing: by operation, the name of what it does wrong, one of `WRONG_ANSWERS`.
        held: by operation, an event that an answer waits for.
    """

    def __init__(self, surface: Surface, *, seed: int = 7, session: str = "") -> None:
        self.arrivals: list[Arrival] = []
        self.failing: dict[str, str] = {}
        self.held: dict[str, asyncio.Event] = {}
        self._operations = {GET: surface.get, POST: surface.post}
        self._session = session
        service = Service(World(seed=seed))
        service.seal = HardSeal(seed)
        self._relay = BackEnd(DirectApi(service))

    @property
    def busy(self) -> bool:
        """Whether a request waits for its answer."""
        return any(arrival.answered is None for arrival in self.arrivals)

    def fail(self, operation: str, how: str) -> None:
        """From here on answer this operation with one of `WRONG_ANSWERS`; an empty text ends that.

        Raises:
            ParameterError: there is no such answer.
        """
        self.failing.pop(operation, None)
        if how:
            lookup("answer", how, WRONG_ANSWERS)
            self.failing[operation] = how

    def waiting(self, operation: str) -> bool:
        """Whether a request of this operation waits for its answer."""
        return any(arrival.answered is None for arrival in self.came(operation))

    def left(self, operation: str) -> bool:
        """Whether the app has stopped waiting for every answer of this operation."""
        return all(arrival.leaving is not None and arrival.leaving.is_set() for arrival in self.came(operation))

    def came(self, operation: str) -> list[Arrival]:
        """The requests of one operation."""
        return [arrival for arrival in self.arrivals if arrival.operation == operation]

    async def respond(self, request: Request) -> Response:
        """The answer to one request of the app; its target is without the back end's own prefix."""
        arrival = self._read(request)
        arrival.leaving = LEAVING.get()
        self.arrivals.append(arrival)
        try:
            if (held := self.held.get(arrival.operation)) is not None:
                await held.wait()
            answer = self._answer(arrival)
            arrival.status = answer.status
            return answer
        finally:
            arrival.answered = monotonic()

    def _answer(self, arrival: Arrival) -> Response:
        if arrival.operation in self.failing:
            wrong = WRONG_ANSWERS[self.failing[arrival.operation]]
            body = self._body(arrival, wrong.sdk_input) if wrong.body is None else wrong.body
            return answered(wrong.status, body, wrong.ending)
        if not arrival.operation:
            why = "The app's back end has no such route. Is the surface configured as the app calls it?"
            return answered(404, {"error": why})
        if self._session and not arrival.session:
            return answered(401, {"error": "The app presented no session."})
        try:
            if arrival.operation == GET:
                arrival.given = self._relay.get(arrival.card).text
            else:
                arrival.given = self._relay.post(arrival.card, arrival.sdk_output or "").text
        except OpaqueDataError:
            return answered(400, {"error": "There is no sdkOutput at its place in the body."})
        except WorkbookError:
            unknown = f"No card {quoted(arrival.card)} is simulated. These are: {', '.join(CARDS)}."
            return answered(502, {"error": TRY_LATER if arrival.card in CARDS else unknown})
        return answered(200, self._body(arrival, arrival.given))

    def _body(self, arrival: Arrival, sdk_input: str | None) -> bytes:
        """The answer's body, with this sdkInput where the surface has it."""
        place = self._operations[arrival.operation].sdk_input
        if place == RAW:
            return (sdk_input or "").encode()
        document: Any = sdk_input
        for part in reversed(JsonPointer(place).parts):
            document = {part: document}
        return json.dumps(document).encode()

    def _read(self, request: Request) -> Arrival:
        path = request.target.partition("?")[0]
        session = (request.header("authorization") or "").removeprefix("Bearer ") == self._session
        for name, operation in self._operations.items():
            before, _id, after = operation.path.partition("{id}")
            inner = path.removeprefix(before).removesuffix(after)
            fits = path == before + inner + after and inner and "/" not in inner
            if request.method == operation.method and (fits if _id else path == before):
                card = unquote(inner) if _id else text_at(operation.id, request.body) or ""
                raw = operation.sdk_output == RAW
                output = request.body.decode("utf-8", "replace") if raw else text_at(operation.sdk_output, request.body)
                return Arrival(monotonic(), name, card, request, sdk_output=output, session=session)
        return Arrival(monotonic(), "", "", request, session=session)


def answered(status: int, body: bytes | Mapping[str, Any], ending: Ending = Ending.WHOLE) -> Response:
    """An answer of what the workbook plays for an app."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Response(status, JSON_HEADERS, content, "the document shows no back end of an app", Wire(ending=ending))
