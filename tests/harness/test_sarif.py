"""The findings of a run in SARIF."""

import json

from ran import recorded

from workbook.harness.sarif import LEVELS, to_sarif


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
