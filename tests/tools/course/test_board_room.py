"""The room: who needs help comes first, and a document that holds anything but progress is refused in a sentence."""

import json
from datetime import timedelta

import pytest

from tests.support.seats import NOON, progress, sent, work
from workbook.lessons.exercises.model import all_exercises
from workbook.lessons.exercises.progress import Progress
from workbook.tools.course.board import overview, stuck


def room(*documents, passed=()):
    return overview([Progress.of(json.dumps(document).encode()) for document in documents], passed, NOON)


def test_raised_hands_come_first_the_longest_before_the_others_then_who_is_stuck():
    seen = room(
        progress("calm", "03.1", _03_1=work()),
        progress("stuck", "03.1", _03_1=work(wrong={"A-CAN-2": 3})),
        progress("asks", "03.1", hand=2, _03_1=work()),
        progress("waits", "03.1", hand=9, _03_1=work()),
    )["seats"]
    assert [(row["seat"], row["hand"]) for row in seen] == [("waits", 9), ("asks", 2), ("stuck", -1), ("calm", -1)]
    assert seen[2]["stuck"].startswith("wrong 3 times: A-CAN-2, canProvision returns")
    assert [row["for"] for row in seen] == ["03.1", "03.1", "", ""]
    assert seen[3]["exercise"] == f"03.1 {all_exercises()['03.1'].title}"
    assert (seen[3]["since"], seen[3]["wrong"], seen[3]["solved"], seen[3]["of"]) == (5, 0, 0, len(all_exercises()))


@pytest.mark.parametrize(
    ("done", "why"),
    [
        ({"wrong": {"form": 3}}, "wrong 3 times: form"),
        ({"wrong": {"form": 2, "A-CAN-2": 2}}, ""),
        ({"wrong": {"form": 2, "A-CAN-2": 2, "API-4": 1}}, "5 different wrong answers"),
        ({"first": 10}, "10 min, meant for 5"),
        ({"first": 9.9}, ""),
        ({"first": 60, "passed": 3, "wrong": {"form": 9}}, ""),
    ],
)
def test_who_is_stuck(done, why):
    (seen,) = Progress.of(sent("owl", "03.1", _03_1=work(**done))).exercises.values()
    assert stuck(seen, 5, NOON) == why
    assert stuck(seen, 1, NOON).partition(",")[0] == why.partition(",")[0]  # never before ten minutes


def test_a_long_exercise_may_take_twice_its_minutes():
    (seen,) = Progress.of(sent("owl", "03.1", _03_1=work(first=19))).exercises.values()
    assert stuck(seen, 10, NOON) == ""
    assert stuck(seen, 9, NOON) == "19 min, meant for 9"
    assert stuck(None, 9, NOON) == ""


def test_what_costs_most_comes_first_with_its_most_frequent_wrong_answer():
    seen = room(
        progress("one", _03_1=work(minutes=4, wrong={"form": 1, "API-4": 1}), _00_1=work(minutes=7, passed=1)),
        progress("two", _03_1=work(minutes=5.4, wrong={"API-4": 1}, passed=2), _99_9=work(minutes=1)),
    )["costs"]
    assert [(row["exercise"][:4], row["minutes"], row["seats"], row["solved"]) for row in seen] == [
        ("03.1", 9, 2, 1),
        ("00.1", 7, 1, 1),
        ("99.9", 1, 1, 0),
    ]
    assert seen[0]["wrong"].startswith("API-4, Both calls send")
    assert seen[0]["wrong"].endswith("(2 times)")
    assert seen[1]["wrong"] == ""


def test_the_curve_counts_what_is_older_than_four_hours_and_a_clock_that_is_ahead():
    passed = [NOON - timedelta(minutes=minutes) for minutes in (5, 300, -3, 239)]
    assert room(passed=passed)["solved"] == {"before": 1, "minutes_ago": [239, 5, 0]}
