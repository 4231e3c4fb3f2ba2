"""What the sync and the async client have in common: settings, options, and the making and closing of a call."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import replace
from random import Random
from threading import Lock
from typing import TYPE_CHECKING, Generic, Self, TypedDict, TypeVar, Unpack

from workbook.api.exchange import exchange
from workbook.api.options import Clock, Options, SystemClock, Timeouts
from workbook.api.protocol import Settings
from workbook.api.retry import RetryBudget, RetryPolicy
from workbook.api.secret import MISSING, Secret, guard_logs
from workbook.errors import ConfigurationError, did_you_mean

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Generator

    from workbook.api.exchange import Outcome, Step
    from workbook.api.protocol import ActivationData, Request

__all__ = ["BaseClient", "Changes", "Shared"]

T = TypeVar("T")  # the transport: sync or async


class Changes(TypedDict, total=False):
    """What `with_options` can change."""

    timeouts: Timeouts
    deadline: float
    max_body: int
    retries: RetryPolicy


class Shared(Generic[T]):
    """What a client and all derived from it have in common: connections, budget, time and chance."""

    def __init__(self, transport: T | None, build: Callable[[], T], clock: Clock | None, random: Random | None) -> None:
        self.foreign = transport is not None
        self.opened: T | None = transport
        self.closed = False
        self.clock: Clock = clock or SystemClock()
        self.random = random or Random()  # noqa: S311 - jitter is no secret
        self.budget = RetryBudget()
        self._build = build
        self._lock = Lock()

    def transport(self) -> T:
        """The transport, built when it is first needed: reading the trust store takes 17 ms."""
        if self.opened is None:
            with self._lock:
                if self.opened is None:
                    self.opened = self._build()
        return self.opened


class BaseClient(ABC, Generic[T]):
    """Settings, options and the making of a call: whatever is the same in both clients."""

    _needs = ""

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        transport: T | None = None,
        tls: ssl.SSLContext | None = None,
        timeouts: Timeouts | None = None,
        deadline: float = 15.0,
        max_body: int = 1_048_576,
        retries: RetryPolicy | None = None,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        secret = Secret(os.environ.get("WORKBOOK_API_KEY") if api_key is None else api_key)
        del api_key  # a traceback shows a frame's variables
        self._settings = Settings(_or_environment(base_url, secret), secret)
        self._options = Options(timeouts or Timeouts(), deadline, max_body, retries or RetryPolicy())
        if transport is not None and not hasattr(transport, self._needs):
            message = f"transport is a {type(transport).__name__}. Allowed: an httpx transport with {self._needs}."
            raise ConfigurationError(message)
        self._shared: Shared[T] = Shared(transport, lambda: self._build(tls), clock, random)
        self._owner, self._closed = True, False
        guard_logs()

    def with_options(self, **changes: Unpack[Changes]) -> Self:
        """The same client with other limits; connections and retry budget are shared, and closing it closes neither.

        Args:
            changes: any of timeouts, deadline, max_body and retries.

        Raises:
            ConfigurationError: a name is unknown, or a value is not allowed.
        """
        for name in changes:
            if name not in Changes.__annotations__:
                message = f"with_options cannot change {name!r}. {did_you_mean(name, Changes.__annotations__)}"
                raise ConfigurationError(message)
        derived = object.__new__(type(self))
        derived._settings, derived._shared = self._settings, self._shared
        derived._options = replace(self._options, **changes)
        derived._owner, derived._closed = False, self._closed
        return derived

    def __repr__(self) -> str:
        # Tracebacks with local variables also print a client whose settings were refused.
        settings = getattr(self, "_settings", None)
        return f"{type(self).__name__}(base_url={settings.base_url!r})" if settings else f"{type(self).__name__}(...)"

    @abstractmethod
    def _build(self, tls: ssl.SSLContext | None) -> T:
        """Make the transport that is used when the caller brings none."""

    def _begin(self, request: Request) -> Generator[Step, Outcome, ActivationData]:
        if self._closed or self._shared.closed:
            message = f"This {type(self).__name__} is closed. Make a new one, or call before it is closed."
            raise ConfigurationError(message)
        shared = self._shared
        return exchange(
            request,
            self._options,
            self._settings.secret,
            now=shared.clock.now,
            random=shared.random,
            budget=shared.budget,
        )

    def _end(self) -> T | None:
        """Close this client; gives back the transport when that is to be closed too, once."""
        first = self._owner and not self._closed
        self._closed = True
        self._shared.closed |= first
        return self._shared.opened if first else None


def _or_environment(base_url: str | None, secret: Secret) -> str:
    """The address; where it is missing, a missing key is named along with it."""
    found = os.environ.get("WORKBOOK_BASE_URL") if base_url is None else base_url
    if found:
        return found
    key = f" {MISSING}" if secret.missing else ""
    raise ConfigurationError(f"No base address is given. Set WORKBOOK_BASE_URL or pass base_url.{key}")
