import pytest

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import ActivationData, Settings, build_get, build_post
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record
from workbook.simulation.http import JSON_HEADERS
from workbook.views.exchange import answer, pairs, request

KEY = "CANARY-7f3a9c51e0b24d68-KEY"


def _record(message, at=0.0):
    return Record(at, Kind.EXCHANGE, message, "a", "a", ())


def _named(record, name):
    return f"<{name}>"


@pytest.mark.rule("API-1", "API-2", "API-3", "API-4")
@pytest.mark.parametrize("instrument", ["PI1", "with blank", "a/b?c#d", "é"])
def test_a_request_is_the_one_that_the_client_sends(instrument):
    settings = Settings("https://api.example", KEY)
    sent = build_get(settings, instrument), build_post(settings, instrument, SdkOutput("b3V0"))
    asked = m.ApiRequested("GET", instrument), m.ApiRequested("POST", instrument, SdkOutput("b3V0"))
    for built, message in zip(sent, asked, strict=True):
        first, *lines = request(_record(message), _named)
        assert first == f"{built.method} {built.url.removeprefix('https://api.example')}"
        headers = [f"{name}: {value.replace(KEY, '[key]')}" for name, value in built.headers]
        assert lines[-len(headers) :] == headers
        assert KEY not in "\n".join(lines)


@pytest.mark.rule("API-5", "API-6")
def test_a_get_has_no_body_and_a_post_one_field():
    assert list(request(_record(m.ApiRequested("GET", "PI1")), _named))[1] == "(no body)"
    posted = _record(m.ApiRequested("POST", "PI1", SdkOutput("b3V0")))
    assert list(request(posted, _named))[1] == '{"sdkOutput": <sdk_output>}'


@pytest.mark.parametrize(
    ("message", "lines"),
    [
        (
            m.ApiAnswered(200, ActivationData(SdkInput("aW4=")), basis="API-1"),
            ["200 OK", "application/json", '{"sdkInput": <sdk_input>}'],
        ),
        (
            m.ApiAnswered(200, ActivationData(SdkInput("aW4="))),
            ["200 OK", "not kept in the trace", '{"sdkInput": <sdk_input>}'],
        ),
        (
            m.ApiAnswered(422, told="30_031: no", basis="API-3"),
            ["422 Unprocessable", "application/json", "30_031: no"],
        ),
        (m.ApiAnswered(503), ["503 Service Unavailable", "not kept in the trace", "(the body is not kept"]),
        (m.ApiFailed("DeadlineError", "too late"), ["no usable answer: DeadlineError", "too late"]),
        (m.AnswerLost("", "the line was cut", fault="cut"), ["no answer: cut", "the line was cut"]),
    ],
)
def test_an_answer_tells_what_the_trace_kept_of_it(message, lines):
    told = "\n".join(answer(_record(message), _named))
    assert [line for line in lines if line not in told] == []


def test_an_error_of_the_simulator_has_the_content_type_that_it_sends():
    answered = m.ApiAnswered(422, told="30_031: no", basis="API-3")
    assert f"content-type: {dict(JSON_HEADERS)['content-type']}" in answer(_record(answered), _named)


def test_an_answer_belongs_to_the_first_request_that_is_open():
    told = [
        m.ApiRequested("GET", "A"),
        m.AnswerLost("", ""),
        m.ApiAskedAgain("GET", "A", pause=0.5),
        m.ApiAnswered(200),
    ]
    assert pairs(map(_record, told)) == {0: 1, 1: 0, 2: 3, 3: 2}


def test_an_answer_without_a_request_has_no_partner():
    assert pairs([_record(m.ApiAnswered(200))]) == {}
