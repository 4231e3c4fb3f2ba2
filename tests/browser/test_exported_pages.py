"""Exported pages in a real browser: nothing is asked of the network, and nothing overflows."""

from pathlib import Path

import pytest

from workbook.runner.export import export

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
READABLE = 1000 * 11 / 13  # pixels: at this width the labels of a sequence have a size of 11


@pytest.mark.browser
def test_an_exported_page_asks_for_nothing_and_fits(page, tmp_path):
    for path in export(NOTEBOOKS, tmp_path):
        page.goto(path.as_uri())
        assert page.locator("h1").count() >= 1
        for width in (1280, 640):  # 640 pixels are a 13-inch screen at 200 %
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
            drawings = page.locator("img[alt^='Sequence diagram']").all()
            assert all(drawing.bounding_box()["width"] >= READABLE for drawing in drawings), path.name
    asked = [url for url in page.asked if not url.startswith("data:")]
    assert {url.partition(":")[0] for url in asked} == {"file"}
    assert len(asked) == len(NOTEBOOKS)
    assert page.troubles == []
