"""What a line of an exchange rests on, in full sentences: rules of the ledger, and the sources of what no rule says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from workbook.errors import ParameterError
from workbook.rules import rule
from workbook.trace import Kind
from workbook.views.plain import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from workbook.trace import Record

SOURCES: Mapping[str, str] = {
    "spec": "the interface document says so",
    "openapi": "the operator's published OpenAPI file says so, the interface document does not",
    "sdk-a": "the public reference of platform A's SDK says so, the interface document does not",
    "sdk-b": "the public interface of platform B's SDK says so, the interface document does not",
    "wallet": "public knowledge of the wallet platform, not in the interface document",
    "seen": "seen on the official clients, not in the interface document",
    "inferred": "concluded, stated nowhere: take it as an assumption",
    "assumed": "our choice, because the interface document leaves it open: the real thing may differ",
}
"""What a source's tag means."""
DEPRECATED = "deprecated: the call works in this variant, which advises against it and has another way"

_ID = re.compile(r"[A-Z]+(-[A-Z]+)*-\d+")


def rests_on(record: Record) -> tuple[str, ...]:
    """A sentence for each rule and for each source that a record rests on, and one for what is deprecated."""
    told = [*(_rule(one) for one in record.rules), *_basis(str(getattr(record.message, "basis", "")))]
    if record.kind in (Kind.COMMAND, Kind.EVENT) and record.source != "spec":
        told.append(_ours(record))
    return tuple(dict.fromkeys([*told, *([DEPRECATED] if record.deprecated else [])]))


def _ours(record: Record) -> str:
    """What came is what the document names; only what is made of it may be known from elsewhere."""
    what = "this step" if record.kind is Kind.COMMAND else "what is made of it"
    return f"{what}: {source(record.source)}"


def source(tag: str) -> str:
    """A source's tag with its meaning."""
    return f"{clean(tag)} ({SOURCES.get(tag, 'a source that is not known here')})"


def _rule(rule_id: str) -> str:
    try:
        return str(rule(rule_id))
    except ParameterError:
        return f"{clean(rule_id)}: not in the ledger of rules"


def _basis(basis: str) -> Iterator[str]:
    """The statements of a basis such as "API-1 API-9; content: assumed"."""
    for statement in filter(None, map(str.strip, basis.split(";"))):
        about, colon, rest = statement.rpartition(":")
        for word in rest.split():
            told = _rule(word) if _ID.fullmatch(word) else source(word) if word in SOURCES else clean(word)
            yield f"{clean(about)}: {told}" if colon else told
