"""What the checks found in a trace, and what to do about it: the gravest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from workbook.views.markup import Markup, tag
from workbook.views.plain import clean, wrap
from workbook.views.table import EDGE, INK, WIDEST, paragraph
from workbook.views.view import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MARKS = {"fail": "✗", "warn": "▲", "note": "•"}
"""Each level's symbol. The level stands beside it in words, so neither colour nor symbol carries it alone."""
NOTHING = "✓ Nothing to report: no check found anything in this run."


class Finding(Protocol):
    """What this view reads of a finding."""

    @property
    def rule(self) -> str:
        """The id of the rule that it is about."""
        ...

    @property
    def level(self) -> str:
        """How grave it is: fail, warn or note."""
        ...

    @property
    def owner(self) -> str:
        """Who has to act: you, operator, wallet provider, scheme, nobody."""
        ...

    @property
    def text(self) -> str:
        """What was seen."""
        ...

    @property
    def todo(self) -> str:
        """What to do; may be empty."""
        ...

    @property
    def at(self) -> float:
        """When, in seconds since the run began."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class Findings(View):
    """Findings to look at, in the order in which they are shown."""

    found: tuple[Finding, ...]

    def text(self) -> str:
        """A few lines for each finding, or one sentence when there is none."""
        return "\n".join(line for one in self.found for line in _lines(one)) or NOTHING

    def html(self) -> str:
        """A list, or one sentence when there is nothing to list."""
        if not self.found:
            return paragraph(NOTHING)
        return tag("ul", *map(_item, self.found), style=f"list-style:none;padding:0;margin:0.3em 0;color:{INK}")


def findings(found: Iterable[Finding]) -> Findings:
    """The findings, the gravest first and within a level in the order of time."""
    levels = list(MARKS)
    return Findings(tuple(sorted(found, key=lambda one: (_place(levels, one.level), one.at))))


def _place(levels: list[str], level: str) -> int:
    return levels.index(level) if level in levels else len(levels)


def _facts(one: Finding) -> tuple[str, str]:
    mark = MARKS.get(str(one.level), "?")
    return f"{mark} {clean(str(one.level))}", f"{clean(one.rule)}, at {one.at:.3f} s"


def _lines(one: Finding) -> Iterator[str]:
    level, where = _facts(one)
    yield f"{level}  {where}"
    for label, told in (("", one.text), (f"{_owner(one)}: ", one.todo)):
        yield from (f"    {line}" for line in wrap(label + clean(told), WIDEST - 4) if told)


def _item(one: Finding) -> Markup:
    level, where = _facts(one)
    head = tag("div", tag("b", level), f"  {where}")
    todo = tag("div", tag("i", f"{_owner(one)}: "), clean(one.todo)) if one.todo else ""
    style = f"border-left:{EDGE};border-left-width:4px;padding:0.1em 0 0.1em 0.8em;margin:0 0 0.6em"
    return tag("li", head, tag("div", clean(one.text)), todo, style=style)


def _owner(one: Finding) -> str:
    """Who acts, as the beginning of a sentence about what to do."""
    owner = clean(one.owner)
    if owner in ("", "nobody"):
        return "What to do"
    return "For you" if owner == "you" else f"With the {owner}"
