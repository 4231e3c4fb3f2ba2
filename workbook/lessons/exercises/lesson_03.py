"""The judges of lesson 03: two quick taps, the learner's own OpcProvider, the lines of a tap, and the migration."""

from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from workbook.base.values import quoted
from workbook.errors import ActivationDataError, OpaqueDataError, ParameterError
from workbook.flows import messages as m
from workbook.lessons.exercises.lesson_01 import SPACED
from workbook.lessons.exercises.lesson_02 import Need, out_of_order
from workbook.lessons.exercises.model import Observed, Reason, first_finding
from workbook.lessons.session import session
from workbook.play.own_code import completed


def two_quick_taps() -> Observed:
    """What comes of two taps, with and without a guarded button."""
    platform_a = session().platform_a
    careless: Any = platform_a.play(taps=2, guarded=False)
    good = platform_a.play(taps=2)
    return Observed(
        careless,
        posts=_posts(careless),
        posts_when_guarded=_posts(good),
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
    if (got := completed(opaque.fetch_opc, "an id", "an sdkOutput")) != SPACED:
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
        Need("4", "2", "A-PROV-3", "before provision had returned: there was no result to look at."),
        Need("2", "1", "A-BTN-1", "and the button was enabled while the attempt ran: a second tap began another one."),
        Need("3", "1", "A-BTN-1", "before the button was disabled: after a failure it stays greyed out for ever."),
        Need("3", "2", "A-BTN-2", "before provision had begun: the button was enabled again, and guarded nothing."),
    )
    reason = out_of_order(order, needs)
    if reason and reason.rule.startswith("A-BTN"):
        return replace(reason, run=session().platform_a.play(taps=2, guarded=False))
    return reason or Observed(session().platform_a.play(taps=2))


def what_changes() -> Observed:
    """What two runs, one of each variant, say about four points."""
    run: Any = session().platform_a.play(variant="from-0.4.0")
    older: Any = session().platform_a.play(variant="before-0.4.0")
    called = {type(record.message) for record in run.trace}
    asked, asked_before = (
        [record.message.method for record in each.trace.select(m.ApiRequested)] for each in (run, older)
    )
    return Observed(
        run,
        create_sdk_output="keep it" if m.CreateSdkOutputCalled in called else "remove it",
        fetch_opc=f"the {m.FetchOpcCalled.sender} calls it" if m.FetchOpcCalled in called else "nothing calls it",
        provision_takes="an OpcProvider" if m.ProvisionWithProviderCalled in called else "the answer of the POST",
        back_end="nothing" if asked == asked_before else "a new route",
    )
