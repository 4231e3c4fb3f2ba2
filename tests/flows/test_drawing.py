"""A table as text: each row is in it once, and nothing else."""

import re

import pytest
from vocabulary import VARIANTS


@pytest.mark.parametrize("name", VARIANTS)
def test_the_mermaid_text_has_every_state_and_every_row(name):
    machine = VARIANTS[name].machine
    lines = [line.strip() for line in f"{machine:mermaid}".splitlines()]
    assert lines[:2] == ["stateDiagram-v2", "[*] --> IDLE"]
    named = [line for line in lines if re.fullmatch(r"\w+ : .+", line)]
    assert named == [f"{state.name} : {state.value}" for state in machine.states]
    arrows = [line for line in lines if re.fullmatch(r"\w+ --> \w+ : \w+( \(deprecated\))?", line)]
    assert len(arrows) == len(machine.rows)
    assert sum("(deprecated)" in line for line in arrows) == sum(row.deprecated for row in machine.rows)
    assert {line for line in lines if line.endswith("--> [*]")} == {f"{s.name} --> [*]" for s in machine.final}
    assert len(lines) == 2 + len(machine.states) + len(machine.rows) + len(machine.final)


@pytest.mark.parametrize("name", VARIANTS)
def test_the_markdown_table_has_every_row(name):
    machine = VARIANTS[name].machine
    lines = f"{machine:md}".splitlines()
    assert len(lines) == 2 + len(machine.rows)
    assert {line.count("|") for line in lines} == {6}
    assert sum(line.endswith("assumed |") for line in lines) == sum(row.source == "assumed" for row in machine.rows)
    assert (
        lines[2]
        == "| idle | `opens the card` | fetching sdkInput | needs activation data | FLOW-1 FLOW-2 FLOW-4 API-10 |"
    )
