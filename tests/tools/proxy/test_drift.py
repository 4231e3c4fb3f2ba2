"""Drift: each difference is found once, with its basis and a count."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
import requests

from workbook.errors import ConfigurationError
from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.simulation.scenario import load, parse
from workbook.tools.commands import cli
from workbook.tools.mockserver.mock import MockServer, fresh_output
from workbook.tools.mockserver.server import running
from workbook.tools.proxy.drift import DriftKind, as_json, as_text, compare_fields, drift
from workbook.tools.proxy.record import Head, Recording, read_proxy_record, shape
from workbook.tools.proxy.upstream import LOSSES, ProxyFailure, ProxyReply

HEAD = Head("https://api.example", "2026-01-01T00:00:00+00:00")
IDS = ("PIREAL00000000000000000001", "PIREAL00000000000000000002")
KEY, JSON = ("x-api-key", "key-of-the-test"), ("content-type", "application/json")
DEFAULT = load("default")


def path_of(one):
    return f"/bcl/v2/paymentInstruments/{one}/networkTokenActivationData"


def fine(text="Y2FyZCBkYXRh"):
    return Response(200, JSON_HEADERS, json.dumps({"sdkInput": text}).encode(), "real")


def problem(status, code, title="Bad request", **more):
    body = {"type": "about:blank", "title": title, "status": status, "detail": "d", "errorCode": code, **more}
    return Response(status, JSON_HEADERS, json.dumps(body).encode(), "real")


def get(answer=None, one=IDS[0], *, headers=(KEY, JSON), query="", failure=None):
    request = Request("GET", path_of(one) + query, headers)
    reply = ProxyReply.failed(failure) if failure else ProxyReply(answer or fine())
    return request, reply, (0.0, 1.0)


def post(answer=None, one=IDS[0], *, sdk_output="cmVhbA==", body=None, headers=(KEY, JSON)):
    data = json.dumps({"sdkOutput": sdk_output}).encode() if body is None else body
    return Request("POST", path_of(one), headers, data), ProxyReply(answer or fine()), (0.0, 1.0)


@pytest.fixture
def found(tmp_path):
    """The drift of these exchanges."""

    def find(*exchanges, scenario=DEFAULT):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl"
        recording = Recording(path, HEAD)
        for one in exchanges:
            recording.keep(*one)
        recording.close()
        return drift(read_proxy_record(path), scenario)

    return find


def only(drifted):
    (finding,) = drifted.findings
    return finding


GOOD = [get(fine(f"Y2FyZCBkYXRh{number:04d}")) for number in range(9)]


def test_what_is_alike_is_no_finding(found):
    drifted = found(*GOOD, post(), post(sdk_output="b3RoZXI="))
    assert drifted.findings == ()
    assert drifted.notes == (
        "The record has instruments that the scenario has not (1): they are taken for active cards.",
    )
    assert as_text(drifted).startswith("11 exchanges compared with the scenario 'default': no drift.")


@pytest.mark.rule("API-9")
@pytest.mark.parametrize(
    ("body", "real"),
    [
        (b"{}", "200, sdkInput missing"),
        (b'{"sdkInput": null}', "200, sdkInput null"),
        (b'{"sdkInput": ""}', "200, sdkInput empty string"),
        (b'{"sdkInput": 7}', "200, sdkInput number"),
        (b"<html>", "200, not JSON"),
        (b"null", "200, null"),
        (b'[{"sdkInput": "x"}]', "200, array"),
        (b"", "200, empty"),
    ],
)
def test_a_200_without_sdk_input_contradicts_the_document(body, real, found):
    finding = only(found(*GOOD, get(Response(200, JSON_HEADERS, body, "real"))))
    assert (finding.kind, finding.basis, finding.real) == (DriftKind.DOCUMENT, "API-9", real)
    assert (finding.count, finding.of, finding.lines) == (1, 10, (11,))


@pytest.mark.rule("API-1", "API-2")
def test_an_operation_that_is_not_there_is_a_difference(found):
    missing = Response(404, (), b"", "real")
    finding = only(found(get(missing), get(missing), get(missing)))
    assert (finding.kind, finding.basis, finding.count) == (DriftKind.PUBLISHED, "openapi", 3)


def test_the_same_difference_is_one_finding_with_a_count(found):
    late = problem(429, "x")
    late = replace(late, headers=(*late.headers, ("Retry-After", "7")))
    finding = only(found(*GOOD, *[get(late)] * 31))
    assert (finding.kind, finding.basis, finding.count, finding.of) == (DriftKind.PUBLISHED, "openapi", 31, 40)
    assert finding.lines == (11, 12, 13)


@pytest.mark.parametrize("failure", [failure for failure in ProxyFailure if failure in LOSSES])
def test_a_lost_answer_is_a_difference(failure, found):
    finding = only(found(*GOOD, get(failure=failure)))
    assert (finding.kind, finding.count, finding.of) == (DriftKind.ASSUMED, 1, 10)


def load_text(text):
    return parse(text.encode(), name="made")


def test_what_never_reached_the_api_is_a_note(found):
    drifted = found(*GOOD, get(failure=ProxyFailure.UNREACHABLE), get(failure=ProxyFailure.STOPPED))
    assert drifted.findings == ()
    assert drifted.notes[0] == "Exchanges that never reached the API: 2 (1 stopped, 1 unreachable)."


def test_a_record_with_nothing_to_compare_is_refused(found):
    with pytest.raises(ConfigurationError, match="holds no exchange of the two operations"):
        found(get(failure=ProxyFailure.UNREACHABLE))


def test_an_instrument_that_the_scenario_suspends_and_the_api_answers_is_a_difference(found):
    scenario = load_text(f'[[instrument]]\nid = "{IDS[0]}"\nstatus = "suspended"\n')
    drifted = found(*GOOD, scenario=scenario)
    finding = only(drifted)
    assert (finding.real, finding.simulated, finding.count) == ("200", "422", len(GOOD))


def test_an_id_that_neither_knows_is_no_finding(found):
    refused = problem(422, "30_031", "Invalid Payment Instrument information provided")
    assert found(*GOOD, get(refused, IDS[1])).findings == ()


@pytest.mark.rule("API-15")
def test_a_key_without_the_role_is_a_difference_unless_the_scenario_has_one(found):
    other = (("x-api-key", "another-key"), JSON)
    refused = get(problem(403, "00_403", "Forbidden"), headers=other)
    assert only(found(*GOOD, refused)).real == "403"
    scenario = load_text('[[credential]]\nname = "a"\n[[credential]]\nname = "b"\nrole = false\n')
    assert found(*GOOD, refused, scenario=scenario).findings == ()


@pytest.mark.rule("API-4")
def test_a_key_that_nobody_knows_is_a_note_and_its_answer_is_compared(found):
    other = (("x-api-key", "another-key"), JSON)
    assert found(*GOOD, get(problem(401, "00_401", "Unauthorized"), headers=other)).findings == ()
    finding = only(found(*GOOD, get(problem(401, "99_401", "Unauthorized"), headers=other)))
    assert finding.real == '401 with errorCode "99_401"'
    assert (finding.simulated, finding.kind) == ('"00_401"', DriftKind.ASSUMED)
    assert finding.basis.endswith("pairing: assumed")


# ---------------------------------------------------------------- requests that are not in order, and details


def test_requests_are_made_again_in_their_form(found):
    bad = problem(400, "00_400")
    drifted = found(
        *GOOD,
        get(bad, query="?a=b"),
        post(bad, body=b""),
        post(bad, body=b"no JSON"),
        post(bad, body=b'{"sdkOutput": "x", "more": 1}'),
        post(bad, body=b'{"sdkOutput": ""}'),
        post(bad, body=b"[]"),
        post(bad, headers=(KEY, ("content-type", "text/plain"))),
        get(problem(401, "00_401", "Unauthorized"), headers=(JSON,)),
    )
    assert drifted.findings == ()


def test_a_refusal_with_another_status_is_a_difference(found):
    finding = only(found(*GOOD, post(problem(422, "30_031"), body=b"{}")))
    assert (finding.real, finding.simulated) == ("422", "400")
    assert finding.basis.startswith("API-6")


def test_an_sdk_output_that_is_sent_again_is_known_by_its_digest(found):
    again = problem(422, "30_031", "Invalid Payment Instrument information provided")
    assert found(post(), post(again), post(sdk_output="b3RoZXI=")).findings == ()
    assert only(found(post(), post())).simulated == "422"


@pytest.mark.parametrize(
    ("answer", "real", "kind"),
    [
        (Response(200, (("content-type", "text/json"),), fine().body, ""), "200 as text/json", DriftKind.ASSUMED),
        (replace(fine(), headers=(*JSON_HEADERS, ("X-Request-Id", "1"))), "the header x-request-id", DriftKind.ASSUMED),
        (
            Response(200, JSON_HEADERS, b'{"sdkInput": "YQ==", "a": {"b": 1}}', ""),
            "field a: object",
            DriftKind.PUBLISHED,
        ),
        (fine("a-_b"), "no base64 text", DriftKind.PUBLISHED),
    ],
)
def test_equal_statuses_are_compared_in_detail(answer, real, kind, found):
    finding = only(found(*GOOD, get(answer)))
    assert real in finding.real
    assert (finding.kind, finding.count, finding.of) == (kind, 1, 10)


def test_a_field_that_a_200_may_leave_out_is_no_difference():
    ours = Response(200, JSON_HEADERS, b'{"sdkInput": "YQ==", "more": {"a": 1}}', "")
    real = SimpleNamespace(status=200, response_shape=shape(b'{"sdkInput": "YQ=="}'))
    assert list(compare_fields(real, ours)) == []
    real.response_shape = shape(b'{"odd": 1}')
    assert [difference[1] for difference in compare_fields(real, ours)] == [
        "200, the field odd: number",
        "200, the field sdkInput: nothing",
    ]


def test_a_refusal_without_a_required_field_contradicts_what_is_published(found):
    answer = Response(400, JSON_HEADERS, b'{"message": "no"}', "real")
    drifted = found(*GOOD, get(answer, query="?a=b"))
    missing = {finding.real for finding in drifted.findings if finding.kind is DriftKind.PUBLISHED}
    assert missing == {f"400, the field {name}: nothing" for name in ("type", "title", "status", "detail", "errorCode")}


def test_headers_of_servers_and_gateways_are_not_compared(found):
    headers = (*JSON_HEADERS, ("Date", "x"), ("Server", "x"), ("Via", "x"), ("Strict-Transport-Security", "x"))
    assert found(get(replace(fine(), headers=headers))).findings == ()


def test_findings_are_ordered_by_what_they_say(found):
    drifted = found(
        *GOOD,
        get(Response(429, (), b"", "")),
        get(Response(200, JSON_HEADERS, b"{}", "")),
        get(failure=ProxyFailure.RESET),
    )
    assert [finding.kind for finding in drifted.findings] == [
        DriftKind.DOCUMENT,
        DriftKind.PUBLISHED,
        DriftKind.ASSUMED,
    ]
    told = as_text(drifted)
    assert told.index("contradicts the document (1)") < told.index("our assumption is wrong (1)")
    said = json.loads(as_json(drifted))["details"]
    assert [one["kind"] for one in said["findings"]] == [finding.kind.value for finding in drifted.findings]


# ---------------------------------------------------------------- the whole way


def recorded(scenario, path, before):
    """A back end at work: a server with this scenario, a proxy before it, and requests of every kind."""
    server = MockServer(None)
    keys = {name: server.add(scenario, credential=name) for name in scenario.credentials}
    with running(server) as api, before(api) as (url, kept), requests.Session() as session:
        session.trust_env = False
        world = scenario.world()
        for number in range(20):
            ask(session, url, next(iter(keys.values())), IDS[number % 2])
        for _ in range(6):
            output = fresh_output(IDS[0], seed=scenario.seed, world=world)
            ask(session, url, next(iter(keys.values())), IDS[0], json.dumps({"sdkOutput": output}))
        for key in [*list(keys.values())[1:], "no-such-key", ""]:
            ask(session, url, key, IDS[0])
        ask(session, url, next(iter(keys.values())), IDS[0], "{}")
        ask(session, url, next(iter(keys.values())), "PINOSUCH")
    recording = Recording(path, HEAD)
    for one in kept:
        recording.keep(*one)
    recording.close()
    return path


def ask(session, url, key, one, data=None):
    method = "GET" if data is None else "POST"
    headers = dict([JSON]) | ({"x-api-key": key} if key else {})
    session.request(method, url + path_of(one), headers=headers, data=data, timeout=60)


REAL = f"""
[[instrument]]
id = "{IDS[0]}"
[[instrument]]
id = "{IDS[1]}"
[[credential]]
name = "a"
[[credential]]
name = "b"
role = false
"""
FAULTY = """
[[fault]]
fault = "429 in seconds"
operation = "GET"
nth = 2
[[fault]]
fault = "sdkInput empty"
operation = "POST"
nth = 2
"""


@pytest.mark.slow
def test_the_whole_way(tmp_path, before, capsys):
    scenario = tmp_path / "real.toml"
    scenario.write_text(REAL)
    good = recorded(load(scenario), tmp_path / "good.jsonl", before)
    assert cli.main(["drift", str(good), "--scenario", str(scenario)]) == 0, capsys.readouterr().out
    faulty = recorded(load_text(REAL + FAULTY), tmp_path / "faulty.jsonl", before)
    capsys.readouterr()
    assert cli.main(["drift", str(faulty), "--scenario", str(scenario)]) == 1
    told = capsys.readouterr().out
    assert "SIMULATED-" not in told
    assert "GET  1 of 24: 429" in told
    assert "POST 1 of 7: 200, sdkInput empty string" in told
    assert cli.main(["drift", str(faulty), "--scenario", str(scenario), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["cases"]) == 2


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["drift", "/nowhere"], "Cannot read '/nowhere"),
        (["drift"], "the following arguments are required: RECORD"),
        (["proxy"], "the following arguments are required: --to"),
        (["proxy", "--to", "http://api.example"], "--to 'http://api.example' would send the API key over plain http"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_2(words, told, capsys):
    assert cli.main(words) == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert told in shown.err


def test_a_header_that_only_one_of_both_has_is_a_difference(found, monkeypatch):
    answered = MockServer.respond

    def with_a_header(server, request):
        answer = answered(server, request)
        return replace(answer, headers=(*answer.headers, ("x-tier", "1")))

    monkeypatch.setattr(MockServer, "respond", with_a_header)
    finding = only(found(*GOOD))
    assert (finding.real, finding.simulated, finding.basis) == ("200 without the header x-tier", "with it", "assumed")
