"""A record as JSON, and back: `conform.json`, whose form `report` describes. Mistakes are named by their place."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from workbook.conformance.case import Group
from workbook.conformance.reading import (
    NotSoError,
    choice,
    each,
    flag,
    made,
    mapping,
    number,
    optional,
    shallow,
    text,
    whole,
    words,
)
from workbook.conformance.report import FORMAT, About, CaseRecord, Exchange, Message, Record
from workbook.conformance.verdict import Miss, Owner, Verdict
from workbook.errors import ConfigurationError
from workbook.rules import Level, Rule

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 256 * 1_048_576
"""Bytes of a file that are read."""
AGAIN = "Name the conform.json of a run of `workbook conform`."
_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+\Z")


def to_json(record: Record) -> str:
    """The record as JSON: ASCII only, keys in the order of the format, the same bytes for the same record."""
    counts = {verdict.value: len(record.ended(verdict)) for verdict in Verdict}
    told = {"format": FORMAT, "about": record.about, "counts": counts, "cases": record.cases}
    return json.dumps(_plain(told), indent=1, allow_nan=False) + "\n"


def from_json(told: str, name: str = "The report") -> Record:
    """The record that this JSON describes.

    Raises:
        ConfigurationError: it is no JSON, of another format, or something in it is not what it should be.
    """
    try:
        document = json.loads(told, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigurationError(f"{name} is no JSON{where}. {AGAIN}") from None
    try:
        return _record(document)
    except NotSoError as error:
        raise ConfigurationError(f"{name} is no such report: {error} {AGAIN}") from None


def read_record(path: Path) -> Record:
    """The record in this file.

    Raises:
        ConfigurationError: it cannot be read, or is no record.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigurationError(f"{str(path)!r} is larger than any report. {AGAIN}")
        told = path.read_bytes().decode()
    except OSError as error:
        raise ConfigurationError(f"Cannot read {str(path)!r}: {error.strerror}. {AGAIN}") from error
    except UnicodeDecodeError:
        raise ConfigurationError(f"{str(path)!r} is no text in UTF-8. {AGAIN}") from None
    return from_json(told, repr(str(path)))


def _plain(value: Any) -> Any:
    """As JSON has it; a field without a repr is not for anybody's eyes, and is left out."""
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value) if one.repr}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _name(value: Any, where: str) -> str:
    if not _NAME.match(text(value, where)):
        raise NotSoError(f"{where} is no name of a case, such as relay.get.path.")
    return str(value)


def _header(value: Any, where: str) -> tuple[str, str | None]:
    match value:
        case [str(name), str() | None as told]:
            return name, told
        case _:
            raise NotSoError(f"{where} is no pair of a header's name and its value.")


_MESSAGE = made(Message, {"headers": each(_header), "body": shallow, "length": whole})
_EXCHANGE = made(
    Exchange,
    {
        **dict.fromkeys(("side", "method", "path", "who", "ending"), text),
        "at": number,
        "ended": optional(number),
        "status": optional(whole),
        "elsewhere": flag,
        "request": _MESSAGE,
        "answer": optional(_MESSAGE),
    },
    later=dict.fromkeys(("platform", "operation"), text),
)
_MISS = made(Miss, dict.fromkeys(("expected", "observed", "todo", "rule"), text), later={"noted": flag})
_CASE = made(
    CaseRecord,
    {
        "name": _name,
        **dict.fromkeys(("says", "platform", "why", "reproduce"), text),
        "rule": made(Rule, {"level": choice(Level), "harm": flag, **dict.fromkeys(("id", "section", "text"), text)}),
        "group": choice(Group),
        "verdict": choice(Verdict),
        "owner": choice(Owner),
        "misses": each(_MISS),
        "exchanges": each(_EXCHANGE),
        "left_out": whole,
        "seconds": number,
    },
    later={"began": optional(number)},
)
_ABOUT = made(
    About,
    {
        **dict.fromkeys(("target", "base_url", "started", "command", "config", "profile", "trouble"), text),
        "seed": whole,
        "exit_code": whole,
        "repeat": whole,
        "seconds": number,
        "strict": flag,
        "interrupted": flag,
        "versions": words,
        "only": each(text),
        "stale": each(text),
        "unfinished": each(_name),
    },
)
_RECORD = made(Record, {"about": _ABOUT, "cases": each(_CASE)})


def _record(document: Any) -> Record:
    told = mapping(document, "the file").get("format")
    if type(told) is not int or told != FORMAT:
        raise NotSoError(_other_format(told))
    record: Record = _RECORD(document, "the file")
    names = Counter(case.name for case in record.cases)
    if twice := next((name for name, count in names.items() if count > 1), None):
        raise NotSoError(f"two cases are called {twice!r}.")
    return record


def _other_format(told: Any) -> str:
    if type(told) is not int:
        return f"it does not say its format; this workbook reads format {FORMAT}."
    newer = " Use the workbook that wrote it, or a newer one." * (told > FORMAT)
    return f"it is of format {str(told)[:20]}; this workbook reads format {FORMAT}.{newer}"
