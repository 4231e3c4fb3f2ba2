"""Signals at random moments to every command: no process left, no half-written file, the documented exit code.

    python tests/bench/signals.py [--count 300] [--command NAME] [--from N]

It takes about a quarter of an hour, prints what is wrong, and ends with 1 where anything is.
"""

import argparse
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[2])]

import signals  # noqa: E402  # found beside the tests


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--command", choices=signals.COMMANDS, action="append")
    parser.add_argument("--from", type=int, default=0, dest="first", help="number of the first signal of each command")
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGHUP):  # a shell's & and nohup ignore them, and a child inherits that
        signal.signal(number, signal.SIG_DFL)
    names = options.command or list(signals.COMMANDS)
    began, wrong, sent = time.monotonic(), 0, Counter()
    for number in range(options.count):
        name = names[number % len(names)]
        with TemporaryDirectory(prefix="workbook-signals-", ignore_cleanup_errors=True) as folder:
            found = signals.wrong_after(name, *signals.drawn(name, options.first + number // len(names)), Path(folder))
        sent[name] += 1
        wrong += bool(found)
        print(found or f"{number + 1:>4} {name}: well", flush=True)
    print(f"{sent.total()} signals in {time.monotonic() - began:.0f} s, {wrong} with something wrong: {dict(sent)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
