"""The formats that other programs read: JUnit XML for CI systems, SARIF 2.1.0 for the pages of code hosts.

JUnit has one writer for the reports of `workbook run` and of everything that judges. It uses only the elements and
attributes that every CI system reads.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from xml.etree import ElementTree as ET

from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import FAILING, CaseRecord, RunRecord

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


# The level in SARIF of each verdict that shows findings.
LEVELS: Mapping[Verdict, str] = {
    Verdict.FAIL: "error",
    Verdict.FLAKY: "error",
    Verdict.WARN: "warning",
    Verdict.NOTE: "note",
    Verdict.KNOWN: "note",
}


def to_sarif(done: RunRecord) -> str:
    """The findings; a failure that the baseline knows is suppressed, and a case not looked at is open.

    A code host takes a finding only with a place: without a file that shows it, that is the run's configuration.
    """
    shown = [case for case in done.cases if case.verdict in {*LEVELS, Verdict.NOT_LOOKED_AT}]
    rules = [
        {
            "id": case.name,
            "shortDescription": {"text": case.says},
            "fullDescription": {"text": case.rule_in_words},
            "defaultConfiguration": {"level": "error" if case.verdict in FAILING else "note"},
        }
        for case in shown
    ]
    driver = {"name": done.about.program, "version": done.about.versions.get("workbook", ""), "rules": rules}
    results = [result for case in shown for result in _results(case, done.about.config)]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def _results(case: CaseRecord, config: str) -> list[dict[str, Any]]:
    """What SARIF shows of a case: a result for each miss, and one where nothing was looked at."""

    def result(level: str, text: str, file: str, line: int) -> dict[str, Any]:
        place = {"artifactLocation": {"uri": file}, "region": {"startLine": max(line, 1)}}
        located = {"locations": [{"physicalLocation": place}]} if file else {}
        return {"ruleId": case.name, "level": level, "message": {"text": text}} | located

    if case.verdict is Verdict.NOT_LOOKED_AT:
        return [{"kind": "open", **result("none", case.why, "", 0)}]
    results = []
    for miss in case.misses:
        more = f" More: {miss.see}" if miss.see else ""
        text = f"{miss.rule}: expected {miss.expected}, observed {miss.observed}. {miss.todo}{more}"
        results.append(
            result(LEVELS[Verdict.NOTE if miss.noted else case.verdict], text, miss.file or config, miss.line)
        )
        if case.verdict is Verdict.KNOWN:
            results[-1]["suppressions"] = [{"kind": "external", "justification": case.why}]
    return results
