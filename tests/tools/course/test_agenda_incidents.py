"""Incidents are dealt to the seats of a class."""

import re

import pytest

from workbook.errors import ParameterError
from workbook.lessons.exercises.judges_incidents import CAUSES, row_of_incident
from workbook.tools.commands import cli
from workbook.tools.course.agenda import deal


def test_the_same_class_has_the_same_incidents():
    assert deal("A", 30) == deal("A", 30) != deal("B", 30)
    assert deal("A", 30)[:10] == deal("A", 10)


def test_a_failure_comes_again_only_after_all_others():
    rows = [row_of_incident(number).number for number in deal("A", 39)]
    assert [{*rows[start : start + len(CAUSES)]} for start in range(0, 39, len(CAUSES))] == [{*CAUSES}] * 3
    assert rows[: len(CAUSES)] != rows[len(CAUSES) : 2 * len(CAUSES)]


def test_there_are_at_most_a_hundred_seats():
    for seats in (0, 101):
        with pytest.raises(ParameterError, match="seats"):
            deal("A", seats)


def test_the_table_to_project_names_no_cause_and_the_trainers_does(capsys):
    assert cli.main(["course", "incidents", "--seed", "spring", "--seats", "3"]) == 0
    projected = capsys.readouterr().out
    numbers = [int(number) for number in re.findall(r"session\.incident\((\d+)\)", projected)]
    assert numbers == deal("spring", 3)
    assert not [cause for cause in CAUSES.values() if cause in projected]
    assert cli.main(["course", "incidents", "--seed", "spring", "--seats", "3", "--solutions"]) == 0
    solutions = capsys.readouterr().out
    assert all(CAUSES[row_of_incident(number).number] in solutions for number in numbers)
    assert cli.main(["course", "incidents", "--seed", "spring", "--seats", "200"]) == 2
