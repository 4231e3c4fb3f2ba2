"""The agenda's page on a projector: the timetable fits, nobody sees the answers, and everybody can use it."""

import pytest
from accessibility import complaints

from workbook.tools.course.agenda import agenda

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_longest_timetable_fits_a_projector_and_the_answers_open_by_keyboard(page, tmp_path):
    path = tmp_path / "wall.html"
    path.write_text(agenda(180, "integrators", 540).html(), "utf-8")
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(path.as_uri())
    assert page.locator(".wall table").bounding_box()["y"] + page.locator(".wall table").bounding_box()["height"] < 720
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.wall td')).fontSize)") > 25
    answers = page.get_by_text("Nobody runs on before all have answered").first
    assert not answers.is_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert answers.is_visible()
    assert complaints(page) == []
    page.set_viewport_size({"width": 512, "height": 384})  # 1024 x 768 at 200 %
    assert page.evaluate("document.documentElement.scrollWidth") <= 512
    assert page.asked == [path.as_uri()]
    assert page.troubles == []
    page.emulate_media(media="print")  # the trainer's part has its own sheets
    assert page.get_by_text("Nobody runs on before all have answered").first.is_visible()
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.wall td')).fontSize)")
    assert size == pytest.approx(40)  # 30 points
