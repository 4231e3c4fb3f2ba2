"""What is looked for in every exchange of a run, whichever case it belongs to: nothing of it is kept but where it was.

An answer is looked at when its case ends, because answers are large and many; the judges of `cases.secrecy` say what
follows.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from workbook.api.layers import decode_strictly
from workbook.conformance.leaks import session_secrets

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from workbook.conformance.seen import Arrived, Call
    from workbook.conformance.target import Target

SHORTEST_PART = 8
"""As many characters of the key in a row give it away; a shorter session value could stand anywhere."""

PIECE = 16
"""As many characters of a value in a row are no chance."""


@unique
class Secret(StrEnum):
    """What does not belong where it is looked for."""

    KEY = "the key"
    HOST = "the API's address"
    SESSION = "the cardholder's session"


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a secret stood, never the secret.

    Attributes:
        secret: which.
        case: during which case, by name; empty where that is not known.
        where: in words, such as `an answer with status 504`.
    """

    secret: Secret
    case: str
    where: str


@dataclass(frozen=True, slots=True)
class Watched:
    """What came of it.

    Attributes:
        answers: how many answers to the phone were looked at.
        requests: how many requests at the API were.
        found: in their order.
    """

    answers: int = 0
    requests: int = 0
    found: tuple[Found, ...] = ()


NOTHING = Watched()


class Watch:
    """Looks at answers and requests.

    Args:
        key: the API key that the back end was given.
        host: the API's host and port, as the back end was told them.
        target: the back end, whose cardholders' sessions are looked for.
    """

    def __init__(self, key: str, host: str, target: Target) -> None:
        self._parts = parts(key, SHORTEST_PART)
        self._address = re.compile(rf"{re.escape(host)}|\bport\W{{0,5}}{host.rpartition(':')[2]}\b", re.IGNORECASE)
        self._sessions = _sessions(target)
        self._answers, self._found = 0, list[Found]()

    def __repr__(self) -> str:
        return f"Watch({self._answers} answers)"

    def answers(self, case: str, calls: Iterable[Call], arrived: Iterable[Arrived]) -> None:
        """Look at what the phone was told in one case."""
        given = {one.given for one in arrived if one.given}
        for call in calls:
            text = answer_text(call, given)
            self._answers += bool(text)
            where = f"an answer with status {call.status}" if call.status else "an answer that broke off"
            self._found += (Found(secret, case, where) for secret in self._told(text))

    def seen(self, requests: Collection[Arrived]) -> Watched:
        """Everything so far, and what stands in these requests."""
        sent = (Found(Secret.SESSION, "", place) for one in requests for place in self._places(one))
        return Watched(self._answers, len(requests), (*self._found, *sent))

    def _told(self, text: str) -> Iterator[Secret]:
        if any(part in text for part in self._parts):
            yield Secret.KEY
        if self._address.search(text):
            yield Secret.HOST

    def _places(self, one: Arrived) -> Iterator[str]:
        """Where in a request a session stands; each place once."""
        method, said = one.request.method, one.request
        body = said.body.decode("utf-8", "replace") if self._sessions else ""
        texts = [(f"the header {name.lower()[:40]}", value) for name, value in said.headers]
        for place, text in (*texts, ("the path", said.target), ("the body", body)):
            if any(secret in text for secret in self._sessions):
                yield f"{place} of a {method}"


def parts(secret: str, length: int) -> tuple[str, ...]:
    """Every part of a secret that is so long."""
    return tuple(secret[at : at + length] for at in range(max(1, len(secret) - length + 1)))


def answer_text(call: Call, given: Collection[str] | None = None) -> str:
    """Everything that the phone was told, without the value that belongs there; what broke off as far as it came.

    Args:
        call: whose answer.
        given: what the API gave: a value that has nothing of it is looked at too; None takes every value for one that
            belongs there.
    """
    headers = "\n".join(f"{name}: {value}" for name, value in call.headers)
    body = (call.body or call.partial).decode("utf-8", "replace")
    belongs = call.value if call.value and (given is None or _akin(call.value, given)) else None
    for value in (belongs, json.dumps(belongs)[1:-1]) if belongs else ():
        body = body.replace(value, "")
    return f"{headers}\n{body}" if headers or body else ""


def _akin(value: str, given: Collection[str]) -> bool:
    """Whether a value has a piece of what the API gave, changed on its way or not."""
    return any(_piece_of(mine, own) for one in given for mine, own in ((value, one), (_inside(value), _inside(one))))


def _piece_of(value: str, whole: str) -> bool:
    starts = range(0, max(1, len(value) - PIECE + 1), max(1, len(value) // PIECE))
    return bool(value) and any(value[at : at + PIECE] in whole for at in starts)


def _inside(value: str) -> str:
    return (decode_strictly(value) or b"").decode("latin-1")


def _sessions(target: Target) -> tuple[str, ...]:
    """What a session consists of, as far as it is long enough to be found, and no card's id."""
    values = (value for one in target.cardholders for _name, value in one.session)
    cards = {card for one in target.cardholders for card in one.cards}
    return tuple(sorted({one for one in session_secrets(values) if len(one) >= SHORTEST_PART} - cards))
