"""What a contract of the simulated API is made of: plain data, and no behaviour but a question or two.

The service checks requests against a contract, and `openapi` writes its document from the same one, so neither can
say what the other does not. The two contracts there are stand in `contracts`.

Each part names its `basis`: rule ids and sources with blanks between them, or several statements with "; " between
them, each of which may begin with what it speaks of, as in "API-1 API-9; content: assumed".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.problems import Problem

SOURCES = ("spec", "openapi", "sdk-a", "sdk-b", "wallet", "seen", "inferred", "assumed")
"""What a fact may rest on where it rests on no rule."""


class Place(StrEnum):
    """Where a request says its API key."""

    HEADER = "header"
    BASIC = "basic"
    QUERY = "query"


class Broken(StrEnum):
    """What can be wrong with a request, in the order in which it is looked for; the last is no fault of the request."""

    PATH = "the path"
    METHOD = "the method"
    NO_KEY = "no API key"
    SEVERAL_KEYS = "several API keys"
    WRONG_KEY = "a wrong API key"
    ROLE = "a credential without the role"
    UNKNOWN = "an unknown payment instrument"
    INACTIVE = "an unusable payment instrument"
    QUERY = "a query parameter"
    BODY = "a body where none belongs"
    MEDIA_TYPE = "the content-type"
    SIZE = "a body that is too large"
    JSON = "a body that is not JSON"
    FIELDS = "the body's fields"
    NO_OUTPUT = "no sdkOutput in the body"
    OUTPUT = "the sdkOutput"
    OURS = "a failure of the API"


@dataclass(frozen=True, slots=True)
class Part:
    """A field of a body, or a parameter.

    Attributes:
        name: as it is sent.
        basis: what it rests on.
        note: what it is, in words.
        required: whether it must be there.
        kind: its JSON type.
        form: its `format`, empty for none.
        shortest: the least characters of a string; that there is such a limit is `limit_basis`.
        items: what an array holds.
        example: one, which rests on `example_basis`; empty for none.
    """

    name: str
    basis: str
    note: str
    required: bool = True
    kind: str = "string"
    form: str = ""
    shortest: int = 0
    limit_basis: str = ""
    items: Shape | None = None
    example: str = ""
    example_basis: str = ""

    def fits(self, value: object) -> bool:
        """Whether a body's field may be this; only strings are ever read."""
        return isinstance(value, str) and len(value) >= self.shortest

    @property
    def wanted(self) -> str:
        """What it must be, for a sentence."""
        return "a string that is not empty" if self.shortest else "a string"


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON object.

    Attributes:
        parts: its fields, in their order.
        basis: what its being such an object rests on.
        closed: no other field may be there; that rests on `closed_basis`.
        names: its fields' names.
    """

    parts: tuple[Part, ...]
    basis: str
    closed: bool = False
    closed_basis: str = ""
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(part.name for part in self.parts))

    @property
    def wanted(self) -> str:
        """What a body must be, for a sentence."""
        names = " and ".join(self.names)
        if not self.closed:
            return f"a JSON object with {names}"
        exactly = len(self.parts) == 1 and self.parts[0].required
        return f"a JSON object with {'exactly one field,' if exactly else 'no other field than'} {names}"


@dataclass(frozen=True, slots=True)
class Body:
    """A request's body: its shape, its media type, and the most bytes of it that are read (`limit_basis`)."""

    shape: Shape
    media_type: str
    most: int
    basis: str
    limit_basis: str = "assumed"


@dataclass(frozen=True, slots=True)
class Way:
    """A way to say the API key.

    Attributes:
        name: of its scheme in the document.
        place: where it is.
        parameter: the header's name in small letters, or the query parameter's.
        basis: what it rests on.
        note: what it is, in words.
    """

    name: str
    place: Place
    parameter: str
    basis: str
    note: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the two operations.

    Attributes:
        method: in capital letters.
        name: its `operationId`.
        summary: what it does, in words.
        basis: the rules that say there is such an operation.
        answers: what a success rests on.
        body: None where none belongs.
        other_query: whether a query parameter that nobody knows is let pass; that rests on `query_basis`.
        sent: headers that OpenAPI cannot declare (name, value, whether they are looked at, basis).
    """

    method: str
    name: str
    summary: str
    basis: str
    answers: str
    body: Body | None
    other_query: bool
    query_basis: str
    sent: tuple[tuple[str, str, bool, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """One way to be refused: what is answered, and on which operations; none means before any is found."""

    problem: Problem
    methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """The whole of it.

    Attributes:
        profile: what it is called.
        path: of both operations, with `{id}` in it.
        id: the path's parameter.
        operations: by method.
        ways: in which the API key is taken, any one of them.
        not_taken: ways that are published but not taken here; who tries one is told.
        checks: in the order in which they are made.
        answer: a success's body.
        problem: a refusal's body.
        ends: what stands before and after the id in the path.
    """

    profile: str
    path: str
    id: Part
    operations: Mapping[str, Operation]
    ways: tuple[Way, ...]
    not_taken: tuple[Way, ...]
    checks: Mapping[Broken, Check]
    answer: Shape
    problem: Shape
    ends: tuple[str, str] = field(init=False)

    def __post_init__(self) -> None:
        before, after = self.path.split("{id}")
        object.__setattr__(self, "ends", (before, after))

    def statuses(self, method: str) -> tuple[int, ...]:
        """Every status that this operation may be answered with."""
        refusals = {check.problem.status for check in self.checks.values() if method in check.methods}
        return tuple(sorted({200} | refusals))
