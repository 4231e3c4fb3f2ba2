"""What an extension's handler finds around it: the storage, the back end and the wallet's library.

On a phone all three are reached through the system. Here they come with the handler, and what they take is time on
the clock of the call that is under way.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import contextmanager
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import ActivationDataError, DeadlineError, OpaqueDataError, ParameterError, RedactedRequest
from workbook.extension.timed import timed
from workbook.flows import messages as m
from workbook.simulation.call import current
from workbook.simulation.direct import ORIGIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbook.benches.back_end import BackEnd
    from workbook.flows.messages import Event
    from workbook.simulation.phone import Phone


class Storage:
    """The secure storage as an extension reads it (X-CACHE-1); nothing, when app and extension share no group."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def __repr__(self) -> str:
        return f"Storage({len(self._values())} sdkInputs)"

    def read(self, payment_instrument_id: str) -> bytes | None:
        """The sdkInput that the app saved for one instrument, or None."""
        return self.read_all().get(payment_instrument_id)

    def read_all(self) -> dict[str, bytes]:
        """Every sdkInput that the app saved, by its instrument."""
        values = self._values()
        current().spend(self._phone.waits.storage)
        current().seen(m.StorageRead(len(values), self._out_of_reach()))
        return values

    def _out_of_reach(self) -> int:
        """How many values the app saved where the extension cannot look."""
        return 0 if self._phone.app_group_shared else len(self._phone.storage.values())

    def _values(self) -> dict[str, bytes]:
        return self._phone.storage.values() if self._phone.app_group_shared else {}


class Library:
    """The cards in the wallet, on the phone and on the watch: not to be offered again (wallet)."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone

    def __repr__(self) -> str:
        return f"Library({len(self.on_phone)} on the phone, {len(self.on_watch)} on the watch)"

    @property
    def on_phone(self) -> frozenset[str]:
        """The instruments in the phone's wallet."""
        return frozenset(self._phone.cards)

    @property
    def on_watch(self) -> frozenset[str]:
        """The instruments in the watch's wallet."""
        return frozenset(self._phone.watch.cards if self._phone.watch else ())


class ExtensionBackEnd:
    """The issuer's back end as an extension reaches it: bytes in and bytes out (API-8, API-13).

    Attributes:
        gets: seconds that each GET takes, one after the other; when they run out, the phone's own figure.

    Raises:
        ParameterError: `gets` cannot be iterated.
    """

    def __init__(self, relay: BackEnd, phone: Phone, gets: Iterable[float] = ()) -> None:
        if not isinstance(gets, Iterable):
            raise ParameterError(f"gets is a list of seconds, one for each GET; not {type(gets).__name__}.")
        self.gets = iter(gets)
        self._relay = relay
        self._phone = phone

    def __repr__(self) -> str:
        return "ExtensionBackEnd()"

    def get(self, payment_instrument_id: str, *, timeout: float | None = None) -> bytes:
        """The GET's sdkInput for one instrument (API-12).

        Args:
            payment_instrument_id: whose.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`.
            ActivationDataError: the API gave none.
            OpaqueDataError: what it gave is no base64.
            ParameterError: the id is no text, or `timeout` no number of seconds.
        """
        current().seen(m.BackEndAsked("GET", _id(payment_instrument_id)))
        takes = _seconds("what a GET takes", next(self.gets, self._phone.waits.get))
        ask = partial(self._relay.get, payment_instrument_id)
        return self._exchanged("GET", payment_instrument_id, ask, takes, timeout)

    def get_all(self, payment_instrument_ids: Iterable[str], *, timeout: float | None = None) -> dict[str, bytes]:
        """One GET for each instrument, all at the same time (API-12); those that fail are left out.

        Raises:
            ParameterError: the ids are no list of texts, or `timeout` no number of seconds.
        """
        if isinstance(payment_instrument_ids, str):
            raise ParameterError("get_all takes a list of payment instrument ids; for one, call get.")
        with current().side_by_side() as next_one:
            found = {each: self._get_or_none(each, timeout, next_one) for each in payment_instrument_ids}
        return {each: data for each, data in found.items() if data is not None}

    def post(self, payment_instrument_id: str, sdk_output: bytes, *, timeout: float | None = None) -> bytes:
        """The POST's sdkInput (API-11).

        Args:
            payment_instrument_id: whose.
            sdk_output: what the SDK gave the delegate.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`; whether it arrived is not known (REL-1).
            ActivationDataError: the API gave none.
            OpaqueDataError: sdk_output is not bytes, or what the API gave is no base64.
            ParameterError: the id is no text, or the two came in the other order.
        """
        _not_swapped(payment_instrument_id, sdk_output)
        current().seen(m.BackEndAsked("POST", _id(payment_instrument_id)))
        output = SdkOutput.from_bytes(sdk_output)
        ask = partial(self._relay.post, payment_instrument_id, output)
        return self._exchanged("POST", payment_instrument_id, ask, self._phone.waits.post, timeout)

    def _exchanged(
        self, method: str, instrument: str, ask: Callable[[], SdkInput], takes: float, timeout: float | None
    ) -> bytes:
        """The answer's bytes, unless it takes longer than `timeout`; only a back end that times itself knows before."""
        if self._relay.at is not None:
            return self._timed(method, instrument, ask, timeout)
        if timeout is not None and takes > _positive(timeout):
            raise self._gave_up(instrument, timeout, method)
        with self._reporting(takes):
            return ask().data

    def _timed(self, method: str, instrument: str, ask: Callable[[], SdkInput], timeout: float | None) -> bytes:
        answer = timed(self._relay, ask, None if timeout is None else _positive(timeout))
        if answer is None:
            raise _too_late(instrument, timeout or 0.0, method)
        return answer.data if isinstance(answer, SdkInput) else b""  # a back end may have passed on nothing

    def _get_or_none(self, payment_instrument_id: str, timeout: float | None, next_one: Any) -> bytes | None:
        next_one()
        try:
            return self.get(payment_instrument_id, timeout=timeout)
        except (ActivationDataError, OpaqueDataError):
            return None

    @contextmanager
    def _reporting(self, takes: float) -> Iterator[None]:
        """Have the exchange reported to the call under way, and afterwards to whom it was before."""
        before, self._relay.seen = self._relay.seen, self._as_it_happens(takes)
        try:
            yield
        finally:
            self._relay.seen = before

    def _as_it_happens(self, takes: float) -> Any:
        """Report the request at once, and the answer once the exchange's time has passed."""
        call, costs = current(), self._costs(takes)

        def seen(event: Event) -> None:
            if not isinstance(event, m.ApiRequested):
                call.spend(next(costs, 0.0))
            call.seen(event)

        return seen

    def _costs(self, takes: float) -> Iterator[float]:
        """Once, however many events the answer comes to: as measured with a real API, as told otherwise."""
        yield takes if self._relay.took is None else self._relay.took

    def _gave_up(self, payment_instrument_id: str, timeout: float, method: str = "GET") -> DeadlineError:
        """The request goes out; no answer comes in time."""
        error = _too_late(payment_instrument_id, timeout, method)
        current().seen(m.ApiRequested(method, payment_instrument_id))
        current().spend(timeout)
        current().seen(m.ApiFailed(type(error).__name__, str(error)))
        return error


def _id(payment_instrument_id: object) -> str:
    if not isinstance(payment_instrument_id, str):
        kind = type(payment_instrument_id).__name__
        raise ParameterError(f"A payment instrument id is text, not {kind}; mind the order of the arguments.")
    return payment_instrument_id


def _positive(timeout: float) -> float:
    if not _seconds("timeout", timeout):
        raise ParameterError("timeout is a number of seconds above 0, or None; not 0.")
    return timeout


def _seconds(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        kind = type(value).__name__
        raise ParameterError(f"{name} is a number of seconds, 0 or more; this {kind} is none.")
    return value


def _not_swapped(payment_instrument_id: object, sdk_output: object) -> None:
    """The two delegates get the same two values in different orders (sdk-b), which is easily mixed up."""
    if isinstance(payment_instrument_id, bytes) and isinstance(sdk_output, str):
        raise ParameterError(
            "post takes (payment_instrument_id, sdk_output), and they came the other way round. The extension's "
            "delegate is given paymentInstrumentId first, the one in the app sdkOutput first (sdk-b)."
        )


def _too_late(payment_instrument_id: str, timeout: float, method: str) -> DeadlineError:
    message = f"The {method} took longer than {timeout:g} s. The handler gave up; whether it goes on is not known."
    request = RedactedRequest(method, f"{ORIGIN}/…/{payment_instrument_id}/…", 0)
    return DeadlineError(message, request=request, elapsed=timeout, attempts=1, sent=True)
