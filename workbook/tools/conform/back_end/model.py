"""The cases for a back end: the script of a case, the back end under test, and what both of its sides saw."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from enum import StrEnum, unique
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import Any, Self, TypeAlias
from zlib import crc32

from workbook.api.opaque import json_text
from workbook.api.redaction import Redaction
from workbook.base.secrecy import MASK, SHORTEST, SecretKind
from workbook.flows.messages import LIMITS
from workbook.play.own_code import BACK_END_WAIT
from workbook.simulation.faults import FAULTS
from workbook.simulation.http import Headers, Request, Response
from workbook.tools.harness.model import Case, CaseResult, Miss, ReportedExchange, ReportedMessage
from workbook.tools.harness.program import LogLine

Judge: TypeAlias = Callable[["Seen"], Iterator["Miss"]]
# Makes a value from a canary, a text that no other case has; or makes one id from another id.
Maker: TypeAlias = Callable[[str], str]
# Changes the path and the body of a call before it leaves the phone: what a careless app may send.
Tamper: TypeAlias = Callable[[str, "bytes | None", "PhoneCall"], "tuple[str, bytes | None]"]

# The two operations: the phone asks the back end for them, and the back end asks the API.
GET, POST = "GET", "POST"


@unique
class BackEndGroup(StrEnum):
    """What a case is about."""

    FORM = "form"
    FIDELITY = "fidelity"
    SECRECY = "secrecy"
    ISOLATION = "isolation"
    FAULTS = "faults"
    BUDGET = "budget"
    CONCURRENCY = "concurrency"
    RECOVERY = "recovery"


@unique
class Need(StrEnum):
    """What a case requires. Each value ends the sentence "the configuration names no ..."; brackets hold the key."""

    PLATFORM_A = "platform A"
    PLATFORM_B = "platform B"
    SESSIONS = "session ([[cardholder]] session)"
    TWO_CARDHOLDERS = "second [[cardholder]]"
    OTHER_SESSION = "session of the second [[cardholder]] that differs from the first one's"
    SEVERAL_CARDS = "second card of the first cardholder ([[cardholder]] cards)"
    LOGS = "log files (logs, at the top of the file)"
    JSON_BODY = "POST with the sdkOutput in a JSON body ([post] sdk_output)"
    API_TLS = "certificate of the API ([api] tls = true)"
    CONTRACT = "contract towards the app ([app] contract)"


@dataclass(frozen=True, slots=True)
class BackEndCase(Case["Seen"]):
    """One case for a back end, with a name like `relay.post.sdk-input-byte-exact`.

    Attributes:
        script: what the phone and the API do.
        needs: what must be configured. A platform among them is the one whose app makes the calls.
    """

    script: CaseScript = field(repr=False, kw_only=True)
    needs: frozenset[Need] = field(default=frozenset(), kw_only=True)

    @property
    def platform(self) -> str | None:
        """The platform whose app makes the calls; None where either platform will do."""
        return next((need.value for need in (Need.PLATFORM_A, Need.PLATFORM_B) if need in self.needs), None)

    @property
    def runs_by_itself(self) -> bool:
        """Whether the case makes calls of its own; a case that judges the whole run makes none."""
        return not self.script.judges_run


def back_end_case(  # noqa: PLR0917 - a row of a table
    group: BackEndGroup, name: str, says: str, rule: str, judge: Judge, script: CaseScript, *needs: Need
) -> BackEndCase:
    """One row of a table of cases; `name` is without `relay.`."""
    return BackEndCase(f"relay.{name}", says, rule, group, judge, script=script, needs=frozenset(needs))


# The script of a case: the phone's calls, and what the API answers meanwhile. Data only; CaseRunner carries it out.


@unique
class Manner(StrEnum):
    """How the phone sends a call. HTTP allows all of these, and all mean the same."""

    PLAIN = ""
    CHUNKED = "a body in chunks"
    UPPER_CASE = "header names in capitals"
    CLOSING = "a connection of its own"
    UNPACKED = "no encoding of the answer"
    EXPECTING = "a body announced with Expect"
    WITH_CHARSET = "a content-type that names its charset"


@dataclass(frozen=True, slots=True)
class AppCall:
    """The phone makes one call.

    Attributes:
        operation: GET or POST.
        card: index of the card among the case's cards.
        cardholder: index of the cardholder whose session is presented; -1 for no session, -2 for a forged session.
        output: for a POST, makes the sdkOutput; None takes one from the SDK stand-in.
        cancel: the phone gives up as soon as the API was asked; False waits for the answer.
        own: `card` is an index among that cardholder's own cards instead.
        instrument: makes the requested id from the card's id; None requests the card's id.
        manner: how the call is sent.
        tamper: changes the path and the body; None sends what the app would.
    """

    operation: str
    card: int = 0
    cardholder: int = 0
    output: Maker | None = field(default=None, repr=False)
    cancel: bool = False
    own: bool = False
    instrument: Maker | None = field(default=None, repr=False)
    manner: Manner = Manner.PLAIN
    tamper: Tamper | None = field(default=None, repr=False)

    @property
    def has_to_succeed(self) -> bool:
        """Whether the app is entitled to it, and nothing about it is odd."""
        odd = self.tamper or self.instrument or self.cancel or self.output
        return not odd and self.cardholder >= 0 and (self.own or not self.cardholder)


@dataclass(frozen=True, slots=True)
class Together:
    """Several calls at the same time."""

    steps: tuple[AppCall, ...]


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait. Requests that the back end makes without a call arrive meanwhile.

    Attributes:
        seconds: None for as long as the configuration allows the back end to recover from a fault.
    """

    seconds: float | None = None


@unique
class Identity(StrEnum):
    """The certificate with which the API presents itself. A client that verifies it accepts the first only."""

    OWN = "its own"
    OTHER_AUTHORITY = "of an authority that nobody trusts"
    EXPIRED = "that has expired"
    OTHER_HOST = "for another host"


@dataclass(frozen=True, slots=True)
class Present:
    """From here on the API has this certificate, at the same address; None takes it away: connections are refused."""

    identity: Identity | None = Identity.OWN


@dataclass(frozen=True, slots=True)
class Order:
    """What the API answers for one of the case's cards, instead of its own answer.

    Attributes:
        operation: GET or POST.
        card: index of the card among the case's cards.
        value: makes the sdkInput of a plain 200; None keeps the API's own answer.
        more: fields to add or replace.
        fault: one of `simulation.faults.FAULTS`; None for none.
        moment: whether the fault comes `before` or `after` the API has done its work.
        settings: parameters of the fault.
        nth: applies to the n-th such request only, from 1; None for all of them.
        share: the delay is this share of the answer limit. Below 1 the answer still counts, and the delay is capped at
            half of the back end's own timeout.
        packed: compresses a plain 200 with gzip where the request accepts that, as a gateway may do.
        chunked: sends a plain 200 in chunks, without a content-length, as a gateway may do.
    """

    operation: str
    card: int = 0
    value: Maker | None = field(default=None, repr=False)
    more: Mapping[str, Any] = field(default_factory=dict)
    fault: str | None = None
    moment: str = "before"
    settings: Mapping[str, Any] = field(default_factory=dict)
    nth: int | None = None
    share: float | None = None
    packed: bool = False
    chunked: bool = False

    def within(self, bound: float, limit: float = inf) -> Order:
        """The same order with `share` resolved.

        Args:
            bound: seconds within which the back end has to answer.
            limit: seconds after which it gives up one request to the API.
        """
        if self.share is None:
            return self
        seconds = self.share * bound if self.share >= 1 else min(self.share * bound, limit / 2)
        return replace(self, settings={**self.settings, "seconds": seconds}, share=None)


@dataclass(frozen=True, slots=True)
class SetOrders:
    """Replace the orders in force from here on; without orders the API answers as it should."""

    orders: tuple[Order, ...] = ()


ScriptStep: TypeAlias = AppCall | Together | Rest | Present | SetOrders


@dataclass(frozen=True, slots=True)
class CaseScript:
    """What happens in a case.

    Attributes:
        steps: in their order.
        orders: in force from the beginning until a `SetOrders`.
        cards: how many payment instruments the case needs, all of the first cardholder.
        alone: no other case may run at the same time.
        judges_run: the case makes no calls; it judges the whole run after everything else, once the back end has ended.
        meets: the case makes no calls; it judges those with which the tempo was measured.
    """

    steps: tuple[ScriptStep, ...]
    orders: tuple[Order, ...] = ()
    cards: int = 1
    alone: bool = False
    judges_run: bool = False
    meets: bool = False

    @property
    def at_once(self) -> int:
        """The most calls that are under way together."""
        return max((len(calls_of(step)) for step in self.steps), default=0)

    @property
    def calls(self) -> tuple[AppCall, ...]:
        """Every call that the phone makes."""
        return tuple(call for step in self.steps for call in calls_of(step))

    @property
    def operations(self) -> frozenset[str]:
        """The operations of these calls."""
        return frozenset(call.operation for call in self.calls)

    @property
    def every_order(self) -> tuple[Order, ...]:
        """The orders of the whole script."""
        later = (order for step in self.steps if isinstance(step, SetOrders) for order in step.orders)
        return (*self.orders, *later)

    @property
    def faulty(self) -> bool:
        """Whether the API fails or is away at some time."""
        away = any(isinstance(step, Present) for step in self.steps)
        return away or any(order.fault for order in self.every_order)

    @property
    def stalls(self) -> bool:
        """Whether the API stalls the first call. The stall lasts as long as the back end waits."""
        return any(order.fault and FAULTS[order.fault].endless for order in self.orders)

    @property
    def slow(self) -> bool:
        """Whether the API is slow, but not slower than the back end's own limit. That limit has to be known."""
        return any(order.share is not None and order.share < 1 for order in self.every_order)


def calls_of(step: ScriptStep) -> tuple[AppCall, ...]:
    """The calls of one step."""
    if isinstance(step, AppCall):
        return (step,)
    return step.steps if isinstance(step, Together) else ()


def both(**post: Any) -> tuple[AppCall, AppCall]:
    """The GET and the POST of one attempt; `post` are fields of the POST."""
    return AppCall(GET), AppCall(POST, **post)


# One attempt with nothing wrong anywhere, nothing else going on, and time to write a log: whatever arrives at the API,
# at a wrong path, too, and whatever is logged, belongs to it. All cases with this script share its calls.
ATTEMPT = CaseScript((*both(), Rest(0.2)), alone=True)
# The API goes away, and comes back as it was.
AWAY, BACK = Present(None), Present()
# A GET and a POST before, meanwhile and after.
API_AWAY = CaseScript((*both(), AWAY, *both(), BACK, Rest(), *both()), alone=True)
# So many GETs for one card that each worker of a pool has made one.
EACH_WORKER = (Together((AppCall(GET),) * 16),) * 6


# The back end under test as the phone sees it: where its two operations are, and where values are placed in them.
#
# The document does not specify this side. It is the integrator's own, so all of it is configuration.

PLATFORMS = ("platform A", "platform B")
# Instead of a JSON pointer: the body is the value itself.
RAW = "raw"
# Seconds that the wallet waits (wallet). A later answer counts as none.
BOUND = LIMITS["pass_entries"].seconds
# Seconds in which a back end notices that a kept connection is gone. A circuit breaker takes longer.
RECOVERY = 0.05
# How a back end reports a failure: with a status outside 2xx, or with a field of the answer's body.
BY_STATUS, IN_BODY = "status", "body"


class FromEnvironment(str):
    """A header's value that an environment variable holds: a secret, whatever it looks like."""

    __slots__ = ()


class FromCommand(FromEnvironment):
    """A header's value that a command will print, and what comes before it."""

    __slots__ = ("line", "prefix")
    line: str
    prefix: str

    def __new__(cls, prefix: str, line: str) -> Self:
        """A value that differs from those of other commands, and stands for what is to come."""
        self = super().__new__(cls, f"{prefix}{crc32(line.encode()):08x}-to-come")
        self.prefix, self.line = prefix, line
        return self


def suspect_header(name: str, value: str) -> str:
    """Why a header with this value may be a secret; empty where it looks harmless."""
    if re.search("auth|cookie|token|secret|passw|session|credential|signature|key", name, re.IGNORECASE):
        return "its name says that it holds a secret"
    mixed = r"(?=[\w+/=.~-]*[0-9])(?=[\w+/=.~-]*[A-Za-z])[\w+/=.~-]{16,}"  # letters and digits
    return "it looks like a secret" if re.search(rf"(?i:bearer|basic|token)\s|{mixed}", value) else ""


def secret_values(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The values that are secrets: those from the environment, and those that look like one.

    Every other value is public: anybody can read it in the configuration. If a report had to hide a public value, such
    as `platform` or `127.0.0.1`, no report could be written.
    """
    return (value for name, value in headers if isinstance(value, FromEnvironment) or suspect_header(name, value))


@dataclass(frozen=True, slots=True)
class BackEndOperation:
    """One of the back end's two operations.

    Attributes:
        method: such as POST.
        path: below the base URL; `{id}` is replaced by the payment instrument id, percent-encoded.
        id: JSON pointer to the id in the request's body; None where the id is in the path.
        sdk_output: JSON pointer, or `raw`; None for the operation that takes none.
        sdk_input: JSON pointer into the answer, or `raw`.
    """

    method: str
    path: str
    id: str | None = None
    sdk_output: str | None = None
    sdk_input: str = "/sdkInput"


@dataclass(frozen=True, slots=True)
class Surface:
    """What the back end offers the app of one platform.

    Attributes:
        get: returns the GET's sdkInput.
        post: exchanges an sdkOutput for the POST's sdkInput.
        decoded: bytes travel instead of the API's base64 text; platform B, with `raw`.
        headers: sent with each call; their values are kept out of repr.
    """

    get: BackEndOperation
    post: BackEndOperation
    decoded: bool = False
    headers: Headers = field(default=(), repr=False)


# The surface of the sample back ends.
SURFACE = Surface(
    BackEndOperation("GET", "/cards/{id}/activation-data"),
    BackEndOperation("POST", "/cards/{id}/provision", sdk_output="/sdkOutput"),
)


@dataclass(frozen=True, slots=True)
class Cardholder:
    """A cardholder with cards and a session.

    Attributes:
        name: for reports.
        cards: ids of the cards, as the app knows them.
        session: headers that present the session; empty where the back end has no sessions. `{id}` in a value is
            replaced by the card's id.
        sessions: the headers for single cards, where a session belongs to one card.
    """

    name: str
    cards: tuple[str, ...]
    session: Headers = field(default=(), repr=False)
    sessions: Mapping[str, Headers] = field(default_factory=dict, repr=False)

    def session_for(self, card: str) -> Headers:
        """The headers that present the session in a call for this card; for a card of another's, that of an own one."""
        own = card if card in self.cards else next(iter((*self.sessions, *self.cards)), card)
        if own in self.sessions:
            return self.sessions[own]
        return tuple((name, value.replace("{id}", own)) for name, value in self.session)


@dataclass(frozen=True, slots=True)
class Target:
    """The back end under test.

    Attributes:
        base_url: without a slash at the end.
        surfaces: what it offers each platform's app.
        cardholders: at least one.
        bound: seconds within which it has to answer.
        logs: log files that it writes, to be scanned.
        folder: where its command runs; None where there is no command.
        ca_file: certificates that are trusted for TLS besides the machine's own.
        recovery: seconds after a fault of the API within which the back end need not work again.
        failures: how the back end reports a failure: by `status`, or in the `body` of any answer.
        instruments: the payment instrument's id for each card whose id differs at the API; no other card is in it.
        api_tls: the API has a certificate, which the back end has to verify.
        pace: least seconds between two calls, for a back end that limits how often it is called; 0 for no pace.
        contract: towards the app: `lesson` is that of lesson 01, `own` another one; None where nothing is said.
        app_wait: seconds after which the app gives up a call.
    """

    base_url: str
    surfaces: Mapping[str, Surface]
    cardholders: tuple[Cardholder, ...]
    bound: float = BOUND
    logs: tuple[Path, ...] = ()
    ca_file: Path | None = None
    recovery: float = RECOVERY
    failures: str = BY_STATUS
    instruments: Mapping[str, str] = field(default_factory=dict)
    api_tls: bool = False
    pace: float = 0.0
    contract: str | None = None
    app_wait: float = BACK_END_WAIT
    folder: Path | None = None

    def instrument(self, card: str) -> str:
        """The payment instrument's id at the API, of a card that the app asks for."""
        return self.instruments.get(card, card)

    @property
    def spare(self) -> str:
        """A card that no case gets, for plain calls beside all cases; empty where the last cardholder has but one."""
        holder = self.cardholders[-1]
        return holder.cards[-1] if len(self.cardholders) > 1 and len(holder.cards) > 1 else ""

    @property
    def recovers_late(self) -> bool:
        """Whether it may refuse calls for a while after a fault, as a circuit breaker does, whatever the card."""
        return self.recovery > RECOVERY

    def session_secrets(self) -> tuple[str, ...]:
        """Every configured header value that is a secret, without the ids in it. No report may contain one."""
        presented = {
            value.replace("{id}", id_)
            for cardholder in self.cardholders
            for headers in (cardholder.session, *cardholder.sessions.values())
            for value in secret_values(headers)
            for id_ in (*cardholder.cards, "{id}")
        }
        presented |= {value for surface in self.surfaces.values() for value in secret_values(surface.headers)}
        # A session may name its card. The id is no secret: if reports hid it, none of their paths could be read.
        ids = {
            id_ for cardholder in self.cardholders for card in cardholder.cards for id_ in (card, self.instrument(card))
        }
        parts = (part for value in sorted(presented) for part in without_ids(value, ids))
        return tuple(dict.fromkeys(part for part in parts if part not in ids))


def without_ids(value: str, ids: Collection[str]) -> list[str]:
    """The parts of a session's value that are left where no configured id, and no long part of one, is in it."""
    for id_ in ids:
        common = SequenceMatcher(None, value, id_, autojunk=False).find_longest_match()
        if common.size >= SHORTEST:
            rest = value[: common.a], value[common.a + common.size :]
            return [part for each in rest if each for part in without_ids(each, ids)]
    return [value]


# What a case saw: each call on the phone's side and each request on the API's side, raw.
#
# Opaque data and the key are in here as they travelled, because judging compares bytes. None of it has a repr, and
# reports take it through `report.Redaction` only.

SUCCESS = range(200, 300)


@unique
class Broke(StrEnum):
    """Why a call has no answer."""

    NO = ""
    REFUSED = "no connection could be made"
    LOST = "the connection broke before the answer was complete"
    LATE = "no answer came in time"
    CANCELLED = "the phone gave up, as the case has it"
    NO_HTTP = "what came is no valid HTTP"
    HUGE = "the answer was larger than anything that could be one"
    SPOILT = "the answer could not be unpacked as its content-encoding says"
    UNTRUSTED = "the back end's certificate does not hold"
    NO_TLS = "no TLS connection could be made"
    NO_CERTIFICATE = "the back end asks for a client certificate: not supported"


BAD_TLS = frozenset({Broke.UNTRUSTED, Broke.NO_TLS, Broke.NO_CERTIFICATE})


@dataclass(slots=True)
class PhoneCall:
    """One call of the phone: the request, then the answer.

    The phone fills in the second part as it becomes known, because a time limit may end a call at any point.

    Attributes:
        number: place among the case's calls, from 1.
        operation: GET or POST.
        cardholder: name of the cardholder whose session is presented.
        instrument: id of the payment instrument, as the API knows it.
        sent: the sdkOutput that the phone hands over; None on the GET.
        began: when it began, in seconds of the monotonic clock.
        ended: when it ended, on the same clock.
        status: of the answer; None where none came.
        headers: of the answer.
        body: of the answer, unpacked.
        value: the sdkInput at its configured place; None where there is none.
        broke: why there is no answer.
        why: more about that, in words without a secret.
        request: as it left the phone, with everything that HTTP adds; None where it never left.
        partial: of an answer that broke off or came too late, the headers and the beginning of the body.
        session: headers that present the session.
        cancel: the phone gives up as soon as the API was asked; False waits for the answer.
        manner: how the call is sent.
        card: the id that the app asks for; empty where it is the instrument's.
        other: id of a card that is another cardholder's; empty where there is none.
        tamper: changes the path and the body; None sends what the app would.
    """

    number: int
    operation: str
    cardholder: str
    instrument: str
    sent: str | None = field(default=None, repr=False)
    began: float = 0.0
    ended: float = 0.0
    status: int | None = None
    headers: Headers = field(default=(), repr=False)
    body: bytes = field(default=b"", repr=False)
    value: str | None = field(default=None, repr=False)
    broke: Broke = Broke.NO
    why: str = ""
    request: Request | None = field(default=None, repr=False)
    partial: bytes = field(default=b"", repr=False)
    session: Headers = field(default=(), repr=False)
    cancel: bool = False
    manner: Manner = Manner.PLAIN
    card: str = ""
    other: str = ""
    tamper: Tamper | None = field(default=None, repr=False)

    @property
    def asked_for(self) -> str:
        """The id that the app asks for."""
        return self.card or self.instrument

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.ended - self.began

    @property
    def succeeded(self) -> bool:
        """Whether the app would take it for a success: a status of 2xx and an sdkInput that is not empty."""
        return self.status in SUCCESS and bool(self.value)

    @property
    def reported_success(self) -> bool:
        """Whether the status is 2xx, sdkInput or not."""
        return self.status in SUCCESS


@dataclass(frozen=True, slots=True)
class Arrived:
    """One request that reached the API, and its answer.

    Attributes:
        number: place among all requests of the run, from 1.
        at: when it arrived, on the same clock as a call.
        request: as it came.
        response: as it was given.
        operation: GET or POST where it is one of the API's two operations, else empty.
        instrument: the payment instrument, percent-decoded; empty where the path is another.
        given: the sdkInput of the answer; None where there was none.
        elsewhere: it came to the other origin, where a redirect pointed.
    """

    number: int
    at: float
    request: Request = field(repr=False)
    response: Response = field(repr=False)
    operation: str = ""
    instrument: str = ""
    given: str | None = field(default=None, repr=False)
    elsewhere: bool = False

    @property
    def sdk_output(self) -> str | None:
        """The sdkOutput in the body; None where there is none."""
        return json_text(self.request.body, "sdkOutput")


@unique
class Exposed(StrEnum):
    """A secret that was found where it must not be."""

    KEY = "the key"
    HOST = "the API's address"


@dataclass(frozen=True, slots=True)
class Exposure:
    """One place where a secret was found, never the secret itself.

    Attributes:
        secret: which.
        case: name of the case that was running; empty where that is unknown.
        where: in words, such as `an answer with status 504`.
    """

    secret: Exposed
    case: str
    where: str


@dataclass(frozen=True, slots=True)
class Misdelivered:
    """One opaque value that went to another card.

    Attributes:
        case: name of the case that was running.
        call: the phone's call that received another card's sdkInput, or that sent the sdkOutput.
        request: the API's request whose answer gave the sdkInput, or in which the sdkOutput arrived.
        what: `sdkInput` or `sdkOutput`.
    """

    case: str
    call: PhoneCall
    request: Arrived
    what: str

    def __str__(self) -> str:
        own, other = self.call.instrument, self.request.instrument
        if self.what == "sdkInput":
            return f"the phone's {self.call.operation} for {own} got the sdkInput that the API gave for {other}"
        return f"the sdkOutput that the phone sent for {own} reached the API for {other}"


@dataclass(frozen=True, slots=True)
class WholeRun:
    """What a case sees only if it judges the whole run.

    Attributes:
        answers: how many answers to the phone were scanned.
        requests: how many requests at the API were scanned.
        exposures: what the scan found.
        values: opaque data of the run: pairs of a payment instrument and the beginning of a value.
        missing_logs: names of configured log files that were never written.
        unnamed_logs: names of other files beside the command that grew.
        misdelivered: opaque values that went to another card.
    """

    answers: int = 0
    requests: int = 0
    exposures: tuple[Exposure, ...] = ()
    values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    missing_logs: tuple[str, ...] = ()
    unnamed_logs: tuple[str, ...] = ()
    misdelivered: tuple[Misdelivered, ...] = ()


@dataclass(frozen=True, slots=True)
class Tempo:
    """What the first calls of a run showed.

    Attributes:
        before: seconds from a call to its request at the API, at most, by platform and operation.
        after: seconds from the API's answer to the back end's, at most, in the same way.
        carried: calls that the back end carries at once; infinite where all met that were tried, or none could be.
        met: how many were seen at once.
        one_lane: it was proven that one call waits for another, whosever it is.
        queues_cardholder: it was proven that calls of one cardholder wait for each other, and others do not.
        cardholders: how many could be told apart.
        calls: of the meeting that proved it, or of the only one.
        arrived: its requests.
    """

    before: dict[tuple[str, str], float]
    after: dict[tuple[str, str], float]
    carried: float = inf
    met: int = 0
    one_lane: bool = False
    queues_cardholder: bool = False
    cardholders: int = 1
    calls: tuple[PhoneCall, ...] = ()
    arrived: tuple[Arrived, ...] = ()

    @property
    def own(self) -> float:
        """Seconds that a call takes besides the API's, at most."""
        return max(map(sum, zip(self.before.values(), self.after.values(), strict=True)), default=0.0)

    @property
    def finding(self) -> str:
        """What is wrong with it, in a sentence; empty where nothing is."""
        if self.queues_cardholder:
            return "Calls of one cardholder wait for each other: the second asks the API when the first has ended."
        if not self.one_lane:
            return ""
        lock = "" if self.cardholders > 1 else " With one cardholder, one worker and a lock of the session look alike."
        return f"One lane for all calls: while one waits for the API, no other asks it.{lock}"

    def __str__(self) -> str:
        before = max(self.before.values(), default=0.0)
        count = f"{self.met}{' or more' if self.carried == inf else ''} {'call' if self.met == 1 else 'calls'} at once"
        if self.queues_cardholder:
            count = "one call of a cardholder at a time"
        return f"asks the API after {before:.1f} s; {count if self.met else 'calls at once: not looked at'}"


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything that one case saw.

    Attributes:
        calls: the phone's side, in the order in which the calls began.
        arrived: the API's side, in the order of arrival.
        log: the lines that the back end wrote into its log files; only for a case that needs them.
        key: the API key that the back end was given.
        host: the API's host and port that the back end was given.
        bound: seconds within which the back end has to answer.
        recovery: seconds that the back end was given to recover from a fault.
        failures: how the back end reports a failure: by `status`, or in the `body` of any answer.
        run: the whole run; empty unless the case judges that.
        extension: the back end serves platform B, whose extension has to list its entries within 20 seconds.
        limit: seconds after which the back end gives up one request to the API; infinite where that is unknown.
        left_open: connections to the API that were opened during the case and are still open at its end.
        app_wait: seconds after which the app gives up a call.
        before: seconds that the back end takes before it asks the API, at most, by operation.
        tempo: how it works; only for a case that judges that.
    """

    calls: tuple[PhoneCall, ...]
    arrived: tuple[Arrived, ...]
    log: Iterable[LogLine] = field(default=(), repr=False)
    key: str = field(default="", repr=False)
    host: str = ""
    bound: float = BOUND
    recovery: float = 0.0
    failures: str = BY_STATUS
    run: WholeRun = WholeRun()
    extension: bool = False
    limit: float = inf
    left_open: int = 0
    app_wait: float = BACK_END_WAIT
    before: Mapping[str, float] = field(default_factory=dict)
    tempo: Tempo | None = None

    def seconds(self, call: PhoneCall) -> float:
        """How long a call takes by itself: what it waits for other calls before the API is asked does not count."""
        asked = [request.at for request in self.during(call) if call.sent in (None, request.sdk_output)]
        if not asked:
            return call.seconds
        return min(call.seconds, self.before.get(call.operation, 0.0) + call.ended - asked[0])

    def asked(self, operation: str) -> tuple[PhoneCall, ...]:
        """The phone's calls of one operation."""
        return tuple(call for call in self.calls if call.operation == operation)

    def came(self, operation: str) -> tuple[Arrived, ...]:
        """The requests of one operation that reached the API."""
        return tuple(request for request in self.arrived if request.operation == operation and not request.elsewhere)

    def during(self, call: PhoneCall) -> tuple[Arrived, ...]:
        """The requests that reached the API while the phone waited for this call."""
        return tuple(request for request in self.arrived if call.began <= request.at <= call.ended)

    @property
    def strays(self) -> tuple[Arrived, ...]:
        """The requests at the API that are neither of the two operations."""
        return tuple(request for request in self.arrived if not request.operation and not request.elsewhere)

    def opaque(self) -> Iterator[tuple[str, str]]:
        """Pairs of a payment instrument and an opaque value: every value of this case, in either direction."""
        yield from ((call.instrument, call.sent) for call in self.calls if call.sent)
        yield from ((request.instrument, request.given) for request in self.arrived if request.given)

    @property
    def began(self) -> float | None:
        """When the first call began, on the run's clock; None where none was made."""
        return min((call.began for call in self.calls), default=None)

    @property
    def first(self) -> float:
        """When the case's exchanges began, on the run's clock: a report counts from there."""
        return min([call.began for call in self.calls] + [arrived.at for arrived in self.arrived], default=0.0)

    def secrets(self) -> Iterator[tuple[SecretKind, str]]:
        """The key, and every opaque value."""
        yield SecretKind.KEY, self.key
        yield from ((SecretKind.OPAQUE, value) for _card, value in self.opaque())

    def exchanges(self, platform: str, redaction: Redaction) -> list[ReportedExchange]:
        """Both sides in the order of time; a call comes before the request that follows from it."""
        first = self.first
        calls = [self._report_call(call, first, platform, redaction) for call in self.calls]
        requests = [self._report_request(arrived, first, platform, redaction) for arrived in self.arrived]
        return sorted([*calls, *requests], key=attrgetter("at"))

    def _report_call(self, call: PhoneCall, first: float, platform: str, redaction: Redaction) -> ReportedExchange:
        """One call of the phone, as a report shows it; `first` is the moment from which it counts."""
        request = call.request or Request(call.operation, "", ())
        answer = self._report_message(call.headers, call.body, redaction, redaction.request_body)
        return ReportedExchange(
            side="phone",
            at=round(call.began - first, 4),
            ended=round(call.ended - first, 4),
            method=redaction.method(request.method),
            path=redaction.target(request.target, call.asked_for),
            who=redaction.text(call.cardholder),
            request=self._report_message(request.headers, request.body, redaction, redaction.request_body),
            status=call.status,
            answer=None if call.status is None else answer,
            ending=redaction.text(": ".join(filter(None, (call.broke.value, call.why)))),
            platform=platform,
        )

    def _report_request(self, arrived: Arrived, first: float, platform: str, redaction: Redaction) -> ReportedExchange:
        """One request at the API, as a report shows it; `first` is the moment from which it counts."""
        request = arrived.request
        response = arrived.response
        ending = response.basis.rpartition(f"fault: {response.fault}; ")[2]
        fault = FAULTS[response.fault].sentence.rstrip(".") if response.fault in FAULTS else response.fault
        if fault:
            ending = f"fault: {fault}; {ending}"
        elif response.status in SUCCESS:
            ending = ""
        return ReportedExchange(
            side="API",
            at=round(arrived.at - first, 4),
            ended=None,
            method=redaction.method(request.method),
            path=redaction.target(request.target),
            who="",
            request=self._report_message(request.headers, request.body, redaction, redaction.request_body),
            status=response.status,
            answer=self._report_message(response.headers, response.body, redaction, redaction.answer_body),
            ending=ending,
            elsewhere=arrived.elsewhere,
            platform=platform,
        )

    def _report_message(
        self, headers: Headers, body: bytes, redaction: Redaction, redact_body: Callable[[bytes], Any]
    ) -> ReportedMessage:
        return ReportedMessage(redaction.headers(self._marked(headers)), redact_body(body), len(body))

    def _marked(self, headers: Headers) -> Iterator[tuple[str, str]]:
        """The headers with a mark in place of an API key: it says only whether the key is the right one."""
        for name, value in headers:
            mark = MASK if value == self.key else f"[another value, {len(value)} characters]"
            yield name, mark if name.lower() == "x-api-key" else value


@dataclass(frozen=True, slots=True)
class BackEndResult(CaseResult):
    """How a case for a back end ended; `seen` holds both of its sides, and is None where no call was made."""

    case: BackEndCase
    seen: Seen | None = None

    @property
    def calls(self) -> tuple[PhoneCall, ...]:
        """The phone's calls, with every app."""
        return tuple(call for part in self.each if part.seen for call in part.seen.calls)
