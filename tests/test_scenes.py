"""Scenes: every name in the lesson's vocabulary works, and a misspelt one is explained."""

import pytest

from workbook.errors import ApiStatusError, MalformedResponseError, ParameterError, ResponseTooLargeError, SdkInputError
from workbook.flows import messages as m
from workbook.lesson import Shown
from workbook.rules import rule
from workbook.scenes import DEVICES, ask, create_with, open_card, practice_client, walk
from workbook.simulation.canned import CANNED
from workbook.simulation.damage import DAMAGES
from workbook.simulation.world import INSTRUMENT_IDS

BOTH = ("before-0.4.0", "from-0.4.0")

ENDS = {
    "ready": ("in the wallet", "hidden", True, []),
    "card already in the wallet": ("in the wallet", "hidden", True, []),
    "wallet payment not supported": ("unavailable", "hidden", False, ["A-CREATE-2"]),
    "canProvision ends in Error": ("not offered", "hidden", False, ["A-CAN-3"]),
    "canProvision ends in UnknownFailure": ("not offered", "hidden", False, ["A-CAN-4"]),
    "card not configured at the scheme": ("added, yet still offered", "shown", True, ["A-CAN-6"]),
    "cardholder cancels": ("failed", "shown", False, ["A-PROV-3"]),
    "wallet times out": ("failed", "shown", False, ["A-PROV-3"]),
}
"""How a walk ends on each phone, in both variants: state, button, card in the wallet, rules of the findings."""


@pytest.mark.rule("A-CAN-1", "A-CAN-2", "A-CAN-3", "A-CAN-4", "A-CAN-6", "A-CREATE-2", "A-PROV-3")
@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("device", sorted(ENDS))
def test_a_walk_ends_as_the_phone_has_it(device, variant):
    scene = walk(device, variant)
    found = [finding.rule for finding in scene.findings]
    assert (scene.state, scene.button, scene.in_wallet, found) == ENDS[device]


@pytest.mark.rule("A-CAN-5", "A-ALLOW-1")
@pytest.mark.parametrize("device", ["app not allowlisted", "canProvision ends in ApiError"])
def test_only_the_later_variant_tells_the_wallet_apis_status(device):
    later, earlier = walk(device, "from-0.4.0"), walk(device, "before-0.4.0")
    assert [finding.rule for finding in later.findings] == ["A-CAN-5"]
    assert "15009" in later.findings[0].text
    assert [finding.rule for finding in earlier.findings] == ["A-CAN-4"]
    assert earlier.trace.select(m.ApiError) == []


def test_an_identity_check_that_is_pending_is_no_configuration_issue_of_yours():
    (found,) = walk("identity check pending").findings
    assert (found.rule, found.level, found.owner) == ("A-CAN-6", "note", "nobody")
    assert "identity check" in found.text


def test_every_phone_has_its_end_written_down():
    elsewhere = {"app not allowlisted", "canProvision ends in ApiError", "identity check pending"}
    assert {*ENDS, *elsewhere} == {*DEVICES}


@pytest.mark.rule("A-BTN-1", "A-BTN-2")
@pytest.mark.parametrize("variant", BOTH)
def test_quick_taps_do_harm_only_where_the_button_is_not_guarded(variant):
    guarded, careless = walk(variant=variant, taps=3), walk(variant=variant, taps=3, guarded=False)
    assert guarded.in_wallet
    assert [finding.level for finding in guarded.findings] == ["note", "note"]
    assert not careless.in_wallet
    assert {"A-BTN-1", "A-BTN-2"} <= {finding.rule for finding in careless.findings}
    assert careless.button == "shown"


def test_opening_the_card_goes_as_far_as_the_button():
    assert open_card().button == "shown"
    assert open_card().trace.select(m.AddTapped) == []


@pytest.mark.rule("A-CREATE-3", "API-7")
@pytest.mark.parametrize("damage", sorted(DAMAGES))
@pytest.mark.parametrize("variant", BOTH)
def test_create_takes_the_text_as_it_is_and_nothing_else(damage, variant):
    outcome = create_with(damage, variant)
    assert isinstance(outcome, m.CreateSuccess if damage == "none" else m.InvalidSdkInput)


LAYERS = {
    "decoded": "decoded-once-too-often",
    "encoded twice": "encoded-twice",
    "quoted": "quoted",
    "url-safe alphabet": "url-safe",
    "padding trimmed": "padding",
    "wrapped into lines": "line-breaks",
    "cut off": "truncated",
    "one character changed": "changed",
    "empty": "empty",
}


@pytest.mark.parametrize("damage", sorted(LAYERS))
def test_the_explanation_names_what_was_done(damage):
    assert LAYERS[damage] in create_with(damage).why


KINDS = {
    "sdkInput missing": SdkInputError,
    "sdkInput null": SdkInputError,
    "sdkInput empty": SdkInputError,
    "sdkInput a number": SdkInputError,
    "sdkInput twice": MalformedResponseError,
    "not JSON": MalformedResponseError,
    "cut off": MalformedResponseError,
    "nested 100,000 deep": MalformedResponseError,
    "larger than 1 MiB": ResponseTooLargeError,
    "redirect": ApiStatusError,
    "400": ApiStatusError,
    "401": ApiStatusError,
    "403": ApiStatusError,
    "422": ApiStatusError,
    "500": ApiStatusError,
}


@pytest.mark.rule("API-9")
@pytest.mark.parametrize("answer", sorted(CANNED))
def test_every_wrong_answer_is_its_own_kind_of_error(answer):
    shown = ask(answer)
    assert isinstance(shown, Shown)
    assert type(shown.error) is KINDS[answer]


@pytest.mark.rule("API-15")
def test_the_role_is_needed():
    with pytest.raises(ApiStatusError, match="403") as caught:
        practice_client(role=False).get(INSTRUMENT_IDS[0])
    assert rule("API-15").text.split("'")[1] in str(caught.value)


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: walk("redy"), "ready"),
        (lambda: walk(variant="from-0.4"), "from-0.4.0"),
        (lambda: create_with("quotet"), "quoted"),
        (lambda: ask("redirekt"), "redirect"),
    ],
    ids=["device", "variant", "damage", "answer"],
)
def test_a_misspelt_name_is_explained(call, hint):
    with pytest.raises(ParameterError, match=f"Did you mean '{hint}'"):
        call()


def test_a_scene_shows_its_end_its_picture_and_its_findings():
    bundle = walk("cardholder cancels")._repr_mimebundle_()
    for form in bundle.values():
        assert "How it ended" in form
        assert "A-PROV-3" in form
    assert repr(walk()) == walk()._repr_mimebundle_()["text/plain"]
