"""Thirty seats write to one board at once, which is killed again and again: nothing that it acknowledged is lost.

    python tests/bench/room.py [--seconds 600] [--seats 30]

Each seat sends one document after the other, each with one wrong answer more; a third of the seats write them into a
folder instead. After each `kill -9` the board is started again, on the same folder, and is asked for the room.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.support.seats import sent, work
from workbook.base.files import write_whole

PORT = 8765
SOONEST, LATEST = 1.0, 8.0
"""Seconds of writing before a board is killed."""


@contextmanager
def board(folder):
    """A board on the folder's history: its process and the trainer's token."""
    command = [sys.executable, "-m", "workbook", "course", "board", "--folder", str(folder / "copies")]
    command += ["--port", str(PORT), "--data", str(folder / "board")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, re.search("#(.+)", process.stdout.readline())[1]
        finally:
            process.kill()


class Seat(threading.Thread):
    """Sends or writes documents until it is told to stop; remembers the last one that was acknowledged."""

    def __init__(self, name, token, copy):
        super().__init__(daemon=True)
        self.seat, self.token, self.copy = name, token, copy
        self.tried = self.kept = 0
        self.took, self.refused = [], []
        self.stopping = threading.Event()

    def run(self):
        connection = HTTPConnection("127.0.0.1", PORT, timeout=30)
        while not self.stopping.wait(random.uniform(0, 0.1)):
            self.tried += 1
            body = sent(self.seat, "03.1", _03_1=work(last=10_000 - self.tried / 60, wrong={"form": self.tried}))
            if self.copy:
                write_whole(self.copy / "progress.json", body.decode())
                self.kept = self.tried
                continue
            began = time.perf_counter()
            try:
                connection.request("PUT", f"/seats/{self.seat}", body, {"Authorization": f"Bearer {self.token}"})
                answer = connection.getresponse()
                told = answer.read()
            except (OSError, HTTPException):
                connection.close()
                continue
            if (answer.status, json.loads(told)) == (200, {"newest": True}):
                self.kept = self.tried
                self.took.append(time.perf_counter() - began)
            else:
                self.refused.append((answer.status, told))


def room(trainer):
    """The wrong answers that the board knows of each seat."""
    connection = HTTPConnection("127.0.0.1", PORT, timeout=30)
    connection.request("GET", "/room", headers={"Authorization": f"Bearer {trainer}"})
    shown = json.loads(connection.getresponse().read())
    connection.close()
    assert not shown["unread"], shown["unread"]
    return {row["seat"]: row["wrong"] for row in shown["seats"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seats", type=int, default=30)
    options = parser.parse_args()
    moments, kills, checked = random.Random(7), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        copies = [folder / "copies" / f"seat-{n}" if n % 3 == 0 else None for n in range(options.seats)]
        for copy in filter(None, copies):
            copy.mkdir(parents=True)
        (folder / "copies").mkdir(exist_ok=True)
        with board(folder):
            token = json.loads((folder / "board" / "join.json").read_text())["token"]
        seats = [Seat(f"seat-{n}", token, copy) for n, copy in enumerate(copies)]
        for seat in seats:
            seat.start()
        until = time.monotonic() + options.seconds
        while time.monotonic() < until:
            with board(folder) as (process, trainer):
                time.sleep(moments.uniform(SOONEST, LATEST))
                process.kill()
                process.wait()
                acknowledged = {seat.seat: seat.kept for seat in seats if not seat.copy}
            kills += 1
            with board(folder) as (_process, again):
                assert again == trainer, "the restarted board has another token"
                known = room(trainer)
            lost = {name: (known.get(name), kept) for name, kept in acknowledged.items() if known.get(name, 0) < kept}
            assert not lost, f"(known, acknowledged): {lost}"
            checked += len(acknowledged)
        for seat in seats:
            seat.stopping.set()
        for seat in seats:
            seat.join()
        with board(folder) as (_process, trainer):
            with suppress(AssertionError):
                for _look in range(50):
                    time.sleep(0.2)
                    assert any(room(trainer)[seat.seat] < seat.kept for seat in seats if seat.copy)
            last = room(trainer)
    wrong = {seat.seat: (last.get(seat.seat), seat.kept, seat.tried) for seat in seats
             if not seat.kept <= last.get(seat.seat, -1) <= seat.tried}  # fmt: skip
    assert not wrong, f"(known, acknowledged, sent): {wrong}"
    took = sorted(second for seat in seats for second in seat.took)
    refused = [each for seat in seats for each in seat.refused]
    assert not refused, refused[:3]
    print(
        f"{kills} kills; {len(took):,} documents acknowledged over HTTP, {checked:,} checked after a kill, none lost;"
    )
    print(f"{sum(seat.kept for seat in seats if seat.copy):,} written into the folder, the last of each seat known")
    print(f"median {1000 * median(took):.1f} ms, 99 % {1000 * took[int(len(took) * 0.99)]:.1f} ms")


if __name__ == "__main__":
    main()
