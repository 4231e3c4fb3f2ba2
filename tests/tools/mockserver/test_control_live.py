"""The live page's data: the journal's own redaction, the reason of each refusal, and the rules behind it."""

import json
import re
from base64 import b64encode
from hashlib import sha256

import pytest

from workbook.simulation.http import AFTER_ID, BEFORE_ID, Request
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.mockserver.serve import PREFIX, Control, live_page
from workbook.tools.mockserver.server import answering

TOKEN = "CONTROL-0123456789abcdef"
PATH = f"{BEFORE_ID}{INSTRUMENT_IDS[0]}{AFTER_ID}"


@pytest.fixture
def mock():
    return MockServer()


def call(mock, key=None, method="GET", body=b""):
    key = next(iter(mock.keys.values())) if key is None else key
    return answering(mock)(Request(method, PATH, (("x-api-key", key), ("content-type", "application/json")), body))


def events(mock, query=""):
    request = Request("GET", f"{PREFIX}journal{query}", (("authorization", f"Bearer {TOKEN}"),), b"")
    control = Control(mock)
    control.token = TOKEN
    answer = control.respond(request)
    assert answer.status == 200, answer.body
    return json.loads(answer.body)["entries"]


def test_every_request_is_shown_in_order_and_after_a_number_only_the_later_ones(mock):
    for _ in range(3):
        call(mock)
    assert [event["number"] for event in events(mock)] == [1, 2, 3]
    assert [event["number"] for event in events(mock, "?after=2")] == [3]


@pytest.mark.rule("API-4")
def test_a_refusal_has_its_reason_and_the_sentences_of_its_rules(mock):
    call(mock, key="wrong-key-0123")
    [event] = events(mock, "?world=nobody")
    assert event["status"] == 401
    assert "The API key is not known here" in event["why"]
    assert event["rules"]
    assert set(event["rules"]) <= set(re.findall(r"[A-Z]+(?:-[A-Z]+)*-\d+", event["basis"] + event["why"]))


@pytest.mark.rule("REL-2", "REL-3")
def test_no_key_and_no_opaque_data_is_shown(mock):
    key, card_data = next(iter(mock.keys.values())), "CANARYCARDDATA4929000000006Aa"
    call(mock, method="POST", body=json.dumps({"sdkOutput": card_data}).encode())
    text = json.dumps(events(mock))
    assert key not in text
    assert card_data not in text


def test_a_played_fault_is_the_reason(mock):
    mock.faults({"fault": "500", "operation": "GET"})
    call(mock)
    [event] = events(mock)
    assert event["why"].startswith("fault: 500")


def test_a_request_that_is_none_of_the_two_has_nothing_to_copy(mock):
    answering(mock)(Request("DELETE", "/elsewhere", (), b""))
    call(mock)
    [other], [get] = events(mock, "?world=nobody"), events(mock, "?world=w1")
    assert other["copies"] == {}
    assert list(get["copies"]) == ["curl"]


def test_the_page_runs_its_own_script_and_style_and_holds_nothing_else():
    answer = live_page()
    headers, text = dict(answer.headers), answer.body.decode()
    for kind, name in (("script", "script"), ("style", "style")):
        [content] = re.findall(rf"<{kind}[^>]*>(.*?)</{kind}>", text, re.DOTALL)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert re.findall(r"https?://|\ssrc=|\sstyle=|\son\w+=|innerHTML", text) == []
