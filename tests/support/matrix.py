"""The kill matrix: which case catches which relay that is broken on purpose, as proof that the cases work.

A case without such a relay may pass whatever it looks at, and a relay that no case catches is a defect that a back
end can have and be told that all is well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbook.tools.harness.model import Verdict

CAUGHT = frozenset({Verdict.WARN, Verdict.FAIL})
RIGHT = frozenset({Verdict.PASS, Verdict.NOT_APPLICABLE})
NOTING = frozenset({"relay.post.no-query"})
"""Cases that come to a note and never to more: no rule says anything of what they look at."""


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
            *(f"{one.name} is in order, and {case} says {verdict}." for one in self.relays if not one.made
              for case, verdict in one.verdicts.items() if verdict not in RIGHT),
            *(f"{relay.name} is not caught by {case}, which is made for it." for relay in self.relays
              for case in relay.made if case not in relay.caught),
            *(f"No relay is broken in the way that {case} is made for." for case in self.cases if case not in made),
            *(f"{name} is no case." for name in sorted(made - set(self.cases))),
        ]  # fmt: skip
