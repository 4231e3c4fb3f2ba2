"""Numbers from outside, checked once: each answer is a plain float or int, each error says what is allowed."""

from __future__ import annotations

from math import inf, isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable


def number(name: str, value: object, *, least: float = 0.0, most: float = inf, above: bool = False) -> float:
    """A finite number from `least` to `most`; `above` leaves `least` itself out.

    Raises:
        ParameterError: it is a bool, no number, NaN, infinite or out of range.
    """
    real = _float(value)
    if real is not None and isfinite(real) and least <= real <= most and not (above and real == least):
        return real
    start = f"above {least:g}" if above else f"of {least:g} or more"
    end = "" if most == inf else f" and at most {most:g}"
    raise ParameterError(f"{name} is {shown(value)}. Give a finite number {start}{end}.")


def whole(name: str, value: object, *, least: int, most: int) -> int:
    """A whole number from `least` to `most`.

    Raises:
        ParameterError: it is a bool, no whole number, or out of range.
    """
    if isinstance(value, Integral) and not isinstance(value, bool) and least <= int(value) <= most:
        return int(value)
    raise ParameterError(f"{name} is {shown(value)}. Give a whole number from {least:,} to {most:,}.")


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    """One of these words.

    Raises:
        ParameterError: it is another; says which was probably meant.
    """
    words = list(allowed)
    if isinstance(value, str) and value in words:
        return value
    raise ParameterError(f"{name} is {shown(value)}. {did_you_mean(str(value), words)}")


def durations(values: Iterable[object]) -> list[float]:
    """One or more durations in seconds, each finite and 0 or more.

    Raises:
        ParameterError: there is none, or one is something else; says at which position, counted from 1.
    """
    found = [_duration(at, value) for at, value in enumerate(_each(values), start=1)]
    if not found:
        raise ParameterError("There are no durations to judge. Give at least one, in seconds.")
    return found


def _each(values: Iterable[object]) -> Iterable[object]:
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise ParameterError(f"The durations are {shown(values)}. Give a list of seconds, such as [0.031, 0.044].")
    return values


def _duration(at: int, value: object) -> float:
    real = _float(value)
    if real is not None and isfinite(real) and real >= 0:
        return real
    raise ParameterError(f"Duration {at} is {shown(value)}. Give seconds, a finite number of 0 or more.")


def _float(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf


def shown(value: object) -> str:
    """A value as an error names it: its repr, at most 60 characters of it."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "something too large to write out"  # thousands of digits, or lists within lists
    return text if len(text) <= 60 else f"{text[:59]}…"  # noqa: PLR2004  # the docstring says it
