"""An entry of which nothing is kept but what may be shown: all that a state file holds of an exchange (REL-2, REL-3).

A body may carry card data by mistake, and a disk remembers longer than a process. So an entry goes to disk as
`journal_export` shows it, and a body's bytes as their length and a salted digest, by which two bodies can still be told
apart. The salt is the file's: that works over a restart as well. In memory stands the same, so that a restart changes
nothing in what a journal says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import blake2b
from math import isfinite
from typing import Any

from workbook.simulation.journal_entry import Entry

OWN_DIGEST = 16
"""Bytes of the digest of a body that is shown whole anyway."""
DIGEST = 4
"""Bytes of any other body's digest, as everywhere in this package: too few to find the body by trying."""


@dataclass(frozen=True, slots=True, repr=False)
class KeptEntry(Entry):
    """An entry as it may be shown; its headers and its target are shortened, its bodies are `stand_in`s.

    Attributes:
        told: the whole of it as JSON, as `journal_export.as_dict` says it.
    """

    told: str

    @property
    def size(self) -> int:
        """Bytes of what is kept: the same in memory and in a file."""
        return len(self.told) + len(self.body)

    __repr__ = Entry.__repr__


def stand_in(body: bytes, salt: bytes, *, shown_whole: bool) -> bytes:
    """What is kept instead of a body: equal bodies have equal ones, and an empty one stays empty."""
    if not body:
        return b""
    digest = blake2b(body, key=salt, digest_size=OWN_DIGEST if shown_whole else DIGEST).hexdigest()
    return f"[{len(body)} bytes, digest {digest}]".encode()


def kept_entry(told: str, body: bytes) -> KeptEntry:
    """The entry that says this, with what stands in for its request's body.

    Raises:
        LookupError, TypeError, ValueError: it is no entry.
    """
    said = json.loads(told)
    return KeptEntry(
        **{name: _number(said[name]) for name in ("number", "arrived", "answered")},
        **{name: said[name] for name in ("method", "target", "operation", "instrument", "status")},
        **{name: said[name] for name in ("basis", "fault", "ending")},
        headers=_pairs(said["headers"]),
        body=body,
        response_headers=_pairs(said["responseHeaders"]),
        response_body=b"",
        key_in=tuple(said["keyIn"]),
        told=told,
    )


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise TypeError("not a number")
    return value


def _pairs(listed: Any) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in listed)
