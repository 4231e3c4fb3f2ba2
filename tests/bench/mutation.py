"""Mutation testing: one small mistake at a time is put into a module, and a test that concerns it must fail.

    python tests/bench/mutation.py                                # each part of the package
    python tests/bench/mutation.py api --sample 200               # a fixed draw of 200 mutants
    python tests/bench/mutation.py flows --report flows.jsonl     # each mutant with the test file that killed it
    python tests/bench/mutation.py flows --again flows.jsonl      # only what survived in that report
    python tests/bench/mutation.py commands --slow                # what survives meets the part's slow tests, too

Each mutant is a fork of one process that has imported everything but the workbook. The fork imports the workbook with
the mutated module, runs the quick tests file by file, and ends at the first that fails. So a mutant costs less than a
second, and a mistake in a table, which is made while a module is imported, costs no more than one in a function.
The slow tests start processes, which have to meet the mistake as well: they run in a copy of the project that holds it.
First they run in a copy without one: what fails there proves nothing.
"""

import argparse
import ast
import contextlib
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/support")]

from mutants import in_words, mutants  # noqa: E402  # it stands where the line above says

SECONDS = 60
"""A fork that computes for longer is in an endless loop; one that takes ten times that waits for what never comes."""
PARTS = sorted(
    str(path.parent.relative_to(ROOT / "workbook"))
    for pattern in ("workbook/*/__init__.py", "workbook/tools/*/__init__.py")
    for path in ROOT.glob(pattern)
)
ELSEWHERE = {
    "flows": ["views/test_sequence.py", "views/test_sequence_text.py", "checks"],
    "checks": ["views/test_findings.py", "views/test_findings_advice.py"],
    "base": [
        "test_canary.py",
        "test_errors.py",
        "tools/harness/test_report_leaks.py",
        "tools/conform/back_end/test_config.py",
    ],
    "tools/commands": [
        "tools/preflight/test_command.py",
        "tools/proxy/test_command.py",
        "tools/conform/back_end/test_command.py",
    ],
    "views": ["lessons/plays", "lessons/widgets", "test_readme.py"],
}
"""The tests that concern a part of `workbook`, besides those in the folder of its name under `tests`."""


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports one module from the mutated tree, and all others as ever."""

    def __init__(self, path, tree):
        self.path, self.code = ROOT / path, compile(tree, ROOT / path, "exec", dont_inherit=True)
        self.name = path.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")

    def find_spec(self, name, _path=None, _target=None):
        """Only the mutated module is found here."""
        inside = [str(self.path.parent)] if self.path.name == "__init__.py" else None
        told = {"loader": self, "submodule_search_locations": inside}
        return importlib.util.spec_from_file_location(name, self.path, **told) if name == self.name else None

    def get_code(self, _name):
        """The mutant."""
        return self.code

    def get_source(self, _name):
        """The true text, which a mistake does not show in."""
        return self.path.read_text("utf-8")

    def is_package(self, _name):
        """A package's own module can be mutated, too."""
        return self.path.name == "__init__.py"


def run(files, *more):
    """Pytest's exit code for these files."""
    options = ["-o", "addopts=", "--import-mode=importlib", "--strict-markers", "-p", "no:cacheprovider", "-q", "-x"]
    return pytest.main([*options, "-m", "not slow", *more, *(f"{ROOT}/tests/{file}" for file in files)])


def killer(files, mutated=None):
    """The first of these test files that fails with the mutant, in a process of its own; '' if none does."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        with os.fdopen(reading) as pipe:
            told = pipe.read()
        return told if os.waitpid(child, 0)[1] == 0 else "no end"
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    signal.alarm(10 * SECONDS)
    for name, module in [*sys.modules.items()]:  # the workbook and its tests are imported anew
        file = Path(getattr(module, "__file__", None) or ".")  # numpy can be imported once alone: not what is in .venv
        ours = (file.is_relative_to(ROOT) and ".venv" not in file.parts) or name.partition(".")[0] == "tests"
        if ours and name != "__main__":
            del sys.modules[name]
    if mutated:
        sys.meta_path.insert(0, mutated)
    well = {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    os.write(writing, next((file for file in files if run([file]) not in well), "").encode())
    os._exit(0)


def slow_killer(path, text, tests):
    """The first slow test of these files that fails where the module has this text; '' if none does."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "project"
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__", ".*_cache"))
        (copy / path).write_text(text, "utf-8")
        environment = {**os.environ, "PYTHONPATH": str(copy)}  # it comes before the project that is installed
        bounded = ["timeout", "--kill-after=10", str(10 * SECONDS)]  # it also ends what pytest has started
        command = [*bounded, sys.executable, *["-m", "pytest", "-q", "-x", "-n", "2", "-m", "slow"]]
        command += [f"tests/{one}" for one in tests]
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "" if done.returncode in (0, pytest.ExitCode.NO_TESTS_COLLECTED) else failed[0][:200] if failed else "no end"


def passing(concerned):
    """The same, once their slow tests have passed without a mutant: one that fails anyway would kill each of them."""
    if failing := slow_killer("README.md", (ROOT / "README.md").read_text("utf-8"), concerned):
        sys.exit(f"This slow test fails without any mutant: {failing}")
    return concerned


def tried(path, mutant, files, slow):
    """The mutant in one line, and what killed it: a quick test of these files, or a slow one of those."""
    tree, node, field, at, old, new = mutant
    put = (lambda one: setattr(node, field, one)) if at is None else (lambda one: getattr(node, field).insert(at, one))
    take = (lambda: None) if at is None else (lambda: getattr(node, field).pop(at))
    take()
    put(ast.copy_location(new, old))
    mutated, text = Mutated(path, ast.fix_missing_locations(tree)), ast.unparse(tree)
    take()
    put(old)
    by = killer(files, mutated)
    return f"{in_words(path, old, new)} (line {old.lineno})", by or (slow_killer(path, text, slow) if slow else "")


def below(folder, names):
    """The Python files of these names, and of the folders among them, in order and once each."""
    found = [file for name in names for file in sorted((folder / name).rglob("*.py")) or [folder / name]]
    return [str(file.relative_to(folder)) for file in dict.fromkeys(found)]


def main():
    """Mutate what is named, and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=PARTS, help=f"{', '.join(PARTS)}; all of them where none is named")
    parser.add_argument("--only", default="", help="only modules whose path holds this text")
    parser.add_argument("--sample", type=int, help="so many mutants of each part, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0, help="another one draws others")
    parser.add_argument("--without", action="append", default=[], metavar="FILE", help="what the others prove alone")
    parser.add_argument("--slow", action="store_true", help="what survives the quick tests meets the slow ones")
    parser.add_argument("--again", type=Path, help="a report of before: only what survived then")
    parser.add_argument("--report", type=Path, default=Path(os.devnull), help="where each mutant goes, with its killer")
    parser.add_argument("--least", type=float, default=0, metavar="PERCENT", help="exit code 1 where fewer are killed")
    options = parser.parse_args()
    too_few = []
    lines = options.again.read_text("utf-8").splitlines() if options.again else []
    kept = {one["mutant"].rpartition(" (")[0] for one in map(json.loads, lines) if not one["killer"]}
    os.environ["CI"] = "1"  # Hypothesis draws the same examples each time
    report = options.report.open("w", encoding="utf-8")
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part of the package: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    for part in options.parts:
        concerned = [part, *ELSEWHERE.get(part, ())]
        tests = below(ROOT / "tests", concerned)
        files = [file for file in tests if Path(file).name.startswith("test_") and file not in options.without]
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            run(files, "--collect-only")  # imports everything once, before the forks
        while failing := killer(files):
            print(f"left out, because it fails without any mutant: tests/{failing}", flush=True)
            files.remove(failing)
        slow = passing(concerned) if options.slow else []
        chosen = [(path, one) for path in (f"workbook/{module}" for module in below(ROOT / "workbook", [part]))
                  if options.only in path for one in mutants(path)]  # fmt: skip
        total = len(chosen)
        random.Random(options.seed).shuffle(chosen)
        if options.again:
            chosen = [(path, one) for path, one in chosen if in_words(path, *one[-2:]) in kept]
        kills, chosen = Counter(), chosen[: options.sample]
        for number, (path, mutant) in enumerate(chosen, 1):
            # the tests of this module first, then what killed many
            own = [word for word in Path(path).with_suffix("").parts[2:] if word != "__init__"]
            nearest = sorted(files, key=lambda file: (not any(f"test_{word}" in file for word in own), -kills[file]))
            line, by = tried(path, mutant, nearest, slow)
            kills[by] += 1
            report.write(json.dumps({"mutant": line, "killer": by}) + "\n")
            report.flush()
            if not by:
                print(f"survived: {line}", flush=True)
            if number % 50 == 0 or number == len(chosen):
                survived = kills[""]
                share = f"{100 * (number - survived) / number:.1f} %"
                print(f"{part}: {number} of {total} mutants, {survived} survived, {share} killed", flush=True)
        if kills[""] * 100 > (100 - options.least) * len(chosen):
            too_few.append(part)
    print(f"fewer than {options.least:g} % were killed of: {', '.join(too_few) or 'none'}")
    return 1 if too_few else 0


if __name__ == "__main__":
    sys.exit(main())
