"""The judges of lesson 04: platform B's phone and watch, three apps with a mistake, a delegate, the lines of a page."""

from typing import Any

from workbook.api.opaque import SdkOutput
from workbook.base.values import quoted
from workbook.flows import messages as m
from workbook.lessons.exercises.lesson_02 import Need, out_of_order
from workbook.lessons.exercises.lesson_03 import TextRelay
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.session import session
from workbook.play.own_code import completed


def with_and_without_a_watch() -> Observed:
    """What one attempt leaves on a phone, alone and with a watch."""
    platform_b = session().platform_b
    alone, watched = platform_b.play(), platform_b.play("with a watch")
    delegate = (m.DelegateProvisionWithIdCalled, m.FinishedWithPass)
    return Observed(
        alone,
        label=alone.label,
        button=alone.button,
        delegate_calls=len(alone.trace.select(*delegate)),
        button_with_a_watch=watched.button,
    )


def three_apps() -> Observed:
    """Which app shows which symptom; each is played on a phone on which its mistake can be seen."""
    platform_b = session().platform_b
    phones = {
        "hands over base64 text": "ready",
        "never looks for a watch": "card on the phone, not on the watch",
        "keeps a failure to itself": "wallet fails",
    }
    runs: dict[str, Any] = {app: platform_b.play(phone, app=app) for app, phone in phones.items()}
    (no_button,) = (app for app, run in runs.items() if run.trace.select(m.ServiceRefused))
    (watch_lacks_the_card,) = (
        app
        for app, run in runs.items()
        if run.button == "hidden" and run.added and run.phone.watch and run.card not in run.phone.watch.cards
    )
    (taps_again,) = (app for app, run in runs.items() if run.button == "shown" and not run.label)
    return Observed(
        runs[watch_lacks_the_card],
        no_button=no_button,
        watch_lacks_the_card=watch_lacks_the_card,
        taps_again=taps_again,
    )


def relays_bytes(delegate: Any) -> Reason | Observed:
    """The delegate encodes once, decodes once, returns None for a failure, and says how it ended."""
    relay, away = TextRelay(), TextRelay(works=False)
    mine: Any = delegate(relay)
    run = session().platform_b.play(delegate=mine)
    if reason := _asked_as_it_should(relay.calls, run) or first_finding(run):
        return reason
    if (says := getattr(mine, "says", None)) not in ("Added to Wallet", "Available in Wallet"):
        text = f"the card was added, and the page says {quoted(says)}. Set says to one of the document's two labels."
        return Reason("B-FIN-2", text, run)
    silent: Any = delegate(away)
    failed = session().platform_b.play(delegate=silent)
    if reason := _failed_as_it_should(away.calls, failed, getattr(silent, "says", None)):
        return reason
    unsure: Any = delegate(relay)
    completed(unsure.did_finish_provisioning, None, None)
    if (says := getattr(unsure, "says", None)) != "Not added":
        text = f"didFinishProvisioning brought neither a pass nor an error, and the page says {quoted(says)}."
        return Reason("B-FIN-1", f"{text} Both are optional: only a pass means that the card was added.")
    return Observed(run)


def _asked_as_it_should(calls: list[tuple[object, object]], run: Any) -> Reason | None:
    """One POST, with the SDK's id and its bytes as base64 text."""
    asked = run.trace.select(m.DelegateProvisionWithIdCalled)[0].message
    if len(calls) > 1:
        text = f"your delegate asked the back end {len(calls)} times for one sdkOutput; once is right."
        return Reason("REL-1", text, run)
    if not calls:
        return Reason("B-DEL-3", "your delegate did not ask the back end for the POST.", run)
    wanted = (asked.payment_instrument_id, SdkOutput.from_bytes(_bytes(asked.sdk_output)).text)
    return None if calls[0] == wanted else Reason("API-8", _wrong_call(calls[0], wanted), run)


def _failed_as_it_should(calls: list[tuple[object, object]], run: Any, says: object) -> Reason | None:
    """No second POST, nil for the SDK, and a word for the cardholder."""
    if len(calls) > 1:
        text = f"the POST got no answer, and your delegate sent it {len(calls)} times; it may have arrived before."
        return Reason("REL-1", text, run)
    nothing = [record.message.reason for record in run.trace.select(m.NoSdkInput)]
    if nothing != ["provision returned nil"]:
        what = nothing[0] if nothing else "it returned something"
        text = f"the back end raised TimeoutError, and your delegate did not return None for it ({what})."
        return Reason("B-DEL-3", text, run)
    if says != "Not added":
        text = f"the attempt failed, and the page says {quoted(says)}. Say 'Not added', or the cardholder taps again."
        return Reason("APP-4", text, run)
    return None


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else bytes(value.data)


def _wrong_call(given: tuple[object, object], wanted: tuple[str, str]) -> str:
    if given[0] != wanted[0]:
        return (
            "your delegate mixed up the two values: the SDK gives sdkOutput first (sdk-b), the back end takes the id."
        )
    if isinstance(given[1], bytes):
        return "your delegate gave the back end bytes; JSON needs text: wb.SdkOutput.from_bytes(...).text encodes them."
    if given[1] == SdkOutput.from_bytes(wanted[1].encode()).text:
        return "your delegate encoded the sdkOutput twice; once is right."
    return "your delegate changed the sdkOutput on its way; encode its bytes once, and relay that text."


def order_of_page_and_tap(order: Any) -> Reason | Observed:
    """GET, service, watch, question; then disable and start."""
    needs = (
        Need("2", "1", "API-10", "and there was no sdkInput yet: the GET comes before the service."),
        Need("4", "2", "B-INIT-1", "and there was no service yet to ask."),
        Need("4", "3", "B-WATCH-1", "before the watch was looked for: the SDK was told that there is none."),
        Need("5", "4", "B-CAN-2", "before canAddCardDetails had answered: there was no button to tap yet."),
        Need("6", "4", "B-START-1", "before the button was shown: start comes when the cardholder selects add."),
        Need(
            "6",
            "5",
            "A-BTN-1",
            "while the button was enabled: a second tap starts another attempt (on platform B: assumed).",
        ),
    )
    return out_of_order(order, needs) or Observed(session().platform_b.play("with a watch"))
