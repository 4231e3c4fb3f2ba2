"""Everything that a person sees says where it is known from: a rule of the ledger, or a source's tag."""

from dataclasses import fields

import pytest
from any_record import CLASSES

from workbook.flows import messages as m
from workbook.rules import MEANINGS, Basis, bases
from workbook.trace import Kind, Record


def _record(message, kind=Kind.EVENT, source="spec"):
    return Record(0.0, kind, message, "a", "a", message.rules, source=source)


def test_each_source_has_its_meaning():
    assert set(MEANINGS) == set(Basis)
    assert [basis for basis in Basis if basis.meaning != MEANINGS[basis]] == []


def test_the_document_itself_needs_no_tag():
    assert bases("spec") == ()
    assert bases("spec wallet inferred") == (Basis.WALLET, Basis.INFERRED)
    with pytest.raises(ValueError, match="hearsay"):
        bases("hearsay")


@pytest.mark.parametrize("message", CLASSES, ids=lambda one: one.__name__)
def test_each_message_and_each_value_of_it_has_a_source(message):
    bases(message.source)
    named = [field.name for field in fields(message) if field.repr and field.name != "basis"]
    assert [name for name in named if name not in {**m.VALUES, **message.sources}] == []
    assert set(message.sources) <= set(named)


def test_no_value_has_a_source_that_no_message_carries():
    carried = {field.name for message in CLASSES for field in fields(message)}
    assert set(m.VALUES) <= carried | {"call", "seconds"}


def test_a_step_bears_the_source_of_its_message_and_of_its_place_in_the_flow():
    assert _record(m.UnknownFailure()).bases == ()
    assert _record(m.CanProvisionCalled(), source="assumed").bases == (Basis.ASSUMED,)
    assert _record(m.HideButton(), Kind.COMMAND, "assumed").bases == (Basis.ASSUMED,)
    assert _record(m.DelegateTimeSpent("provision"), source="wallet").bases == (Basis.WALLET,)


def test_a_value_has_the_source_of_its_name_or_of_its_message():
    assert _record(m.ApiError(15009)).value_bases("status_code") == (Basis.WALLET, Basis.INFERRED)
    assert _record(m.ProvisionFailure("Canceled")).value_bases("reason") == (Basis.SDK_A,)
    assert _record(m.NoSdkInput("down")).value_bases("reason") == (Basis.ASSUMED,)
    assert _record(m.Opened("PI")).value_bases("payment_instrument_id") == ()
