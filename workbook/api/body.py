"""The body of an answer: its size is limited while reading, and its JSON is parsed strictly."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbook.errors import ActivationDataError, MalformedResponseError, RedactedRequest, ResponseTooLargeError

# A problem is an error before its request, elapsed time and attempts are known.
#
# The pure parts return problems instead of raising. So the one place that raises is far from any frame that
# holds a body or a header, and a traceback rendered with its local variables has nothing to give away.


@dataclass(frozen=True, slots=True)
class CallProblem:
    """A kind of error, its message, and the fields that only this kind has.

    Attributes:
        kind: the error to raise.
        message: what happened, what is allowed, what to do next.
        extra: keyword arguments of the kind, beyond request, elapsed and attempts.
    """

    kind: type[ActivationDataError]
    message: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def error(self, request: RedactedRequest, elapsed: float, attempts: int) -> ActivationDataError:
        """The error itself; elapsed in seconds."""
        tries = "" if attempts == 1 else f" ({attempts} attempts)"
        message = f"{request.method} {request.url}: {self.message}{tries}"
        return self.kind(message, request=request, elapsed=elapsed, attempts=attempts, **self.extra)


class BodyReader:
    """Collects and decodes a body, and never holds more than the cap and one chunk.

    Problems are returned, not raised; after the first one the reader takes nothing more.

    Args:
        cap: most bytes of the decoded body.
        content_encoding: the header's value; identity (or nothing) and gzip are understood.
        content_length: the header's value, so that a body declared too large is not read.
    """

    __slots__ = ("_cap", "_decode", "_inflater", "_parts", "_raw", "_size", "problem")

    def __init__(self, cap: int, content_encoding: str = "", content_length: str | None = None) -> None:
        self._cap = cap
        self._parts: list[bytes] = []
        self._size = self._raw = 0
        self._inflater: Any = None  # made where there is something to inflate
        self.problem: CallProblem | None = None
        self._decode = self._keep
        encoding = content_encoding.strip().lower()
        if encoding in ("gzip", "x-gzip"):
            self._inflater = zlib.decompressobj(16 + zlib.MAX_WBITS)  # gzip alone
            self._decode = self._inflate
        elif encoding not in ("", "identity"):
            self.problem = _malformed("its content-encoding is neither identity nor gzip.")
        elif _declared(content_length) > self._cap:
            self.problem = self._too_large()

    def feed(self, chunk: bytes) -> CallProblem | None:
        """Take the next raw chunk; after a problem there is no use in reading on."""
        if self.problem is None:
            self._raw += len(chunk)
            self._decode(chunk)
            # gzip of data that does not compress is a little longer than the data: header, trailer, 5 bytes per block
            if self._size > self._cap or self._raw > self._cap + 4096:
                self.problem = self._too_large()
        return self.problem

    def finish(self) -> bytes | CallProblem:
        """The whole decoded body, or what is wrong with it."""
        if self.problem is None and self._inflater is not None and not self._inflater.eof:
            self.problem = _malformed("its gzip body is cut short.")
        return self.problem or b"".join(self._parts)

    def partial(self) -> bytes:
        """What was decoded so far, at most the cap: for an error's body."""
        return b"".join(self._parts)[: self._cap]

    def _keep(self, chunk: bytes) -> None:
        room = self._cap + 1 - self._size
        self._parts.append(chunk[:room])
        self._size += min(len(chunk), room)

    def _inflate(self, chunk: bytes) -> None:
        # One byte over the cap is enough to know; max_length keeps a bomb from ever being inflated.
        try:
            out = self._inflater.decompress(chunk, self._cap + 1 - self._size)
        except zlib.error:
            self.problem = _malformed("its gzip body cannot be decoded.")
            return
        self._parts.append(out)
        self._size += len(out)
        if self._inflater.unused_data:
            self.problem = _malformed("there is data after its gzip body.")

    def _too_large(self) -> CallProblem:
        message = f"the answer's body is larger than max_body, {self._cap} bytes."
        return CallProblem(ResponseTooLargeError, message)


def parse_object(body: bytes) -> dict[str, Any] | CallProblem:
    """Parse strict JSON: UTF-8, one object, no key twice, no NaN or Infinity, no bottomless nesting."""
    try:
        value = _PARSE(body.decode("utf-8"))
    except UnicodeDecodeError:
        return _malformed("its body is not UTF-8.")
    except RecursionError:
        return _malformed("its JSON is nested too deep.")
    except _RefusedError as refused:
        return _malformed(refused.why)
    except ValueError:  # JSONDecodeError, and an integer beyond the interpreter's digit limit
        return _malformed("its body is not JSON." if body else "its body is empty.")
    return value if isinstance(value, dict) else _malformed("its JSON is not an object.")


class _RefusedError(ValueError):
    """JSON that the standard library would let pass."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _RefusedError("its JSON has a key twice in one object.")
    return value


def _refuse(_name: str) -> Any:
    raise _RefusedError("its JSON holds NaN or Infinity.")


_PARSE = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse).decode  # json.loads makes one per call


def _malformed(what: str) -> CallProblem:
    allowed = "Expected: a JSON object that carries sdkInput (API-9). Ask the API's operator, or look for a proxy."
    return CallProblem(MalformedResponseError, f"the answer cannot be read: {what} {allowed}")


def _declared(length: str | None) -> int:
    """The declared length; 0 when there is none that can be understood."""
    if length is None or not (length.isascii() and length.isdigit()):
        return 0
    most = 18  # digits; more are beyond every cap
    return int(length) if len(length) <= most else 10**most
