"""Platform B's variants are data: flow and facts, and a name that is nearly right is explained."""

from dataclasses import fields, replace

import pytest
from vocabulary import EXTENSIONS, IN_APP_B

from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.flows.variants import B_EARLIER, B_LATER, SURFACES, VARIANTS_B, FactsB, variant_b

BOTH = [B_EARLIER, B_LATER]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("latter", "No platform B variant 'latter'. Did you mean 'later'?"),
        ("2.0.0", "No platform B variant '2.0.0'. Known: earlier, later."),
        (["later"], "No platform B variant a value of type list."),
        (None, "No platform B variant None."),
    ],
)
def test_a_wrong_name_is_explained(name, told):
    with pytest.raises(ParameterError) as caught:
        variant_b(name)
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("name", IN_APP_B)
def test_a_variant_is_printed_and_titled_with_what_sets_it_apart(name):
    one = IN_APP_B[name]
    assert one.name in repr(one)
    assert one.name in one.title
    assert one.name in one.machine.name
    assert ("failure not told" in repr(one)) == ("failure not told" in one.title) == (not one.tells)


def test_there_is_one_extension_table_for_each_variant_and_surface():
    names = {machine.name for machine in EXTENSIONS.values()}
    assert len(names) == len(VARIANTS_B) * len(SURFACES) == 4
    assert [B_LATER.extension_title(surface).rsplit(" ", 1)[1] for surface in SURFACES] == list(SURFACES)
    assert B_LATER.extension_title() == B_LATER.extension_title("phone")


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-WATCH-1", "B-DEL-1", "B-DEL-2")
def test_the_facts_say_what_the_tables_do():
    for one in BOTH:
        says = {event.says for event in one.machine.events}
        assert {one.facts.availability, one.facts.delegate} <= says
        assert (m.WatchActivateCalled in one.machine.events) == (one.facts.watch_availability != "none") == one.later


def test_the_version_is_public_knowledge_and_shown_in_the_field_profile_only():
    for facts in (B_EARLIER.facts, B_LATER.facts):
        assert facts.shown()["version"] == facts.shown("spec")["version"] == "not shown (GAP-7)"
        assert facts.shown("field")["version"] == f"{facts.version} (sdk-b)"
        assert facts.version not in "".join(facts.shown().values())
        assert [name.replace(" ", "_") for name in facts.shown()] == [
            one.name for one in fields(FactsB) if one.name != "lacks"
        ]


def test_a_variant_can_be_made_silent_and_shares_nothing_that_changes():
    silent = replace(B_LATER, tells=False)
    assert silent.machine is not B_LATER.machine
    assert m.TellFailure not in {command for row in silent.machine.rows for command in row.commands}
    assert m.TellFailure in {command for row in B_LATER.machine.rows for command in row.commands}


@pytest.mark.rule("B-CAN-1", "B-CAN-2")
@pytest.mark.parametrize(("variant", "other"), [(B_EARLIER, "B-CAN-2"), (B_LATER, "B-CAN-1")])
def test_no_row_of_a_variant_rests_on_the_other_ones_question(variant, other):
    rows = [row for row in variant.machine.rows if row.event is m.CanAddCard]
    own = {"B-CAN-1", "B-CAN-2"} - {other}
    assert rows
    assert all(own <= set(row.rules) for row in rows)
    assert not any(other in row.rules for row in variant.machine.rows)
