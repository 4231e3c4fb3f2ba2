"""The agenda of a workshop: the lessons and exercises that fit into the minutes, who does what, and what goes wrong.

All of it comes from the lessons: subject and minutes from a notebook's first cell; exercises, notes and mistakes from
their tables. So an exercise that changes, changes the agenda. In each lesson the trainer first plays what works
(section *Do*), then what is broken on purpose (*Break*), and the learners mend something.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from textwrap import fill as wrapped
from typing import Final

from workbook.base.files import NOTEBOOKS
from workbook.base.values import lookup
from workbook.notebook.exercises.model import Exercise, ExerciseKind, Mistake, lesson
from workbook.views.html import RULE_ID
from workbook.views.templates import page

ROUTES: Final = {
    "integrators": ("00", "03", "07", "11", "04", "01"),
    "back-end": ("00", "01", "07", "08", "11"),
    "app": ("00", "02", "03", "09", "04", "05"),
}
"""Which lessons each audience needs, those that come first being needed most (*assumed*)."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that happens in the workshop.

    Attributes:
        what: in a few words.
        minutes: that it takes.
        trainer: what the trainer does.
        learners: what the learners do.
        lesson: its number; empty for the opening, a break and the closing.
        exercise: what is answered; None where nothing is.
        optional: it is left out first where time runs short.
        starts: minutes after midnight, or after the beginning.
    """

    what: str
    minutes: int
    trainer: str
    learners: str
    lesson: str = ""
    exercise: Exercise | None = None
    optional: bool = False
    starts: int = 0

    @property
    def clock(self) -> str:
        """When it starts, such as `9:05`."""
        return "{}:{:02}".format(*divmod(self.starts, 60))

    @property
    def wrong(self) -> Sequence[Mistake]:
        """The likeliest wrong answers, at most three that break different rules; slips of the pen break none."""
        found: dict[str, Mistake] = {}
        for each in self.exercise.mistakes if self.exercise else ():
            if rule := RULE_ID.match(each.says):
                found.setdefault(rule[1], each)
        return [*found.values()][:3]

    def lines(self) -> Iterator[str]:
        """The slot as text."""
        yield f"{self.clock:>5}  {self.what}, {self.minutes} min{', if there is time' if self.optional else ''}"
        said = [("You", self.trainer), ("They", self.learners)]
        if self.exercise:
            said.append(("Say", " ".join(self.exercise.notes.split())))
        said += [("Wrong", f"{each.what} -> {each.says}") for each in self.wrong]
        for who, text in said:
            yield wrapped(f"{who}: {text}", 110, initial_indent=" " * 7, subsequent_indent=" " * 9)


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
    def spare(self) -> int:
        """The minutes that are left."""
        return self.minutes - sum(slot.minutes for slot in self.slots)

    @property
    def blocks(self) -> list[list[Slot]]:
        """The slots of one lesson together, as they stand on the wall."""
        return [list(slots) for _, slots in groupby(self.slots, lambda slot: slot.lesson or slot.what)]

    def text(self) -> str:
        """All of it, for the trainer."""
        rows = [line for slot in self.slots for line in ("", *slot.lines())]
        rest = "; ".join(self.left_out) or "nothing"
        return "\n".join([f"Workshop for {self.audience}: {self.minutes} minutes, {self.spare} of them spare", *rows,
                          "", wrapped(f"Left out: {rest}.", 110, subsequent_indent=" " * 9)])  # fmt: skip

    def html(self) -> str:
        """One page: the timetable for the wall, and below it, folded, the trainer's part."""
        return page("agenda.html", title=f"Workshop for {self.audience}, {self.minutes} minutes", agenda=self)


def agenda(minutes: int, audience: str, starts: int = 0) -> Agenda:
    """The workshop for this audience that fits into the minutes.

    Of each lesson come its first exercise and its first that mends; then more exercises, while they fit.

    Args:
        minutes: 60, 90 or 180.
        audience: a name of `ROUTES`.
        starts: minutes after midnight; 0 counts from the beginning.

    Raises:
        ParameterError: there is no agenda of this length, or no such audience; names those that there are.
    """
    breaks = lookup("agenda of so many minutes,", str(minutes), {"60": 0, "90": 1, "180": 2})
    route = lookup("audience", audience, ROUTES)
    opening = Slot("Opening", 3, "Say what the lessons will answer. See that all are in.", "open 00, and press Add")
    closing = Slot("Closing", 5, "Ask each for one thing to change at home. Say what was left out.", "ask, and note it")
    left = minutes - opening.minutes - closing.minutes - 10 * breaks
    taken: dict[str, list[Slot]] = {}
    for number in route:
        needed = [shown(number), *_needed(number)]
        if (cost := sum(slot.minutes for slot in needed)) > left:
            break
        taken[number] = needed
        left -= cost
    left_out = [f"all of {shown(number).what}" for number in route[len(taken) :]]
    for number, slots in taken.items():
        for slot in map(_answered, lesson(number).values()):
            if slot in slots:
                continue
            if slot.minutes <= left:
                slots.append(replace(slot, optional=True))
                left -= slot.minutes
            else:
                left_out.append(slot.what)
    inner = [slot for number in sorted(taken) for slot in sorted(taken[number], key=lambda slot: slot.what[:4])]
    return Agenda(audience, minutes, list(_timed([opening, *inner, closing], starts, minutes, breaks)), left_out)


def shown(number: str) -> Slot:
    """What the trainer shows of a lesson: the time that its exercises leave of it, and at least five minutes."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    texts = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
    title = texts[0].partition("\n")[0].lstrip("# ")
    takes = re.search(r"\*\*Time:\*\* (\d+) minutes", texts[0])
    broken = next(line for text in texts for line in text.splitlines() if line.startswith("## Break"))
    assert takes  # noqa: S101  # a lesson of ours
    minutes = max(5, int(takes[1]) - sum(each.minutes for each in lesson(number).values()))
    asked = re.search(r"\*\*(?:The question:\*\* )?([^*]*?\?)(?:\*\*|$)", texts[0], re.DOTALL | re.MULTILINE)
    question = f"Ask: {' '.join(asked[1].split())} " if asked else ""
    play = (
        f"Play section Do, which works, then section {broken.lstrip('# ')}, which is broken on purpose. Stop where an "
        "exercise of this list comes: it is answered first."
    )
    return Slot(f"{number} {title}", minutes, question + play, "run the same cells, and read who has to act", number)


def _needed(number: str) -> Iterable[Slot]:
    """The first exercise of a lesson, and the first that mends something."""
    own = list(lesson(number).values())
    mending = [each for each in own if each.kind is ExerciseKind.MEND]
    return map(_answered, [own[0], *(each for each in mending[:1] if each is not own[0])])


def _answered(exercise: Exercise) -> Slot:
    trainer, learners = {
        ExerciseKind.PREDICT: ("Nobody runs on before all have answered. Count hands, then let them run it.",
                               "answer first, then see what happens"),
        ExerciseKind.MEND: ("Walk round. Whoever is stuck gets the next hint.", "find the mistake, and mend it"),
        ExerciseKind.WRITE: ("Walk round. Show an answer that is not yet right.", "write it, and have it played"),
        ExerciseKind.NATIVE: ("Pair who knows the language with who does not.", "say it in the SDK's own words"),
    }[exercise.kind]  # fmt: skip
    # two minutes to talk about it: the exercise's own are those of one learner (assumed)
    what = f"{exercise.id} {exercise.title}"
    return Slot(what, exercise.minutes + 2, trainer, learners, exercise.id[:2], exercise)


def _timed(slots: Iterable[Slot], starts: int, minutes: int, breaks: int) -> Iterator[Slot]:
    """The slots with the time at which each starts, and ten minutes of break at even distances."""
    clock, had = 0, 0
    for slot in slots:
        if had < breaks and clock >= (had + 1) * minutes // (breaks + 1) - 5:
            had += 1
            yield Slot("Break", 10, "Look who is behind.", "rest", starts=starts + clock)
            clock += 10
        yield replace(slot, starts=starts + clock)
        clock += slot.minutes
