"""The summary of a sweep: what came of its rows, the kinds of failure, and the smallest combination that shows each.

Two things are said of a kind. The smallest combination is read from the rows: values that its rows share, and no row
that passes has. The line to replay is tried: one of its rows, made ordinary and small as long as it shows the kind.
"""

import io
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from workbook.base.files import write_all
from workbook.sweep.matrix import DIMENSIONS, Combination, Matrix, drawn, ordinary, spec
from workbook.sweep.play import Player, outcome, texts
from workbook.views.templates import fill, page

if TYPE_CHECKING:
    import pandas as pd

    Frame = pd.DataFrame
    Mask = pd.Series[bool]


@dataclass(frozen=True, slots=True)
class FailureKind:
    """A kind of failure.

    Attributes:
        kind: what happened.
        rows: how many rows show it.
        smallest: the smallest combination that shows it, by dimension.
        covers: how many of its rows have that combination.
        share: of the rows with that combination, those that show it; 1 unless more than the dimensions decides.
        replay: the line that plays it in a notebook.
        stage: the line that sets a stage for it; empty where the stage has not all that it needs.
    """

    kind: str
    rows: int
    smallest: Mapping[str, str]
    covers: int
    share: float
    replay: str
    stage: str


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


def smallest(frame: "Frame", shows: "Mask") -> tuple[dict[str, str], int, float]:
    """The smallest combination that shows a kind of failure: values that its rows share and no row that passes has.

    It grows by a value that all of its rows share, as long as there is one that tells them from those that pass,
    then by others; and then loses every value that it does not need. Of a drawn time it takes the least that shows
    the kind, and of a seed nothing: a seed only draws.

    Returns:
        the values by dimension, how many of the kind's rows have them, and their share of all rows that have them.
    """
    neutral = ~shows & (frame["failure"] != "")  # what fails otherwise says nothing about this kind
    names = [name for name, values in DIMENSIONS.items() if values and name != "seed" and len(frame[name].unique()) > 1]
    found: dict[str, str] = {}
    share, inside = 0.0, shows | True
    while not shows[inside & ~neutral].all():
        tried = []
        for name in [each for each in (*names, "get", "post") if each not in found]:
            failing = frame.loc[inside & shows, name]
            if name in ("get", "post"):
                values = [] if failing.isna().any() else [f"{failing.min():g} s or more"]
            else:
                values = sorted(map(str, failing.unique()))
            masks = [(value, inside & _having(frame, {name: value})) for value in values]
            tried += [(float(shows[mask].mean()), int(shows[mask].sum()), name, value, mask) for value, mask in masks]
        here, better = int(shows[inside].sum()), [each for each in tried if each[0] > share]
        if not better:
            break
        best = max(better, key=lambda each: (each[1] == here, *each[:2]))
        share, _count, name, value, inside = best
        found[name] = value
    for name in [*found]:
        rest = {other: value for other, value in found.items() if other != name}
        if rest and float(shows[_having(frame, rest) & ~neutral].mean()) >= float(shows[inside & ~neutral].mean()):
            found = rest
    usual = {name: next(iter(values.values()))[0] for name, values in DIMENSIONS.items() if values}
    found = {name: found[name] for name in sorted(found, key=lambda name: found[name] == usual.get(name))}
    inside = _having(frame, found)
    return found, int(shows[inside].sum()), float(shows[inside & ~neutral].mean())


def _having(frame: "Frame", values: Mapping[str, str]) -> "Mask":
    inside = frame["number"] >= 0
    for name, value in values.items():
        inside &= frame[name] >= float(value.split()[0]) if name in ("get", "post") else frame[name] == value
    return inside


def shrunk(kind: str, c: Combination, player: Player) -> Combination:
    """A combination of this kind that is as ordinary as possible, its drawn values made small by Hypothesis."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    def shows(each: Combination) -> bool:
        return kind in player.failures(each, outcome(each, player.patience))

    for name, usual in ordinary(c["platform"]).items():
        if c[name] != usual and shows(simpler := {**c, name: usual}):
            c = simpler
    for name in [each for each in drawn() if each in c]:
        if shows(without := {each: value for each, value in c.items() if each != name}):
            c = without
    figures = {
        name: st.floats(0, float(c[name])).map(lambda each: repr(round(each, 3))) for name in drawn() if name in c
    }
    if c["seed"] != "7":
        figures["seed"] = st.integers(0, int(c["seed"])).map(str)
    if not figures or not shows(c):
        return c
    quiet = settings(max_examples=300, database=None, deadline=None, phases=[Phase.generate, Phase.shrink],
                     suppress_health_check=[*HealthCheck])  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {**c, **find(st.fixed_dictionaries(figures), lambda few: shows({**c, **few}), settings=quiet,
                                random=Random(0))}  # fmt: skip  # noqa: S311  # no secret
    except NoSuchExample:  # none of those that were tried is smaller
        return c


def failure_kinds(frame: "Frame", matrix: Matrix, most: int = 20) -> list[FailureKind]:
    """Each kind of failure, the most frequent first; of those beyond `most` only how often there are."""
    told = {str(text): text.split("\n") for text in frame["failure"].cat.categories}
    counts = frame["failure"].value_counts()
    kinds = {kind: 0 for lines in told.values() for kind in lines if kind}
    for text, lines in told.items():
        for kind in [line for line in lines if line]:
            kinds[kind] += int(counts[text])
    found, player = [], Player(matrix.patience)
    for at, (kind, rows) in enumerate(sorted(kinds.items(), key=lambda each: (-each[1], each[0]))):
        if at >= most:
            found.append(FailureKind(kind, rows, {}, 0, 0.0, "", ""))
            continue
        shows = frame["failure"].isin([text for text, lines in told.items() if kind in lines])
        values, covers, share = smallest(frame, shows)
        first = frame.loc[shows & _having(frame, values), "number"].min()
        c = matrix.combination(int(first))
        exits = kind.startswith("It ended the process")
        c = c if exits else shrunk(kind, c, player)
        found.append(
            FailureKind(kind, rows, values, covers, round(share, 4), f"session.replay({spec(c)!r})", stage_line(c))
        )
    return found


def stage_line(c: Combination) -> str:
    """The call that sets the stage of a notebook for this combination; empty where the stage has not all of it."""
    verb = {"a": "platform_a", "b": "platform_b", "wallet": "wallet"}[c["platform"]]
    usual = ordinary(c["platform"])
    told = {name: value for name, value in c.items() if value != usual.get(name) and name not in ("seed", "platform")}
    own = {"a": "fetch_opc", "b": "delegate", "wallet": "handler"}[c["platform"]]
    lines, given = [], []
    if {*told} & {*drawn(), "card", "cards", "taps", "authorization", "latency", "durations"} - {"latency"}:
        return ""
    if "fault" in told:
        told |= {name: c[name] for name in ("operation", "moment")}
    for name, value in told.items():
        if ":" in value and name in ("app", "handler"):
            module, _, attribute = value.partition(":")
            lines.append(f"from {module} import {attribute}; ")
            given.append(f"{own}={attribute}")
        elif name == "guarded":
            given.append("guarded=False")
        elif name != "latency":
            given.append(f"{name}={value!r}")
    return f"{''.join(lines)}session.{verb}.live({', '.join(given)})"


def counted(frame: "Frame", out: Path) -> dict[str, Any]:
    """The pivot tables of a sweep: each with its title, its head and its rows."""
    import pandas as pd

    shares = pd.crosstab(frame["fault"], frame["outcome"], normalize="index")
    tables = {"Outcome against fault, in shares": shares.round(4)}
    wallet = frame[frame["platform"] == "wallet"]
    if wallet["get"].notna().any():
        steps = [0, 0.5, 1, 2, 4, 8, 16, 32, 600]
        labels = [f"to {step:g} s" for step in steps[1:]]
        slow = pd.cut(wallet["get"], steps, labels=labels)
        share = pd.crosstab(slow, [wallet["handler"], wallet["back_end"]], wallet["late"], aggfunc="mean")
        tables["Share of late extensions against the seconds of a GET"] = share.round(4)
    if (out / "back-end.csv").exists():
        took = pd.read_csv(out / "back-end.csv", dtype={"fault": str}).groupby(["fault", "call", "answer"])["seconds"]
        table = took.agg(["count", "median", "max"])
        table.index = pd.Index(["; ".join(each) for each in table.index], name="fault; call; answer")
        tables["Your back end, measured in seconds"] = table
    return {title: _written(table) for title, table in tables.items()}


def _written(table: "Frame") -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table as texts."""
    cells = zip(table.index, table.to_numpy(), strict=True)
    rows = [[str(name), *("" if value != value else f"{value:g}" for value in row)] for name, row in cells]  # noqa: PLR0124  # not a number
    return [
        str(table.index.name or ""),
        *("; ".join(each) if isinstance(each, tuple) else str(each) for each in table.columns),
    ], rows


def plot(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, lines: bool) -> str:
    """A table as SVG, the same to the byte for the same table: lines over the first column, or stacked bars."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "workbook", "svg.fonttype": "none", "font.size": 9}):
        figure = Figure(figsize=(9, 3.2 if lines else 1.2 + 0.19 * len(rows)), layout="constrained")
        axes, left = figure.subplots(), [0.0] * len(rows)
        for at, name in enumerate(head[1:], start=1):
            values = [float(row[at] or 0) for row in rows]
            if lines:
                axes.plot([row[0] for row in rows], values, marker="o", label=name)
            else:
                axes.barh([row[0] for row in rows], values, left=left, label=name, color=f"C{at - 1}")
                left = [one + more for one, more in zip(left, values, strict=True)]
        if not lines:
            axes.invert_yaxis()
        axes.set_title(title)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue().partition("<svg")[1] + file.getvalue().partition("<svg")[2]


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
        "failures": [asdict(kind) for kind in kinds],
        "durations": durations,
        "rate": {"played": played, "seconds": round(seconds, 3), "per_second": round(played / max(seconds, 1e-9), 1)},
    }
    tables = counted(frame, out)
    pictures = {
        title: plot(title, head, rows, lines=title.startswith("Share"))
        for title, (head, rows) in tables.items()
        if not title.startswith("Your back end")
    }
    values = {"title": "A sweep", "document": document, "kinds": kinds, "tables": tables, "pictures": pictures}
    write_all({
        out / "sweep.json": json.dumps(document, ensure_ascii=False, indent=1) + "\n",
        out / "index.html": page("sweep.html", **values),
        out / "summary.md": fill("sweep.md", **values),
    })  # fmt: skip
    return document
