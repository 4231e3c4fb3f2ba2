"""What notebooks 02 and 03 say in their own words about platform A is what the tables and the rules say."""

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest
from notebook_rows import with_rows

from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0, VARIANTS_A

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
BUTTON = {m.ShowButton: "shown", m.HideButton: "hidden"}


def prose(number):
    """The text cells of a notebook, in their order."""
    (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def section(number, title):
    """The text cell that begins with this title."""
    (found,) = [text for text in prose(number) if text.startswith(f"## {title}\n")]
    return found


ROWS = re.compile(r"(?:^\| `c\w+` \|.*\n?)+", re.MULTILINE)
"""Of the table of outcomes in lesson 02: the rows of the calls."""


def outcomes():
    """Its rows, from the table that is stepped: call, answer, what becomes of the button, who says so."""
    only_later = {event for variant in VARIANTS_A.values() for event in variant.facts.lacks}
    carries = {"throwable": "a throwable", "status_code": "a statusCode"}
    for call, state in (("create", State.CREATING), ("canProvision", State.CHECKING)):
        for row in A_FROM_0_4_0.machine.rows:
            if row.state == state:
                answer = f"`{row.event.says.partition('(')[0]}`"
                answer += "".join(f", with {carries[one.name]}" for one in fields(row.event) if one.name in carries)
                answer += ": later variant only" * (row.event in only_later)
                button = next((BUTTON[one] for one in row.commands if one in BUTTON), "")
                stated = row.source == "spec"
                shown = f"**{button}**" if button and stated else button or "not yet: ask `canProvision`"
                yield f"| `{call}` | {answer} | {shown} | {'the document' if stated else f'*{row.source}*'} |\n"


@pytest.mark.rule("A-CREATE-1", "A-CREATE-2", "A-CREATE-3", "A-CAN-1", "A-CAN-2", "A-CAN-3", "A-CAN-4", "A-CAN-5")
def test_the_table_of_outcomes_is_what_the_flow_does(generated):
    (lesson,) = NOTEBOOKS.glob("02_*.ipynb")
    generated(lesson, with_rows(lesson, ROWS, "".join(outcomes())))


ARRANGED = {
    "A-DEP-1": (A_BEFORE_0_4_0.facts.push_provisioning_library, A_FROM_0_4_0.facts.push_provisioning_library),
    "A-DEP-2": (".m2", "local", "internal"),
    "A-DEP-3": (),
    "A-ALLOW-1": ("allowlisted",),
    "A-ALLOW-2": ("applicationId", "SHA-256 fingerprint", "signing certificate"),
    "A-ALLOW-3": ("signing report", "key or signature tool"),
    "A-ALLOW-4": (),
}
"""What no software can play is proven as a lesson: its sentence, with these words of its rule."""


@pytest.mark.rule("A-ALLOW-1", "A-ALLOW-2", "A-ALLOW-3", "A-ALLOW-4", "A-DEP-1", "A-DEP-2", "A-DEP-3")
@pytest.mark.parametrize("name", ARRANGED)
def test_what_people_arrange_is_taught_before_the_first_call(name):
    told = " ".join(section("02", "Before the first call: what people arrange").split())
    assert "No software can arrange these three" in told
    assert "Never publish it (`A-DEP-3`)." in told
    assert "**Each developer machine has its own fingerprint, and needs its own allowlisting** (`A-ALLOW-4`)." in told
    assert told.count(f"`{name}`") == 1
    assert [fact for fact in ARRANGED[name] if fact not in told or fact not in rule(name).text] == []
