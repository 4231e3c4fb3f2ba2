"""What share of the lines and branches the tests must reach: `coverage_floors.py report/coverage.json`.

The file is slipcover's. Prints each file with what was missed in it, and exits with 1 where a share is under its floor,
or where no test imports a file.
"""

import json
import re
import sys
from pathlib import Path

FLOORS = {"workbook/": 95} | dict.fromkeys(
    ("workbook/api/", "workbook/flows/",
     *(f"workbook/checks/timing/{name}.py" for name in ("measured", "planner", "recorded", "verdict"))),
    100,
)  # fmt: skip
"""Per cent, by the beginning of a path. An integrator's own code rests on the packages that must be reached whole."""
UNREACHABLE = re.compile(r" *(if TYPE_CHECKING:|assert_never\(|\.\.\.$)")
"""What only a type checker reads. Slipcover could leave these lines out, and takes five seconds a process for it."""

ONLY_RUN = {"workbook/__main__.py"}
"""What tests run in a process of its own, where nothing watches, and never import."""


def unreachable(source):
    """The numbers of the lines that no test can reach; with a block's first line come all that are indented more."""
    block = None
    for number, line in enumerate(source.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if line.strip() and block is not None and indent <= block:
            block = None
        if block is None and UNREACHABLE.match(line):
            block = indent
        if block is not None:
            yield number


def counted(name, file, root):
    """Of a file what was made and what was missed, lines and branches, without what cannot be reached."""
    left_out = set(unreachable((root / name).read_text("utf-8")))
    made, missed = (
        ([line for line in file[f"{kind}_lines"] if line not in left_out],
         [branch for branch in file[f"{kind}_branches"] if branch[0] not in left_out])
        for kind in ("executed", "missing")
    )  # fmt: skip
    return made, missed


def words(missed):
    """The lines and branches that no test reached, in words; empty where there are none."""
    lines, branches = (
        ", ".join(map(str, missed[0])),
        ", ".join(f"{here}->{there or 'exit'}" for here, there in missed[1]),
    )
    return " | ".join(part for part in (lines, branches) if part)


def main(path, root=Path()):
    """Print what was missed and the shares; the exit code."""
    files = json.loads(Path(path).read_text("utf-8"))["files"]
    found = {name: counted(name, file, root) for name, file in sorted(files.items())}
    for name, (_, missed) in found.items():
        if told := words(missed):
            print(f"{name}: {told}")
    below = 0
    for name in sorted({str(path.relative_to(root)) for path in root.glob("workbook/**/*.py")} - {*found} - ONLY_RUN):
        below += 1
        print(f"{name}: no test imports it")
    for beginning, floor in FLOORS.items():
        inside = [each for name, each in found.items() if name.startswith(beginning)]
        made, missed = (sum(len(part) for each in inside for part in each[side]) for side in (0, 1))
        share = 100 * made / max(made + missed, 1)
        below += share < floor
        print(f"{beginning}: {share:.2f} % reached, floor {floor} %")
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
