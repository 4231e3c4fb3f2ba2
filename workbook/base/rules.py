"""The rule ledger, and the sources of everything that the interface document does not say.

Every fact, event, value and sentence that a person sees rests on a rule of the ledger or bears the tag of a source. The
rules are in `rules.toml` beside this file; their ids never change.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Self

from workbook.base.values import lookup
from workbook.errors import ParameterError


class Level(StrEnum):
    """How binding a rule is. `GAP` means that the document does not show it, so what we do is our assumption."""

    MUST = "must"
    SHOULD = "should"
    FACT = "fact"
    PRACTICE = "practice"
    GAP = "gap"


class Owner(StrEnum):
    """Who has to act where a rule is broken."""

    YOU = "you"
    OPERATOR = "operator"
    WALLET_PROVIDER = "wallet provider"
    SCHEME = "scheme"
    WORKBOOK = "workbook"
    NOBODY = "nobody"

    @property
    def in_a_sentence(self) -> str:
        """With its article, such as `the operator`."""
        return self.value if self in {Owner.YOU, Owner.NOBODY} else f"the {self}"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the ledger.

    Attributes:
        id: stable for ever, such as `A-CAN-2`.
        level: how binding it is.
        section: where the interface document says it; `practice` where it does not.
        text: the rule, in words of our own.
        harm: True for a practice whose breach hurts a cardholder or gives a secret away.
    """

    id: str
    level: Level
    section: str
    text: str
    harm: bool = False

    def __str__(self) -> str:
        return f"{self.id} ({self.level}): {self.text}"


class Basis(StrEnum):
    """Where something is known from. The value is the tag that a person sees beside it; `meaning` is a clause."""

    SPEC = "spec", "the interface document says so"
    OPENAPI = "openapi", "the operator's published OpenAPI file says so, the interface document does not"
    SDK_A = "sdk-a", "the public reference of platform A's SDK says so, the interface document does not"
    SDK_B = "sdk-b", "the public interface of platform B's SDK says so, the interface document does not"
    WALLET = "wallet", "public knowledge of the wallet platform, not in the interface document"
    SEEN = "seen", "seen on published clients, not in the interface document"
    INFERRED = "inferred", "concluded, stated nowhere: take it as an assumption"
    ASSUMED = "assumed", "our choice, because the interface document leaves it open: the real thing may differ"

    meaning: str

    def __new__(cls, tag: str, meaning: str = "") -> Self:
        """A tag that knows its meaning; of a known tag the meaning is known."""
        basis = str.__new__(cls, tag)
        basis._value_, basis.meaning = tag, meaning
        return basis


def bases(tags: str) -> tuple[Basis, ...]:
    """The sources of a text such as `wallet inferred`, without the document itself, which needs no tag.

    Raises:
        ValueError: a word is no source's tag.
    """
    return tuple(basis for basis in map(Basis, tags.split()) if basis is not Basis.SPEC)


@cache
def _ledger() -> Mapping[str, Rule]:
    text = files("workbook.base").joinpath("rules.toml").read_text("utf-8")
    rows = tomllib.loads(text)["rule"]
    return MappingProxyType({row["id"]: Rule(**row | {"level": Level(row["level"])}) for row in rows})


def rules(*levels: Level) -> tuple[Rule, ...]:
    """All rules in the ledger's order, or only those of the given levels."""
    return tuple(rule for rule in _ledger().values() if not levels or rule.level in levels)


def sentence(rule_id: str) -> str | None:
    """The sentence of a rule, with its level; None for an id that is not in the ledger."""
    known = _ledger().get(rule_id)
    return None if known is None else f"{known.level}: {known.text}"


def rule(rule_id: str) -> Rule:
    """The rule with this id.

    Raises:
        ParameterError: there is none; the message names the nearest.
    """
    if not isinstance(rule_id, str):
        raise ParameterError(
            f"A rule's id is text such as 'A-CAN-2', not {type(rule_id).__name__}; give one at a time."
        )
    return lookup("rule", rule_id, _ledger())
