"""Which card each opaque value belongs to: a value at another card's request or answer is found, and an old one is."""

import pytest
from seen_values import CARD, FIRST, OTHER, OUTPUT, SECOND, call, request

from workbook.tools.conform.back_end.judging import ASK_AGAIN, OWN_CARD, SHORTEST_VALUE, CardWatch, answer_text, parts
from workbook.tools.conform.back_end.model import GET, POST
from workbook.tools.harness.model import Root

NAME = "relay.get.path"


def watched(calls=(), requests=(), cards=(CARD, OTHER)):
    watch = CardWatch(cards)
    for one in calls:
        watch.sends(NAME, one)
    watch.scan(NAME, calls, requests)
    return watch


def found(watch):
    return [(one.case, one.what) for one in watch.misdelivered]


@pytest.mark.rule("REL-4")
def test_an_sdk_output_that_is_posted_for_another_card_went_astray():
    tap = call(POST, SECOND, sent=OUTPUT)
    watch = watched([tap], [request(POST, None, card=OTHER, sent=OUTPUT)])
    assert found(watch) == [(NAME, "sdkOutput")]
    assert watch.misdelivered[0].call is tap
    (miss,) = watch.of([call(), tap])
    assert (miss.rule, miss.root, miss.todo, miss.observed) == (
        "REL-4",
        Root.WRONG_CARD,
        OWN_CARD,
        str(watch.misdelivered[0]),
    )
    assert watch.of([call()]) == ()
    assert len(watch.misdelivered) == 1


@pytest.mark.rule("REL-4")
def test_an_sdk_input_that_the_api_gave_for_another_card_went_astray():
    watch = watched([call(value=FIRST, card=OTHER)], [request(value=FIRST, card=CARD)])
    assert found(watch) == [(NAME, "sdkInput")]
    assert watch.misdelivered[0].request.instrument == CARD


@pytest.mark.parametrize(
    ("calls", "requests"),
    [
        ([call(), call(POST, SECOND, sent=OUTPUT)], [request(), request(POST, SECOND, sent=OUTPUT)]),
        # a card that nobody configured is judged by the cases about the path
        ([call(POST, SECOND, sent=OUTPUT)], [request(POST, SECOND, card="PI9", sent=OUTPUT)]),
        ([call(card=OTHER)], [request(card="PI9")]),
        # the same text for both cards: whose it is cannot be told
        ([call(card=OTHER)], [request(card=CARD), request(card=OTHER)]),
        ([call(POST, None, sent=OUTPUT), call(POST, None, card=OTHER, sent=OUTPUT)],
         [request(POST, None, card=OTHER, sent=OUTPUT)]),
        # a GET carries no sdkOutput, whatever its record says
        ([call(POST, None, sent=OUTPUT)], [request(GET, None, card=OTHER, sent="")]),
        ([call(value=None), call(value="", number=2)], [request(value=None), request(value="")]),
    ],
)  # fmt: skip
def test_what_is_where_it_belongs_is_not_found(calls, requests):
    assert found(watched(calls, requests)) == []


@pytest.mark.parametrize(("length", "number"), [(SHORTEST_VALUE - 1, 0), (SHORTEST_VALUE, 1)])
def test_a_value_is_followed_from_that_length_on(length, number):
    value = "v" * length
    assert len(found(watched([call(value=value, card=OTHER)], [request(value=value)]))) == number
    tap = call(POST, None, sent=value)
    assert len(found(watched([tap], [request(POST, None, card=OTHER, sent=value)]))) == number


@pytest.mark.rule("REL-7")
def test_an_answer_from_before_the_call_is_an_old_one():
    late = call(began=1.0)
    (miss,) = watched([late], [request(at=0.9)]).of([late])
    assert (miss.rule, miss.root, miss.todo) == ("REL-7", Root.OLD_ANSWER, ASK_AGAIN)
    assert miss.observed == "the phone's GET got an sdkInput that the API gave before the call"
    assert watched([late], [request(at=1.0)]).of([late]) == ()
    assert watched([late], [request(at=0.9), request(at=1.05)]).of([late]) == ()
    assert watched([late], [request(value=SECOND, at=0.9)]).of([late]) == ()


def test_the_parts_of_a_secret():
    assert parts("abcd", 3) == ("abc", "bcd")
    assert parts("abc", 3) == ("abc",)
    assert parts("ab", 3) == ("ab",)


def test_the_text_of_an_answer_is_without_the_sdk_input_and_with_all_else():
    plain = call(headers=(("a", "b"),))
    assert answer_text(plain) == 'a: b\n{"sdkInput": ""}'
    assert answer_text(plain, [FIRST]) == 'a: b\n{"sdkInput": ""}'
    assert answer_text(plain, ["x" * len(FIRST)]) == f'a: b\n{{"sdkInput": "{FIRST}"}}'
    assert answer_text(plain, []) == f'a: b\n{{"sdkInput": "{FIRST}"}}'
    assert answer_text(call(headers=(), body=b"")) == ""
    assert answer_text(call(body=b"", partial=b"cut", value=None)) == "\ncut"
    piece = "0123456789-abcde"  # as long as a piece that is no chance, and not a character more
    assert answer_text(call(value=piece), [f"x{piece}y"]) == '\n{"sdkInput": ""}'
    assert answer_text(call(value=piece), [f"x{piece[:-1]}y"]) == f'\n{{"sdkInput": "{piece}"}}'
    quoted = 'a "quoted" sdkInput'
    assert answer_text(call(value=quoted)) == '\n{"sdkInput": ""}'
