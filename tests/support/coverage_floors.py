"""What share of the lines and branches the tests must reach: `coverage_floors.py report/coverage.json`.

The file is slipcover's. Prints each file with what was missed in it, and exits with 1 where a share is under its floor.
"""

import json
import sys
from pathlib import Path

FLOORS = {"workbook/": 95, "workbook/api/": 100, "workbook/flows/": 100, "workbook/timing/": 100}
"""Per cent, by the beginning of a path. An integrator's own code rests on the packages that must be reached whole."""
MADE = ("covered_lines", "covered_branches")
MISSED = ("missing_lines", "missing_branches")


def shares(files):
    """The share reached for each beginning of a path, in per cent; 0 where no file has it."""
    for beginning in FLOORS:
        inside = [file["summary"] for path, file in files.items() if path.startswith(beginning)]
        made, missed = (sum(each[name] for each in inside for name in names) for names in (MADE, MISSED))
        yield beginning, 100 * made / max(made + missed, 1)


def missed(file):
    """The lines and branches that no test reached, in words; empty where there are none."""
    lines = ", ".join(map(str, file["missing_lines"]))
    branches = ", ".join(f"{here}->{there or 'exit'}" for here, there in file["missing_branches"])
    return " | ".join(part for part in (lines, branches) if part)


def main(path):
    """Print what was missed and the shares; the exit code."""
    files = json.loads(Path(path).read_text("utf-8"))["files"]
    for name, file in sorted(files.items()):
        if words := missed(file):
            print(f"{name}: {words}")
    below = 0
    for beginning, share in shares(files):
        below += share < FLOORS[beginning]
        print(f"{beginning}: {share:.2f} % reached, floor {FLOORS[beginning]} %")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
