"""Scenes: every name in the lesson's vocabulary works, and a misspelt one is explained."""

from typing import get_args

import pytest
from rows import rows

from workbook.base.files import NATIVE
from workbook.errors import (
    ApiStatusError,
    ConfigurationError,
    MalformedResponseError,
    ResponseTooLargeError,
    SdkInputError,
)
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0
from workbook.lessons.lesson import Shown
from workbook.lessons.session import session
from workbook.simulation.faults import FaultKind, fault
from workbook.simulation.phones import CAN_PROVISION_FAILURES
from workbook.simulation.seal import DAMAGES
from workbook.simulation.world import SIMULATED_KEY
from workbook.views.findings import show_rules

SESSION = session()

BOTH = ("before-0.4.0", "from-0.4.0")


@pytest.mark.rule("A-CAN-5", "A-ALLOW-1")
@pytest.mark.parametrize("device", ["app not allowlisted", "canProvision ends in ApiError"])
def test_only_the_later_variant_tells_the_wallet_apis_status(device):
    later, earlier = SESSION.platform_a.play(device, "from-0.4.0"), SESSION.platform_a.play(device, "before-0.4.0")
    assert [finding.rule for finding in later.findings] == ["A-CAN-5"]
    assert "15009" in later.findings[0].text
    assert [finding.rule for finding in earlier.findings] == ["A-CAN-4"]
    assert earlier.trace.select(m.ApiError) == []


LATER_ONLY = {name: one for name, one in CAN_PROVISION_FAILURES.items() if type(one) in A_BEFORE_0_4_0.facts.lacks}


@pytest.mark.rule("A-CAN-4", "A-CAN-5")
@pytest.mark.parametrize("name", LATER_ONLY)
def test_an_outcome_of_the_later_sdk_is_an_unknown_failure_in_the_earlier_one(name):
    rules = [
        [one.rule for one in SESSION.platform_a.play(f"canProvision ends in {name}", sdk).findings] for sdk in BOTH
    ]
    assert rules == [["A-CAN-4"], [*LATER_ONLY[name].rules]]


def test_an_identity_check_that_is_pending_is_no_configuration_issue_of_yours():
    (found,) = SESSION.platform_a.play("identity check pending").findings
    assert (found.rule, found.level, found.owner) == ("A-CAN-6", "note", "nobody")
    assert "identity check" in found.text


@pytest.mark.rule("A-BTN-1", "A-BTN-2")
@pytest.mark.parametrize("variant", BOTH)
def test_quick_taps_do_harm_only_where_the_button_is_not_guarded(variant):
    guarded, careless = (
        SESSION.platform_a.play(variant=variant, taps=3),
        SESSION.platform_a.play(variant=variant, taps=3, guarded=False),
    )
    assert guarded.added
    assert [finding.level for finding in guarded.findings] == ["note", "note"]
    assert not careless.added
    assert {"A-BTN-1", "A-BTN-2"} <= {finding.rule for finding in careless.findings}
    assert careless.button == "shown"


@pytest.mark.rule("A-CREATE-3", "API-7")
@rows("damage", sorted(DAMAGES))
@rows("variant", BOTH)
def test_create_takes_the_text_as_it_is_and_nothing_else(damage, variant):
    outcome = SESSION.platform_a.create(variant, damage=damage)
    assert isinstance(outcome, m.CreateSuccess if damage == "none" else m.InvalidSdkInput)


KINDS = {
    FaultKind.STATUS: {ApiStatusError},
    FaultKind.LIMIT: {ApiStatusError},
    FaultKind.UNUSABLE: {SdkInputError, MalformedResponseError},
    FaultKind.ODD: {MalformedResponseError, ResponseTooLargeError},
}


@pytest.mark.rule("API-9")
@rows("answer", SESSION.answers)
def test_every_wrong_answer_is_an_error_of_its_kind(answer):
    shown = SESSION.ask(answer)
    assert isinstance(shown, Shown)
    assert type(shown.error) in KINDS[fault(answer).kind]
    assert SIMULATED_KEY not in str(shown.error)


A, LONG = SESSION.platform_a, "x" * 100_000


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: A.play("redy"), "Did you mean 'ready'"),
        (lambda: A.play(variant="from-0.4"), "Did you mean 'from-0.4.0'"),
        (lambda: A.create(damage="quotet"), "Did you mean 'quoted'"),
        (lambda: A.play(LONG), "(100000 characters). Known: "),
        (lambda: A.play(taps=21), "taps is 21. Give a whole number from 0 to 20."),
        (lambda: A.play(guarded="no"), "guarded is 'no'. Give True or False."),
        (lambda: A.play(migrated=1), "migrated is 1. Give True or False."),
        (lambda: A.play(fetch_opc=5), "play needs a method fetch_opc(payment_instrument_id"),
        (lambda: A.play(fetch_opc=lambda one: one), "cannot be called like this: too many positional"),
        (lambda: SESSION.ask("redirekt"), "Did you mean 'redirect'"),
        (lambda: SESSION.ask(200), "No answer 200. Known: "),
        (lambda: show_rules(3), "A rule's id is text such as 'A-CAN-2', not int"),
        (show_rules, 'Name some, such as "A-CAN-1"'),
    ],
)
def test_a_wrong_argument_says_what_is_allowed(call, told):
    with pytest.raises(ConfigurationError) as caught:
        call()
    assert told in str(caught.value)
    assert len(str(caught.value)) < 500


def test_as_many_taps_as_are_allowed_can_be_played():
    assert A.play(taps=0).button == A.open_page().button == "shown"
    assert len(A.play(taps=20, guarded=False).trace.select(m.AddTapped)) == 20


@pytest.mark.parametrize(
    ("run", "rule"),
    [
        (A.play("cardholder cancels"), "A-PROV-3"),
        (SESSION.platform_b.play("wallet fails"), "B-FIN-1"),
        (SESSION.wallet.play("delegate returns nil"), "X-DEL-1"),
    ],
    ids=["platform A", "platform B", "from the wallet"],
)
def test_a_run_shows_its_end_its_picture_and_its_findings(run, rule):
    bundle = run._repr_mimebundle_()
    for form in (bundle["text/plain"], bundle["text/html"]):
        assert "How it ended" in form
        assert rule in form
    assert repr(run) == bundle["text/plain"]
    assert " at 0x" not in repr(run)


def test_a_function_that_hides_its_parameters_is_called_all_the_same():
    assert SESSION.platform_a.play(fetch_opc=max).state == "failed"


KOTLIN = (NATIVE / "kotlin" / "standin" / "CardProvisioning.kt").read_text("utf-8")


@pytest.mark.parametrize("outcome", get_args(m.CanProvisionFailure), ids=lambda outcome: outcome.__name__)
def test_an_outcome_of_can_provision_is_known_to_the_checks_and_to_kotlin(outcome):
    name = outcome.says.rpartition(".")[2]
    opened = SESSION.platform_a.open_page(f"canProvision ends in {name}")
    assert opened.findings, "give it a Symptom in workbook/checks/platform_a.py"
    assert f'"{name}" -> CanProvisionResult' in KOTLIN, "give it a branch in the Kotlin stand-in"
