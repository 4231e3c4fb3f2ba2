"""What failed, with the smallest combination that shows it and a line that replays it: on planted bugs."""

import ast
import json

import pytest

from workbook.sweep import workers
from workbook.sweep.matrix import from_spec, read_matrix
from workbook.sweep.play import Player, outcome
from workbook.sweep.summary import stage_line, summarise
from workbook.sweep.workers import chunk_file, sweep


@pytest.fixture
def found(own_code, monkeypatch):
    """Sweeps code of the integrator's own in this process; returns the kinds of failure that are found."""
    monkeypatch.setattr(
        workers, "in_processes", lambda matrix, chunks, _n: ((at, chunk_file(matrix, of)) for at, of in chunks.items())
    )

    def swept(**options):
        matrix, out = read_matrix(own_code / "matrix.toml", **options), own_code / "out"
        document = summarise(matrix, out, *sweep(matrix, out, workers=1))
        assert json.loads((out / "sweep.json").read_text()) == document
        return document["failures"]

    return swept


def replays(kind):
    """Whether the line to replay shows the kind."""
    combination = from_spec(ast.literal_eval(kind["replay"].removeprefix("session.replay")))
    return kind["kind"] in Player(2.0).failures(combination, outcome(combination, 2.0))


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
    told = json.loads((out / "sweep.json").read_text())
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
    assert stage_line(from_spec(line)) == stage
