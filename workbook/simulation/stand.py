"""Everything that one server answers with: worlds by key, their journals, the control API, and what is kept on disk.

What the control API does over HTTP, a `Stand` does in Python by the same names: journal, wait, verify, reset, faults,
scenario.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from workbook.errors import ConfigurationError, did_you_mean
from workbook.simulation import verification
from workbook.simulation.control import Actions, Control
from workbook.simulation.journal import Match
from workbook.simulation.journals import NOBODY, Journals, meant
from workbook.simulation.own_host import OwnHost
from workbook.simulation.scenario import Scenario, load, parse, scenarios
from workbook.simulation.state import Kept
from workbook.simulation.worlds import Worlds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from workbook.simulation.expectation import Expectation
    from workbook.simulation.http import Request, Response
    from workbook.simulation.journal import Entry, Journal
    from workbook.simulation.verification import Outcome
    from workbook.simulation.waiters import Matching
    from workbook.simulation.world import World

ANY = Match()
DEFAULT = "default"
WAIT = 10.0
"""Seconds that `wait` waits where nothing else is said, as over HTTP."""


class Stand:
    """One stand-in: a world for each of a scenario's credentials.

    In a test the same object is asked and served; a thread may wait while another asks:

    >>> from workbook.simulation.stand import Stand
    >>> from workbook.simulation.journal import Match
    >>> from workbook.simulation.server import running
    >>> from workbook.simulation.verification import exactly, no_repeated_post
    >>> import httpx
    >>> stand = Stand()
    >>> stand.faults({"fault": "503 that says 500", "operation": "GET", "nth": 2})
    >>> target = "/bcl/v2/paymentInstruments/PISIMULATED00000000000001/networkTokenActivationData"
    >>> with running(stand) as url, httpx.Client(base_url=url, headers={"x-api-key": stand.keys["back end"]}) as client:
    ...     [client.get(target).status_code for _ in range(3)]
    [200, 503, 200]
    >>> stand.wait(Match("GET", after=1)).fault
    '503 that says 500'
    >>> for outcome in stand.verify(exactly(2, "GET").answered(200), no_repeated_post()):
    ...     print(outcome)
    ok: exactly 2 GET answered 200; seen: 2 GET (#1, #3).
    ok: no POST sent twice with the same body (REL-1); seen: 0 POST, no two alike.
    >>> len(stand.journal().to_har()["log"]["entries"])
    3
    >>> stand.scenario("class-room")
    >>> (stand.world.name, len(stand.journal()))
    ('class-room', 0)

    Each of these calls means the world that a `world` names, such as "w2" (see `journals`), which may be left out where
    there is one only; where none has that name, it raises a `ParameterError`.

    Args:
        scenario: a scenario's name or file.
        seed: instead of the scenario's own, and of each that is opened later.
        state: a file that keeps the worlds over a restart; what it has already goes before the scenario.
        names: what else than loopback the server goes by.
        basis_header: test mode: every answer says in a header what it rests on.

    Attributes:
        keys: credential's name to key.
        control: the control API, with a token of its own.
        token: the control API's.
        journals: the worlds' journals by name; whoever comes with no key that opens a world is in "nobody".

    Raises:
        ConfigurationError: the scenario or the state file is not in order.
    """

    def __init__(
        self,
        scenario: str | Path = DEFAULT,
        *,
        seed: int | None = None,
        state: Path | None = None,
        names: Iterable[str] = (),
        basis_header: bool = False,
    ) -> None:
        self.journals = Journals()
        self._seed = seed
        chosen = load(scenario)
        worlds = Worlds(around=self.journals.around, basis_header=basis_header)
        self.worlds: Worlds | Kept = worlds if state is None else Kept(worlds, state, self.journals)
        self.keys = self._kept() or self._added(chosen)
        self.token = secrets.token_urlsafe(24)
        self.control = Control(self.token, self.journals, Actions(self.reset, self._fault, self._open))
        self._front = OwnHost(self.worlds, names)

    def __repr__(self) -> str:
        return f"Stand({self.worlds!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def world(self) -> World:
        """What the first key opens."""
        return self.worlds.place(next(iter(self.keys.values()))).world

    def respond(self, request: Request) -> Response:
        """The answer to a request, in the world that its key opens."""
        return self._front.respond(request)

    def close(self) -> None:
        """Let the state file go."""
        if isinstance(self.worlds, Kept):
            self.worlds.close()

    def journal(self, world: str | None = None) -> Journal:
        """What a world was asked and what it answered; `to_har` and `to_jsonl` export it."""
        return self.journals[meant(self.journals, world)]

    def wait(self, matching: Matching = ANY, timeout: float = WAIT, *, world: str | None = None) -> Entry | None:
        """The first exchange that is meant, there already or to come; None when the time (seconds) was up."""
        return self.journal(world).wait(matching, timeout)

    def verify(self, *expectations: Expectation, world: str | None = None) -> list[Outcome]:
        """How each expectation of a world's journal turned out, in their order."""
        return verification.verify(self.journal(world), *expectations)

    def reset(self, world: str | None = None) -> None:
        """Make a world what it was at the start, with an empty journal.

        Raises:
            ConfigurationError: the state file cannot be written, and nothing changed.
        """
        name = meant(self.journals, world)
        if name == NOBODY:
            self.journals[name].reset()
        else:
            self.worlds.reset(self.journals.key(name))

    def faults(self, *tables: dict[str, Any], world: str | None = None) -> None:
        """Play these faults from now on, instead of the planned ones; each as a scenario's `[[fault]]` has it.

        Raises:
            ConfigurationError: a table is not as `fault_plan` reads it; or as `reset`.
        """
        self.worlds.fault(self.journals.key(meant(self.journals, world)), tables)

    def scenario(self, scenario: str | Path | Scenario, *, world: str | None = None) -> None:
        """Open a scenario in a world, behind the same key and from its beginning, with an empty journal.

        Args:
            scenario: its name, its file, or the scenario itself.
            world: which; see above.

        Raises:
            ConfigurationError: the scenario is not in order; or as `reset`.
        """
        what = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.worlds.open(self.journals.key(meant(self.journals, world)), what, seed=self._seed)

    def _kept(self) -> Mapping[str, str]:
        return {f"kept {number}": key for number, key in enumerate(self.worlds.keys, 1)}

    def _added(self, scenario: Scenario) -> Mapping[str, str]:
        """A key for each credential; one that holds the role comes first."""
        names = sorted(scenario.credentials, key=lambda name: not scenario.credentials[name].roles)
        return {name: self.worlds.add(scenario, credential=name, seed=self._seed) for name in names}

    def _fault(self, name: str, tables: list[dict[str, Any]]) -> None:
        self.faults(*tables, world=name)

    def _open(self, name: str, said: str | bytes) -> None:
        """A name means one of the package's scenarios: over HTTP nobody opens files."""
        if isinstance(said, str) and said not in scenarios():
            raise ConfigurationError(f"There is no scenario of that name. {did_you_mean(said[:40], scenarios())}")
        self.scenario(
            load(said) if isinstance(said, str) else parse(said, name="yours", file="the request"), world=name
        )
