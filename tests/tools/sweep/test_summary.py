"""What failed, with the smallest combination that shows it and a line that replays it: on planted bugs."""

import ast
import json

import pytest

from workbook.tools.sweep import workers
from workbook.tools.sweep.matrix import from_spec, read_matrix
from workbook.tools.sweep.play import Player, outcome
from workbook.tools.sweep.summary import counted, failure_kinds, read_rows, shrunk, stage_line, summarise
from workbook.tools.sweep.workers import chunk_file, sweep


@pytest.fixture
def found(own_code, monkeypatch):
    """Sweeps code of the integrator's own in this process; returns the kinds of failure that are found."""
    monkeypatch.setattr(
        workers, "in_processes", lambda matrix, chunks, _n: ((at, chunk_file(matrix, of)) for at, of in chunks.items())
    )

    def swept(**options):
        matrix, out = read_matrix(own_code / "matrix.toml", **options), own_code / "out"
        document = summarise(matrix, out, *sweep(matrix, out, workers=1))
        assert json.loads((out / "sweep.json").read_text())["details"] == document
        return document["failures"]

    return swept


def replays(kind):
    """Whether the line to replay shows the kind."""
    combination = from_spec(ast.literal_eval(kind["replay"].removeprefix("session.replay")))
    return kind["kind"] in Player(2.0).failures(combination, outcome(combination, 2.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "part", "smallest", "needed"),
    [
        ({"app": "planted_code:planted"}, "ValueError", {"card": "third"}, "card=third"),
        ({"app": "planted_code:planted"}, "KeyError", {"card": "second", "fault": "403", "operation": "POST"},
         "card=second fault=403 operation=POST"),
        ({"app": "planted_code:planted"}, "InvalidSdkInput", {"fault": "409", "operation": "POST"},
         "fault=409 operation=POST"),
        ({"app": "planted_code:Delegate"}, "SystemExit", {"variant": "earlier"}, "variant=earlier"),
        ({"handler": "planted_code:Handler"}, "LookupError", {"phone": "first card is there already", "cards": "3"},
         "phone='first card is there already' cards=3"),
    ],
)  # fmt: skip
def test_a_planted_bug_is_found_with_its_smallest_combination(found, options, part, smallest, needed):
    kinds = found(**options)
    kind = next(kind for kind in kinds if part in kind["kind"])
    assert {name: value for name, value in kind["smallest"].items() if name not in ("app", "handler")} == smallest
    assert 0 < kind["covers"] <= kind["rows"]
    assert needed in kind["replay"]
    assert replays(kind)


def shown(line):
    """The first kind of failure of this combination, and the combination."""
    combination = from_spec(line)
    return Player(2.0).failures(combination, outcome(combination, 2.0))[0], combination


def test_what_a_failure_does_not_need_becomes_ordinary():
    kind, combination = shown("platform=wallet handler='no card art' phone='with a watch' surface=watch cards=3 seed=9")
    assert shrunk(kind, combination, 2.0) == from_spec("platform=wallet handler='no card art'")


def test_what_was_drawn_becomes_small_and_what_is_not_needed_of_it_goes():
    line = "platform=wallet handler='GETs one after the other' cards=5 seed=12 get=9.5 post=3.25"
    kind, combination = shown(line)
    smallest = shrunk(kind, combination, 2.0)
    assert kind in Player(2.0).failures(smallest, outcome(smallest, 2.0))
    assert "post" not in smallest
    assert 0 < float(smallest["get"]) < 9.5
    assert (smallest["cards"], smallest["seed"]) == ("1", "0")


@pytest.mark.slow
def test_a_kind_beyond_the_most_is_only_counted(own_code, found):
    found(app="planted_code:planted")
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:planted")
    first, *others = failure_kinds(read_rows(own_code / "out"), matrix, most=1)
    assert first["replay"]
    nothing = {"smallest": {}, "covers": 0, "share": 0.0, "replay": "", "stage": ""}
    assert [{**kind} for kind in others] == [{"kind": k["kind"], "rows": k["rows"]} | nothing for k in others] != []


@pytest.mark.slow
def test_shares_have_four_digits_and_durations_their_quantiles(own_code, found):
    (own_code / "matrix.toml").write_text(
        "platform = ['wallet']\nhandler = ['reference', 'GETs one after the other']\ncards = [7]\nseeds = 3\n"
        "latency = ['slow']\n[latencies]\nslow = { median = 2.0, p99 = 15.0 }"
    )
    found()
    frame = read_rows(own_code / "out")
    assert {frame[name].dtype.kind for name in ("added", "late")} == {"b"}
    assert {frame[name].dtype.kind for name in ("get", "post", "ended")} == {"f"}
    (shares, late) = counted(frame, own_code / "out").values()
    values = [value for table in (shares, late) for value in table.to_numpy().flat if value == value]  # noqa: PLR0124  # no NaN
    assert values == [round(value, 4) for value in values]
    assert {0.3333, 0.6667} & {*values}
    told = json.loads((own_code / "out" / "sweep.json").read_text())["details"]["durations"]["pass_entries"]
    took = frame["pass_entries_took"]
    assert told == {
        name: round(float(took.quantile(share)), 6) for name, share in
        [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("worst", 1.0)]
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.golden
def test_what_a_sweep_leaves_is_what_was_written_down(own_code, found, golden):
    text = (own_code / "matrix.toml").read_text().replace('"first", "second", "third"', '"third", "second"')
    text += """
back_end = ["good", "waits 30 s"]
handler = ["GETs one after the other", "reference"]
taps = [2]
seeds = 3
latency = ["slow"]
[latencies]
slow = { median = 3.0, p99 = 15.0 }
[[without]]
fault = "not 200"
seed = "not 1"
"""
    (own_code / "matrix.toml").write_text(text)
    document = found(app="planted_code:planted")
    assert {kind["replay"].count("seed") for kind in document} == {0, 1}
    out = own_code / "out"
    told = json.loads((out / "sweep.json").read_text())["details"]
    told["rate"] = dict.fromkeys(told["rate"], "another one in each run")
    told["matrix"] = "of this file"
    golden("sweep", f"{json.dumps(told, indent=1, ensure_ascii=False)}\n{(out / 'summary.md').read_text()}")


@pytest.mark.parametrize(
    ("line", "stage"),
    [
        ("platform=a", "session.platform_a.live()"),
        ("platform=a guarded=no fault=reset",
         "session.platform_a.live(fault='reset', operation='GET', moment='before', guarded=False)"),
        ("platform=b app=mine:Delegate", "from mine import Delegate; session.platform_b.live(delegate=Delegate)"),
        ("platform=wallet handler=mine:Handler surface=watch",
         "from mine import Handler; session.wallet.live(surface='watch', handler=Handler)"),
        ("platform=wallet cards=3", ""),
        ("platform=a get=1", ""),
    ],
)  # fmt: skip
def test_the_stage_is_set_where_it_has_all_that_is_needed(line, stage):
    assert stage_line(from_spec(line)) == stage_line({**from_spec(line), "seed": "3", "latency": "slow"}) == stage
