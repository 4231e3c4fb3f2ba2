"""One thing that a journal is expected to hold: plain data that says itself in words.

It is made by a call, or from plain JSON values, for who speaks to the control API from another language:

    exactly(1, "GET", instrument).before("POST")
    {"expect": "exactly", "count": 1, "operation": "GET", "instrument": "PI...", "before": "POST"}

The kinds are a table; `verification` has a judge for each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.errors import ParameterError, did_you_mean
from workbook.simulation.journal_entry import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LARGEST_COUNT = 1_000_000
LONGEST_ID = 64
"""Characters of an id that a sentence repeats."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a journal is expected to hold.

    Attributes:
        expect: one of `KINDS`.
        operation: GET or POST (API-1, API-2).
        count: how many; only for the kinds that count.
        instrument: a payment instrument id; None means any, all of them together.
        status: only requests that were answered so; None means any answer.
        order: GET or POST: all that is counted was answered before the first of these arrived; None for no order.
        instruments: the ids that "one GET per instrument" is about; none means whichever were asked for.

    Raises:
        ParameterError: a word is misspelt, or a value is no such thing.
    """

    expect: str
    operation: str = "GET"
    count: int = 1
    instrument: str | None = None
    status: int | None = None
    order: str | None = None
    instruments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("expectation", self.expect, KINDS)
        _one_of("operation", self.operation, OPERATIONS)
        _whole("count", self.count)
        if self.order is not None:
            _one_of("operation", self.order, OPERATIONS)
        if self.status is not None:
            _whole("status", self.status)
        for one in (*self.instruments, *filter(lambda one: one is not None, [self.instrument])):
            _text("instrument", one)

    def before(self, operation: str) -> Expectation:
        """The same, and all of them answered before the first of these arrived (API-10)."""
        return replace(self, order=operation)

    def answered(self, status: int) -> Expectation:
        """The same, of those requests only that were answered so: a GET may be made again after a 503."""
        return replace(self, status=status)

    @property
    def sentence(self) -> str:
        """What is expected, in words."""
        return KINDS[self.expect].sentence(self)


class Kind(NamedTuple):
    """A kind of expectation: how it is said, and which fields it has as JSON.

    Attributes:
        sentence: says it.
        needs: the fields that must be said.
        takes: the fields that may be said.
        lasting: True where entries that are no longer kept could not have changed a pass.
    """

    sentence: Callable[[Expectation], str]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    lasting: bool = False


def exactly(count: int, operation: str, instrument: str | None = None) -> Expectation:
    """Exactly so many of an operation, for an instrument or for any."""
    return Expectation("exactly", operation, count, instrument)


def at_least(count: int, operation: str, instrument: str | None = None) -> Expectation:
    """So many of an operation or more."""
    return Expectation("at least", operation, count, instrument)


def at_most(count: int, operation: str, instrument: str | None = None) -> Expectation:
    """So many of an operation or fewer."""
    return Expectation("at most", operation, count, instrument)


def none(operation: str, instrument: str | None = None) -> Expectation:
    """Not one of an operation."""
    return Expectation("none", operation, 0, instrument)


def no_repeated_post(instrument: str | None = None) -> Expectation:
    """No POST sent twice with the same body, to the same instrument (REL-1)."""
    return Expectation("no repeated POST", "POST", 0, instrument)


def one_get_each(*instruments: str) -> Expectation:
    """One GET for each of these instruments and for no other; for each that was asked for, where none is named."""
    return Expectation("one GET per instrument", instruments=instruments)


def from_json(value: object) -> Expectation:
    """An expectation said as plain JSON values; `before` is the name of the order there.

    Raises:
        ParameterError: a word is misspelt, missing, or does not go with this kind.
    """
    if not isinstance(value, dict) or "expect" not in value:
        raise ParameterError(
            'An expectation is an object such as {"expect": "exactly", "count": 1, "operation": "GET"}.'
        )
    _one_of("expectation", value["expect"], KINDS)
    kind = KINDS[value["expect"]]
    for name in value:
        _one_of("field of this expectation", name, ("expect", *kind.needs, *kind.takes))
    if missing := [name for name in kind.needs if name not in value]:
        raise ParameterError(f"The expectation {value['expect']!r} also needs: {', '.join(missing)}.")
    return Expectation(**_arguments(value))


def _arguments(value: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names of the fields, as the calls have them, so that both ways make equal expectations."""
    named = {"order" if name == "before" else name: one for name, one in value.items()}
    listed = named.get("instruments", [])
    if not isinstance(listed, list):
        raise ParameterError("The instruments of an expectation are a list of payment instrument ids.")
    return {**_DEFAULTS.get(named["expect"], {}), **named, "instruments": tuple(listed)}


def _say_count(expectation: Expectation) -> str:
    how_many = "no" if expectation.expect == "none" else f"{expectation.expect} {expectation.count}"
    return f"{how_many} {expectation.operation}{_say_which(expectation)}"


def _say_which(expectation: Expectation) -> str:
    said = (
        ("" if expectation.instrument is None else f" for {shown_id(expectation.instrument)}"),
        ("" if expectation.status is None else f" answered {expectation.status}"),
        ("" if expectation.order is None else f", before the first {expectation.order}"),
    )
    return "".join(said)


def _say_repeats(expectation: Expectation) -> str:
    return f"no POST{_say_which(expectation)} sent twice with the same body (REL-1)"


def _say_each(expectation: Expectation) -> str:
    named = ", ".join(shown_id(one) for one in expectation.instruments)
    return f"one GET{_say_which(expectation)} for each of {named or 'the instruments asked for'} (API-12)"


def shown_id(instrument: str | None) -> str:
    """An id as a sentence may repeat it: opaque data in its place is longer, and terminals obey control characters."""
    plain = (instrument or "").encode("unicode_escape").decode("ascii")
    return plain if len(plain) <= LONGEST_ID else f"[{len(plain)} characters]"


_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "none": {"count": 0},
    "no repeated POST": {"operation": "POST", "count": 0},
}

KINDS: Mapping[str, Kind] = {
    "exactly": Kind(_say_count, ("count", "operation"), ("instrument", "status", "before")),
    "at least": Kind(_say_count, ("count", "operation"), ("instrument", "status", "before"), lasting=True),
    "at most": Kind(_say_count, ("count", "operation"), ("instrument", "status", "before")),
    "none": Kind(_say_count, ("operation",), ("instrument", "status")),
    "no repeated POST": Kind(_say_repeats, (), ("instrument",)),
    "one GET per instrument": Kind(_say_each, (), ("instruments", "status")),
}
"""Every kind of expectation, by the word that asks for it."""


def _one_of(what: str, value: object, known: Iterable[str]) -> None:
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        raise ParameterError(f"There is no {what} {value!r:.40}. {did_you_mean(str(value)[:40], names)}")


def _whole(what: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_COUNT:
        raise ParameterError(f"The {what} of an expectation is a whole number from 0, not {value!r:.40}.")


def _text(what: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise ParameterError(f"The {what} of an expectation is a text that is not empty, not {type(value).__name__}.")
