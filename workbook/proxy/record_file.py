"""A record read back: each line checked, and an unfinished last one left out with a note."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError
from workbook.proxy.recording import is_head

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    Pairs = tuple[tuple[str, str], ...]

LONGEST_LINE = 4 * 1_048_576
"""Bytes of a line that are read; a proxy writes none that is longer."""
LARGEST = 512 * 1_048_576
"""Bytes of a record that are read."""
CUT = "The last line is unfinished, as a kill leaves it, and is left out."


@dataclass(frozen=True, slots=True)
class Recorded:
    """One exchange of a record, as far as a comparison needs it.

    Attributes:
        line: of the file, from 1.
        run: of a proxy, from 1: names of keys and digests mean something within one only.
        method: as it was sent.
        target: redacted.
        operation: GET or POST where it was one of the two operations.
        instrument: the payment instrument's id or pseudonym.
        credential: a name for the key; None where there was none.
        headers: redacted.
        body: redacted, as a JSON value.
        body_shape: see `shape.shape`.
        body_layer: what was wrong with the sdkOutput's text.
        body_length: bytes.
        status: of the answer.
        failure: why the answer is the proxy's own; empty where it is the API's.
        sent: whether the request may have reached the API.
        latency: seconds to the answer's head; None where none came.
        seconds: from the request to the end of the answer.
        response_headers: redacted.
        response_body: redacted, as a JSON value.
        response_shape: see `shape.shape`.
        response_layer: what was wrong with the sdkInput's text.
    """

    line: int
    run: int
    method: str
    target: str
    operation: str | None
    instrument: str | None
    credential: str | None
    headers: Pairs
    body: Any
    body_shape: Mapping[str, str]
    body_layer: str | None
    body_length: int
    status: int
    failure: str
    sent: bool
    latency: float | None
    seconds: float
    response_headers: Pairs
    response_body: Any
    response_shape: Mapping[str, str]
    response_layer: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """What a file holds.

    Attributes:
        to: the API's base URLs, each once.
        exchanges: in the order of arrival within each run.
        notes: what a reader should know of the file.
    """

    to: tuple[str, ...]
    exchanges: tuple[Recorded, ...]
    notes: tuple[str, ...] = ()


_NUMBER, _TEXT = (int, float), (str,)
_MAYBE: tuple[type, ...] = (str, type(None))
_FORM: Mapping[str, tuple[type, ...]] = {
    "number": (int,),
    "arrived": _NUMBER,
    "answered": _NUMBER,
    "method": _TEXT,
    "target": _TEXT,
    "operation": _MAYBE,
    "instrument": _MAYBE,
    "credential": _MAYBE,
    "headers": (list,),
    "bodyShape": (dict,),
    "bodyLayer": _MAYBE,
    "bodyLength": (int,),
    "status": (int,),
    "failure": _TEXT,
    "sent": (bool,),
    "latency": (int, float, type(None)),
    "responseHeaders": (list,),
    "responseShape": (dict,),
    "responseLayer": _MAYBE,
}
"""The fields that a line must have, and what they may be."""


def read(path: Path) -> Record:
    """The record in this file.

    Raises:
        ConfigurationError: it cannot be read, is no record, or a line of it is not as a proxy writes it.
    """
    lines = _bytes(path).split(b"\n")
    cut = lines.pop() != b""
    if not lines or not is_head(lines[0]):
        raise ConfigurationError(f"{path} is no record of a proxy, or one in another version. Make one: workbook proxy")
    runs: list[str] = []
    found: list[tuple[int, Recorded]] = []
    for number, line in enumerate(lines, 1):
        if is_head(line):
            runs.append(str(json.loads(line).get("to", ""))[:300])
        else:
            found.append(_recorded(path, number, len(runs), line))
    found.sort(key=lambda pair: (pair[1].run, pair[0]))
    exchanges = tuple(one for _number, one in found)
    return Record(tuple(dict.fromkeys(runs)), exchanges, (*([CUT] if cut else []), *_notes(exchanges)))


def _bytes(path: Path) -> bytes:
    """Only a regular file is read: a pipe would wait for ever."""
    try:
        if path.exists() and not path.is_file():
            raise ConfigurationError(f"{path} is no file. Give the record that `workbook proxy` wrote.")
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"Cannot read the record {path}: {why}.") from None
    if len(data) > LARGEST:
        raise ConfigurationError(f"{path} is larger than {LARGEST} bytes. Record fewer exchanges in a file.")
    return data


def _recorded(path: Path, number: int, run: int, line: bytes) -> tuple[int, Recorded]:
    """The exchange of one line, after its number in the run."""
    said = _object(line)
    wrong = "it is no JSON object" if said is None else _wrong(said)
    if said is None or wrong:
        raise ConfigurationError(f"{path}, line {number}: {wrong}. Take the line out, or record again.")
    return said["number"], Recorded(
        line=number,
        run=run,
        body=said.get("body"),
        response_body=said.get("responseBody"),
        seconds=said["answered"] - said["arrived"],
        headers=_pairs(said["headers"]),
        response_headers=_pairs(said["responseHeaders"]),
        body_shape=said["bodyShape"],
        body_layer=said["bodyLayer"],
        body_length=said["bodyLength"],
        response_shape=said["responseShape"],
        response_layer=said["responseLayer"],
        **{name: said[name] for name in ("method", "target", "operation", "instrument", "credential")},
        **{name: said[name] for name in ("status", "failure", "sent", "latency")},
    )


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        said = json.loads(line) if len(line) <= LONGEST_LINE else None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _wrong(said: dict[str, Any]) -> str:
    """What is not as a proxy writes it; empty where all is."""
    for name, kinds in _FORM.items():
        if name not in said:
            return f"{name!r} is missing"
        value = said[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            return f"{name!r} is of the wrong type"
    pairs = (*said["headers"], *said["responseHeaders"])
    if not all(isinstance(one, list) and [*map(type, one)] == [str, str] for one in pairs):
        return "a header is no pair of texts"
    if not all(isinstance(one, str) for name in ("bodyShape", "responseShape") for one in said[name].values()):
        return "a shape holds something else than text"
    return "" if said["operation"] in ("GET", "POST", None) else "'operation' is none of the two"


def _pairs(pairs: list[list[str]]) -> Pairs:
    return tuple((name, value) for name, value in pairs)


def _notes(exchanges: tuple[Recorded, ...]) -> list[str]:
    """What is not compared, and why."""
    other = sum(one.operation is None or one.instrument is None for one in exchanges)
    lost = Counter(one.failure for one in exchanges if one.failure and not one.sent)
    notes = [f"{other} for other paths or methods, which are not compared."] if other else []
    told = ", ".join(f"{count} {failure}" for failure, count in sorted(lost.items()))
    return [*notes, *([f"{lost.total()} never reached the API ({told})."] if lost else [])]
