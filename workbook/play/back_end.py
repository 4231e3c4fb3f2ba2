"""The issuer's back end: the smallest correct one, the network behind it, and back ends with one mistake each.

Only the back end speaks to the HTTP API (API-13). `BackEnd` relays both operations and tells the app only what it
needs. It works with three kinds of API: the client over a simulated transport, the client over a real network, and the
direct port without HTTP. `Network` lies between a client and the simulated service, on virtual time, so that a stall of
30 s takes no real time; `WatchedBackEnd` reports what happened there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from workbook import errors
from workbook.api.exchange import Options, RetryPolicy, Timeouts
from workbook.api.opaque import SdkInput, SdkOutput, json_text
from workbook.api.protocol import ActivationData, Answer, CallProblem, find_header, parse_object, read_success
from workbook.base.values import choice, quoted
from workbook.flows import messages as m
from workbook.flows.messages import Event
from workbook.play.own_code import call_watched, check_callable, exception_words, run_to_end
from workbook.simulation.clock import VirtualClock
from workbook.simulation.faults import FAULT_DETAIL
from workbook.simulation.faults import fault as fault_named
from workbook.simulation.http import LOOKS_WHOLE, Request, Responder, Response
from workbook.simulation.phones import LatenciesA
from workbook.simulation.service import ORIGIN, DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY, World

if TYPE_CHECKING:  # httpx is loaded when a client is made: whoever opens a session would wait for it
    from workbook.api.client import ActivationDataClient

# The only text that the app gets about a failure (REL-9).
TRY_LATER = "the card cannot be added now; try again later"


class ActivationDataApi(Protocol):
    """What the back end needs of a client; `ActivationDataClient` is one."""

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data."""
        ...

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput."""
        ...


@dataclass(frozen=True, slots=True)
class Relayed:
    """One finished call of the back end.

    Attributes:
        events: what happened, in order, each with its time on the run's clock.
        outcome: what the API answered, or the error that the call failed with.
    """

    events: list[tuple[float, Event]]
    outcome: ActivationData | errors.WorkbookError

    @property
    def error(self) -> errors.WorkbookError | None:
        """What the call failed with; None after a success."""
        return self.outcome if isinstance(self.outcome, errors.WorkbookError) else None

    def answer(self) -> ActivationData:
        """What the API answered.

        Raises:
            WorkbookError: the call failed.
        """
        if isinstance(self.outcome, errors.WorkbookError):
            raise self.outcome
        return self.outcome


@dataclass(eq=False, repr=False)
class BackEnd:
    """Relays both operations.

    Attributes:
        api: who answers.
        clock: the clock of the run, on which its calls take their time.
        basis: called after each answer for what that answer rests on; a real API cannot say.
        stopwatch: gives real seconds, where the API is real.
        times_attempts: its calls take their own time, attempt by attempt.
    """

    api: ActivationDataApi
    clock: VirtualClock = field(default_factory=VirtualClock, kw_only=True)
    basis: Callable[[], str] = field(default=lambda: "", kw_only=True)
    stopwatch: Callable[[], float] | None = field(default=None, kw_only=True)
    times_attempts: ClassVar[bool] = False

    def exchange(
        self, payment_instrument_id: str, sdk_output: SdkOutput | None = None, *, takes: float = 0.0
    ) -> Relayed:
        """The GET, or with an sdkOutput the POST; a failure is in the exchange and is not raised.

        Args:
            payment_instrument_id: the card.
            sdk_output: what is posted.
            takes: the seconds of the call where the API is simulated, without a network that has its own.
        """
        method = "GET" if sdk_output is None else "POST"
        requested = self.clock.now(), m.ApiRequested(method, payment_instrument_id, sdk_output)
        began = self.stopwatch() if self.stopwatch else 0.0
        outcome = self.ask(self.api, payment_instrument_id, sdk_output)
        if not self.times_attempts:
            self.clock.sleep(self.stopwatch() - began if self.stopwatch else takes)
        event: Event
        match outcome:
            case ActivationData():
                event = m.ApiAnswered(200, outcome, basis=self.basis())
            case errors.ApiStatusError():
                words = error_words(outcome.body, sdk_output.text if sdk_output else "")
                event = m.ApiAnswered(outcome.status, told=words, basis=self.basis())
            case error:
                event = m.ApiFailed(type(error).__name__, str(error))
        return Relayed([requested, (self.clock.now(), event)], outcome)

    @staticmethod
    def ask(
        api: ActivationDataApi, payment_instrument_id: str, sdk_output: SdkOutput | None
    ) -> ActivationData | errors.WorkbookError:
        """What `api` answers to the GET, or with an sdkOutput to the POST, or the error that it raises."""
        try:
            return api.get(payment_instrument_id) if sdk_output is None else api.post(payment_instrument_id, sdk_output)
        except errors.WorkbookError as error:
            return error


def simulated_back_end(world: World | None = None) -> BackEnd:
    """A back end in front of the simulated service, without HTTP between them: the fastest one."""
    api = DirectApi(Service(world))
    return BackEnd(api, basis=lambda: api.basis)


def error_words(body: bytes, posted: str = "") -> str:
    """The code and the detail of an error body, for a trace; what was posted is taken out (REL-3, REL-9)."""
    fields = parse_object(body)
    if isinstance(fields, CallProblem):
        return ""
    words = [fields.get(name) for name in ("errorCode", "title", "detail")]
    # without what only says that it is a fault: the basis says which
    text = ": ".join(word for word in words if isinstance(word, str) and word != FAULT_DETAIL)
    return (text.replace(posted, "[sdkOutput]") if posted else text)[:160]  # characters are enough for a trace


# The network between a back end and the simulated service. Service, transport and client are the real ones of this
# package; each request and its answer are recorded.


@dataclass(slots=True)
class Attempt:
    """One request and its answer.

    Attributes:
        began: seconds on the line's clock.
        ended: likewise: when the answer, or the client's patience, was over.
        carried_out: the API did what it was asked.
    """

    began: float
    ended: float
    request: Request
    response: Response = field(repr=False)
    carried_out: bool

    @property
    def lost(self) -> bool:
        """Whether the answer did not arrive complete and in time; only then does a client drop a faulted 200."""
        dropped = self.response.status == 200 and bool(self.response.fault)
        return dropped or self.response.wire.ending not in LOOKS_WHOLE


class Network:
    """The network between a back end and the service; the transport's responder, and its `pause`.

    Attributes:
        clock: virtual time; give it to the client.
        service: answers the requests.
        attempts: those of the call under way, or of the latest.
        asked: how often each operation was asked for, over all calls.
        played: how many answers a fault was played on.
    """

    def __init__(self, service: Service, latencies: Mapping[str, float] | None = None) -> None:
        self.clock = VirtualClock()
        self.service = service
        self.attempts: list[Attempt] = []
        self.asked: Counter[str] = Counter()
        self.played = 0
        self._noted: list[tuple[float, Event]] = []
        self._latencies = latencies or {"GET": LatenciesA().get, "POST": LatenciesA().post}

    def __repr__(self) -> str:
        return f"Network({self.asked.total()} requests)"

    def respond(self, request: Request) -> Response:
        """The service's answer, after the time that it takes."""
        # The service answers at once, and then the clock moves: no thread waits, and an answer that comes too late for
        # its client was given all the same.
        began, before = self.clock.now(), self.carried_out(request.method)
        response = self.service.respond(request)
        self.clock.sleep(self._latencies[request.method])
        carried_out = self.carried_out(request.method) > before
        self.attempts.append(Attempt(began, self.clock.now(), request, response, carried_out))
        self.asked[request.method] += 1
        self.played += bool(response.fault)
        return response

    def carried_out(self, method: str) -> int:
        """How often the API carried this operation out: a faulted answer may not show it."""
        memories = self.service.memory.values()
        return sum(memory.activations if method == "GET" else memory.opcs for memory in memories)

    def pause(self, seconds: float) -> None:
        """The answer under way takes so much longer."""
        self.clock.sleep(seconds)
        self.attempts[-1].ended = self.clock.now()

    def note(self, event: Event) -> None:
        """Report what a back end does besides its requests."""
        self._noted.append((self.clock.now(), event))

    def begin(self) -> None:
        """Another call begins."""
        self.attempts, self._noted = [], []

    def between(self, payment_instrument_id: str, posted: str) -> list[tuple[float, Event]]:
        """What happened between a call's first request and its outcome, in the order of time."""
        events = list(self._noted)
        for attempt, following in pairwise(self.attempts):
            events.append((attempt.ended, _outcome(attempt, posted)))
            pause = round(following.began - attempt.ended, 3)
            again = m.ApiAskedAgain(following.request.method, payment_instrument_id, pause=pause)
            events.append((following.began, again))
        return sorted(events, key=itemgetter(0))


def _outcome(attempt: Attempt, posted: str) -> Event:
    """What came of an attempt, as far as it can be seen from outside the back end."""
    response = attempt.response
    if attempt.lost:
        return m.AnswerLost("", what_was_played(response.fault), response.fault)
    if response.status == 200:
        return m.ApiAnswered(200, answer_in(response), basis=response.basis)
    return m.ApiAnswered(response.status, told=error_words(response.body, posted), basis=response.basis)


def answer_in(response: Response) -> ActivationData:
    """What is answered, not checked: with an empty text where it has no sdkInput."""
    body = b"".join(piece for _seconds, piece in response.wire.pieces(response.body))
    read = read_success(Answer(response.status, response.headers, body))
    value: Any = json_text(body, "sdkInput") or ""
    return read if isinstance(read, ActivationData) else ActivationData(SdkInput(value) if value else value)


def what_was_played(fault: str) -> str:
    """What was played, and where that is known from."""
    played = fault_named(fault)
    return f"{played.sentence.rstrip('.')}: {played.source}"


# A back end that is watched attempt by attempt: when it sent each request, and the outcome.


class BackEndFailed(errors.WorkbookError):  # the words of a trace
    """A back end of the integrator's own gave no sdkInput, and not because of an answer of the API."""


class WatchedBackEnd(BackEnd):
    """Relays as `BackEnd` does, and gives each attempt its own time.

    Args:
        api: makes its requests over `line`, and waits by its clock.
        line: the network between the back end and the API.
    """

    times_attempts: ClassVar[bool] = True

    def __init__(self, api: ActivationDataApi, line: Network) -> None:
        def basis() -> str:
            return line.attempts[-1].response.basis if line.attempts else ""

        super().__init__(api, clock=line.clock, basis=basis)
        self.line = line

    def exchange(
        self, payment_instrument_id: str, sdk_output: SdkOutput | None = None, *, takes: float = 0.0
    ) -> Relayed:
        """The exchange of `BackEnd`, its attempts in between, and how the call ended."""
        self.line.begin()
        exchange = super().exchange(payment_instrument_id, sdk_output, takes=takes)
        posted, attempts, error = sdk_output.text if sdk_output else "", self.line.attempts, exchange.error
        (began, requested), (ended, outcome) = exchange.events
        if attempts and isinstance(outcome, m.ApiFailed):
            outcome = self._failure(outcome, error, attempts[-1], posted)
        between = self.line.between(payment_instrument_id, posted)
        after = [(at, event) for at, event in between if at == ended and isinstance(event, m.Noted | m.CodeFailed)]
        between = [timed for timed in between if timed not in after]
        events = [(began, requested), *between, (ended, outcome), *after]
        if not attempts and (error is None or isinstance(error, BackEndFailed)):
            events = [*between, *after, (ended, m.Noted("The back end answers by itself: it did not ask the API."))]
        if error is not None and sdk_output is not None and any(attempt.carried_out for attempt in attempts):
            lost = "The API has carried the POST out: its sdkOutput is used up. Nobody will ever know the answer."
            events.append((ended, m.Noted(lost)))
        answered = "sdkInput" if error is None and exchange.answer().sdk_input else "a 200 without sdkInput"
        ending, took = type(error).__name__ if error else answered, round(ended - began, 3)
        events.append((ended, m.ApiCallEnded("POST" if sdk_output else "GET", len(attempts), took, ending)))
        return Relayed(events, exchange.outcome)

    @staticmethod
    def _failure(failed: m.ApiFailed, error: object, last: Attempt, posted: str) -> Event:
        """What a call came to that gave nothing: what its last attempt did, or what was played on it."""
        if isinstance(error, BackEndFailed):
            outcome = _outcome(last, posted)
            return replace(outcome, error=str(error)) if isinstance(outcome, m.AnswerLost) else outcome
        if not last.response.fault:
            return failed
        refused = isinstance(error, errors.MalformedResponseError | errors.ResponseTooLargeError)
        kind = m.AnswerRefused if refused else m.AnswerLost
        return kind(failed.error, what_was_played(last.response.fault), last.response.fault)


# Back ends to compare: the good one, and those that make one mistake each. Each is a real configuration of the client,
# or a small class around it; none is made for a certain fault.
#
# The limits nest, from short to long (REL-5; the figures are assumed): one answer to a GET, the back end's call with
# retries, which are the client's own, the app's wait for its back end (`own_code.BACK_END_WAIT`), the wallet's
# 20 s. Whoever gives up before the shorter limit has ended does not know what became of the call (REL-1). The wallet's
# 20 s cover two calls of the extension, a GET and a POST, so twice the app's wait must be less than 20 s.

ONE_ATTEMPT = RetryPolicy(attempts=1)


def client(service: Responder, **limits: Any) -> ActivationDataClient:
    """A client in front of a simulated service; on a network's virtual time, where it is one."""
    from workbook.api.client import ActivationDataClient
    from workbook.simulation.transport import SimulatedTransport

    transport = SimulatedTransport(service)
    if isinstance(service, Network):
        transport, limits = SimulatedTransport(service, pause=service.pause), limits | {"clock": service.clock}
    chance = Random(7)  # noqa: S311  # jitter is no secret
    return ActivationDataClient(ORIGIN, SIMULATED_KEY, transport=transport, random=chance, **limits)


class Good:
    """Repeats a GET that may be repeated, posts once, and ends before the wallet stops waiting.

    A back end that makes a mistake about answers overrides `settle`, which makes each call.

    Attributes:
        line: what lies between it and the API.
    """

    def __init__(self, line: Network, retries: RetryPolicy | None = None) -> None:
        self.line = line
        self._api = client(line, retries=retries)

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data; the client asks again where that can help."""
        return self.settle(lambda: self._api.get(payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput; the client does not send it again (REL-1)."""
        return self.settle(lambda: self._api.post(payment_instrument_id, sdk_output))

    def settle(self, call: Callable[[], ActivationData]) -> ActivationData:
        """What the call returns, or raises."""
        return call()


class SendsThePostAgain(Good):
    """Treats a POST like a GET: sends it again after an error that looks temporary (breaks REL-1)."""

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput, up to three times."""
        for _attempt in range(2):
            try:
                return super().post(payment_instrument_id, sdk_output)
            except (errors.MaybeSentError, errors.DeadlineError, errors.ApiStatusError) as error:
                if isinstance(error, errors.ApiStatusError) and error.status < 429:  # 429 and 5xx look temporary
                    raise
        return super().post(payment_instrument_id, sdk_output)


class BelievesEvery200(Good):
    """Passes on whatever a 200 holds, as the published clients do with an empty one (seen; breaks REL-6)."""

    def settle(self, call: Callable[[], ActivationData]) -> ActivationData:
        """What the call returns, or whatever came with its 200."""
        try:
            return call()
        except errors.MalformedResponseError:
            latest = self.line.attempts[-1].response
            if find_header(latest.headers, "content-encoding"):
                raise  # what cannot be unpacked is an error in any client
            return answer_in(latest)


class FollowsRedirects(Good):
    """Sends the request with all its headers to the address of a redirect (breaks REL-2)."""

    def settle(self, call: Callable[[], ActivationData]) -> ActivationData:
        """What the call returns; where it was redirected, the request goes there as well."""
        try:
            return call()
        except errors.ApiStatusError:
            latest = self.line.attempts[-1]
            location = find_header(latest.response.headers, "location")
            if location is not None:
                sent = replace(latest.request, target=location)
                self.line.note(m.RedirectFollowed(location, sent.header("x-api-key") is not None))
            raise  # no server answers at an address that cannot exist


def waits_30_s(line: Network) -> ActivationDataClient:
    """The limits of the published clients (seen): 30 s for each step, and one attempt."""
    limits = Timeouts(connect=30.0, read=30.0, write=30.0, pool=30.0, get=60.0)
    return client(line, deadline=60.0, timeouts=limits, retries=ONE_ATTEMPT)


@dataclass(frozen=True, slots=True)
class BackEndKind:
    """One kind of back end.

    Attributes:
        sentence: what it does.
        breaks: the id of the rule that it breaks; empty for the good one.
        make: makes its client over a line.
    """

    sentence: str
    breaks: str
    make: Callable[[Network], ActivationDataApi]


# Each back end by its name, the good one first.
BACK_ENDS: Mapping[str, BackEndKind] = {
    "good": BackEndKind("Asks a GET up to 3 times within 8 s; posts once; refuses a 200 without sdkInput.", "", Good),
    "gives up at once": BackEndKind("As good, but never asks a GET again.", "", lambda line: Good(line, ONE_ATTEMPT)),
    "sends the POST again": BackEndKind(
        "Treats a POST like a GET: sends it up to 3 times.", "REL-1", SendsThePostAgain
    ),
    "believes every 200": BackEndKind("Passes on whatever a 200 holds (seen).", "REL-6", BelievesEvery200),
    "waits 30 s": BackEndKind("Waits 30 s, the default of the published clients (seen).", "REL-5", waits_30_s),
    "follows redirects": BackEndKind("Sends its request, with the key, to any redirect.", "REL-2", FollowsRedirects),
}


# A back end of the integrator's own: a class, made anew for each run.


class OwnBackEnd:
    """A back end of the integrator's own, in front of the simulated service.

    Args:
        kind: a class as `check_back_end` wants it.
        line: what lies between it and the API.
    """

    def __init__(self, kind: Any, line: Network) -> None:
        self._line = line
        if _is_relay(kind):
            import httpx

            from workbook.simulation.transport import SimulatedTransport

            transport, session = SimulatedTransport(line, pause=line.pause), "the session of the app"

            class Simulated(kind):  # type: ignore[misc]  # the integrator's class
                def client(self) -> httpx.Client:
                    return httpx.Client(transport=transport)

            relay = Simulated(ORIGIN, SIMULATED_KEY, {session: [*INSTRUMENT_IDS]})
            self._get = lambda card: relay.activation_data(session, card)
            self._post = lambda card, sdk_output: relay.provision(session, card, sdk_output)
        else:
            back_end = kind(client(line, retries=ONE_ATTEMPT))
            self._get, self._post = back_end.get, back_end.post

    def get(self, payment_instrument_id: str) -> ActivationData:
        """What it makes of a GET."""
        return self._ask("get", self._get, payment_instrument_id)

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """What it makes of a POST; it is given the sdkOutput as the app sends it, as text."""
        return self._ask("post", self._post, payment_instrument_id, sdk_output.text)

    def _ask(self, name: str, call: Callable[..., Any], *given: str) -> ActivationData:
        """The sdkInput that it returned; whatever else comes of the call is said in the run's trace."""
        try:
            sleep, seconds = self._line.clock.sleep, Options().deadline
            value = call_watched(name, self._line.note, _call_to_its_end, call, *given, spend=sleep, seconds=seconds)
        except Exception as error:  # noqa: BLE001  # not our code
            raise BackEndFailed(exception_words(error)) from None
        if isinstance(value, errors.WorkbookError):
            raise value
        if isinstance(value, ActivationData):
            return value
        if isinstance(value, SdkInput | str):
            return ActivationData(value if isinstance(value, SdkInput) else SdkInput(value))
        what = "nothing" if value is None else type(value).__name__
        refused = f"refuses its app's call: {getattr(value, 'status', '')} {getattr(value, 'sentence', '')}"
        ending = refused if isinstance(value, Exception) else f"returns {what}, which is no sdkInput."
        self._line.note(m.Noted(f"The back end {ending}"))
        raise BackEndFailed(what)


def _call_to_its_end(call: Callable[..., Any], *given: str) -> Any:
    """What the call returned, or what it raised on purpose: a refusal with a sentence for the app, or the API's error.

    Neither is a defect of its code, so neither is reported as one.
    """
    try:
        return run_to_end(call, *given)
    except errors.WorkbookError as error:
        return error
    except Exception as error:
        if not hasattr(error, "sentence"):
            raise
        return error


def check_back_end(kind: object) -> None:
    """Make sure that this is the name of a back end, or a class that can be one.

    A class takes the API's client and has `get(payment_instrument_id)` and `post(payment_instrument_id, sdk_output)`,
    which return the answer's sdkInput; or it extends `wb.Relay`.

    Raises:
        ParameterError: it is neither.
    """
    if isinstance(kind, str):
        choice("back end", kind, BACK_ENDS)
    elif not isinstance(kind, type):
        raise errors.ParameterError(
            f"back_end is {quoted(kind)}. Give a name, or your class itself, not an object of it."
        )
    elif not _is_relay(kind):
        owner = f"back_end: {kind.__name__}"
        check_callable(kind, owner, "__init__", ("api",))
        for name, more in (("get", ()), ("post", ("sdk_output",))):
            check_callable(getattr(kind, name, None), owner, name, ("self", "payment_instrument_id", *more))


def _is_relay(kind: object) -> bool:
    return callable(getattr(kind, "activation_data", None)) and callable(getattr(kind, "provision", None))


def back_end_over(kind: Any, line: Network) -> WatchedBackEnd:
    """The back end of this name or class over a line."""
    return WatchedBackEnd(BACK_ENDS[kind].make(line) if isinstance(kind, str) else OwnBackEnd(kind, line), line)
