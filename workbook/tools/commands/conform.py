"""`workbook conform`, and below it `run`, `app` and `init`; without a word it is `run`."""

from __future__ import annotations

import argparse
import shlex
import sys
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
        _add_run(parser, "default: the configuration's")

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
    """Run cases, list them, or print what the configuration means."""
    from workbook.tools.conform.back_end.cases import CASES
    from workbook.tools.conform.back_end.config import as_toml, load_config
    from workbook.tools.harness.model import choose_cases

    cases = choose_cases(CASES, options.only)
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
    return _carry_out(options, cases, config)


def app(options: argparse.Namespace) -> int:
    """Run cases against an app, or list them."""
    from workbook.base.values import check_port
    from workbook.tools.conform.app.run import CASES_OF, conform_app, load_app, of_file
    from workbook.tools.conform.app.stage import AppRun
    from workbook.tools.harness.model import choose_cases
    from workbook.tools.harness.output import write_reports
    from workbook.tools.harness.program import Stopping
    from workbook.tools.harness.summary import Terminal

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


def _carry_out(options: argparse.Namespace, cases: Sequence[BackEndCase], config: Config) -> int:
    """Run the cases and write the reports; the worst verdict decides the exit code."""
    from workbook.tools.conform.back_end.cases import CASES
    from workbook.tools.conform.back_end.session import RunOptions, conform
    from workbook.tools.harness.output import write_reports
    from workbook.tools.harness.program import Stopping
    from workbook.tools.harness.summary import Terminal

    baseline = read_baseline(options)
    run_options = RunOptions(
        cases,
        strict=options.strict,
        baseline=baseline,
        only=tuple(options.only),
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
    lines = (*record.about.stale, headline(record), *(["What to do first:", *advice] if advice else []))
    return show(options, record, lines)


def init(_options: argparse.Namespace) -> int:
    """Print a commented configuration."""
    template = files("workbook.tools.conform.back_end") / "back-end.toml"
    say(template.read_text("utf-8").rstrip())
    return ExitCode.OK
