"""The simulated HTTP API, pure: a request in, a response out, and a little memory per instrument.

It knows no socket and no httpx. Called directly, by `transport` or over HTTP by `server`, it gives the same bytes. What
it checks, and what it answers when a check fails, is in a contract's document (see `contract`). Every response carries
its sources (`basis`), which a header shows only when it is asked for.

First the answer is decided, which changes nothing; then the memory changes, in one place and at most once. A plan of
faults comes in between: a fault `before` prevents that change, and one `after` does not.
"""

import json
from base64 import b64decode
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import blake2b
from itertools import count
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import parse_qsl, unquote

from workbook.api import protocol
from workbook.api.opaque import SdkOutput
from workbook.base.values import nearest
from workbook.simulation.contract import CONTRACTS, JSON, Broken, Contract, Document, KeyPlace, Operation, write_json
from workbook.simulation.faults import Chance, FaultPlan
from workbook.simulation.http import AFTER_ID, BEFORE_ID, JSON_HEADERS, Request, Response
from workbook.simulation.seal import Content, Damaged, Genuine, Seal
from workbook.simulation.world import ROLE, SIMULATED_KEY, Instrument, World

# An answer, and the change of memory that goes with it.
Decided: TypeAlias = tuple[Response, Callable[[], None]]


# The words of the path that are the same in each request.
FIXED_WORDS = f"{BEFORE_ID}{AFTER_ID}".replace("//", "/").strip("/").split("/")


def misspelt_words(path: str) -> str:
    """A question for each fixed word that a path nearly has; it repeats nothing of the path: a key may be in it."""
    segments = path.split("/") if len(path) <= 1000 else []
    words = [word for word in FIXED_WORDS if word not in segments and nearest(word, segments, 0.65)]
    return " ".join(f"Did you mean /{word}?" for word in words)


# Reading the operation, the API key and the body of a request, or what is wrong with them.
#
# A refusal repeats nothing of the request: anything may be in the wrong place, a key or card data too.


class Invalid(NamedTuple):
    """One row of `invalidFields` (openapi).

    Of the value it holds the JSON type alone: the value may be card data. A body that is wrong as a whole is named
    `body` (assumed).
    """

    name: str
    value: str
    message: str


class Refused(Exception):  # noqa: N818  # an answer on its way out, not an error of ours
    """A check failed: carries which one, the sentence for its `detail`, and the fields that are wrong."""

    def __init__(self, broken: Broken, detail: str, *invalid: Invalid) -> None:
        super().__init__(detail)
        self.broken = broken
        self.detail = detail
        self.invalid = invalid


def route(request: Request, contract: Contract) -> tuple[Operation, str, str]:
    """The operation, the payment instrument's id (decoded), and the query as it came.

    Raises:
        Refused: there is no such path, or no such method on it.
    """
    path, _mark, query = request.target.partition("?")
    instrument_id = path.removeprefix(contract.before_id).removesuffix(contract.after_id)
    whole = f"{contract.before_id}{instrument_id}{contract.after_id}"
    if not instrument_id or "/" in instrument_id or path != whole:
        sentences = ("There is nothing here.", misspelt_words(path), f"The path is {contract.path}.")
        raise Refused(Broken.PATH, " ".join(filter(None, sentences)))
    operation = contract.operations.get(request.method)
    if operation is None:
        raise Refused(Broken.METHOD, f"This path knows {' and '.join(contract.operations)}.")
    return operation, unquote(instrument_id), query


def key_in(request: Request, query: str, contract: Contract) -> tuple[str, KeyPlace]:
    """The API key, and where the request carries it.

    A key that is sent twice counts once. Two that differ are refused: the document knows one key, and one reader might
    use the first where another checked the last (assumed).

    Raises:
        Refused: there is none, or there are several.
    """
    keys = [(key, place) for place in contract.key_places for key in _keys_at(place, request, query)]
    if len(keys) == 1 and keys[0][0]:
        return keys[0]
    different = {key for key, _place in keys}
    if len(different) > 1:
        raise Refused(Broken.SEVERAL_KEYS, "The request carries several different API keys. Send one.")
    if different and "" not in different:
        return keys[0]
    header, *others = contract.key_places
    if others:
        named = ", ".join(f"{place.parameter} ({place.place})" for place in others)
        sentence = f"The API key is missing. Send the header {header.parameter} with every request, or one of: {named}."
        raise Refused(Broken.NO_KEY, sentence)
    sentence = f"The header {header.parameter} is missing. Send it with every request."
    if tried := [place.parameter for place in contract.places_not_taken if _keys_at(place, request, query)]:
        sentence += f" This profile does not accept a key in {' or '.join(tried)}."
    raise Refused(Broken.NO_KEY, sentence)


def all_keys_in(request: Request, contract: Contract) -> tuple[str, ...]:
    """Every non-empty API key of the request, in any published place, accepted by the contract or not."""
    query = request.target.partition("?")[2]
    places = contract.key_places + contract.places_not_taken
    return tuple(key for place in places for key in _keys_at(place, request, query) if key)


def _keys_at(place: KeyPlace, request: Request, query: str) -> list[str]:
    """Each key that a request carries in this place."""
    if place.place == "header":
        return request.values(place.parameter)
    if place.place == "query":
        return [value for name, value in parse_qsl(query, keep_blank_values=True) if name == place.parameter]
    passwords = []
    for value in request.values(place.parameter):  # HTTP basic (RFC 7617): the key is what follows the first colon
        scheme, _blank, credentials = value.strip(" \t").partition(" ")
        try:
            if scheme.lower() == "basic":
                passwords.append(b64decode(credentials.strip(" "), validate=True).decode().partition(":")[2])
        except ValueError:
            continue
    return passwords


def read_body(request: Request, operation: Operation) -> dict[str, Any]:
    """The fields of a body that fits the operation's schema.

    Raises:
        Refused: it does not.
    """
    if request.media_types != {operation.media_type}:
        raise Refused(Broken.MEDIA_TYPE, f"The header content-type must be {operation.media_type}.")
    if len(request.body) > operation.most_bytes:
        raise Refused(Broken.SIZE, f"The body is larger than {operation.most_bytes} bytes.")
    try:
        document = _strict_json().decode(request.body.decode("utf-8"))
    except (ValueError, RecursionError):
        sentence = "The body is empty or not JSON."
        raise Refused(Broken.JSON, sentence, Invalid("body", "not JSON", sentence)) from None
    properties, required = operation.schema["properties"], operation.schema.get("required", ())
    if not isinstance(document, dict):
        sentence = f"The body must be {describe_schema(operation.schema)}."
        raise Refused(Broken.FIELDS, sentence, Invalid("body", _json_type(document), sentence))
    missing = [name for name in required if name not in document]
    invalid = [Invalid(name, "missing", f"It must be {describe_schema(properties[name])}.") for name in missing]
    if operation.schema.get("additionalProperties") is False:
        for name in [name for name in document if name not in properties]:
            repeated = name if name.lower() in map(str.lower, properties) else "another field"
            invalid.append(Invalid(repeated, _json_type(document[name]), "There is no such field."))
    if invalid:
        raise Refused(Broken.FIELDS, f"The body must be {describe_schema(operation.schema)}.", *invalid)
    for name, schema in properties.items():
        if name not in document:
            continue
        value = document[name]
        if not isinstance(value, str) or len(value) < schema.get("minLength", 0):
            sentence = f"{name} must be {describe_schema(schema)}."
            raise Refused(Broken.FIELDS, sentence, Invalid(name, _json_type(value), sentence))
    return document


def describe_schema(schema: Document) -> str:
    """What a schema asks for, in words; the contract's bodies hold objects of strings only."""
    if schema["type"] == "string":
        return "a string that is not empty" if schema.get("minLength") else "a string"
    properties, required = schema["properties"], schema.get("required", ())
    names = " and ".join(properties)
    if schema.get("additionalProperties") is not False:
        return f"a JSON object with {names}"
    exactly = len(properties) == 1 and len(required) == 1
    return f"a JSON object with {'exactly one field,' if exactly else 'no field other than'} {names}"


@cache
def _strict_json() -> json.JSONDecoder:
    """Refuses a field that stands in an object twice; made once, as that takes longer than to read a body."""
    return json.JSONDecoder(object_pairs_hook=_no_duplicates)


def _json_type(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _no_duplicates(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    listed = list(pairs)
    document = dict(listed)
    if len(document) != len(listed):
        sentence = "A field stands in the body twice."
        raise Refused(Broken.FIELDS, sentence, Invalid("body", "an object", sentence))
    return document


# How many exchanged sdkOutputs are remembered for an instrument (assumed); the oldest is forgotten first.
MOST_OUTPUTS = 10_000


@dataclass(eq=False, slots=True)
class Memory:
    """What the service remembers of one instrument: how much it issued, and which sdkOutputs were exchanged."""

    activations: int = 0
    opcs: int = 0
    used: OrderedDict[bytes, None] = field(default_factory=OrderedDict)  # digests: an sdkOutput may be a megabyte long

    def issue_activation(self) -> None:
        """Count the answer to a GET."""
        self.activations += 1

    def issue_opc(self, digest: bytes) -> None:
        """Count the answer to a POST, which uses up an sdkOutput; the latest `MOST_OUTPUTS` digests are kept."""
        self.opcs += 1
        self.used[digest] = None
        if len(self.used) > MOST_OUTPUTS:
            self.used.popitem(last=False)


class Service:
    """The two operations over one world.

    Args:
        world: what can be looked up.
        plan: which request gets which fault; none by default.
        contract: what is checked and answered; that of the world's profile by default.

    Attributes:
        memory: what it remembers of each instrument, by id; a restart replaces it.
    """

    def __init__(
        self, world: World | None = None, plan: FaultPlan | None = None, contract: Contract | None = None
    ) -> None:
        self.world = world or World()
        self.plan = plan
        self.contract = contract or CONTRACTS[self.world.profile]
        self.seal = Seal(self.world.seed)
        self.memory = defaultdict[str, Memory](Memory)
        self._refusals = count(1)

    def respond(self, request: Request) -> Response:
        """The answer to `request`; a refused request changes nothing, a faulted one changes the memory at most once."""
        chosen = None
        if self.plan is not None:
            with suppress(Refused):  # the plan counts only requests of the two operations
                operation, instrument_id, _query = route(request, self.contract)
                chosen = self.plan.choose(operation.method, instrument_id)
        answer, remember = self._decide(request)
        if chosen is None or chosen.moves_state:
            remember()
        return answer if chosen is None else chosen.planned.fault.played(answer, Chance(chosen.draw, self.seal))

    def _decide(self, request: Request) -> Decided:
        try:
            return self._answer(request)
        except Refused as refused:
            return self._refusal(refused), lambda: None

    def _answer(self, request: Request) -> Decided:
        """The answer, and the change of memory that goes with it; the checks come in `Broken`'s order.

        Raises:
            Refused: a check failed.
        """
        operation, instrument_id, query = route(request, self.contract)
        key, place = key_in(request, query, self.contract)
        credential = self.world.credentials.get(key)
        if credential is None:
            raise Refused(Broken.WRONG_KEY, "The API key is not known here. Check which environment it belongs to.")
        if ROLE not in credential.roles:
            broken = Broken.ROLE if operation.method == "GET" else Broken.POST_ROLE
            raise Refused(broken, f"The API credential lacks the role '{ROLE}'.")
        instrument = self.world.instruments.get(instrument_id)
        if instrument is None:
            raise Refused(Broken.UNKNOWN, "No payment instrument has this id.")
        if why := instrument.why_unusable:
            raise Refused(Broken.INACTIVE, why)
        if query and not operation.other_query:
            known = [place.parameter for place in self.contract.key_places if place.place == "query"]
            if not known or any(name not in known for name, _value in parse_qsl(query, keep_blank_values=True)):
                but = f" but {' and '.join(known)}" if known else ""
                raise Refused(Broken.QUERY, f"The {operation.method} has no query parameters{but}.")
        basis = operation.basis if place.place == "header" else f"{operation.basis}; key: {place.basis}"
        answer = self._exchange if operation.media_type else self._read
        return answer(request, operation, instrument, basis)

    def _exchange(self, request: Request, operation: Operation, instrument: Instrument, basis: str) -> Decided:
        """The POST: OPC data for an sdkOutput, which is then used up."""
        name = next(iter(operation.schema["properties"]))
        sdk_output = read_body(request, operation).get(name)
        if not sdk_output:  # a schema may make it optional, but without it there is nothing to exchange
            sentence = f"There is no {name} in the body. Without one nothing can be exchanged."
            raise Refused(Broken.NO_OUTPUT, sentence)
        claims = self._claims(instrument, sdk_output)
        memory, digest = self.memory[instrument.id], output_digest(sdk_output)
        if digest in memory.used:
            raise Refused(Broken.USED, "This sdkOutput was exchanged already. Make a new one for each attempt.")
        attempt = int(claims.get("attempt", 0))
        text = self.seal.close(Content.OPC, instrument.id, memory.opcs + 1, attempt=attempt)
        return self._success({"sdkInput": text}, basis), partial(memory.issue_opc, digest)

    def _read(self, request: Request, operation: Operation, instrument: Instrument, basis: str) -> Decided:
        """The GET: new activation data with each request."""
        if request.body:
            raise Refused(Broken.BODY, f"The {operation.method} has no body.")
        if (sent := request.media_types) != {JSON}:
            # The document says that the header is sent (API-4), not what becomes of a GET without it (GAP-1), and a
            # published client leaves it out (seen). To refuse such a GET or to answer it would both be our choice.
            basis = f"{basis}; API-4; a GET with {'another' if sent else 'no'} content-type: {operation.unchecked}"
        memory = self.memory[instrument.id]
        text = self.seal.close(
            Content.ACTIVATION,
            instrument.id,
            memory.activations + 1,
            cardholderName="SIMULATED CARDHOLDER",
            brand=instrument.brand,
            lastFour=instrument.last_four,
            supportedWallets=instrument.supported_wallets,
        )
        return self._success({"sdkInput": text}, basis), memory.issue_activation

    def _claims(self, instrument: Instrument, sdk_output: str) -> dict[str, Any]:
        """What a genuine sdkOutput of this instrument says."""
        match self.seal.open(sdk_output):
            case Damaged(why):
                raise Refused(Broken.OUTPUT, f"The sdkOutput cannot be used: {why}.")
            case Genuine() as data if data.content != Content.OUTPUT:
                raise Refused(Broken.OUTPUT, f"This is not an sdkOutput but data of kind '{data.content}'.")
            case Genuine() as data if data.payment_instrument_id != instrument.id:
                raise Refused(Broken.OUTPUT, "The sdkOutput belongs to another payment instrument.")
            case Genuine(claims):
                return claims

    def _success(self, known: Document, basis: str) -> Response:
        """The answer with those of the known fields that the contract has."""
        body = {name: known[name] for name in self.contract.answer_fields if name in known}
        return Response(200, JSON_HEADERS, write_json(body), basis)

    def _refusal(self, refused: Refused) -> Response:
        """The contract's problem for this check, with the fields of its schema that have a value here."""
        schema, problem = self.contract.problem_schema, self.contract.problems[refused.broken]
        known = problem.fields(refused.detail)
        optional = [name for name in schema["properties"] if name not in schema["required"]]
        if optional:
            number = f"refusal {self.world.seed} {next(self._refusals)}"  # seed and number decide the id (assumed)
            name = blake2b(number.encode(), digest_size=8).hexdigest().upper()
            known |= {"instance": f"urn:x-workbook:refusal:{name}", "requestId": name}
            if refused.invalid:
                known["invalidFields"] = [invalid._asdict() for invalid in refused.invalid]
        more = [f"{name}: {schema['properties'][name]['x-basis']}" for name in optional if name in known]
        basis = "; ".join([problem.basis, *more, *(["their values: assumed"] if more else [])])
        body = write_json({name: known[name] for name in schema["properties"] if name in known})
        allow = (("allow", ", ".join(self.contract.operations)),) if refused.broken is Broken.METHOD else ()
        return Response(problem.status, (("content-type", problem.media_type), *allow), body, basis)


def output_digest(sdk_output: str) -> bytes:
    """What the memory keeps of an sdkOutput."""
    return blake2b(sdk_output.encode(), digest_size=16).digest()


# The direct port: the client's own request builder and judge, with the service called in between.
#
# No HTTP library takes part, so this runs without httpx and without a network. The client's own code builds the request
# and judges the answer.
# No fault on the wire can be played here: what has to stand one stands behind a network.

# Where the simulated service pretends to be. The top-level name can never exist.
ORIGIN = "https://simulated.invalid"


class DirectApi:
    """An `ActivationDataClient` without HTTP.

    Attributes:
        basis: what the latest answer rests on, see `Response.basis`.
    """

    def __init__(self, service: Service | None = None, *, api_key: str = SIMULATED_KEY) -> None:
        self.service = service or Service()
        self.basis = ""
        self._settings = protocol.Settings(ORIGIN, api_key)

    def get(self, payment_instrument_id: str) -> protocol.ActivationData:
        """Read activation data (API-1)."""
        return self._exchange(protocol.build_get(self._settings, payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput | str) -> protocol.ActivationData:
        """Exchange an sdkOutput (API-2)."""
        output = protocol.as_sdk_output(sdk_output)
        return self._exchange(protocol.build_post(self._settings, payment_instrument_id, output))

    def _exchange(self, built: protocol.ApiRequest) -> protocol.ActivationData:
        target = built.url.removeprefix(ORIGIN)
        response = self.service.respond(Request(built.method, target, built.headers, built.body or b""))
        self.basis = response.basis
        answer = protocol.Answer(response.status, response.headers, response.body)
        judged = protocol.judge_answer(answer, self._settings.secret)
        if isinstance(judged, protocol.CallProblem):
            raise judged.error(built.redacted(), elapsed=0.0, attempts=1)
        return judged
