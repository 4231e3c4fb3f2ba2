"""Plays the combinations of a sweep on an executor, keeps a row of each, and sums the rows up by kind of failure.

A row fails if it shows a finding, or lacks a card, that the ordinary choices do not show or lack in the same
surroundings. So a fault of the API fails no app that copes with it as well as the ordinary one.

The rows are kept as one file of JSON lines a chunk, written whole. A chunk is decided by the matrix alone, and its
bytes by its rows. So it does not matter who plays it, when, or how often: a sweep that was killed goes on with the
chunks that are missing, and ends in the same files.

The smallest combination is tried, not guessed: a row of the kind is played again with each value made ordinary, as
long as it shows the kind. What is left is what the failure needs.
"""

import faulthandler
import json
import multiprocessing
import os
import re
import signal
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, redirect_stdout, suppress
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import monotonic, perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from tqdm import tqdm

from workbook.api.exchange import Timeouts
from workbook.base.children import guarded_children
from workbook.base.files import write_all, write_whole
from workbook.base.terminal import end_with_parent
from workbook.checks import Severity, check
from workbook.checks.own_code import API_ERRORS
from workbook.errors import ConfigurationError
from workbook.flows.trace import Trace
from workbook.flows.variants import VARIANTS_A, VARIANTS_B
from workbook.lessons.run import Run, run_of, screen_of
from workbook.play.back_end import BackEnd, Network, back_end_over, simulated_back_end
from workbook.play.mistakes import AUTHORIZATIONS, HANDLERS
from workbook.play.own_code import BACK_END_WAIT, PATIENCE, exception_words
from workbook.play.platform_a import AppA, PlatformARun
from workbook.play.platform_b import PlatformBRun, app_named
from workbook.play.wallet_app import WalletApp
from workbook.simulation.faults import FaultPlan, Planned, fault
from workbook.simulation.phones import NEVER_OPENED, PHONES_A, PHONES_B, WALLETS, PhoneB
from workbook.simulation.service import Service
from workbook.simulation.world import SIMULATED_CARDS, Instrument, World
from workbook.tools.harness.model import Verdict
from workbook.tools.harness.report import About, CaseRecord, RunRecord, to_json
from workbook.tools.sweep.matrix import DIMENSIONS, Combination, Matrix, choices, from_spec, imported, ordinary, spec
from workbook.views.templates import fill, page

Loop = PlatformARun | PlatformBRun | WalletApp
# The kind of failure of code after which there is nobody to say more.
EXITED = "Its process ended: by os._exit, in a crash of a library, or because a call into C held Python for too long."
# The columns of a row: the combination's number and values, and what came of it.
Row = dict[str, Any]


@lru_cache(maxsize=256)
def _world(card: str, cards: int, seed: int) -> tuple[World, tuple[str, ...]]:
    """What the API knows, and the ids of the cardholder's cards, the one that is added first."""
    ids = [f"PISIMULATED{number:014d}" for number in range(1, max(cards, 3) + 1)]
    first = ids.pop({"second": 1, "third": 2}.get(card, 0))
    held = (first, *ids[: cards - 1])
    known = dict(SIMULATED_CARDS) | {each: Instrument(each, last_four=each[-4:]) for each in held}
    if card in ("inactive", "suspended", "closed"):
        known[first] = replace(known[first], status=card)
    elif card == "bankAccount":
        known[first] = replace(known[first], type=card)
    elif card == "of another wallet":
        known[first] = replace(known[first], supported_wallets=())
    elif card == "unknown":
        del known[first]
    return World(MappingProxyType(known), seed=seed), held


def _back_end(c: Combination, world: World, card: str, phone: Any) -> BackEnd:
    """The back end of a combination; one that has nothing to stand is called without HTTP, which is faster."""
    takes = {"GET": phone.latencies.get, "POST": phone.latencies.post}
    limits = Timeouts()
    faulted = c["fault"] != "200"
    if c["back_end"] == "good" and not faulted and takes["GET"] < limits.get and takes["POST"] < limits.read:
        return simulated_back_end(world)
    planned = [Planned(fault(c["fault"]), c["operation"], card, 1, None, c["moment"])] if faulted else []  # type: ignore[arg-type]
    return back_end_over(c["back_end"], Network(Service(world, FaultPlan(planned, int(c["seed"]))), takes))


def loop_of(c: Combination) -> tuple[Loop, str]:
    """The loop of a combination, before its first step, and the id of the card that is added.

    Raises:
        ParameterError: the SDK cannot call code of the integrator's own.
    """
    platform = c["platform"]
    seed = int(c["seed"])
    world, cards = _world(c["card"], int(c.get("cards", "1")), seed)
    table: Mapping[str, Callable[[str], Any]] = {"a": PHONES_A, "b": PHONES_B, "wallet": WALLETS}[platform]
    phone = table[c["phone"]](cards[0])
    if c["latency"] != "usual":
        phone.latencies = replace(phone.latencies, get=float(c["latency"]), post=float(c["latency"]))
    back_end = _back_end(c, world, cards[0], phone)
    if platform == "a":
        variant = VARIANTS_A[c["variant"]]
        variant = variant if c["guarded"] == "yes" else replace(variant, guarded=False)
        fetch_opc = imported("app", c["app"]) if ":" in c["app"] else None
        app = AppA(fetch_opc=fetch_opc)
        return PlatformARun(variant, cards[0], phone=phone, app=app, back_end=back_end, seed=seed), cards[0]
    phone.seed = seed
    flow = VARIANTS_B[c["variant"]]
    if platform == "b":
        delegate = imported("app", c["app"])() if ":" in c["app"] else None
        flow, app_b = app_named("good" if delegate else c["app"], flow, delegate)
        return PlatformBRun(flow, cards[0], phone=phone, app=app_b, back_end=back_end), cards[0]
    if c["phone"] != NEVER_OPENED:
        _open(phone, cards, world)
    wallet = WalletApp(
        imported("handler", c["handler"]) if ":" in c["handler"] else HANDLERS[c["handler"]],
        flow,
        surface=c["surface"],
        phone=phone,
        authorization=AUTHORIZATIONS[c["authorization"]],
        cards=cards,
        back_end=back_end,
    )
    return wallet, cards[0]


def _open(phone: PhoneB, cards: tuple[str, ...], world: World) -> None:
    """The cardholder opens each card's page, so that the app saves its sdkInput (X-CACHE-1)."""
    for card in cards:
        PlatformBRun(payment_instrument_id=card, phone=phone, back_end=simulated_back_end(world)).open()


def walk(loop: Loop, c: Combination, patience: float = BACK_END_WAIT) -> None:
    """Play the loop of a combination to its end: the cardholder goes on as far as possible, with this `patience`."""
    token = PATIENCE.set(patience)
    try:
        if isinstance(loop, PlatformARun) and c["taps"] != "1":
            loop.open()
            if loop.button == "shown":
                loop.tap(int(c["taps"]))
        else:
            loop.walk()
    finally:
        PATIENCE.reset(token)
        faulthandler.cancel_dump_traceback_later()


class Outcome(NamedTuple):
    """What came of a combination.

    Attributes:
        state: of the flow at its end.
        added: the card is on the phone or on the watch.
        found: what the checks find that has to be done something about, each in words that repeat no figure.
        ended: virtual seconds until the end.
    """

    state: str
    added: bool = False
    found: tuple[str, ...] = ()
    ended: float = 0.0


def play_out(c: Combination, patience: float = BACK_END_WAIT) -> Outcome:
    """Play a combination and check its trace; code that cannot be played is an outcome, too."""
    try:
        loop, card = loop_of(c)
        walk(loop, c, patience)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the integrator's code may raise anything
        return Outcome("broke off", found=(f"it raised {exception_words(error)}",))
    watch = getattr(loop.phone, "watch", None)
    added = card in loop.phone.cards or (watch is not None and card in watch.cards)
    return Outcome(str(loop.state), added, (*_found(loop.trace),), loop.trace[-1].at)


def _found(trace: Trace) -> Iterator[str]:
    for finding in check(trace):
        if finding.level is not Severity.NOTE:
            failed = re.search(r"Your (?:fetchOpc|provision)\(\) failed: (\w+)", finding.text)
            if failed and failed[1] in API_ERRORS:
                continue  # the app hands on a failure of the API as a failure, as well as it can be done
            # two rows with other seconds or another card show the same kind
            text = re.sub(r"(?<=Error): (GET|POST) .*?(?=\. [\w.]+, line |$)", "", finding.text)
            text = re.sub(r"\b\d[\d.,]*(?= (s|ms|µs|%)\b)", "…", re.sub(r"PISIMULATED\d+", "the card", text))
            yield f"{finding.rule}: {text}"


class Player:
    """Plays combinations of one matrix; those that share their surroundings are compared with one reference."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self._reference = "", Outcome("")

    def failures(self, c: Combination, mine: Outcome) -> tuple[str, ...]:
        """What the integrator's choices add in these surroundings, a kind of failure each."""
        usual = ordinary(c["platform"])
        good = {name: usual.get(name, value) if name in choices() else value for name, value in c.items()}
        if good == c:
            return ()
        surroundings = spec(good)
        if self._reference[0] != surroundings:
            self._reference = surroundings, play_out(good)
        reference = self._reference[1]
        new = tuple(dict.fromkeys(kind for kind in mine.found if kind not in reference.found))
        lost = reference.added and not mine.added
        return new or ((f"The card is not added: {mine.state!r} in place of {reference.state!r}.",) if lost else ())

    def row(self, number: int, c: Combination) -> Row:
        """The row of a combination."""
        mine = play_out(c, self.patience)
        return row_of(number, c, mine, self.failures(c, mine))


def row_of(number: int, c: Combination, mine: Outcome, failures: tuple[str, ...]) -> Row:
    """A row from its parts; several findings or failures are lines of one cell."""
    return {
        "number": number,
        **{name: c.get(name, "") for name in DIMENSIONS},
        "outcome": mine.state,
        "added": mine.added,
        "ended": mine.ended,
        "found": "\n".join(mine.found),
        "failure": "\n".join(failures),
    }


def replayed(line: str) -> Run:
    """One combination as a run for a notebook, from the line that `workbook sweep` printed.

    Raises:
        ParameterError: it is no such line, or a name or a value is unknown.
    """
    combination = from_spec(line)
    loop, card = loop_of(combination)
    before = screen_of(loop.phone, combination.get("surface", "phone"))
    walk(loop, combination)
    return run_of(loop, before, card)


T = TypeVar("T")
# The numbers of a chunk's combinations.
Numbers = Sequence[int]
# Files of rows that a short sweep is divided into, so that each worker has one.
PARTS = 64
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
    context = multiprocessing.get_context("spawn")
    with guarded_children(), ProcessPoolExecutor(workers, context, _begin_worker, ([*sys.path],)) as pool:
        try:
            yield pool
        except BaseException:  # nobody waits any more for what is under way
            for process in multiprocessing.active_children():
                process.kill()
            raise


def _begin_worker(path: Sequence[str]) -> None:
    """A worker leaves Ctrl-C to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path

    def follow_parent() -> None:
        if (parent := multiprocessing.parent_process()) is not None:
            parent.join()
            os._exit(1)

    (end_with_parent() or int)()  # also where code holds the interpreter, so that no thread of ours can run
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
    rows: list[Row] = []
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
    size = min(matrix.chunk, -(-len(numbers) // PARTS))
    chunks = {at: numbers[at * size :][:size] for at in range(-(-len(numbers) // size))}
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
    """The folder of the rows, with a manifest of its matrix; rows of other code are removed.

    Raises:
        ConfigurationError: it holds the rows of another matrix, or cannot be written.
    """
    folder = out / "rows"
    file = out / "manifest.json"
    manifest = {"version": 3, "matrix": matrix.digest, "rows": count, "code": code_digest(matrix)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        known = json.loads(file.read_text("utf-8")) if file.exists() else None
        others = any(folder.iterdir()) if known is None else known | {"code": manifest["code"]} != manifest
        if not others and known != manifest:
            for rows in folder.glob("*.jsonl"):
                rows.unlink()
            write_whole(file, json.dumps(manifest, indent=1) + "\n")
    except (OSError, ValueError, TypeError) as error:
        raise ConfigurationError(f"--out {str(out)!r} cannot be used: {error}.") from None
    if others:
        raise ConfigurationError(f"{str(out)!r} holds the rows of another matrix. Name a new folder with --out.")
    return folder


def code_digest(matrix: Matrix) -> str:
    """What distinguishes the code that plays: the workbook's, and one's own with what lies or was loaded beside it.

    Raises:
        ParameterError: the matrix names code that cannot be imported.
    """
    choices = [axes.get(each, ()) for axes in matrix.axes.values() for each in ("app", "handler")]
    named = {name for names in choices for name in names if ":" in name}
    own = {name.partition(":")[0] for name in named if imported("The matrix", name)}
    loaded = {name: Path(file) for name, each in sys.modules.items() if (file := getattr(each, "__file__", None))}
    folders = {loaded[name].parent for name in own if name in loaded}
    beside = {file for file in loaded.values() if folders & {*file.parents} and "site-packages" not in file.parts}
    sources = beside.union(*(folder.glob("*.py") for folder in folders), Path(__file__).parents[2].rglob("*.*"))
    digest = sha256()
    for file in sorted(file for file in sources if file.suffix in (".py", ".toml", ".json")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


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


def explain_kinds(kinds: Mapping[str, Sequence[int]], matrix: Matrix) -> list[dict[str, Any]]:
    """Each kind of failure as `sweep.json` has it, the most frequent first.

    Args:
        kinds: the numbers of the combinations that show each kind.
        matrix: of them.
    """
    frequent = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    document: list[dict[str, Any]] = [
        {"kind": kind, "rows": len(numbers), "smallest": {}, "replay": ""} for kind, numbers in frequent
    ]
    for entry in document[:MOST_EXPLAINED]:
        c = find_smallest(entry["kind"], matrix.combination(kinds[entry["kind"]][0]), matrix.patience)
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
    outcomes = Counter[str]()
    numbers: dict[str, array[int]] = {}  # of the combinations that show each kind of failure
    failed = 0
    for row in read_rows(out):
        outcomes[row["outcome"]] += 1
        failed += bool(row["failure"])
        for kind in filter(None, row["failure"].split("\n")):
            numbers.setdefault(kind, array("q")).append(row["number"])
    kinds = explain_kinds(numbers, matrix)
    document = {
        "matrix": matrix.digest,
        "rows": outcomes.total(),
        "failed": failed,
        "outcomes": dict(sorted(outcomes.items())),
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
        cases.append(CaseRecord(failure["kind"], Verdict.FAIL, why=why))
    digest = document["matrix"]
    rows = str(document["rows"])
    about = About(
        program="workbook sweep",
        facts={"matrix": digest[:12], "combinations": rows},
        tried=f"{digest} {rows}",
    )
    return RunRecord(about, tuple(cases), document)
