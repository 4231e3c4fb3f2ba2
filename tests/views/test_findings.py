import re
from dataclasses import dataclass, replace

from workbook.views.findings import findings


@dataclass(frozen=True)
class Found:
    rule: str = "A-BTN-1"
    level: str = "fail"
    owner: str = "you"
    text: str = "The button stayed enabled during an attempt."
    todo: str = "Disable it from the moment provisioning begins."
    at: float = 0.42


def several():
    yield Found("REL-6", "note", "nobody", "The GET was slow. " * 9, "", 0.1)
    yield Found(
        "A-CAN-6", "warn", "operator", "A card that is there was not seen.", "Ask for the scheme's setup.", 3.39
    )
    yield Found()
    yield Found("A-CAN-5", "odd", "", "Unknown level.", "Look.", 0.0)


def test_findings_read_gravest_first(golden):
    golden("findings", findings(several()).text())


def test_nothing_to_report_is_said():
    assert findings([]).text().startswith("✓ Nothing to report")
    assert "Nothing to report" in findings([]).html()


def test_level_and_owner_stand_in_words_beside_the_symbol():
    html = findings(several()).html()
    for words in ("✗ fail", "▲ warn", "• note", "? odd", "For you: ", "With the operator: ", "What to do: "):
        assert words in html


def test_each_level_has_an_edge_of_its_own_form_and_colour():
    edges = re.findall(r"border-left:5px ([^;]+);", findings(several()).html())
    assert [edge.split()[0] for edge in edges] == ["solid", "dashed", "dotted", "dotted"]
    assert len(set(edges)) == 3


def test_findings_of_one_level_stand_in_the_order_of_time():
    late, early = Found(), replace(Found(), at=0.1)
    assert findings([late, early]).found == (early, late)


def test_hostile_text_is_escaped():
    html = findings([Found(text="<script>", todo="<img>", rule="<b>")]).html()
    assert "<script>" not in html
    assert "<img>" not in html
