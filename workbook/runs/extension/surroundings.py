"""What an extension's handler works with: the storage, the back end and the wallet's library.

On a phone the system provides all three. Here the handler gets them as attributes, and each use spends time on the
clock of the call that is under way.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.base.values import is_number
from workbook.errors import ActivationDataError, DeadlineError, OpaqueDataError, ParameterError, RedactedRequest
from workbook.flows import messages as m
from workbook.runs.back_end import BackEnd
from workbook.simulation.phones import PhoneB
from workbook.simulation.sdks import current
from workbook.simulation.service import ORIGIN


class Storage:
    """The secure storage as an extension reads it (X-CACHE-1); empty when app and extension share no app group."""

    def __init__(self, phone: PhoneB) -> None:
        self._phone = phone

    def __repr__(self) -> str:
        return f"Storage({len(self._values())} sdkInputs)"

    def read(self, payment_instrument_id: str) -> bytes | None:
        """The sdkInput that the app saved for one instrument, or None."""
        return self.read_all().get(payment_instrument_id)

    def read_all(self) -> dict[str, bytes]:
        """Every sdkInput that the app saved, by its instrument."""
        values = self._values()
        current().spend(self._phone.latencies.storage)
        current().seen(m.StorageRead(len(values), out_of_reach=len(self._phone.storage.values()) - len(values)))
        return values

    def _values(self) -> dict[str, bytes]:
        return self._phone.storage.values() if self._phone.app_group_shared else {}


class Library:
    """The cards in the wallet, on the phone and on the watch; a handler does not offer them again (wallet)."""

    def __init__(self, phone: PhoneB) -> None:
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

    def __init__(self, relay: BackEnd, phone: PhoneB, gets: Iterable[float] = ()) -> None:
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
            payment_instrument_id: the card.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`.
            ActivationDataError: the API gave none.
            OpaqueDataError: what it gave is no base64.
            ParameterError: the id is no text, or `timeout` no number of seconds.
        """
        current().seen(m.BackEndAsked("GET", _id(payment_instrument_id)))
        takes = _seconds("what a GET takes", next(self.gets, self._phone.latencies.get))
        return self._exchanged(payment_instrument_id, None, takes, timeout)

    def get_all(self, payment_instrument_ids: Iterable[str], *, timeout: float | None = None) -> dict[str, bytes]:
        """One GET for each instrument, all at the same time (API-12); those that fail are left out.

        Raises:
            ParameterError: the ids are no list of texts, or `timeout` no number of seconds.
        """
        if isinstance(payment_instrument_ids, str):
            raise ParameterError("get_all takes a list of payment instrument ids; for one, call get.")
        answers: dict[str, bytes] = {}
        with current().side_by_side() as next_one:
            for instrument in payment_instrument_ids:
                next_one()
                try:
                    answers[instrument] = self.get(instrument, timeout=timeout)
                except (ActivationDataError, OpaqueDataError):
                    continue
        return answers

    def post(self, payment_instrument_id: str, sdk_output: bytes, *, timeout: float | None = None) -> bytes:
        """The POST's sdkInput (API-11).

        Args:
            payment_instrument_id: the card.
            sdk_output: what the SDK gave the delegate.
            timeout: seconds after which to give up; None waits as long as it takes.

        Raises:
            DeadlineError: it took longer than `timeout`; whether it arrived is not known (REL-1).
            ActivationDataError: the API gave none.
            OpaqueDataError: sdk_output is not bytes, or what the API gave is no base64.
            ParameterError: the id is no text, or the two came in the other order.
        """
        if isinstance(payment_instrument_id, bytes) and isinstance(sdk_output, str):
            current().seen(m.ArgumentsSwapped())
            raise ParameterError(
                "post takes (payment_instrument_id, sdk_output), and they came in the other order. The extension's "
                "delegate is given paymentInstrumentId first, the one in the app sdkOutput first (sdk-b)."
            )
        current().seen(m.BackEndAsked("POST", _id(payment_instrument_id)))
        output = SdkOutput.from_bytes(sdk_output)
        return self._exchanged(payment_instrument_id, output, self._phone.latencies.post, timeout)

    def _exchanged(self, instrument: str, output: SdkOutput | None, takes: float, timeout: float | None) -> bytes:
        """The answer's bytes.

        Raises:
            DeadlineError: it takes longer than `timeout`. A back end that times its attempts goes on all the same,
                so what happens to it later is reported too.
        """
        call, method = current(), "GET" if output is None else "POST"
        limit = None if timeout is None else _seconds("timeout", timeout)
        if limit == 0:
            raise ParameterError("timeout is a number of seconds above 0, or None; not 0.")
        if limit is not None and takes > limit and not self._relay.times_attempts:
            error = _too_late(instrument, limit, method)
            call.seen(m.ApiRequested(method, instrument))
            call.spend(limit)
            call.seen(m.ApiFailed(type(error).__name__, str(error)))
            raise error
        # The relay's own clock began at 0, so its events are moved to this call's clock. Then the call's time is set
        # back: it is spent once, below, for as long as the handler waits.
        exchange = self._relay.exchange(instrument, output)
        took, began = takes if exchange.took is None else exchange.took, call.spent
        for at, event in exchange.timeline(took):
            call.spent = round(began + at, 9)
            call.seen(event)
        call.spent = began
        if limit is not None and took > limit:
            call.spend(limit)
            call.seen(m.Noted(f"The handler gives up after {limit:g} s; the back end goes on."))
            raise _too_late(instrument, limit, method)
        call.spend(took)
        answer: Any = exchange.answer()
        return answer.data if isinstance(answer, SdkInput) else b""  # a careless back end may pass on nothing


def _id(payment_instrument_id: object) -> str:
    if not isinstance(payment_instrument_id, str):
        kind = type(payment_instrument_id).__name__
        raise ParameterError(f"A payment instrument id is text, not {kind}; mind the order of the arguments.")
    return payment_instrument_id


def _seconds(name: str, value: float) -> float:
    """A number of seconds; the error does not repeat the value, which may be opaque data in the wrong place."""
    if not is_number(value, 0.0):
        raise ParameterError(f"{name} is a number of seconds, 0 or more; this {type(value).__name__} is none.")
    return value


def _too_late(payment_instrument_id: str, timeout: float, method: str) -> DeadlineError:
    message = (
        f"The {method} took longer than {timeout:g} s. The handler gave up; whether the back end goes on is unknown."
    )
    request = RedactedRequest(method, f"{ORIGIN}/…/{payment_instrument_id}/…", 0)
    return DeadlineError(message, request=request, elapsed=timeout, attempts=1, sent=True)
