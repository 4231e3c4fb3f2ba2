"""The API's side, listening: the stand-in service at one address, and at another where a redirect would lead.

with Side(["PI1", "PI2"]) as side:
    ...  # configure a back end with side.url and side.key
"""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from workbook.conformance.line import Line
from workbook.conformance.upstream import Upstream
from workbook.simulation.world import Credential, Instrument, World

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

KEY_BYTES = 24


class Side:
    """Both addresses, for as long as the block lasts.

    Args:
        cards: ids of the payment instruments that the API knows.
        key: that the back end is given; None makes a fresh one.
        port: 0 takes any free one.
        profile: of the service.
        seed: of all that is made up.

    Attributes:
        upstream: the API.
        elsewhere: what reached the other address.
        line: where the API listens.
        other: where the other one listens.

    Raises:
        ConfigurationError: the port cannot be had.
    """

    def __init__(
        self, cards: Iterable[str], *, key: str | None = None, port: int = 0, profile: str = "spec", seed: int = 7
    ) -> None:
        self.key = key or f"KEY-{secrets.token_urlsafe(KEY_BYTES)}"
        instruments = {card: Instrument(card) for card in cards}
        world = World(instruments, {self.key: Credential()}, seed=seed, profile=profile)
        self.upstream, self.elsewhere = Upstream(world), Upstream(world)
        self.line = Line(self.upstream, port)
        self.other = Line(self.elsewhere)
        self._stack = ExitStack()

    def __repr__(self) -> str:
        return f"Side({self.url})"

    @property
    def url(self) -> str:
        """The address to configure."""
        return self.line.base_url

    def __enter__(self) -> Self:
        for line in (self.line, self.other):
            self._stack.enter_context(line)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self._stack.close()
