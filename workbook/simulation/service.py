"""The simulated HTTP API, pure: a request in, a response out, and a little memory per instrument.

It knows no socket and no httpx. `transport` carries it in-process and `server` over real HTTP, so all
three give the same bytes. What it checks are the rules; what it answers when one is broken stands in
`problems`. Every response says what it rests on (`basis`), which no header shows unless it is asked for.

First it is decided what to answer, which changes nothing; then the memory changes, in one place and at most once.
A plan of faults comes in between: a fault `before` keeps that change from happening, and one `after` does not.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING
from urllib.parse import unquote

from workbook.simulation import problems as p
from workbook.simulation.fault import Chance
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, MAX_BODY, PROBLEM_HEADERS, Request, Response
from workbook.simulation.near_misses import nearly
from workbook.simulation.seal import Content, Damaged, Genuine, Seal
from workbook.simulation.world import ROLE, Instrument, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from workbook.simulation.fault_plan import Chosen, FaultPlan
    from workbook.simulation.problems import Problem

MOST_OUTPUTS = 10_000
"""How many exchanged sdkOutputs are remembered of an instrument (assumed); the oldest is forgotten first."""


if TYPE_CHECKING:
    Decided: TypeAlias = tuple[Response, Callable[[], None]]
    """An answer, and the change of memory that goes with it."""


class Refused(Exception):  # noqa: N818  # an answer on its way out, not an error of ours
    """A check failed: carries the problem and the sentence for its `detail`."""

    def __init__(self, problem: Problem, detail: str) -> None:
        super().__init__(detail)
        self.problem = problem
        self.detail = detail


class Memory:
    """What the service remembers of one instrument: how much it issued, and which sdkOutput came already."""

    __slots__ = ("_outputs", "activations", "opcs")

    def __init__(self) -> None:
        self.activations = 0
        self.opcs = 0
        self._outputs: OrderedDict[bytes, None] = OrderedDict()  # digests: an sdkOutput may be a megabyte long

    def knows(self, sdk_output: str) -> bool:
        """Whether this sdkOutput was exchanged; of more than `MOST_OUTPUTS` only the latest are known."""
        return _digest(sdk_output) in self._outputs

    def issue_activation(self) -> None:
        """A GET was answered."""
        self.activations += 1

    def issue_opc(self, sdk_output: str) -> None:
        """A POST was answered: its sdkOutput is used up."""
        self.opcs += 1
        self._outputs[_digest(sdk_output)] = None
        if len(self._outputs) > MOST_OUTPUTS:
            self._outputs.popitem(last=False)


class Service:
    """The two operations over one world.

    Args:
        world: what can be looked up.
        plan: which request gets which fault; none by default.
    """

    def __init__(self, world: World | None = None, plan: FaultPlan | None = None) -> None:
        self.world = world or World()
        self.plan = plan
        self.seal = Seal(self.world.seed)
        self._memory: dict[str, Memory] = {}

    def respond(self, request: Request) -> Response:
        """The answer to `request`; a refused request changes nothing, and a faulted one at most once."""
        chosen = self._chosen(request)
        answer, remember = self._decide(request)
        if chosen is None:
            remember()
            return answer
        if chosen.moves_state:
            remember()
        return chosen.planned.fault.played(answer, Chance(chosen.draw, self.seal))

    def _chosen(self, request: Request) -> Chosen | None:
        """What the plan has for this request; what is neither of the two operations is not counted."""
        if self.plan is None:
            return None
        try:
            instrument_id, _query = _route(request)
        except Refused:
            return None
        return self.plan.choose(request.method, instrument_id)

    def _decide(self, request: Request) -> Decided:
        try:
            return self._answer(request)
        except Refused as refused:
            problem = refused.problem
            return Response(problem.status, PROBLEM_HEADERS, problem.body(refused.detail), problem.basis), _nothing

    def _answer(self, request: Request) -> Decided:
        instrument_id, query = _route(request)
        self._authenticate(request)
        instrument = self._instrument(instrument_id)
        if request.method == "GET":
            _check_get(request, query)
            return self._activation_data(instrument)
        return self._exchange(instrument, _sdk_output(request))

    def _authenticate(self, request: Request) -> None:
        key = request.header("x-api-key")
        if not key:
            raise Refused(p.NO_KEY, "The header x-api-key is missing. Send it with every request.")
        credential = self.world.credentials.get(key)
        if credential is None:
            raise Refused(p.WRONG_KEY, "The API key is not known here. Check which environment it belongs to.")
        if ROLE not in credential.roles:
            raise Refused(p.NO_ROLE, f"The API credential lacks the role '{ROLE}'.")

    def _instrument(self, instrument_id: str) -> Instrument:
        instrument = self.world.instruments.get(instrument_id)
        if instrument is None:
            raise Refused(p.UNKNOWN_INSTRUMENT, "No payment instrument has this id.")
        if not instrument.active:
            raise Refused(p.INACTIVE_INSTRUMENT, instrument.why_unusable)
        return instrument

    def _activation_data(self, instrument: Instrument) -> Decided:
        memory = self._remember(instrument.id)
        card = {
            "cardholderName": "SIMULATED CARDHOLDER",
            "brand": instrument.brand,
            "lastFour": instrument.last_four,
            "supportedWallets": instrument.supported_wallets,
        }
        text = self.seal.close(Content.ACTIVATION, instrument.id, memory.activations + 1, **card)
        return _success(text, "API-1 API-9; content: assumed"), memory.issue_activation

    def _exchange(self, instrument: Instrument, sdk_output: str) -> Decided:
        claims = self._genuine_output(instrument, sdk_output)
        memory = self._remember(instrument.id)
        if memory.knows(sdk_output):
            raise Refused(p.BAD_OUTPUT, "This sdkOutput was exchanged already. Make a new one for each attempt.")
        text = self.seal.close(Content.OPC, instrument.id, memory.opcs + 1, attempt=claims.claims.get("attempt", 0))
        answer = _success(text, "API-2 API-9 API-11; content: assumed")
        return answer, lambda: memory.issue_opc(sdk_output)

    def _genuine_output(self, instrument: Instrument, sdk_output: str) -> Genuine:
        match self.seal.open(sdk_output):
            case Damaged(why):
                raise Refused(p.BAD_OUTPUT, f"The sdkOutput cannot be used: {why}.")
            case Genuine() as claims if claims.content != Content.OUTPUT:
                raise Refused(p.BAD_OUTPUT, f"This is not an sdkOutput but data of kind '{claims.content}'.")
            case Genuine() as claims if claims.payment_instrument_id != instrument.id:
                raise Refused(p.BAD_OUTPUT, "The sdkOutput belongs to another payment instrument.")
            case Genuine() as claims:
                return claims

    def _remember(self, instrument_id: str) -> Memory:
        return self._memory.setdefault(instrument_id, Memory())


def _nothing() -> None:
    """A refusal changes nothing."""


def _digest(sdk_output: str) -> bytes:
    return blake2b(sdk_output.encode(), digest_size=16).digest()


def _route(request: Request) -> tuple[str, str]:
    """The instrument id and the query of a target that is one of the two operations'."""
    path, _mark, query = request.target.partition("?")
    instrument_id = path.removeprefix(BEFORE_ID).removesuffix(AFTER_ID)
    ours = path.startswith(BEFORE_ID) and path.endswith(AFTER_ID) and len(path) > len(BEFORE_ID + AFTER_ID)
    if not ours or "/" in instrument_id:
        told = (
            "There is nothing here.",
            nearly(request.method, request.target),
            f"The path is {BEFORE_ID}{{id}}{AFTER_ID}.",
        )
        raise Refused(p.NO_SUCH_PATH, " ".join(filter(None, told)))
    if request.method not in ("GET", "POST"):
        raise Refused(p.NO_SUCH_METHOD, nearly(request.method, request.target) or "This path knows GET and POST.")
    return unquote(instrument_id), query


def _check_get(request: Request, query: str) -> None:
    if query:
        raise Refused(p.GET_WITH_QUERY, "The GET has no query parameters.")
    if request.body:
        raise Refused(p.GET_WITH_BODY, "The GET has no body.")


def _sdk_output(request: Request) -> str:
    """The sdkOutput of a POST body that is exactly what the document shows (API-4, API-6)."""
    media_type = (request.header("content-type") or "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused(p.WRONG_CONTENT_TYPE, "The header content-type must be application/json.")
    document = _json(request.body)
    if not isinstance(document, dict) or list(document) != ["sdkOutput"]:
        raise Refused(p.WRONG_FIELDS, "The body must be a JSON object with exactly one field, sdkOutput.")
    if not isinstance(value := document["sdkOutput"], str) or not value:
        raise Refused(p.WRONG_FIELDS, "sdkOutput must be a string that is not empty.")
    return value


def _json(body: bytes) -> object:
    if len(body) > MAX_BODY:
        raise Refused(p.TOO_LARGE, f"The body is larger than {MAX_BODY} bytes.")
    try:
        return _DECODE(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise Refused(p.NOT_JSON, "The body is empty or not JSON.") from None


def _no_duplicates(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    listed = list(pairs)
    document = dict(listed)
    if len(document) != len(listed):
        raise Refused(p.WRONG_FIELDS, "A field stands in the body twice.")
    return document


_DECODE = json.JSONDecoder(object_pairs_hook=_no_duplicates).decode


def _success(sdk_input: str, basis: str) -> Response:
    body = f'{{"sdkInput": "{sdk_input}"}}'  # base64 text needs no escaping
    return Response(200, JSON_HEADERS, body.encode(), basis)
