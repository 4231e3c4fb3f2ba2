"""What the planner does in a second, and how true `measure` is. Nothing here passes or fails.

    python tests/bench/timing.py

`measure` is held against a call that waits, busily, until a clock of its own says that 100 ms have passed: the
error is what it reports beyond that. Each figure stands as a ratio to something measured in the same run, too.
"""

import statistics
import time

import numpy as np

from workbook.checks.timing.measured import measure
from workbook.checks.timing.planner import LogNormal, Plan
from workbook.play.extension.handler import ReferenceHandler

LATENCY = LogNormal(median=0.6, p99=4.0)
CALLS = 1_000_000
LIMIT = 0.1
PLANS = {
    "one by one": Plan(LATENCY),
    "one by one, timeout, 2 retries": Plan(LATENCY, timeout=1.5, retries=2),
    "concurrent": Plan(LATENCY, gets="concurrent"),
}


def seconds(call):
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def planner():
    """Calls of ten cards a second, and the time against that of drawing as many latencies and nothing else."""
    bare = statistics.median(seconds(lambda: LATENCY.draw(np.random.default_rng(7), (10, CALLS))) for _ in range(5))
    for name, plan in PLANS.items():
        took = statistics.median(seconds(plan.simulate) for _ in range(5))
        print(f"planner, {name:<31} {CALLS / took:>12,.0f} calls/s   {took / bare:.2f} of drawing alone")


def busy():
    until = time.perf_counter_ns() + int(LIMIT * 1e9)
    while time.perf_counter_ns() < until:
        pass


class Busy(ReferenceHandler):
    def status(self):
        busy()


def error():
    """What `measure` reports beyond 100 ms, against the same waits timed by hand, in turn."""
    found = measure(Busy, cold=20, warm=100, at_most=60.0)
    hand = [seconds(busy) for _ in range(100)]
    for name, took in {"cold": found.cold, "warm": found.warm, "by hand": hand}.items():
        beyond = sorted(one - LIMIT for one in took)
        middle, late = statistics.median(beyond), beyond[-(-99 * len(beyond) // 100) - 1]
        share = f"{middle / LIMIT:.6%} and {late / LIMIT:.6%} of the limit"
        figures = f"median +{middle * 1e6:.1f} us, 99th percentile +{late * 1e6:.1f} us"
        print(f"measure at 100 ms, {name:<8} {figures}   {share}")
    print(f"measure, {found.instrument.text}")


if __name__ == "__main__":
    planner()
    error()
