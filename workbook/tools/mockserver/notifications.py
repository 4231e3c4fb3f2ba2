"""What the operator tells the issuer unasked: `networkToken.created` and `.updated`, sent to the issuer's URL.

The names of the notifications, the decisions and the states of a network token are *openapi*. The rest is *assumed*:
when each is sent, that it is sent once and not signed, and its form. So every body says `simulated`, and every
notification says in a header what it rests on.
"""

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from queue import Full, Queue
from threading import Thread
from time import monotonic
from typing import Any, NamedTuple

from workbook.api.opaque import MARK
from workbook.api.protocol import wrong_url
from workbook.base.values import choice
from workbook.errors import ParameterError
from workbook.simulation.http import AFTER_ID, BASIS_HEADER, BEFORE_ID, JSON_HEADERS, Request, Response

CREATED, UPDATED = "networkToken.created", "networkToken.updated"


class Notification(NamedTuple):
    """One notification: its number, from 1, its event, and its body's bytes."""

    number: int
    event: str
    body: bytes


class Notifier:
    """Sends to one URL, one notification after the other, on a thread of its own; close it.

    Args:
        url: the integrator's own; it is never logged, because it may hold a secret.
        log: is called with a line for each delivery.
        seconds: for a whole delivery, from looking up the name to the status of the answer (assumed).

    Raises:
        ParameterError: it is no such URL.
    """

    def __init__(self, url: str, log: Callable[[str], None] = lambda _line: None, *, seconds: float = 5.0) -> None:
        self._url, self._log, self._seconds = checked_url(url), log, seconds
        self._waiting: Queue[Notification | None] = Queue(100)  # for a slow receiver; more are not sent
        self._thread: Thread | None = None
        self._number = 0
        self._tokens: dict[str, tuple[str, str]] = {}

    def __repr__(self) -> str:
        return f"Notifier({self._number} notifications)"

    def exchanged(self, request: Request, response: Response) -> None:
        """A POST was answered with the data for the wallet: its network token was created (assumed)."""
        target = request.target.partition("?")[0]
        whole = target.startswith(BEFORE_ID) and target.endswith(AFTER_ID)
        if request.method == "POST" and response.status == 200 and whole:
            self.notify(CREATED, target.removeprefix(BEFORE_ID).removesuffix(AFTER_ID))

    def notify(self, event: str, instrument: str, *, decision: str = "approved", status: str = "active") -> int:
        """Send a notification as soon as those before it are sent; returns its number.

        Args:
            event: `CREATED` or `UPDATED`.
            instrument: the id of the payment instrument; `created` makes a network token for it, `updated` has the
                latest one's id.
            decision: approved, declined, requiresAuthentication, or requireAuthentication, as one page spells it: a
                receiver takes both (openapi).
            status: of the network token: active, inactive, suspended or closed.

        Raises:
            ParameterError: a word is none of these, or the token is closed, which is final (openapi).
        """
        decisions = ("approved", "declined", "requiresAuthentication", "requireAuthentication")
        choice("The notification", event, (CREATED, UPDATED))
        choice("The decision", decision, decisions)
        choice("The status", status, ("active", "inactive", "suspended", "closed"))
        if not isinstance(instrument, str) or not 0 < len(instrument) <= 200:
            raise ParameterError("A payment instrument's id is a text of 1 to 200 characters.")
        token, before = self._tokens.get(instrument, ("", ""))
        if event == UPDATED and before == "closed":
            raise ParameterError("The network token is closed, which is final. Create another: networkToken.created.")
        self._number += 1
        if event == CREATED or not token:
            token = f"NTSIMULATED{blake2b(f'{instrument} {self._number}'.encode(), digest_size=7).hexdigest().upper()}"
        self._tokens[instrument] = token, status
        body = {"simulated": MARK, "number": self._number, "event": event, "decision": decision,
                "paymentInstrumentId": instrument, "networkToken": {"id": token, "status": status}}  # fmt: skip
        self._put(Notification(self._number, event, json.dumps(body).encode()))
        return self._number

    def _put(self, notification: Notification) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._deliver, name="notifications", daemon=True)
            self._thread.start()
        try:
            self._waiting.put_nowait(notification)
        except Full:
            self._log(f"{notification.event} #{notification.number} not sent: {self._waiting.maxsize} wait already")

    def close(self) -> None:
        """Send what waits, for as long as one delivery may take, and a second for loading the client."""
        if self._thread is not None:
            until = monotonic() + self._seconds + 1
            with suppress(Full):
                self._waiting.put(None, timeout=self._seconds)
            self._thread.join(max(until - monotonic(), 0.0))

    def _deliver(self) -> None:
        import httpx  # loaded with the first of them

        from workbook.api.net import DeadlineTransport, Expiry

        with httpx.Client(transport=DeadlineTransport(ssl.create_default_context()), follow_redirects=False) as client:
            while (notification := self._waiting.get()) is not None:
                began = monotonic()
                basis = "event, decision, status: openapi; when it is sent, and its form: assumed"
                headers = {**dict(JSON_HEADERS), BASIS_HEADER: basis, "connection": "close"}
                try:
                    with (
                        Expiry(self._seconds),
                        client.stream("POST", self._url, content=notification.body, headers=headers) as answer,
                    ):
                        came_of_it = f"answered with {answer.status_code}"
                except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
                    came_of_it = f"no answer ({type(error).__name__})"
                milliseconds = (monotonic() - began) * 1000
                self._log(f"{notification.event} #{notification.number} {came_of_it} {milliseconds:.1f} ms")


def checked_url(url: str) -> str:
    """The URL, if notifications can be sent to it.

    Raises:
        ParameterError: they cannot. What may hold a secret is not repeated.
    """
    allowed = "an http or https URL without user, password and fragment, such as http://127.0.0.1:9000/notifications"
    plain = isinstance(url, str) and url.isascii() and url.isprintable() and "#" not in url
    if not plain or wrong_url(url.partition("?")[0].rstrip("/")):
        raise ParameterError(f"Notifications cannot be sent to that URL. Give {allowed}.")
    return url


def from_control(notifier: Notifier | None, fields: Mapping[str, Any]) -> int:
    """Send what a request of the control API asks for; returns its number.

    Raises:
        ParameterError: it names something unknown, or no URL was given.
    """
    if notifier is None:
        raise ParameterError("There is nobody to notify. Start the server with --notify URL.")
    words = {name: fields[name] for name in ("decision", "status") if name in fields}
    return notifier.notify(fields.get("event", UPDATED), fields.get("paymentInstrumentId", ""), **words)
