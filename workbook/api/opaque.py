"""`SdkInput` and `SdkOutput`: the opaque values that a back end relays.

Both hold the string exactly as it is in JSON. Platform A uses that text unchanged (API-7); on platform B the text is
base64 and the SDK takes the bytes (API-8). Mixing the two up is the most usual cause of invalid input.

Nothing that prints shows the value (REL-3): data that the simulator marked as its own is described in words,
all other data by its length and a digest that differs in every process.
"""

import base64
import json
import re
import secrets
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self, final

from workbook.base.secrecy import without_live_keys
from workbook.errors import OpaqueDataError

# What the simulator's data says under `simulated`.
MARK = "not card data"
# base64 carries three bytes in four characters: only a prefix of whole groups stays the same, of the twelve bytes here
SIMULATED_PREFIX = base64.b64encode(b'{"simulated"').decode("ascii")
_SALT = secrets.token_bytes(16)  # per process: a digest in a log can be compared within a run, never looked up


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
        if not text.isascii() and wrong_layer(text) == "not-text":
            raise self._error("not-text", "holds half a surrogate pair, which is no text")

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
            raise self._error(wrong_layer(self.text) or "alphabet", "is not canonical base64 text")
        return data

    def check(self, *, expect_json: bool = False) -> Self:
        """Test for every wrong layer, including those that a strict decoder accepts.

        Args:
            expect_json: also ask for a JSON object inside (inferred).

        Raises:
            OpaqueDataError: `layer` names what is wrong.
        """
        layer = wrong_layer(self.text, expect_json=expect_json)
        if layer is not None:
            raise self._error(layer, "has a layer too many or too few")
        return self

    @property
    def is_simulated(self) -> bool:
        """Whether the simulator marked this data as its own: then it may be shown."""
        return self.text.startswith(SIMULATED_PREFIX)

    def summary(self) -> dict[str, object]:
        """The value as a log may show it: the simulator's fields, or else length and digest (REL-3)."""
        if self.is_simulated:
            return {"simulated": True, **self._details(), "length": len(self.text)}
        return {"length": len(self.text), "digest": self.digest}

    def __repr__(self) -> str:
        if not isinstance(self.text, str):  # refused, and yet printed by tracebacks with local variables
            return f"{type(self).__name__}(...)"
        size = f"{len(self.text)} characters"
        if not self.is_simulated:
            return f"{type(self).__name__}({size}, digest {self.digest})"
        prefixes = {"kind": "", "serial": "#", "paymentInstrumentId": "for "}
        words = ["SIMULATED", *(f"{prefixes[name]}{value}" for name, value in self._details().items())]
        return f"{type(self).__name__}({' '.join(words)}, {size})"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    @property
    def digest(self) -> str:
        """Eight characters that are the same for the same text, in this process only."""
        return blake2b(self.text.encode("utf-8", "surrogatepass"), key=_SALT, digest_size=4).hexdigest()

    def _details(self) -> dict[str, object]:
        """The fields that the simulator writes, without any value that it would not write.

        Anybody can copy the mark, so a peer could put a key into one of these fields to have it printed.
        """
        fields = json_object(decode_strictly(self.text) or b"") or {}
        if fields.get("simulated") != MARK or fields.get("kind") not in ("activation", "output", "opc"):
            return {}
        details: dict[str, object] = {"kind": fields["kind"]}
        match fields.get("serial"):
            case int(serial) if type(serial) is int and 0 <= serial <= 1_000_000_000:
                details["serial"] = serial
        match fields.get("paymentInstrumentId"):
            case str(card) if re.match(r"[A-Za-z0-9 ._-]{1,40}\Z", card) and without_live_keys(card) == card:
                details["paymentInstrumentId"] = card
        return details

    def _error(self, layer: str, what: str) -> OpaqueDataError:
        return OpaqueDataError(f"{type(self).__name__} {what} ({layer}). {LAYERS[layer]}", layer=layer)


@final
@dataclass(frozen=True, slots=True, repr=False)
class SdkInput(Opaque):
    """What the API answers and the SDK is given; the POST's is also called OPC data.

    Example:
        >>> wb.SdkInput("eyJhIjogMX0=").data
        b'{"a": 1}'
    """


@final
@dataclass(frozen=True, slots=True, repr=False)
class SdkOutput(Opaque):
    """What the SDK makes and the back end posts (API-2, API-6).

    Example:
        >>> wb.SdkOutput.from_bytes(b'{"a": 1}').text
        'eyJhIjogMX0='
    """


def _json_name(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    names = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    return names.get(type(value), type(value).__name__)


# Which layer of an opaque value is wrong: one ordered table of tests, one table of advice.
#
# An sdkInput passes through several hands: text in JSON, base64 of bytes on platform B, and (inferred) a JSON object
# inside. Each hand can add or remove one layer too many. The first test that holds names the layer.

LAYERS: Mapping[str, str] = {
    "not-text": "This is not text. Send the base64 text as a JSON string, not an object and not raw bytes.",
    "empty": "The value is empty. Treat that as a failure and ask the API again; never hand it to the SDK.",
    "quoted": "The value still has JSON's quotes around it. Parse the JSON and take the string itself.",
    "decoded-once-too-often": "This is decoded data, not base64 text. Relay the string as it came.",
    "printed": (
        "This is what a log prints of a value, not the value: it was lost in the program that wrote it, such as the "
        "app, and not on the way. Encode the bytes with base64 there, and unwrap an optional."
    ),
    "line-breaks": "The base64 text is wrapped into lines. Encode without line breaks.",
    "url-safe": "The url-safe alphabet (- and _) is used. Encode with the standard alphabet (+ and /).",
    "alphabet": "There are characters that base64 does not have. Look for blanks and percent escapes.",
    "padding": "The padding (=) is missing, too long or in the middle. The length must be a multiple of four.",
    "pad-bits": "The last character carries bits that no encoder writes. Relay the text unchanged.",
    "encoded-twice": "The decoded bytes are base64 text again. Encode once only.",
    "not-json": "It decodes, but there is no JSON object inside. Check that this is the value the API sent.",
}


def wrong_layer(value: object, *, expect_json: bool = False) -> str | None:
    """Name the layer that is wrong, or None when a strict base64 decoder takes the value.

    Args:
        value: the value that should be base64 text; bytes are read as text.
        expect_json: also ask for a JSON object inside (inferred: the document does not say so).

    Returns:
        A key of `LAYERS`, or None.
    """
    try:
        text = value.decode("utf-8") if isinstance(value, bytes) else value
        if not isinstance(text, str) or text.encode("utf-8") is None:  # half a surrogate pair cannot be encoded
            return "not-text"
    except UnicodeError:
        return "not-text"
    tests = _TESTS + _FIELD_TESTS if expect_json else _TESTS
    return next((layer for layer, holds in tests if holds(text)), None)


def decode_strictly(text: str) -> bytes | None:
    """The bytes behind canonical base64 text, or None: encoding them must give the same text back (API-8)."""
    try:
        data = a2b_base64(text, strict_mode=True)
    except ValueError:  # binascii.Error is one; a character outside ASCII raises one
        return None
    return data if b2a_base64(data, newline=False).decode("ascii") == text else None


def json_object(data: str | bytes) -> dict[str, object] | None:
    """The JSON object in the data, or None; tolerant, for looking only."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_text(data: str | bytes, field: str) -> str | None:
    """The text in this field of the JSON object in the data, or None; tolerant, for looking only."""
    value = (json_object(data) or {}).get(field)
    return value if isinstance(value, str) else None


def _quoted(text: str) -> bool:
    bare = text.strip()
    return any(bare.startswith(quote) and bare.endswith(quote) for quote in ('"', "'", '\\"'))


# What programs print of bytes and of an optional value: some cut the bytes off.
_PRINTED = re.compile(
    r"\{ ?length = \d+, bytes = 0x.*|<[0-9a-f]{1,8}( [0-9a-f]{1,8})*>|<Buffer( [0-9a-f]{2})+.*>|\d+ bytes"
    r"|Optional[(\[].*[)\]]|\[B@[0-9a-f]+|b'.*'|\[object \w+\]|\[?(-?\d{1,3}, ?){3,}.*",
    re.DOTALL,
)


def _is_standard(text: str) -> bool:
    return re.match(r"[A-Za-z0-9+/=]*\Z", text) is not None


def _inner_base64(text: str) -> bytes | None:
    try:
        return decode_strictly((decode_strictly(text) or b"").decode("ascii")) or None
    except UnicodeError:
        return None


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("empty", lambda text: not text.strip()),
    ("quoted", _quoted),
    ("decoded-once-too-often", lambda text: json_object(text) is not None),
    ("printed", lambda text: _PRINTED.fullmatch(text.strip()) is not None),
    ("line-breaks", lambda text: "\n" in text or "\r" in text or "\\n" in text),
    ("url-safe", lambda text: not _is_standard(text) and re.match(r"[A-Za-z0-9_=-]*\Z", text) is not None),
    ("alphabet", lambda text: not _is_standard(text)),
    # four characters carry three bytes
    ("padding", lambda text: len(text) % 4 != 0 or re.match(r"[A-Za-z0-9+/]*={0,2}\Z", text) is None),
    ("pad-bits", lambda text: decode_strictly(text) is None),
    # base64 of base64 of a JSON object: any other bytes may look like base64 by chance
    ("encoded-twice", lambda text: json_object(_inner_base64(text) or b"") is not None),
)
_FIELD_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("encoded-twice", lambda text: _inner_base64(text) is not None),
    ("not-json", lambda text: json_object(decode_strictly(text) or b"") is None),
)
