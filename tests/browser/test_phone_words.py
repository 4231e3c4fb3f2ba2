"""The phone's words as a browser sets them: none is cut off by an edge, and none lies over another."""

import pytest
from screens import NAMED

from workbook.views.phone import draw

TROUBLES = """() => [...document.querySelectorAll("svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text")].map((word) => [word.textContent, word.getBoundingClientRect()]);
  const crossed = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top + 2 < b.bottom - 2
    && b.top + 2 < a.bottom - 2;
  const outside = words.filter(([, box]) => box.left < frame.left + 21 || box.right > frame.right - 8);
  const over = words.flatMap(([text, a], number) => words.slice(0, number)
    .filter(([, b]) => crossed(a, b))
    .map(([other]) => `${text} lies over ${other}`));
  return [...outside.map(([text]) => `${text} is cut off`), ...over];
})"""


@pytest.mark.slow
def test_no_word_is_cut_off_or_lies_over_another(page):
    page.set_content("".join(draw(screen).svg for screen in NAMED))
    assert page.evaluate(TROUBLES) == []
    assert page.asked == []
