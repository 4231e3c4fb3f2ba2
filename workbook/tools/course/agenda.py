"""The agenda of a workshop: the lessons and exercises that fit into the minutes, who does what, and what goes wrong.

All of it comes from the lessons: the subject from a notebook's title; exercises, notes and mistakes from
their tables. So an exercise that changes, changes the agenda. In each lesson the trainer first plays what works
(section *Do*), then what is broken on purpose (*Break*), and the learners fix something. What we chose ourselves is in
`agenda.toml`.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from itertools import groupby
from textwrap import fill as wrapped
from typing import Any

from workbook.base.files import NOTEBOOKS
from workbook.base.values import lookup
from workbook.lessons.exercises.judges_incidents import CAUSES, acting, row_of_incident
from workbook.lessons.exercises.model import Exercise, Mistake, lesson
from workbook.views.html import RULE_ID
from workbook.views.table import Table, table
from workbook.views.templates import page


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One thing that happens in the workshop.

    Attributes:
        what: in a few words; a lesson or exercise begins with its number.
        minutes: that it takes.
        trainer: what the trainer does.
        learners: what the learners do.
        exercise: what is answered; None where nothing is.
        optional: it is left out first where time runs short.
        starts: minutes after midnight, or after the beginning.
    """

    what: str
    minutes: int
    trainer: str
    learners: str
    exercise: Exercise | None = None
    optional: bool = False
    starts: int = 0

    @property
    def lesson(self) -> str:
        """The number of its lesson; empty for the opening, a break and the closing."""
        return self.what[:2] if self.what[0].isdigit() else ""

    @property
    def heading(self) -> str:
        """When it starts, what it is, and how long it takes."""
        clock = "{}:{:02}".format(*divmod(self.starts, 60))
        return f"{clock:>5}  {self.what}, {self.minutes} min{', if there is time' if self.optional else ''}"

    @property
    def wrong(self) -> Sequence[Mistake]:
        """The likeliest wrong answers, at most three that break different rules; slips of the pen break none."""
        known = self.exercise.mistakes if self.exercise else ()
        rules = [found[1] for each in known if (found := RULE_ID.match(each.says))]
        return [next(each for each in known if each.says.startswith(rule)) for rule in dict.fromkeys(rules)][:3]


@dataclass(frozen=True, slots=True)
class Agenda:
    """A workshop in its order.

    Attributes:
        audience: who it is for.
        minutes: that it may take.
        slots: what happens, one after the other.
        left_out: what of the audience's lessons did not fit.
    """

    audience: str
    minutes: int
    slots: Sequence[Slot]
    left_out: Sequence[str]

    @property
    def title(self) -> str:
        """For whom, how long, and how much of it is left."""
        spare = self.minutes - sum(slot.minutes for slot in self.slots)
        return f"Workshop for {self.audience}: {self.minutes} minutes, {spare} of them spare"

    @property
    def blocks(self) -> list[list[Slot]]:
        """The slots of one lesson together, as they stand on the wall."""
        return [list(slots) for _, slots in groupby(self.slots, lambda slot: slot.lesson or slot.what)]

    def text(self) -> str:
        """All of it, for the trainer."""
        lines = [self.title]
        indented = partial(wrapped, width=110, initial_indent=" " * 7, subsequent_indent=" " * 9)
        for slot in self.slots:
            lines += ["", slot.heading, indented(f"You: {slot.trainer}"), indented(f"They: {slot.learners}")]
            lines += [indented(f"Say: {slot.exercise.notes}")] if slot.exercise else []
            lines += [indented(f"Wrong: {each.what} -> {each.says}") for each in slot.wrong]
        return "\n".join([*lines, "", "Left out:", *map(indented, self.left_out or ["nothing"])])

    def html(self) -> str:
        """One page: the timetable for the wall, and below it, folded, the trainer's part."""
        return page("tools/course/agenda.html", title=self.title, agenda=self)


def agenda(minutes: int, audience: str, starts: int = 0) -> Agenda:
    """The workshop for this audience that fits into the minutes.

    Of each lesson come its first exercise and its first to find or to fix; then more exercises, while they fit.

    Args:
        minutes: 60, 90 or 180.
        audience: integrators, back-end or app.
        starts: minutes after midnight; 0 counts from the beginning.

    Raises:
        ParameterError: there is no agenda of this length, or no such audience; names those that there are.
    """
    chosen = tomllib.loads(files(__package__).joinpath("agenda.toml").read_text("utf-8"))
    breaks = lookup("agenda of so many minutes,", str(minutes), chosen["breaks"])
    fixed = ("opening", "break", "closing")
    opening, pause, closing = (Slot(what=name.title(), **chosen["slots"][name]) for name in fixed)
    left = minutes - opening.minutes - closing.minutes - breaks * pause.minutes
    taken = list[Slot]()
    more = list[Slot]()
    left_out = list[str]()
    for number in lookup("audience", audience, chosen["routes"]):
        shown, *answered = _lesson_slots(number, chosen["slots"])
        fixing = next(slot for slot in answered if slot.exercise and slot.exercise.kind in {"find", "fix"})
        needed = [slot for slot in (shown, *answered) if slot in (shown, answered[0], fixing)]
        if left_out or (cost := sum(slot.minutes for slot in needed)) > left:
            left_out.append(f"all of {shown.what}")
            continue
        left -= cost
        taken += needed
        more += [slot for slot in answered if slot not in needed]
    for slot in more:
        if slot.minutes <= left:
            left -= slot.minutes
            taken.append(replace(slot, optional=True))
        else:
            left_out.append(slot.what)
    taken.sort(key=lambda slot: slot.what[:4])  # "03 The tap" comes before "03.1"
    timed = _timed([opening, *taken, closing], starts, minutes, [pause] * breaks)
    return Agenda(audience, minutes, list(timed), left_out)


def _lesson_slots(number: str, said: dict[str, Any]) -> Iterator[Slot]:
    """What there is to do of a lesson: it is shown, and each of its exercises is answered."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    first = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
    title = first.partition("\n")[0].removeprefix("# ")
    yield Slot(what=f"{number} {title}", **said["lesson"])
    for each in lesson(number).values():
        slot = Slot(what=f"{each.id} {each.title}", exercise=each, **said[each.kind.value])
        yield replace(slot, minutes=slot.minutes + each.minutes)


def _timed(slots: Iterable[Slot], starts: int, minutes: int, pauses: list[Slot]) -> Iterator[Slot]:
    """The slots with the time at which each starts, and the pauses at even distances."""
    clock = starts
    distance = minutes // (len(pauses) + 1)
    due = starts + distance - 5
    for slot in slots:
        if pauses and clock >= due:
            yield replace(pauses.pop(), starts=clock)
            clock += 10
            due += distance
        yield replace(slot, starts=clock)
        clock += slot.minutes


def incidents() -> Table:
    """The solutions of all incidents: for the trainer alone."""
    numbered = [(number, row_of_incident(number)) for number in range(1, len(CAUSES) + 1)]
    rows = [(number, CAUSES[row.number], acting(row), row.number) for number, row in numbered]
    return table("Incidents: not for the projector", ("incident", "cause", "owner", "row in symptoms.md"), rows)
