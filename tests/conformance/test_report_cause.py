"""What the many failures of one mistake may follow from stands first, in every form of the report."""

from dataclasses import replace

import pytest
from ran import MISS, arrived, call, recorded, result, seen

from workbook.conformance.judging import AFRESH
from workbook.conformance.model import Miss, Verdict
from workbook.conformance.notebook import conformance
from workbook.conformance.report import FEWEST, begin_here, cause, to_look_at, todos
from workbook.conformance.reports import from_json, reports, to_json

TROUBLE = "The app of {}: the plain POST does not work: status 502, an empty sdkInput. A request reached the API."
FORM = Miss("a JSON object", "none", 'Send JSON: {"sdkOutput": ...}.')
PLAIN = Miss("a success", "status 502", "Make the plain case work first: the API answered with 200 and an sdkInput.")
LATER = Miss("a success 0.05 s after everything is well again", "status 502", AFRESH)
FAULTS = ("400", "401", "403", "422", "500", "404")


def failed(name, at, misses, status=502):
    one = call(began=at, ended=at + 0.01, status=status)
    return result(name, Verdict.FAIL if misses else Verdict.PASS, misses, seen=seen(one, arrived(at)))


def plain(**about):
    """A run in which the plain POST never works."""
    faults = (failed(f"relay.post.fault-{one}", 1.0 + place, (LATER,)) for place, one in enumerate(FAULTS))
    form = failed("relay.post.one-field", 50.0, (PLAIN, FORM))
    whose = about.pop("whose", "platform A and platform B")
    return recorded(*faults, form, **{"trouble": TROUBLE.format(whose)} | about)


def collapse(count=FEWEST, first=200):
    """A run in which nothing works any more from the first fault on; what is asked of the form is judged later."""
    good = failed("relay.post.text-64-kib", 1.0, (), first)
    faults = [failed(f"relay.post.fault-{one}", 2.0 + place, (LATER,)) for place, one in enumerate(FAULTS[: count - 1])]
    ask = Miss("a POST at the API", "no request reached the API", "Let the back end ask the API for each attempt.")
    return recorded(failed("relay.post.path", 90.0, (ask,)), good, *faults)


def test_what_only_follows_from_a_plain_call_comes_last():
    record = plain()
    assert begin_here(record) == (
        "The plain POST does not work; 6 of the failures may follow from that. Mend this first."
    )
    assert todos(record)[0].text == FORM.todo
    assert {one.text for one in todos(record)[1:]} == {AFRESH, PLAIN.todo}


def test_the_app_is_named_where_it_is_one_of_two():
    assert begin_here(plain(whose="platform B")).startswith("The plain POST of the app of platform B does not work; 6 ")


def test_what_began_first_is_told_first_where_nothing_worked_any_more():
    record = collapse()
    assert begin_here(record).startswith(
        f"Since about relay.post.fault-400 nothing worked any more; {FEWEST} of the failures may follow from that."
    )
    assert [one.text for one in todos(record)] == [AFRESH, "Let the back end ask the API for each attempt."]
    assert [case.name for case in to_look_at(record)][-1] == "relay.post.path"


@pytest.mark.parametrize(
    "record",
    [recorded(), plain(trouble=""), plain(trouble="The app of <b>: the plain POST does not work: x"),
     collapse(FEWEST - 1), collapse(first=500)],
    ids=["few", "no trouble", "words of another", "too few", "never worked"],
)  # fmt: skip
def test_without_a_cause_the_order_is_that_of_the_cases(record):
    assert begin_here(record) == ""
    names = [case.name for case in record.cases]
    shown = [case.name for case in to_look_at(record) if case.verdict is Verdict.FAIL]
    assert shown == [name for name in names if name in shown]


@pytest.mark.parametrize("make", [plain, collapse])
def test_every_form_says_it_above_what_to_do(make):
    record = make()
    told, texts = begin_here(record), reports(record)
    assert told in conformance(record).text().replace("\n", " ")
    for name in ("conform.html", "conform.md"):
        text = texts[name]
        assert text.index("What to do first") < text.index(told) < text.index(AFRESH[:30])


def test_it_is_the_same_from_a_report_that_was_read():
    assert cause(from_json(to_json(collapse()))) == cause(collapse())


def test_what_is_only_noted_asks_for_nothing():
    noted = replace(MISS, todo="Nothing to do.", noted=True)
    assert [one.text for one in todos(recorded(result(misses=(MISS, noted))))] == [MISS.todo]
