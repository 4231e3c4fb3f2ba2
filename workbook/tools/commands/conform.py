"""`workbook conform`, and below it `run`, `app`, `init` and `app init`; without a word it is `run`."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
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
    from workbook.tools.harness.model import CaseOptions
    from workbook.tools.harness.report import RunRecord


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    words = """\
workbook conform app        test your own app, in Kotlin or Swift
workbook conform init       print a commented configuration: workbook conform init > back-end.toml
workbook conform app init   the same for an app: workbook conform app init > app.toml

"""
    codes = """\
exit codes:
  0    no harm seen; warnings, and cases not looked at or not testable, fail only with --strict
  1    a case failed, the back end stopped answering, or an entry of the baseline is stale
  2    the cases could not be decided: the back end did not start or did not answer, the configuration does not fit, or
       the run looked at less than nine of ten cases
  130  interrupted; the reports hold what had ended
  254  the configuration or the command line is wrong
  255  the workbook itself failed

Secrets come from the environment; the configuration only names the variables."""
    for name in ("conform", "conform run"):
        parser = add(commands, name, run, "test your own back end from both sides", words + codes)
        parser.usage = "workbook conform [run] [CONFIG] [options]"
        _add_run(parser, Path("back-end.toml"), "default: the configuration's")

    text = "test your own app: the workbook plays cardholder, SDK, wallet and back end in front of it"
    parser = add(commands, "conform app", app, text, codes.replace("back end", "app"))
    _add_run(parser, Path("app.toml"), "default: 7")

    for name, template in (("conform", "back_end/back-end.toml"), ("conform app", "app/app.toml")):
        text = f"print a commented configuration: workbook {name} init > {Path(template).name}"
        add(commands, f"{name} init", partial(init, template), text)


def _add_run(parser: argparse.ArgumentParser, config: Path, seed: str) -> None:
    """Add what every run of cases has."""
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG", default=config, help="default: %(default)s")
    parser.add_argument(
        "--check-config", action="store_true", help="explain every mistake of CONFIG, or print it with the defaults"
    )
    add_case_options(parser)
    parser.add_argument(
        "--out", type=Path, default=Path("conform"), metavar="DIR", help="folder of the reports; default: %(default)s"
    )
    parser.add_argument("--seed", metavar="N", help=f"the seed of all simulated data; {seed}")


def run(options: argparse.Namespace) -> int:
    """Run cases against a back end, list them, or print what the configuration means."""
    from workbook.tools.conform.back_end.cases import CASES
    from workbook.tools.conform.back_end.config import as_toml, load_config
    from workbook.tools.conform.back_end.session import conform
    from workbook.tools.harness.model import CaseOptions, choose_cases

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
    what = CaseOptions(cases=cases, command=shlex.join(["workbook", *sys.argv[1:]]), **_chosen(options))
    return _report(options, CASES, what, partial(conform, config, what))


def app(options: argparse.Namespace) -> int:
    """Run cases against an app, list them, or print what the configuration means."""
    from workbook.tools.conform.app.run import CASES_OF, as_toml, conform_app, load_app, of_file
    from workbook.tools.conform.app.stage import AppRun
    from workbook.tools.harness.model import choose_cases

    listed_without_file = options.list and not options.config.exists()
    platform = "A" if listed_without_file else load_app(options.config)[0].platform
    cases = choose_cases(CASES_OF[platform], options.only)
    if options.list:
        return list_cases(cases)
    if options.check_config:
        say(as_toml(options.config).rstrip())
        return ExitCode.OK
    seed = checked_seed(options.seed)
    what = of_file(options.config, AppRun(cases=cases, seed=7 if seed is None else seed, **_chosen(options)))
    return _report(options, CASES_OF[platform], what, partial(conform_app, what))


def _chosen(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of `CaseOptions` that the command line gives."""
    return {"only": tuple(options.only), "strict": options.strict, "baseline": read_baseline(options)}


def _report(
    options: argparse.Namespace, cases: Mapping[str, Any], what: CaseOptions[Any], judge: Callable[..., RunRecord]
) -> int:
    """Run the cases, write the reports, and print how it ended; the worst verdict decides the exit code."""
    from workbook.tools.harness.output import FORMS, write_reports
    from workbook.tools.harness.program import Stopping
    from workbook.tools.harness.report import JSON_FILE
    from workbook.tools.harness.summary import Terminal, first_lines, headline

    # an old verdict must not survive a crash of this run
    make_folder(options.out, JSON_FILE, *FORMS, "conform.sarif")
    with Stopping(last=True) as stopping:
        record = judge(progress=Terminal(values=options.format == "text"), stopping=stopping)
        write_reports(record, options.out)
        write_baseline(options, what.baseline, record, cases)
    advice = [*first_lines(record)]
    lines = (*record.about.stale, headline(record), *(["What to do first:", *advice] if advice else []))
    return show(options, record, lines)


def init(template: str, _options: argparse.Namespace) -> int:
    """Print a commented configuration."""
    say((files("workbook.tools.conform") / template).read_text("utf-8").rstrip())
    return ExitCode.OK
