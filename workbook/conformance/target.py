"""The integrator's back end as the phone sees it: where its two operations are, and how values stand in them.

The document says nothing of this side: it is the integrator's own, so all of it is configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from workbook.conformance.adapter import Adapter
    from workbook.conformance.case import Group

PLATFORMS = ("platform A", "platform B")
CALLS_PYTHON = "python:"
"""How the name of a back end begins that an adapter calls."""
RAW = "raw"
"""Instead of a JSON pointer: the body is the value itself."""
BOUND = 20.0
"""Seconds that the wallet waits (wallet); an answer that comes later is none."""
RECOVERY = 0.05
"""Seconds in which it is noticed that a kept connection is gone; a circuit breaker takes longer."""
BY_STATUS, IN_BODY = "status", "body"
"""How a back end tells a failure: with a status that is no success, or with a field of the answer's body."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the back end's two operations.

    Attributes:
        method: such as POST.
        path: below the base URL; `{id}` stands for the payment instrument id, percent-encoded.
        id: a JSON pointer to where the id stands in the request's body; None where it stands in the path.
        sdk_output: a JSON pointer, or `raw`; None for the operation that takes none.
        sdk_input: a JSON pointer into the answer, or `raw`.
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
        get: hands out the GET's sdkInput.
        post: exchanges an sdkOutput for the POST's sdkInput.
        decoded: the app gets and sends the bytes themselves, as a raw body, instead of the API's base64 text; only on
            platform B, and only with `raw`.
        headers: sent with each call, values without secrets in repr.
    """

    get: Operation
    post: Operation
    decoded: bool = False
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)


CALLED = Surface(Operation("GET", ""), Operation("POST", ""))
"""The surface of a back end that an adapter calls: it has no paths."""


@dataclass(frozen=True, slots=True)
class Cardholder:
    """Somebody with cards and a session.

    Attributes:
        name: for reports.
        cards: the ids of their payment instruments, as the back end knows them.
        session: the headers that present their session; empty where the back end knows none.
    """

    name: str
    cards: tuple[str, ...]
    session: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Target:
    """The back end under test.

    Attributes:
        base_url: its own, without a slash at the end.
        surfaces: what it offers each platform's app.
        cardholders: at least one.
        status: answers the extension's status() from what is there, without any call of the API; None where the back
            end has no part in that.
        bound: seconds within which an answer has to come.
        logs: files that it writes, to be scanned.
        without: groups of cases that are left out.
        adapter: calls the back end instead of HTTP; `base_url` then only names it.
        ca_file: certificates that are trusted besides those that this machine trusts, where the back end speaks TLS.
        recovery: seconds after a fault of the API within which the back end need not work again.
        failures: how the back end tells the app of a failure: by the `status`, or in the `body` of any answer.
    """

    base_url: str
    surfaces: Mapping[str, Surface]
    cardholders: tuple[Cardholder, ...]
    status: Operation | None = None
    bound: float = BOUND
    logs: tuple[Path, ...] = ()
    without: frozenset[Group] = frozenset()
    adapter: Adapter | None = field(default=None, repr=False)
    ca_file: Path | None = None
    recovery: float = RECOVERY
    failures: str = BY_STATUS

    @property
    def over_http(self) -> bool:
        """Whether it is reached over HTTP; an adapter may be named and not be loaded yet."""
        return self.adapter is None and not self.base_url.startswith(CALLS_PYTHON)

    @property
    def answers_status(self) -> bool:
        """Whether it has a part in the extension's status()."""
        return self.status is not None or callable(getattr(self.adapter, "status", None))

    def session_secrets(self) -> tuple[str, ...]:
        """Everything that a report must not hold."""
        sessions = (value for one in self.cardholders for _name, value in one.session)
        headers = (value for surface in self.surfaces.values() for _name, value in surface.headers)
        return (*sessions, *headers)
