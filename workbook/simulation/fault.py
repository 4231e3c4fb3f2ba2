"""One fault: what it does to an answer, with a name, a sentence, a source, and the few numbers that can be set.

A fault is pure: an answer and a chance go in, the faulted answer comes out. When it is played, and whether
the service's state has moved by then, is the plan's business (`fault_plan`); the table is in `faults`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from workbook.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from workbook.simulation.http import Response
    from workbook.simulation.seal import Seal

ASSUMED, OPENAPI = "assumed", "openapi"
LONGEST_TEXT = 200
"""Characters of a setting that is text; it may stand in a header."""


@dataclass(frozen=True, slots=True)
class Chance:
    """What a fault may draw on besides the answer.

    Attributes:
        draw: a number between 0 and 1, both excluded; the same for the same seed, rule and request.
        seal: makes simulated data that is genuine.
    """

    draw: float
    seal: Seal


class Setting(Protocol):
    """One value of a fault that can be set."""

    @property
    def default(self) -> Any:
        """What it is when nobody says anything."""
        ...

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        ...

    def fits(self, value: object) -> bool:
        """Whether it may be this."""
        ...


@dataclass(frozen=True, slots=True)
class Number:
    """A number within a range, ends included; `whole` where only a whole one has a meaning."""

    default: float
    least: float
    most: float
    whole: bool = False

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        return f"a {'whole ' * self.whole}number, {self.least:.12g} to {self.most:.12g}"

    def fits(self, value: object) -> bool:
        """Whether it may be this; a truth value is no number, and NaN is in no range."""
        kind = int if self.whole else int | float
        return isinstance(value, kind) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of a few values."""

    default: str | int
    known: tuple[str | int, ...]

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        return f"one of {', '.join(map(repr, self.known))}"

    def fits(self, value: object) -> bool:
        """Whether it may be this."""
        return any(value == one and type(value) is type(one) for one in self.known)


@dataclass(frozen=True, slots=True)
class Text:
    """Text that can stand in a header."""

    default: str
    allowed = f"printable ASCII text of 1 to {LONGEST_TEXT} characters"

    def fits(self, value: object) -> bool:
        """Whether it may be this."""
        return isinstance(value, str) and value.isascii() and value.isprintable() and 0 < len(value) <= LONGEST_TEXT


if TYPE_CHECKING:
    Change: TypeAlias = Callable[[Response, Chance, Mapping[str, Any]], Response]


@dataclass(frozen=True, slots=True)
class Fault:
    """One way in which an answer goes wrong.

    Attributes:
        name: what a plan, a lesson and an answer's `basis` call it.
        sentence: what it does.
        source: where the answer is published, or `assumed`; that it is played here is assumed always.
        change: what becomes of the answer.
        settings: what can be set, by name.
        rising: the settings' values may not fall from one to the next.
        harmless: it costs time only. The answer is whole, so the request is carried out in either moment: a
            service that forgot what it answers would be lying.
        values: what was set.
    """

    name: str
    sentence: str
    source: str
    change: Change = field(repr=False)
    settings: Mapping[str, Setting] = field(default_factory=dict, repr=False, hash=False)
    rising: bool = field(default=False, repr=False)
    harmless: bool = False
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def but(self, **values: Any) -> Fault:
        """The same fault with other values.

        Raises:
            ParameterError: a setting is unknown, or its value is not allowed.
        """
        for name, value in values.items():
            self._check(name, value)
        changed = replace(self, values={**self.values, **values})
        changed._check_order()  # noqa: SLF001  # one of us
        return changed

    def played(self, answer: Response, chance: Chance) -> Response:
        """The answer with this fault; one that it cannot touch stays as it is."""
        changed = self.change(answer, chance, self._all())
        if changed == answer:
            return answer
        return replace(changed, basis=f"{answer.basis}; {self.basis}" if self.harmless else self.basis, fault=self.name)

    @property
    def basis(self) -> str:
        """What a faulted answer rests on."""
        rests = "content: assumed" if self.source == ASSUMED else f"code: {self.source}; pairing: assumed"
        return f"fault: {self.name}; {rests}"

    def _all(self) -> dict[str, Any]:
        return {name: self.values.get(name, setting.default) for name, setting in self.settings.items()}

    def _check(self, name: str, value: object) -> None:
        setting = self.settings.get(name)
        if setting is None:
            hint = did_you_mean(name, self.settings) if self.settings else "It has none."
            raise ParameterError(f"The fault {self.name!r} has no setting {name!r:.60}. {hint}")
        if not setting.fits(value):
            raise ParameterError(f"{name} of the fault {self.name!r} is {value!r:.60}. Allowed: {setting.allowed}.")

    def _check_order(self) -> None:
        values = list(self._all().values())
        if self.rising and values != sorted(values):
            names = " is at most ".join(self.settings)
            raise ParameterError(f"The settings of the fault {self.name!r} contradict each other. Allowed: {names}.")
