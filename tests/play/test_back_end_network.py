"""A back end that is watched: each attempt at its own moment, on virtual time, and no other answer than without."""

import json

import pytest

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.errors import ApiStatusError, ConfigurationError, DeadlineError, MaybeSentError, OpaqueDataError
from workbook.flows import messages as m
from workbook.play.back_end import (
    BACK_ENDS,
    BackEnd,
    Good,
    Network,
    OwnBackEnd,
    WatchedBackEnd,
    answer_in,
    back_end_over,
)
from workbook.simulation.faults import FaultPlan, Planned
from workbook.simulation.http import JSON_HEADERS, Response
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, SIMULATED_KEY
from workbook.tools.mockserver.mock import fresh_output

FIRST = INSTRUMENT_IDS[0]


def test_an_answer_is_kept_with_all_its_fields_and_an_unusable_one_with_what_it_has():
    read = answer_in(Response(200, JSON_HEADERS, b'{"sdkInput": "YQ==", "more": 1}', ""))
    assert (read.sdk_input, read.extra) == (SdkInput("YQ=="), {"more": 1})
    assert (
        answer_in(Response(200, JSON_HEADERS, b'{"sdkInput": "YQ==", "sdkInput": "Yg=="}', "")).sdk_input.text == "Yg=="
    )
    assert answer_in(Response(200, JSON_HEADERS, b"{}", "")).sdk_input == ""


class Recording(WatchedBackEnd):
    """Keeps what happened in its exchanges, each event with its time."""

    def __init__(self, api, line):
        super().__init__(api, line)
        self.recorded = []

    def exchange(self, *arguments):
        began = self.clock.now()
        exchange = super().exchange(*arguments)
        self.recorded += [(round(at - began, 3), event) for at, event in exchange.events]
        return exchange

    def get(self, card):
        return self.exchange(card).answer().sdk_input

    def post(self, card, sdk_output):
        return self.exchange(card, SdkOutput(sdk_output)).answer().sdk_input


def watched(*faults, back_end="good"):
    """A watched back end, and what it reported with the moment of each."""
    line = Network(Service(plan=FaultPlan([Planned.of(**one) for one in faults])))
    made = Recording(BACK_ENDS[back_end].make(line), line)
    return made, made.recorded


def kinds(seen):
    return [(at, type(event).__name__) for at, event in seen]


def test_without_a_fault_it_reports_what_any_back_end_does_and_the_end():
    made, seen = watched()
    plain = BackEnd(api := DirectApi(Service()), basis=lambda: api.basis).exchange(FIRST)
    assert made.get(FIRST) == plain.answer().sdk_input
    assert [event for _at, event in seen[:-1]] == [event for _at, event in plain.events]
    assert kinds(seen) == [(0.0, "ApiRequested"), (0.25, "ApiAnswered"), (0.25, "ApiCallEnded")]
    assert seen[-1][1] == m.ApiCallEnded("GET", 1, 0.25, "sdkInput")


@pytest.mark.rule("REL-1")
def test_each_attempt_is_reported_at_its_own_moment():
    made, seen = watched({"fault": "reset", "nth": 1}, {"fault": "503 that says 500", "nth": 2})
    assert isinstance(made.get(FIRST), SdkInput)
    assert [kind for _at, kind in kinds(seen)] == [
        "ApiRequested", "AnswerLost", "ApiAskedAgain", "ApiAnswered", "ApiAskedAgain", "ApiAnswered", "ApiCallEnded",
    ]  # fmt: skip
    moments = [at for at, _event in seen]
    assert moments == sorted(moments)
    again = [event for _at, event in seen if isinstance(event, m.ApiAskedAgain)]
    moments = [at for at, event in seen if event in again]
    assert moments == pytest.approx([0.25 + again[0].pause, 0.5 + again[0].pause + again[1].pause], abs=0.002)
    assert (seen[1][1].fault, seen[1][1].error) == ("reset", "")
    assert seen[3][1].told == "99_500: An internal error happened"


@pytest.mark.rule("REL-5")
def test_a_stall_costs_no_time():
    made, seen = watched({"fault": "stall before headers", "seconds": 3600.0}, back_end="waits 30 s")
    with pytest.raises(MaybeSentError):
        made.get(FIRST)  # an hour, were it real
    assert seen[-1][1] == m.ApiCallEnded("GET", 1, 30.25, "MaybeSentError")


@pytest.mark.rule("REL-1", "REL-3")
def test_a_lost_post_is_noted_where_it_was_carried_out_and_its_output_stands_nowhere():
    output = fresh_output()
    made, seen = watched({"fault": "reset", "moment": "after"})
    with pytest.raises(MaybeSentError):
        made.post(FIRST, output)
    assert [kind for _at, kind in kinds(seen)] == ["ApiRequested", "AnswerLost", "Noted", "ApiCallEnded"]
    assert made.line.carried_out("POST") == 1
    assert output not in f"{seen}{made.line!r}{made.line.attempts!r}"
    assert SIMULATED_KEY not in f"{seen}{made.line!r}{made.line.attempts!r}"


def test_what_was_carried_out_is_counted_as_the_service_counts():
    made, _seen = watched({"fault": "reset", "moment": "before", "nth": 1})
    made.get(FIRST)
    assert (made.line.asked["GET"], made.line.carried_out("GET"), made.line.played) == (2, 1, 1)
    with pytest.raises(ApiStatusError):
        made.post(FIRST, "bm9uZQ==")
    assert (made.line.asked["POST"], made.line.carried_out("POST")) == (1, 0)


@pytest.mark.parametrize("wrong", ["..", ""])
def test_what_is_never_sent_has_no_attempt(wrong):
    made, seen = watched()
    with pytest.raises(ConfigurationError):
        made.get(wrong)
    assert seen[1:] == [
        (0.0, m.ApiFailed("ConfigurationError", seen[1][1].message)),
        (0.0, m.ApiCallEnded("GET", 0, 0.0, "ConfigurationError")),
    ]
    with pytest.raises(OpaqueDataError):
        made.post(FIRST, "")


def test_a_deadline_that_passes_is_reported_with_its_fault():
    made, seen = watched({"fault": "dribble"})
    with pytest.raises(DeadlineError):
        made.post(FIRST, fresh_output())
    lost = seen[1][1]
    assert (type(lost), lost.fault, lost.error) == (m.AnswerLost, "dribble", "DeadlineError")
    assert lost.message == "The body comes byte by byte: assumed"


@pytest.mark.rule("REL-6")
@pytest.mark.parametrize("fault", ["sdkInput missing", "JSON truncated", "wrong content-length", "not JSON"])
def test_who_believes_every_200_passes_on_nothing(fault):
    made, seen = watched({"fault": fault}, back_end="believes every 200")
    assert made.get(FIRST) == ""
    assert made.post(FIRST, fresh_output()) == ""
    assert [event.ending for _at, event in seen if isinstance(event, m.ApiCallEnded)] == ["a 200 without sdkInput"] * 2


def test_who_believes_every_200_reads_what_a_strict_one_refuses():
    made, _seen = watched({"fault": "JSON with duplicate keys"}, back_end="believes every 200")
    assert json.loads(made.get(FIRST).data)["kind"] == "activation"


@pytest.mark.rule("REL-2")
def test_who_follows_redirects_takes_the_key_along_and_says_only_that():
    made, seen = watched({"fault": "redirect", "location": "https://elsewhere.invalid/x"}, back_end="follows redirects")
    with pytest.raises(ApiStatusError):
        made.get(FIRST)
    (followed,) = [event for _at, event in seen if isinstance(event, m.RedirectFollowed)]
    assert followed == m.RedirectFollowed("https://elsewhere.invalid/x", with_key=True)
    assert SIMULATED_KEY not in repr(seen)


@pytest.mark.rule("REL-1")
@pytest.mark.parametrize(("fault", "sent"), [("503 that says 500", 3), ("reset", 3), ("422", 1), ("redirect", 1)])
def test_who_sends_the_post_again_does_so_up_to_three_times(fault, sent):
    made, _seen = watched({"fault": fault}, back_end="sends the POST again")
    with pytest.raises((ApiStatusError, MaybeSentError)):
        made.post(FIRST, fresh_output())
    assert made.line.asked["POST"] == sent


def test_a_back_end_tells_nothing_of_its_key():
    line = Network(Service())
    assert SIMULATED_KEY not in f"{Good(line)!r}{vars(Good(line))!r}{BACK_ENDS!r}"


class Own:
    """A back end of the integrator's own, which gives what it gives of what the API gave."""

    gives = staticmethod(lambda answer: answer)

    def __init__(self, api):
        self.api = api

    def get(self, payment_instrument_id):
        return self.gives(self.api.get(payment_instrument_id))

    def post(self, payment_instrument_id, sdk_output):
        return self.gives(self.api.post(payment_instrument_id, SdkOutput(sdk_output)))


@pytest.mark.parametrize(
    "gives", [lambda answer: answer, lambda answer: answer.sdk_input, lambda answer: answer.sdk_input.text]
)
def test_a_back_end_of_ones_own_may_give_the_answer_or_its_sdk_input_or_the_text(gives):
    plain = DirectApi(Service())
    made = back_end_over(type("Mine", (Own,), {"gives": staticmethod(gives)}), Network(Service()))
    assert made.exchange(FIRST).answer().sdk_input == plain.get(FIRST).sdk_input
    assert made.exchange(FIRST, SdkOutput(fresh_output())).error is None
    assert [made.line.carried_out(method) for method in ("GET", "POST")] == [1, 1]


@pytest.mark.parametrize(("given", "kind"), [(None, "nothing"), (7, "int"), (b"x", "bytes")])
def test_what_is_no_sdk_input_is_told_by_its_type(given, kind):
    line = Network(Service())
    made = Recording(OwnBackEnd(type("Mine", (Own,), {"gives": staticmethod(lambda _answer: given)}), line), line)
    exchange = made.exchange(FIRST, None)
    assert exchange.error is not None
    notes = [event.text for _at, event in made.recorded if isinstance(event, m.Noted)]
    assert notes == [f"The back end returns {kind}, which is no sdkInput."]


def test_a_call_that_ended_says_whether_it_was_the_get_or_the_post():
    made, seen = watched()
    made.get(FIRST)
    made.post(FIRST, fresh_output())
    assert [event.method for _at, event in seen if isinstance(event, m.ApiCallEnded)] == ["GET", "POST"]
