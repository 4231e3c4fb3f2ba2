"""Thirty progress files, written by several kernels at once that are killed all the time: nothing is lost or damaged.

python tests/bench/progress.py [--seconds S] [--writers N] [--files N]

Each writer changes any of the files, and notes each change that it was told is kept. At the end every file must hold
what was noted, and at most one change more for each kill. Meanwhile every file is read again and again, as a board
does: it is always whole, and never goes back.
"""

import argparse
import collections
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from workbook.lessons.exercises.progress import PROGRESS, Progress, update

WRITER = """
import os, random, sys
from pathlib import Path
from workbook.lessons.exercises.judging import ExerciseState
from workbook.lessons.exercises.progress import update
noted = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
files, dice = sys.argv[2:], random.Random(sys.argv[1])
while True:
    number = dice.randrange(len(files))
    update(Path(files[number]), lambda progress: progress.note("03.1", ExerciseState.WRONG, "form"))
    os.write(noted, f"{number}\\n".encode())
"""


def started(folder, number, files):
    command = [sys.executable, "-c", WRITER, str(folder / f"noted-{number}"), *map(str, files)]
    return subprocess.Popen(command)


def attempts(path):
    own = Progress.read(path).exercises
    return own["03.1"].attempts if own else 0


def worked(folder, files, seconds, writers):
    """Write, kill and read until the time is over; the number of kills and of readings."""
    dice, kills, readings, seen = random.Random(7), 0, 0, collections.Counter()
    running = [started(folder, number, files) for number in range(writers)]
    ends, next_kill = time.monotonic() + seconds, time.monotonic() + 2
    while time.monotonic() < ends:
        path = files[readings % len(files)]
        now = attempts(path)
        assert now >= seen[path], f"{path} went back from {seen[path]} to {now}"
        seen[path], readings = now, readings + 1
        if time.monotonic() > next_kill:
            victim = dice.randrange(writers)
            assert running[victim].poll() is None, "a writer ended by itself"
            running[victim].send_signal(signal.SIGKILL)
            running[victim].wait()
            kills += 1
            running[victim] = started(folder, writers + kills, files)
            next_kill = time.monotonic() + dice.uniform(0.2, 1.0)
        time.sleep(0.005)
    for process in running:
        process.kill()
        process.wait()
    return kills + writers, readings


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--files", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        files = [folder / f"seat-{number:02}" / PROGRESS for number in range(options.files)]
        for path in files:
            path.parent.mkdir()
            update(path, lambda progress: progress)
        kills, readings = worked(folder, files, options.seconds, options.writers)
        noted = collections.Counter(line for one in folder.glob("noted-*") for line in one.read_text().split())
        more = 0
        for number, path in enumerate(files):
            kept, told = attempts(path), noted[str(number)]
            assert told <= kept <= told + kills, f"{path.parent.name}: {told} were told as kept, {kept} are"
            more += kept - told
            update(path, lambda progress: progress)
            assert sorted(each.name for each in path.parent.iterdir()) == [f".{PROGRESS}.lock", PROGRESS]
        assert more <= kills, f"{more} changes that nobody was told of, after {kills} kills"
        total = sum(noted.values())
        assert total > options.seconds, "hardly anything was written"
        print(f"{len(files)} files, {total} changes told as kept in {options.seconds:g} s, {kills} kills, "
              f"{readings} readings: nothing lost, nothing damaged, {more} kept without having been told")  # fmt: skip


if __name__ == "__main__":
    main()
