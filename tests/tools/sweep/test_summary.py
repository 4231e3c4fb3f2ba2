"""What failed, with the smallest combination that shows it and a line that replays it: on planted bugs."""

import ast
import json
import re

import pytest

from workbook.tools.sweep.matrix import from_spec, read_matrix
from workbook.tools.sweep.play import Player, play_out
from workbook.tools.sweep.rows import sweep
from workbook.tools.sweep.summary import Tally, shrink, summarise


@pytest.fixture
def failures(own_code, in_this_process):
    """Sweeps code of the integrator's own in this process; returns the kinds of failure in its report."""

    def find(**options):
        matrix, out = read_matrix(own_code / "matrix.toml", **options), own_code / "out"
        document = summarise(matrix, out, *sweep(matrix, out, in_this_process))
        assert json.loads((out / "sweep.json").read_text())["details"] == document
        return document["failures"]

    return find


def replays(kind):
    """Whether the line to replay shows the kind."""
    combination = from_spec(ast.literal_eval(kind["replay"].removeprefix("session.replay")))
    return kind["kind"] in Player(2.0).failures(combination, play_out(combination, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "planted"),
    [
        (
            {"app": "planted_code:planted"},
            {
                "ValueError": "card=third",
                "KeyError": "card=second fault=403 operation=POST",
                "InvalidSdkInput": "fault=409 operation=POST",
            },
        ),
        ({"app": "planted_code:Delegate"}, {"SystemExit": "variant=earlier"}),
        ({"handler": "planted_code:Handler"}, {"LookupError": "phone='first card is there already' cards=3"}),
    ],
    ids=["app", "delegate", "handler"],
)
def test_a_planted_bug_is_found_with_its_smallest_combination(failures, options, planted):
    kinds = failures(**options)
    for error, needed in planted.items():
        kind = next(kind for kind in kinds if error in kind["kind"])
        smallest = {name: value for name, value in kind["smallest"].items() if name not in ("app", "handler")}
        assert set(smallest) == set(re.findall(r"(\w+)=", needed))
        assert needed in kind["replay"]
        assert replays(kind)


def shown(line):
    """The first kind of failure of this combination, and the combination."""
    combination = from_spec(line)
    return Player(2.0).failures(combination, play_out(combination, 2.0))[0], combination


def test_what_a_failure_does_not_need_becomes_ordinary():
    kind, combination = shown("platform=wallet handler='no card art' phone='with a watch' surface=watch cards=3 seed=9")
    assert shrink(kind, combination, 2.0) == from_spec("platform=wallet handler='no card art'")


def test_what_was_drawn_becomes_small_and_what_is_not_needed_of_it_goes():
    line = "platform=wallet handler='GETs one after the other' cards=5 seed=12 get=9.5 post=3.25"
    kind, combination = shown(line)
    smallest = shrink(kind, combination, 2.0)
    assert kind in Player(2.0).failures(smallest, play_out(smallest, 2.0))
    assert "post" not in smallest
    assert 0 < float(smallest["get"]) < 9.5
    assert smallest["cards"] == "1"


def row(number, failure, fault="200", **took):
    named = {f"{call}_took": took.get(call) for call in ("status", "pass_entries", "remote_pass_entries", "generate")}
    return {"number": number, "outcome": "done", "fault": fault, "failure": failure, **named}


def test_rows_are_counted_by_fault_and_kind_with_the_first_of_each():
    tally = Tally()
    for each in (row(3, ""), row(5, "one\nother", "500"), row(8, "other", "500"), row(9, "", "500")):
        tally.count(each)
    assert (tally.rows, tally.failed, dict(tally.kinds)) == (4, 2, {"one": 1, "other": 2})
    assert tally.first == {"one": 5, "other": 5}
    assert tally.shares() == [["fault", "done"], ["200", "100%"], ["500", "100%"]]


def test_durations_have_their_quantiles():
    tally = Tally()
    for number in range(101):
        tally.count(row(number, "", status=number / 100))
    assert tally.durations() == {"status": {"p50": 0.5, "p95": 0.95, "p99": 0.99, "worst": 1.0}}
