"""The table "canProvision outcomes": each outcome, what it carries, and what the app does."""

from dataclasses import fields

import pytest

from workbook.flows import messages as m
from workbook.flows.platform_a import State
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.platform_a import PlatformARun
from workbook.simulation.phones import PhoneA
from workbook.simulation.world import INSTRUMENT_IDS

TABLE = {
    "CanBeProvisioned": (m.CanBeProvisioned, [], m.ShowButton),
    "CannotBeProvisioned.AlreadyExistsInWallet": (m.AlreadyExistsInWallet, [], m.HideButton),
    "CannotBeProvisioned.Error": (m.CanProvisionError, ["throwable"], m.HideButton),
    "CannotBeProvisioned.UnknownFailure": (m.UnknownFailure, [], m.HideButton),
    "CannotBeProvisioned.ApiError": (m.ApiError, ["status_code"], m.HideButton),
}


@pytest.mark.rule("A-CAN-1", "A-CAN-2", "A-CAN-3", "A-CAN-4", "A-CAN-5")
@pytest.mark.parametrize("says", TABLE)
def test_an_outcome_has_the_documents_name_and_carries_what_it_says(says):
    message, carries, _ = TABLE[says]
    assert message.says == says
    assert [field.name for field in fields(message)] == carries


@pytest.mark.rule("A-CAN-1", "A-CAN-2")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
@pytest.mark.parametrize("says", TABLE)
def test_the_app_shows_or_hides_the_button(variant, says):
    message, _, command = TABLE[says]
    rows = [row for row in variant.machine.rows if (row.state, row.event) == (State.CHECKING, message)]
    if message in variant.facts.lacks:
        assert rows == []
        return
    assert [row.commands for row in rows] == [(command,)]


@pytest.mark.rule("A-CAN-5")
def test_the_table_is_complete_in_each_variant():
    for variant in (A_BEFORE_0_4_0, A_FROM_0_4_0):
        outcomes = set(variant.machine.allowed(State.CHECKING))
        assert outcomes == {message for message, _, _ in TABLE.values()} - {*variant.facts.lacks}


@pytest.mark.rule("A-CAN-1", "A-CAN-2")
@pytest.mark.parametrize(("device", "button"), [(PhoneA(), "shown"), (PhoneA(cards={INSTRUMENT_IDS[0]}), "hidden")])
def test_what_the_cardholder_sees(device, button):
    bench = PlatformARun(phone=device)
    bench.open()
    assert bench.button == button


@pytest.mark.rule("A-CAN-6")
def test_can_be_provisioned_for_a_card_that_is_there_is_reported_to_the_contact():
    bench = PlatformARun(phone=PhoneA(scheme_configured=False))
    assert bench.walk().select(m.ReportToContact)
    assert bench.state is State.STILL_OFFERED
