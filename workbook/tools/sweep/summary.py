"""The summary of a sweep: what came of its rows, the kinds of failure, and the smallest combination that shows each.

The smallest combination is tried, not guessed: a row of the kind is played again with each value made ordinary and each
drawn value made small, as long as it shows the kind. What is left is what the failure needs.
"""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from time import monotonic
from typing import Any

from workbook.base.files import write_all
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.sweep.matrix import Combination, Matrix, drawn, ordinary, spec
from workbook.tools.sweep.play import EXITED, HANDLER_CALLS, Player, Row, play_out
from workbook.tools.sweep.rows import read_rows, run_apart
from workbook.views.templates import fill, page

# Kinds of failure whose smallest combination is looked for; the others are only counted.
MOST_EXPLAINED = 20


def shrink(kind: str, c: Combination, patience: float) -> Combination:
    """A combination of this kind that is as ordinary as possible, its drawn values made small."""
    player = Player(patience)
    until = monotonic() + 20  # seconds; code that hangs has no time for more

    def shows_kind(each: Combination) -> bool:
        if monotonic() > until:
            return False
        if kind == EXITED:
            return run_apart(play_out, each, patience) is None
        return kind in player.failures(each, play_out(each, patience))

    for name, usual in ordinary(c["platform"]).items():
        if c[name] != usual and shows_kind(simpler := {**c, name: usual}):
            c = simpler
    for name in [each for each in drawn() if each in c]:
        if shows_kind(without := {each: value for each, value in c.items() if each != name}):
            c = without
            continue
        too_small = 0.0
        while float(c[name]) - too_small > 0.002:  # seconds: two of the smallest steps that are drawn
            middle = (float(c[name]) + too_small) / 2
            if shows_kind(smaller := {**c, name: f"{middle:.3f}"}):
                c = smaller
            else:
                too_small = middle
    return c


@dataclass
class Tally:
    """What is counted while the rows of a sweep are read once.

    Attributes:
        rows: how many there are.
        failed: how many have a failure.
        outcomes: how many ended in each state.
        by_fault: the same for each fault.
        kinds: how many rows have each kind of failure.
        first: the number of the first combination with each kind.
        took: seconds of each call of the handler.
    """

    rows: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    by_fault: dict[str, Counter[str]] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)

    def count(self, row: Row) -> None:
        """Count one row."""
        self.rows += 1
        self.outcomes[row["outcome"]] += 1
        self.by_fault.setdefault(row["fault"], Counter())[row["outcome"]] += 1
        for kind in filter(None, row["failure"].split("\n")):
            self.kinds[kind] += 1
            self.first.setdefault(kind, row["number"])
        self.failed += bool(row["failure"])
        for name in HANDLER_CALLS:
            if (seconds := row[f"{name}_took"]) is not None:
                self.took.setdefault(name, []).append(seconds)

    def shares(self) -> list[list[str]]:
        """The share of each outcome for each fault in percent, its head first."""
        outcomes = sorted(self.outcomes)
        rows = [
            [fault, *(f"{counts[name] / counts.total():.0%}" for name in outcomes)]
            for fault, counts in sorted(self.by_fault.items())
        ]
        return [["fault", *outcomes], *rows]

    def durations(self) -> dict[str, dict[str, float]]:
        """Quantiles of the seconds of each call of the handler."""
        found = {}
        for name, seconds in self.took.items():
            cuts = quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else seconds * 99
            found[name] = {
                "p50": round(cuts[49], 6),
                "p95": round(cuts[94], 6),
                "p99": round(cuts[98], 6),
                "worst": round(max(seconds), 6),
            }
        return found


def explain_kinds(tally: Tally, matrix: Matrix) -> list[dict[str, Any]]:
    """Each kind of failure as `sweep.json` has it, the most frequent first."""
    kinds = sorted(tally.kinds.items(), key=lambda each: (-each[1], each[0]))
    document: list[dict[str, Any]] = [
        {"kind": kind, "rows": rows, "smallest": {}, "replay": ""} for kind, rows in kinds
    ]
    for entry in document[:MOST_EXPLAINED]:
        c = find_smallest(entry["kind"], matrix.combination(tally.first[entry["kind"]]), matrix.patience)
        usual = ordinary(c["platform"])
        entry["smallest"] = {
            name: value for name, value in c.items() if value != usual.get(name) and name not in ("seed", "latency")
        }
        entry["replay"] = f"session.replay({spec(c)!r})"
    return document


def find_smallest(kind: str, c: Combination, patience: float) -> Combination:
    """As `shrink`, in a process of its own where the integrator's code may end it."""
    if kind != EXITED and any(":" in value for value in c.values()):
        return run_apart(shrink, kind, c, patience) or c
    return shrink(kind, c, patience)


def summarise(matrix: Matrix, out: Path, played: int, seconds: float) -> dict[str, Any]:
    """Read the rows of a sweep; write `index.html`, `summary.md` and `sweep.json`, whose content is returned."""
    tally = Tally()
    for row in read_rows(out):
        tally.count(row)
    kinds = explain_kinds(tally, matrix)
    document = {
        "matrix": matrix.digest,
        "rows": tally.rows,
        "failed": tally.failed,
        "outcomes": dict(sorted(tally.outcomes.items())),
        "failures": kinds,
        "durations": tally.durations(),
        "rate": {"played": played, "seconds": round(seconds, 3), "per_second": round(played / max(seconds, 1e-9), 1)},
    }
    values = {"title": "A sweep", "document": document, "kinds": kinds, "shares": tally.shares()}
    files = {
        "sweep.json": to_json(to_report(document)),
        "index.html": page("tools/sweep/sweep.html", **values),
        "summary.md": fill("tools/sweep/sweep.md", **values),
    }
    write_all({out / name: text for name, text in files.items()})
    return document


def to_report(document: dict[str, Any]) -> RunRecord:
    """The report: a case for each kind of failure. In another sweep of this matrix, a kind without a case passed."""
    cases = []
    for failure in document["failures"]:
        smallest = ", ".join(f"{name} {value}" for name, value in failure["smallest"].items())
        why = f"smallest combination: {smallest}" if smallest else ""
        cases.append(CaseRecord(failure["kind"], Verdict.FAIL, why=why, times=failure["rows"]))
    digest = document["matrix"]
    rows = str(document["rows"])
    about = About(
        program="workbook sweep",
        facts={"matrix": digest[:12], "combinations": rows},
        tried=f"{digest} {rows}",
    )
    return RunRecord(about, tuple(cases), document)
