"""The reference relay of the sample files, or a class derived from it, run in this process and judged.

    judge()                             the reference, every case
    judge(MyRelay, "fidelity")          a relay of your own, one group

All limits are shorter than the real ones, so that a lesson does not wait: the relay gives up after 1.5 s instead of 12,
and the wallet after 3.5 s instead of 20.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from types import ModuleType
from typing import Any

from workbook.conformance.api_side import MockApi
from workbook.conformance.baseline import Known
from workbook.conformance.cases import CASES
from workbook.conformance.config import Api, Config
from workbook.conformance.model import PLATFORMS, Cardholder, Operation, Surface, Target
from workbook.conformance.report import Record
from workbook.conformance.selection import chosen
from workbook.conformance.session import RunOptions, conform
from workbook.errors import ParameterError
from workbook.files import fixture

DEADLINE, BOUND = 1.5, 3.5
"""Seconds: of a relay for a whole call, and of the wallet."""
CARDS = tuple(f"PIRELAY{number:018d}" for number in range(1, 29))
SESSIONS = {"session-of-ann-7d1f": list(CARDS[:26]), "session-of-bob-93c2": list(CARDS[26:])}
SURFACE = Surface(
    Operation("GET", "/cards/{id}/activation-data"),
    Operation("POST", "/cards/{id}/provision", sdk_output="/sdkOutput"),
)


def _sample_module(name: str) -> ModuleType:
    """A module of the sample files: a program to copy, which is part of no package."""
    full_name = f"workbook_sample_{name}"
    spec = spec_from_file_location(full_name, fixture(f"back_ends/{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = sys.modules[full_name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_reference = _sample_module("reference")
Relay: Any = _reference.Relay
"""The relay worth copying. A derived class can break it, or mend what is broken."""
Refused: Any = _reference.Refused
"""What its operations raise: a status, and a sentence for the app."""


def judge(kind: Any = Relay, *only: str, seed: int = 7, known: Iterable[Known] = ()) -> Record:
    """Run a relay of this class, and cases against it.

    Args:
        kind: a class with the constructor of the reference relay.
        only: names, groups and globs of cases; all by default.
        seed: of all generated data.
        known: a baseline's entries.

    Raises:
        ParameterError: `kind` is no class of a relay, or a pattern fits no case.
    """
    if not (isinstance(kind, type) and issubclass(kind, Relay)):
        raise ParameterError(f"{kind!r:.60} is no relay. Give a class: class Mine(Relay): ...")
    options = RunOptions(chosen(CASES, only), known=tuple(known), only=only)
    with TemporaryDirectory(prefix="workbook-relay-") as folder, MockApi(CARDS, seed=seed) as api:
        log = Path(folder) / "relay.log"
        with relay_running(kind, api, log) as address:
            record = conform(Config(target(address, log), Api(seed=seed)), options, api=api)
    about = replace(record.about, target=kind.__name__, base_url="in this process")  # the address is gone already
    return replace(record, about=about)


@contextmanager
def relay_running(
    kind: Any, api: MockApi, log: Path, *, handler: Any = None, deadline: float = DEADLINE
) -> Iterator[str]:
    """The address of a relay that runs in this process for the block.

    Args:
        kind: its class.
        api: the API that it asks.
        log: where its log is written.
        handler: the HTTP in front of it; the reference's by default.
        deadline: of the relay for a whole call, in seconds.
    """
    with _log_file(log):
        relay = kind(api.url, api.key, SESSIONS, deadline=deadline)
        server = _reference.serve(relay, handler=handler or _reference.Handler)
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.socket.close()
            relay.api.close()


def target(address: str, log: Path, bound: float = BOUND) -> Target:
    """The configuration of such a relay. A `back-end.toml` would say the same."""
    cardholders = tuple(
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in SESSIONS.items()
    )
    return Target(address, dict.fromkeys(PLATFORMS, SURFACE), cardholders, bound, (log,))


@contextmanager
def _log_file(path: Path) -> Iterator[None]:
    """Write what a relay logs into this file, and nowhere else."""
    logger, handler = logging.getLogger("relay"), logging.FileHandler(path)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = before
        handler.close()
