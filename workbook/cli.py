"""The `workbook` command: one handler a subcommand, and no traceback for the user.

Only the standard library is imported up here: `workbook --help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import traceback
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from workbook.errors import ParameterError, WorkbookError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

USAGE: Final = 2
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
UNEXPECTED: Final = 255

_RUN_CODES: Final = """exit codes (when notebooks end differently, the highest wins):
  0  every cell ran and every check passed
  1  a check failed
  2  usage or a parameter is wrong; nothing ran
  3  a notebook raised an error
  4  the time limit passed; the kernel was killed
  5  a kernel died
  130  interrupted; the report holds what had ended

A key is read from the environment variable WORKBOOK_API_KEY and never from a parameter."""

_RENDER_CODES: Final = "exit codes: 0 done, or nothing differs; 1 with --check, a notebook differs; 3 a notebook failed"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ParameterError(f"{message}. Try: {self.prog} --help")

    def unrecognized(self, words: Sequence[str]) -> NoReturn:
        """Refuse words that mean nothing here; what stands after a = may be a secret, and is not repeated."""
        names = [word.partition("=")[0] for word in words]
        close = get_close_matches(names[0], self._option_string_actions, n=1)
        hint = f". Did you mean {close[0]!r}?" if close else "."
        raise ParameterError(f"unrecognized arguments: {' '.join(names)}{hint} Try: {self.prog} --help")


def main(argv: list[str] | None = None) -> int:
    """Carry out one command line and return the process's exit code; nothing is raised.

    Args:
        argv: the words after the program's name; None takes them from the process.
    """
    try:
        return _dispatch(sys.argv[1:] if argv is None else argv)
    except SystemExit as end:  # argparse leaves this way after --help
        return end.code if isinstance(end.code, int) else 0
    except KeyboardInterrupt:
        _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except WorkbookError as error:
        _tell(str(error))
        return USAGE
    except Exception as error:  # noqa: BLE001  # the last one before the user
        return _unexpected(error)


def _dispatch(argv: list[str]) -> int:
    parser, commands = _parsers()
    word = argv[0] if argv else "--help"
    if not word.startswith("-") and word not in commands:
        raise ParameterError(f"No command {word[:40]!r}. {did_you_mean(word, commands)}")
    options, unknown = parser.parse_known_args(argv or ["--help"])
    if unknown:
        commands.get(word, parser).unrecognized(unknown)
    handler: Callable[[argparse.Namespace], int] | None = getattr(options, "handler", None)
    if handler is None:
        raise ParameterError(f"Which command? {did_you_mean('', commands)}")
    return handler(options)


def _tell(message: str) -> None:
    from workbook.runner.scrub import Scrubber  # noqa: PLC0415  # not before something is wrong

    print(f"workbook: {Scrubber.of_environment(os.environ).clean(message)}", file=sys.stderr)


def _unexpected(error: Exception) -> int:
    if os.environ.get("WORKBOOK_DEBUG"):
        _tell("".join(traceback.format_exception(error)).rstrip())
        return UNEXPECTED
    told = " ".join(str(error).split())
    _tell(f"unexpected {type(error).__name__}: {told} (WORKBOOK_DEBUG=1 shows the traceback)")
    return UNEXPECTED


def _parsers() -> tuple[_Parser, Mapping[str, _Parser]]:
    parser = _Parser(prog="workbook", description="Walk, break and test in-app wallet card provisioning.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    _add_lab(commands)
    _add_serve(commands)
    _add_sdk_output(commands)
    _add_run(commands)
    _add_render(commands)
    _add(commands, "doctor", _doctor, "look at this machine: versions, kernel, ports, clock")
    _add_rules(commands)
    return parser, commands.choices


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  # 20 ms

    try:
        return f"workbook {version('provisioning-workbook')}"
    except PackageNotFoundError:
        return "workbook (not installed)"


def _add(
    commands: Any, name: str, handler: Callable[[argparse.Namespace], int], text: str, epilog: str = ""
) -> _Parser:
    parser: _Parser = commands.add_parser(
        name,
        help=text,
        description=text[0].upper() + text[1:] + ".",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(handler=handler)
    return parser


def _add_lab(commands: Any) -> None:
    parser = _add(commands, "lab", _lab, "open the notebooks in JupyterLab, on this machine only")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--port", type=int, default=None, help="default: the first free one from 8888")
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks")


def _add_serve(commands: Any) -> None:
    parser = _add(commands, "serve", _serve, "serve the simulated API over HTTP")
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument("--port", type=int, default=0, help="default: any free port, which is printed")
    parser.add_argument("--json", action="store_true", help="print the address, the key and sdkOutputs as JSON")
    parser.add_argument("--quiet", action="store_true", help="do not log each request on stderr")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="default: %(default)s")
    parser.add_argument("--state", type=Path, metavar="FILE", help="keep the worlds over a restart")
    parser.add_argument("--tls", action="store_true", help="serve https as well, with a throw-away certificate")
    parser.add_argument("--control", action="store_true", help="serve the control API as well, with a token of its own")
    parser.add_argument("--basis", action="store_true", help="say in a header what each answer rests on")
    parser.add_argument("--allow-remote", action="store_true", help="let others than this machine in")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of all that the simulation makes up; default: the scenario's"
    )


def _add_sdk_output(commands: Any) -> None:
    parser = _add(commands, "sdk-output", _sdk_output, "print a fresh sdkOutput, good for one POST to `workbook serve`")
    parser.add_argument("id", nargs="?", metavar="ID", help="of the payment instrument; default: the first one")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="the one that the server was started with")
    parser.add_argument("--scenario", default="default", metavar="NAME|FILE", help="the one that it was started with")


def _add_run(commands: Any) -> None:
    parser = _add(commands, "run", _run, "run notebooks and write a report", _RUN_CODES)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="01, activation_data or 01_activation_data; default: all"
    )
    parser.add_argument("-p", dest="given", action="append", default=[], metavar="NAME=VALUE", help="a parameter")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="DIR", help="default: %(default)s")
    _add_notebooks(parser)


def _add_render(commands: Any) -> None:
    parser = _add(commands, "render", _render, "execute notebooks in place and store their outputs", _RENDER_CODES)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; name the notebooks that differ")
    _add_notebooks(parser)


def _add_notebooks(parser: _Parser) -> None:
    parser.add_argument("--notebooks", type=Path, metavar="DIR", help="default: ./notebooks")
    parser.add_argument(
        "--time-limit", type=float, default=300.0, metavar="SECONDS", help="per notebook; default: %(default)g"
    )


def _add_rules(commands: Any) -> None:
    parser = _add(commands, "rules", _rules, "print the rules of the interface document, or one of them")
    parser.add_argument("id", nargs="?", metavar="ID", help="such as A-CAN-2")


def _lab(options: argparse.Namespace) -> int:
    from workbook.lab import Lab  # noqa: PLC0415  # each handler imports its own

    _end_like_ctrl_c()
    lab = Lab.on(options.notebooks, port=options.port, browser=not options.no_browser)
    return lab.run(tell=lambda line: print(line, flush=True))


def _serve(options: argparse.Namespace) -> int:
    from workbook.simulation.server import Options, serve  # noqa: PLC0415  # cryptography, asyncio: 50 ms

    chosen = Options(
        host=options.host,
        port=options.port,
        as_json=options.json,
        seed=None if options.seed is None else _seed(options.seed),
        quiet=options.quiet,
        scenario=options.scenario,
        state=options.state,
        tls=options.tls,
        control=options.control,
        basis=options.basis,
        allow_remote=options.allow_remote,
    )
    return serve(chosen)


def _sdk_output(options: argparse.Namespace) -> int:
    from workbook.simulation.handout import fresh_output  # noqa: PLC0415
    from workbook.simulation.scenario import load  # noqa: PLC0415

    world = load(options.scenario).world(seed=None if options.seed is None else _seed(options.seed))
    wanted = next(iter(world.instruments)) if options.id is None else options.id
    print(fresh_output(wanted, seed=world.seed, world=world))
    return 0


def _seed(number: int) -> int:
    from workbook.parameters import Parameters  # noqa: PLC0415

    return Parameters.of(seed=number).seed


def _run(options: argparse.Namespace) -> int:
    from workbook.runner.session import Request, run  # noqa: PLC0415

    _end_like_ctrl_c()
    request = Request(
        names=options.names,
        given=_pairs(options.given),
        out=options.out,
        notebooks=options.notebooks,
        limit=options.time_limit,
    )
    report = run(request)
    print(f"report in {options.out}")
    return report.exit_code


def _render(options: argparse.Namespace) -> int:
    from workbook.runner.render import exit_code, render  # noqa: PLC0415
    from workbook.runner.selection import notebooks_dir, select  # noqa: PLC0415

    _end_like_ctrl_c()
    chosen = select(options.names, notebooks_dir(options.notebooks))
    write = not options.check
    rendered = render(chosen, write=write, limit=options.time_limit, done=lambda each: print(each, flush=True))
    return exit_code(rendered, write=write)


def _doctor(_: argparse.Namespace) -> int:
    from workbook.doctor import examine  # noqa: PLC0415

    _end_like_ctrl_c()
    findings = [_printed(finding) for finding in examine()]
    return 0 if all(finding.ok for finding in findings) else 1


def _printed(thing: Any) -> Any:
    print(thing, flush=True)
    return thing


def _rules(options: argparse.Namespace) -> int:
    from workbook.rules import rule, rules  # noqa: PLC0415

    for each in rules() if options.id is None else [rule(options.id.strip().upper())]:
        print(each)
    return 0


def _pairs(given: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for word in given:
        name, equals, value = word.partition("=")
        if not equals:
            raise ParameterError("-p needs NAME=VALUE, such as -p seed=9.")
        if name in pairs:
            raise ParameterError(f"-p {name} was given twice.")
        pairs[name] = value
    return pairs


def _end_like_ctrl_c() -> None:
    """Let a closed terminal or a cancelled build end the kernels too."""
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name) and threading.current_thread() is threading.main_thread():
            signal.signal(getattr(signal, name), signal.default_int_handler)
