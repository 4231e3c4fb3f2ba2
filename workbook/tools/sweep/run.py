"""Plays the rows of a sweep on an executor, keeps them, and sums them up with the smallest combination of each failure.

The rows are kept as one file of JSON lines a chunk, written whole. A chunk is decided by the matrix alone, and its
bytes by its rows. So it does not matter who plays it, when, or how often: a sweep that was killed goes on with the
chunks that are missing, and ends in the same files.

The smallest combination is tried, not guessed: a row of the kind is played again with each value made ordinary, as
long as it shows the kind. What is left is what the failure needs.
"""

import json
import multiprocessing
import os
import signal
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from time import monotonic, perf_counter
from typing import Any, TypeVar

from tqdm import tqdm

from workbook.base.children import safe_path
from workbook.base.files import write_all, write_whole
from workbook.errors import ConfigurationError
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.sweep.matrix import Combination, Matrix, ordinary, spec
from workbook.tools.sweep.play import EXITED, Outcome, Player, Row, play_out, row_of
from workbook.views.templates import fill, page

T = TypeVar("T")
# The numbers of a chunk's combinations.
Numbers = Sequence[int]
# Kinds of failure whose smallest combination is looked for; the others are only counted.
MOST_EXPLAINED = 20


def play_chunk(matrix: Matrix, numbers: Numbers) -> list[Row]:
    """The rows of these combinations; what the integrator's code prints is dropped."""
    player = Player(matrix.patience)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        return [player.row(number, matrix.combination(number)) for number in numbers]


@contextmanager
def open_pool(workers: int) -> Iterator[Executor]:
    """Processes of this machine that share nothing with this one."""
    way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(way)
    with safe_path(), ProcessPoolExecutor(workers, context, _begin_worker, ([*sys.path],)) as pool:
        yield pool


def _begin_worker(path: Sequence[str]) -> None:
    """A worker leaves Ctrl-C to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path

    def follow_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=follow_parent, daemon=True).start()


@contextmanager
def open_cluster(address: str) -> Iterator[Executor]:
    """The executor of the Dask cluster at this address.

    Raises:
        ConfigurationError: there is no scheduler.
    """
    from distributed import Client

    try:
        client = Client(address, timeout=10)  # type: ignore[no-untyped-call]  # shipped without types
    except OSError as error:
        raise ConfigurationError(f"No scheduler at {address!r}: {error}.") from None
    with client:
        yield client.get_executor(pure=False)  # type: ignore[no-untyped-call]


def run_apart(work: Callable[..., T], *given: Any) -> T | None:
    """What `work` returns in a process of its own; None if that process ended."""
    with open_pool(1) as pool, suppress(BrokenProcessPool):
        return pool.submit(work, *given).result()
    return None


def play_carefully(matrix: Matrix, numbers: Numbers) -> list[Row]:
    """The rows of a chunk whose process ended: each combination that ends its process again is a row that says so."""
    if (rows := run_apart(play_chunk, matrix, numbers)) is not None:
        return rows
    rows = []
    while len(rows) < len(numbers):
        with open_pool(1) as pool:
            try:
                for number in numbers[len(rows) :]:
                    rows += pool.submit(play_chunk, matrix, [number]).result()
            except BrokenProcessPool:
                rows.append(row_of(number, matrix.combination(number), Outcome("exited"), (EXITED,)))
    return rows


def play_chunks(
    matrix: Matrix, chunks: dict[int, Numbers], open_executor: Callable[[], AbstractContextManager[Executor]]
) -> Iterator[tuple[int, list[Row]]]:
    """The number and the rows of each of these chunks, as they are ready.

    An executor that lost a process is opened again, after the chunks that it began were played one by one: one of them
    may end each process that plays it.
    """
    while chunks:
        with open_executor() as executor:
            futures = {executor.submit(play_chunk, matrix, numbers): chunk for chunk, numbers in chunks.items()}
            try:
                for future in as_completed(futures):
                    chunk = futures[future]
                    try:
                        rows = future.result()
                    except BrokenProcessPool:
                        break
                    except Exception:  # noqa: BLE001  # Dask's KilledWorker, say; an error of ours is raised again here
                        rows = play_carefully(matrix, chunks[chunk])
                    yield chunk, rows
                    del chunks[chunk]
                else:
                    return
            finally:
                for future in futures:
                    future.cancel()
        for chunk in [*chunks][: (os.cpu_count() or 1) + 1]:
            yield chunk, play_carefully(matrix, chunks.pop(chunk))


def sweep(
    matrix: Matrix, out: Path, open_executor: Callable[[], AbstractContextManager[Executor]]
) -> tuple[int, float]:
    """Play what is missing in this folder of a matrix; returns how many combinations were played, and the seconds.

    Args:
        matrix: says what.
        out: the folder; a chunk is a file in `rows` below it.
        open_executor: opens what plays chunks, such as `open_pool(4)`.

    Raises:
        ConfigurationError: the folder holds the rows of another matrix, or cannot be written.
    """
    began = perf_counter()
    played = 0
    numbers = array("q", matrix.numbers())
    folder = prepare_folder(matrix, out, len(numbers))
    chunks = {at: numbers[at * matrix.chunk :][: matrix.chunk] for at in range(-(-len(numbers) // matrix.chunk))}
    missing: dict[int, Numbers] = {
        chunk: wanted for chunk, wanted in chunks.items() if not is_whole(folder / f"{chunk:06}.jsonl", wanted)
    }
    done = len(numbers) - sum(map(len, missing.values()))
    seconds_between = 0.5 if sys.stderr.isatty() else 30
    with tqdm(total=len(numbers), initial=done, unit=" combinations", mininterval=seconds_between) as bar:
        for chunk, rows in play_chunks(matrix, missing, open_executor):
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            write_whole(folder / f"{chunk:06}.jsonl", lines)
            played += len(rows)
            bar.update(len(rows))
    return played, perf_counter() - began


def is_whole(file: Path, numbers: Numbers) -> bool:
    """Whether this file has the rows of these combinations; a damaged or foreign one is played again."""
    try:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        return [row["number"] for row in rows] == [*numbers]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def prepare_folder(matrix: Matrix, out: Path, count: int) -> Path:
    """The folder of the rows, with a manifest of its matrix.

    Raises:
        ConfigurationError: it holds the rows of another matrix, or cannot be written.
    """
    folder = out / "rows"
    file = out / "manifest.json"
    manifest = {"version": 2, "matrix": matrix.digest, "rows": count, "chunk": matrix.chunk}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(file.read_text("utf-8")) if file.exists() else None
        others = known is None and any(folder.iterdir())
        if others or known not in (None, manifest):
            raise ConfigurationError(f"{str(out)!r} holds the rows of another matrix. Name a new folder with --out.")
        write_whole(file, json.dumps(manifest, indent=1) + "\n")
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"--out {str(out)!r} cannot be used: {error}.") from None
    return folder


def read_rows(out: Path) -> Iterator[Row]:
    """Every row of a sweep in this folder, in the order of the combinations' numbers."""
    for file in sorted((out / "rows").glob("[0-9]*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def shrink(kind: str, c: Combination, patience: float) -> Combination:
    """A combination of this kind that is as ordinary as possible."""
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
    return c


@dataclass
class Tally:
    """What is counted while the rows of a sweep are read once.

    Attributes:
        rows: how many there are.
        failed: how many have a failure.
        outcomes: how many ended in each state.
        kinds: how many rows have each kind of failure.
        first: the number of the first combination with each kind.
    """

    rows: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    first: dict[str, int] = field(default_factory=dict)

    def count(self, row: Row) -> None:
        """Count one row."""
        self.rows += 1
        self.outcomes[row["outcome"]] += 1
        for kind in filter(None, row["failure"].split("\n")):
            self.kinds[kind] += 1
            self.first.setdefault(kind, row["number"])
        self.failed += bool(row["failure"])


def explain_kinds(tally: Tally, matrix: Matrix) -> list[dict[str, Any]]:
    """Each kind of failure as `sweep.json` has it, the most frequent first."""
    kinds = sorted(tally.kinds.items(), key=lambda each: (-each[1], each[0]))
    document: list[dict[str, Any]] = [
        {"kind": kind, "rows": rows, "smallest": {}, "replay": ""} for kind, rows in kinds
    ]
    for entry in document[:MOST_EXPLAINED]:
        c = find_smallest(entry["kind"], matrix.combination(tally.first[entry["kind"]]), matrix.patience)
        usual = ordinary(c["platform"])
        entry["smallest"] = {name: value for name, value in c.items() if value != usual.get(name) and name != "seed"}
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
        "rate": {"played": played, "seconds": round(seconds, 3), "per_second": round(played / max(seconds, 1e-9), 1)},
    }
    values = {"title": "A sweep", "document": document, "kinds": kinds}
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
