"""The simulated HTTP API, pure: a request in, a response out, and a little memory per instrument.

It knows no socket and no httpx. `transport` carries it in-process and `server` over real HTTP, so all
three give the same bytes. What it checks, and what it answers when a check fails, stands in a contract (see
`contracts`). Every response says what it rests on (`basis`), which no header shows unless it is asked for.

First it is decided what to answer, which changes nothing; then the memory changes, in one place and at most once.
A plan of faults comes in between: a fault `before` keeps that change from happening, and one `after` does not.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from itertools import count
from typing import TYPE_CHECKING

from workbook.simulation.contract import Broken, Place
from workbook.simulation.contracts import CONTRACTS
from workbook.simulation.fault import Chance
from workbook.simulation.http import JSON_HEADERS, PROBLEM_HEADERS, Request, Response
from workbook.simulation.problems import written
from workbook.simulation.reading import Refused, check_query, read_body, route, said_key
from workbook.simulation.seal import Content, Damaged, Genuine, Seal
from workbook.simulation.world import ROLE, Instrument, World

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from workbook.simulation.contract import Body, Contract
    from workbook.simulation.fault_plan import Chosen, FaultPlan

MOST_OUTPUTS = 10_000
"""How many exchanged sdkOutputs are remembered of an instrument (assumed); the oldest is forgotten first."""


if TYPE_CHECKING:
    Decided: TypeAlias = tuple[Response, Callable[[], None]]
    """An answer, and the change of memory that goes with it."""


TOLERATED = "API-4; a GET without content-type: seen"
"""What is said of a GET that leaves out a header which the document has: an official client does, so it is answered."""


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
        contract: what is checked and answered; that of the world's profile by default.
    """

    def __init__(
        self, world: World | None = None, plan: FaultPlan | None = None, contract: Contract | None = None
    ) -> None:
        self.world = world or World()
        self.plan = plan
        self.contract = contract or CONTRACTS[self.world.profile]
        self.seal = Seal(self.world.seed)
        self._memory: dict[str, Memory] = {}
        self._refusals = count(1)
        self._before = f'{{"{self.contract.answer.names[0]}": "'

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
            operation, instrument_id, _query = route(request, self.contract)
        except Refused:
            return None
        return self.plan.choose(operation.method, instrument_id)

    def _decide(self, request: Request) -> Decided:
        try:
            return self._answer(request)
        except Refused as refused:
            return self._refusal(refused), _nothing

    def _answer(self, request: Request) -> Decided:
        operation, instrument_id, query = route(request, self.contract)
        key, way = said_key(request, query, self.contract)
        self._admit(key)
        instrument = self._instrument(instrument_id)
        check_query(query, operation, self.contract)
        basis = operation.answers if way.place is Place.HEADER else f"{operation.answers}; key: {way.basis}"
        if operation.body is not None:
            return self._exchange(instrument, self._sdk_output(request, operation.body), basis)
        if request.body:
            raise Refused(Broken.BODY, f"The {operation.method} has no body.")
        if not request.header("content-type"):
            basis = f"{basis}; {TOLERATED}"
        return self._activation_data(instrument, basis)

    def _admit(self, key: str) -> None:
        credential = self.world.credentials.get(key)
        if credential is None:
            raise Refused(Broken.WRONG_KEY, "The API key is not known here. Check which environment it belongs to.")
        if ROLE not in credential.roles:
            raise Refused(Broken.ROLE, f"The API credential lacks the role '{ROLE}'.")

    def _instrument(self, instrument_id: str) -> Instrument:
        instrument = self.world.instruments.get(instrument_id)
        if instrument is None:
            raise Refused(Broken.UNKNOWN, "No payment instrument has this id.")
        if not instrument.active:
            raise Refused(Broken.INACTIVE, instrument.why_unusable)
        return instrument

    def _sdk_output(self, request: Request, body: Body) -> str:
        """The sdkOutput of a POST; a schema may let it be left out, and still nothing can be exchanged for nothing."""
        field = body.shape.names[0]
        said = read_body(request, body).get(field)
        if not said:
            raise Refused(Broken.NO_OUTPUT, f"There is no {field} in the body. Without one nothing can be exchanged.")
        return str(said)

    def _activation_data(self, instrument: Instrument, basis: str) -> Decided:
        memory = self._remember(instrument.id)
        card = {
            "cardholderName": "SIMULATED CARDHOLDER",
            "brand": instrument.brand,
            "lastFour": instrument.last_four,
            "supportedWallets": instrument.supported_wallets,
        }
        text = self.seal.close(Content.ACTIVATION, instrument.id, memory.activations + 1, **card)
        return self._success(text, basis), memory.issue_activation

    def _exchange(self, instrument: Instrument, sdk_output: str, basis: str) -> Decided:
        claims = self._genuine_output(instrument, sdk_output)
        memory = self._remember(instrument.id)
        if memory.knows(sdk_output):
            raise Refused(Broken.OUTPUT, "This sdkOutput was exchanged already. Make a new one for each attempt.")
        text = self.seal.close(Content.OPC, instrument.id, memory.opcs + 1, attempt=claims.claims.get("attempt", 0))
        return self._success(text, basis), lambda: memory.issue_opc(sdk_output)

    def _genuine_output(self, instrument: Instrument, sdk_output: str) -> Genuine:
        match self.seal.open(sdk_output):
            case Damaged(why):
                raise Refused(Broken.OUTPUT, f"The sdkOutput cannot be used: {why}.")
            case Genuine() as claims if claims.content != Content.OUTPUT:
                raise Refused(Broken.OUTPUT, f"This is not an sdkOutput but data of kind '{claims.content}'.")
            case Genuine() as claims if claims.payment_instrument_id != instrument.id:
                raise Refused(Broken.OUTPUT, "The sdkOutput belongs to another payment instrument.")
            case Genuine() as claims:
                return claims

    def _remember(self, instrument_id: str) -> Memory:
        return self._memory.get(instrument_id) or self._memory.setdefault(instrument_id, Memory())

    def _success(self, sdk_input: str, basis: str) -> Response:
        return Response(200, JSON_HEADERS, f'{self._before}{sdk_input}"}}'.encode(), basis)  # base64 needs no escaping

    def _refusal(self, refused: Refused) -> Response:
        """The contract's problem for this check, with the fields that its schema has and that can be said here."""
        problem = self.contract.checks[refused.broken].problem
        known = problem.fields(refused.detail) | self._more(refused)
        parts = [part for part in self.contract.problem.parts if part.name in known]
        more = [f"{part.name}: {part.basis}" for part in parts if not part.required]
        basis = "; ".join([problem.basis, *more, *(["their values: assumed"] if more else [])])
        body = written({part.name: known[part.name] for part in parts})
        allow = (("allow", ", ".join(self.contract.operations)),) if refused.broken is Broken.METHOD else ()
        return Response(problem.status, PROBLEM_HEADERS + allow, body, basis)

    def _more(self, refused: Refused) -> dict[str, Any]:
        """What a problem may say besides; seed and number decide a request's id (assumed)."""
        if all(part.required for part in self.contract.problem.parts):
            return {}
        said = f"refusal {self.world.seed} {next(self._refusals)}"
        name = blake2b(said.encode(), digest_size=8).hexdigest().upper()
        more: dict[str, Any] = {"instance": f"urn:x-workbook:refusal:{name}", "requestId": name}
        return more | {"invalidFields": [one._asdict() for one in refused.invalid]} if refused.invalid else more


def _nothing() -> None:
    """A refusal changes nothing."""


def _digest(sdk_output: str) -> bytes:
    return blake2b(sdk_output.encode(), digest_size=16).digest()
