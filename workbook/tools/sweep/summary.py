"""The summary of a sweep: what came of its rows, the kinds of failure, and the smallest combination that shows each.

The smallest combination is tried, not guessed: a row of the kind is played again with each value made ordinary and each
drawn value made small, as long as it shows the kind. What is left is what the failure needs.
"""

import io
import shlex
from collections import Counter
from pathlib import Path
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbook.base.files import write_all
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.sweep.matrix import Combination, Matrix, drawn, ordinary, spec
from workbook.tools.sweep.play import EXITED, Player, outcome, texts
from workbook.tools.sweep.workers import apart
from workbook.views.templates import fill, page

if TYPE_CHECKING:
    import pandas as pd

    Frame = pd.DataFrame
    Mask = pd.Series[bool]


def read_rows(out: Path) -> "Frame":
    """Every row of a sweep in this folder, texts as categories."""
    import pandas as pd

    files = sorted((out / "rows").glob("[0-9]*"))
    if files[0].suffix == ".jsonl":
        rows = pd.concat([pd.read_json(file, lines=True, dtype=False) for file in files], ignore_index=True)
        return rows.astype(dict.fromkeys(texts(), str)).astype(dict.fromkeys(texts(), "category"))
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.concat_tables(parquet.read_table(file, read_dictionary=texts()) for file in files).unify_dictionaries()
    frame: Frame = table.to_pandas(split_blocks=True, self_destruct=True)
    return frame


def shrunk(kind: str, c: Combination, patience: float) -> Combination:
    """A combination of this kind that is as ordinary as possible, its drawn values made small by Hypothesis."""
    player, until = Player(patience), monotonic() + 20  # seconds; code that hangs has no time for more

    def shows(each: Combination) -> bool:
        if kind == EXITED:
            return monotonic() < until and apart(outcome, each, patience) is None
        return monotonic() < until and kind in player.failures(each, outcome(each, patience))

    for name, usual in ordinary(c["platform"]).items():
        if c[name] != usual and shows(simpler := {**c, name: usual}):
            c = simpler
    for name in [each for each in drawn() if each in c]:
        if shows(without := {each: value for each, value in c.items() if each != name}):
            c = without
    if not {*drawn()} & {*c}:  # without drawn values a seed has nothing to say
        return c
    from hypothesis import HealthCheck, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    figures = {name: st.floats(0, float(c[name])).map("{:.3f}".format) for name in drawn() if name in c}
    few = st.fixed_dictionaries({**figures, "seed": st.integers(0, int(c["seed"])).map(str)})
    quiet = settings(max_examples=300, database=None, deadline=None, suppress_health_check=[*HealthCheck])
    try:
        return find(few.map(lambda each: {**c, **each}), shows, settings=quiet, random=Random(0))  # noqa: S311  # no secret
    except NoSuchExample:  # none of those that were tried shows it
        return c


def failure_kinds(frame: "Frame", matrix: Matrix, most: int = 20) -> list[dict[str, Any]]:
    """Each kind of failure as `sweep.json` has it, the most frequent first; those beyond `most` are only counted."""
    told, counts = Counter[str](), frame["failure"].value_counts()
    for text, rows in counts.items():
        told.update(dict.fromkeys(filter(None, str(text).split("\n")), int(rows)))
    kinds = sorted(told.items(), key=lambda each: (-each[1], each[0]))
    nothing: dict[str, Any] = {"smallest": {}, "covers": 0, "share": 0.0, "replay": "", "stage": ""}
    return [
        {"kind": kind, "rows": rows} | (_explained(kind, frame, matrix) if at < most else nothing)
        for at, (kind, rows) in enumerate(kinds)
    ]


def _explained(kind: str, frame: "Frame", matrix: Matrix) -> dict[str, Any]:
    shows = frame["failure"].isin([text for text in frame["failure"].cat.categories if kind in text.split("\n")])
    c = matrix.combination(int(frame.loc[shows, "number"].min()))
    if kind != EXITED and any(":" in value for value in c.values()):  # the integrator's code may end its process
        c = apart(shrunk, kind, c, matrix.patience) or c
    else:
        c = shrunk(kind, c, matrix.patience)
    usual = {*ordinary(c["platform"]).items()}
    values = {
        name: value for name, value in c.items() if (name, value) not in usual and name not in ("seed", "latency")
    }
    having = frame["platform"] == c["platform"]
    for name in [name for name in values if name not in drawn()]:
        having &= frame[name] == values[name]
    told = {"smallest": values, "covers": int(shows[having].sum()), "share": round(float(shows[having].mean()), 4)}
    return told | {"replay": f"session.replay({spec(c)!r})", "stage": stage_line(c)}


def stage_line(c: Combination) -> str:
    """The call that sets the stage of a notebook for this combination; empty where the stage has not all of it."""
    verb, own = {"a": ("platform_a", "fetch_opc"), "b": ("platform_b", "delegate"), "wallet": ("wallet", "handler")}[
        c["platform"]
    ]
    told = dict(word.partition("=")[::2] for word in shlex.split(spec(c))[1:])
    if {*told} & {*drawn(), "card", "cards", "taps", "authorization"}:
        return ""
    code, given = "", {}
    for name in [name for name in c if name in told or ("fault" in told and name in ("operation", "moment"))]:
        if ":" in c[name] and name in ("app", "handler"):
            module, _, attribute = c[name].partition(":")
            code, given[own] = f"from {module} import {attribute}; ", attribute
        elif name not in ("seed", "latency"):
            given[name] = "False" if name == "guarded" else repr(c[name])
    return f"{code}session.{verb}.live({', '.join(f'{name}={value}' for name, value in given.items())})"


def counted(frame: "Frame", out: Path) -> dict[str, "Frame"]:
    """The pivot tables of a sweep by title."""
    import pandas as pd

    shares = pd.crosstab(frame["fault"], frame["outcome"], normalize="index")
    tables = {"Outcome against fault, in shares": shares.round(4)}
    wallet = frame[frame["platform"] == "wallet"]
    if wallet["get"].notna().any():
        steps = [0, 0.5, 1, 2, 4, 8, 16, 32, 600]
        labels = [f"to {step:g} s" for step in steps[1:]]
        slow = pd.cut(wallet["get"], steps, labels=labels)
        share = pd.crosstab(slow, [wallet["handler"], wallet["back_end"]], wallet["late"], aggfunc="mean")
        share.columns = share.columns.map("; ".join)
        tables["Share of late extensions against the seconds of a GET"] = share.round(4)
    if (out / "back-end.csv").exists():
        took = pd.read_csv(out / "back-end.csv", dtype={"fault": str}).groupby(["fault", "call", "answer"])["seconds"]
        table = took.agg(["count", "median", "max"])
        table.index = pd.Index(["; ".join(each) for each in table.index], name="fault; call; answer")
        tables["Your back end, measured in seconds"] = table
    return tables


def _written(table: "Frame") -> list[list[str]]:
    """The rows of a table as texts, its head first."""
    rows = [[str(name), *map("{:g}".format, row)] for name, row in zip(table.index, table.to_numpy(), strict=True)]
    return [[str(table.index.name or ""), *map(str, table.columns)], *rows]


def _plot(title: str, table: "Frame") -> str:
    """A table of shares as SVG, the same to the byte for the same table: lines against seconds, or stacked bars."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "workbook", "svg.fonttype": "none", "font.size": 9}):
        lines = title.startswith("Share")
        figure = Figure(figsize=(9, 3.2 if lines else 1.2 + 0.19 * len(table)), layout="constrained")
        axes, left = figure.subplots(), 0 * table.iloc[:, 0]
        for name, values in table.items():
            if lines:
                axes.plot(table.index.astype(str), values, marker="o", label=name)
            else:
                axes.barh(table.index.astype(str), values, left=left, label=name)
                left = left + values
        if not lines:
            axes.invert_yaxis()
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()[file.getvalue().index("<svg") :]


def summarise(matrix: Matrix, out: Path, played: int, seconds: float) -> dict[str, Any]:
    """Read the rows of a sweep; write `index.html`, `summary.md` and `sweep.json`, whose content is returned."""
    frame = read_rows(out)
    kinds = failure_kinds(frame, matrix)
    durations = {}
    for name in drawn()[2:]:
        if len(took := frame[f"{name}_took"].dropna()):
            shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "worst": 1.0}
            durations[name] = {each: round(float(took.quantile(share)), 6) for each, share in shares.items()}
    document = {
        "version": 1,
        "kind": "sweep",
        "matrix": matrix.digest,
        "rows": len(frame),
        "failed": int((frame["failure"] != "").sum()),
        "outcomes": {str(name): int(number) for name, number in sorted(frame["outcome"].value_counts().items())},
        "failures": kinds,
        "durations": durations,
        "rate": {"played": played, "seconds": round(seconds, 3), "per_second": round(played / max(seconds, 1e-9), 1)},
    }
    tables = counted(frame, out)
    pictures = {title: _plot(title, table) for title, table in tables.items() if "share" in title.lower()}
    written = {title: _written(table) for title, table in tables.items()}
    values = {"title": "A sweep", "document": document, "kinds": kinds, "tables": written, "pictures": pictures}
    write_all({
        out / "sweep.json": to_json(_report(document)),
        out / "index.html": page("sweep.html", **values),
        out / "summary.md": fill("sweep.md", **values),
    })  # fmt: skip
    return document


def _report(document: dict[str, Any]) -> RunRecord:
    """The report: a case for each kind of failure. In another sweep of this matrix, a kind without a case passed."""
    cases = []
    for failure in document["failures"]:
        smallest = ", ".join(f"{name} {value}" for name, value in failure["smallest"].items())
        why = f"smallest combination: {smallest}" if smallest else ""
        cases.append(CaseRecord(failure["kind"], Verdict.FAIL, why=why, times=failure["rows"]))
    digest, rows = document["matrix"], str(document["rows"])
    facts = {"matrix": digest[:12], "combinations": rows}
    about = About(program="workbook sweep", facts=facts, tried=f"{digest} {rows}")
    return RunRecord(about, tuple(cases), document)
