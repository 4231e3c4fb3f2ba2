"""The reference relay of the sample files, and any that is made of it, run in this process and judged.

    judge()                             the reference, every case
    judge(MyRelay, "fidelity")          one of your own making, one group

Everything is quicker than in earnest, so that a lesson does not wait: the relay gives up after 1.5 s instead of 12, and
the wallet after 3.5 s instead of 20.
"""

from __future__ import annotations

import logging
import sys
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING, Any

from workbook.conformance.cases import CASES
from workbook.conformance.config import Api, Config
from workbook.conformance.selection import chosen
from workbook.conformance.session import Wish, conform
from workbook.conformance.side import Side
from workbook.conformance.target import Cardholder, Operation, Surface, Target
from workbook.errors import ParameterError
from workbook.fixtures import fixture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import ModuleType

    from workbook.conformance.baseline import Known
    from workbook.conformance.report import Record

DEADLINE, BOUND = 1.5, 3.5
"""Seconds: of a relay for a whole call, and of the wallet."""
CARDS = tuple(f"PIRELAY{number:018d}" for number in range(1, 29))
SESSIONS = {"session-of-ann-7d1f": list(CARDS[:26]), "session-of-bob-93c2": list(CARDS[26:])}
SURFACE = Surface(
    Operation("GET", "/cards/{id}/activation-data"),
    Operation("POST", "/cards/{id}/provision", sdk_output="/sdkOutput"),
)


def _loaded(name: str) -> ModuleType:
    """A module of the sample files: a program to copy, which is no part of any package."""
    known = f"workbook_sample_{name}"
    spec = spec_from_file_location(known, fixture(f"back_ends/{name}.py"))
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = sys.modules[known] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_reference = _loaded("reference")
Relay: Any = _reference.Relay
"""The relay worth copying; a subclass can break it, or mend what is broken."""
Refused: Any = _reference.Refused
"""What its operations raise: a status, and a sentence for the app."""


def judge(kind: Any = Relay, *only: str, seed: int = 7, known: Iterable[Known] = ()) -> Record:
    """Run a kind of relay, and cases against it.

    Args:
        kind: a class, made as the reference relay is.
        only: names, groups and globs of cases; all by default.
        seed: of all that is made up.
        known: a baseline's entries.

    Raises:
        ParameterError: `kind` is no class of a relay, or a pattern means no case.
    """
    if not (isinstance(kind, type) and issubclass(kind, Relay)):
        raise ParameterError(f"{kind!r:.60} is no relay. Give a class: class Mine(Relay): ...")
    wish = Wish(chosen(CASES, only), known=tuple(known), only=only)
    with TemporaryDirectory(prefix="workbook-relay-") as folder, Side(CARDS, seed=seed) as side:
        log = Path(folder) / "relay.log"
        with running(kind, side, log) as address:
            return _named(conform(Config(target(address, log), Api(seed=seed)), wish, side=side), kind)


def _named(record: Record, kind: Any) -> Record:
    """The record with the name of the relay instead of an address that is gone already."""
    about = replace(record.about, target=kind.__name__, base_url="in this process")
    return replace(record, about=about)


@contextmanager
def running(kind: Any, side: Side, log: Path, *, handler: Any = None, deadline: float = DEADLINE) -> Iterator[str]:
    """The address of a relay in this process, and what it logs in a file.

    Args:
        kind: its class.
        side: the API's side, which it asks.
        log: where its log is written.
        handler: the HTTP in front of it; the reference's by default.
        deadline: of the relay for a whole call, in seconds.
    """
    with _logged(log):
        relay = kind(side.url, side.key, SESSIONS, deadline=deadline)
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
    """The configuration of such a relay, as Python; a `back-end.toml` would say the same."""
    cardholders = tuple(
        Cardholder(session[:14], tuple(cards), (("authorization", f"Bearer {session}"),))
        for session, cards in SESSIONS.items()
    )
    surfaces = {"platform A": SURFACE, "platform B": SURFACE}
    return Target(address, surfaces, cardholders, Operation("GET", "/status"), bound, (log,))


@contextmanager
def _logged(path: Path) -> Iterator[None]:
    """Everything that a relay's own logger is told stands in this file, and nowhere else."""
    logger, handler = logging.getLogger("relay"), logging.FileHandler(path)
    kept = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.level, logger.propagate = kept
        handler.close()
