import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from rows import rows

from workbook.flows.trace import Trace
from workbook.lessons.script import Script, play
from workbook.lessons.widgets.stage import walk_on
from workbook.views.paint import sheet
from workbook.views.sequence import WIDE, narrow, paint, sequence

NS = {"svg": "http://www.w3.org/2000/svg"}


def test_hostile_text_stays_text(stories):
    svg = sequence(stories["trouble"]()).svg()
    assert "&lt;script&gt;" in svg
    assert "\u202e" not in svg


def test_it_is_at_most_1000_pixels_wide_and_nothing_stands_below_its_end(story):
    root = ET.fromstring(sequence(story[1]).svg())
    assert int(root.get("width")) == 1000
    assert max(int(text.get("y")) for text in root.iter(f"{{{NS['svg']}}}text")) < int(root.get("height"))


def boxes(svg):
    """Where each box with a name begins."""
    root = ET.fromstring(svg)
    return [int(box.get("y")) for box in root.findall("svg:rect[@class='wb-box']", NS) if box.get("height") == "34"]


def test_a_long_picture_names_the_actors_again_between_its_lines():
    lines = walk_on(play(Script("from the wallet"))).film.sequence
    painted, tops = paint(lines), sorted(set(boxes(paint(lines).picture.svg)))
    assert len(tops) > 2
    assert all(560 <= below - above < 700 for above, below in pairwise(tops))
    assert not any(y < top + 34 and top < y + height for top in tops for y, height in painted.rows)
    assert len(set(boxes(paint(lines, narrow(6)).picture.svg))) == 1


@rows("actors", [2, 6, 8])
def test_a_narrow_picture_keeps_its_words_inside(story, actors):
    lines = sequence(story[1])
    painted = paint(lines, narrow(max(actors, len(lines.columns))))
    root = ET.fromstring(painted.picture.svg)
    assert int(root.get("width")) == painted.picture.width < 800
    assert root.findall(".//svg:text[@class='wb-rules']", NS) == []
    assert len(painted.rows) == len(lines.lines)
    for text in root.iter(f"{{{NS['svg']}}}text"):
        assert 0 < float(text.get("x")) < painted.picture.width


@pytest.mark.parametrize("flow", ["platform A", "platform B", "from the wallet"])
def test_a_label_is_at_its_arrow_however_long_its_detail_is(flow):
    lines = walk_on(play(Script(flow, fault="reset", operation="POST"))).film.sequence
    for measures in (narrow(len(lines.columns)), WIDE):
        root = ET.fromstring(paint(lines, measures).picture.svg)
        [lost] = [group for group in root.findall("svg:g", NS) if "is-lost" in group.get("class")]
        [label] = lost.findall("svg:text[@class='wb-label on-tint']", NS)
        shaft = lost.find("svg:line[@class='wb-shaft']", NS)
        ends = sorted((float(shaft.get("x1")), float(shaft.get("x2"))))
        assert ends[0] - 40 <= float(label.get("x")) <= ends[1] + 40


def test_lines_never_overlap(story):
    root = ET.fromstring(sequence(story[1]).svg())
    spans = [_span(group) for group in root.findall("svg:g", NS)]
    assert all(above[1] < below[0] for above, below in pairwise(spans))


def test_each_line_is_one_group_and_its_row_is_known(story):
    painted = paint(sequence(story[1]))
    groups = ET.fromstring(painted.picture.svg).findall("svg:g", NS)
    assert [int(group.get("data-line")) for group in groups] == list(range(len(sequence(story[1]).lines)))
    for group, (y, height) in zip(groups, painted.rows, strict=True):
        assert all(y <= int(text.get("y")) <= y + height for text in group.iter(f"{{{NS['svg']}}}text"))
    assert all(above[0] + above[1] <= below[0] for above, below in pairwise(painted.rows))
    assert painted.rows[-1][0] + painted.rows[-1][1] < painted.picture.height


def test_what_goes_wrong_has_a_cross_and_a_colour_and_what_goes_well_has_neither(stories):
    lines = sequence(stories["trouble"]()).lines
    root = ET.fromstring(sequence(stories["trouble"]()).svg())
    failed = {int(g.get("data-line")) for g in root.findall("svg:g", NS) if "is-failed" in (g.get("class") or "")}
    assert failed == {number for number, line in enumerate(lines) if line.failed}
    labels = {line.label for line in lines if line.failed}
    assert {"422 Unprocessable Content", "CannotBeProvisioned.ApiError", "ProvisionResult.Failure"} <= labels
    assert not labels & {"200 OK, sdkInput", "shows Add", "taps Add"}
    assert not any(line.failed for line in sequence(stories["from_0_4_0"]()).lines)
    assert re.search(r"\.is-failed \.wb-shaft[^}]*\{stroke:var\(--refused\)", sheet("sequence"))
    assert "✗ ProvisionResult.Failure" in sequence(stories["trouble"]()).text()


def test_an_empty_trace_is_a_picture_too():
    root = ET.fromstring(sequence(Trace("new")).svg())
    assert root.find("svg:desc", NS).text == "Nothing happened yet."


def _span(group):
    texts = [int(text.get("y")) for text in group.findall("svg:text", NS)]
    return min(texts) - 10, max(texts)


def test_each_picture_shape_by_shape(pictures, stories):
    """The story with every shape of line, wide and narrow."""
    lines = sequence(stories["trouble"]())
    drawn = {"wide": paint(lines), "narrow": paint(lines, narrow(len(lines.columns)))}
    pictures("sequence", ((name, painted.picture.svg) for name, painted in drawn.items()))
