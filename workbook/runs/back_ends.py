"""Back ends to compare: the good one, and those that make one mistake each.

Each is a real configuration of the client, or a small class around it. None is made for a certain fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.api.exchange import RetryPolicy, Timeouts
from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData, find_header
from workbook.base.values import choice, quoted
from workbook.errors import (
    ApiStatusError,
    DeadlineError,
    MalformedResponseError,
    MaybeSentError,
    ParameterError,
    WorkbookError,
)
from workbook.flows import messages as m
from workbook.runs.back_end import ActivationDataApi
from workbook.runs.network import BackEndFailed, Network, WatchedBackEnd, sdk_input_in
from workbook.runs.own_code import check_callable, completed, exception_words, watched
from workbook.simulation.service import ORIGIN
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY

if TYPE_CHECKING:  # httpx is loaded when a client is made: whoever opens a session would wait for it
    from workbook.api.client import ActivationDataClient

# The limits nest, from short to long (REL-5; the figures are assumed): one answer, the back end's whole call, the
# app's own wait for its back end (`extension.handler.BACK_END_WAIT`), the wallet's 20 s. Whoever gives up before the
# shorter limit has ended does not know what became of the call (REL-1). The wallet's 20 s cover two calls of the
# extension, a GET and a POST, so twice the app's wait must be less than 20 s.

CALL_DEADLINE = 8.0
"""Seconds of the good back end for one call, retries included."""
GET_READ, POST_READ = 3.0, 7.0
"""Seconds that it waits for one answer: a GET can be asked again, so it waits less; a POST has this one chance."""
ONE_ATTEMPT = RetryPolicy(attempts=1)


def client(line: Network, **limits: Any) -> ActivationDataClient:
    """A client in front of the simulated service, on the line's virtual time."""
    from workbook.api.client import ActivationDataClient
    from workbook.simulation.transport import SimulatedTransport

    transport = SimulatedTransport(line, pause=line.pause)
    chance = Random(7)  # noqa: S311  # jitter is no secret
    return ActivationDataClient(
        base_url=ORIGIN, api_key=SIMULATED_KEY, transport=transport, clock=line.clock, random=chance, **limits
    )


class Good:
    """Repeats a GET that may be repeated, posts once, and ends before the wallet stops waiting.

    A back end that makes a mistake about answers overrides `settle`, which makes each call.

    Attributes:
        line: what lies between it and the API.
    """

    def __init__(self, line: Network, retries: RetryPolicy | None = None) -> None:
        self.line = line
        self._get = client(line, deadline=CALL_DEADLINE, timeouts=Timeouts(read=GET_READ), retries=retries)
        self._post = self._get.with_options(timeouts=Timeouts(read=POST_READ))

    def get(self, payment_instrument_id: str) -> ActivationData:
        """Read activation data; the client asks again where that can help."""
        return self.settle(lambda: self._get.get(payment_instrument_id))

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """Exchange an sdkOutput; the client does not send it again (REL-1)."""
        return self.settle(lambda: self._post.post(payment_instrument_id, sdk_output))

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
            except (MaybeSentError, DeadlineError, ApiStatusError) as error:
                if isinstance(error, ApiStatusError) and error.status < 429:  # 429 and 5xx look temporary
                    raise
        return super().post(payment_instrument_id, sdk_output)


class BelievesEvery200(Good):
    """Passes on whatever a 200 holds, as the published clients do with an empty one (seen; breaks REL-6)."""

    def settle(self, call: Callable[[], ActivationData]) -> ActivationData:
        """What the call returns, or whatever came with its 200."""
        try:
            return call()
        except MalformedResponseError:
            latest = self.line.attempts[-1].response
            if find_header(latest.headers, "content-encoding"):
                raise  # what cannot be unpacked is an error in any client
            return ActivationData(sdk_input_in(latest))


class FollowsRedirects(Good):
    """Sends the request with all its headers to the address of a redirect (breaks REL-2)."""

    def settle(self, call: Callable[[], ActivationData]) -> ActivationData:
        """What the call returns; where it was redirected, the request goes there as well."""
        try:
            return call()
        except ApiStatusError:
            latest = self.line.attempts[-1]
            location = find_header(latest.response.headers, "location")
            if location is not None:
                sent = replace(latest.request, target=location)
                self.line.note(m.RedirectFollowed(location, sent.header("x-api-key") is not None))
            raise  # no server answers at an address that cannot exist


def waits_30_s(line: Network) -> ActivationDataClient:
    """The limits of the published clients (seen): 30 s for each step, and one attempt."""
    limits = Timeouts(connect=30.0, read=30.0, write=30.0, pool=30.0)
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


BACK_ENDS: Mapping[str, BackEndKind] = MappingProxyType({
    "good": BackEndKind(
        f"Asks a GET up to 3 times within {CALL_DEADLINE:g} s; posts once; refuses a 200 without sdkInput.", "", Good
    ),
    "gives up at once": BackEndKind("As good, but never asks a GET again.", "", lambda line: Good(line, ONE_ATTEMPT)),
    "sends the POST again": BackEndKind(
        "Treats a POST like a GET: sends it up to 3 times.", "REL-1", SendsThePostAgain
    ),
    "believes every 200": BackEndKind("Passes on whatever a 200 holds (seen).", "REL-6", BelievesEvery200),
    "waits 30 s": BackEndKind("Waits 30 s, the default of the published clients (seen).", "REL-5", waits_30_s),
    "follows redirects": BackEndKind("Sends its request, with the key, to any redirect.", "REL-2", FollowsRedirects),
})  # fmt: skip
"""Each back end by its name, the good one first."""


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
            from workbook.api.net import httpx
            from workbook.simulation.transport import SimulatedTransport

            transport = SimulatedTransport(line, pause=line.pause)
            simulated = {"client": lambda _self: httpx.Client(transport=transport)}
            session = "the session of the app"
            relay = type(kind.__name__, (kind,), simulated)(ORIGIN, SIMULATED_KEY, {session: [*INSTRUMENT_IDS]})
            self._get = lambda card: relay.activation_data(session, card)
            self._post = lambda card, sdk_output: relay.provision(session, card, sdk_output)
        else:
            own = kind(client(line, deadline=CALL_DEADLINE, timeouts=Timeouts(read=POST_READ), retries=ONE_ATTEMPT))
            self._get, self._post = own.get, own.post

    def get(self, payment_instrument_id: str) -> ActivationData:
        """What it makes of a GET."""
        return self._answered("get", self._get, payment_instrument_id)

    def post(self, payment_instrument_id: str, sdk_output: SdkOutput) -> ActivationData:
        """What it makes of a POST; it is given the sdkOutput as the app sends it, as text."""
        return self._answered("post", self._post, payment_instrument_id, sdk_output.text)

    def _answered(self, name: str, call: Callable[..., Any], *given: str) -> ActivationData:
        """The sdkInput that it returned; whatever else comes of the call is said in the run's trace."""
        try:
            with watched(name, self._line.note):
                value = _ended(call, *given)
        except Exception as error:  # noqa: BLE001  # not our code
            raise BackEndFailed(exception_words(error)) from None
        if isinstance(value, WorkbookError):
            raise value
        if isinstance(value, ActivationData):
            return value
        if isinstance(value, SdkInput | str):
            return ActivationData(value if isinstance(value, SdkInput) else SdkInput(value))
        what = "nothing" if value is None else type(value).__name__
        refused = f"refuses its app's call: {getattr(value, 'status', '')} {getattr(value, 'sentence', '')}"
        said = refused if isinstance(value, Exception) else f"returns {what}, which is no sdkInput."
        self._line.note(m.Noted(f"The back end {said}"))
        raise BackEndFailed(what)


def _ended(call: Callable[..., Any], *given: str) -> Any:
    """What the call returned, or what it raised on purpose: a refusal with a sentence for the app, or the API's error.

    Neither is a defect of its code, so neither is reported as one.
    """
    try:
        return completed(call, *given)
    except WorkbookError as error:
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
        raise ParameterError(f"back_end is {quoted(kind)}. Give a name, or your class itself, not an object of it.")
    elif not _is_relay(kind):
        owner = f"back_end: {kind.__name__}"
        check_callable(kind, owner, "__init__", ("api",))
        for name, more in (("get", ()), ("post", ("sdk_output",))):
            arguments = ("self", "payment_instrument_id", *more)
            check_callable(getattr(kind, name, None), owner, name, arguments)


def _is_relay(kind: object) -> bool:
    return callable(getattr(kind, "activation_data", None)) and callable(getattr(kind, "provision", None))


def back_end_over(kind: Any, line: Network) -> WatchedBackEnd:
    """The back end of this name or class over a line."""
    return WatchedBackEnd(BACK_ENDS[kind].make(line) if isinstance(kind, str) else OwnBackEnd(kind, line), line)
