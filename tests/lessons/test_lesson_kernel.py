"""What the lab's kernel says of its language stands in each lesson already: opening one changes nothing."""

import json
from pathlib import Path

import pytest

from workbook.lessons.lesson_kernel import LessonKernel

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_stores_what_the_kernel_says(lesson):
    assert json.loads(lesson.read_text("utf-8"))["metadata"]["language_info"] == LessonKernel.language_info
