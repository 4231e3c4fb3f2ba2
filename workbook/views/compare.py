"""Two runs compared: the steps that both have fold into one line, and the others are marked.

The steps of both runs are aligned as two texts are in a diff, and a step is compared by what it says: who to whom,
which message, which values. Its time is left out, because one late answer moves all that follows.
"""

from collections.abc import Iterator
from collections.abc import Sequence as Series
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import groupby
from typing import Any

from workbook.flows.messages import Actor
from workbook.views.findings import LEVEL_SIGNS, findings
from workbook.views.html import View, tag, trust
from workbook.views.paint import Picture
from workbook.views.sequence import ADDED, REMOVED, Sequence, SequenceLine, Shape, sequence
from workbook.views.table import (
    CAPTION_STYLE,
    CELL_STYLE,
    INK,
    ROW_LINE,
    TABLE_STYLE,
    TEXT_WIDTH,
    Table,
    clean,
    facts,
    header,
    preformat,
    table,
    wrap,
)


class Mark(StrEnum):
    """How the runs differ in one step."""

    SAME = "="
    CHANGED = "~"
    ONLY_FIRST = REMOVED
    ONLY_SECOND = ADDED


@dataclass(frozen=True, slots=True)
class ComparedStep:
    """A step of both runs, or of one of them.

    Attributes:
        first: the line of the first run, None where it has no such step.
        second: the line of the second run, likewise.
    """

    first: SequenceLine | None
    second: SequenceLine | None

    @property
    def mark(self) -> Mark:
        """How the runs differ in it."""
        if self.first is None:
            return Mark.ONLY_SECOND
        if self.second is None:
            return Mark.ONLY_FIRST
        return Mark.SAME if _says(self.first) == _says(self.second) else Mark.CHANGED


def _says(line: SequenceLine) -> tuple[object, ...]:
    return line.sender, line.receiver, line.shape, line.heading, line.detail, line.button


def _step(line: SequenceLine) -> tuple[object, ...]:
    """What makes two lines the same step, whatever their values: who says what to whom."""
    return line.sender, line.receiver, line.label


def align(first: Series[SequenceLine], second: Series[SequenceLine]) -> tuple[ComparedStep, ...]:
    """The steps of two runs side by side, in the order of both."""
    matcher = SequenceMatcher(None, [*map(_step, first)], [*map(_step, second)], autojunk=False)
    steps: list[ComparedStep] = []
    for operation, begin, end, other_begin, other_end in matcher.get_opcodes():
        if operation == "equal":
            steps += map(ComparedStep, first[begin:end], second[other_begin:other_end])
        else:
            steps += (ComparedStep(line, None) for line in first[begin:end])
            steps += (ComparedStep(None, line) for line in second[other_begin:other_end])
    return tuple(steps)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(View):
    """Two runs compared, folded into one as text and as a picture; HTML also has them side by side.

    Attributes:
        title: what is compared.
        first: the first run's name.
        second: the second run's name.
        outcomes: the lines of the runs' summaries that differ: name, first, second.
        steps: the aligned steps, in order.
    """

    title: str
    first: str
    second: str
    outcomes: tuple[tuple[str, str, str], ...]
    steps: tuple[ComparedStep, ...]

    @property
    def blocks(self) -> tuple[tuple[ComparedStep, ...], ...]:
        """The steps in blocks: those in a row that both runs have, or one that differs."""
        grouped = (tuple(block) for _same, block in groupby(self.steps, key=lambda step: step.mark is Mark.SAME))
        return tuple(
            part
            for block in grouped
            for part in ([block] if block[0].mark is Mark.SAME else [(step,) for step in block])
        )

    @property
    def folded(self) -> Sequence:
        """Both runs as one sequence: each block of common steps is a note, a step that differs is marked."""
        lines = [line for block in self.blocks for line in fold(block)]
        both = [line for step in self.steps for line in (step.first, step.second) if line]
        present = {actor for line in both for actor in (line.sender, line.receiver)}
        return Sequence(self.title, tuple(actor for actor in Actor if actor in present), tuple(lines))

    @property
    def picture(self) -> Picture:
        """Both runs folded into one, as a picture."""
        return self.folded.picture

    def text(self) -> str:
        """How the ends differ, and below it the steps of both runs, a block of common steps as one line."""
        return "\n".join([*self._ends().text().splitlines(), "", *self._legend, *self._folded_steps()])

    def html(self) -> str:
        """How the ends differ, both runs folded into one picture, and all steps side by side to open."""
        every = tag("details", tag("summary", "Side by side, with every step"), trust(self._table()))
        folded = tag("details", tag("summary", "The same as text"), preformat(self.text()))
        legend = tag("p", *self._legend, style=f"color:{INK};font-size:12px;margin:4px 0")
        parts = (trust(self._ends().html()), self.picture.image(), legend, every, folded)
        return tag("figure", *parts, style=f"margin:0;color:{INK}")

    def _ends(self) -> Table:
        if not self.outcomes:
            return facts(self.title, {"how they end": "the same"})
        return table("How they end", ("", self.first, self.second), self.outcomes)

    @property
    def _legend(self) -> list[str]:
        same = all(step.mark is Mark.SAME for step in self.steps)
        return [] if same else [f"{REMOVED} in the first run, {ADDED} in the second run"]

    def _folded_steps(self) -> Iterator[str]:
        for step, *more in self.blocks:
            if step.mark is Mark.SAME:
                yield f"= {_common((step, *more))}"
                continue
            for mark, line in ((REMOVED, step.first), (ADDED, step.second)):
                if line:
                    first, *rest = wrap(line.words, TEXT_WIDTH - 4)
                    yield from (f"{mark} {first}", *(f"    {part}" for part in rest))

    def _table(self) -> str:
        style = f"{CELL_STYLE};{ROW_LINE};text-align:left"
        head = header(("", self.first, self.second), style)
        rows = []
        for step in self.steps:
            bold = "" if step.mark is Mark.SAME else ";border-left:4px solid;background:rgb(128 128 128 / 12%)"
            pair = (line.words if line else "" for line in (step.first, step.second))
            cells = (tag("td", words, style=f"{style};width:50%") for words in pair)
            rows.append(tag("tr", tag("td", step.mark, style=f"{style}{bold};padding-left:0.4em"), *cells))
        caption = tag("caption", "Side by side", style=CAPTION_STYLE)
        return tag("table", caption, tag("thead", head), tag("tbody", *rows), style=TABLE_STYLE)


def compare(first: Any, second: Any) -> Comparison:
    """Two runs compared, the second with the first: of each its `trace`, `summary`, `ends` and `findings` are read."""
    names = first.trace.title, second.trace.title
    title = f"{names[0]}, compared with {names[1]}"
    if names[0] == names[1]:
        title, names = f"{names[0]}: two runs compared", ("first run", "second run")
    # only runs of one kind tell their story in the same words
    ends = []
    for run in (first, second):
        signs = [f"{LEVEL_SIGNS[finding.level][0]} {finding.rule}" for finding in findings(run.findings).found]
        summary = run.summary if type(first) is type(second) else run.ends
        ends.append(summary | {"findings": ", ".join(signs) or "none"})
    outcomes = tuple(
        (name, ends[0].get(name, ""), ends[1].get(name, ""))
        for name in dict.fromkeys([*ends[0], *ends[1]])
        if ends[0].get(name) != ends[1].get(name)
    )
    steps = align(sequence(first.trace).lines, sequence(second.trace).lines)
    return Comparison(clean(title), *names, outcomes, steps)


def fold(block: tuple[ComparedStep, ...]) -> Iterator[SequenceLine]:
    """The lines of a block: one note for many steps, else those of its one step, marked where only one run has them."""
    step = block[0]
    if step.mark is Mark.SAME and step.second:
        last = step.second
        note = SequenceLine(last.at, Shape.NOTE, last.sender, last.receiver, _common(block), detail="", rules=())
        yield replace(last, attempt=0) if len(block) == 1 else note
        return
    for line, mark in ((step.first, REMOVED), (step.second, ADDED)):
        if line is not None:
            yield replace(line, mark=mark, attempt=0)


def _common(block: tuple[ComparedStep, ...]) -> str:
    """A block of common steps in words, and how much later they are in the second run."""
    pairs = [(step.first.at, step.second.at) for step in block if step.first and step.second]
    shifts = {round(after - before, 3) for before, after in pairs}
    words = f"{len(block)} step{'' if len(block) == 1 else 's'} as in the first run"
    if shifts == {0.0}:
        return words
    if len(shifts) > 1:
        return f"{words}, at other times"
    (shift,) = shifts
    return f"{words}, {abs(shift):.3f} s {'later' if shift > 0 else 'earlier'}"
