"""Scenes in the app on platform B: every name in the lesson's vocabulary works, and a misspelt one is explained."""

import pytest
from rows import rows

from workbook.errors import ParameterError
from workbook.flows import messages as m
from workbook.lessons.session import session
from workbook.play.platform_b import APPS_B
from workbook.simulation.phones import PHONES_B
from workbook.simulation.world import INSTRUMENT_IDS

SESSION = session()
FIRST = INSTRUMENT_IDS[0]

BOTH = ("earlier", "later")

ENDS = {
    # state, button, what the screen says, on the phone, on the watch, the findings' rules and levels
    "ready": ("in the wallet", "hidden", "Added to Wallet", "yes", "no watch is paired", []),
    "with a watch": ("added, yet still offered", "shown", "Added to Wallet", "yes", "no", ["B-CAN-2 note"]),
    "cardholder adds to both": ("in the wallet", "hidden", "Added to Wallet", "yes", "yes", []),
    "card on the phone, not on the watch": (
        "in the wallet", "hidden", "Added to Wallet", "yes", "yes", ["B-CAN-2 note"],
    ),
    "card on both": ("in the wallet", "hidden", "Available in Wallet", "yes", "yes", []),
    "card already in the wallet": ("in the wallet", "hidden", "Available in Wallet", "yes", "no watch is paired", []),
    "another wallet": ("unavailable", "hidden", "", "no", "no watch is paired", ["B-INIT-1 warn"]),
    "cardholder cancels": ("failed", "shown", "", "no", "no watch is paired", ["B-FIN-1 note"]),
    "wallet fails": ("failed", "shown", "not added", "no", "no watch is paired", ["B-FIN-1 warn"]),
    "neither pass nor error": ("failed", "shown", "not added", "no", "no watch is paired", ["B-FIN-1 warn"]),
    "no entitlement": ("failed", "shown", "not added", "no", "no watch is paired", ["B-START-1 fail"]),
    "app not associated at the scheme": (
        "added, yet still offered", "shown", "Added to Wallet", "yes", "no watch is paired", ["B-CAN-2 warn"],
    ),
    "back end takes 25 s": (
        "failed", "shown", "not added", "no", "no watch is paired", ["B-FIN-1 warn", "B-DEL-3 fail"],
    ),
}  # fmt: skip


def told(scene):
    return [f"{finding.rule} {finding.level}" for finding in scene.findings]


@pytest.mark.rule("B-CAN-1", "B-CAN-2", "B-CAN-3", "B-INIT-1", "B-START-1", "B-FIN-1", "B-FIN-2", "B-DEL-3")
@rows("variant", BOTH)
@rows("phone", PHONES_B)
def test_a_run_ends_as_the_phone_has_it(phone, variant):
    scene = SESSION.platform_b.play(phone, variant)
    state, button, label, on_phone, on_watch, findings = ENDS[phone]
    if variant == "earlier":  # each variant has its own question
        findings = [finding.replace("B-CAN-2", "B-CAN-1") for finding in findings]
    assert (scene.state, scene.button, scene.label, told(scene)) == (state, button, label, findings)
    assert scene.summary["card on the phone"] == on_phone
    assert scene.summary["card on the watch"] == on_watch
    assert ("screen says" in scene.summary) == bool(label)


def test_every_phone_has_its_end_written_down():
    assert {*ENDS} == {*PHONES_B}


MISTAKES = {
    # app, phone, pages: the findings beside those that the phone itself gives
    "hands over base64 text": ("ready", 1, ["API-8 fail", "B-INIT-1 fail"]),
    "a WatchAvailability for each page": ("card on both", 2, ["B-WATCH-2 fail"]),
    "never looks for a watch": ("card on the phone, not on the watch", 1, ["B-WATCH-1 warn"]),
    "keeps a failure to itself": ("wallet fails", 1, ["APP-4 fail", "B-FIN-1 warn"]),
}


@pytest.mark.rule("API-8", "B-WATCH-1", "B-WATCH-2", "B-FIN-1", "APP-4")
@pytest.mark.parametrize("app", MISTAKES)
def test_each_mistaken_app_is_found_out_and_a_good_one_is_not(app):
    phone, pages, findings = MISTAKES[app]
    assert sorted(told(SESSION.platform_b.play(phone, app=app, pages=pages))) == findings
    good = {finding for finding in told(SESSION.platform_b.play(phone, pages=pages)) if not finding.endswith("note")}
    assert good & {one for one in findings if one.endswith("fail")} == set()


def test_every_mistake_is_listed():
    assert ["good", *MISTAKES, "says “Available in Wallet” on completion"] == [*APPS_B]


@pytest.mark.rule("B-FIN-2")
def test_the_app_with_the_other_label_makes_no_mistake():
    run = SESSION.platform_b.play(app=[*APPS_B][-1])
    assert (run.label, run.added, told(run)) == ("Available in Wallet", True, told(SESSION.platform_b.play()))


@pytest.mark.rule("B-WATCH-1")
def test_an_app_that_never_looked_hides_the_button_from_a_watch_that_lacks_the_card():
    good = SESSION.platform_b.play("card on the phone, not on the watch")
    careless = SESSION.platform_b.play("card on the phone, not on the watch", app="never looks for a watch")
    assert (good.summary["card on the watch"], careless.summary["card on the watch"]) == ("yes", "no")
    assert careless.button == "hidden"
    assert careless.trace.select(m.AddTapped) == []


@pytest.mark.parametrize("app", ["never looks for a watch", "a WatchAvailability for each page"])
def test_a_mistake_with_the_watch_needs_the_variant_that_knows_one(app):
    with pytest.raises(ParameterError, match=f"^The earlier variant knows no watch: '{app}' needs variant='later'"):
        SESSION.platform_b.play(app=app, variant="earlier")


@pytest.mark.parametrize("variant", BOTH)
@pytest.mark.parametrize("app", ["hands over base64 text", "keeps a failure to itself"])
def test_the_other_mistakes_can_be_made_in_both(app, variant):
    levels = {finding.level for finding in SESSION.platform_b.play("wallet fails", variant, app).findings}
    assert "fail" in levels


@pytest.mark.rule("B-DEL-1", "B-DEL-2", "B-DEL-3")
@pytest.mark.parametrize("variant", BOTH)
def test_your_own_delegate_is_called_in_its_variants_way(variant):
    given = []

    class Mine:
        def provision(self, sdk_output, payment_instrument_id=None):
            given.append((type(sdk_output), payment_instrument_id))

        def did_finish_provisioning(self, pass_, error):
            return None

    scene = SESSION.platform_b.play(variant=variant, delegate=Mine())
    assert given == [(bytes, FIRST if variant == "later" else None)]
    assert (scene.state, scene.label) == ("failed", "not added")


class Short:
    def provision(self):
        return None


B = SESSION.platform_b


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: B.play("redy"), "Did you mean 'ready'"),
        (lambda: B.play(variant="latter"), "Did you mean 'later'"),
        (lambda: B.play(app="goood"), "Did you mean 'good'"),
        (lambda: B.play(delegate=5), "A delegate needs a method provision(sdk_output, "),
        (lambda: B.play(delegate=lambda *_: b"x"), "A delegate needs a method"),
        (lambda: B.play(delegate=Short), "A delegate needs a method"),
        (lambda: B.play(delegate=Short()), "Yours cannot be called like this: too many positional arguments."),
        (lambda: B.play(pages=10), "pages is 10. Give a whole number from 1 to 9."),
    ],
)
def test_a_wrong_argument_says_what_is_allowed(call, told):
    with pytest.raises(ParameterError) as caught:
        call()
    assert told in str(caught.value)
    assert len(str(caught.value)) < 600


def test_each_run_has_a_phone_of_its_own_and_pages_are_opened_before_the_tap():
    run, again = (B.play("with a watch", pages=9) for _time in range(2))
    assert run.phone.watch is not again.phone.watch
    assert len(run.trace.select(m.Opened)) == 9
    assert [finding for finding in run.findings if finding.level != "note"] == []
