"""Your own code judged in a notebook: a back end in this process, your back end, or your app."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch

from workbook.base.files import ScratchFolder, sample
from workbook.errors import ParameterError
from workbook.tools.conform.back_end import session
from workbook.tools.conform.back_end.api_side import MockApi
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import Api, BackEndForm, Config, Exports, load_config
from workbook.tools.conform.back_end.model import PLATFORMS, SURFACE, BackEndCase, Cardholder, Need, Target
from workbook.tools.conform.back_end.session import read_unasked
from workbook.tools.harness.model import CaseOptions, choose_cases, known_failures
from workbook.tools.harness.output import Result
from workbook.tools.harness.report import RunRecord
from workbook.tools.harness.summary import cell_progress
from workbook.views.table import Table, table

# The reference relay of the sample files, or a class derived from it, runs in this process. Every limit is shorter than
# the real one, so that a lesson does not wait: the relay gives up after 1.5 s instead of 8, the wallet after 3.5 s
# instead of 20.

RELAY_CARDS = tuple(f"PIRELAY{number:018d}" for number in range(1, 29))
# The cards of each session.
RELAY_SESSIONS = {"session-of-ann-7d1f": list(RELAY_CARDS[:26]), "session-of-bob-93c2": list(RELAY_CARDS[26:])}

_spec: Any = spec_from_file_location("workbook_sample_reference", sample("back_ends/reference.py"))
_reference = module_from_spec(_spec)
sys.modules[_spec.name] = _reference
_spec.loader.exec_module(_reference)
# The relay worth copying. A derived class can break it, or fix what is broken.
Relay: Any = _reference.Relay
# What its operations raise: a status, and a sentence for the app.
Refused: Any = _reference.Refused


def judge_relay(kind: Any = Relay, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> RunRecord:
    """Run a relay of this class, and cases against it.

    Args:
        kind: a class with the constructor of the reference relay.
        only: names, groups and globs of cases; all by default.
        seed: of all generated data.
        known: known failures: the name of each case with a comment.

    Raises:
        ParameterError: `kind` is no class of a relay, or a pattern fits no case.
    """
    if not (isinstance(kind, type) and issubclass(kind, Relay)):
        raise ParameterError(f"{kind!r:.60} is no relay. Give a class: class Mine(Relay): ...")
    command = f"wb.conform({kind.__name__})"
    options = CaseOptions(cases=choose_cases(CASES, only), baseline=known_failures(known), only=only, command=command)
    with ScratchFolder() as folder, mock_api(options.cases, seed=seed) as api:
        log = Path(folder) / "relay.log"
        with relay_running(kind, api, log) as address:
            config = Config(target(address, log, tls=api.ca_file is not None), BackEndForm(api=Api(seed=seed)))
            record = session.conform(config, options, api=api, progress=cell_progress())
    about = replace(record.about, target=kind.__name__, base_url="in this process")  # the address is gone already
    return replace(record, about=about)


def mock_api(cases: Iterable[BackEndCase], *, key: str | None = None, seed: int = 7) -> MockApi:
    """The API for these cases, with a certificate where one of them is about that."""
    tls = any(Need.API_TLS in case.needs for case in cases)
    return MockApi(RELAY_CARDS, key=key, seed=seed, tls=tls)


@contextmanager
def relay_running(kind: Any, api: MockApi, log: Path, *, handler: Any = None, deadline: float = 1.5) -> Iterator[str]:
    """The address of a relay that runs in this process for the block.

    Args:
        kind: its class.
        api: the API that it asks.
        log: the only file that its log is written to.
        handler: the HTTP in front of it; the reference's by default.
        deadline: of the relay for a whole call, in seconds.
    """
    logger, file = logging.getLogger("relay"), logging.FileHandler(log)
    with ExitStack() as undo:
        undo.callback(file.close)
        undo.callback(setattr, logger, "propagate", logger.propagate)
        undo.callback(logger.setLevel, logger.level)
        undo.callback(logger.removeHandler, file)
        logger.addHandler(file)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        given = read_unasked(api) | Exports().values(api.url, api.key, api.ca_file)
        with patch.dict(os.environ, given):
            relay = kind(api.url, api.key, RELAY_SESSIONS, deadline=deadline)
        undo.callback(relay.api.close)
        server = _reference.serve(relay, handler=handler or _reference.Handler)
        undo.callback(server.socket.close)
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        undo.callback(thread.join)
        undo.callback(server.shutdown)
        yield f"http://127.0.0.1:{server.server_port}"


def target(address: str, log: Path, *, tls: bool = False) -> Target:
    """The configuration of such a relay. A `back-end.toml` would say the same."""
    cardholders = tuple(
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in RELAY_SESSIONS.items()
    )
    return Target(
        address,
        dict.fromkeys(PLATFORMS, SURFACE),
        cardholders,
        3.5,
        (log,),
        api_tls=tls,
        contract="lesson",
    )


def case_table(*patterns: str) -> Table:
    """The cases that these names, groups or globs select; all cases without any.

    Raises:
        ParameterError: a pattern selects no case.
    """
    rows = ((case.name, f"{case.rule} ({case.rests_on.level})", case.says) for case in choose_cases(CASES, patterns))
    return table("What is asked", ("case", "rule", "in a sentence"), rows)


def conform(kind: Any = Relay, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> Result:
    """Judge a back end of a class, which runs in this process between a simulated phone and a simulated API.

    Args:
        kind: `wb.Relay`, or a class derived from it.
        only: names, groups and globs of cases; none means all.
        seed: of everything that the run makes up.
        known: known failures: the name of each case with a comment.

    Returns:
        The result: it shows itself, and has `failed`, `case`, `changes`, `write` and `exit_code`.

    Raises:
        ParameterError: `kind` is no class of a relay, or a pattern matches no case.

    Example:
        >>> wb.conform(wb.Relay, "relay.get.path").exit_code
        0
    """
    return Result(judge_relay(kind, *only, seed=seed, known=known))


def conform_back_end(path: str | Path, *only: str, known: Mapping[str, str] | None = None) -> Result:
    """Judge your own back end, between a simulated phone and a simulated API.

    Args:
        path: of a `back-end.toml`, which says where your back end is and how it starts.
        only: names, groups and globs of cases; none means all.
        known: known failures: the name of each case with a comment.

    Returns:
        The result, as that of `wb.conform`.

    Raises:
        ParameterError: a pattern matches no case.
        ConfigurationError: the file has mistakes; each is named.

    Example:
        >>> import os; os.environ.update(ANN="the-session-of-ann-1", BOB="the-session-of-bob-2")
        >>> wb.conform_back_end(wb.sample("back_ends/back-end.toml"), "relay.get.path").failed
        ()
    """
    options = CaseOptions(cases=choose_cases(CASES, only), baseline=known_failures(known), only=only)
    return Result(session.conform(load_config(Path(path)), options, progress=cell_progress()))


def conform_app(path: str | Path, *only: str, seed: int = 7, known: Mapping[str, str] | None = None) -> Result:
    """Judge your own app on a simulated phone, between a simulated SDK and a simulated back end.

    Args:
        path: of an `app.toml`, which says how your app is started or compiled.
        only: names, groups and globs of cases; none means all.
        seed: of everything that the run makes up.
        known: known failures: the name of each case with a comment.

    Returns:
        The result, as that of `wb.conform`.

    Raises:
        ParameterError: a pattern matches no case.
        ConfigurationError: the file has mistakes; each is named.

    Example:
        >>> wb.conform_app(wb.sample("apps/reference.toml"), "app.screen.shown-when-possible").failed
        ()
    """
    from workbook.tools.conform.app.run import judge_app  # its cases are loaded only for an app

    return Result(*judge_app(Path(path), only, cell_progress(), seed=seed, known=known))
