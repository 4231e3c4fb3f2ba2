"""The configuration of a run: the back end, how it gets the API's address and key, and the timeouts.

`config_file` reads a `Config` from `back-end.toml`; `understood` describes one in words, without secrets.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbook.api.net import Origin
from workbook.relay.model import BY_STATUS, IN_BODY, RAW, RelayGroup, Surface, Target

PRINTED = "command-output.log"
"""The name of the log that holds what a start command prints."""


@dataclass(frozen=True, slots=True)
class Exports:
    """The names under which the back end gets the API's address, its key and, with TLS, the file of its authority."""

    url: str = "API_URL"
    key: str = "API_KEY"
    ca: str = "API_CA_FILE"

    def values(self, url: str, key: str, ca_file: Path | None = None) -> dict[str, str]:
        """The exported values by their names."""
        return {self.url: url, self.key: key} | ({self.ca: str(ca_file)} if ca_file else {})


@dataclass(frozen=True, slots=True)
class BackEndStart:
    """How the back end gets the exported values.

    Attributes:
        command: a shell command that starts it, with the values in its environment; None for none.
        folder: where the command runs.
        hook: a URL that the values are posted to as JSON; None for none. With neither, a person sets the values.
        proxy: whether the command's environment names a proxy, to see that the API's requests do not go there.
    """

    command: str | None = None
    folder: Path | None = None
    hook: str | None = None
    proxy: bool = True


@dataclass(frozen=True, slots=True)
class RunTimeouts:
    """How long the workbook waits, in seconds.

    Attributes:
        first_call: for the first request at the mock API, where a person sets the values.
        start: until the back end listens, where a command starts it.
        whole: for all cases together.
    """

    first_call: float = 120.0
    start: float = 30.0
    whole: float = 900.0


@dataclass(frozen=True, slots=True)
class Api:
    """The mock API that the back end calls.

    Attributes:
        port: where it listens; 0 takes any free one.
        profile: `spec`, or `field` with what is publicly known besides.
        seed: of all values that it makes up.
        key: the API key that the back end gets; None makes a fresh one.
        tls: it has a certificate, and at times one that a client must refuse.
    """

    port: int = 0
    profile: str = "spec"
    seed: int = 7
    key: str | None = field(default=None, repr=False)
    tls: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration of a run. Everything but the target has a default: `Config(target)`.

    Attributes:
        target: the back end.
        api: the API's side.
        exports: the names under which the back end gets the address and the key.
        start: how it gets them.
        timeouts: how long the workbook waits.
        file: the path of the file as it was given; empty where there is none.
        adapter: the name of a Python adapter that is not loaded yet; empty for none.
        folder: where the adapter's module is.
    """

    target: Target
    api: Api = Api()
    exports: Exports = Exports()
    start: BackEndStart = BackEndStart()
    timeouts: RunTimeouts = RunTimeouts()
    file: str = ""
    adapter: str = ""
    folder: Path | None = None

    @property
    def instruments(self) -> tuple[str, ...]:
        """The payment instruments of all cardholders' cards."""
        return tuple(self.target.instrument(card) for one in self.target.cardholders for card in one.cards)

    @property
    def expected(self) -> Target:
        """The back end as it will run: what a start command prints is one of its logs, and a proxy is named to it."""
        if self.start.command is None:
            return self.target
        return replace(self.target, logs=(*self.target.logs, Path(PRINTED)), proxied=self.start.proxy)


# The configuration in words: what `workbook conform --check-config` prints. A file can be in order and still not mean
# what its author thinks, and to find that out by a run takes minutes.

SHELL = re.compile(
    r"(!|\.|:|\[\[?|alias|cd|command|eval|exec|export|if|for|set|source|test|time|trap|ulimit|umask|until|while)\Z"
)
"""First words of a command that the shell itself understands."""
FAILURES = {
    BY_STATUS: 'a status outside 2xx; with failures = "body" a 200 may report a failure in its body',
    IN_BODY: (
        "a status outside 2xx, or a 200 whose body has no sdkInput and has error, errors, failure or reason, or has "
        "ok, success or successful = false"
    ),
}
"""How the back end reports a failure to the app."""
SHOWN = 3
"""How many cards of a cardholder are named."""


def understood(config: Config) -> str:
    """The whole configuration in words, one line for each thing, without secrets."""
    return "\n".join(_lines(config))


def _lines(config: Config) -> Iterator[str]:
    target = config.target
    yield f"Back end: {target.base_url}"
    if target.over_http and not Origin.of(target.base_url).is_local:
        yield "  It runs on another machine, and the mock API listens on this one only: the back end needs a tunnel."
    for platform, surface in target.surfaces.items():
        yield f"App of {platform}:"
        yield from (f"  {line}" for line in _surface(platform, surface, adapter=bool(config.adapter)))
    if target.over_http and not config.adapter:
        yield f"The back end reports a failure by {FAILURES[target.failures]}."
    for cardholder in target.cardholders:
        count, names = len(cardholder.cards), ", ".join(cardholder.cards[:SHOWN])
        cards = f"{count} {'card' if count == 1 else 'cards'} ({names}{' and more' if count > SHOWN else ''})"
        headers = ", ".join(name for name, _value in cardholder.session)
        of_cards = "a session for each card" if cardholder.sessions else "no session"
        with_ = f"a session in {headers}" if headers else of_cards
        yield f"Cardholder {cardholder.name!r}: {cards}, {with_}."
    if target.ca_file is not None:
        yield f"Certificates in {target.ca_file} are trusted, besides those that this machine trusts."
    if target.instruments:
        count = len(target.instruments)
        yield f"{count} {'card has' if count == 1 else 'cards have'} another id at the API."
    if target.pace:
        yield f"At least {target.pace:g} s pass between two calls."
    yield f"An answer must arrive within {target.bound:g} s."
    yield f"After an API fault, the back end has {target.recovery:g} s until it must work again."
    printed = ["what the start command prints"] if config.start.command else []
    yield f"Logs to scan: {', '.join([*map(str, target.logs), *printed]) or 'none'}."
    runs = ", ".join(group for group in RelayGroup if group not in target.without)
    left_out = f" Left out: {', '.join(sorted(target.without))}." if target.without else ""
    yield f"{'Groups that run' if left_out else 'All groups run'}: {runs or 'none'}.{left_out}"
    yield from _api(config)


def _api(config: Config) -> Iterator[str]:
    api, start = config.api, config.start
    port = f"port {api.port}" if api.port else "any free port"
    key = "the key from the environment" if api.key else "a fresh key"
    scheme = "https" if api.tls else "http"
    yield f"Mock API: {scheme} on {port} of this machine, profile {api.profile}, seed {api.seed}, {key}."
    names = f"{config.exports.url} (address) and {config.exports.key} (key)"
    if api.tls:
        names = f"{config.exports.url} (address), {config.exports.key} (key) and {config.exports.ca} (authority)"
    if config.adapter:
        yield f"The adapter gets {names} as environment variables when it is imported."
    elif start.command:
        yield f"A command in {start.folder} starts the back end, with {names} in its environment."
        if start.proxy:
            yield "  That environment also names a proxy, to see that no request for the API goes there."
        if missing := no_program(start.command, start.folder):
            yield f"  There is no program {missing!r:.60} on the PATH; the shell may not find it either."
    elif start.hook:
        yield f"The workbook posts {names} as JSON to {start.hook}."
    else:
        yield f"You give the back end {names}; the run starts with its first call."


def _surface(platform: str, surface: Surface, *, adapter: bool) -> Iterator[str]:
    text = "the API's text" if platform == "platform A" else "the API's base64 text"
    form = "the bytes themselves" if surface.decoded else text
    if adapter:
        yield f"get(card, session) and post(card, session, sdk_output), with {form}."
        return
    for name, operation in (("GET", surface.get), ("POST", surface.post)):
        request = [f"the id at {operation.id}"] if operation.id else []
        request += [f"the sdkOutput {_place(operation.sdk_output)}"] if operation.sdk_output else []
        answer = f"the answer has the sdkInput {_place(operation.sdk_input)}"
        yield f"{name}: {operation.method} {operation.path}, {' and '.join(request) or 'no body'}; {answer}."
    yield f"Opaque data is {form}."
    if surface.headers:
        yield f"Headers of every call: {', '.join(name for name, _value in surface.headers)}."


def _place(pointer: str) -> str:
    return "as the whole body" if pointer == RAW else f"at {pointer}"


def no_program(command: str, folder: Path | None) -> str:
    """The first word of a command, where it names no program; empty where it does, or where only a shell could tell."""
    try:
        first = next(iter(shlex.split(command)), "")
    except ValueError:
        return ""
    if not first or SHELL.match(first) or re.search(r"[=$`(){}*?~;&|<>]", first):
        return ""
    place = folder / first if "/" in first and folder is not None else first
    return "" if shutil.which(place) else first
