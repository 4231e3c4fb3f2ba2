"""`lab`, `new`, `reset`, `run`, `render` and `export` for the notebooks; `course` for a workshop with them."""

import argparse
import shlex
import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from workbook.base.files import explain_failure
from workbook.base.terminal import say
from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, ExitCode, ParameterError
from workbook.tools.commands import Parser, add

# Where `lab` lays out a learner's copy of the lessons.
LEARNERS_COPY = Path("provisioning-workbook")


def add_to(commands: Any) -> None:
    """Add these commands to the parser."""
    _add_copies(commands)
    _add_runs(commands)
    _add_workshop(commands)


def _add_copies(commands: Any) -> None:
    """Add what lays out and opens a learner's copy."""
    parser = add(commands, "lab", lab, "open a learner's copy of the lessons in JupyterLab, on this machine only")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=None, help="default: the first free one from 8888")
    _add_directory(parser)

    parser = add(commands, "new", new, "copy the lessons and the sample files into a new directory")
    parser.add_argument("dir", type=Path, metavar="DIR", help="must not exist, or be empty")
    parser.add_argument(
        "--edition",
        choices=("learner", "solved", "instructor"),
        default="learner",
        help="solved adds solutions; instructor adds solutions, notes, common mistakes and minutes",
    )

    parser = add(commands, "reset", reset, "put exercises of a learner's copy back as they were; keep a backup")
    parser.add_argument("what", metavar="WHAT", help="an exercise such as 05.1, a lesson such as 05, or all")
    parser.add_argument("--dir", type=Path, metavar="DIR", help=f"the copy; default: here, or {LEARNERS_COPY}")


def _add_runs(commands: Any) -> None:
    """Add what executes or shows notebooks."""
    codes = """\
exit codes (when notebooks end differently, the highest wins):
  0  every cell ran and every check passed
  1  a check failed
  2  usage or a parameter is wrong; nothing ran
  3  a notebook raised an error
  4  the time limit passed; the kernel was killed
  5  a kernel died
  130  interrupted; the report holds what had ended

The API key is read from the environment variable WORKBOOK_API_KEY, never from a parameter."""
    parser = add(commands, "run", run, "run notebooks and write a report", codes)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="01, activation_data or 01_activation_data; default: all"
    )
    parser.add_argument("-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="default: %(default)s")
    _add_directory(parser)
    _add_time_limit(parser)

    codes = "exit codes: 0 done; 3 a notebook failed"
    parser = add(commands, "render", render, "execute notebooks in place and store their outputs", codes)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    _add_directory(parser)
    _add_time_limit(parser)

    parser = add(commands, "export", export, "write notebooks as web pages that need neither kernel nor network")
    parser.add_argument("names", nargs="*", metavar="NAME", help="as for run, or a notebook's file; default: all")
    parser.add_argument("--out", type=Path, default=Path("export"), metavar="DIR", help="default: %(default)s")
    _add_directory(parser)


def _add_directory(parser: Parser) -> None:
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks, or the workbook's own")


def _add_time_limit(parser: Parser) -> None:
    parser.add_argument(
        "--time-limit", type=float, default=300.0, metavar="SECONDS", help="per notebook; default: %(default)g"
    )


def require_lab(command: str) -> None:
    """Raise ConfigurationError where the packages of the extra `lab` are not installed."""
    jupyter = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "nbclient", "nbconvert", "nbformat", "papermill")
    missing = [name for name in (*jupyter, "numpy", "pandas") if find_spec(name) is None]
    if missing:
        from workbook.base.files import pip_line

        raise ConfigurationError(
            f"`workbook {command}` needs packages that are not installed ({', '.join(missing)}): {pip_line('lab')}"
        )


def lab(options: argparse.Namespace) -> int:
    """Open JupyterLab and stay until it ends."""
    require_lab("lab")
    from workbook.base.files import NOTEBOOKS
    from workbook.lessons.exercises.editions import lay_out
    from workbook.tools.commands.lab import Lab, free_port
    from workbook.tools.commands.runner import notebooks_dir

    port = free_port(options.port)  # a wrong one is refused before anything is written
    directory = notebooks_dir(options.notebooks)
    if options.notebooks is None and directory == NOTEBOOKS:
        # JupyterLab saves what it opens, and the lessons of a checkout or an installation must not change
        directory = LEARNERS_COPY / "notebooks"
        if not directory.is_dir():
            lay_out(LEARNERS_COPY)
            say(f"Your copy of the lessons is {LEARNERS_COPY}.")
    return Lab(directory.resolve(), port, browser=not options.no_browser).run(tell=say)


def new(options: argparse.Namespace) -> int:
    """Lay out a copy."""
    from workbook.lessons.exercises.editions import Edition, lay_out

    lay_out(options.dir, Edition(options.edition))
    say(f"The lessons are in {options.dir / 'notebooks'}, the sample files in {options.dir / 'fixtures'}.")
    say(f"Open them: workbook lab --notebooks {options.dir / 'notebooks'}")
    return ExitCode.OK


def reset(options: argparse.Namespace) -> int:
    """Put back what was asked for, and say where the backup is."""
    from workbook.base.files import NOTEBOOKS
    from workbook.lessons.exercises.editions import reset
    from workbook.lessons.exercises.progress import progress_file

    folder = options.dir or (Path() if progress_file(Path.cwd()) else LEARNERS_COPY)
    names, backups = reset(folder, options.what, NOTEBOOKS)
    say(f"Reset {options.what} in {', '.join(names)}. Backup: {backups}")
    return ExitCode.OK


def run(options: argparse.Namespace) -> int:
    """Run the notebooks; the worst one decides the exit code."""
    given: dict[str, Any] = {}
    for word in options.given:
        name, equals, value = word.partition("=")
        if not equals:
            raise ParameterError("-p needs NAME=VALUE, such as -p seed=9.")
        if name in given:
            raise ParameterError(f"-p {name} was given twice.")
        given[name] = value
    require_lab("run")
    from workbook.tools.commands.runner.run import RunRequest, run

    request = RunRequest(
        names=options.names, given=given, out=options.out, notebooks=options.notebooks, limit=options.time_limit
    )
    report = run(request)
    say(f"report in {options.out}; its page is {options.out / 'index.html'}")
    return report.exit_code


def render(options: argparse.Namespace) -> int:
    """Execute the notebooks and store their outputs."""
    require_lab("render")
    from workbook.base.files import INSTALLED, NOTEBOOKS
    from workbook.tools.commands.runner import notebooks_dir, require_code, select
    from workbook.tools.commands.runner.render import render

    directory = notebooks_dir(options.notebooks)
    if INSTALLED and directory == NOTEBOOKS:
        raise ConfigurationError("This would change the installed notebooks. Copy them first: workbook new DIR")
    chosen = select(options.names, directory)
    require_code(chosen)
    results = render(chosen, limit=options.time_limit, done=say)
    return ExitCode.ERROR if any(result.error for result in results) else ExitCode.OK


def export(options: argparse.Namespace) -> int:
    """Write the pages and print their paths."""
    require_lab("export")
    from workbook.tools.commands.runner import notebooks_dir, require_code, select
    from workbook.tools.commands.runner.export import export

    paths = [Path(name) for name in options.names if name.endswith(".ipynb") and Path(name).is_file()]
    names: Sequence[str] = [name for name in options.names if Path(name) not in paths]
    chosen = select(names, notebooks_dir(options.notebooks)) if names or not paths else ()
    chosen = (*paths, *chosen)
    require_code(chosen)
    for page in export(chosen, options.out):
        say(page)
    return ExitCode.OK


def _add_workshop(commands: Any) -> None:
    below = "everything for a workshop: `workbook course` lists its commands"
    add(commands, "course", partial(course, commands.choices), below)

    parser = add(commands, "course agenda", agenda, "print what to teach, minute by minute, and likely wrong answers")
    parser.add_argument("--minutes", type=int, choices=(60, 90, 180), default=90, help="default: %(default)s")
    audiences = ("integrators", "back-end", "app")
    parser.add_argument("--for", dest="audience", choices=audiences, default=audiences[0], help="default: %(default)s")
    parser.add_argument("--start", metavar="HH:MM", default="00:00", help="when it begins; default: %(default)s")
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="also write a page for the wall")

    parser = add(commands, "course bundle", bundle, "write a zip file that installs the workbook without a network")
    parser.add_argument("--out", type=Path, metavar="FILE.zip", required=True)
    here = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    parser.add_argument("--platform", choices=("linux", "macos", "windows"), default=here, help="default: %(default)s")
    here = "{}.{}".format(*sys.version_info)
    parser.add_argument("--python", metavar="3.N", default=here, help="of the learners; default: %(default)s")
    parser.add_argument("--wheel", type=Path, metavar="FILE.whl", help="the workbook's own; needed outside of a clone")

    text = "show a trainer, live, where each seat is and who needs help"
    parser = add(commands, "course board", board, text, "The manual: notebooks/reference/board.md")
    parser.add_argument("--host", default="127.0.0.1", help="https on any but loopback; default: %(default)s")
    parser.add_argument("--port", type=int, default=8765, help="default: %(default)s")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where the learners' copies are")
    own = "what the board keeps: sent progress, tokens, certificate; default: %(default)s"
    parser.add_argument("--data", type=Path, metavar="DIR", default=Path("board"), help=own)

    text = "build a site with lessons 00 to 05 that run in a browser, where nothing can be installed"
    parser = add(commands, "course lite", lite, text)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="must not exist, or be empty")
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="keep here what is fetched: then no network is needed"
    )
    add(commands, "course incidents", incidents, "print cause and owner of each incident: not for the projector")


def course(commands: Any, _options: argparse.Namespace) -> NoReturn:
    """Say which commands a workshop has."""
    raise ParameterError(f"Which one? {did_you_mean('', [name for name in commands if name.startswith('course ')])}")


def agenda(options: argparse.Namespace) -> int:
    """Print the agenda, and write its page."""
    from workbook.base.files import write_whole
    from workbook.tools.course.agenda import agenda as planned

    try:
        starts = datetime.strptime(options.start, "%H:%M")  # noqa: DTZ007  # a clock on a wall
    except ValueError:
        raise ParameterError(f"--start {options.start!r:.20} is no time of day, such as 09:30.") from None
    plan = planned(options.minutes, options.audience, starts.hour * 60 + starts.minute)
    say(plan.text())
    if options.out is not None:
        with explain_failure(f"--out {str(options.out)!r} cannot be written"):
            write_whole(options.out, plan.html())
        say(f"For the wall: {options.out}")
    return ExitCode.OK


def bundle(options: argparse.Namespace) -> int:
    """Write a bundle."""
    from workbook.tools.course.bundle import Target, make_bundle

    make_bundle(options.out, Target.of(options.platform, options.python), options.wheel, say)
    size = options.out.stat().st_size / 1e6
    say(f"{options.out}: {size:.0f} MB")
    return ExitCode.OK


def board(options: argparse.Namespace) -> int:
    """Run the board until Ctrl-C."""
    from workbook.tools.course.board import serve_board  # asyncio, pydantic: 300 ms

    return serve_board(options.data, options.folder, options.host, options.port)


def lite(options: argparse.Namespace) -> int:
    """Build the site, and say what it lacks."""
    from workbook.tools.course.lite import build_site

    site = build_site(options.out, options.cache)
    for cell, why in site.left_out.items():
        say(f"left out: {cell}. {why}")
    say(f"{options.out}: {site.size / 1e6:.0f} MB. Any web server can serve it; to try it on this machine:")
    say(f"  {shlex.join(['python', '-m', 'http.server', '--bind', '127.0.0.1', '--directory', str(options.out)])}")
    return ExitCode.OK


def incidents(_options: argparse.Namespace) -> int:
    """Print the solutions."""
    from workbook.tools.course import agenda

    say(agenda.incidents().text())
    return ExitCode.OK
