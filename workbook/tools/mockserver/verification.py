"""Judges a journal by what it is expected to hold.

    verify(journal, exactly(1, "GET", instrument).before("POST"), no_repeated_post())

The same expectation as plain JSON values, for a client of the control API:

    {"expect": "exactly", "count": 1, "operation": "GET", "instrument": "PI...", "before": "POST"}

A journal that had to drop its oldest entries proves only that something was there, never that something was not. An
expectation that cannot be proven does not pass, and its outcome says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from workbook.base.values import did_you_mean, is_whole
from workbook.errors import ParameterError
from workbook.tools.mockserver.journal import Entry, Journal, length_and_run

Entries = tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a journal is expected to hold.

    Attributes:
        expect: one of `EXPECTATIONS`.
        operation: GET or POST (API-1, API-2).
        count: how many; only for the kinds that count.
        instrument: a payment instrument id; None counts all instruments together.
        status: only requests with this answer; None means any answer.
        order: GET or POST: everything counted was answered before the first of these arrived; None for no order.
        instruments: the ids for "one GET per instrument"; empty means each id that was asked for.

    Raises:
        ParameterError: a word is misspelt, or a value has the wrong type.
    """

    expect: str
    operation: str = "GET"
    count: int = 1
    instrument: str | None = None
    status: int | None = None
    order: str | None = None
    instruments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _known("expectation", self.expect, EXPECTATIONS)
        for operation in (self.operation, self.operation if self.order is None else self.order):
            _known("operation", operation, ("GET", "POST"))
        for name, number in (("count", self.count), ("status", 0 if self.status is None else self.status)):
            if not is_whole(number, 0, 1_000_000):
                raise ParameterError(f"The {name} of an expectation is a whole number from 0, not {number!r:.40}.")
        for instrument in (*self.instruments, *(() if self.instrument is None else (self.instrument,))):
            if not isinstance(instrument, str) or not instrument:
                kind = type(instrument).__name__
                raise ParameterError(f"The instrument of an expectation is a text that is not empty, not {kind}.")

    def before(self, operation: str) -> Expectation:
        """The same, all answered before the first request of `operation` arrived (API-10)."""
        return replace(self, order=operation)

    def answered(self, status: int) -> Expectation:
        """The same, for requests with this status only: a GET may be made again after a 503."""
        return replace(self, status=status)

    @property
    def sentence(self) -> str:
        """What is expected, in words."""
        return EXPECTATIONS[self.expect].sentence(self)


def exactly(count: int, operation: str, instrument: str | None = None) -> Expectation:
    """Exactly so many of an operation, for an instrument or for any."""
    return Expectation("exactly", operation, count, instrument)


def at_least(count: int, operation: str, instrument: str | None = None) -> Expectation:
    """`count` of an operation or more."""
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
    """One GET for each of these instruments and for no other; without any, one for each that was asked for."""
    return Expectation("one GET per instrument", instruments=instruments)


def from_json(value: object) -> Expectation:
    """An expectation from plain JSON values, where the order is called `before`.

    Raises:
        ParameterError: a field is misspelt, missing, or does not belong to this kind.
    """
    if not isinstance(value, dict) or "expect" not in value:
        raise ParameterError(
            'An expectation is an object such as {"expect": "exactly", "count": 1, "operation": "GET"}.'
        )
    name = value["expect"]
    _known("expectation", name, EXPECTATIONS)
    kind = EXPECTATIONS[name]
    for given in value:
        _known("field of this expectation", given, ("expect", *kind.needs, *kind.takes))
    if missing := [needed for needed in kind.needs if needed not in value]:
        raise ParameterError(f"The expectation {name!r} also needs: {', '.join(missing)}.")
    fields = {"order" if given == "before" else given: one for given, one in value.items()}
    listed = fields.pop("instruments", [])
    if not isinstance(listed, list):
        raise ParameterError("The instruments of an expectation are a list of payment instrument ids.")
    return Expectation(**{**kind.fixed, **fields, "instruments": tuple(listed)})


def _known(what: str, value: object, known: Iterable[str]) -> None:
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        raise ParameterError(f"There is no {what} {value!r:.40}. {did_you_mean(str(value)[:40], names)}")


class Outcome(NamedTuple):
    """The outcome of an expectation.

    Attributes:
        passed: whether it was met, and proven to be.
        sentence: what was expected.
        seen: what was there instead, or what met it.
    """

    passed: bool
    sentence: str
    seen: str

    def __str__(self) -> str:
        return f"{'ok' if self.passed else 'NOT OK'}: {self.sentence}; seen: {self.seen}."


def verify(journal: Journal, *expectations: Expectation) -> list[Outcome]:
    """The outcome of each expectation, in their order."""
    dropped, entries = journal.dropped, journal.entries()
    outcomes = []
    for expectation in expectations:
        kind = EXPECTATIONS[expectation.expect]
        met, seen = kind.judge(expectation, entries)
        if dropped:
            seen += f"; {dropped} older requests are no longer kept"
            met = met and kind.lasting and expectation.order is None
        outcomes.append(Outcome(met, expectation.sentence, seen))
    return outcomes


# Each kind: its sentence, and its judge, which returns whether it is met and what was seen.


def _of(expectation: Expectation, entries: Entries, operation: str) -> Entries:
    """The entries of an operation for the instrument that is meant."""
    return tuple(
        entry
        for entry in entries
        if entry.operation == operation and expectation.instrument in (None, entry.instrument)
    )


def _counted(expectation: Expectation, entries: Entries) -> Entries:
    """The entries that an expectation counts."""
    candidates = _of(expectation, entries, expectation.operation)
    return tuple(entry for entry in candidates if expectation.status in (None, entry.status))


def _first_five(words: Sequence[str]) -> str:
    """These words as a list; of more than five, how many are left out."""
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if len(words) > 5 else "")


def _numbers(entries: Iterable[Entry]) -> str:
    """The numbers of these entries, after a blank."""
    numbers = [f"#{entry.number}" for entry in entries]
    return f" ({_first_five(numbers)})" if numbers else ""


def shown_id(instrument: str | None) -> str:
    """An id as a sentence may repeat it: opaque data in its place is left out, control characters are escaped."""
    plain = (instrument or "").encode("unicode_escape").decode("ascii")
    return plain if len(plain) <= 64 else f"[{len(plain)} characters]"


def _which(expectation: Expectation) -> str:
    """The conditions of an expectation, each after a blank or a comma."""
    instrument = "" if expectation.instrument is None else f" for {shown_id(expectation.instrument)}"
    status = "" if expectation.status is None else f" answered {expectation.status}"
    order = "" if expectation.order is None else f", before the first {expectation.order}"
    return instrument + status + order


def _count_sentence(expectation: Expectation) -> str:
    how_many = "no" if expectation.expect == "none" else f"{expectation.expect} {expectation.count}"
    return f"{how_many} {expectation.operation}{_which(expectation)}"


def _count_judge(holds: Callable[[int, int], bool]) -> Callable[[Expectation, Entries], tuple[bool, str]]:
    """A judge that compares the number of entries with the expected one, and then looks at the order."""

    def judge(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
        counted = _counted(expectation, entries)
        met = holds(len(counted), expectation.count)
        seen = f"{len(counted)} {expectation.operation}{_numbers(counted)}"
        if expectation.order is None:
            return met, seen
        later = _of(expectation, entries, expectation.order)
        if not later:  # without the other operation there is no order to see
            return False, f"{seen}, and no {expectation.order}"
        first = later[0]
        late = [entry for entry in counted if entry.number > first.number or entry.answered > first.arrived]
        seen += f", the first {expectation.order} is #{first.number}"
        return met and not late, seen + (f"; not answered before it:{_numbers(late)}" if late else "")

    return judge


def _repeat_judge(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
    groups: dict[tuple[str | None, bytes], list[Entry]] = {}
    runs: dict[tuple[str | None, int], set[str]] = {}
    for entry in _of(expectation, entries, "POST"):
        groups.setdefault((entry.instrument, entry.body), []).append(entry)
        if (of_one_run := length_and_run(entry)) is not None:
            length, run = of_one_run
            runs.setdefault((entry.instrument, length), set()).add(run)
    repeated = [group for group in groups.values() if len(group) > 1]
    if not repeated:
        unknown = sum(len(several) > 1 for several in runs.values())
        doubt = "; some of the same length came before and after a restart, and their bodies cannot be compared"
        return not unknown, f"{sum(map(len, groups.values()))} POST, no two alike{doubt if unknown else ''}"
    return False, ", and".join(f"{_numbers(group)} with the same body" for group in repeated[:5]).strip()


def _each_sentence(expectation: Expectation) -> str:
    named = ", ".join(map(shown_id, expectation.instruments))
    return f"one GET{_which(expectation)} for each of {named or 'the instruments asked for'} (API-12)"


def _each_judge(expectation: Expectation, entries: Entries) -> tuple[bool, str]:
    counts = Counter(entry.instrument or "" for entry in _counted(expectation, entries))
    wanted = expectation.instruments or tuple(counts)
    wrong = [name for name in dict.fromkeys((*wanted, *counts)) if counts[name] != int(name in wanted)]
    if not wrong:
        return bool(counts), f"{counts.total()} GET for {len(counts)} instruments"
    return False, _first_five([f"{counts[name]} for {shown_id(name)}" for name in wrong])


class ExpectationKind(NamedTuple):
    """A kind of expectation.

    Attributes:
        sentence: says it in words.
        judge: judges the entries of a journal.
        needs: the JSON fields that it must have.
        takes: the JSON fields that it may have.
        lasting: whether dropped entries cannot change a pass.
        fixed: the attributes that its JSON form lacks, with the values that its Python call sets.
    """

    sentence: Callable[[Expectation], str]
    judge: Callable[[Expectation, Entries], tuple[bool, str]]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    lasting: bool = False
    fixed: Mapping[str, Any] = {}


_NEEDS, _TAKES = ("count", "operation"), ("instrument", "status", "before")
# Every kind of expectation, by the word that asks for it.
EXPECTATIONS: Mapping[str, ExpectationKind] = {
    "exactly": ExpectationKind(_count_sentence, _count_judge(lambda number, count: number == count), _NEEDS, _TAKES),
    "at least": ExpectationKind(
        _count_sentence, _count_judge(lambda number, count: number >= count), _NEEDS, _TAKES, lasting=True
    ),
    "at most": ExpectationKind(_count_sentence, _count_judge(lambda number, count: number <= count), _NEEDS, _TAKES),
    "none": ExpectationKind(
        _count_sentence,
        _count_judge(lambda number, _count: not number),
        ("operation",),
        ("instrument", "status"),
        fixed={"count": 0},
    ),
    "no repeated POST": ExpectationKind(
        lambda expectation: f"no POST{_which(expectation)} sent twice with the same body (REL-1)",
        _repeat_judge,
        takes=("instrument",),
        fixed={"operation": "POST", "count": 0},
    ),
    "one GET per instrument": ExpectationKind(_each_sentence, _each_judge, takes=("instruments", "status")),
}
