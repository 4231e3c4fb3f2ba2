"""The rows of a sweep are the same to the byte, whoever plays them and however often it was killed."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

import distributed
import psutil
import pytest
from distributed.scheduler import KilledWorker

from workbook.errors import ConfigurationError
from workbook.tools.sweep import workers
from workbook.tools.sweep.matrix import read_matrix
from workbook.tools.sweep.summary import read_rows
from workbook.tools.sweep.workers import chunk_file, chunk_rows, content, prepared, recorded, sweep

ROOT = Path(__file__).parents[3]


def rows(folder):
    return {path.name: path.read_bytes() for path in (folder / "rows").iterdir()}


def here(matrix, chunks, _workers):
    """In place of processes: this one."""
    return ((at, chunk_file(matrix, numbers)) for at, numbers in reversed(chunks.items()))


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(workers, "in_processes", here)


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_a_second_start_plays_only_what_is_missing(own_code, quick, monkeypatch, capsys, ending):
    monkeypatch.setattr(workers, "file_ending", lambda: ending)
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:good")
    assert sweep(matrix, own_code / "one", workers=1)[0] == 2 * 2 * 3 * 7
    whole = rows(own_code / "one")
    assert {Path(name).suffix for name in whole} == {f".{ending}"}
    (own_code / "one" / "rows" / f"000001.{ending}").unlink()
    (own_code / "one" / "rows" / ".000002.1.part").write_text("half a ro")  # a kill left it
    assert sweep(matrix, own_code / "one", workers=1)[0] == 20
    assert rows(own_code / "one") == whole
    capsys.readouterr()
    assert sweep(matrix, own_code / "one", workers=1)[0] == 0
    assert "84/84 [" in (told := capsys.readouterr().err)
    assert "combinations/s" in told
    manifest = {"version": 1, "matrix": matrix.digest, "rows": 84, "chunk": 20, "files": ending}
    assert json.loads((own_code / "one" / "manifest.json").read_text()) == manifest
    frame = read_rows(own_code / "one")
    assert len(frame) == 84
    assert (frame["failure"] == "").all()


def test_the_folder_of_another_matrix_is_refused(tmp_path):
    matrix = read_matrix(None)
    prepared(matrix, tmp_path, 5)
    prepared(matrix, tmp_path, 5)
    with pytest.raises(ConfigurationError, match="another matrix"):
        prepared(read_matrix(None, limit=9), tmp_path, 5)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(ConfigurationError, match="cannot be used"):
        prepared(matrix, tmp_path, 5)
    with pytest.raises(ConfigurationError, match=r"^--out '.*manifest\.json' cannot be used: "):
        prepared(matrix, tmp_path / "manifest.json", 5)
    (tmp_path / "manifest.json").unlink()
    (tmp_path / "rows" / "notes.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="holds other files"):
        prepared(matrix, tmp_path, 5)


def test_recorded_durations_become_a_dimension(tmp_path):
    file = tmp_path / "measured.csv"
    file.write_text("call,duration_ms,device,build,cold\nstatus,150,phone,7,true\npass_entries,900,phone,7,true\n")
    durations = recorded(file)
    assert durations == {"build 7 on phone, cold": {"status": [0.15], "pass_entries": [0.9]}}
    matrix = read_matrix(None, durations=durations)
    combination = next(c for n in matrix.numbers() if (c := matrix.combination(n))["platform"] == "wallet")
    assert combination["status"] == "0.15"


@pytest.mark.slow
def test_code_that_ends_its_process_costs_the_row_in_which_it_does(own_code):
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:exits")
    chunks = {0: [*matrix.numbers()][:24]}
    ((_at, file),) = workers.in_processes(matrix, dict(chunks), 2)
    (own_code / "rows").mkdir()
    (own_code / "rows" / "000000.parquet").write_bytes(file)
    found = read_rows(own_code)
    assert [*found["number"]] == chunks[0]
    assert 0 < (found["outcome"] == "exited").sum() < 24
    exited = found["outcome"] == "exited"
    assert {*found["card"][exited]} == {"second"}
    assert {*found["failure"][exited]} == {"It ended the process, as os._exit or a crash of a library does."}


def test_code_that_hangs_or_exits_the_interpreter_becomes_a_row(own_code):
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:hangs", patience=0.1)
    second = [n for n in matrix.numbers() if matrix.combination(n)["card"] == "second"][:1]
    (row,) = chunk_rows(matrix, second)
    assert "fetchOpc() had not ended" in row["failure"]
    matrix = read_matrix(own_code / "matrix.toml", app="planted_code:Delegate")
    earlier = [n for n in matrix.numbers() if matrix.combination(n)["variant"] == "earlier"][:1]
    (row,) = chunk_rows(matrix, earlier)
    assert row["failure"] == "it raised SystemExit"


MAIN = """
import sys
from pathlib import Path
from workbook.tools.sweep.matrix import read_matrix
from workbook.tools.sweep.workers import sweep
if __name__ == "__main__":
    sweep(read_matrix(Path(sys.argv[1])), Path(sys.argv[2]), workers=1)
"""


@pytest.mark.slow
def test_a_killed_sweep_goes_on_and_ends_in_the_same_bytes(own_code, tmp_path, quick):
    program, file, killed = tmp_path / "main.py", own_code / "matrix.toml", tmp_path / "killed"
    program.write_text(MAIN)
    matrix = read_matrix(file)
    command = [sys.executable, str(program), str(file), str(killed)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    until = monotonic() + 60
    while not [*killed.glob("rows/0*")] and monotonic() < until:
        sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = len(rows(killed))
    sweep(matrix, tmp_path / "whole", workers=1)
    assert 0 < done < len(rows(tmp_path / "whole"))
    played, _seconds = sweep(matrix, killed, workers=1)
    assert 0 < played < json.loads((killed / "manifest.json").read_text())["rows"]
    assert rows(killed) == rows(tmp_path / "whole")


def test_the_bytes_of_a_file_depend_on_its_rows_alone(own_code):
    matrix = read_matrix(own_code / "matrix.toml", handler="planted_code:Handler")
    found = chunk_rows(matrix, [*matrix.numbers()][:3])
    assert content(found) == content([dict(row) for row in found]) == chunk_file(matrix, [*matrix.numbers()][:3])


@pytest.mark.slow
def test_two_dask_workers_of_which_one_is_killed_make_the_same_bytes(own_code, quick):
    file, dask = own_code / "matrix.toml", own_code / "dask"
    program = own_code / "main.py"
    program.write_text(MAIN.replace("workers=1", "workers=2, scheduler=''"))
    process = subprocess.Popen(
        [sys.executable, str(program), str(file), str(dask)], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    until = monotonic() + 60
    while not [*dask.glob("rows/0*")] and monotonic() < until:
        sleep(0.02)
    spawned = psutil.Process(process.pid).children(recursive=True)
    next(each for each in spawned if "spawn_main" in " ".join(each.cmdline())).kill()
    assert process.wait(timeout=60) == 0
    sweep(read_matrix(file), own_code / "whole", workers=1)
    assert rows(dask) == rows(own_code / "whole")


@pytest.fixture
def started():
    """Starts a program of Dask; what still runs is killed in the end."""
    running = []

    def start(*words):
        command = [sys.executable, "-m", "dask", *words]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def port():
    """A free one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return str(free.getsockname()[1])


SLOW = """
import pathlib, time
from workbook.tools.sweep import workers
quick = workers.quick = getattr(workers, "quick", workers.chunk_file)  # Dask loads this twice
def chunk_file(*words):
    time.sleep(0.3)
    file = quick(*words)
    with pathlib.Path("TOLD").open("a") as told:
        told.write("one\\n")
    return file
workers.chunk_file = chunk_file
"""


@pytest.mark.slow
def test_a_slow_worker_and_one_that_stands_still_for_a_while_lose_and_double_nothing(own_code, quick, started, port):
    matrix, far, address = read_matrix(own_code / "matrix.toml"), own_code / "far", f"tcp://127.0.0.1:{port}"
    (own_code / "slow.py").write_text(SLOW.replace("TOLD", str(own_code / "slow.txt")))
    started("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
    usual = ["worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    started(*usual, "--preload", str(own_code / "slow.py"))
    stands_still = started(*usual)
    client = Thread(target=lambda: sweep(matrix, far, workers=1, scheduler=address))
    client.start()
    while client.is_alive() and not [*far.glob("rows/0*")]:
        sleep(0.02)
    stands_still.send_signal(signal.SIGSTOP)
    sleep(2)
    stands_still.send_signal(signal.SIGCONT)
    client.join(120)
    sweep(matrix, own_code / "whole", workers=1)
    assert 0 < len((own_code / "slow.txt").read_text().splitlines()) < len(rows(own_code / "whole"))
    assert rows(far) == rows(own_code / "whole")


@pytest.mark.slow
def test_a_client_whose_scheduler_and_worker_end_goes_on_with_the_next(own_code, quick, started, port, capfd):
    matrix, far, address = read_matrix(own_code / "matrix.toml"), own_code / "far", f"tcp://127.0.0.1:{port}"

    def cluster():
        scheduler = started("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard")
        return scheduler, started("worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard")

    first, played = cluster(), []
    client = Thread(target=lambda: played.append(sweep(matrix, far, workers=1, scheduler=address)))
    client.start()
    while client.is_alive() and not [*far.glob("rows/0*")]:
        sleep(0.02)
    for process in first:
        process.kill()
        process.wait()
    done = len(rows(far))
    cluster()
    client.join(120)
    sweep(matrix, own_code / "whole", workers=1)
    assert 0 < done < len(rows(own_code / "whole"))
    assert rows(far) == rows(own_code / "whole")
    assert "Traceback" not in capfd.readouterr().err


class Gone:
    """A cluster of Dask whose workers end with each chunk that they take."""

    def __init__(self, *_given, **_named):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        pass

    def submit(self, *_given, **_named):
        return Gone()

    def result(self):
        raise KilledWorker("a chunk", "a worker", 11)


def test_a_chunk_that_ends_each_worker_is_played_here(own_code, monkeypatch):
    monkeypatch.setattr(distributed, "Client", Gone)
    monkeypatch.setattr(distributed, "as_completed", lambda futures: [*futures])
    monkeypatch.setattr(workers, "carefully", chunk_file)
    matrix = read_matrix(own_code / "matrix.toml")
    chunks = {0: [*matrix.numbers()][:2], 1: [*matrix.numbers()][2:4]}
    left = dict(chunks)
    assert [*workers.on_dask(matrix, left, "tcp://127.0.0.1:1", 1)] == [*here(matrix, chunks, 1)][::-1]
    assert left == {}


@pytest.mark.slow
def test_workers_end_with_a_sweep_that_is_killed(own_code):
    program = own_code / "main.py"
    program.write_text(MAIN.replace("workers=1", "workers=2"))
    command = [sys.executable, str(program), str(own_code / "matrix.toml"), str(own_code / "out")]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    until = monotonic() + 60
    while not [*own_code.glob("out/rows/0*")] and monotonic() < until:
        sleep(0.02)
    spawned = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(spawned) > 2
    _gone, alive = psutil.wait_procs(spawned, timeout=20)
    assert alive == []


@pytest.mark.slow
def test_a_scheduler_that_is_not_there_is_told(own_code, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    client = distributed.Client
    monkeypatch.setattr(distributed, "Client", lambda address, timeout: client(address, timeout=timeout / 100))
    with pytest.raises(ConfigurationError, match=f"No scheduler at '{address}'"):
        [*workers.on_dask(read_matrix(None), {0: [1]}, address, 1)]
