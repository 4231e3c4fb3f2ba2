"""How an answer travels: at once and whole, or as a fault has it. Data only; whoever has a socket carries it out.

What a peer gets of a body follows from it (`framing`, `pieces`), so a real socket and a client in the same
process agree about every byte before the breach.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@unique
class Ending(StrEnum):
    """How the bytes of an answer end."""

    WHOLE = "whole"
    RESET = "reset"
    CLOSED = "closed"
    TRUNCATED = "truncated"
    NO_LAST_CHUNK = "no last chunk"
    BAD_CHUNK = "bad chunk"
    WRONG_LENGTH = "wrong content-length"


UNANSWERED = frozenset({Ending.RESET, Ending.CLOSED})
"""Not a byte of the answer leaves."""
CHUNKED = frozenset({Ending.NO_LAST_CHUNK, Ending.BAD_CHUNK})
"""The body travels in chunks, without a content-length."""
HALVED = frozenset({Ending.TRUNCATED, Ending.BAD_CHUNK, Ending.WRONG_LENGTH})
"""Only the first half of the body belongs to what a peer can read."""


@dataclass(frozen=True, slots=True)
class Wire:
    """How one answer travels (all of it assumed: the document shows no fault).

    Attributes:
        before_headers: seconds until the first byte.
        after_headers: seconds between the headers and the body.
        every: seconds between two bytes of the body; 0 sends it at once.
        ending: how it ends; a reset or a close comes instead of any byte.
    """

    before_headers: float = 0.0
    after_headers: float = 0.0
    every: float = 0.0
    ending: Ending = Ending.WHOLE

    def framing(self, body: bytes) -> tuple[str, str]:
        """The header that says where the body ends, true or not."""
        if self.ending in CHUNKED:
            return "transfer-encoding", "chunked"
        return "content-length", str(half(body) if self.ending is Ending.WRONG_LENGTH else len(body))

    def pieces(self, body: bytes) -> Iterator[tuple[float, bytes]]:
        """What can be read of the body, piece by piece, each with the seconds that pass before it."""
        readable = body[: half(body)] if self.ending in HALVED else body
        size = 1 if self.every else max(1, len(readable))
        wait = self.after_headers
        for start in range(0, len(readable), size):
            yield wait, readable[start : start + size]
            wait = self.every


AT_ONCE = Wire()
"""As a good server answers."""


def half(body: bytes) -> int:
    """Where a body is cut, in bytes from its beginning."""
    return len(body) // 2
