"""One writer of JUnit XML: what a CI system counts, and no text that breaks the document."""

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from workbook.tools.harness.junit import JUnitCase, JUnitSuite, junit

EXPECTED = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="4" failures="1" errors="1" time="2.500">
<testsuite name="one" tests="2" failures="1" errors="0" skipped="0" time="1.500" timestamp="2026-11-22T07:00:00">
<properties>
<property name="seed" value="7" />
</properties>
<testcase classname="a" name="good" time="0.250">
<system-out>first
second</system-out>
</testcase>
<testcase classname="a" name="bad" time="0.000">
<failure message="&lt;b&gt; &amp; &quot;c&quot;" type="fail">why</failure>
</testcase>
</testsuite>
<testsuite name="two" tests="2" failures="0" errors="1" skipped="1" time="1.000">
<testcase classname="b" name="broken" time="0.000">
<error message="gone" />
</testcase>
<testcase classname="b" name="left out" time="0.000">
<skipped message="not here" />
</testcase>
</testsuite>
</testsuites>
"""


def test_the_document_is_the_same_to_the_byte():
    one = JUnitSuite(
        "one",
        (
            JUnitCase("good", "a", 0.25, text="first\nsecond"),
            JUnitCase("bad", "a", -1.0, ending="failure", message='<b> & "c"', text="why", kind="fail"),
        ),
        1.5,
        started="2026-11-22T07:00:00",
        properties={"seed": 7},
    )
    two = JUnitSuite(
        "two",
        (
            JUnitCase("broken", "b", ending="error", message="gone"),
            JUnitCase("left out", "b", ending="skipped", message="not here"),
        ),
        1.0,
    )
    assert junit("all", (one, two), 2.5) == EXPECTED


@given(st.text())
def test_no_text_breaks_the_document(text):
    cases = (JUnitCase(text, text, ending="error", message=text, text=text, kind=text), JUnitCase("a", "a", text=text))
    document = junit(text, [JUnitSuite(text, cases, 1.0, text, {text: text})], 1.0)
    assert len(ET.fromstring(document)[0].findall("testcase")) == 2
