"""What `workbook conform` does below each of its words; `conform` says how it is called."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from workbook.commands.command import checked_seed
from workbook.conformance import baseline, init
from workbook.conformance.case import Need
from workbook.conformance.cases import CASES
from workbook.conformance.compare import compare
from workbook.conformance.config import load
from workbook.conformance.config_words import understood
from workbook.conformance.init_questions import asked, usual
from workbook.conformance.progress import Terminal
from workbook.conformance.report_summary import begin_here, headline
from workbook.conformance.reports import FORMS, JSON_FILE, read_record, write_reports
from workbook.conformance.run import without
from workbook.conformance.selection import again, chosen
from workbook.conformance.session import Wish, conform
from workbook.conformance.stopping import Stopping
from workbook.errors import ParameterError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from pathlib import Path

    from workbook.conformance.case import Case
    from workbook.conformance.config import Config


def run(options: argparse.Namespace) -> int:
    """Run cases, list them, or say what was understood or would be run."""
    cases = _chosen(options)
    if options.list:
        for case in cases:
            print(f"{case.name}  [{case.group}, {case.rule} {case.rests_on.level}]  {case.says}")
        return 0
    config = _config(options)
    if options.check_config:
        print(understood(config))
        return 0
    return _told(cases, config) if options.dry_run else _carried_out(options, cases, config)


def _chosen(options: argparse.Namespace) -> tuple[Case, ...]:
    cases = chosen(CASES, options.only)
    if options.rerun_failed is None:
        return cases
    names = {case.name for case in again(CASES, read_record(_report(options.rerun_failed)).to_rerun)}
    return tuple(case for case in cases if case.name in names)


def _report(path: Path) -> Path:
    """The file itself, or the one in a directory of reports."""
    return path / JSON_FILE if path.is_dir() else path


def _config(options: argparse.Namespace) -> Config:
    _no_such_word(options.config)
    config, seed = load(options.config), checked_seed(options.seed)
    return config if seed is None else replace(config, api=replace(config.api, seed=seed))


def _no_such_word(config: Path) -> None:
    """A word that is nearly one of ours is no file's name, unless there is one."""
    close = get_close_matches(str(config), WORK, n=1)
    if close and not config.exists():
        raise ParameterError(f"No file {str(config)!r}. Did you mean 'workbook conform {close[0]}'?")


def _told(cases: Sequence[Case], config: Config) -> int:
    """How many cases of each group would be run, and by name what would not be and why."""
    by_name = {case.name: _left_out(case, config) for case in cases}
    ready = Counter(case.group for case in cases if not by_name[case.name])
    groups = ", ".join(f"{count} {group}" for group, count in ready.items()) or "none"
    print(f"{ready.total()} of {len(cases)} cases would run: {groups}")
    for name, why in by_name.items():
        if why:
            print(f"{name}: {why}")
    return 0


def _left_out(case: Case, config: Config) -> str:
    """Why a case would not be run; empty where it would be."""
    left_out = without(case, config.target)
    if left_out is not None and config.adapter and Need.STATUS in case.needs:
        return "would run where the adapter has status(session)"
    return f"{left_out.verdict}. {left_out.why}" if left_out else ""


def _carried_out(options: argparse.Namespace, cases: Sequence[Case], config: Config) -> int:
    if options.repeat < 1:
        raise ParameterError(f"--repeat is {options.repeat}. Give a whole number from 1.")
    known = () if options.baseline is None else baseline.load(options.baseline)
    if options.rerun_failed is not None and not cases:
        print("Nothing failed in that report, so nothing is run.")
        return 0
    only = tuple(case.name for case in cases) if options.rerun_failed else tuple(options.only)
    wish = Wish(cases, options.repeat, options.strict, known, only, _again(options))
    _emptied(options.out)
    with Stopping(last=True) as stopping:
        record = conform(config, wish, told=Terminal(), stopping=stopping)
        write_reports(record, options.out)
    for line in (*record.about.stale, headline(record), begin_here(record), f"reports in {options.out}"):
        if line:
            print(line)
    return record.about.exit_code


def _emptied(folder: Path) -> None:
    """The reports' directory, without an old verdict that a crash would leave to be believed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in (JSON_FILE, *FORMS):
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise ParameterError(f"--out {str(folder)!r} cannot be used: {error.strerror}.") from None


def _again(options: argparse.Namespace) -> str:
    """The command line that runs the same again."""
    words = ["workbook", "conform", str(options.config)]
    words += [word for pattern in options.only for word in ("--only", pattern)]
    words += ["--rerun-failed", str(options.rerun_failed)] if options.rerun_failed else []
    words += ["--repeat", str(options.repeat)] if options.repeat > 1 else []
    words += ["--strict"] if options.strict else []
    words += ["--baseline", str(options.baseline)] if options.baseline else []
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    return shlex.join(words)


def write_config(options: argparse.Namespace) -> int:
    """Write a configuration, from answers or without asking."""
    init.free(options.file, over=options.force)
    answers = usual() if options.defaults else _asked()
    init.write(options.file, init.text(answers), over=options.force)
    file = shlex.quote(str(options.file))
    print(f"{options.file} is written. Read it, and then: workbook conform {file} --check-config")
    return 0


def _asked() -> dict[str, str]:
    if not sys.stdin.isatty():
        raise ParameterError("There is no terminal to ask at. Say --defaults, and change the file to what you have.")
    try:
        return asked(input, print)
    except EOFError:
        raise ParameterError("The answers ended before the questions, so nothing is written.") from None


def tell_changes(options: argparse.Namespace) -> int:
    """Print what changed between two reports."""
    found = compare(read_record(_report(options.old)), read_record(_report(options.new)))
    print(found.to_markdown() if options.markdown else found.text(), end="")
    return found.exit_code


WORK = {"run": run, "init": write_config, "compare": tell_changes}
"""What is done, by the word that asks for it."""
