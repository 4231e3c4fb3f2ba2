"""Where single answers part: what ended otherwise than the simulator's, and what equal statuses differ in."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from workbook.proxy.case import Case, fault, found, grouped, of_status
from workbook.proxy.difference import Difference, differences
from workbook.proxy.finding import Kind, Setting
from workbook.proxy.outcome import FINE, contradicts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbook.proxy.finding import Finding
    from workbook.proxy.replay import Replay

    Whose = tuple[str, str]

BY_INSTRUMENT = frozenset({"200", "401", "403", "404", "409", "422"})
"""Endings that may be about one payment instrument; the others are about the operation."""
ROLES = frozenset({("403", FINE), (FINE, "403")})
"""Endings, the real one first, that a credential's role explains (API-15)."""
WITHOUT = "without the role"
"""The credential that is added for a key that the real API refused with 403 throughout."""
ANYBODY = ("", "")


def endings(cases: Sequence[Case], done: set[int], replay: Replay) -> Iterator[Finding]:
    """What ended otherwise than the simulator's, by what was asked and, where that matters, for whom."""
    whose = _Whose(cases, done, replay)
    differing = (case for case in cases if case.differs and case.one.line not in done)
    for key, seen in grouped(differing, lambda case: (case.word, case.basis, case.operation, *whose.of(case))):
        who, first = (key[-2], key[-1]), seen[0]
        kind, published = of_status(first.word)
        rule = contradicts(first.word)
        of = whose.count(first.operation, who)
        yield found(
            Kind.DOCUMENT if rule else kind,
            seen,
            of=of,
            real=f"{first.word} for the {' '.join(who)}" if who != ANYBODY else first.word,
            simulated=first.simulated,
            basis=rule or (first.basis if kind is Kind.ASSUMED else published),
            setting=_setting(whose, seen, who, of),
        )


def details(cases: Sequence[Case]) -> Iterator[Finding]:
    """What equal statuses differ in."""
    seen: dict[tuple[str, str, Difference], list[Case]] = defaultdict(list)
    for case in cases:
        if case.response is not None and not case.differs:
            for one in differences(case.one, case.response):
                seen[case.operation, case.word, one].append(case)
    for (operation, word, one), alike in seen.items():
        of = sum((case.operation, case.word) == (operation, word) for case in cases)
        yield found(one.kind, alike, of=of, real=one.real, simulated=one.simulated, basis=one.basis)


class _Whose:
    """Whether an ending is about a credential, an instrument, or anybody: what else it has to be true of."""

    def __init__(self, cases: Sequence[Case], done: set[int], replay: Replay) -> None:
        self._cases = cases
        self._replay = replay
        self._words: dict[Whose, set[str]] = defaultdict(set)
        for case in cases:
            if case.one.line not in done:
                self._words["operation", case.operation].add(case.word)
                self._words["instrument", case.instrument].add(case.word)

    def of(self, case: Case) -> Whose:
        """Whom this case's ending is about."""
        if (case.word, case.simulated) in ROLES and self._caller(case) != ANYBODY:
            return self._caller(case)
        refused = case.word == FINE and "API-" not in case.basis
        apart = not self.always(("operation", case.operation), case.word)
        throughout = case.word == "422" and self.always(("instrument", case.instrument), "422")
        for_one = refused or (case.simulated == FINE and (apart or throughout))
        return ("instrument", case.instrument) if for_one and case.word in BY_INSTRUMENT else ANYBODY

    def always(self, who: Whose, word: str) -> bool:
        """Whether nothing else was seen of them."""
        return self._words[who] == {word}

    def count(self, operation: str, who: Whose) -> int:
        """How many exchanges there were of theirs."""
        mine = (case for case in self._cases if case.operation == operation)
        return sum(who in (ANYBODY, ("instrument", case.instrument), self._caller(case)) for case in mine)

    def _caller(self, case: Case) -> Whose:
        """The credential that is to be set: a further one for a key that was always refused, else the scenario's."""
        name = self._replay.credential(case.one)
        if name is None or (case.word == "403" and not self._replay.lacks_role(case.one)):
            return ANYBODY
        return "credential", WITHOUT if case.word == "403" else name


def _setting(whose: _Whose, seen: list[Case], who: Whose, of: int) -> Setting | None:
    """What makes the simulator answer so; None where nothing does."""
    (table, name), first = who, seen[0]
    if table == "credential":
        return Setting("credential", {"role": first.word == FINE}, name=name)
    if first.word == FINE and table == "instrument":
        return Setting("instrument", {"status": "active", "type": "card"}, name=name)
    if first.simulated != FINE:
        return None
    if table == "instrument" and first.word == "422" and whose.always(who, "422"):
        return Setting("instrument", {"status": "inactive"}, name=name)
    return fault(seen, of, name)
