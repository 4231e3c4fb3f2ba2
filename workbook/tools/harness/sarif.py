"""The findings of a run in SARIF 2.1.0, for the pages of a code host."""

import json
from collections.abc import Mapping
from typing import Any

from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import FAILING, CaseRecord, RunRecord

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
