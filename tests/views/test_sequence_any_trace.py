"""Whatever a trace holds, it can be drawn, and the drawing is well formed."""

import base64
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from any_record import RECORDS, TEXTS
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.views.sequence import sequence
from workbook.views.table import table, width


@given(TEXTS, st.lists(RECORDS, max_size=8))
@example("a status that is no number", [Record(0.0, Kind.EVENT, m.ApiAnswered([]), "", "", ())])
@example("a rule in a value and beside a line", [Record(0.0, Kind.NOTE, m.Noted("X-ART-1"), "", "", ("X-ART-1",))])
@settings(deadline=None)
def test_any_trace_can_be_drawn(title, told):
    trace = Trace(title)
    for record in told:
        trace.append(record)
    drawn = sequence(trace)
    assert all(width(line) <= 110 for line in drawn.text().splitlines())
    assert drawn.text().isprintable() or "\n" in drawn.text()
    _well_formed_svg(drawn.svg())
    _well_formed_html(drawn.html())
    _well_formed_html(table(title, ("what",), [(line.sentence,) for line in drawn.lines]).html())
    assert drawn.text().encode()


def _well_formed_svg(svg):
    allowed = {"svg", "title", "desc", "style", "rect", "line", "path", "g", "text", "tspan"}
    root = ET.fromstring(svg)
    assert {element.tag.partition("}")[2] for element in root.iter()} <= allowed
    assert not any(name.startswith("on") or "href" in name for element in root.iter() for name in element.attrib)


def _well_formed_html(html):
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    if encoded := html.partition("base64,")[2].partition('"')[0]:
        assert base64.b64decode(encoded).decode().startswith("<svg ")


class Balanced(HTMLParser):
    """Refuses whatever our own views never write, and tags that are not closed in order."""

    ours = frozenset(
        {
            "figure",
            "img",
            "details",
            "summary",
            "pre",
            "table",
            "caption",
            "thead",
            "tbody",
            "tr",
            "th",
            "td",
            "ul",
            "li",
        }
        | {"b", "span"}
    )

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag in self.ours
        assert {name for name, _value in attrs} <= {"alt", "src", "style", "scope", "class", "title"}
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag == "img"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
