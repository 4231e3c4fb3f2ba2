"""Drift for a person and for a script."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbook.proxy.drift_toml import setting_line
from workbook.proxy.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbook.proxy.drift import Drift
    from workbook.proxy.finding import Finding

NO_SETTING = "no setting: tell us"


def as_text(drift: Drift) -> str:
    """The report, each kind of finding under its heading."""
    found = len(drift.findings)
    total = f"{found} {'finding' if found == 1 else 'findings'}" if found else "no drift"
    lines = [f"{drift.compared} exchanges compared with the scenario {drift.scenario.name!r}: {total}."]
    lines += [f"Note: {note}" for note in drift.notes]
    for kind in Kind:
        findings = [finding for finding in drift.findings if finding.kind is kind]
        if findings:
            lines += ["", f"{kind.value} ({len(findings)})"]
            lines += [line for finding in findings for line in _lines(finding)]
    return "".join(f"{_plain(line)}\n" for line in lines)


def as_json(drift: Drift) -> str:
    """The same as one line of JSON."""
    return json.dumps(
        {
            "scenario": drift.scenario.name,
            "compared": drift.compared,
            "notes": list(drift.notes),
            "findings": [_dict(finding) for finding in drift.findings],
        }
    )


def _lines(finding: Finding) -> Iterator[str]:
    where = ", ".join(map(str, finding.lines))
    more = "..." if finding.count > len(finding.lines) else ""
    yield f"  {finding.operation:<4} {finding.count} of {finding.of}: {finding.real}"
    yield f"       the simulator: {finding.simulated}   basis: {finding.basis}   lines: {where}{more}"
    yield f"       {NO_SETTING if finding.setting is None else setting_line(finding.setting)}"
    if finding.note:
        yield f"       {finding.note}"


def _dict(finding: Finding) -> dict[str, Any]:
    told = asdict(finding)
    line = None if finding.setting is None else setting_line(finding.setting)
    return told | {"kind": finding.kind.value, "lines": list(finding.lines), "toml": line}


def _plain(line: str) -> str:
    """What a terminal may show: a record is a file, and a file may hold anything."""
    return "".join(character if character.isprintable() else "?" for character in line)
