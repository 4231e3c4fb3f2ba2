"""`SdkInput` and `SdkOutput`: the opaque values that a back end relays.

Both hold the very string that stands in JSON. Platform A uses that text untouched (API-7); on platform B the
text is base64 and the SDK takes the bytes (API-8). Mixing the two up is the classic invalid input.

Nothing that prints shows the value (REL-3): data that the simulator marked as its own is described in words,
all other data by its length and a digest that differs in every process.
"""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self, final

from workbook.api.layers import LAYERS, decode_strictly, diagnose, json_object
from workbook.errors import OpaqueDataError

__all__ = ["LAYERS", "SIMULATED_PREFIX", "Opaque", "SdkInput", "SdkOutput", "diagnose"]

_MARK = b'{"simulated":'
# Base64 carries three bytes in four characters, so only a prefix of whole groups stays the same.
SIMULATED_PREFIX = base64.b64encode(_MARK[: len(_MARK) // 3 * 3]).decode("ascii")

_SALT = secrets.token_bytes(16)  # per process: a digest in a log can be compared within a run, never looked up
_WORD = re.compile(r"[A-Za-z0-9 ._-]{1,40}\Z")
_JSON_NAMES = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
_LARGEST_SERIAL = 1_000_000_000


@dataclass(frozen=True, slots=True, repr=False)
class Opaque:
    """The common part of `SdkInput` and `SdkOutput`; build one of those.

    Attributes:
        text: the string in JSON, and what platform A uses, byte for byte (API-7).

    Raises:
        OpaqueDataError: the text is not a string, empty, or cannot be written as UTF-8.
    """

    text: str

    def __post_init__(self) -> None:
        text = self.text
        if not isinstance(text, str):
            raise self._error("not-text", f"is {_json_name(text)}, not a string")
        if not text:
            raise self._error("empty", "is empty")
        if not text.isascii() and diagnose(text) == "not-text":
            raise self._error("not-text", "holds half a surrogate pair, which is no text")

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Take a value out of parsed JSON: a non-empty string, and nothing else.

        Raises:
            OpaqueDataError: says what stood there instead.
        """
        return cls(value)  # type: ignore[arg-type]  # the constructor is the check

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Encode platform B's bytes as canonical base64 text (API-8).

        Raises:
            OpaqueDataError: the data is not bytes, or empty.
        """
        if not isinstance(data, bytes | bytearray | memoryview):
            message = f"{cls.__name__}.from_bytes takes bytes, not {type(data).__name__}."
            raise OpaqueDataError(message, layer="not-text")
        return cls(base64.b64encode(data).decode("ascii"))

    @property
    def data(self) -> bytes:
        """The bytes that platform B uses: the text, strictly base64-decoded (API-8).

        Raises:
            OpaqueDataError: the text is not canonical base64; `layer` says why.
        """
        data = decode_strictly(self.text)
        if data is None:
            raise self._error(diagnose(self.text) or "alphabet", "is not canonical base64 text")
        return data

    def check(self, *, expect_json: bool = False) -> Self:
        """Look for every wrong layer, also for those that a strict decoder lets pass.

        Args:
            expect_json: also ask for a JSON object inside (field notes, section 2).

        Raises:
            OpaqueDataError: `layer` names what is wrong.
        """
        layer = diagnose(self.text, expect_json=expect_json)
        if layer is not None:
            raise self._error(layer, "has a layer too many or too few")
        return self

    @property
    def is_simulated(self) -> bool:
        """Whether the simulator marked this data as its own: then it may be shown."""
        return self.text.startswith(SIMULATED_PREFIX)

    def summary(self) -> dict[str, object]:
        """What a log may hold: the mark and its fields for simulated data, else length and digest (REL-3)."""
        if self.is_simulated:
            return {"simulated": True, **self._details(), "length": len(self.text)}
        return {"length": len(self.text), "digest": self._digest()}

    def __repr__(self) -> str:
        if not isinstance(self.text, str):  # refused, and yet printed by tracebacks with local variables
            return f"{type(self).__name__}(...)"
        size = f"{len(self.text)} characters"
        if not self.is_simulated:
            return f"{type(self).__name__}({size}, digest {self._digest()})"
        details = self._details()
        words = ["SIMULATED", details.get("kind"), _prefixed("#", details.get("serial"))]
        words.append(_prefixed("for ", details.get("paymentInstrumentId")))
        return f"{type(self).__name__}({' '.join(str(word) for word in words if word)}, {size})"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def _digest(self) -> str:
        return blake2b(self.text.encode("utf-8", "surrogatepass"), key=_SALT, digest_size=4).hexdigest()

    def _details(self) -> dict[str, object]:
        """The simulator's own fields, as far as they are there and harmless to print."""
        fields = json_object(decode_strictly(self.text) or b"") or {}
        known = {name: fields.get(name) for name in ("kind", "serial", "paymentInstrumentId")}
        return {name: value for name, value in known.items() if _printable(value)}

    def _error(self, layer: str, what: str) -> OpaqueDataError:
        return OpaqueDataError(f"{type(self).__name__} {what} ({layer}). {LAYERS[layer]}", layer=layer)


@final
@dataclass(frozen=True, slots=True, repr=False)
class SdkInput(Opaque):
    """What the API answers and the SDK is given; the POST's is also called OPC data."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class SdkOutput(Opaque):
    """What the SDK makes and the back end posts (API-2, API-6)."""


def _printable(value: object) -> bool:
    """Whether a field of marked data is short and plain enough to print; the mark alone is no proof."""
    if isinstance(value, str):
        return _WORD.match(value) is not None
    return type(value) is int and 0 <= value <= _LARGEST_SERIAL


def _prefixed(prefix: str, value: object) -> str:
    return "" if value is None else f"{prefix}{value}"


def _json_name(value: object) -> str:
    return _JSON_NAMES.get(type(value), "an object" if isinstance(value, dict) else type(value).__name__)
