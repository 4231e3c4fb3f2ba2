"""How an answer travels: at once and whole, or as a fault has it. Data only; whoever has a socket carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum, unique


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


AT_ONCE = Wire()
"""As a good server answers."""
