"""The findings of a run in SARIF."""

import json
from dataclasses import replace

import pytest
from ran import MISS, recorded
from ran import result as ran

from workbook.tools.harness.model import Verdict
from workbook.tools.harness.output import LEVELS, reports, to_sarif


def test_each_finding_has_a_rule_a_level_and_a_place():
    record = recorded(config="back-end.toml", program="workbook conform")
    (run,) = json.loads(to_sarif(record))["runs"]
    assert run["tool"]["driver"]["name"] == "workbook conform"
    shown = {case.name: case for case in record.cases if case.verdict in LEVELS}
    found = [result for result in run["results"] if "kind" not in result]
    assert {result["ruleId"] for result in found} == set(shown)
    assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} >= set(shown)
    for result in found:
        place = result["locations"][0]["physicalLocation"]
        assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("back-end.toml", 1)
        assert result["level"] in {"error", "warning", "note"}
        assert ("suppressions" in result) == (shown[result["ruleId"]].verdict == "known")


def test_a_case_that_was_not_looked_at_is_open():
    (run,) = json.loads(to_sarif(recorded()))["runs"]
    (result,) = [result for result in run["results"] if "kind" in result]
    assert (result["kind"], result["level"], result["message"]["text"]) == ("open", "none", "unread")
    assert "locations" not in result


def test_a_miss_stands_at_its_own_line_and_says_what_to_do_and_where_to_read_more():
    elsewhere = replace(MISS, file="app/build.gradle.kts", line=12)
    record = recorded(ran(misses=(MISS, elsewhere)), config="back-end.toml")
    first, second = json.loads(to_sarif(record))["runs"][0]["results"]
    assert first["message"]["text"] == (f"API-11: expected {MISS.expected}, observed {MISS.observed}. {MISS.todo}")
    places = [one["locations"][0]["physicalLocation"] for one in (first, second)]
    assert [(place["artifactLocation"]["uri"], place["region"]["startLine"]) for place in places] == [
        ("back-end.toml", 1),
        ("app/build.gradle.kts", 12),
    ]


def test_a_known_failure_says_why_it_is_known_and_has_no_place_without_a_file():
    record = recorded(ran(verdict=Verdict.KNOWN, why="a ticket"), config="")
    (found,) = json.loads(to_sarif(record))["runs"][0]["results"]
    assert found["suppressions"] == [{"kind": "external", "justification": "a ticket"}]
    assert "locations" not in found


@pytest.mark.parametrize(
    ("program", "name"),
    [("workbook conform", "conform"), ("workbook conform app", "conform"), ("workbook preflight", "preflight")],
)
def test_each_tool_writes_it_beside_its_reports(program, name):
    record = recorded(program=program)
    assert reports(record)[f"{name}.sarif"] == to_sarif(record)
