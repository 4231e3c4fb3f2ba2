"""Each case holds with the app of each platform that the back end can tell apart, and a report says with which not."""

from dataclasses import replace
from itertools import product

import pytest
import relays
from seen_values import CARD, GET, POST

from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import BackEndOperation, BackEndResult, Cardholder, Surface, Target
from workbook.tools.conform.back_end.schedule import combine, platforms
from workbook.tools.harness.model import Miss, Verdict

PLAIN = relays.surface()
A, B = "platform A", "platform B"
ONE_EACH = CASES["relay.attempt.one-of-each"]
MISS = Miss("nothing", "something", "do")


def tried(name, other):
    """Whose app makes the calls of a case, where platform B's surface is another."""
    target = Target("http://h", {A: PLAIN, B: other}, (Cardholder("ann", (CARD,)),))
    return platforms(CASES[f"relay.{name}"], target)


@pytest.mark.parametrize(
    ("name", "other", "wanted"),
    [
        ("get.no-query", PLAIN, (A,)),
        ("get.no-query", replace(PLAIN, get=BackEndOperation("GET", "/b/{id}")), (A, B)),
        ("get.fault-500", replace(PLAIN, post=BackEndOperation("POST", "/b/{id}", sdk_output="/x")), (A,)),
        ("post.fault-500", replace(PLAIN, post=replace(PLAIN.post, sdk_input="/x")), (A, B)),
        ("get.fault-500", replace(PLAIN, headers=(("x-app", "b"),)), (A, B)),
        ("get.no-query", Surface(PLAIN.get, PLAIN.post, decoded=True), (A, B)),
        ("get.text-unicode", replace(PLAIN, headers=(("x-app", "b"),)), (A,)),
        ("get.bytes-alphabet", replace(PLAIN, headers=(("x-app", "b"),)), (B,)),
        ("log.no-key-ever", replace(PLAIN, headers=(("x-app", "b"),)), ("",)),
    ],
)
def test_a_case_is_tried_once_for_each_app_that_the_back_end_can_tell_apart(name, other, wanted):
    assert tried(name, other) == wanted


def test_the_graver_verdict_of_both_apps_counts():
    for first, second in product(Verdict, repeat=2):
        both = combine([BackEndResult(ONE_EACH, first, platform=A), BackEndResult(ONE_EACH, second, platform=B)])
        assert both.verdict.gravity == min(first.gravity, second.gravity)


def test_a_miss_says_with_whose_app_it_was_and_stands_there_once():
    parts = [
        BackEndResult(ONE_EACH, Verdict.FAIL, (MISS,), platform=A, seconds=1.0),
        BackEndResult(
            ONE_EACH, Verdict.FAIL, (MISS, replace(MISS, observed="more")), platform=B, why="gone", seconds=2.0
        ),
    ]
    both = combine(parts)
    assert [miss.observed for miss in both.misses] == [
        "with the app of platform A and platform B: something", "with the app of platform B: more"
    ]  # fmt: skip
    assert (both.why, both.platform, both.seconds, both.each) == (
        "The app of platform B: gone", "platform A and platform B", 3.0, tuple(parts)
    )  # fmt: skip
    assert combine(parts[:1]) is parts[0]


@pytest.mark.slow
@pytest.mark.rule("API-5", "REL-4", "REL-6")
def test_a_back_end_that_is_right_for_one_app_alone_is_caught():
    (right,) = relays.results(relays.FRONTS, ["relay.get.no-session"])
    (wrong,) = relays.results("NoSessionOnB", ["relay.get.no-session"])
    assert (right.verdict, right.platform, len(right.parts)) == (Verdict.PASS, "platform A and platform B", 2)
    assert wrong.verdict is Verdict.FAIL
    assert all(miss.observed.startswith("with the app of platform B: ") for miss in wrong.misses)
    assert {call.operation for part in wrong.parts for call in part.seen.calls} <= {GET, POST}
