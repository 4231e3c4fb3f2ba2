"""JUnit XML, one writer for the reports of `workbook run` and `workbook conform`.

It uses only the elements and attributes that every CI system reads.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree as ET

Ending = Literal["failure", "error", "skipped"]


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One test case.

    Attributes:
        name: of the case.
        classname: the group that a CI system files it under.
        seconds: how long it took.
        ending: how it ended; None when it passed.
        message: one line about the ending.
        text: everything else about the ending; of a case that passed it becomes its `system-out`.
        kind: the ending's `type`, such as the class of an error.
    """

    name: str
    classname: str
    seconds: float = 0.0
    ending: Ending | None = None
    message: str = ""
    text: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class JUnitSuite:
    """The test cases of one group, in order.

    Attributes:
        name: of the suite.
        cases: its cases.
        seconds: how long they took.
        started: when they began, as an ISO 8601 time without a zone; empty leaves it out.
        properties: what else a reader should know, by name.
    """

    name: str
    cases: tuple[JUnitCase, ...]
    seconds: float
    started: str = ""
    properties: Mapping[str, object] = field(default_factory=dict)


def junit(name: str, suites: Iterable[JUnitSuite], seconds: float) -> str:
    """The XML document; characters that XML cannot hold are left out, and lines break between elements only."""
    suites = tuple(suites)
    every_case = tuple(case for suite in suites for case in suite.cases)
    counts = _counts(every_case)
    del counts["skipped"]  # no CI system reads it here, and one of their schemas forbids it
    document = _element(None, "testsuites", name=name, **counts, time=_time(seconds))
    for suite in suites:
        element = _element(document, "testsuite", name=suite.name, **_counts(suite.cases), time=_time(suite.seconds))
        if suite.started:
            element.set("timestamp", _text(suite.started))
        if suite.properties:
            properties = _element(element, "properties")
            for key, value in suite.properties.items():
                _element(properties, "property", name=key, value=value)
        for case in suite.cases:
            row = _element(element, "testcase", classname=case.classname, name=case.name, time=_time(case.seconds))
            if case.ending is not None:
                kind = {"type": case.kind} if case.kind else {}
                _element(row, case.ending, message=case.message, **kind).text = _text(case.text) or None
            elif case.text:
                _element(row, "system-out").text = _text(case.text)
    ET.indent(document, "")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(document, encoding="unicode")}\n'


def _element(parent: ET.Element | None, tag: str, **attributes: object) -> ET.Element:
    values = {key: _text(value) for key, value in attributes.items()}
    return ET.Element(tag, values) if parent is None else ET.SubElement(parent, tag, values)


def _counts(cases: Iterable[JUnitCase]) -> dict[str, int]:
    endings = [case.ending for case in cases]
    counted: dict[str, Ending] = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(endings)} | {name: endings.count(ending) for name, ending in counted.items()}


def _text(value: object) -> str:
    return re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(value))


def _time(seconds: float) -> str:
    return f"{max(seconds, 0):.3f}"
