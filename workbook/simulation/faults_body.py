"""Faults in the body: the status is right, and what it comes with is not (all of it assumed).

A body that is spoilt keeps its status, whatever that is. What is done to sdkInput needs one: a refusal has
none and stays as it is.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from workbook.simulation.damage import DAMAGES, damaged
from workbook.simulation.fault import ASSUMED, Fault, Number, OneOf
from workbook.simulation.seal import Content, Genuine
from workbook.simulation.wire import half
from workbook.simulation.world import INSTRUMENT_IDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from workbook.simulation.fault import Chance, Change
    from workbook.simulation.http import Response

LARGEST = 256 * 1024 * 1024
"""Bytes of the largest body; a bomb's are counted once it has gone off."""
DEPTH = 100_000
GZIP = 16 + zlib.MAX_WBITS
BLOCK = 1 << 20
HEAD, TAIL = b'{"sdkInput": "', b'"}'
OWN_CLAIMS = ("simulated", "kind", "paymentInstrumentId", "serial")
"""The claims that a seal writes by itself."""


def _body(make: Callable[[bytes, Mapping[str, Any]], bytes], *headers: tuple[str, str]) -> Change:
    """The answer with another body, and perhaps with more headers."""

    def change(answer: Response, _chance: Chance, values: Mapping[str, Any]) -> Response:
        return replace(answer, headers=answer.headers + headers, body=make(answer.body, values))

    return change


def _twice(body: bytes, _values: Mapping[str, Any]) -> bytes:
    """The object with its fields twice over, each value the same: a lenient parser sees nothing."""
    inside = body.strip()[1:-1]
    return b"{" + inside + b", " + inside + b"}"


def _huge(_body: bytes, values: Mapping[str, Any]) -> bytes:
    return b"".join(_blocks(values["bytes"]))


def _blocks(size: int) -> Iterator[bytes]:
    """JSON of so many bytes, a block at a time."""
    yield HEAD
    left = max(0, size - len(HEAD) - len(TAIL))
    while left:
        yield b"x" * min(left, BLOCK)
        left -= min(left, BLOCK)
    yield TAIL


@lru_cache(maxsize=4)
def _bomb(size: int) -> bytes:
    """The same JSON, gzipped; kept, for making one takes longer than all the rest."""
    packer = zlib.compressobj(9, zlib.DEFLATED, GZIP)
    return b"".join([*(packer.compress(block) for block in _blocks(size)), packer.flush()])


def _sdk_input(make: Callable[[str, Chance, Mapping[str, Any]], str]) -> Change:
    """The answer with another body, made from its sdkInput."""

    def change(answer: Response, chance: Chance, values: Mapping[str, Any]) -> Response:
        if not answer.body.startswith(HEAD):
            return answer
        return replace(answer, body=make(json.loads(answer.body)["sdkInput"], chance, values).encode())

    return change


def _always(body: str) -> Change:
    return _sdk_input(lambda _text, _chance, _values: body)


def _foreign(text: str, chance: Chance, _values: Mapping[str, Any]) -> str:
    return _sealed_again(text, chance, _another_owner)


def _stale(text: str, chance: Chance, _values: Mapping[str, Any]) -> str:
    return _sealed_again(text, chance, _one_earlier)


def _another_owner(claims: dict[str, Any]) -> dict[str, Any]:
    other = next(one for one in INSTRUMENT_IDS if one != claims["paymentInstrumentId"])
    return claims | {"paymentInstrumentId": other}


def _one_earlier(claims: dict[str, Any]) -> dict[str, Any]:
    counted = {name: claims[name] - 1 for name in ("serial", "attempt") if name in claims}
    return claims | counted


def _sealed_again(text: str, chance: Chance, other: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """A body whose sdkInput is genuine and says something else; what the service did not seal stays."""
    match chance.seal.open(text):
        case Genuine(claims):
            said = other(claims)
            more = {name: value for name, value in said.items() if name not in OWN_CLAIMS}
            text = chance.seal.close(Content(said["kind"]), said["paymentInstrumentId"], said["serial"], **more)
    return json.dumps({"sdkInput": text})


def _damaged(text: str, _chance: Chance, values: Mapping[str, Any]) -> str:
    return json.dumps({"sdkInput": damaged(text, values["damage"])})


def _spoilt(name: str, sentence: str, change: Change, **settings: Number | OneOf) -> Fault:
    return Fault(name, sentence, ASSUMED, change, settings)


GZIPPED = ("content-encoding", "gzip")
SPOILING = tuple(name for name in DAMAGES if name != "none")

BODIES = (
    _spoilt("bad gzip", "The body is said to be gzip and is not.", _body(lambda body, _values: body, GZIPPED)),
    _spoilt(
        "gzip bomb",
        "A small body that is huge once it is unpacked.",
        _body(lambda _body, values: _bomb(values["bytes"]), GZIPPED),
        bytes=Number(20_000_000, 100, LARGEST, whole=True),
    ),
    _spoilt("huge body", "A body of megabytes.", _body(_huge), bytes=Number(2_000_000, 100, LARGEST, whole=True)),
    _spoilt("JSON truncated", "JSON that stops halfway.", _body(lambda body, _values: body[: half(body)])),
    _spoilt("JSON null", "JSON, and it is null.", _body(lambda _body, _values: b"null")),
    _spoilt("JSON of the wrong type", "JSON, and it is a list.", _body(lambda body, _values: b"[" + body + b"]")),
    _spoilt(
        "JSON nested deep",
        "JSON that is nested 100,000 deep.",
        _body(lambda _body, _values: b"[" * DEPTH + b"]" * DEPTH),
    ),
    _spoilt("JSON with duplicate keys", "JSON whose fields stand in it twice.", _body(_twice)),
    _spoilt("not JSON", "A page for people.", _body(lambda _body, _values: b"<html>Welcome</html>")),
    _spoilt("sdkInput missing", "JSON without an sdkInput.", _always("{}")),
    _spoilt("sdkInput null", "The sdkInput is null.", _always('{"sdkInput": null}')),
    _spoilt("sdkInput empty", "The sdkInput is empty text.", _always('{"sdkInput": ""}')),
    _spoilt("sdkInput foreign", "A genuine sdkInput of another payment instrument.", _sdk_input(_foreign)),
    _spoilt("sdkInput stale", "A genuine sdkInput of the request before this one.", _sdk_input(_stale)),
    _spoilt(
        "sdkInput damaged",
        "The sdkInput was changed on its way.",
        _sdk_input(_damaged),
        damage=OneOf("one character changed", SPOILING),
    ),
)
"""Every fault of the body."""
