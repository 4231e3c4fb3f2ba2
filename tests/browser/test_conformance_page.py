"""The conformance report in a real browser: it asks nothing of the network, needs no mouse, and finds its cases."""

import pytest
from accessibility import complaints_in_both_schemes
from ran import NAMES, recorded

from workbook.tools.harness.output import write_reports

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(page, tmp_path):
    write_reports(recorded(), tmp_path)
    page.goto((tmp_path / "conform.html").as_uri())
    return page


def test_the_page_asks_for_nothing_and_fits(opened):
    for width in (1280, 640, 400):
        opened.set_viewport_size({"width": width, "height": 800})
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert [url.partition(":")[0] for url in opened.asked] == ["file"]
    assert opened.troubles == []


def test_what_is_folded_up_is_opened_by_keyboard(opened):
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.textContent") == "To what did not hold"
    group = opened.locator("details.group > summary").first
    inner = opened.locator("details.group > details > summary").first
    assert not inner.is_visible()
    group.focus()
    opened.keyboard.press("Enter")
    inner.focus()
    opened.keyboard.press("Enter")
    assert opened.locator("details.group article").first.is_visible()


def test_no_check_of_accessibility_finds_anything(page, tmp_path):
    write_reports(recorded(), tmp_path)
    opened = page.context.browser.new_context(bypass_csp=True).new_page()  # the checker is a script
    opened.goto((tmp_path / "conform.html").as_uri())
    opened.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert complaints_in_both_schemes(opened) == []


def test_the_cases_are_found_by_word_and_by_verdict(opened):
    search, shown = opened.locator("input[type=search]"), opened.locator("[data-verdict]:not([hidden])")
    everything = shown.count()
    search.fill(NAMES[2])
    assert 0 < shown.count() < everything
    assert NAMES[2] in shown.first.text_content()
    opened.locator("input[value=pass]").check()
    assert shown.count() == 0
    search.fill("")
    assert {one.get_attribute("data-verdict") for one in shown.all()} == {"pass"}
    assert opened.locator("output").text_content() == f"{shown.count()} of {everything} cases"
    opened.locator("input[value=pass]").uncheck()
    assert shown.count() == everything
    assert opened.troubles == []
