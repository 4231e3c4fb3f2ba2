"""What arrives at the simulated API and what is answered: plain data, without a socket.

Headers hold the API key, so neither they nor a body are ever printed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum, unique
from http import HTTPStatus
from typing import Literal, Protocol, TypeAlias

Headers: TypeAlias = tuple[tuple[str, str], ...]
# The method of an operation.
Method = Literal["GET", "POST"]

# How an answer travels: at once and complete, or as a fault makes it. It is data; the server or transport carries it
# out.
#
# `framing` and `pieces` say what a peer gets of a body, so a real socket and a client in the same process agree
# about every byte before the connection breaks.


def header_values(headers: Iterable[tuple[str, str]], name: str) -> list[str]:
    """Every value of the header with this name, given in small letters."""
    return [value for header, value in headers if header.lower() == name]


# The phrase of each registered status code. RFC 9110 renamed four; Python 3.13 follows.
PHRASES = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}


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


# What a client takes for a whole answer (measured with raw sockets).
LOOKS_WHOLE = frozenset({Ending.WHOLE, Ending.WRONG_LENGTH})
# Not a byte of the answer leaves.
UNANSWERED = frozenset({Ending.RESET, Ending.CLOSED})


@dataclass(frozen=True, slots=True)
class Wire:
    """How one answer travels (all of it assumed: the document shows no fault).

    Attributes:
        before_headers: seconds until the first byte.
        after_headers: seconds between the headers and the body.
        every: seconds between two bytes of the body; 0 sends it at once.
        ending: how it ends; a reset or a close comes instead of any byte.
        chunked: the body travels in chunks, without a content-length, as gateways send it.
    """

    before_headers: float = 0.0
    after_headers: float = 0.0
    every: float = 0.0
    ending: Ending = Ending.WHOLE
    chunked: bool = False

    @property
    def in_chunks(self) -> bool:
        """Whether the body travels in chunks: as a gateway sends it, or because the ending needs one."""
        return self.chunked or self.ending in (Ending.NO_LAST_CHUNK, Ending.BAD_CHUNK)

    def framing(self, body: bytes) -> tuple[str, str]:
        """The header that says where the body ends, true or not."""
        if self.in_chunks:
            return "transfer-encoding", "chunked"
        return "content-length", str(half(body) if self.ending is Ending.WRONG_LENGTH else len(body))

    def pieces(self, body: bytes) -> Iterator[tuple[float, bytes]]:
        """What can be read of the body, piece by piece, each with the seconds that pass before it."""
        halved = self.ending in (Ending.TRUNCATED, Ending.BAD_CHUNK, Ending.WRONG_LENGTH)
        readable = body[: half(body)] if halved else body
        size = 1 if self.every else max(1, len(readable))
        wait = self.after_headers
        for start in range(0, len(readable), size):
            yield wait, readable[start : start + size]
            wait = self.every


# As a good server answers.
AT_ONCE = Wire()


def half(body: bytes) -> int:
    """Where a body is cut, in bytes from its beginning."""
    return len(body) // 2


BEFORE_ID = "/bcl/v2/paymentInstruments/"
AFTER_ID = "/networkTokenActivationData"
JSON_HEADERS = (("content-type", "application/json"),)
# The largest request body that is read, in bytes (assumed; the document shows no limit, GAP-2).
MAX_BODY = 1_048_576


@dataclass(frozen=True, slots=True)
class Request:
    """What arrived. `target` is the raw request target; header names come in any case; `version` is HTTP's."""

    method: str
    target: str
    headers: Headers = field(repr=False)  # one of them holds the key
    body: bytes = field(default=b"", repr=False)
    version: str = field(default="1.1", compare=False)

    def header(self, name: str) -> str | None:
        """The header's first value, by its lower-case name; None where there is none."""
        for key, value in self.headers:  # a generator would cost three times as much, on every request
            if key.lower() == name:
                return value
        return None

    def values(self, name: str) -> list[str]:
        """Every value of the header, by its lower-case name; a header may be sent twice."""
        return header_values(self.headers, name)

    @property
    def media_types(self) -> set[str]:
        """What each content-type says, without its parameters, in small letters; empty where there is none."""
        return {value.partition(";")[0].strip().lower() for value in self.values("content-type")}


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered.

    `basis` names the rules and sources that it rests on, `wire` says how it travels, and `fault` which fault was
    played, empty for none.
    """

    status: int
    headers: Headers
    body: bytes
    basis: str
    wire: Wire = AT_ONCE
    fault: str = ""


class Responder(Protocol):
    """Whatever answers requests: a service, worlds, a mock server, a lesson's single answer."""

    def respond(self, request: Request, /) -> Response:
        """The answer to `request`."""
        ...
