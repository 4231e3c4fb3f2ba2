"""Durations that were recorded on real devices: read from a file, checked cell by cell, judged by build.

A file that is almost right would give a verdict that is almost right. So nothing is guessed: each cell is what its
column allows, or an error names the file, the row and the column. A verdict never claims more than the data carry: it
gives the share of calls over the limit, with the interval in which the true share lies with 95 % confidence.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, isfinite, sqrt
from os import PathLike
from pathlib import Path
from statistics import NormalDist
from sys import intern
from textwrap import wrap

import pandas as pd

from workbook.base.files import read_named
from workbook.base.values import did_you_mean, lookup, number, of_type, quoted
from workbook.errors import ParameterError
from workbook.flows.messages import LIMITS, LITTLE_LEFT, StartBudget

# Bytes of a file that is read.
MOST_RECORDED = 64 * 1024 * 1024


def read_durations(path: str | PathLike[str]) -> pd.DataFrame:
    """The durations of a CSV file, one row for each call: call, duration_ms, device, build, cold.

    `device` and `build` are text, so leading zeros stay. Other columns are left out.

    Raises:
        ConfigurationError: the file cannot be read.
        ParameterError: a row or a cell is not allowed; the error says which, and what is.

    Example:
        >>> len(wb.read_durations(wb.sample("measurements/good_build.csv")))
        160
    """
    of_type("path", path, str | PathLike, "the path of a CSV file")
    file = Path(path)
    content = read_named(file, MOST_RECORDED, "Name a CSV file with one row for each call.")
    try:
        rows = _rows(file.name, content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise ParameterError(f'{file.name}: not UTF-8. Save it as UTF-8 ("CSV UTF-8" in a spreadsheet).') from None
    cells = [[_cell(f"{file.name}: row {place}", name, row[name]) for name in COLUMNS] for place, row in rows]
    if not cells:
        raise ParameterError(f"{file.name}: holds no durations. Export at least one call.")
    return pd.DataFrame(cells, columns=list(COLUMNS))


def judge(frame: pd.DataFrame) -> list["Judgement"]:
    """One judgement for each call, build, device, and cold or not, in this order.

    Raises:
        ParameterError: the frame lacks a column, or holds a duration or a call that cannot be judged.

    Example:
        >>> judgements = wb.judge(wb.read_durations(wb.sample("measurements/good_build.csv")))
        >>> print(judgements[0].text.partition(",")[0])
        PASS  pass_entries
    """
    of_type("frame", frame, pd.DataFrame, "a frame of wb.read_durations(path)")
    _check_columns("the frame", [str(name) for name in frame.columns])
    groups = frame.groupby(["call", "build", "device", "cold"], sort=True)["duration_ms"]
    return [
        judge_durations(
            [number("duration_ms", milliseconds, unit="milliseconds") / 1000 for milliseconds in took],
            str(call),
            f"build {build} on {device}, {'cold' if cold else 'warm'}",
        )
        for (call, build, device, cold), took in groups
    ]


def _rows(name: str, text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Each row of a CSV text after the first, with its number in the file."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        rows = [(place, row) for place, row in enumerate(reader, start=1) if row]
    except csv.Error as error:
        message = f"{name}: row {reader.line_num} is no CSV ({error}). Give comma-separated values."
        raise ParameterError(message) from None
    columns = [column.strip() for column in rows.pop(0)[1]] if rows else []
    _check_columns(name, columns)
    for place, row in rows:
        if len(row) != len(columns):
            raise ParameterError(
                f"{name}: row {place} has {len(row)} cells, and there are {len(columns)} columns. "
                "Put a cell that holds a comma into double quotes."
            )
        yield place, dict(zip(columns, row, strict=True))


def _check_columns(name: str, columns: list[str]) -> None:
    for column in COLUMNS:
        if (count := columns.count(column)) != 1:
            wanted = f"The columns are {', '.join(COLUMNS)}, separated by commas."
            raise ParameterError(f"{name}: has the column {column} {count} times; it needs one. {wanted}")


def _cell(place: str, column: str, text: str) -> object:
    try:
        return COLUMNS[column](text.strip())
    except ValueError as error:
        raise ParameterError(f"{place}, column {column} is {quoted(text)}. {error}") from None


def _call(text: str) -> str:
    if text in LIMITS:
        return text
    raise ValueError(did_you_mean(quoted(text), LIMITS))


def _duration(text: str) -> float:
    is_decimal = re.fullmatch(r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII)
    if is_decimal and isfinite(milliseconds := float(text)):
        return milliseconds
    raise ValueError("Give milliseconds, a finite number of 0 or more without a unit, such as 12.5.")


def _name(text: str) -> str:
    if text and text.isprintable():
        return intern(text)  # millions of rows name a handful of devices
    raise ValueError("Give a name as text of printable characters.")


def _flag(text: str) -> bool:
    if text.lower() in {"true", "1", "yes"}:
        return True
    if text.lower() in {"false", "0", "no"}:
        return False
    raise ValueError("Give one of true, 1, yes, false, 0, no.")


# Each column and its reader, which returns a cell's value, or raises a ValueError that says what is allowed.
COLUMNS: Mapping[str, Callable[[str], object]] = {
    "call": _call,
    "duration_ms": _duration,
    "device": _name,
    "build": _name,
    "cold": _flag,
}


# The share of calls that may be over the limit: one in a thousand (assumed).
TARGET = 0.001
# How many standard deviations from the middle a confidence of 95 % reaches, on both sides.
_REACH = NormalDist().inv_cdf((1 + 0.95) / 2)
# What to do about a limit that is missed or nearly missed.
_FETCH_TOGETHER = (
    "Fetch the cards' sdkInputs at the same time instead of one by one, shorten the timeout of each GET, and repeat "
    "fewer of them; a list that lacks a card is better than none."
)
ADVICE = {
    "status": (
        "Read the sdkInput that the app put into secure storage (X-CACHE-1), make no network call in status(), "
        "and leave all other work to passEntries()."
    ),
    "pass_entries": _FETCH_TOGETHER,
    "remote_pass_entries": _FETCH_TOGETHER,
    "generate_add_payment_pass_request_for_pass_entry_with_identifier": (
        "Post sdkOutput once, with a deadline well below the limit, over a connection that is open already, "
        "and give the back end a deadline that is shorter still; a POST is not sent again (REL-1)."
    ),
    "provision": (
        "Post sdkOutput once, with a deadline well below the limit, and return nil while there is time: an "
        "answer that comes too late is ignored (B-DEL-3)."
    ),
}


class LimitVerdict(StrEnum):
    """Whether a limit is kept."""

    PASS = "pass"  # noqa: S105  # a verdict, no password
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, repr=False)
class Judgement:
    """Whether a call keeps its limit.

    Attributes:
        limit: what was asked of it.
        label: which series of calls this is, in words.
        took: how long the calls took, in seconds, ascending; one at least.
    """

    limit: StartBudget
    label: str
    took: tuple[float, ...]

    @property
    def count(self) -> int:
        """How many calls there were."""
        return len(self.took)

    @property
    def over(self) -> int:
        """How many took longer than the limit; exactly the limit is in time (assumed)."""
        return sum(seconds > self.limit.seconds for seconds in self.took)

    @property
    def used(self) -> float:
        """How much of the limit the worst call used; 1 is all of it, more is too much."""
        return round(self.took[-1] / self.limit.seconds, 9)  # 0.08 of 0.1 is 0.8, whatever binary fractions say

    @property
    def interval(self) -> tuple[float, float]:
        """Between which shares the true share of late calls lies, with 95 % confidence (Wilson, 1927)."""
        share, weight = self.over / self.count, _REACH**2 / self.count
        middle = (share + weight / 2) / (1 + weight)
        reach = sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
        return max(0.0, min(middle - reach, share)), min(1.0, max(middle + reach, share))

    @property
    def verdict(self) -> LimitVerdict:
        """Fail: more than the target was over. Warn: some were, or the worst used 80 % of the limit (assumed).

        A single call warns too: it is too few to tell.
        """
        if self.over:
            return LimitVerdict.FAIL if self.over / self.count > TARGET else LimitVerdict.WARN
        return LimitVerdict.WARN if self.used >= LITTLE_LEFT or self.count == 1 else LimitVerdict.PASS

    @property
    def finding(self) -> str:
        """How many were over, and what these calls cannot tell."""
        counted = f"{f'{self.over:,}' if self.over else 'none'} of {self.count:,} over {span(self.limit.seconds)}"
        low, high = map(percent, self.interval)
        if self.over:
            return f"{counted}: {percent(self.over / self.count)} ({low} to {high} with 95 % confidence)"
        text = f"{counted}; up to {high} cannot be excluded"
        if self.interval[1] > TARGET:
            enough = ceil(_REACH**2 * (1 - TARGET) / TARGET)  # the least count whose interval ends at the target
            text += f" ({percent(TARGET)} takes {enough:,} calls with none over)"
        return text

    @property
    def spread(self) -> str:
        """How long the calls took: a 99th percentile only where there are enough calls for one."""
        if self.count == 1:
            return f"took {span(self.took[0])}"
        percentile = f"99th percentile {span(self.percentile(99))}, " if self.count >= 100 else ""
        return f"median {span(self.percentile(50))}, {percentile}worst {span(self.took[-1])}"

    def percentile(self, percent: int) -> float:
        """The seconds that so many of 100 calls took at most: a duration that occurred (nearest rank)."""
        return self.took[-(-percent * self.count // 100) - 1]  # whole numbers, so nothing is rounded

    @property
    def text(self) -> str:
        """The judgement in words, in lines of at most 110 characters."""
        sentences = [
            f"{self.verdict.upper()}  {self.limit.call}, {self.label}: {self.finding}",
            f"{self.spread}; {self.limit.rules[0]} ({self.limit.source})",
        ]
        if self.verdict is LimitVerdict.FAIL:
            sentences.append(f"missed means: {self.limit.missed}")
        elif self.used >= LITTLE_LEFT and not self.over:
            sentences.append(f"little room: the worst used {percent(self.used)} of the limit")
        elif self.count == 1:
            sentences.append("one call is too few to tell: measure more")
        if self.over or self.used >= LITTLE_LEFT:
            sentences.append(ADVICE[self.limit.call])
        return "\n      ".join(line for sentence in sentences for line in wrap(sentence, 104))

    def __repr__(self) -> str:
        return self.text


def judge_durations(seconds: list[float], call: str, label: str) -> Judgement:
    """Judge how long a call took, one number of seconds at least, against its limit.

    Raises:
        ParameterError: no call of this name has a limit.
    """
    return Judgement(lookup("limit for the call", call, LIMITS), label, tuple(sorted(seconds)))


def span(seconds: float) -> str:
    """A duration in three digits, with the unit that fits: 0.0123 is "12.3 ms"."""
    return f"{significant(seconds, 3)} s" if seconds >= 0.9995 else f"{significant(seconds * 1000, 3)} ms"


def percent(share: float) -> str:
    """A share from 0 to 1: 0.071 is "7.1 %", 0.998 is "99.8 %"."""
    return f"{significant(share * 100, 2 if share < 0.95 else 4)} %"


def significant(value: float, digits: int) -> str:
    """A number of 0 or more in this many digits, without an exponent and without trailing zeros."""
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.12f}".rstrip("0").rstrip(".")
