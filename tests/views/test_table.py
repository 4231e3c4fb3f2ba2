import re

from workbook.base.rules import rules
from workbook.views.findings import show_rules
from workbook.views.sequence import sequence
from workbook.views.table import facts, table, width


def card():
    return facts("The card", {"id": "PI1", "wallet": "wallet-a", "note": "long " * 40, "empty": ""})


def test_facts_read_as_a_card(golden):
    golden("facts", card().text())


def test_facts_take_pairs_too_and_may_be_none_at_all():
    assert facts("F", [("a", 1)]) == facts("F", {"a": "1"})
    assert facts("F", {}).text() == "F"


def test_each_fact_is_a_row_with_its_own_header():
    html = facts("<F>", {"<a>": "<b>"}).html()
    assert "<caption" in html
    assert "&lt;F&gt;</caption>" in html
    assert 'scope="row"' in html
    assert "<b>" not in html


def test_rules_read_as_sentences(golden):
    golden("rules", show_rules("A-CAN-2", "A-BTN-1").text())


def test_every_rule_of_the_ledger_can_be_shown():
    shown = show_rules(*(rule.id for rule in rules()))
    assert " ".join(shown.text().split()) == " ".join(f"{rule.id} ({rule.level}): {rule.text}" for rule in rules())
    assert re.findall(r"<td[^>]*>([A-Z-]+-\d+)</td>", shown.html()) == [rule.id for rule in rules()]


def test_a_table_is_at_most_110_characters_wide_as_long_as_its_first_columns_allow(story):
    rows = [(f"{line.at:.3f} s", " ".join(line.rules), line.sentence) for line in sequence(story[1]).lines]
    assert max(map(width, table("T", ("time", "rules", "what"), rows).text().splitlines())) <= 110


def test_a_table_has_a_caption_and_column_headers():
    html = table("T", ("a", "b"), [(1, "<script>")]).html()
    assert html.count('scope="col"') == 2
    assert "&lt;script&gt;" in html


def test_an_empty_table_shows_its_head():
    assert table("T", ("a", "b"), []).text() == "T\n  a  b\n  ─  ─"


def test_a_column_of_long_texts_is_wrapped_and_a_short_one_is_not():
    html = table("T", ("where", "what", "more"), [("a.plist:11", "expected one thing, " * 4, "see X-PLIST-1")]).html()
    styles = re.findall(r'<td style="([^"]*)"', html)
    assert ["nowrap" in style for style in styles] == [True, False, False]
