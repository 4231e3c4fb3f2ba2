"""Many simulated worlds behind one address: each API key opens its own, and none sees another.

So one server serves a whole class. A world has its own service, and with it its own memory, seed and faults, and a
journal. Under a state file (`state`), an answer is given only after everything it changed is on the disk.

A request without a key, or with one that opens nothing, is answered as a service without any credential answers it, and
journaled under the name "nobody". Worlds have short public names, "w1", "w2" and so on in the order in which they were
opened, so that a person names a world without its key.

Threads take turns: a service counts what it issues, and its fault plan what it met, so no two requests may count at
once.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import RLock
from types import MappingProxyType

from workbook.errors import ConfigurationError, ParameterError, WorkbookError
from workbook.simulation.contract import SPEC, Broken
from workbook.simulation.http import PROBLEM_HEADERS, Request, Response
from workbook.simulation.journal import Journal
from workbook.simulation.phones import PROFILES
from workbook.simulation.scenario import Scenario, plan
from workbook.simulation.service import all_keys_in
from workbook.simulation.state import (
    UNREADABLE,
    Change,
    Faults,
    OpenWorld,
    Saved,
    StateFile,
    beginning,
    forget,
    restored,
    unsaved,
    whole,
)
from workbook.simulation.world import Credential, World
from workbook.values import did_you_mean

BASIS_HEADER = "x-workbook-basis"
"""In test mode every answer says in it which rules and sources it rests on; the real API has no such header."""
LONGEST_KEY = 1000
"""Characters of an API key."""
SALT = 16
"""Bytes of the salt of the digests that a persistent journal keeps instead of bodies."""
NOT_SAVED = "What this request changed cannot be written to the state file. Look at the disk that it is on."


class Worlds:
    """Answers each request in the world that its x-api-key opens; close it where it has a state file.

    Args:
        state: a file that keeps the worlds over a restart, see `state`; the worlds that are in it are opened.
        make_journal: makes the journal of each world.
        basis_header: test mode: every answer carries `BASIS_HEADER`.

    Raises:
        ConfigurationError: the file cannot be had, is something else, is damaged, or another process has it.
    """

    def __init__(
        self,
        state: str | Path | None = None,
        *,
        make_journal: Callable[[], Journal] = Journal,
        basis_header: bool = False,
    ) -> None:
        self.basis_header = basis_header
        self._make_journal = make_journal
        self._opened: dict[str, OpenWorld] = {}
        self._lock = RLock()
        journal = make_journal()
        self._nobody = {
            profile: OpenWorld.fresh(0, World(instruments={}, credentials={}, profile=profile), (), journal)
            for profile in PROFILES
        }
        self._file = None if state is None else StateFile(Path(state).absolute())
        if self._file is not None:
            try:
                self._restore(self._file)
            except BaseException:
                self._file.close()
                raise

    def __repr__(self) -> str:
        return f"Worlds({len(self)} keys)"

    def __len__(self) -> int:
        return len(self._opened)

    def __contains__(self, key: str) -> bool:
        return key in self._opened

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key that opens a world, in the order in which they were added."""
        return tuple(self._opened)

    @property
    def journals(self) -> Mapping[str, Journal]:
        """Each world's journal by its public name."""
        with self._lock:
            return {opened.name: opened.journal for opened in (self.nobody, *self._opened.values())}

    @property
    def nobody(self) -> OpenWorld:
        """The world without any credential, for requests whose key opens none.

        It answers in the profile of the first world: a client that is refused sees how this server refuses.
        """
        profiles = (opened.world.profile for opened in self._opened.values())
        return self._nobody[next(profiles, PROFILES[0])]

    def close(self) -> None:
        """Release the state file; a request after that is answered with 500."""
        if self._file is not None:
            with self._lock:
                self._file.close()

    # ------------------------------------------------------------ requests

    def respond(self, request: Request) -> Response:
        """The answer of the world that the request's key opens, after all that it changed is on the disk.

        Where the disk refuses, the answer is a 500 (openapi; that it is given here is assumed) although the service has
        done its part: what it did is written with the next request of that world.
        """
        with self._lock:
            key = self.opener(request)
            opened = self.nobody if key is None else self._opened[key]
            response = self._exchanged(opened, request)
        if self.basis_header:
            response = replace(response, headers=(*response.headers, (BASIS_HEADER, response.basis)))
        seconds = opened.world.latencies.get(request.method, 0.0)
        if seconds:  # a server with a real socket carries it out
            wire = replace(response.wire, before_headers=response.wire.before_headers + seconds)
            response = replace(response, wire=wire)
        return response

    def _exchanged(self, opened: OpenWorld, request: Request) -> Response:
        """The answer; the journal keeps it, and hears of it only when it is on the disk."""
        journal, arrived = opened.journal, opened.journal.now()
        try:
            response = opened.service.respond(request)
        except Exception as error:
            journal.record(arrived, request, error, self._opened)
            raise
        # The order matters: service, disk, journal. A crash before the disk loses what no client was told; one after it
        # loses nothing; and a test that waits for an entry never hears of an exchange that a crash could take back.
        latest = journal.entry(arrived, request, response, self._opened)
        if self._file is not None and opened.number:
            try:
                changes, saved = unsaved(opened, latest)
                self._file.write(changes)
                opened.saved = saved
            except ConfigurationError:
                internal = SPEC.problems[Broken.OURS]
                response = Response(internal.status, PROBLEM_HEADERS, internal.body(NOT_SAVED), internal.basis)
                latest = journal.entry(arrived, request, response, self._opened)
        journal.append(latest)
        return response

    def opener(self, request: Request) -> str | None:
        """The key that opens a world to this request, in whichever way the request carries it; None where none does.

        Whether that way is accepted, the world's own contract decides.
        """
        key = request.header("x-api-key")
        if key in self._opened:
            return key
        return next((candidate for candidate in all_keys_in(request, SPEC) if candidate in self._opened), None)

    # ------------------------------------------------------------ finding a world

    def place(self, key: str) -> OpenWorld:
        """The world that this key opens.

        Raises:
            ConfigurationError: it opens none.
        """
        opened = self._opened.get(key)
        if opened is None:
            raise ConfigurationError(f"No world has this key (it is not repeated here); there are {len(self)}.")
        return opened

    def named(self, name: str | None = None) -> OpenWorld:
        """The world of this public name; None means the only one that has a key.

        Raises:
            ParameterError: no world has this name, or there are several.
        """
        worlds = {opened.name: opened for opened in (self.nobody, *self._opened.values())}
        if name is None and len(self) == 1:
            return next(iter(self._opened.values()))
        if name not in worlds:
            hint = did_you_mean((name or "")[:40], worlds)
            raise ParameterError(f"Say which world is meant (in a query, as ?world=name). {hint}")
        return worlds[name]

    def key_of(self, opened: OpenWorld) -> str:
        """The key that opens this world; it goes into no answer and no log (REL-2).

        Raises:
            ConfigurationError: no key does.
        """
        for key, known in self._opened.items():
            if known is opened:
                return key
        names = [known.name for known in self._opened.values()]
        raise ConfigurationError(f"No world of that name has a key. {did_you_mean(opened.name, names)}")

    # ------------------------------------------------------------ opening and changing worlds

    def add(
        self, what: Scenario | World, key: str | None = None, *, credential: str | None = None, seed: int | None = None
    ) -> str:
        """Open a world of its own to a key, and return the key.

        Two worlds with the same seed read each other's sdkOutput, as nothing else distinguishes their seals.

        Args:
            what: a scenario; or a world, whose first credential gets the key.
            key: None makes a fresh one.
            credential: which of the scenario's; None takes the first.
            seed: instead of the scenario's or the world's own.

        Raises:
            ConfigurationError: the key is no header value or is taken already; the scenario has no such credential; its
                faults are invalid; or the state file cannot be written. Nothing was added.
        """
        with self._lock:
            key = f"SIMULATED-{secrets.token_urlsafe(18)}" if key is None else self._checked(key)
            number = 1 + max((opened.number for opened in self._opened.values()), default=0)
            salt = b"" if self._file is None else secrets.token_bytes(SALT)
            journal = self._make_journal()
            journal.persist(salt)
            opened = OpenWorld.fresh(number, *_meaning(what, key, credential, seed), journal, salt)
            self._write(beginning(key, opened))
            opened.saved = Saved(counts=opened.counts, resets=journal.resets)
            self._opened[key] = opened
            return key

    def add_each(self, scenario: Scenario, *, seed: int | None = None) -> dict[str, str]:
        """Open a world to each of the scenario's credentials, those with the role first: name to fresh key."""
        names = sorted(scenario.credentials, key=lambda name: not scenario.credentials[name].roles)
        return {name: self.add(scenario, credential=name, seed=seed) for name in names}

    def open(self, key: str, what: Scenario | World, *, credential: str | None = None, seed: int | None = None) -> None:
        """Let a key that opens a world open another one, from its beginning; the arguments are those of `add`.

        Raises:
            ConfigurationError: the key opens none; or as `add`, and nothing changed.
        """
        with self._lock:
            self._begin(key, *_meaning(what, key, credential, seed))

    def reset(self, key: str) -> None:
        """Make a world what it was when it was opened: nothing issued, nothing exchanged, every fault still to come.

        Faults that were planned since are gone; the journal is empty.

        Raises:
            ConfigurationError: the key opens none, or the state file cannot be written, and nothing changed.
        """
        with self._lock:
            opened = self.place(key)
            self._begin(key, opened.world, opened.own)

    def fault(self, key: str, faults: Faults) -> None:
        """Play these `[[fault]]` tables in a world from now on, instead of its own; it remembers all the same.

        Raises:
            ConfigurationError: the key opens none, a table is invalid, or the state file cannot be written; nothing
                changed.
        """
        with self._lock:
            opened = self.place(key)
            planned = plan(faults, opened.world.seed, where=opened.world.name)
            self._write([forget(opened.number, "plan"), whole(key, opened, faults)])
            opened.service.plan, opened.faults = planned, faults
            opened.saved = replace(opened.saved, counts=opened.counts)

    def _begin(self, key: str, world: World, faults: Faults) -> None:
        """Put a world at its beginning in the place of the one that the key opens, with the same name and journal."""
        before = self.place(key)
        opened = OpenWorld.fresh(before.number, world, faults, before.journal, before.salt)
        self._write(beginning(key, opened))
        before.journal.reset()
        opened.saved = Saved(counts=opened.counts, resets=before.journal.resets)
        self._opened[key] = opened

    def _write(self, changes: list[Change]) -> None:
        if self._file is not None:
            self._file.write(changes)

    def _restore(self, file: StateFile) -> None:
        for number, parts in file.read().items():
            try:
                key, opened = restored(number, parts, self._make_journal())
            except (*UNREADABLE, WorkbookError):
                raise file.damaged("a world in it cannot be read") from None
            self._opened[key] = opened

    def _checked(self, key: str) -> str:
        fits = isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and key.isascii() and key.isprintable()
        if not fits or " " in key:
            raise ConfigurationError(
                f"That key cannot stand in a header. A key is 1 to {LONGEST_KEY} printable ASCII characters, no blanks."
            )
        if key in self._opened:
            raise ConfigurationError("This key opens a world already (it is not repeated here). Choose another.")
        return key


def _meaning(what: Scenario | World, key: str, credential: str | None, seed: int | None) -> tuple[World, Faults]:
    """The world that the key opens, and its faults."""
    if isinstance(what, Scenario):
        return what.world(api_key=key, credential=credential, seed=seed), what.faults
    first = next(iter(what.credentials.values()), Credential())
    return replace(what, credentials=MappingProxyType({key: first}), seed=what.seed if seed is None else seed), ()
