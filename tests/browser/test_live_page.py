"""The live page of `workbook serve --control` in a real browser: requests drop in, with reasons, and nothing secret."""

import json
import subprocess
import sys
import time
from datetime import datetime

import httpx
import pytest
from accessibility import complaints_in_both_schemes

pytestmark = pytest.mark.browser


@pytest.fixture
def served():
    """What a mock server with its control API announced."""
    command = [sys.executable, "-m", "workbook", "serve", "--control", "--json", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.stdout.close()
        process.wait(60)


CARD_DATA = "CANARYCARDDATA4929000000006Aa"


def asked(served, method="GET", data=None, **headers):
    instrument = served["payment_instrument_ids"][0]
    address = f"{served['base_url']}/bcl/v2/paymentInstruments/{instrument}/networkTokenActivationData"
    body = {"sdkOutput": data or served["sdk_outputs"][instrument]} if method == "POST" else None
    usual = {"x-api-key": served["api_key"], "content-type": "application/json"}
    return httpx.request(method, address, headers=usual | headers, json=body)


def test_requests_drop_in_with_their_reasons_and_are_found_again(page, served):
    page.goto(served["live_page"])
    page.get_by_text("No request yet.").wait_for()
    page.get_by_role("button", name="curl").click()
    first = page.locator("#empty pre").inner_text()
    assert f"{served['base_url']}/bcl/v2/paymentInstruments/{served['payment_instrument_ids'][0]}/" in first
    before = datetime.now().astimezone()
    assert asked(served).status_code == 200
    items = page.locator("#list > li")
    items.first.wait_for()
    shown = datetime.strptime(items.first.locator("time").inner_text(), "%H:%M:%S").replace(tzinfo=before.tzinfo)
    assert abs((shown.replace(before.year, before.month, before.day) - before).total_seconds()) % 86_400 < 60
    assert items.count() == 1
    asked(served, "POST")
    asked(served, "POST", CARD_DATA)
    asked(served, **{"x-api-key": "not-the-key-of-anybody"})
    page.get_by_text("The API key is not known here").first.wait_for()
    items.nth(3).wait_for()
    assert page.locator("li.bad").count() == 2
    page.get_by_label("Filter").fill("post 200")
    assert page.locator("#list > li:visible").count() == 1
    page.locator("summary:visible").click()
    opened = page.locator("details[open]").inner_text()
    assert opened.index("sdkOutput") < opened.index("content-type: application/json")
    page.get_by_role("button", name="curl").click()
    assert "$WORKBOOK_API_KEY" in page.locator(".more pre:visible").inner_text()
    page.get_by_label("Filter").fill("no-such-word")
    assert page.locator("#empty").inner_text() == "No request has all of these words."
    whole = page.content()
    secrets = served["api_key"], served["control_token"], "not-the-key-of-anybody", CARD_DATA
    assert [secret for secret in secrets if secret in whole] == []
    assert served["control_token"] not in page.url
    assert page.troubles == []
    assert {url.split("/workbook/")[0] for url in page.asked} == {served["base_url"]}


def test_all_requests_stand_in_the_order_of_time_whatever_their_key(page, served):
    for key in ("", "not-the-key-of-anybody", ""):
        asked(served, **({"x-api-key": key} if key else {}))
        time.sleep(0.1)
    page.goto(served["live_page"])
    page.locator("#list > li").nth(2).wait_for()
    for status in ("401", "200"):
        asked(served, **({"x-api-key": "not-the-key-of-anybody"} if status == "401" else {}))
        page.locator("#list > li").first.locator(".status", has_text=status).wait_for()
    newest_first = [item.inner_text().removeprefix("✗ ") for item in page.locator("#list .status").all()]
    assert newest_first == ["200", "401", "200", "401", "200"]


def test_without_the_token_the_page_shows_nothing_and_asks_for_it(page, served):
    page.goto(served["live_page"].partition("#")[0])
    asked(served)
    page.get_by_label("Control token").fill("of-another-server-0123")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("The control token is not this server's.").wait_for()
    assert page.locator("#list > li").count() == 0
    page.get_by_label("Control token").fill(served["control_token"])
    page.get_by_role("button", name="Show").click()
    page.locator("#list > li").wait_for()


def test_axe_has_no_complaint_and_the_policy_holds(page, served):
    asked(served)
    asked(served, **{"x-api-key": "wrong"})
    answer = page.goto(served["live_page"])
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    page.locator("li.bad summary").click()
    page.get_by_role("button", name="workbook diagnose").click()
    assert page.locator("li.bad .more pre").inner_text() == 'workbook diagnose "HTTP/1.1 401"'
    # axe is put into the page from outside, which the policy does not stop
    assert complaints_in_both_schemes(page) == []
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.evil = 1'}))")
    assert page.evaluate("window.evil") is None
