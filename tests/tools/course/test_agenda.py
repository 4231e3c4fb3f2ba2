"""The agenda fits into its minutes, has everything that a workshop needs, and says only what the lessons say."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from workbook.base.files import NOTEBOOKS
from workbook.errors import ParameterError
from workbook.lessons.exercises.judges_incidents import CAUSES
from workbook.lessons.exercises.model import ExerciseKind, exercise_named, lesson
from workbook.tools.commands import cli
from workbook.tools.course import agenda as agenda_module
from workbook.tools.course.agenda import agenda

ROUTES = tomllib.loads((Path(agenda_module.__file__).parent / "agenda.toml").read_text("utf-8"))["routes"]
EVERY = [(minutes, audience) for minutes in (60, 90, 180) for audience in ROUTES]


@pytest.mark.parametrize(("minutes", "audience"), EVERY)
def test_it_fits_and_one_thing_follows_the_other(minutes, audience):
    plan = agenda(minutes, audience, starts=540)
    clock = 540
    for slot in plan.slots:
        assert slot.starts == clock
        clock += slot.minutes
    spare = 540 + minutes - clock
    left_out = [exercise_named(what[:4]) for what in plan.left_out if not what.startswith("all of")]
    assert 0 <= spare < min((each.minutes + 2 for each in left_out), default=minutes)
    assert plan.title == f"Workshop for {audience}: {minutes} minutes, {spare} of them spare"
    lessons = [slot.lesson for slot in plan.slots if slot.lesson]
    assert lessons == sorted(lessons)


@pytest.mark.parametrize(("minutes", "audience"), EVERY)
def test_everyone_makes_it_work_breaks_it_and_fixes_it(minutes, audience):
    plan = agenda(minutes, audience)
    shows = [slot for slot in plan.slots if slot.lesson and not slot.exercise]
    assert {slot.lesson for slot in shows} == {slot.lesson for slot in plan.slots} - {""}
    assert all("which works" in slot.trainer and "broken on purpose" in slot.trainer for slot in shows)
    fixed = [
        slot for slot in plan.slots if slot.exercise and slot.exercise.kind in {ExerciseKind.FIND, ExerciseKind.FIX}
    ]
    assert {slot.lesson for slot in fixed if not slot.optional} == {slot.lesson for slot in shows}


@pytest.mark.parametrize(("minutes", "audience"), EVERY)
def test_nobody_sits_longer_than_seventy_minutes(minutes, audience):
    plan = agenda(minutes, audience)
    pauses = [slot.starts for slot in plan.slots if slot.what == "Break"]
    assert len(pauses) == {60: 0, 90: 1, 180: 2}[minutes]
    ends = [0, *(start + 10 for start in pauses)]
    assert all(until - since <= 70 for since, until in zip(ends, [*pauses, minutes], strict=True))


@pytest.mark.parametrize(("minutes", "audience"), EVERY)
def test_what_does_not_fit_is_named(minutes, audience):
    plan = agenda(minutes, audience)
    done = {slot.what for slot in plan.slots} | set(plan.left_out)
    for number in ROUTES[audience]:
        whole = any(each.startswith(f"all of {number} ") for each in plan.left_out)
        assert whole or {f"{each.id} {each.title}" for each in lesson(number).values()} < done


def test_minutes_notes_and_mistakes_are_the_exercises_own():
    plan = agenda(60, "back-end")
    (slot,) = [slot for slot in plan.slots if slot.exercise and slot.exercise.id == "01.2"]
    own = exercise_named("01.2")
    assert slot.minutes == own.minutes + 2
    assert len(slot.wrong) == 3
    assert set(slot.wrong) < set(own.mistakes)
    text = " ".join(plan.text().split())
    assert " ".join(own.notes.split()) in text
    assert all(f"{each.what} -> {each.says}" in text for each in slot.wrong)


def test_every_lesson_has_the_sections_that_the_trainer_is_told_to_play():
    for number in {number for route in ROUTES.values() for number in route}:
        (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        sources = ["".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"]]
        headings = [
            line[3:].partition(":")[0]
            for line in "\n".join(sources).splitlines()
            if line.startswith(("## Do", "## Break"))
        ]
        assert headings.index("Break") > 0, number


def test_the_answers_are_folded_away_from_the_wall():
    html = agenda(60, "integrators", starts=545).html()
    wall, _, folded = html.partition("<details>")
    assert "9:05" in wall
    assert "API-13" not in wall
    assert "API-13" in folded
    assert "<script" not in html
    assert not re.findall(r'(?:src|href)="(?!#)', html)
    assert "posts=&#x27;App&#x27;" in folded


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--minutes", "45"], "--minutes: invalid choice"),
        (["--for", "managers"], "invalid choice: 'managers'"),
        (["--start", "25:00"], "--start '25:00' is no time of day, such as 09:30."),
        (["--out", "."], "--out '.' cannot be written: Is a directory."),
    ],
)
def test_a_wrong_option_is_refused_in_a_sentence(words, says, capsys):
    assert cli.main(["course", "agenda", *words]) == 2
    assert says in capsys.readouterr().err


def test_there_is_no_agenda_of_another_length():
    with pytest.raises(ParameterError, match=r"Known: 60, 90, 180"):
        agenda(240, "app")
    with pytest.raises(ParameterError, match=r"Did you mean 'app'"):
        agenda(60, "apps")


def test_it_is_printed_and_written(tmp_path, capsys):
    page = tmp_path / "wall.html"
    assert cli.main(["course", "agenda", "--minutes", "60", "--for", "app", "--start", "9:30", "--out", str(page)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Workshop for app: 60 minutes, 0 of them spare\n\n 9:30  Opening, 3 min\n")
    assert printed.endswith(f"For the wall: {page}\n")
    assert max(map(len, printed.splitlines()[:-1])) <= 110
    assert page.read_text("utf-8") == agenda(60, "app", 570).html()


def test_the_trainer_has_the_solution_of_each_incident(capsys):
    assert cli.main(["course", "incidents"]) == 0
    solutions = capsys.readouterr().out
    assert all(cause in solutions for cause in CAUSES.values())
