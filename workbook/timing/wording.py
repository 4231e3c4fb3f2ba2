"""Durations and shares as a person says them: three digits that count, and the unit that fits."""

from __future__ import annotations

import re
from math import floor, log10
from textwrap import wrap

UNITS = ((1.0, 1.0, "s"), (1e-3, 1e3, "ms"), (0.0, 1e6, "µs"))
"""From how many seconds on a unit is used, how many of it make a second, its sign."""
ROUNDS_UP = 0.9995
"""What would be written as 1000 of a unit belongs to the next larger one."""


def span(seconds: float) -> str:
    """A duration: 0.0123 is "12.3 ms"."""
    per_second, sign = next((per, sign) for least, per, sign in UNITS if seconds >= least * ROUNDS_UP)
    return f"{significant(seconds * per_second)} {sign}"


def percent(share: float) -> str:
    """A share from 0 to 1: 0.071 is "7.1 %"; what is not 0 never reads 0, what is not 1 never reads 100."""
    if share in (0, 1):
        return f"{share * 100:.0f} %"
    if share > 1 or share <= HALF:
        return f"{significant(share * 100, 2)} %" if share >= TINIEST else f"under {significant(TINIEST * 100)} %"
    rest = max(1 - share, TINIEST)
    decimals = max(0, 1 - floor(log10(rest * 100)))
    text = f"{(1 - rest) * 100:.{decimals}f}"
    return f"{'' if rest > TINIEST else 'over '}{text.rstrip('0').rstrip('.') if decimals else text} %"


HALF = 0.5
TINIEST = 1e-9
"""Shares nearer to 0 or 1 are told by this bound."""


def times(count: int, noun: str) -> str:
    """A number of things: "1 call", "1,000,000 calls"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def significant(number: float, digits: int = 3) -> str:
    """A number of 0 or more in this many digits, without an exponent and without closing zeros."""
    rounded = float(f"{number:.{digits}g}")
    if rounded >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    text = f"{rounded:.12f}".rstrip("0").rstrip(".")
    return text or "0"


WIDEST = 110
INDENT = " " * 6
TOGETHER = re.compile(r"(?<=\d) (?=(%|µs|ms|s)(\W|$))")
"""Between a number and its unit no line ends."""
JOINT = "\N{NO-BREAK SPACE}"


def wrapped(*sentences: str) -> str:
    """Sentences as lines of at most 110 characters, all but the first indented; an empty one is left out."""
    lines = (line for one in sentences for line in wrap(TOGETHER.sub(JOINT, one), WIDEST - len(INDENT)))
    return f"\n{INDENT}".join(lines).replace(JOINT, " ")
