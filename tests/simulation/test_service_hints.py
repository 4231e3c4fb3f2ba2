"""What was nearly right about a request that matches nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.simulation.http import AFTER_ID, BEFORE_ID
from workbook.simulation.service import LAST, NOUN, ROOT, VERSION, hints
from workbook.simulation.world import INSTRUMENT_IDS

ID = INSTRUMENT_IDS[0]
PATH = f"{BEFORE_ID}{ID}{AFTER_ID}"
CASE = "the path is case-sensitive, did you mean"
MISSING = "The id of the payment instrument is missing between /paymentInstruments/ and /networkTokenActivationData."
ENDS = "The path ends with /networkTokenActivationData, right after the id."
PATHS = {
    "a word in the singular": (PATH.replace("Instruments", "Instrument"), "/paymentInstrument: did you mean /paymentI"),
    "a word too short": (
        PATH.replace(LAST, "activationData"),
        "/activationData: did you mean /networkTokenActivationD",
    ),
    "a typing error": (PATH.replace("Token", "Tokne"), "/networkTokneActivationData: did you mean /networkToken"),
    "no prefix": (PATH.removeprefix("/bcl/v2"), "The path starts with /bcl/v2."),
    "no root": (PATH.removeprefix("/bcl"), "The path starts with /bcl/v2."),
    "no version": (PATH.replace("/v2", ""), "The path starts with /bcl/v2."),
    "version 1": (PATH.replace("v2", "v1"), "The version segment is v2 (API-14): did you mean /bcl/v2/...?"),
    "version without a letter": (PATH.replace("v2", "2"), "The version segment is v2 (API-14): did you mean /bcl/v2/"),
    "only version 1": (f"/v1/{NOUN}/{ID}/{LAST}", "The version segment is v2 (API-14): did you mean /bcl/v2/...?"),
    "a proxy's prefix": (f"/api{PATH}", "The path must begin with /bcl/v2."),
    "a slash at the end": (f"{PATH}/", "There is no slash at the end."),
    "a doubled slash": (PATH.replace("/paymentI", "//paymentI"), "A slash is doubled."),
    "a doubled slash at the start": (f"/{PATH}", "A slash is doubled."),
    "a doubled slash after the id": (PATH.replace(ID, f"{ID}/"), "A slash is doubled."),
    "capitals in front": (PATH.replace("/bcl/v2", "/BCL/V2"), "The path is case-sensitive, did you mean /bcl/v2/...?"),
    "a small letter": (PATH.replace("paymentI", "paymenti"), f"/paymentinstruments: {CASE} /paymentInstruments?"),
    "another small letter": (PATH.replace("onData", "ondata"), f"/networkTokenActivationdata: {CASE} /{LAST}?"),
    "an empty id": (PATH.replace(ID, ""), MISSING),
    "no id": (PATH.replace(f"/{ID}", ""), MISSING),
    "a slash in the id": (PATH.replace(ID, "a/b"), "An id is one segment: a slash inside it is sent as %2F."),
    "no end": (PATH.removesuffix(AFTER_ID), ENDS),
    "no end, but a slash": (PATH.removesuffix(LAST), ENDS),
    "a neighbour": (PATH.replace(LAST, "networkTokens"), ENDS),
    "more after the end": (f"{PATH}/more", "Nothing comes after /networkTokenActivationData."),
    "another resource": (PATH.replace(NOUN, "cards"), "The segment /paymentInstruments is missing."),
    "no resource": (PATH.replace(f"/{NOUN}", ""), "The segment /paymentInstruments is missing."),
    "a whole address": (f"https://x.invalid{PATH}/", "There is no slash at the end."),
    "a query as well": (f"{PATH}/?{LAST}=canary", "There is no slash at the end."),
}


def test_the_words_are_the_services():
    assert f"/{ROOT}/{VERSION}/{NOUN}/" == BEFORE_ID
    assert f"/{LAST}" == AFTER_ID


@pytest.mark.rule("API-1", "API-14")
@pytest.mark.parametrize("name", PATHS)
def test_what_was_wrong_is_said_and_nothing_else(name):
    target, told = PATHS[name]
    assert hints("GET", target).startswith(told)
    assert hints("GET", target).count("did you mean") <= 1
    assert hints("POST", target) == hints("GET", target)


def test_several_things_are_said_in_the_order_of_the_path():
    told = hints("GET", f"/v1/paymentInstrument//{LAST.lower()}/")
    marks = ["version", "/paymentInstrument:", "The id", "case-sensitive", "slash at the end"]
    places = [told.index(mark) for mark in marks]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "target", ["/", "", "*", "/favicon.ico", "/robots.txt", "//", f"/{ID}", "/bcl/v2/", f"/?x={PATH}"]
)
def test_what_is_like_nothing_here_gets_no_hint(target):
    assert hints("GET", target) == ""


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("GET", ""),
        ("POST", ""),
        ("get", "Methods are written in capital letters. Did you mean GET?"),
        ("Post", "Methods are written in capital letters. Did you mean POST?"),
        ("PUT", "This path knows GET, which reads activation data, and POST, which exchanges an sdkOutput."),
        ("HEAD", "This path knows GET, which reads activation data, and POST, which exchanges an sdkOutput."),
    ],
)
@pytest.mark.rule("API-1", "API-2")
def test_where_the_path_is_right_the_method_is_looked_at(method, told):
    assert hints(method, PATH) == told


@pytest.mark.rule("REL-2", "REL-3")
def test_an_id_a_query_and_a_strange_segment_are_not_repeated():
    canary = "CANARY0123456789"
    targets = (
        f"/{canary}/paymentInstrument/{canary}/networkToken/{canary}?{canary}#{canary}",
        f"/bcl/{canary}/paymentInstrumentz/{canary}/{canary}/networkTokenActivationDataz/{canary}",
        f"https://{canary}@{canary}/bcl/v1/paymentInstruments/{canary}/networkTokenActivationData",
    )
    for target in targets:
        assert hints("GET", target)
        assert canary not in hints(canary, target)
    assert "\x1b" not in hints("GET", "/bcl/v2/payment\x1bInstruments/1/networkTokenActivationData")


SEGMENTS = (
    st.sampled_from(["", "bcl", "v2", NOUN, LAST, ID, NOUN[:-1], LAST.lower(), "..", "%2F", "\x00", "ü"]) | st.text()
)


@given(st.text(), st.lists(SEGMENTS, max_size=40).map("/".join))
def test_anything_is_answered_shortly_and_the_same_again(method, target):
    told = hints(method, target)
    assert told == hints(method, target)
    assert len(told) < 700
    assert told.isprintable()


def test_a_huge_target_is_not_even_compared():
    assert hints("GET", "/paymentInstruments" * 100_000) == ""
    assert hints("GET", "x" * 10_000_000) == ""
