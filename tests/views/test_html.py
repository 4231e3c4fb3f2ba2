import re
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.base.rules import rules, sentence
from workbook.views.html import RULE_ID, join, tag, trust, unbroken, void


def test_a_tag_has_attributes_in_the_order_given():
    assert tag("td", "x", class_="a", aria_label="b", rx=None, y=1.50) == '<td class="a" aria-label="b" y="1.5">x</td>'


def test_an_element_without_children_is_still_closed():
    assert tag("td") == "<td></td>"
    assert void("br") == "<br/>"


def test_whatever_is_not_markup_is_escaped():
    assert join("<b>", tag("i", "&")) == "&lt;b&gt;<i>&amp;</i>"
    assert tag("a", title='"><script>') == '<a title="&quot;&gt;&lt;script&gt;"></a>'


def test_a_string_method_takes_the_trust_away():
    assert join(trust("<b>").upper()) == "&lt;B&gt;"


@given(st.text(), st.text())
def test_any_text_gives_well_formed_xml(inside, attribute):
    root = ET.fromstring(tag("p", inside, title=attribute))
    assert root.tag == "p"


def test_a_rule_id_stays_on_one_line_and_all_else_is_escaped():
    shown = unbroken("A-ALLOW-2 & <API-13>: see X-ENTRIES-1.")
    assert re.sub(r"</?span[^>]*>", "", shown) == "A-ALLOW-2 &amp; &lt;API-13&gt;: see X-ENTRIES-1."
    spans = re.findall(r'<span class="wb-rule"[^>]* style="white-space:nowrap">(.*?)</span>', shown)
    assert spans == ["A-ALLOW-2", "API-13", "X-ENTRIES-1"]


def test_two_dollars_are_no_formula_of_a_notebook():
    assert unbroken("$(A).X and $(B)") == "<span>$</span>(A).X and <span>$</span>(B)"


def test_a_rule_id_has_its_sentence_and_an_unknown_one_has_none():
    assert f'title="{sentence("API-13")}"' in unbroken("API-13").replace("&#x27;", "'")
    assert "title" not in unbroken("API-999")


def test_looking_for_rule_ids_reads_no_text_twice():
    assert RULE_ID.findall("A-" * 500_000) == []
    assert RULE_ID.findall("see A-CAN-2") == ["A-CAN-2"]


def test_every_rule_id_is_found():
    assert all(RULE_ID.fullmatch(rule.id) for rule in rules())


@rows(
    ("text", "markup"),
    [
        ("`finally` is *no answer*, `A-CAN-1`", "<code>finally</code> is <em>no answer</em>, <code>A-CAN-1</code>"),
        ("it breaks *before* the API", "it breaks <em>before</em> the API"),
        ("relay.* and form-*, */* and 2 * 3 * 4", "relay.* and form-*, */* and 2 * 3 * 4"),
        ("`a < b`, one ` alone", "<code>a &lt; b</code>, one ` alone"),
    ],
)
def test_code_and_emphasis_of_a_sentence_are_rendered_and_nothing_else_is_taken_for_them(text, markup):
    assert unbroken(text) == markup
