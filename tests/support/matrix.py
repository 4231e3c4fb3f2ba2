"""The kill matrix: which case catches which relay that is broken on purpose, as proof that the cases work.

A case without such a relay may pass whatever it looks at, and a relay that no case catches is a defect that a back
end can have and be told that all is well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from workbook.tools.harness.model import Verdict

CAUGHT = frozenset({Verdict.WARN, Verdict.FAIL})
RIGHT = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})
NOTING = frozenset({"relay.upstream.no-session-ever", "relay.post.no-query"})
"""Cases that come to a note and never to more: no rule says anything of what they look at."""
MADE, BESIDE, MISSED, UNTRIED, NONE = "X", "x", "!", "-", ""
MARKS = {
    MADE: "caught by the case made for it",
    BESIDE: "caught by a case made for something else",
    MISSED: "not caught by the case made for it",
    UNTRIED: "not tried",
}
"""What stands in a cell; nothing where there was nothing to catch."""


@dataclass(frozen=True, slots=True)
class Relay:
    """One relay, and what the cases made of it.

    Attributes:
        name: of the relay.
        wrong: what is wrong with it, as a sentence; empty for one that is in order.
        made: the cases that are made for that, by name.
        verdicts: the verdict on each case that was tried, by name.
    """

    name: str
    wrong: str
    made: tuple[str, ...]
    verdicts: Mapping[str, Verdict]

    @property
    def caught(self) -> frozenset[str]:
        """The cases that were not content with it."""
        return frozenset(name for name, verdict in self.verdicts.items() if verdict in CAUGHT or self._noted(name))

    def _noted(self, case: str) -> bool:
        return case in NOTING and self.verdicts[case] is Verdict.NOTE

    def mark(self, case: str) -> str:
        """What stands in the cell of this case."""
        if case in self.caught:
            return MADE if case in self.made else BESIDE
        return MISSED if case in self.made else NONE if case in self.verdicts else UNTRIED


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cases by relays.

    Attributes:
        cases: their names, in their order.
        relays: in their order, those in order first.
    """

    cases: tuple[str, ...]
    relays: tuple[Relay, ...]

    def gaps(self) -> list[str]:
        """Everything that speaks against the cases, as sentences; empty where they are proven to work."""
        made = {name for relay in self.relays for name in relay.made}
        return [
            *(f"{one.name} is in order, and {case} says {verdict}." for one in self._right()
              for case, verdict in one.verdicts.items() if verdict not in RIGHT),
            *(f"{relay.name} is not caught by {case}, which is made for it." for relay in self.relays
              for case in relay.made if case not in relay.caught),
            *(f"No relay is broken in the way that {case} is made for." for case in self.cases if case not in made),
            *(f"{name} is no case." for name in sorted(made - set(self.cases))),
        ]  # fmt: skip

    def markdown(self) -> str:
        """A table with one row for each relay, and below it each case with the relays that it catches."""
        rows = (
            [relay.name, relay.wrong or "in order", _count(relay.made), str(len(relay.caught))] for relay in self.relays
        )
        by_case = ([f"`{case}`", ", ".join(made) or "-", str(len(all_))] for case, made, all_ in self._catches())
        return "\n".join([
            "# Kill matrix", "", self.summary, "",
            *_table(("Relay", "What is wrong", "Made for it", "Caught by"), rows), "",
            *_table(("Case", "Made for", "Catches"), by_case), "",
        ])  # fmt: skip

    @property
    def summary(self) -> str:
        """What it comes to, in a sentence or two."""
        broken = [relay for relay in self.relays if relay.made]
        told = (
            f"{len(self.cases)} cases against {len(broken)} relays that are broken and {len(self._right())} in order."
        )
        gaps = self.gaps()
        return f"{told} {'Every one is caught by the cases made for it.' if not gaps else f'{len(gaps)} gaps.'}"

    def _right(self) -> Sequence[Relay]:
        return [relay for relay in self.relays if not relay.made]

    def _catches(self) -> Iterable[tuple[str, list[str], list[str]]]:
        for case in self.cases:
            made = [relay.name for relay in self.relays if relay.mark(case) == MADE]
            yield case, made, [relay.name for relay in self.relays if case in relay.caught]


def _count(names: tuple[str, ...]) -> str:
    """The cases, or how many they are where they are many."""
    few = 3
    return ", ".join(f"`{name}`" for name in names) if len(names) <= few else f"{len(names)} cases"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    lines = [_line(head), _line(["---"] * len(head))]
    return [*lines, *(_line([cell.replace("|", "\\|") for cell in row]) for row in rows)]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
