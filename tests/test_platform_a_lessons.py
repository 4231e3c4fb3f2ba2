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


@pytest.mark.rule("A-CAN-5")
def test_api_error_is_tied_to_the_later_variant_wherever_a_lesson_first_speaks_of_it():
    firsts = [next((text for text in prose(number) if "ApiError" in text), "") for number in ("02", "03")]
    assert firsts[0]
    assert all("later SDK variant" in " ".join(first.split()) for first in firsts if first)
    played = next(text for text in prose("02") if "15009" in text)
    assert "The document ties `ApiError` to the variant, not to 0.4.0." in played
    assert "that pairing is *assumed*" in played
    assert "In the earlier variant, such an app gets `UnknownFailure` (*assumed*)." in played


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
    assert "No software can simulate these three" in told
    assert "Never publish it (`A-DEP-3`)." in told
    assert "**Each developer machine has its own fingerprint, and needs its own allowlisting** (`A-ALLOW-4`)." in told
    assert told.count(f"`{name}`") == 1
    assert [fact for fact in ARRANGED[name] if fact not in told or fact not in rule(name).text] == []


BEGINS = ("GET", "create", "canProvision", "disables the button")
ENDS = ("POST", "OPC data", "returns `Success` or `Failure`", "the button comes back")


@pytest.mark.rule("FLOW-1", "FLOW-2", "A-PROV-1", "A-PROV-2", "A-OPC-1", "A-BTN-1")
@pytest.mark.parametrize("tap", [("`createSdkOutput`",), ("`provision` with an `OpcProvider`", "`fetchOpc`")])
def test_the_whole_way_is_told_in_order(tap):
    told, at = section("03", "Take home"), 0
    for mark in (*BEGINS, *tap, *ENDS):
        assert mark in told[at:], mark
        at = told.index(mark, at) + len(mark)


@pytest.mark.rule("A-BTN-1")
def test_the_rule_of_the_button_is_told_in_the_document_s_words():
    told = " ".join(section("03", "Take home").replace("*", "").split())
    sentence = rule("A-BTN-1").text.removeprefix("The add button is ").partition(":")[0]
    assert sentence in told


@pytest.mark.rule("A-BTN-2")
def test_what_is_ours_about_quick_taps_is_told_as_ours():
    told = section("03", "Break")
    assert "- **The document says:** quick taps are *likely* to cause `InvalidSdkInput`" in told
    assert "- **We assume:** both attempts fail" in told
