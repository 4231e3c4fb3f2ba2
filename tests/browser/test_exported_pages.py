"""Exported pages in a real browser: nothing is asked of the network, and nothing overflows."""

import nbformat
import pytest
from accessibility import complaints_in_both_schemes
from lessons import LESSONS
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import workbook as wb
from workbook.base.rules import sentence
from workbook.tools.commands.runner.export import export

pytestmark = pytest.mark.browser
READABLE = 1000 * 11 / 13  # pixels: at this width the labels of a sequence have a size of 11

TWO_WORDS_IN_TWO_LINES = """cells => cells.filter(cell => {
    const words = cell.innerText.trim(), range = document.createRange();
    range.selectNodeContents(cell);
    const tops = [...range.getClientRects()].map(line => line.top);
    return /^\\S+ \\S+$/.test(words) && Math.max(...tops) - Math.min(...tops) > 10;
}).map(cell => cell.innerText)"""


def test_an_exported_page_asks_for_nothing_and_fits_and_axe_has_no_complaint(page, tmp_path):
    pages = export(LESSONS, tmp_path)
    for path in pages:
        page.goto(path.as_uri())
        assert page.locator("h1").count() >= 1
        for width in (1280, 640):  # 640 pixels are a 13-inch screen at 200 %
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            drawings = page.locator("img[alt^='Sequence diagram']:visible").all()
            assert all(drawing.bounding_box()["width"] >= READABLE for drawing in drawings), path.name
            broken = page.locator("td, th").evaluate_all(TWO_WORDS_IN_TWO_LINES) if width == 1280 else []
            assert broken == [], path.name
        assert complaints_in_both_schemes(page) == [], path.name
    asked = [url for url in page.asked if not url.startswith("data:")]
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == len(pages)
    assert page.troubles == []


@pytest.fixture
def recorded(page, tmp_path):
    """A page of recordings, opened from a file with the network off."""
    session = wb.session()
    run, lost = session.platform_a.play(), session.break_it("reset", "POST")
    shown = run, wb.show(lost, "all"), session.wallet.live(), wb.show(run, "phone")
    cells = [new_markdown_cell("\n\n".join(["# Recorded", "See A-BTN-1.", *["The players are far below."] * 50]))]
    for value in shown:
        outputs = [new_output("display_data", data=value._repr_mimebundle_())]
        cells.append(new_code_cell("show", outputs=outputs, execution_count=1))
    path = tmp_path / "recorded.ipynb"
    path.write_text(nbformat.writes(new_notebook(cells=cells)))
    [exported] = export([path], tmp_path / "pages")
    page.context.set_offline(True)
    page.goto(exported.as_uri())
    return page


def test_recordings_are_played_scrubbed_and_opened_without_a_network(recorded):
    while recorded.locator(".wb-open").count():
        recorded.locator(".wb-open").first.click()
        recorded.wait_for_timeout(100)
    for place in recorded.locator(".wb-place").all():
        place.scroll_into_view_if_needed()
        place.locator(".wb-player").wait_for()
    run, lost, wallet, phone = recorded.locator(".wb-player").all()
    slider = run.get_by_role("slider", name="Step")
    slider.press("Home")
    assert run.locator("span.wb-time").inner_text() == "0.00 s"
    run.get_by_role("button", name="Play", exact=True).click()
    run.get_by_role("button", name="Pause", exact=True).wait_for()
    assert wallet.locator(".wb-limit").count() >= 3
    assert phone.locator(".wb-strip button").count() > 3
    lost.locator('.wb-rows button[aria-label*="POST"]').first.click()
    assert lost.locator("span.wb-time").inner_text() == "0.54 s"
    lost.get_by_role("button", name="Copy as curl").click()
    assert "$WORKBOOK_API_KEY" in lost.locator(".wb-code").inner_text()
    assert complaints_in_both_schemes(recorded) == []
    assert recorded.troubles == []
    assert {url.partition(":")[0] for url in recorded.asked} <= {"file", "data"}


def test_on_paper_stands_each_recording_in_whole_and_no_control(recorded):
    far = recorded.locator(".wb-place[data-opened]")
    assert far.locator(".wb-player").count() == 0
    recorded.pdf()
    assert far.locator(".wb-player").count() == far.count() == 3
    recorded.emulate_media(media="print")
    assert far.locator(".wb-sheet").first.is_visible()
    controls = recorded.locator(".wb-bar, .wb-tabs, .wb-rows, .wb-keys, .wb-open")
    assert not any(control.is_visible() for control in controls.all())


def test_a_finding_a_state_a_limit_and_a_message_lead_to_their_moment(recorded):
    for place in recorded.locator(".wb-place[data-opened]").all():
        place.scroll_into_view_if_needed()
        place.locator(".wb-player").wait_for()
    lost, wallet, _phone = recorded.locator(".wb-player").all()
    badge = lost.get_by_role("tab", name="Findings")
    assert badge.inner_text() == "Findings 2"
    badge.click()
    rule = lost.locator(".wb-page-findings .wb-rule").first
    rule.focus()
    assert sentence(rule.inner_text()) in lost.locator(".wb-tip").inner_text()
    lost.get_by_role("button", name="at 0.840 s").first.click()
    assert "no answer: reset" in lost.locator(".wb-caption").inner_text()
    assert lost.get_by_role("tab", name="Exchange").get_attribute("aria-selected") == "true"
    lost.get_by_role("tab", name="States").click()
    lost.get_by_role("button", name="State button shown: go there").click()
    assert "State: button shown." in lost.locator(".wb-caption").inner_text()
    wallet.locator(".wb-limit").nth(1).click()
    began = float(wallet.locator("span.wb-time").inner_text().removesuffix(" s"))
    wallet.locator(".wb-limit").nth(1).click()
    assert float(wallet.locator("span.wb-time").inner_text().removesuffix(" s")) > began
