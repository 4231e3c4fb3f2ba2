"""What an opaque string is: an sdkInput or sdkOutput, which layer is wrong and where, and which platform takes it.

The value is peeled from the outside: a body around it, quotes, line breaks, base64, JSON. Each wrong layer is named as
in `CARRIED`, and undone, so that what is inside is still recognised. Of data that the simulator made, the seal is
checked. Nothing is sent or kept. Of the fields inside only names, kinds and lengths are shown (REL-3).
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from workbook.api.opaque import LAYERS, MARK, decode_strictly, json_object, wrong_layer
from workbook.base.terminal import visible
from workbook.errors import ParameterError
from workbook.simulation.seal import Damaged, Genuine, Seal

# Bytes of a value; real ones have a few thousand (assumed).
LARGEST_VALUE = 1_048_576
UNKNOWN_KIND = "no structure that is known"


# The wrong layers, with what files, logs and forms do to a value on its way.
CARRIED: Mapping[str, str] = {
    **LAYERS,
    "byte-order-mark": "A byte-order mark is there, as editors and UTF-16 write it. Write plain ASCII.",
    "blanks": "There are blanks or line ends around the value. Relay the string as it came.",
    "hexadecimal": "These are bytes in hexadecimal. Send the base64 text as it came.",
    "cut": "A part of the value is missing. Look for a length limit: of a log, a column or a field.",
}


@dataclass(frozen=True, slots=True)
class WrongLayer:
    """A wrong layer: its name in `CARRIED`, and the first character that shows it, from 1, or 0 where all do."""

    layer: str
    at: int = 0

    def __str__(self) -> str:
        where = f" (from character {self.at})" if self.at else ""
        return f"{self.layer}{where}: {CARRIED[self.layer]}"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a value is.

    Attributes:
        kind: its structure, what the simulator made, or `UNKNOWN_KIND`.
        length: of the value, in bytes.
        body: the name of the field of the JSON body that held it; empty where it came alone.
        wrong: the wrong layers from the outside in; none for a good value.
        takes: which platform takes it: text, bytes, output text or output bytes; empty for none.
        fields: what is inside: each name, with the kind and length of its value.
        seal: of the simulator's data, what its seal shows; None for other data.
    """

    kind: str
    length: int
    body: str
    wrong: tuple[WrongLayer, ...]
    takes: str
    fields: Mapping[str, str]
    seal: Genuine | Damaged | None = None

    @property
    def is_good(self) -> bool:
        """Whether it is something known, with no layer and no step wrong."""
        return bool(self.takes) and not self.wrong and self.kind != UNKNOWN_KIND and not isinstance(self.seal, Damaged)

    @property
    def layers(self) -> tuple[tuple[str, bool], ...]:
        """The layers from the outside in, each with whether it is wrong."""
        names = {one.layer for one in self.wrong}
        coded = self.fields and "bytes" not in self.takes and "decoded-once-too-often" not in names
        return (
            *([(f"JSON body, field {self.body}", False)] if self.body else ()),
            *((str(one), True) for one in self.wrong),
            *([("base64", False)] if coded else ()),
            (self.kind, self.kind == UNKNOWN_KIND or isinstance(self.seal, Damaged)),
        )

    def __str__(self) -> str:
        around = f", in the field {self.body} of a JSON body" if self.body else ""
        lines = [f"what it is   {self.kind}, {self.length} bytes{around}"]
        lines += [f"wrong layer  {one}" for one in self.wrong] or ["layers       all as they should be"]
        who = {
            "text": "platform A takes it as it is; platform B takes its decoded bytes (API-7; API-8, sdk-b)",
            "bytes": "platform B's SDK takes these bytes; platform A and JSON need their base64 text (sdk-a, sdk-b)",
            "output text": "the POST's body takes it as it is (API-2); platform B's SDK hands it out as bytes (API-8)",
            "output bytes": "platform B's SDK hands these bytes out; the POST's body needs their base64 text (API-8)",
        }
        lines.append(f"who takes it {who.get(self.takes, 'neither platform takes it like this')}")
        lines += [f"  {name}: {value}" for name, value in self.fields.items()]
        if isinstance(self.seal, Damaged):
            lines.append(f"wrong seal   {self.seal.why} (was it made with another --seed?)")
        elif self.seal is not None:
            lines.append("seal         made by the simulator, and not changed since")
        return "\n".join(lines)


def inspect(value: str | bytes, *, show: bool = False, seed: int = 7) -> Inspection:
    """Say what a value is, however it was damaged on its way.

    Args:
        value: the text, or platform B's bytes; the one line break that a pipe adds is ignored.
        show: add the values of the fields that hold no card data.
        seed: of the simulator, for data that it made: the seal comes from it.

    Raises:
        ParameterError: it is empty, or larger than 1 MiB.
    """
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    data = data.removesuffix(b"\n").removesuffix(b"\r")
    if not data:
        raise ParameterError(LAYERS["empty"])
    if len(data) > LARGEST_VALUE:
        raise ParameterError("The value is larger than 1 MiB, so it is no opaque data. Give one value.")
    around, whole = _uncarried(data)
    body, inner = _in_body(whole)
    wrong, content, coded = _peeled(inner)
    wrong = around + wrong
    fields = json_object(content) or {}
    takes = "" if wrong else "text" if coded else "bytes" if fields else ""
    # bytes that are a known structure are what platform B's SDK is given; JSON carries them as base64
    if [one.layer for one in wrong] == ["decoded-once-too-often"] and not body:
        takes = "bytes"
    if takes and ("certificates" in fields or fields.get("kind") == "output"):
        takes = f"output {takes}"
    described = {
        visible(_masked(str(name))[:40]): _described(name, inside, show=show) for name, inside in fields.items()
    }
    simulated = fields.get("simulated") == MARK
    seal = Seal(seed).open(base64.b64encode(content).decode("ascii")) if simulated else None
    shown = dict([*described.items()][:40])  # characters of a name, and fields
    return Inspection(_kind(fields), len(inner), body, tuple(wrong), takes, shown, seal)


def _in_body(data: bytes) -> tuple[str, bytes]:
    """The field of a JSON body and the value in it, where the data is such a body."""
    fields = json_object(data) or {}
    for name in ("sdkInput", "sdkOutput"):
        if isinstance(fields.get(name), str) and fields[name]:
            return name, str(fields[name]).encode("utf-8", "surrogatepass")
    return "", data


def _peeled(data: bytes) -> tuple[list[WrongLayer], bytes, bool]:
    """The wrong layers, what is innermost, and whether base64 was around it."""
    wrong: list[WrongLayer] = []
    coded = False
    for _layer in range(8):  # the most that are undone
        around, data = _uncarried(data) if not coded else ([], data)
        wrong += around
        if cut := 0 if coded else _cut_at(data.decode("utf-8", "replace")):
            wrong.append(WrongLayer("cut", cut))
            break
        layer = wrong_layer(data, expect_json=not coded)
        if layer is None or layer == "not-json":
            inner = decode_strictly(data.decode("ascii", "replace"))
            if inner is None:
                break
            twice = decode_strictly(inner.strip().decode("ascii", "replace"))
            if layer == "not-json" and json_object(twice or b"") is not None:  # a line end is between the layers
                wrong.append(WrongLayer("encoded-twice"))
                return wrong, twice or b"", True
            if layer == "not-json" and not coded:
                wrong.append(WrongLayer(layer, _broken_at(inner)))
            if inner.startswith(b"\xef\xbb\xbf"):
                wrong.append(WrongLayer("byte-order-mark"))
            return wrong, inner, True
        if coded and layer != "encoded-twice":  # inside base64 nothing has to be text
            break
        wrong.append(WrongLayer(layer, _where(data, layer)))
        undone = _undone(layer, data.decode("utf-8", "replace"))
        if undone is None or undone == data:
            break
        if layer == "decoded-once-too-often":
            return wrong, data, False
        data = undone
    return wrong, data, coded


def _uncarried(data: bytes) -> tuple[list[WrongLayer], bytes]:
    """What a file, a log or a form put around the value or took from it, and the value without that."""
    wrong = []
    if mark := next((mark for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff") if data.startswith(mark)), b""):
        wrong.append(WrongLayer("byte-order-mark", 1))
        data = data.decode("utf-16" if len(mark) == 2 else "utf-8-sig", "replace").encode("utf-8", "replace")
    text = data.decode("utf-8", "replace")
    bare = text.strip(" \t\r\n\u00a0\u200b\ufeff")
    if bare and bare != text and "\n" not in bare:
        wrong.append(WrongLayer("blanks", 1 if text[0] != bare[0] else len(bare) + 1))
        text = bare
    if re.fullmatch(r"(?=\D*\d)(?:0x)?(?:[0-9a-fA-F]{2}[ :-]?){16,}", text):
        wrong.append(WrongLayer("hexadecimal"))
        raw = bytes.fromhex(re.sub(r"^0x|[ :-]", "", text))
        text = (base64.b64encode(raw) if wrong_layer(raw) else raw).decode("ascii")
    return wrong, text.encode("utf-8", "replace") if wrong else data


def _cut_at(text: str) -> int:
    """The character, from 1, where a part of the value is missing; 0 where none is.

    JSON that ends too early was cut behind, and JSON of which only the end is there, before.
    """
    end = max(len(text) - 30, 0)  # a whole text would take the square of its length
    text = text[:end] + re.sub(r"(?:\.{2,}|…|\W*truncated\W*)$", "", text[end:])
    forms = [text.encode("utf-8", "replace")]
    if re.fullmatch(r"[A-Za-z0-9+/_-]{16,}={0,2}", text):
        letters = text.translate(str.maketrans("-_", "+/", "="))
        from_end = "A" * (-len(text) % 4) + letters  # as many letters as are missing from the first group
        forms += [
            base64.b64decode(letters[: len(letters) - (len(letters) % 4 == 1)] + "=="),
            base64.b64decode(from_end + "=="),
        ]
    if any(json_object(form) is not None for form in forms):
        return 0
    for form in forms:
        inside = form.decode("utf-8", "ignore").strip()
        try:
            json.loads(inside if inside.startswith("{") else "{}")
        except json.JSONDecodeError as error:
            left = inside[error.pos :]  # a part of a word such as false may be left
            if error.msg.startswith("Unterminated string") or re.fullmatch("[a-z]{0,4}", left):
                return len(text) + 1
        except (ValueError, RecursionError):
            return 0
    return int(any(b'":' in form and form.endswith(b"}") and not form.startswith(b"{") for form in forms))


def _where(data: bytes, layer: str) -> int:
    """The first character that shows the layer, from 1."""
    text = data.decode("utf-8", "replace")
    match layer:
        case "line-breaks":
            return next((at for at, one in enumerate(text, 1) if one in "\r\n\\"), 0)
        case "url-safe" | "alphabet":
            found = re.search(r"[^A-Za-z0-9+/=]|=+(?=[^=])", text)
            return found.start() + 1 if found else 0
        case "padding" | "pad-bits":
            return len(text.rstrip("=")) + (layer == "padding")
        case "not-text":
            return next((at for at, one in enumerate(text, 1) if one == "\ufffd"), 0)
        case _:
            return 0


def _broken_at(content: bytes) -> int:
    """The base64 character, from 1, at which the JSON object inside breaks; 0 if no JSON object begins inside."""
    try:
        json.loads(content if content.lstrip().startswith(b"{") else b"{}")
    except json.JSONDecodeError as error:
        intact = error.doc if error.msg.startswith("Unterminated string") else error.doc[: error.pos]
        return len(intact.encode("utf-8", "surrogatepass")) * 4 // 3 + 1
    except (ValueError, RecursionError):
        pass
    return 0


def _undone(layer: str, text: str) -> bytes | None:
    """The text without this wrong layer; None where it cannot be undone."""
    undone: bytes | str | None = None
    match layer:
        case "quoted":
            undone = text.strip().strip("\\").strip("\"'").rstrip("\\")
        case "printed":
            undone = re.sub(r"(?s)Optional[(\[]\"?(.*?)\"?[)\]]\Z|b'(.*)'\Z", r"\1\2", text.strip())
        case "line-breaks":
            undone = re.sub(r"\\r|\\n|\s", "", text)
        case "url-safe":
            undone = text.replace("-", "+").replace("_", "/")
        case "alphabet":  # a form writes + as a blank
            fixed = unquote(text).replace(" ", "+")
            undone = next((one for one in (fixed, fixed.replace("+", "")) if decode_strictly(one)), None)
        case "padding":
            bare = text.replace("=", "")
            # no padding makes base64 of one character more than a multiple of four
            undone = None if len(bare) % 4 == 1 else bare + "=" * (-len(bare) % 4)
        case "pad-bits":
            undone = base64.b64encode(base64.b64decode(text + "=="))
        case "encoded-twice":
            undone = decode_strictly(text)
        case "decoded-once-too-often":
            undone = b""
    return undone.encode("utf-8", "replace") if isinstance(undone, str) else undone


def _kind(fields: Mapping[str, Any]) -> str:
    """What the fields say that the value is."""
    kinds = {
        "the GET's sdkInput (sdk-a, sdk-b)": {"paymentInstrumentId", "supportedWallets", "lastFour", "brand"},
        "platform B's sdkOutput (inferred)": {"certificates", "nonce", "nonceSignature"},
        "the POST's sdkInput of platform B (inferred)": {"activationData", "encryptedPassData", "ephemeralPublicKey"},
        "data of the simulator": {"simulated", "kind"},
    }  # a value of a kind has at least half of the kind's fields
    shares = {kind: len(names & fields.keys()) / len(names) for kind, names in kinds.items()}
    best = max(shares, key=lambda kind: shares[kind])
    if shares[best] < 1 / 2:
        return UNKNOWN_KIND
    simulated = {"activation": "a GET's sdkInput", "output": "an sdkOutput", "opc": "a POST's sdkInput"}
    what = simulated.get(str(fields.get("kind"))) if best == "data of the simulator" else None
    return f"{what} of the simulator" if what else best


def _masked(text: str) -> str:
    """The text without what may be a card number, which has 12 digits or more."""
    return re.sub(r"\d(?:[ ._\u00a0-]?\d){11,}", "[card number?]", text)


def _described(name: str, value: Any, *, show: bool) -> str:
    """The kind and the length of a value; the value itself if it is asked for and is no card data."""
    if show and name in {"brand", "supportedWallets", "simulated", "kind"}:
        return _masked(json.dumps(value))[:200]
    match value:
        case str():
            return f"text, {len(value)} characters"
        case list():
            return f"list of {len(value)}"
        case dict():
            return f"object of {len(value)}"
        case bool() | None:
            return "a truth value" if value is not None else "null"
        case _:
            return "a number"
