"""Repeats of all cases against the relay worth copying, to see whether any of them is a matter of chance.

    python tests/bench/conform.py [--repeats 100] [--relay Relay] [--deadline 1.5] [--bound 3.5]

It ends by itself. Every verdict that is not a pass is told with what was observed; there should be none.
"""

import argparse
import statistics
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "fixtures" / "back_ends")]

import relays  # noqa: E402  # found beside the tests

from workbook.tools.harness.model import Verdict  # noqa: E402  # found beside the tests


def turn(number, options):
    """One run of every case; the names of those that did not pass."""
    began = time.monotonic()
    found = relays.results(options.relay, deadline=options.deadline, bound=options.bound)
    took = time.monotonic() - began
    others = [one for one in found if one.verdict is not Verdict.PASS]
    print(f"{number:>4}: {len(found) - len(others)} of {len(found)} passed in {took:.1f} s", flush=True)
    for one in others:
        told = "; ".join(f"{miss.expected}, but {miss.observed}" for miss in one.misses) or one.why
        print(f"      {one.case.name}: {one.verdict}: {told}", flush=True)
    return took, [one.case.name for one in others]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--relay", default=relays.REFERENCE)
    parser.add_argument("--deadline", type=float, default=1.5)
    parser.add_argument("--bound", type=float, default=3.5)
    options = parser.parse_args()
    turns = [turn(number, options) for number in range(1, options.repeats + 1)]
    flaky = Counter(name for _took, names in turns for name in names)
    print(f"{len(turns)} runs, {sum(flaky.values())} verdicts that are no pass: {dict(flaky)}")
    print(f"a run took {statistics.median(took for took, _names in turns):.1f} s in the middle")
    return bool(flaky)


if __name__ == "__main__":
    sys.exit(main())
