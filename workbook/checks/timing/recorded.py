"""Durations that were recorded on real devices: read from a file, checked cell by cell, judged by build.

A file that is almost right would give a verdict that is almost right. So nothing is guessed: each cell is
what its column allows, or an error names the file, the row as the file counts it, and the column.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from os import PathLike
from pathlib import Path
from sys import intern
from typing import Any

import pandas as pd

from workbook.base.values import did_you_mean, is_number, of_type, quoted
from workbook.checks.timing.verdict import TARGET, Judgement, judge_durations
from workbook.errors import ParameterError
from workbook.flows.messages import LIMITS

# The place of a row in its file, for an error, and its cells by column.
FileRows = Iterator[tuple[str, Mapping[str, Any]]]


# Bytes of a file that is read.
MOST_RECORDED = 64 * 1024 * 1024


def read_durations(path: str | PathLike[str]) -> pd.DataFrame:
    """The durations of a .csv or .json file, one row for each call: call, duration_ms, device, build, cold.

    `device` and `build` are text, so leading zeros stay. Other columns are left out; `frame.attrs["left_out"]` names
    them. A .json file holds a list of objects.

    Raises:
        ParameterError: the file cannot be read, or a row or cell is not allowed; the error says which, and what is.
    """
    file, text = _read(path)
    if file.suffix.lower() not in {".csv", ".json"}:
        raise ParameterError(f"{file.name}: cannot tell its format. Give a file that ends in .csv or .json.")
    columns, rows = (_csv if file.suffix.lower() == ".csv" else _json)(file.name, text)
    checked = [_row(file.name, place, row) for place, row in rows]
    if not checked:
        raise ParameterError(f"{file.name}: holds no durations. Export at least one call.")
    frame = pd.DataFrame(checked, columns=list(COLUMNS))
    frame.attrs["left_out"] = sorted(set(columns) - set(COLUMNS))
    return frame


def judge(frame: pd.DataFrame, *, target: float = TARGET) -> list[Judgement]:
    """One judgement for each call, build, device, and cold or not, in this order.

    Raises:
        ParameterError: the frame lacks a column, or holds a duration or a call that cannot be judged.
    """
    of_type("frame", frame, pd.DataFrame, "a frame of wb.read_durations(path)")
    _check_columns("the frame", [str(name) for name in frame.columns])
    groups = frame.groupby(["call", "build", "device", "cold"], sort=True)["duration_ms"]
    return [
        judge_durations(
            [milliseconds / 1000 for milliseconds in took],
            str(call),
            label=f"build {build} on {device}, {'cold' if cold else 'warm'}",
            target=target,
        )
        for (call, build, device, cold), took in groups
    ]


# First the file, then its cells.


def _read(path: str | PathLike[str]) -> tuple[Path, str]:
    try:
        file = Path(path)
        with file.open("rb") as opened:
            data = opened.read(MOST_RECORDED + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = error.object.count(b"\n", 0, error.start) + 1
        message = f"{file.name}: not UTF-8 text in row {row} (byte {error.start + 1})."
        raise ParameterError(f'{message} Save it as UTF-8 ("CSV UTF-8" in a spreadsheet).') from None
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or "that is no path"
        name = Path(path).name if isinstance(path, str | Path) else quoted(path)
        raise ParameterError(f"{name}: cannot be read ({reason}). Give the path of a file.") from None
    if len(data) > MOST_RECORDED:
        raise ParameterError(f"{file.name}: larger than {MOST_RECORDED >> 20} MiB. Export fewer calls, or split it.")
    return file, text


def _csv(name: str, text: str) -> tuple[list[str], FileRows]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(f"row {number}", row) for number, row in enumerate(reader, start=1) if row]
    except csv.Error as error:
        message = f"{name}: row {reader.line_num} is no CSV ({error}). Give comma-separated values."
        raise ParameterError(message) from None
    if not rows:
        raise ParameterError(f"{name}: is empty. Give the columns {', '.join(COLUMNS)} and one row for each call.")
    columns = [column.strip() for column in rows.pop(0)[1]]
    if len(columns) == 1 and ";" in columns[0]:
        raise ParameterError(f"{name}: its columns are separated by semicolons. Export it with commas.")
    _check_columns(name, columns)
    for place, row in rows:
        if len(row) != len(columns):
            raise ParameterError(
                f"{name}: {place} has {len(row)} cells, and there are {len(columns)} columns. "
                "Put a cell that holds a comma into double quotes."
            )
    return columns, ((place, dict(zip(columns, row, strict=True))) for place, row in rows)


def _json(name: str, text: str) -> tuple[list[str], FileRows]:
    try:
        objects = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ParameterError(f"{name}: is no JSON ({error}). Give a list of objects.") from None
    if not isinstance(objects, list) or not all(isinstance(row, dict) for row in objects):
        raise ParameterError(f'{name}: is no list of objects. Give [{{"call": "status", …}}, …].')
    rows = [(f"object {number}", row) for number, row in enumerate(objects, start=1)]
    for place, row in rows:
        _check_columns(f"{name}: {place}", list(row))
    return sorted({column for row in objects for column in row}), iter(rows)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object names a key twice")
    return fields


def _check_columns(name: str, columns: list[str]) -> None:
    for column in COLUMNS:
        if columns.count(column) > 1:
            raise ParameterError(f"{name}: the column {column} occurs {columns.count(column)} times. Keep one.")
        if column not in columns:
            unknown = [other for other in columns if other not in COLUMNS][:20]  # enough to see which file it is
            others = [repr(other[:40])[1:-1] for other in unknown]
            hint = did_you_mean(column, others) if others else "There is no other."
            raise ParameterError(f"{name}: the column {column} is missing. {hint} Wanted: {', '.join(COLUMNS)}.")


def _row(name: str, place: str, row: Mapping[str, Any]) -> list[Any]:
    values = []
    for column, read in COLUMNS.items():
        try:
            values.append(read(row[column]))
        except ValueError as error:
            raise ParameterError(f"{name}: {place}, column {column} is {quoted(row[column])}. {error}") from None
    return values


def _call(cell: Any) -> str:
    if isinstance(cell, str) and cell.strip() in LIMITS:
        return cell.strip()
    raise ValueError(did_you_mean(quoted(cell), LIMITS))


def _duration(cell: Any) -> float:
    decimal = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
    is_decimal = re.fullmatch(decimal, cell.strip(), re.ASCII) if isinstance(cell, str) else is_number(cell)
    if is_decimal and isfinite(number := float(cell)) and number >= 0:
        return number
    raise ValueError("Give milliseconds, a finite number of 0 or more without a unit, such as 12.5.")


def _name(cell: Any) -> str:
    if isinstance(cell, str) and cell.strip() and cell.isprintable():
        return intern(cell.strip())  # millions of rows name a handful of devices
    raise ValueError("Give a name as text of printable characters (in JSON within quotes, so that leading zeros stay).")


def _flag(cell: Any) -> bool:
    word = str(cell).strip().lower() if isinstance(cell, str | int) else ""
    if word in {"true", "1", "yes"}:
        return True
    if word in {"false", "0", "no"}:
        return False
    raise ValueError("Give one of true, 1, yes, false, 0, no.")


# One reader for both formats: a CSV file has only text, and JSON may have the same as text, as a number or as a flag.

# Each column and its reader, which returns a cell's value, or raises a ValueError that says what is allowed.
COLUMNS: Mapping[str, Callable[[Any], Any]] = {
    "call": _call,
    "duration_ms": _duration,
    "device": _name,
    "build": _name,
    "cold": _flag,
}
