"""Whatever a trace holds, it can be drawn, and the drawing is well formed."""

import base64
import inspect
from dataclasses import fields
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.flows import messages as m
from workbook.trace import Kind, Record, Trace
from workbook.views.plain import width
from workbook.views.records import records
from workbook.views.sequence import sequence

CLASSES = sorted(
    (
        one
        for one in vars(m).values()
        if inspect.isclass(one)
        and issubclass(one, m.Message)
        and one not in (m.Message, m.Event, m.Command, m.Aside, m.StartBudget)
    ),
    key=lambda one: one.__name__,
)
HOSTILE = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "]]>",
        "'\"><img onerror=x>",
        "\x00\x1b[31m",
        "\u202eevil",
        "\ud800",
        "a\u0301" * 50,
        "\u5361" * 99,
    ]
)
TEXTS = st.one_of(HOSTILE, st.text(max_size=40))
OPAQUES = st.one_of(
    st.builds(SdkInput, st.text(st.characters(codec="utf-8"), min_size=1, max_size=30)),
    st.builds(SdkOutput, st.just("eyJzaW11bGF0ZWQiOiJub3QgY2FyZCBkYXRhIn0=")),
    st.builds(SdkInput, st.just("eyJzaW11bGF0ZWQiOg")),
)
VALUES = st.one_of(
    TEXTS, OPAQUES, st.none(), st.integers(), st.floats(), st.binary(max_size=9), st.lists(TEXTS, max_size=2)
)
MESSAGES = st.sampled_from(CLASSES).flatmap(lambda one: st.builds(one, **{field.name: VALUES for field in fields(one)}))
RECORDS = st.builds(
    Record,
    st.floats(0, 1e9) | st.sampled_from([1e300, float("nan"), float("inf")]),
    st.sampled_from(Kind),
    MESSAGES,
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=4).map(tuple),
    st.integers(0, 3),
    st.booleans(),
)


@given(TEXTS, st.lists(RECORDS, max_size=8))
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
    _well_formed_html(records(trace).html())
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
        {"figure", "img", "details", "summary", "pre", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    )

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        assert tag in self.ours
        assert {name for name, _value in attrs} <= {"alt", "src", "style", "scope"}
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag == "img"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
