"""The protocol between an app's SDK stand-in and the phone that the workbook plays, version 1.

Each call of the SDK is one HTTP exchange on loopback: `POST /phone/v1/<call>` with the header `x-workbook-key`, a flat
JSON object each way. The answer is an outcome. While `provision` runs, it may be an `ask`: the SDK wants something of
the app, and the stand-in answers with a call that repeats `turn`. A call that is wrong is refused with status 400,
401, 403 or 409 and `{"error": "a sentence"}`; that is never an outcome of the SDK.

All of it is ours. It carries the document's operations and outcomes (`workbook.flows.messages`), and no rule of order:
the flows' tables decide what may come when.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic.alias_generators import to_camel

from workbook.base.values import did_you_mean, quoted
from workbook.errors import ParameterError
from workbook.flows import messages as m

PROTOCOL_VERSION = 1
# Bytes of a message: a text of the most characters fits, also where half of them are escaped (assumed, GAP-3).
LONGEST_MESSAGE = 4 * 1_048_576

Name = Annotated[
    StrictStr,
    Field(pattern=r"^[A-Za-z0-9._-]{1,40}$", description="a name of 1 to 40 letters, digits, '.', '_' and '-'"),
]
Text = Annotated[StrictStr, Field(max_length=1_048_576)]
Line = Annotated[StrictStr, Field(max_length=200)]
Number = Annotated[StrictInt, Field(ge=0, le=2**31 - 1, description="a whole number from 0")]


class PhoneRequest(BaseModel):
    """What every call says: which client it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, hide_input_in_errors=True)

    client: Name


class Hello(PhoneRequest):
    """The first call of a process. Each `client` has one phone; what its earlier process began is over."""

    platform: StrictStr
    variant: StrictStr
    protocol: Number


class Create(PhoneRequest):
    """`CardProvisioning.create(sdkInput, activityProvider)` (A-CREATE-1)."""

    sdk_input: Text


def outcome_fields(event: m.Event) -> dict[str, Any]:
    """An outcome by its own name, with all that it carries; names as the document spells them."""
    return {"outcome": _name(type(event))} | {to_camel(f.name): getattr(event, f.name) for f in fields(event)}


def _name(event: type[m.Event]) -> str:
    return event.says.rpartition(".")[2]


class OfOne(PhoneRequest):
    """A call on one CardProvisioning, by the number that `create` answered."""

    provisioning: Number


class CanProvision(OfOne):
    """`canProvision()` (A-CAN-1)."""


class CreateSdkOutput(OfOne):
    """`createSdkOutput()` (A-OUT-1). The document names no outcomes: these two are assumed."""


class _Provision(OfOne):
    """What both forms of `provision` say; the address's seven fields are public (sdk-a)."""

    card_display_name: Text
    address_line_1: Annotated[Text, Field(alias="addressLine1")] = ""
    address_line_2: Annotated[Text, Field(alias="addressLine2")] = ""
    locality: Text = ""
    administrative_area: Text = ""
    country_code: Text = ""
    postal_code: Text = ""
    phone_number: Text = ""


class Provision(_Provision):
    """`provision(sdkInput, cardDisplayName, cardAddress)`, the form before 0.4.0 (A-PROV-4); address: sdk-a."""

    sdk_input: Text


class ProvisionWithProvider(_Provision):
    """`provision(cardDisplayName, cardAddress, opcProvider)`, the form from 0.4.0 (A-PROV-2); address: sdk-a."""


class Turn(PhoneRequest):
    """Answers what was asked for under this number."""

    turn: Number


class Activity(Turn):
    """Says whether the activityProvider, which was called, returned an activity."""

    there: Annotated[StrictBool, Field(description="true or false")]


class Opc(Turn):
    """fetchOpc returned this OPC data (A-OPC-1)."""

    sdk_input: Text


class NoOpc(Turn):
    """fetchOpc threw; the SDK catches that (sdk-a). The call names the exception's class only."""

    threw: Line


class Cancelled(Turn):
    """The app's scope ended while fetchOpc ran."""


# Platform B. Bytes travel as base64 text.


class MakeService(PhoneRequest):
    """`ProvisioningService(sdkInput)` (B-INIT-1)."""

    sdk_input: Text


class OfService(PhoneRequest):
    """A call on one service, by the number that `makeService` or `makeExtensionService` answered."""

    service: Number


class ActivateWatch(PhoneRequest):
    """`activate()` of the WatchAvailability with this number, from 1 (B-WATCH-1, B-WATCH-2)."""

    instance: Annotated[StrictInt, Field(ge=1, le=1000, description="a whole number from 1 to 1,000")]


class CanAddCard(OfService):
    """`canAddCard()` of the earlier variant (B-CAN-1)."""


class CanAddCardDetails(OfService):
    """`canAddCardDetails(isWatchActivated)` of the later variant (B-CAN-2)."""

    is_watch_activated: Annotated[StrictBool, Field(description="true or false")]


class Start(OfService):
    """`start(delegate, presentingViewController)` (B-START-1)."""


class GoOn(Turn):
    """`start` has returned; the wallet's sheet goes on."""


class SdkInput(Turn):
    """The delegate's `provision` returned these bytes (B-DEL-3, X-DEL-1)."""

    sdk_input: Text


class NoSdkInput(Turn):
    """The delegate's `provision` returned nil (B-DEL-3)."""


class MakeExtensionService(PhoneRequest):
    """`ExtensionProvisioningService(sdkInputs)` (X-INIT-1)."""

    sdk_inputs: Annotated[list[Text], Field(max_length=100, description="a list of at most 100 texts")]


class PassEntries(OfService):
    """`passEntries(withDelegate)` (X-ENTRIES-1)."""


class RemotePassEntries(OfService):
    """`remotePassEntries(withDelegate)` (X-ENTRIES-2)."""


class Generate(OfService):
    """`generateAddPaymentPassRequestForPassEntryWithIdentifier(...)` (X-GEN-1)."""

    identifier: Text
    configuration: Number = 0
    certificate_chain: Annotated[list[Text], Field(max_length=100, description="a list of at most 100 texts")]
    nonce: Text
    nonce_signature: Text


class Holds(PhoneRequest):
    """Whether the wallet holds this card, as the platform tells an app; no call of the SDK."""

    card: Line
    on_watch: StrictBool


class UsePhone(PhoneRequest):
    """From here on the client's phone is this one; for tests that want a certain outcome."""

    name: Line
    card: Line = ""


class UseBackEnd(PhoneRequest):
    """From here on the played back end fails GET or POST in this way; an empty text ends that."""

    operation: StrictStr
    fails: Line = ""


class Next(Turn):
    """Tells the result of the last action, and asks what to do next. See `Driving.kt` and `Driving.swift`.

    After a call of the wallet it has what the handler returned, and what the call took: microseconds by the process's
    clock, those of them in which the stand-in waited for the workbook, and the process's peak memory in bytes.
    """

    threw: Annotated[StrictStr, Field(max_length=1000)] = ""
    uncaught: Annotated[StrictStr, Field(max_length=1000)] = ""
    hosts: Annotated[StrictStr, Field(max_length=10_000)] = ""
    button: StrictStr = "absent"
    message: Text = ""
    reports: Number = 0
    pass_entries_available: StrictBool = False
    remote_pass_entries_available: StrictBool = False
    requires_authentication: StrictBool = False
    entries: list[Line] = []
    arts: list[Line] = []
    request: Line = ""
    microseconds: Number = 0
    of_standin: Number = 0
    peak_memory: Annotated[StrictInt, Field(ge=0, description="a whole number from 0")] = 0


# Every call by its name in the path.
PHONE_CALLS: Mapping[str, type[PhoneRequest]] = {
    kind.__name__[0].lower() + kind.__name__[1:]: kind
    for kind in (Hello, Create, CanProvision, CreateSdkOutput, Provision, ProvisionWithProvider, Activity, Opc, NoOpc,
                 Cancelled, MakeService, ActivateWatch, CanAddCard, CanAddCardDetails, Start, GoOn, SdkInput,
                 NoSdkInput, MakeExtensionService, PassEntries, RemotePassEntries, Generate, Holds, UsePhone,
                 UseBackEnd, Next)
}  # fmt: skip


def read(name: str, body: bytes) -> PhoneRequest:
    """The call of this name and body.

    Raises:
        ParameterError: there is no such call, or the body does not fit it; says what is wrong and what is allowed,
            and repeats no value.
    """
    if name not in PHONE_CALLS:
        raise ParameterError(f"There is no call {quoted(name)}. {did_you_mean(name, PHONE_CALLS)}")
    if len(body) > LONGEST_MESSAGE:
        raise ParameterError(
            f"The body of {name} has more than {LONGEST_MESSAGE:,} bytes, which is the most for a message."
        )
    try:
        return PHONE_CALLS[name].model_validate_json(body)
    except ValidationError as error:
        raise ParameterError(f"{name}: {' '.join(_mistakes(name, error))}") from None


def _mistakes(name: str, error: ValidationError) -> Iterator[str]:
    """Each mistake as a sentence, without the value."""
    known = fields_of(name)
    for mistake in error.errors(include_url=False, include_input=False)[:5]:
        field = str(mistake["loc"][0]) if mistake["loc"] else ""
        match mistake["type"]:
            case "missing":
                yield f"{field} is missing. It must be {known[field]}."
            case "extra_forbidden":
                yield f"{quoted(field)} is no field of {name}. {did_you_mean(field, known)}"
            case _ if not field:
                yield f"the body is no JSON object in UTF-8. Send one with {', '.join(known)}."
            case _:
                yield f"{field} is wrong. It must be {known.get(field, 'another kind of value')}."


def fields_of(name: str) -> dict[str, str]:
    """The fields of a call by their names on the wire, and what each is, in words."""
    words = {}
    for field, schema in PHONE_CALLS[name].model_json_schema()["properties"].items():
        limit = f" of at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""
        words[field] = schema.get("description", f"text{limit}")
    return words
