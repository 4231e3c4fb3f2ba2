"""Plays the rows of a sweep in processes of this machine or on Dask, and keeps them: one file a chunk, written whole.

A chunk is decided by the matrix alone, and its bytes by its rows. So it does not matter who plays it, when, or how
often: a sweep that was killed goes on with the chunks that are missing, and ends in the same files.
"""

import csv
import io
import json
import logging
import multiprocessing
import os
import signal
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from time import perf_counter
from typing import Any, TypeVar

from tqdm import tqdm

from workbook.base.children import safe_path
from workbook.base.files import write_whole
from workbook.base.secrecy import Secrets
from workbook.base.terminal import signals_held
from workbook.errors import ConfigurationError
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.case_runner import CaseRunner
from workbook.tools.conform.back_end.config import load_config
from workbook.tools.conform.back_end.findings import PLAIN_ATTEMPT
from workbook.tools.conform.back_end.model import Order
from workbook.tools.conform.back_end.session import Launcher, Stopping
from workbook.tools.harness.progress import RunProgress
from workbook.tools.sweep.matrix import Matrix
from workbook.tools.sweep.play import EXITED, Outcome, Player, Row, row_of, texts

T = TypeVar("T")
# The numbers of a chunk's combinations.
Numbers = Sequence[int]
# The chunks that are missing, by number; each is taken out when it has been played.
Chunks = dict[int, Any]
# The number of a chunk and its file, for each chunk that has been played.
Played = Iterator[tuple[int, bytes]]


def chunk_rows(matrix: Matrix, numbers: Numbers) -> list[Row]:
    """The rows of these combinations; what the integrator's code prints is dropped."""
    player = Player(matrix.patience)
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        return [player.row(number, matrix.combination(number)) for number in numbers]


def chunk_file(matrix: Matrix, numbers: Numbers) -> bytes:
    """The file with the rows of these combinations."""
    return content(chunk_rows(matrix, numbers))


# Processes of this machine.


def _begin(path: Sequence[str]) -> None:
    """A worker leaves Ctrl-C to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path

    def follow() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    Thread(target=follow, daemon=True).start()


class _Pool(ProcessPoolExecutor):
    """A pool whose processes are known to it as soon as they start, whatever interrupts that."""

    def submit(self, *words: Any, **named: Any) -> Future[Any]:
        with signals_held(), safe_path():  # a process that nobody knows fails with a traceback when the pool is gone
            return super().submit(*words, **named)


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes that share nothing with this one; a fork server, where the system has one, starts one in a moment."""
    way = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context = multiprocessing.get_context(way)
    context.set_forkserver_preload([__name__])
    return _Pool(workers, context, _begin, ([*sys.path],))


def in_processes(matrix: Matrix, left: Chunks, workers: int) -> Played:
    """The file of each chunk, as it is ready; code that ends its process costs the row in which it does."""
    while left:
        with _pool(workers) as pool, suppress(BrokenProcessPool):
            try:
                futures = {pool.submit(chunk_file, matrix, numbers): chunk for chunk, numbers in left.items()}
                for future in as_completed(futures):
                    yield futures[future], future.result()
                    del left[futures[future]]
            except BaseException as error:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in multiprocessing.active_children() if not isinstance(error, BrokenProcessPool) else ():
                    process.terminate()
                raise
        # The pool says only that a process ended. It was at one of the first chunks that are left.
        for chunk in [*left][: 2 * workers + 1]:
            yield chunk, carefully(matrix, left.pop(chunk))


def apart(work: Callable[..., T], *given: Any) -> T | None:
    """What `work` returns in a process of its own; None if that ended."""
    with _pool(1) as pool, suppress(BrokenProcessPool):
        return pool.submit(work, *given).result()
    return None


def carefully(matrix: Matrix, numbers: Numbers) -> bytes:
    """The file of a chunk, played in a process of its own; if that ends too, one combination after the other."""
    if (file := apart(chunk_file, matrix, numbers)) is not None:
        return file
    rows: list[Row] = []
    while len(rows) < len(numbers):
        with _pool(1) as pool:
            try:
                for number in numbers[len(rows) :]:
                    rows += pool.submit(chunk_rows, matrix, [number]).result()
            except BrokenProcessPool:
                rows.append(row_of(number, matrix.combination(number), Outcome("exited"), (EXITED,)))
    return content(rows)


# Dask.


def on_dask(matrix: Matrix, left: Chunks, address: str, workers: int) -> Played:
    """The file of each chunk, as it is ready, from a cluster; an empty address starts one on this machine.

    Dask plays a chunk again whose worker was lost. Where it gives up, because each worker that took it ended, it is
    played here. If this client loses the scheduler, it comes again with what is missing.

    Raises:
        ConfigurationError: there is no scheduler at this address.
    """
    import dask
    from distributed import Client, LocalCluster, as_completed
    from distributed.scheduler import KilledWorker

    for name in ("distributed", "distributed.client"):  # each has a level of its own
        logging.getLogger(name).setLevel(logging.CRITICAL)  # it logs a traceback for each lost connection
    with ExitStack() as stack:
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 10}))
        cluster: Any = address or stack.enter_context(
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]  # shipped without types
        )
        tries = 0
        while left:
            try:
                with Client(cluster, timeout=10) as client:  # type: ignore[no-untyped-call]
                    futures = {client.submit(chunk_file, matrix, left[at], pure=False): at for at in left}
                    for future in as_completed(futures):  # type: ignore[no-untyped-call]
                        chunk = futures.pop(future)
                        try:
                            yield chunk, future.result()
                        except KilledWorker:
                            yield chunk, carefully(matrix, left[chunk])
                        del left[chunk]
            except (OSError, CancelledError) as error:  # a lost connection
                tries += 1
                if tries > 5:
                    raise ConfigurationError(f"No scheduler at {address!r}: {error}.") from None


# The files.


def recorded(path: Path) -> dict[str, dict[str, list[float]]]:
    """The recorded durations of a file in seconds, by build, device and temperature, and by call.

    Raises:
        ParameterError: the file cannot be read.
    """
    from workbook.checks.timing.recorded import read_durations  # pandas

    found: dict[str, dict[str, list[float]]] = {}
    for call, took, device, build, cold in read_durations(path).itertuples(index=False):
        if call != "provision":  # that is the app's, and the handler's is in another call
            calls = found.setdefault(f"build {build} on {device}, {'cold' if cold else 'warm'}", {})
            calls.setdefault(call.partition("_add_")[0], []).append(took / 1000)
    return found


def file_ending() -> str:
    """How the rows are kept: in Parquet, or as JSON lines where pyarrow is not installed."""
    return "parquet" if find_spec("pyarrow") else "jsonl"


def content(rows: Sequence[Row]) -> bytes:
    """The bytes of a chunk's file."""
    if file_ending() == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {"number": pa.int64(), "added": pa.bool_(), "late": pa.bool_()} | dict.fromkeys(texts(), pa.string())
    schema = pa.schema([(name, kinds.get(name, pa.float64())) for name in rows[0]])
    file = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(rows, schema), file, compression="zstd")
    return file.getvalue()


def sweep(matrix: Matrix, out: Path, *, workers: int, scheduler: str | None = None) -> tuple[int, float]:
    """Play what is missing in this folder of a matrix; returns how many combinations were played, and the seconds.

    Args:
        matrix: says what.
        out: the folder; a chunk is a file in `rows` below it.
        workers: processes on this machine.
        scheduler: of Dask; empty starts a cluster on this machine, None takes processes without Dask.

    Raises:
        ConfigurationError: the folder holds the rows of another matrix, or cannot be written.
    """
    began, played = perf_counter(), 0
    numbers = array("q", matrix.numbers())
    folder, ending = prepared(matrix, out, len(numbers)), file_ending()
    chunks = {at: numbers[at * matrix.chunk :][: matrix.chunk] for at in range(-(-len(numbers) // matrix.chunk))}
    missing = {at: each for at, each in chunks.items() if not (folder / f"{at:06}.{ending}").exists()}
    done = len(numbers) - sum(map(len, missing.values()))
    files = (
        in_processes(matrix, missing, workers) if scheduler is None else on_dask(matrix, missing, scheduler, workers)
    )
    often = 0.5 if sys.stderr.isatty() else 30  # seconds
    with tqdm(total=len(numbers), initial=done, unit=" combinations", mininterval=often) as bar:
        for at, file in files:
            part = folder / f".{at:06}.{os.getpid()}.part"
            part.write_bytes(file)
            part.replace(folder / f"{at:06}.{ending}")
            played += len(chunks[at])
            bar.update(len(chunks[at]))
    return played, perf_counter() - began


def prepared(matrix: Matrix, out: Path, count: int) -> Path:
    """The folder of the rows, with a manifest of its matrix; the parts that a killed sweep left are removed.

    Raises:
        ConfigurationError: it holds the rows of another matrix, or cannot be written.
    """
    folder, file = out / "rows", out / "manifest.json"
    manifest = {"version": 1, "matrix": matrix.digest, "rows": count, "chunk": matrix.chunk, "files": file_ending()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(file.read_text("utf-8")) if file.exists() else None
        if known is None and any(folder.iterdir()):
            raise ConfigurationError(f"{str(folder)!r} holds other files. Name a new folder with --out.")
        if known not in (None, manifest):
            raise ConfigurationError(
                f"{str(out)!r} holds the rows of another matrix, or of other files ({known.get('files')}). Name a new "
                "folder with --out, or delete this one."
            )
        write_whole(file, json.dumps(manifest, indent=1) + "\n")
        for part in folder.glob(".*.part"):
            part.unlink()
    except (OSError, ValueError, AttributeError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"--out {str(out)!r} cannot be used: {error}.") from None
    return folder


# A back end of the integrator's own in a sweep: called with each fault, at a bounded rate, and its durations measured.
#
# They are real seconds and differ each time. So they have a file and a table of their own, outside the promise to the
# byte. What it takes where nothing fails is one more latency of the matrix. A second start reads the file, and so goes
# on with the same matrix.


def faults_of(matrix: Matrix) -> Iterator[tuple[str, str, str, str]]:
    """Each platform's app with each fault, operation and moment of a matrix, once."""
    found = dict.fromkeys(
        ("platform A" if c["platform"] == "a" else "platform B", c["fault"], c["operation"], c["moment"])
        for c in map(matrix.combination, matrix.numbers())
    )
    yield from found


def measured(file: Path, matrix: Matrix, out: Path, rate: float) -> dict[str, dict[str, list[float]]]:
    """The seconds of this back end's GETs and POSTs where nothing fails, by platform; it is called if it was not yet.

    Args and errors: as `_measure_back_end` has them.
    """
    rows = out / "back-end.csv"
    if not rows.exists():
        _measure_back_end(file, matrix, out, rate)
    found: dict[str, dict[str, list[float]]] = {}
    try:
        for row in csv.DictReader(rows.read_text("utf-8").splitlines()):
            if row["fault"] == "200" and row["answer"] == "200, an sdkInput":
                for platform in ("a",) if row["platform"] == "platform A" else ("b", "wallet"):
                    took = found.setdefault(platform, {}).setdefault(row["call"].lower(), [])
                    took.append(float(row["seconds"]))
    except (OSError, ValueError, KeyError) as error:
        raise ConfigurationError(
            f"{str(rows)!r} is no measurement ({error}). Delete it, or name a new --out."
        ) from None
    return found


def _measure_back_end(file: Path, matrix: Matrix, out: Path, rate: float) -> None:
    """Call the back end of this configuration, a GET and a POST with each fault, and write `back-end.csv`.

    Without a fault it is called ten times.

    Args:
        file: the configuration, as `workbook conform` takes it.
        matrix: says which platforms and faults.
        out: the folder.
        rate: calls a second, at most.

    Raises:
        StartError: it does not start.
        ConfigurationError: its configuration has mistakes.
    """
    config, rows = load_config(file), list[dict[str, Any]]()
    config = replace(config, target=replace(config.target, pace=max(config.target.pace, 1 / rate)))
    with ExitStack() as stack:
        stopping = stack.enter_context(Stopping())
        settings = config.api.model_dump() | {"key": config.key}
        api = stack.enter_context(MockApi(config.instruments, **settings))
        clean = Secrets.of_keys({api.key, *config.target.session_secrets()}).scrub
        launcher = Launcher(config, api, RunProgress(), stack, clean, known=False)
        runner, cards = CaseRunner(launcher.target, api, config.api.seed), config.target.cardholders[0].cards[:1]

        async def main() -> None:
            await launcher.ready(runner)
            faults = [each for each in faults_of(matrix) if each[0] in config.target.surfaces]
            wanted = [each for each in faults for _time in range(10 if each[1] == "200" else 1)]
            for platform, fault, operation, moment in tqdm(wanted, unit=" faults of the back end"):
                orders = () if fault == "200" else (Order(operation, fault=fault, moment=moment, nth=1),)
                script = replace(PLAIN_ATTEMPT.script, orders=orders)
                seen = await runner.run(replace(PLAIN_ATTEMPT, name="relay.sweep.call", script=script), cards, platform)
                faulted = {"platform": platform, "fault": fault, "operation": operation, "moment": moment}
                for call in seen.calls:
                    answer = call.broke.value or f"{call.status}, {'an' if call.value else 'no'} sdkInput"
                    rows.append({**faulted, "call": call.operation, "answer": answer, "seconds": f"{call.seconds:.4f}"})

        stopping.run(main)
        if stopping.asked:
            raise KeyboardInterrupt
    text = io.StringIO()
    columns = ["platform", "fault", "operation", "moment", "call", "answer", "seconds"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(out / "back-end.csv", text.getvalue())
