"""Endpoints: the table "Server-side HTTP API", and what "Resources and their fields" says of its values."""

import json

import pytest

from workbook.api.opaque import SdkInput, SdkOutput
from workbook.api.protocol import API_PATH, Settings, build_get, build_post
from workbook.flows import messages as m
from workbook.flows.variants import A_BEFORE_0_4_0, A_FROM_0_4_0
from workbook.play.platform_a import PlatformARun
from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.service import DirectApi, Service
from workbook.simulation.world import INSTRUMENT_IDS, ROLE, SIMULATED_KEY

BASE = "https://api.example"
PATH = "/bcl/v2/paymentInstruments/{id}/networkTokenActivationData"
SETTINGS = Settings(BASE, "the-key")
BUILT = {"GET": build_get(SETTINGS, "PI1"), "POST": build_post(SETTINGS, "PI1", "the output")}


@pytest.mark.rule("API-1", "API-2", "API-14")
@pytest.mark.parametrize("method", BUILT)
def test_both_calls_have_the_path_shape_of_the_document(method):
    built = BUILT[method]
    assert (built.method, built.url) == (method, BASE + PATH.replace("{id}", "PI1"))
    assert API_PATH == BEFORE_ID + "{id}" + AFTER_ID == PATH


@pytest.mark.rule("API-4")
@pytest.mark.parametrize("method", BUILT)
def test_both_calls_send_the_two_headers(method):
    headers = dict(BUILT[method].headers)
    assert (headers["x-api-key"], headers["content-type"]) == ("the-key", "application/json")


@pytest.mark.rule("API-5")
def test_the_get_has_no_body_and_no_query():
    assert BUILT["GET"].body is None
    assert "?" not in BUILT["GET"].url


@pytest.mark.rule("API-6")
def test_the_post_has_one_field():
    assert json.loads(BUILT["POST"].body) == {"sdkOutput": "the output"}


@pytest.mark.rule("API-3")
def test_the_id_never_changes_the_path():
    for hostile in ("a/b", "a?b", "a#b", "a%2Fb", "é"):
        url = build_get(SETTINGS, hostile).url
        assert url.count("/") == BUILT["GET"].url.count("/")
        assert "?" not in url
        assert "#" not in url


@pytest.mark.rule("API-9")
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_both_responses_are_json_and_carry_sdk_input(method):
    service = Service()
    target, headers = PATH.replace("{id}", INSTRUMENT_IDS[0]), (("x-api-key", SIMULATED_KEY),)
    body = b""
    if method == "POST":
        bench = PlatformARun(A_BEFORE_0_4_0)
        bench.walk()
        output = bench.trace.select(m.SdkOutputCreated)[0].message.sdk_output.text
        body, headers = json.dumps({"sdkOutput": output}).encode(), (*headers, ("content-type", "application/json"))
    response = service.respond(Request(method, target, headers, body))
    assert response.status == 200
    assert isinstance(json.loads(response.body)["sdkInput"], str)


@pytest.mark.rule("API-7")
@pytest.mark.parametrize("text", ["plain", "eyJhIjoxfQ==", "with blanks  and ünicode", '"quoted"'])
def test_on_platform_a_both_values_are_strings_relayed_as_they_are(text):
    assert SdkInput(text).text == SdkOutput(text).text == text
    assert json.loads(build_post(SETTINGS, "PI1", SdkOutput(text)).body)["sdkOutput"] == text


@pytest.mark.rule("API-8")
@pytest.mark.parametrize("data", [b"\x00\xff\xfe", b"{}", bytes(range(256))])
def test_on_platform_b_both_values_are_bytes_carried_as_base64_text(data):
    assert SdkInput.from_bytes(data).data == SdkOutput.from_bytes(data).data == data
    assert SdkOutput.from_bytes(data).text.isascii()


@pytest.mark.rule("API-12")
def test_several_instruments_take_one_get_each_and_each_yields_its_own():
    api = DirectApi()
    assert len({api.get(one).sdk_input for one in INSTRUMENT_IDS}) == len(INSTRUMENT_IDS)


@pytest.mark.rule("API-10", "API-11", "API-13")
@pytest.mark.parametrize("variant", [A_BEFORE_0_4_0, A_FROM_0_4_0], ids=lambda one: one.name)
def test_the_get_comes_before_create_the_post_during_provisioning_and_both_from_the_back_end(variant):
    trace = PlatformARun(variant).walk()
    names = [record.name for record in trace]
    asked = [index for index, name in enumerate(names) if name == "ApiRequested"]
    assert [trace[index].message.method for index in asked] == ["GET", "POST"]
    assert asked[0] < names.index("CreateCalled") < names.index("AddTapped") < asked[1] < names.index("WalletAsked")
    assert {record.message.sender for record in trace if record.message.receiver is m.Actor.API} == {m.Actor.BACK_END}


@pytest.mark.rule("API-10", "API-11")
def test_what_the_get_answers_initialises_the_client_and_what_the_post_answers_goes_back_to_the_sdk():
    trace = PlatformARun(A_FROM_0_4_0).walk()
    get, post = (record.message.sdk_input for record in trace.select(m.ApiAnswered))
    assert trace.select(m.CreateProvisioning)[0].message.sdk_input is get
    assert trace.select(m.ReturnOpc)[0].message.sdk_input is post


@pytest.mark.rule("API-15")
def test_the_role_has_the_documents_name():
    assert ROLE == "Bank Issuing PaymentInstrument Network Token Activation Data"
