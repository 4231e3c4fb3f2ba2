"""Results as a run leaves them, told by hand: raw on both sides, with every kind of secret in its place."""

import json
from dataclasses import replace

from workbook.simulation.http import JSON_HEADERS, Request, Response
from workbook.simulation.seal import Content, Seal
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import Arrived, BackEndResult, Broke, PhoneCall, Seen
from workbook.tools.harness.model import Miss, Verdict
from workbook.tools.harness.report import About, record

KEY = "KEYKEY-abcdefghijklmnop"
SESSION = "c0ffee-session-of-ann"
CANARY = "canary-0123456789abcdef01"
CARD = "PISIMULATED00000000000001"
OUTPUT = Seal(7).close(Content.OUTPUT, CARD, 1, canary=f"{CANARY}-1")
INPUT = Seal(7).close(Content.OPC, CARD, 2)
FOREIGN = f'Zm9yZWlnbiBjYXJkIGRhdGE+ {CANARY} \u00fc\u00df"\\ &<x>'
SECRETS = {"key": KEY, "session": SESSION, "canary": CANARY, "opaque": INPUT, "foreign": FOREIGN}
PATH = f"/bcl/v2/paymentInstruments/{CARD}/networkTokenActivationData"
NAMES = tuple(CASES)
NAME = "relay.post.sdk-input-byte-exact"

ABOUT = About(
    target="a relay",
    base_url="http://127.0.0.1:8080",
    seed=7,
    started="2026-01-02T03:04:05Z",
    seconds=1.5,
    exit_code=1,
    command="workbook conform back-end.toml --seed 7",
    config="back-end.toml",
    versions={"workbook": "0.1.0", "python": "3.11.9"},
    profile="spec",
)
HIDDEN = (f"Bearer {SESSION}", "application/json")


def told(**fields):
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "surrogatepass")


def left(sent=OUTPUT, headers=(), target=f"/cards/{CARD}/go"):
    """The phone's request, as it left."""
    own = (("authorization", f"Bearer {SESSION}"), ("Accept", "application/json"))
    return Request("POST", target, (*own, *headers), told(sdkOutput=sent))


def call(number=1, sent=OUTPUT, began=100.0, ended=100.25, cardholder="ann", **more):
    usual = {"status": 200, "headers": (("Content-Type", "application/json"), ("Set-Cookie", SESSION))}
    usual |= {"body": told(sdkInput=INPUT), "value": INPUT, "request": left(sent)}
    return PhoneCall(number, "POST", cardholder, CARD, sent, began, ended, **usual | more)


def arrived(at=100.1, method="POST", target=PATH, headers=(), body=None, **more):
    sent = (("X-Api-Key", KEY), ("content-type", "application/json"), ("x-secret", SESSION), *headers)
    request = Request(method, target, sent, told(sdkOutput=OUTPUT) if body is None else body)
    response = Response(200, JSON_HEADERS, told(sdkInput=INPUT), "API-2")
    return Arrived(1, at, request, response, method, CARD, INPUT, **more)


def seen(*both, **more):
    both = both or (call(), arrived())
    calls = tuple(one for one in both if isinstance(one, PhoneCall))
    return Seen(calls, tuple(one for one in both if isinstance(one, Arrived)), key=KEY, **more)


MISS = Miss("the sdkInput as the API gave it", "another value", "Hand it on as it is.")


def result(name=NAME, verdict=Verdict.FAIL, misses=(MISS,), **more):
    usual = {"platform": "platform A", "seen": seen(), "seconds": 0.3}
    return BackEndResult(CASES[name], verdict, misses if verdict is not Verdict.PASS else (), **usual | more)


def of_each_verdict():
    """One case for each verdict, in an order in which the gravest is not the first."""
    names = ("pass", "warn", "fail", "note", "not testable", "not applicable", "known", "harness error",
             "not looked at")  # fmt: skip
    verdicts = list(map(Verdict, names))
    return [
        result(name, verdict, (MISS,) if verdict in ("fail", "warn", "note", "known") else (), why=why)
        for name, verdict, why in zip(
            NAMES,
            verdicts,
            ("", "", "", "", "no logs", "no status", "a ticket", "ours", "unread"),
            strict=False,
        )
    ]


def recorded(*results, **about):
    return record(results or of_each_verdict(), replace(ABOUT, **about), HIDDEN)


LOST = call(status=None, headers=(), body=b"", value=None, broke=Broke.LATE)
