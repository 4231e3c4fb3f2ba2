"""The exact interval of a share (Clopper and Pearson, 1934), with the standard library alone.

Seen are `over` of `count`. The interval's lower end is the smallest true share that would still show as many
in more than 2.5 % of all series; its upper end is the same from the other side. With X binomial,

    P(X >= over) = I_p(over, count - over + 1)

is the regularised incomplete beta function. It grows with p, so its inverse is found by halving; its value
comes from the continued fraction of Numerical Recipes 6.4, evaluated by Lentz's method.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p

CONFIDENCE = 0.95
TINY = 1e-300
"""Stands for 0 where the continued fraction would divide by it."""
CLOSE = 4e-15
"""When a turn of the fraction changes its value by less, it is done; rounding alone may change it by 1e-15."""


def interval(over: int, count: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Between which shares the true one lies, with this confidence, when `over` of `count` were seen.

    `count` is 1 or more and `over` between 0 and it; both ends are between 0 and 1 and contain `over / count`.
    """
    tail = (1 - confidence) / 2
    return _lowest(over, count, tail), 1 - _lowest(count - over, count, tail)


def at_least(over: int, count: int, share: float) -> float:
    """The chance that `over` or more of `count` are over when each is with the chance `share`."""
    if over <= 0 or share >= 1:
        return 1.0
    return 0.0 if share <= 0 else _beta(share, over, count - over + 1)


def _lowest(over: int, count: int, tail: float) -> float:
    """The share at which `over` or more of `count` have the chance `tail`; halved until no number lies between."""
    if over == 0:
        return 0.0
    low, high = 0.0, over / count
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if at_least(over, count, middle) < tail else (low, middle)
    return low


def _beta(x: float, a: int, b: int) -> float:
    """The regularised incomplete beta function; the fraction converges fast on the side of the mean only."""
    if x > (a + 1) / (a + b + 2):
        return 1 - _front(1 - x, x, b, a) * _fraction(1 - x, b, a) / b
    return _front(x, 1 - x, a, b) * _fraction(x, a, b) / a


def _front(x: float, rest: float, a: int, b: int) -> float:
    logarithm = log1p(-x) if x < rest else log(rest)
    return exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * logarithm)


def _fraction(x: float, a: int, b: int) -> float:
    """The continued fraction, two of its terms at each turn; it needs about the square root of a + b of them."""
    c, d = 1.0, 1 / _kept(1 - (a + b) * x / (a + 1))
    value, change, m = d, 2.0, 0
    while abs(change - 1) > CLOSE:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        c, d = _kept(1 + even / c), 1 / _kept(1 + even * d)
        value *= c * d
        c, d = _kept(1 + odd / c), 1 / _kept(1 + odd * d)
        change = c * d
        value *= change
    return value


def _kept(number: float) -> float:
    return number if abs(number) > TINY else TINY
