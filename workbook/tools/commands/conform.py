"""`workbook conform`, and below it `run`, `app` and `init`; without a word it is `run`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.base.terminal import say
from workbook.errors import ExitCode, ParameterError
from workbook.tools.commands import (
    add,
    add_case_options,
    checked_seed,
    list_cases,
    make_folder,
    read_baseline,
    show,
    write_baseline,
)

if TYPE_CHECKING:  # the modules of a run take half a second, and --help needs none of them
    from workbook.tools.conform.back_end.config import Config
    from workbook.tools.conform.back_end.model import BackEndCase
    from workbook.tools.harness.report import RunRecord


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    words = """\
workbook conform app        test your own app, in Kotlin or Swift
workbook conform init       print a commented configuration: workbook conform init > back-end.toml

"""
    codes = """\
exit codes:
  0    no harm seen; warnings, and cases not looked at or not testable, fail only with --strict
  1    a case failed, the back end stopped answering, or an entry of the baseline is stale
  2    the cases could not be decided: the back end did not start or did not answer, or the configuration does not fit
  130  interrupted; the reports hold what had ended
  254  the configuration or the command line is wrong
  255  the workbook itself failed

Secrets come from the environment; the configuration only names the variables."""
    for name in ("conform", "conform run"):
        parser = add(commands, name, run, "test your own back end from both sides", words + codes)
        parser.usage = "workbook conform [run] [CONFIG] [options]"
        default = Path("back-end.toml")
        parser.add_argument(
            "config", nargs="?", type=Path, metavar="CONFIG", default=default, help="default: %(default)s"
        )
        parser.add_argument(
            "--check-config", action="store_true", help="explain every mistake of CONFIG, or print it with the defaults"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="count the cases that would run, and explain the rest"
        )
        _add_run(parser, "default: the configuration's")
        parser.add_argument(
            "--rerun-failed", type=Path, metavar="REPORT", help="run only what failed in this conform.json"
        )
        parser.add_argument("--repeat", type=int, default=1, metavar="N", help="run each case N times")
        parser.add_argument("--keep-going", action="store_true", help="run every case, even where a plain call fails")

    text = "test your own app: the workbook plays cardholder, SDK, wallet and back end in front of it"
    parser = add(commands, "conform app", app, text, codes.replace("back end", "app"))
    parser.add_argument(
        "config", nargs="?", type=Path, metavar="CONFIG", help="an app.toml; without one, start your app yourself"
    )
    _add_run(parser, "default: 7")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")

    add(commands, "conform init", init, "print a commented configuration: workbook conform init > back-end.toml")


def _add_run(parser: argparse.ArgumentParser, seed: str) -> None:
    """Add what every run of cases has."""
    add_case_options(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("conform"), metavar="DIR", help="folder of the reports; default: %(default)s"
    )
    parser.add_argument("--seed", metavar="N", help=f"the seed of all simulated data; {seed}")


def run(options: argparse.Namespace) -> int:
    """Run cases, list them, or say what the configuration means or what would be run."""
    from workbook.tools.conform.back_end.cases import CASES
    from workbook.tools.conform.back_end.config import as_toml, load_config
    from workbook.tools.harness.report import read_report
    from workbook.tools.harness.selection import again, choose_cases

    cases = choose_cases(CASES, options.only)
    if options.rerun_failed is not None:
        names = {case.name for case in again(CASES, read_report(options.rerun_failed).to_rerun)}
        cases = tuple(case for case in cases if case.name in names)
    if options.list:
        return list_cases(cases)
    close = get_close_matches(str(options.config), ("run", "app", "init"), n=1)
    if close and not options.config.exists():
        raise ParameterError(f"No file {str(options.config)!r}. Did you mean 'workbook conform {close[0]}'?")
    config, seed = load_config(options.config), checked_seed(options.seed)
    if seed is not None:
        api = config.form.api.model_copy(update={"seed": seed})
        config = replace(config, form=config.form.model_copy(update={"api": api}))
    if options.check_config:
        say(as_toml(config).rstrip())
        return ExitCode.OK
    return _count(cases, config) if options.dry_run else _carry_out(options, cases, config)


def app(options: argparse.Namespace) -> int:
    """Run cases against an app, or list them."""
    from workbook.base.values import check_port
    from workbook.tools.conform.app.run import CASES_OF, conform_app, load_app, of_file
    from workbook.tools.conform.app.stage import AppRun
    from workbook.tools.harness.command import Stopping
    from workbook.tools.harness.output import write_reports
    from workbook.tools.harness.progress import Terminal
    from workbook.tools.harness.selection import choose_cases

    check_port(options.port)
    platform = "A" if options.config is None else load_app(options.config)[0].platform
    cases = choose_cases(CASES_OF[platform], options.only)
    if options.list:
        return list_cases(cases)
    seed, baseline = checked_seed(options.seed), read_baseline(options)
    run = AppRun(
        cases=cases,
        only=tuple(options.only),
        strict=options.strict,
        baseline=baseline,
        seed=7 if seed is None else seed,
    )
    if options.config is not None:
        run = of_file(options.config, run)
    _empty(options.out)
    with Stopping(last=True) as stopping:
        record = conform_app(run, Terminal(values=options.format == "text"), options.port, stopping)
        write_reports(record, options.out)
        write_baseline(options, baseline, record, CASES_OF[platform])
    return _show(options, record)


def _count(cases: Sequence[BackEndCase], config: Config) -> int:
    """Print how many cases of each group would run, and by name which would not and why."""
    from workbook.tools.conform.back_end.schedule import without

    reasons = {}
    for case in cases:
        left_out = without(case, config.expected)
        if left_out is not None:
            reasons[case.name] = f"{left_out.verdict}. {left_out.why}"
    ready = Counter(case.group for case in cases if case.name not in reasons)
    groups = ", ".join(f"{count} {group}" for group, count in ready.items()) or "none"
    say(f"{ready.total()} of {len(cases)} cases would run: {groups}")
    for name, reason in reasons.items():
        say(f"{name}: {reason}")
    return ExitCode.OK


def _carry_out(options: argparse.Namespace, cases: Sequence[BackEndCase], config: Config) -> int:
    """Run the cases and write the reports; the worst verdict decides the exit code."""
    from workbook.tools.conform.back_end.cases import CASES
    from workbook.tools.conform.back_end.session import RunOptions, conform
    from workbook.tools.harness.command import Stopping
    from workbook.tools.harness.output import write_reports
    from workbook.tools.harness.progress import Terminal

    if options.repeat < 1:
        raise ParameterError(f"--repeat is {options.repeat}. Give a whole number from 1.")
    baseline = read_baseline(options)
    if options.rerun_failed is not None and not cases:
        say("Nothing failed in that report, so nothing is run.")
        return ExitCode.OK
    only = tuple(case.name for case in cases) if options.rerun_failed else tuple(options.only)
    run_options = RunOptions(
        cases,
        options.repeat,
        options.keep_going,
        strict=options.strict,
        baseline=baseline,
        only=only,
        command=shlex.join(["workbook", *sys.argv[1:]]),
    )
    _empty(options.out)
    with Stopping(last=True) as stopping:
        terminal = Terminal(values=options.format == "text")
        record = conform(config, run_options, progress=terminal, stopping=stopping)
        write_reports(record, options.out)
        write_baseline(options, baseline, record, CASES)
    return _show(options, record)


def _empty(out: Path) -> None:
    """Make the folder of the reports, and delete the old ones: an old verdict must not survive a crash of this run."""
    from workbook.tools.harness.output import FORMS
    from workbook.tools.harness.report import JSON_FILE

    make_folder(out, JSON_FILE, *FORMS, "conform.sarif")


def _show(options: argparse.Namespace, record: RunRecord) -> int:
    """Print how a run ended and what to do first; returns its exit code."""
    from workbook.tools.harness.summary import first_lines, headline

    advice = [*first_lines(record)]
    time = [f"Time: {record.about.time}."] if record.about.time else []
    lines = (*record.about.stale, headline(record), *time, *(["What to do first:", *advice] if advice else []))
    return show(options, record, lines)


def init(_options: argparse.Namespace) -> int:
    """Print a commented configuration."""
    template = files("workbook.tools.conform.back_end") / "back-end.toml"
    say(template.read_text("utf-8").rstrip())
    return ExitCode.OK
