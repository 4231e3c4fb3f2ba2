"""Writes a record as `conform.json` and reads it back; `report` describes the format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from workbook.conformance.model import Verdict
from workbook.conformance.report import FORMAT, About, CaseRecord, Record
from workbook.errors import ConfigurationError
from workbook.files import read_regular
from workbook.forms import choices

LARGEST = 256 * 1_048_576
"""Bytes of a file that is read."""
DEEPEST = 12
"""How deep a body may be nested; the bodies that a run writes are less deep."""
AGAIN = "Name the conform.json of a run of `workbook conform`."
KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}
WANTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a number of a usual size",
    "tuple_type": "a list",
}
"""What pydantic wants, by the type of its error; an object otherwise."""
_SURROGATES = re.compile(r"\\\\|\\ud[89ab]\w\w\\ud[c-f]\w\w|\\ud[89a-f]\w\w", re.IGNORECASE)
"""Escapes in JSON: a backslash, a surrogate pair, and half a pair."""
_NAME = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+\Z")


class _Document(BaseModel):
    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    about: About
    cases: tuple[CaseRecord, ...]


def to_json(record: Record) -> str:
    """The record as JSON: ASCII only, keys in the order of the format, the same bytes for the same record."""
    counts = {verdict.value: len(record.ended(verdict)) for verdict in Verdict}
    document = {"format": FORMAT, "about": record.about, "counts": counts, "cases": record.cases}
    return _paired(json.dumps(document, indent=1, allow_nan=False, default=_fields)) + "\n"


def from_json(text: str, name: str = "The report") -> Record:
    """The record that this JSON describes.

    Raises:
        ConfigurationError: it is not JSON, of another format, or a value in it is wrong; says where.
    """
    try:
        document = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise ConfigurationError(f"{name} is no JSON{where}. {AGAIN}") from None
    mistake = _format_mistake(document)
    if not mistake:
        try:
            read = _Document.model_validate_json(_paired(text))
        except ValidationError as error:
            mistake = _sentence(error.errors(include_url=False)[0])
        else:
            mistake = next(_more_mistakes(read), "")
    if mistake:
        raise ConfigurationError(f"{name} is no such report: {mistake} {AGAIN}")
    return Record(read.about, read.cases)


def read_record(path: Path) -> Record:
    """The record in this file.

    Raises:
        ConfigurationError: it cannot be read, or is no record.
    """
    try:
        content = read_regular(path, LARGEST)
    except OSError as error:
        raise ConfigurationError(f"Cannot read {str(path)!r}: {error.strerror}. {AGAIN}") from error
    if len(content) > LARGEST:
        raise ConfigurationError(f"{str(path)!r} is larger than any report. {AGAIN}")
    try:
        return from_json(content.decode(), repr(str(path)))
    except UnicodeDecodeError:
        raise ConfigurationError(f"{str(path)!r} is no text in UTF-8. {AGAIN}") from None


def _fields(value: Any) -> dict[str, Any]:
    """A dataclass as JSON writes it."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _paired(text: str) -> str:
    """JSON with U+FFFD for each half of a surrogate pair: a back end may send one, and readers refuse it."""
    return _SURROGATES.sub(lambda match: r"\ufffd" if len(match[0]) == len(r"\ud800") else match[0], text)


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _format_mistake(document: Any) -> str:
    if not isinstance(document, dict):
        return f"the file is {_kind(document)}; it has to be an object."
    number = document.get("format")
    if type(number) is not int:
        return f"it does not say its format; this workbook reads format {FORMAT}."
    if number != FORMAT:
        newer = " Use the workbook that wrote it, or a newer one." * (number > FORMAT)
        return f"it is of format {str(number)[:20]}; this workbook reads format {FORMAT}.{newer}"
    return ""


def _sentence(details: ErrorDetails) -> str:
    """What is wrong at one place of the file."""
    place, value, kind = details["loc"], details.get("input"), details["type"]
    if "headers" in place and len(place) > place.index("headers") + 2:
        return f"{_where(place[: place.index('headers') + 2])} is no pair of a header's name and its value."
    match kind:
        case "missing":
            return f"{_where(place[:-1])} has no {place[-1]!r}."
        case "enum":
            return f"{_where(place)} is {str(value)[:40]!r}; it has to be one of: {', '.join(choices(details))}."
        case "json_invalid":
            return "it is nested too deep."
        case _:
            return f"{_where(place)} is {_kind(value)}; it has to be {WANTED.get(kind, 'an object')}."


def _more_mistakes(document: _Document) -> Iterator[str]:
    """What a type cannot say: names, bodies, and that no two cases have one name."""
    names: set[str] = set()
    for at, name in enumerate(document.about.unfinished):
        if not _NAME.match(name):
            yield f"the file.about.unfinished[{at}] is no name of a case, such as relay.get.path."
    for at, case in enumerate(document.cases):
        if not _NAME.match(case.name):
            yield f"the file.cases[{at}].name is no name of a case, such as relay.get.path."
        if case.name in names:
            yield f"two cases are called {case.name!r}."
        names.add(case.name)
        for number, exchange in enumerate(case.exchanges):
            for side in ("request", "answer"):
                message = getattr(exchange, side)
                if message is not None and _is_deep(message.body):
                    yield f"the file.cases[{at}].exchanges[{number}].{side}.body is nested too deep."


def _is_deep(value: Any, room: int = DEEPEST) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return room < 0 or any(_is_deep(item, room - 1) for item in inner)


def _where(place: tuple[str | int, ...]) -> str:
    return "the file" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in place)


def _kind(value: Any) -> str:
    return KINDS.get(type(value), "a number")
