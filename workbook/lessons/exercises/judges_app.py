"""Judges of the issuer's app (lessons 00 and 02 to 04): buttons, taps, providers, delegates, the order of calls."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

from workbook.api.opaque import SdkOutput
from workbook.base.values import quoted
from workbook.errors import ActivationDataError, OpaqueDataError, ParameterError
from workbook.flows import messages as m
from workbook.lessons.exercises.judges_api import SPACED
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.run import Run
from workbook.lessons.session import session
from workbook.play.own_code import run_to_end
from workbook.simulation.phones import CAN_PROVISION_FAILURES


def after_the_tap() -> Observed:
    """Who sends what between the tap and the card."""
    run: Any = session().platform_a.play()
    (post,) = (
        message for record in run.trace if isinstance(message := record.message, m.ApiRequested) and message.sdk_output
    )
    (made,) = run.trace.select(m.FetchOpcCalled)
    (returned,) = run.trace.select(m.ReturnOpc)
    kind = returned.message.sdk_input.summary()["kind"]
    disabled = run.trace.select(m.DisableButton)[0].at < returned.at < run.ended
    return Observed(  # without the run: the lesson's next cell shows it
        posts=str(post.sender),
        makes_sdk_output=str(made.message.sender),
        wallet_needs="POST" if kind == "opc" else "GET",
        button="disabled" if disabled else "shown",
    )


def whose_task() -> Observed:
    """The owner of the gravest finding of three runs."""
    opened = session()
    runs: dict[str, Run] = {
        "empty_answer": opened.break_it("sdkInput missing", back_end="believes every 200"),
        "still_offered": opened.platform_a.play("card not configured at the scheme"),
        "cancelled": opened.platform_a.play("cardholder cancels"),
    }
    return Observed(runs["empty_answer"], **{name: str(run.findings[0].owner) for name, run in runs.items()})


def predicted_buttons() -> Observed:
    """The button at the end of four pages."""
    platform_a = session().platform_a
    scheme = platform_a.play("card not configured at the scheme")
    return Observed(
        scheme,
        in_the_wallet=platform_a.open_page("card already in the wallet").button,
        not_allowlisted=platform_a.open_page("app not allowlisted").button,
        error=platform_a.open_page("canProvision ends in Error").button,
        still_offered=scheme.button,
    )


def a_branch_for_every_outcome(decide: Any) -> Reason | Observed:
    """`button(outcome)` says show or hide for every outcome of create and canProvision, InvalidSdkInput included."""
    opened = session().platform_a
    rows = (
        ("CanBeProvisioned", "A-CAN-1", "ready", "show"),
        ("AlreadyExistsInWallet", "A-CAN-2", "card already in the wallet", "hide"),
        ("WalletPayNotSupported", "A-CREATE-2", "wallet payment not supported", "hide"),
        *(
            (type(outcome).__name__, outcome.rules[0], f"canProvision ends in {name}", "hide")
            for name, outcome in CAN_PROVISION_FAILURES.items()
        ),
    )  # its rule, a phone on which it comes, and what the button must do
    outcomes = [(name, rule, outcome_on(phone), must) for name, rule, phone, must in rows]
    outcomes.append(("InvalidSdkInput", "A-CREATE-3", opened.create(damage="cut off"), "hide"))
    for name, rule, outcome, must in outcomes:
        said = decide(outcome)
        if said is None:
            return Reason(rule, f"your function returned nothing for {name}; the answer is {must!r}.")
        if said != must:
            return Reason(rule, f"your function said {quoted(said)} for {name}; the answer is {must!r}.")
    return Observed(opened.open_page())


def outcome_on(phone: str) -> Any:
    """What create answers on this phone, or canProvision where create succeeds."""
    created = session().platform_a.create(phone=phone)
    return created.card_provisioning.can_provision() if isinstance(created, m.CreateSuccess) else created


class Need(NamedTuple):
    """One line of a program needs another one before it: which rule says so, and what happens without."""

    line: str
    before: str
    rule: str
    without: str


def order_of_the_page(order: Any) -> Reason | Observed:
    """Hide the old button, GET, create, canProvision, and only then the branch."""
    needs = (
        Need(
            "1", "5", "A-CAN-1", "and the button of the last visit was still shown: it could be tapped. Hide it first."
        ),
        Need("2", "1", "API-10", "and there was no sdkInput yet. The GET comes before create."),
        Need("3", "2", "A-CREATE-1", "and there was no cardProvisioning yet. It comes with create's Success."),
        Need("4", "3", "A-CAN-1", "before canProvision had answered. The answer decides about the button."),
    )
    return out_of_order(order, needs) or Observed(session().platform_a.open_page())


def out_of_order(order: Any, needs: tuple[Need, ...]) -> Reason | None:
    """What is wrong with the answer's form, or the first line that lacks another one before it."""
    lines = sorted({line for need in needs for line in (need.line, need.before)})
    if isinstance(order, list | tuple):
        order = " ".join(map(str, order))
    if not isinstance(order, str):
        return Reason("", f'you handed in {quoted(order)}; give the numbers of the lines as text, such as "2 1 3".')
    given = re.findall(r"\d|[^\W\d]+", order)  # each number, whatever is between them
    if strange := [line for line in given if line not in lines]:
        return Reason("", f"{strange[0]!r} is no line. The lines are {', '.join(lines)}.")
    if odd := [line for line in lines if given.count(line) != 1]:
        times = given.count(odd[0])
        return Reason("", f"line {odd[0]} is {f'there {times} times' if times else 'missing'}. Use each line once.")
    for place, line in enumerate(given, 1):
        for need in needs:
            if need.line == line and given.index(need.before) >= place:
                return Reason(need.rule, f"line {line} came at place {place}, {need.without}")
    return None


def causes_of_tickets() -> Observed:
    """The rule of each ticket's run leads to its cause."""
    causes = {"A-CAN-5": "the allowlist", "A-CAN-6": "the scheme", "A-CREATE-3": "the data"}
    platform_a = session().platform_a
    offered = platform_a.play("card not configured at the scheme")
    ((invalid,),) = (type(platform_a.create(damage="wrapped into lines")).rules,)
    return Observed(
        offered,
        one_build_only=causes[platform_a.open_page("app not allowlisted").findings[0].rule],
        every_card=causes[invalid],
        still_offered=causes[offered.findings[0].rule],
    )


def two_quick_taps() -> Observed:
    """What comes of two taps, with and without a guarded button."""
    platform_a = session().platform_a
    careless: Any = platform_a.play(taps=2, guarded=False)
    return Observed(
        careless,
        posts=_posts(careless),
        posts_when_guarded=_posts(platform_a.play(taps=2)),
        added=careless.added,
        reason=careless.trace.select(m.ProvisionFailure)[0].message.reason,
    )


def _posts(run: Any) -> int:
    return sum(record.message.method == "POST" for record in run.trace.select(m.ApiRequested))


class TextRelay:
    """The learner's back end, text in and text out, as in JSON: it makes the POST, or has no answer."""

    def __init__(self, *, works: bool = True) -> None:
        self.works = works
        self.calls: list[tuple[object, object]] = []

    def activation_data(self, _card: object) -> str:
        """The GET."""
        return session().activation_data().text

    def provision(self, card: Any, sdk_output: Any) -> Any:
        """The POST."""
        self.calls.append((card, sdk_output))
        if not self.works:
            raise TimeoutError
        with suppress(ActivationDataError, OpaqueDataError, ParameterError):
            if isinstance(sdk_output, str):
                return session().exchange(card, sdk_output)
        return self.activation_data(card)  # the judge says what was wrong with the call


def provides_the_opc_data(provider: Any) -> Reason | Observed:
    """The provider asks the back end once for each sdkOutput, hands its answer on, and raises when there is none."""
    relay, away = TextRelay(), TextRelay(works=False)
    mine: Any = provider(relay)
    runs = [session().platform_a.play(fetch_opc=mine.fetch_opc) for _attempt in ("first", "second")]
    if reason := _asked_as_it_should(relay.calls, runs) or next(filter(None, map(first_finding, runs)), None):
        return reason
    opaque: Any = provider(SimpleNamespace(provision=lambda _card, _output: SPACED))
    if (got := run_to_end(opaque.fetch_opc, "an id", "an sdkOutput")) != SPACED:
        text = f"the back end returned {quoted(SPACED)}, and your provider {quoted(got)}; relay the text as it came."
        return Reason("API-7", text)
    silent: Any = provider(away)
    run: Any = session().platform_a.play(fetch_opc=silent.fetch_opc)
    if len(away.calls) > 1:
        text = f"the POST got no answer, and your provider sent it {len(away.calls)} times; it may have arrived before."
        return Reason("REL-1", text, run)
    failed = run.trace.select(m.OpcFailed)
    why = failed[0].message.reason if failed else "it returned something"
    if "raised" not in why:
        text = f"the back end raised TimeoutError, and your provider hid it ({why}). The SDK catches it (sdk-a)."
        return Reason("REL-6", text, run)
    return Observed(runs[0])


def _asked_as_it_should(calls: list[tuple[object, object]], runs: list[Any]) -> Reason | None:
    """One POST for each of the attempts, with the SDK's own two values."""
    wanted = [(fetch.payment_instrument_id, fetch.sdk_output.text)
              for fetch in (run.trace.select(m.FetchOpcCalled)[0].message for run in runs)]  # fmt: skip
    if len(calls) > len(runs):
        text = f"your provider asked the back end {len(calls)} times in two attempts; once for each is right."
        return Reason("REL-1", text, runs[0])
    for call, want, run in zip(calls, wanted, runs, strict=False):
        if call != want:
            return Reason("A-OPC-1", _wrong_call(call, want), run)
    if len(calls) < len(runs):
        times = f"{len(calls)} time{'' if len(calls) == 1 else 's'}"
        text = f"your provider asked the back end {times} in two attempts; each attempt has its own POST."
        return Reason("A-OPC-1", text, runs[-1])
    return None


def _wrong_call(given: tuple[object, object], wanted: tuple[object, object]) -> str:
    if given == wanted[::-1]:
        return "your provider handed the two values to the back end the other way round: the id comes first."
    if given[0] != wanted[0]:
        return f"your provider asked for the card {quoted(given[0])}, and the SDK had named {quoted(wanted[0])}."
    kind = "" if isinstance(given[1], str) else f", of type {type(given[1]).__name__}"
    return f"your provider changed the sdkOutput on its way{kind}; relay the SDK's text as it came (API-7)."


def order_of_the_tap(order: Any) -> Reason | Observed:
    """Disable, provision, enable; look at the result at any time after it."""
    needs = (
        Need("2", "1", "A-PROV-3", "before provision had returned: there was no result to look at."),
        Need("1", "3", "A-BTN-1", "and the button was enabled while the attempt ran: a second tap began another one."),
        Need("4", "3", "A-BTN-1", "before the button was disabled: after a failure it stays greyed out for ever."),
        Need("4", "1", "A-BTN-2", "before provision had begun: the button was enabled again, and guarded nothing."),
    )
    reason = out_of_order(order, needs)
    if reason and reason.rule.startswith("A-BTN"):
        return replace(reason, run=session().platform_a.play(taps=2, guarded=False))
    return reason or Observed(session().platform_a.play(taps=2))


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
    if reason := _asked_once_in_bytes(relay.calls, run) or first_finding(run):
        return reason
    if (says := getattr(mine, "says", None)) not in ("Added to Wallet", "Available in Wallet"):
        text = f"the card was added, and the page says {quoted(says)}. Set says to one of the document's two labels."
        return Reason("B-FIN-2", text, run)
    silent: Any = delegate(away)
    failed = session().platform_b.play(delegate=silent)
    if reason := _failed_as_it_should(away.calls, failed, getattr(silent, "says", None)):
        return reason
    unsure: Any = delegate(relay)
    run_to_end(unsure.did_finish_provisioning, None, None)
    if (says := getattr(unsure, "says", None)) != "Not added":
        text = f"didFinishProvisioning brought neither a pass nor an error, and the page says {quoted(says)}."
        return Reason("GAP-12", f"{text} What that means is not said: take it for a failure (assumed).")
    return Observed(run)


def _asked_once_in_bytes(calls: list[tuple[object, object]], run: Any) -> Reason | None:
    """One POST, with the SDK's id and its bytes as base64 text."""
    asked = run.trace.select(m.DelegateProvisionWithIdCalled)[0].message
    if len(calls) > 1:
        text = f"your delegate asked the back end {len(calls)} times for one sdkOutput; once is right."
        return Reason("REL-1", text, run)
    if not calls:
        return Reason("B-DEL-3", "your delegate did not ask the back end for the POST.", run)
    wanted = (asked.payment_instrument_id, SdkOutput.from_bytes(_bytes(asked.sdk_output)).text)
    return None if calls[0] == wanted else Reason("API-8", _wrong_call_of_delegate(calls[0], wanted), run)


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


def _wrong_call_of_delegate(given: tuple[object, object], wanted: tuple[str, str]) -> str:
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
        Need("5", "3", "API-10", "and there was no sdkInput yet: the GET comes before the service."),
        Need("2", "5", "B-INIT-1", "and there was no service yet to ask."),
        Need("2", "6", "B-WATCH-1", "before the watch was looked for: the SDK was told that there is none."),
        Need("4", "2", "B-CAN-2", "before canAddCardDetails had answered: there was no button to tap yet."),
        Need("1", "2", "B-START-1", "before the button was shown: start comes when the cardholder selects add."),
        Need(
            "1",
            "4",
            "A-BTN-1",
            "while the button was enabled: a second tap starts another attempt (on platform B: assumed).",
        ),
    )
    return out_of_order(order, needs) or Observed(session().platform_b.play("with a watch"))
