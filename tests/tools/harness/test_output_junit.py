"""One writer of JUnit XML: what a CI system counts, and no text that breaks the document."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from workbook.tools.harness.output import JUnitCase, JUnitSuite, junit

CASES = (
    JUnitCase("good", "a", 0.25, text="first"),
    JUnitCase("bad", "a", -1.0, ending="failure", message='<b> & "c"', text="why", kind="fail"),
    JUnitCase("broken", "b", ending="error", message="gone"),
    JUnitCase("left out", "b", ending="skipped", message="not here"),
)


def test_what_a_ci_system_counts():
    suite = JUnitSuite("one", CASES, 1.5, started="2026-11-22T07:00:00", properties={"seed": 7})
    (element,) = ET.fromstring(junit("all", [suite], 2.5))
    assert element.attrib == {
        "name": "one", "tests": "4", "failures": "1", "errors": "1", "skipped": "1", "time": "1.500",
        "timestamp": "2026-11-22T07:00:00",
    }  # fmt: skip
    assert [case.get("time") for case in element[1:]] == ["0.250", "0.000", "0.000", "0.000"]
    shown = [(child.tag, child.attrib, child.text) for case in element[1:] for child in case]
    assert shown == [
        ("system-out", {}, "first"),
        ("failure", {"message": '<b> & "c"', "type": "fail"}, "why"),
        ("error", {"message": "gone"}, None),
        ("skipped", {"message": "not here"}, None),
    ]


@given(st.text())
def test_no_text_breaks_the_document(text):
    cases = (JUnitCase(text, text, ending="error", message=text, text=text, kind=text), JUnitCase("a", "a", text=text))
    document = junit(text, [JUnitSuite(text, cases, 1.0, text, {text: text})], 1.0)
    assert len(ET.fromstring(document)[0].findall("testcase")) == 2
