"""A sweep under load: killed, and on Dask with workers killed.

python tests/bench/sweep.py [NAME ...] [--combinations N]
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from distributed import LocalCluster

ROOT = Path(__file__).parents[2]
SEED = 7


def of_size(folder, combinations):
    """A matrix of about so many: platforms, phones, faults by operation and moment, and seeds."""
    kinds = 'platform = ["a", "b"]\nvariant = "all"\nfault = ["200", "reset", "503 that says 500", "sdkInput empty"]\n'
    kinds += 'operation = ["GET", "POST"]\nmoment = ["before", "after"]\nback_end = ["good", "sends the POST again"]\n'
    path = Path(folder) / "matrix.toml"
    path.write_text(f"{kinds}seeds = {max(1, combinations // 104)}\n")
    return path


def command(matrix, out, *words):
    return [sys.executable, "-m", "workbook", "sweep", str(matrix), "--out", str(out), "--workers", "2", *words]


def rows(out):
    return {path.name: path.read_bytes() for path in (out / "rows").glob("[0-9]*")}


def killed(folder, combinations):
    """Killed three times and finished: the same bytes as one that was not."""
    matrix, chance = of_size(folder, combinations), random.Random(SEED)
    began = time.monotonic()
    whole = subprocess.run(command(matrix, Path(folder) / "whole"), cwd=ROOT, stderr=subprocess.DEVNULL, check=False)
    took, stopped = time.monotonic() - began, 0
    for _ in range(3):
        process = subprocess.Popen(command(matrix, Path(folder) / "killed"), cwd=ROOT, stderr=subprocess.DEVNULL)
        try:
            process.wait(timeout=took * chance.uniform(0.1, 0.3))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            stopped += 1
            process.wait()
    last = subprocess.run(command(matrix, Path(folder) / "killed"), cwd=ROOT, stderr=subprocess.DEVNULL, check=False)
    same = rows(Path(folder) / "whole") == rows(Path(folder) / "killed")
    assert same, "the files differ"
    assert stopped == 3
    assert whole.returncode == last.returncode == 1  # the back end that sends the POST again is found
    return (
        f"{len(rows(Path(folder) / 'whole'))} files the same",
        f"killed {stopped} times; unstopped it took {took:.0f} s",
    )


def dask(folder, combinations):
    """On two Dask workers, one killed each 10 s: the same bytes as in processes."""
    matrix = of_size(folder, combinations)
    subprocess.run(command(matrix, Path(folder) / "whole"), cwd=ROOT, stderr=subprocess.DEVNULL, check=False)
    chance, kills = random.Random(SEED), 0
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        on_it = command(matrix, Path(folder) / "dask", "--scheduler", cluster.scheduler_address)
        process = subprocess.Popen(on_it, cwd=ROOT, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                nannied = [child for child in psutil.Process().children(recursive=True) if is_worker(child)]
                if nannied:
                    os.kill(chance.choice(nannied).pid, signal.SIGKILL)
                    kills += 1
    assert rows(Path(folder) / "whole") == rows(Path(folder) / "dask"), "the files differ"
    return f"{len(rows(Path(folder) / 'dask'))} files the same", f"{kills} workers killed"


def is_worker(process):
    """Whether it is one of Dask's workers: its command line is that of a spawned process."""
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def main():
    parser = argparse.ArgumentParser()
    known = {each.__name__: each for each in (killed, dask)}
    parser.add_argument("names", nargs="*", choices=[*known, []])
    parser.add_argument("--combinations", type=int, default=20_000)
    options = parser.parse_args()
    for name in options.names or known:
        with tempfile.TemporaryDirectory() as folder:
            figure, detail = known[name](folder, options.combinations)
        print(f"{name:<10} {figure:>24}  {detail}\n{'':<36} {known[name].__doc__}", flush=True)


if __name__ == "__main__":
    main()
