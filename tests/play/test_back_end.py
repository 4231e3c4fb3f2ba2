"""The back end: it relays byte for byte, reports each exchange, and tells the app nothing it need not know."""

import json

import pytest
from rows import rows

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData
from workbook.errors import (
    ApiStatusError,
    ConfigurationError,
    DeadlineError,
    MalformedResponseError,
    MaybeSentError,
    NotSentError,
    RedactedRequest,
    ResponseTooLargeError,
    SdkInputError,
)
from workbook.flows import messages as m
from workbook.play.back_end import BackEnd, error_words

REQUEST = RedactedRequest("POST", "https://simulated.invalid/bcl", 9)
ODD = SdkInput("not base64, ünd with blanks ")
FAILURES = [NotSentError, MaybeSentError, ResponseTooLargeError, MalformedResponseError, SdkInputError]


def failure(kind, **more):
    return kind("what happened", request=REQUEST, elapsed=1.0, attempts=1, **more)


def status(code, body=b""):
    return failure(ApiStatusError, status=code, body=body)


class Api:
    """Gives one answer, or raises it, and keeps what it was asked."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def _ask(self, *arguments):
        self.asked.append(arguments)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    get = post = _ask


class Recording(BackEnd):
    """Keeps what happened in its exchanges, in order."""

    def __init__(self, api, **more):
        super().__init__(api, **more)
        self.recorded = []

    def exchange(self, *arguments):
        self.latest = super().exchange(*arguments)
        self.recorded += [event for _at, event in self.latest.events]
        return self.latest

    def get(self, card):
        return self.exchange(card).answer().sdk_input

    def post(self, card, sdk_output):
        return self.exchange(card, SdkOutput(sdk_output)).answer().sdk_input


def back_end(answer, **more):
    relay = Recording(Api(answer), **more)
    return relay, relay.recorded


@pytest.mark.rule("API-7", "API-10", "API-11")
def test_it_relays_byte_for_byte():
    relay, seen = back_end(ActivationData(ODD), basis=lambda: "API-9")
    output = SdkOutput("ünd so  fort=")
    assert relay.get("PI1") is relay.post("PI1", output.text) is ODD
    assert relay.api.asked == [("PI1",), ("PI1", output)]
    assert seen[:2] == [m.ApiRequested("GET", "PI1"), m.ApiAnswered(200, ActivationData(ODD), basis="API-9")]
    assert seen[2] == m.ApiRequested("POST", "PI1", output)


@pytest.mark.rule("REL-7")
def test_it_keeps_nothing_and_asks_each_time():
    relay = BackEnd(Api(answer := ActivationData(ODD)))
    assert relay.exchange("PI1").answer() is relay.exchange("PI1").answer() is answer
    assert relay.api.asked == [("PI1",), ("PI1",)]
    assert answer not in vars(relay).values()


@pytest.mark.rule("REL-1", "REL-6")
@pytest.mark.parametrize(
    "error", [*map(failure, FAILURES), failure(DeadlineError, sent=True), ConfigurationError("id")]
)
def test_a_failure_is_reported_raised_and_tried_once(error):
    relay, seen = back_end(error)
    with pytest.raises(type(error)):
        relay.post("PI1", "output")
    assert seen[1:] == [m.ApiFailed(type(error).__name__, str(error))]
    assert len(relay.api.asked) == 1


PROBLEM = {"type": "about:blank", "title": "Bad request", "detail": "No such id.", "errorCode": "00_400"}
BODIES = {
    "problem details": (json.dumps(PROBLEM).encode(), "00_400: Bad request: No such id."),
    "words of another type": (b'{"title": 7, "detail": null, "errorCode": ["x"]}', ""),
    "some words": (b'{"detail": "No.", "secret": "CANARY"}', "No."),
    "no JSON": (b"<html>CANARY</html>", ""),
    "a list": (b'["CANARY"]', ""),
    "nothing": (b"", ""),
    "not UTF-8": (b"\xff\xfe", ""),
    "nested deep": (b"[" * 100_000, ""),
    "long words": (json.dumps({"detail": "x" * 1000}).encode(), "x" * 160),
}


@pytest.mark.rule("REL-9")
@rows("name", BODIES)
def test_of_an_error_body_a_trace_keeps_its_words_only(name):
    body, words = BODIES[name]
    relay, seen = back_end(status(400, body), basis=lambda: "API-6")
    with pytest.raises(ApiStatusError):
        relay.get("PI1")
    assert seen[1] == m.ApiAnswered(400, told=words, basis="API-6")


@pytest.mark.rule("REL-3")
def test_an_error_that_quotes_the_sdk_output_does_not_bring_it_into_the_trace():
    output = "UkVBTC1zZGtPdXRwdXQ="
    body = json.dumps({"detail": f"sdkOutput {output} cannot be used"}).encode()
    relay, seen = back_end(status(422, body))
    with pytest.raises(ApiStatusError):
        relay.post("PI1", output)
    assert seen[1].told == "sdkOutput [sdkOutput] cannot be used"
    assert output not in repr(seen)


def test_words_are_cut_after_the_sdk_output_was_taken_out_and_not_before():
    output = "UkVBTC" * 40
    assert "UkVB" not in error_words(json.dumps({"detail": "x" * (152) + output}).encode(), output)


def test_a_stopwatch_measures_successes_and_failures():
    ticks = iter([1.0, 1.5, 2.0, 4.0])
    relay, _ = back_end(ActivationData(ODD), stopwatch=lambda: next(ticks))
    assert [at for at, _event in relay.exchange("PI1").events] == [0.0, 0.5]
    relay.api.answer = failure(NotSentError)
    assert [at for at, _event in relay.exchange("PI1").events] == [0.5, 2.5]


def test_a_simulated_api_without_a_network_takes_what_the_call_is_said_to_take():
    relay = BackEnd(Api(ActivationData(ODD)))
    assert [at for at, _event in relay.exchange("PI1", takes=0.25).events] == [0.0, 0.25]
    assert relay.clock.now() == 0.25
