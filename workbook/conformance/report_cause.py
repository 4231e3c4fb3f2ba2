"""What many failures may follow from: a plain call that never worked, or a moment since which nothing worked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbook.conformance.case import Group
from workbook.conformance.judging import AFRESH
from workbook.conformance.report import FAILING, PHONE
from workbook.conformance.seen import SUCCESS
from workbook.conformance.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbook.conformance.report import CaseRecord, Record

FEWEST = 5
"""As many failures in a row, with no success to the end, are more than a mistake in each of them (assumed)."""
PLAIN = "Make the plain case work first"
ASK = "Let the back end ask the API"
_PLAIN = re.compile(r"The app of (platform [AB](?: and platform [AB])*): the plain (GET|POST) does not work:")
"""How `plain` tells of a call that does not work."""
_NOTHING = "No request reached the API."


@dataclass(frozen=True, slots=True)
class Cause:
    """What to mend before anything else.

    Attributes:
        says: in a sentence or two; empty where nothing stands out.
        following: how advice begins that only follows from it, and is told after all other.
        by_time: what did not hold is told in the order of time, because the first of it may have brought the rest.
    """

    says: str = ""
    following: tuple[str, ...] = ()
    by_time: bool = False

    def follows(self, todo: str) -> bool:
        """Whether this advice is for what only follows."""
        return todo.startswith(self.following)


NO_CAUSE = Cause()


def cause(record: Record) -> Cause:
    """What stands out in this run."""
    return _plain(record) or _collapse(record) or NO_CAUSE


def _plain(record: Record) -> Cause | None:
    """A plain call that does not work, as the attempt before all cases found."""
    found = _PLAIN.findall(record.about.trouble)
    operations = {operation for _whose, operation in found}
    count = sum(case.group is not Group.FORM and bool(operations & _called(case)) for case in _failing(record.cases))
    if not count:
        return None
    told = " and ".join(dict.fromkeys(_worded(*one) for one in found))
    asks = () if _NOTHING in record.about.trouble else (ASK,)
    says = f"The plain {told} does not work; {count} of the failures may follow from that. Mend this first."
    return Cause(says, (PLAIN, AFRESH, *asks))


def _worded(whose: str, operation: str) -> str:
    return operation if " and " in whose else f"{operation} of the app of {whose}"


def _collapse(record: Record) -> Cause | None:
    """A moment since which no call had an answer with a status of success, though calls had before."""
    ran = sorted((case for case in record.cases if case.began is not None and _called(case)), key=_began)
    last = max((place for place, case in enumerate(ran) if _succeeded(case)), default=None)
    since = [] if last is None else _failing(ran[last + 1 :])
    if len(since) < FEWEST:
        return None
    first = next((case for case in since if case.verdict is Verdict.FAIL), since[0])
    says = (
        f"Since about {first.name} nothing worked any more; {len(since)} of the failures may follow from that. "
        "Look first at what that case and those beside it left behind in the back end: a connection, a lock, a pool."
    )
    return Cause(says, (PLAIN, ASK), by_time=True)


def in_order(cases: Iterable[CaseRecord], found: Cause) -> list[CaseRecord]:
    """The cases in the order in which they are told: as they are, or by when they began."""
    return sorted(cases, key=_began) if found.by_time else list(cases)


def _began(case: CaseRecord) -> float:
    return float("inf") if case.began is None else case.began


def _failing(cases: Iterable[CaseRecord]) -> list[CaseRecord]:
    return [case for case in cases if case.verdict in FAILING - {Verdict.KNOWN}]


def _called(case: CaseRecord) -> set[str]:
    """What the phone asked the back end for; either where an older report does not say."""
    told = {one.operation for one in case.exchanges if one.side == PHONE}
    return {"GET", "POST"} if "" in told else told


def _succeeded(case: CaseRecord) -> bool:
    return any(one.status in SUCCESS for one in case.exchanges if one.side == PHONE)
