"""Simulated opaque data: marked, bound to its instrument, and sealed so that damage is noticed.

The document does not show what sdkInput and sdkOutput hold (GAP-3), so everything in here is ours. The
form is inferred: base64 text of a JSON object. The object's first key says `simulated`,
which makes the text recognisable at a glance and tells the rest of the package that it is not card data.

A seal is a keyed digest of the bytes before it. It is no protection; with it the simulator distinguishes
data that it made from data that was cut or changed on the way.
"""

import json
from base64 import b64decode, b64encode
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from json.encoder import encode_basestring_ascii
from textwrap import wrap
from typing import Any

from workbook.api.opaque import LAYERS, MARK, decode_strictly, wrong_layer
from workbook.base.values import is_whole, lookup, quoted
from workbook.errors import ParameterError


class Content(StrEnum):
    """What a piece of simulated data is for."""

    ACTIVATION = "activation"
    OUTPUT = "output"
    OPC = "opc"


@dataclass(frozen=True, slots=True)
class Genuine:
    """The data is as it was made; `claims` is what it says."""

    claims: dict[str, Any]

    @property
    def content(self) -> str:
        """What the data is for, a `Content` value."""
        return str(self.claims["kind"])

    @property
    def payment_instrument_id(self) -> str:
        """The instrument that the data is bound to."""
        return str(self.claims["paymentInstrumentId"])

    @property
    def serial(self) -> int:
        """Its number among the data of its kind, from 1."""
        return int(self.claims["serial"])


@dataclass(frozen=True, slots=True)
class Damaged:
    """The data is not as it was made; `why` says what happened to it, `advice` what to look for."""

    why: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.why}. {self.advice}".strip(" .")


Unsealed = Genuine | Damaged
_READ = json.JSONDecoder().raw_decode  # `loads` would look for an encoding, and for blanks on both sides


class Seal:
    """Makes and opens simulated opaque data. Two seals with the same seed read each other's.

    Attributes:
        seed: what it seals with.

    Raises:
        ParameterError: the seed is no whole number.
    """

    def __init__(self, seed: int) -> None:
        if not is_whole(seed):
            raise ParameterError(f"A seed is a whole number, such as 7, not {quoted(seed)}.")
        self.seed = seed
        key = blake2b(f"workbook simulation {seed}".encode(), digest_size=32).digest()
        self._keyed = blake2b(key=key, digest_size=8)

    def close(self, content: Content, payment_instrument_id: str, serial: int, **more: Any) -> str:
        """The base64 text of a sealed JSON object that says all this."""
        claims = "".join([f',"{name}":{_json(value)}' for name, value in more.items()])
        bound = f'"kind":"{content}","paymentInstrumentId":{encode_basestring_ascii(payment_instrument_id)}'
        body = f'{{"simulated":"{MARK}",{bound},"serial":{serial}{claims}}}'.encode("ascii")
        return b2a_base64(self._append_seal(body), newline=False).decode("ascii")

    def open(self, text: object) -> Unsealed:
        """What `text` says, or what is wrong with it."""
        data = decode_strictly(text) if isinstance(text, str) else None
        if data is None or not data.startswith(b'{"simulated":'):
            layer = wrong_layer(text, expect_json=True)
            if layer is None:
                return Damaged("it does not carry the simulator's mark, so the simulator did not make it")
            return Damaged(f"it was changed on its way ({layer})", LAYERS[layer])
        if not data.endswith(b'"}'):
            return Damaged("it is truncated: its end is missing")
        body = data.rpartition(b',"seal":"')[0] + b"}"
        if self._append_seal(body) != data:
            return Damaged("its seal is broken: it was changed on the way, or another simulator made it")
        return Genuine(_READ(body.decode())[0])

    def _append_seal(self, body: bytes) -> bytes:
        """An object with the seal as its last key.

        It seals the text before it, closed with a brace: to read it, no key has to be taken out of a parsed object, and
        the order of the keys is sealed, too.
        """
        digest = self._keyed.copy()
        digest.update(body)
        return body[:-1] + f',"seal":"{digest.hexdigest()}"}}'.encode()


def expected(data: Unsealed, content: Content, takes: str, card: str | None = None) -> Genuine | str:
    """The data, if it is of this kind, and of this card where one is named; else why not, and what the caller takes."""
    match data:
        case Damaged():
            return str(data)
        case Genuine() if data.content != content:
            return f"it is data of kind '{data.content}'; {takes}"
        case Genuine() if card not in (None, data.payment_instrument_id):
            return "it belongs to another payment instrument"
    return data


class HardSeal(Seal):
    """Makes data whose text holds + and /, and ends with =: what a relay that changes base64 changes first."""

    def close(self, content: Content, payment_instrument_id: str, serial: int, **more: Any) -> str:
        """The base64 text of a sealed JSON object that says all this, with a claim for +, / and =."""
        for hard in (">>>???", ">>>????"):  # one byte more, where the first fills whole groups of three
            text = super().close(content, payment_instrument_id, serial, **more, hard=hard)
            if text.endswith("="):
                break
        return text


def _json(value: object) -> str:
    """A claim as JSON: the usual kinds in a quarter of the time that the library's encoder takes to set itself up."""
    if isinstance(value, str):
        return encode_basestring_ascii(value)
    if type(value) is int:
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_json, value))}]"
    return json.dumps(value, separators=(",", ":"))


# What happens to opaque text between the API and the SDK when code on the way does too much or too little.
#
# Each damage is one pure function of the text, named as the diagnosis catalogue names the mistake.


def _one_character_changed(text: str) -> str:
    middle = len(text) // 2
    other = "A" if text[middle] != "A" else "B"
    return text[:middle] + other + text[middle + 1 :]


# Every damage by its name; the first does nothing.
DAMAGES: Mapping[str, Callable[[str], str]] = {
    "none": lambda text: text,
    "decoded": lambda text: b64decode(text).decode("utf-8", "replace"),
    "encoded twice": lambda text: b64encode(text.encode()).decode("ascii"),
    "quoted": json.dumps,
    # base64's other alphabet; its two letters are put in, as the data may not need them
    "url-safe alphabet": lambda text: "-_" + text[2:].replace("+", "-").replace("/", "_"),
    "padding trimmed": lambda text: text.rstrip("=")[:-1],
    "wrapped into lines": lambda text: "\n".join(wrap(text, 76)),  # as MIME encoders do
    "cut off": lambda text: text[: len(text) // 8 * 4],
    "one character changed": _one_character_changed,
    "empty": lambda _text: "",
}


def damaged(text: str, damage: str) -> str:
    """The text after this damage.

    Raises:
        ParameterError: there is no damage of this name.
    """
    return lookup("damage", damage, DAMAGES)(text)
