"""`diagnose` and `inspect` what you see, ask the `doctor` about this machine, and the document for its `rules`."""

import argparse
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook.base.files import explain_failure
from workbook.base.terminal import say
from workbook.errors import ConfigurationError, ExitCode, ParameterError
from workbook.tools.commands import add, checked_seed
from workbook.tools.commands.notebooks import require_lab


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    codes = """\
SYMPTOM is a code (15009), an outcome (OpcFetchError), a sentence, a file, - for standard input, or the number of a
row of the catalogue (13). Without one, three questions lead to a row. Codes, names and lines of a log decide; words
lead to a list of rows, and decide nothing.

exit codes:
  0    at least one row fits
  1    the symptom belongs to no row of the catalogue
  2    the symptom is empty, or larger than 16 MiB; or the row cannot be played"""
    parser = add(commands, "diagnose", diagnose, "find the causes of a symptom, a log or a trace", codes)
    parser.add_argument("symptom", nargs="*", metavar="SYMPTOM", help="what you see")
    parser.add_argument("--reproduce", type=int, metavar="N", help="play row N of the catalogue")

    codes = """\
The value comes from a file or a pipe, so that it stays out of the shell's history. It is not kept and not sent.

exit codes:
  0    every layer is as it should be
  1    a layer is wrong, or the content is of no known kind
  2    the value is empty, larger than 1 MiB, or cannot be read"""
    text = "say what an sdkInput or sdkOutput is, and which layer is wrong"
    parser = add(commands, "inspect", inspect, text, codes)
    parser.add_argument("value", metavar="FILE", help="a file that holds the value, or - for standard input")
    parser.add_argument("--show", action="store_true", help="show some fields and simulated bytes, no card data")
    parser.add_argument(
        "--seed", metavar="N", default="7", help="the seed of the simulator that made it; default: %(default)s"
    )

    add(commands, "doctor", doctor, "check this machine: versions, kernel, ports, settings")

    parser = add(commands, "rules", rules, "print the rules of the interface document, or one of them")
    parser.add_argument("id", nargs="?", metavar="ID", help="such as A-CAN-2")


def diagnose(options: argparse.Namespace) -> int:
    """Print the causes, or play a row."""
    from workbook.checks import diagnosis

    if options.reproduce is not None:
        require_lab("diagnose --reproduce")
        from workbook.tools.diagnose.panels import reproduce

        say(repr(reproduce(options.reproduce)))
        return ExitCode.OK
    text = _read(options.symptom, diagnosis.LARGEST_LOG) if options.symptom else _ask_three_questions()
    found = diagnosis.diagnose(text)
    say(found)
    return ExitCode.OK if found.likely else ExitCode.FAILED


def _ask_three_questions() -> str:
    """Ask for the platform, the last step that worked and what was seen; the row that they lead to."""
    from workbook.checks.diagnosis import PLATFORMS, triage

    if not sys.stdin.isatty():
        raise ParameterError(
            "Which symptom? Give a code, an outcome's name, a sentence, a file, or - for standard input. "
            "In a terminal, without any of them, three questions lead to a row."
        )
    steps = triage(_choose("Which platform?", list(PLATFORMS)))
    rows = steps[_choose("What was the last step that worked?", list(steps))]
    seen = {one.sign: one.number for one in rows}
    return f"row {seen[_choose('What do you see?', list(seen))]}"


def _choose(question: str, choices: list[str]) -> str:
    """The choice whose number is typed; asks until it is one of them."""
    say("\n".join([question, *(f"  {number}  {choice}" for number, choice in enumerate(choices, 1))]))
    while True:
        try:
            typed = input("Number: ")
        except EOFError:
            raise ParameterError("No number was typed. Give the symptom as text, or type one of the numbers.") from None
        if typed.strip() in map(str, range(1, len(choices) + 1)):
            return choices[int(typed) - 1]
        say(f"Type a number from 1 to {len(choices)}.")


def inspect(options: argparse.Namespace) -> int:
    """Print what the value is."""
    from workbook.base.files import read_regular
    from workbook.tools.diagnose import inspector

    try:
        piped = options.value == "-"
        most = inspector.LARGEST_VALUE + 2
        data = _piped(most) if piped else read_regular(Path(options.value), most)
    except OSError as error:
        again = "Name a file that holds the value, or pipe the value into: workbook inspect -"
        raise ConfigurationError(f"Cannot read that file: {error.strerror}. {again}") from None
    found = inspector.inspect(data, show=options.show, seed=checked_seed(options.seed) or 0)
    say(found)
    return ExitCode.OK if found.is_good else ExitCode.FAILED


def _piped(most: int) -> bytes:
    with explain_failure("Cannot read standard input"):
        return sys.stdin.buffer.read(most)


def _read(words: list[str], most: int) -> str:
    """The text itself, or what the one named file or standard input holds."""
    from workbook.base.files import read_named

    if words == ["-"]:
        return _piped(most + 1).decode("utf-8", "replace")
    with suppress(OSError):  # a symptom is often too long for the name of a file
        if len(words) == 1 and (Path(words[0]).exists() or re.fullmatch(r"\S+\.(txt|log|jsonl?)", words[0])):
            return read_named(Path(words[0]), most, "Name a log file.").decode("utf-8", "replace")
    return " ".join(words)


def doctor(_: argparse.Namespace) -> int:
    """Print each result as it comes; return 1 when something is wrong."""
    from workbook.tools.commands.doctor import examine

    found = []
    for health in examine():
        say(health)
        found.append(health.ok)
    return ExitCode.OK if all(found) else ExitCode.FAILED


def rules(options: argparse.Namespace) -> int:
    """Print them, one line each."""
    from workbook.base.rules import rule, rules

    for entry in rules() if options.id is None else [rule(options.id.strip().upper())]:
        say(entry)
    return ExitCode.OK
