"""The two contracts: `SPEC` does only what the interface document says, `FIELD` adds what is publicly known besides.

The document shows neither a status nor an error's body (GAP-1) nor a limit (GAP-2). Even `SPEC` must answer something,
so it borrows the published statuses and codes (openapi) and chooses the rest (assumed). `DIFFERENCES` is what a caller
notices of the change from one to the other; a test holds it against both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation import problems as p
from workbook.simulation.contract import Body, Broken, Check, Contract, Operation, Part, Place, Shape, Way
from workbook.simulation.http import AFTER_ID, BEFORE_ID, MAX_BODY
from workbook.simulation.phone import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.problems import Problem

PUBLISHED_ID = "PI3222722322935MDMZ9J83KH"
"""The example of a payment instrument's id (openapi)."""
ASSUMED_ID = "PISIMULATED00000000000001"
GET, POST = "GET", "POST"
BOTH = (GET, POST)
SENT = "application/json"

HEADER = Way("apiKey", Place.HEADER, "x-api-key", "API-4", "The API credential's key, in a header of its own.")
BASIC = Way(
    "basic",
    Place.BASIC,
    "authorization",
    "openapi; that the password is the key: assumed",
    "HTTP basic. The key is the password, and the user name is not looked at.",
)
QUERY = Way("clientKey", Place.QUERY, "clientKey", "openapi", "The key in the query, where proxies write it down.")

_SDK_INPUT = Part("sdkInput", "API-7 API-8 API-9", "Opaque: it is handed to the SDK, byte for byte.")
_SDK_OUTPUT = Part(
    "sdkOutput",
    "API-6 API-7 API-8",
    "Opaque: it comes from the SDK, and is taken once.",
    shortest=1,
    limit_basis="assumed",
)
_PROBLEM = (
    Part("type", "openapi", "A URI of the kind of problem; always about:blank (assumed).", form="uri"),
    Part("title", "openapi", "The kind of problem, in words."),
    Part("status", "openapi", "The HTTP status once more.", kind="integer"),
    Part("detail", "openapi", "What was wrong, as a sentence (assumed)."),
    Part("errorCode", "openapi", "A code; which one a request gets is assumed."),
)
_INVALID = Shape(
    (
        Part("name", "openapi", "The field's name; `body` for the whole of it (assumed)."),
        Part("value", "openapi", "Of which kind it was: what was sent may be card data and is not repeated (assumed)."),
        Part("message", "openapi", "What it has to be (assumed)."),
    ),
    "openapi",
)
_PROBLEM_TOO = (
    Part("instance", "openapi", "A URI of this very answer (assumed).", required=False, form="uri"),
    Part("requestId", "openapi", "A name of this very answer: seed and number decide it (assumed).", required=False),
    Part("invalidFields", "openapi", "What is wrong with the body.", required=False, kind="array", items=_INVALID),
)


def _checks(changed: Mapping[Broken, Problem | None]) -> Mapping[Broken, Check]:
    """The table of refusals, with what a profile changes in it; None takes a row out."""
    table: dict[Broken, tuple[Problem, tuple[str, ...]]] = {
        Broken.PATH: (p.NO_SUCH_PATH, ()),
        Broken.METHOD: (p.NO_SUCH_METHOD, ()),
        Broken.NO_KEY: (p.NO_KEY, BOTH),
        Broken.SEVERAL_KEYS: (p.SEVERAL_KEYS, BOTH),
        Broken.WRONG_KEY: (p.WRONG_KEY, BOTH),
        Broken.ROLE: (p.NO_ROLE, BOTH),
        Broken.UNKNOWN: (p.UNKNOWN_INSTRUMENT, BOTH),
        Broken.INACTIVE: (p.INACTIVE_INSTRUMENT, BOTH),
        Broken.QUERY: (p.GET_WITH_QUERY, (GET,)),
        Broken.BODY: (p.GET_WITH_BODY, (GET,)),
        Broken.MEDIA_TYPE: (p.WRONG_CONTENT_TYPE, (POST,)),
        Broken.SIZE: (p.TOO_LARGE, (POST,)),
        Broken.JSON: (p.NOT_JSON, (POST,)),
        Broken.FIELDS: (p.WRONG_FIELDS, (POST,)),
        Broken.NO_OUTPUT: (p.NO_OUTPUT, (POST,)),
        Broken.OUTPUT: (p.BAD_OUTPUT, (POST,)),
        Broken.OURS: (p.INTERNAL, BOTH),
    }
    rows = {one: (changed.get(one, said), on) for one, (said, on) in table.items()}
    return MappingProxyType({one: Check(said, on) for one, (said, on) in rows.items() if said is not None})


def _operations(body: Shape) -> Mapping[str, Operation]:
    get = Operation(
        GET,
        "getActivationData",
        "Read the activation data of a payment instrument, for a new attempt.",
        "API-1 API-10 API-12",
        "API-1 API-9; content: assumed",
        None,
        other_query=False,
        query_basis="API-5",
        sent=(("content-type", SENT, False, "API-4; that it is not looked at: seen"),),
    )
    post = Operation(
        POST,
        "exchangeSdkOutput",
        "Exchange the SDK's sdkOutput for the sdkInput that goes back to it.",
        "API-2 API-11",
        "API-2 API-9 API-11; content: assumed",
        Body(body, SENT, MAX_BODY, "API-4 API-6"),
        other_query=True,
        query_basis="assumed",
    )
    return MappingProxyType({GET: get, POST: post})


SPEC = Contract(
    profile="spec",
    path=f"{BEFORE_ID}{{id}}{AFTER_ID}",
    id=Part(
        "id",
        "API-3",
        "The payment instrument's id: one segment, percent-encoded.",
        shortest=1,
        limit_basis="assumed",
        example=ASSUMED_ID,
        example_basis="assumed",
    ),
    operations=_operations(Shape((_SDK_OUTPUT,), "API-6", closed=True, closed_basis="API-6")),
    ways=(HEADER,),
    not_taken=(BASIC, QUERY),
    checks=_checks({Broken.NO_OUTPUT: None}),  # its schema does not let one pass
    answer=Shape((_SDK_INPUT,), "API-9"),
    problem=Shape(_PROBLEM, "openapi"),
)
"""What the document says; whatever it does not show is tagged."""

FIELD = replace(
    SPEC,
    profile="field",
    id=replace(SPEC.id, example=PUBLISHED_ID, example_basis="openapi"),
    operations=_operations(
        Shape(
            (replace(_SDK_OUTPUT, required=False, shortest=0, basis="API-6 API-7 API-8 openapi"),),
            "API-6 openapi",
            closed=True,
            closed_basis="API-6 openapi",
        )
    ),
    ways=(HEADER, BASIC, QUERY),
    not_taken=(),
    checks=_checks({Broken.SIZE: p.TOO_LARGE_TO_SAY}),
    answer=Shape((replace(_SDK_INPUT, required=False),), "API-9 openapi", closed=True, closed_basis="openapi"),
    problem=Shape(_PROBLEM + _PROBLEM_TOO, "openapi"),
)
"""The published schemas, ways to say the key and statuses as well."""

CONTRACTS: Mapping[str, Contract] = MappingProxyType(dict(zip(PROFILES, (SPEC, FIELD), strict=True)))
"""Each contract by its profile."""


def contract(profile: str) -> Contract:
    """The contract of a profile.

    Raises:
        ParameterError: there is no such profile.
    """
    if profile not in PROFILES:
        raise ParameterError(f"No profile {profile!r:.60}. {did_you_mean(str(profile), PROFILES)}")
    return CONTRACTS[profile]


@dataclass(frozen=True, slots=True)
class Difference:
    """What a caller notices of the profile: in `spec`, in `field`, and what the latter rests on."""

    what: str
    spec: str
    field: str
    basis: str


DIFFERENCES = (
    Difference(
        "the API key is said in",
        "the header x-api-key",
        "that header, HTTP basic, or clientKey in the query: any one",
        "openapi; that the password is the key: assumed",
    ),
    Difference(
        "an error's body has",
        "its five required fields",
        "instance and requestId too, and invalidFields where the body is wrong",
        "openapi; their values: assumed",
    ),
    Difference(
        "the two operations answer with",
        "200 400 401 403 413 422 500",
        "200 400 401 403 422 500",
        "openapi; that another path or method still gets 404 or 405: assumed",
    ),
    Difference("a body that is too large gets", "413", "400", "openapi; pairing: assumed"),
    Difference("a POST without sdkOutput gets", "400", "422", "schema: openapi; pairing: assumed"),
    Difference("a POST with an empty sdkOutput gets", "400", "422", "schema: openapi; pairing: assumed"),
    Difference("sdkInput in an answer's schema is", "required", "optional", "openapi"),
    Difference("other fields in an answer's schema are", "allowed", "not allowed", "openapi"),
)
"""The whole of it; every other answer is the same to the byte."""
