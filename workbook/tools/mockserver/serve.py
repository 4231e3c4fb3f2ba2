"""What `workbook serve` does: a mock server on its sockets, what it announces, and one log line for each request."""

import json
import shlex
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from workbook.api.protocol import API_PATH
from workbook.base.terminal import say
from workbook.simulation.http import UNANSWERED, Request, Response
from workbook.simulation.world import World
from workbook.tools.mockserver import server as http
from workbook.tools.mockserver.control import LIVE_PAGE, PREFIX, Control, live_page, refusal
from workbook.tools.mockserver.journal import REDACTED, scrub_target, secrets_of
from workbook.tools.mockserver.mock import MockServer, fresh_output


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """How to serve.

    Attributes:
        host: a loopback address, unless `allow_remote`.
        port: 0 takes any free one; TLS always takes another free one.
        as_json: print one line of JSON.
        seed: of everything that the service makes up; None takes the scenario's.
        quiet: log no requests.
        scenario: a scenario's name or file.
        journal: a file to which each exchange is appended, redacted; None keeps it in memory alone.
        tls: serve https as well, with a throw-away certificate.
        control: serve the control API as well.
        allow_remote: accept connections from other machines.
    """

    host: str = "127.0.0.1"
    port: int = 0
    as_json: bool = False
    seed: int | None = None
    quiet: bool = False
    scenario: str = "default"
    journal: Path | None = None
    tls: bool = False
    control: bool = False
    allow_remote: bool = False


def serve_api(options: ServeOptions | None = None) -> int:
    """Serve until Ctrl-C, SIGTERM or SIGHUP; returns the exit code.

    What a client needs is printed first, and then one line for each request goes to stderr.

    Raises:
        ConfigurationError: an address cannot be had, or a file is invalid.
    """
    options = options or ServeOptions()
    with ExitStack() as stack:
        opened, addresses = http.listeners(
            stack, options.host, options.port, tls=options.tls, allow_remote=options.allow_remote
        )
        mock = MockServer(
            options.scenario,
            seed=options.seed,
            journal=options.journal,
            names=[options.host],
        )
        simulated = http.answering(mock)
        control = Control(mock)

        def answer(request: Request) -> Response:
            if options.control and http.is_own_host(request, [options.host]):  # another host gets the mock's 421
                if request.target.startswith(PREFIX.rstrip("/")):
                    return control.respond(request)
                if request.method == "GET" and request.target in (LIVE_PAGE, LIVE_PAGE.rstrip("/")):
                    return live_page()
            return simulated(request)

        def log(request: Request, response: http.AnyAnswer, seconds: float) -> None:
            if isinstance(response, Response):
                http.print_log(log_line(request, response, seconds, mock.keys.values()))

        server = http.Server(answer, None if options.quiet else log)
        for listener, certificate in opened:
            server.listen(listener, certificate)
        if options.control:
            base = addresses["base_url"]
            addresses |= {"control_url": f"{base}{PREFIX}", "control_token": control.token}
            addresses |= {"live_page": f"{base}{LIVE_PAGE}#{control.token}"}

        def announce() -> None:
            values = announcement(mock.world, addresses, mock.keys)
            if options.allow_remote and not http.is_loopback(options.host):
                http.print_log(
                    f"Warning: everybody who can reach {options.host} can use this server. "
                    "Its data is simulated, but its control API is real."
                )
            say(json.dumps(values) if options.as_json else announcement_text(values, mock.world))

        http.run_until_signal(server, announce)
    return 0


def log_line(request: Request, response: Response, seconds: float, keys: Iterable[str]) -> str:
    """What is logged of a request: no header, no body, no query, and no key.

    A path is shown without long segments or control characters: opaque data may be where an id belongs. The line ends
    with the fault that was played, or why the request was refused, and what that rests on.
    """
    known = secrets_of(request, keys)
    path = scrub_target(request.target.partition("?")[0], known)
    visible_path = _shown(path)
    status = "no answer" if response.wire.ending in UNANSWERED else response.status
    body = None if response.fault or response.status == 200 else json.loads(response.body)
    why = refusal(response.basis, response.status, response.fault, body)
    why = f"  {known.scrub(why)}" if why else ""
    return f"{request.method} {visible_path} {status} {seconds * 1000:.1f} ms{why}"


@lru_cache(maxsize=256)  # most requests are for a few instruments
def _shown(path: str) -> str:
    return REDACTED.target(path)[:300]


def announcement(world: World, addresses: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, Any]:
    """Everything that a client needs, as plain values: addresses, keys, and an sdkOutput for each active card.

    A back end that is tried out has no phone, so nothing would make the sdkOutput that its POST needs.

    Args:
        world: what the first key opens.
        addresses: more values, such as `base_url`.
        keys: credential's name to key.
    """
    active = [instrument for instrument in world.instruments.values() if instrument.active]
    return {
        **addresses,
        "api_key": next(iter(keys.values())),
        **({"api_keys": dict(keys)} if len(keys) > 1 else {}),
        "payment_instrument_ids": list(world.instruments),
        "sdk_outputs": {card.id: fresh_output(card.id, seed=world.seed, world=world) for card in active},
    }


def announcement_text(values: Mapping[str, Any], world: World) -> str:
    """The same for a person, with both calls as commands to paste into a terminal."""
    values_by_name = {**values, "payment_instrument_ids": " ".join(values["payment_instrument_ids"])}
    if "api_keys" in values_by_name:
        values_by_name["api_keys"] = ", ".join(f"{credential} {key}" for credential, key in values["api_keys"].items())
    outputs = values_by_name.pop("sdk_outputs")
    lines = [f"{name}: {value}" for name, value in values_by_name.items()]
    for instrument, output in [*outputs.items()][:1]:
        url = f"{values['base_url']}{API_PATH.format(id=instrument)}"
        curl = ["curl", "-H", f"x-api-key: {values['api_key']}", "-H", "content-type: application/json"]
        seed = "" if world.seed == World().seed else f" --seed {world.seed}"
        scenario = f" --scenario {world.name}" if instrument not in World().instruments else ""
        lines += [
            f"\nThe GET:\n{shlex.join([*curl, url])}",
            f"\nThe POST:\n{shlex.join([*curl, '--data', json.dumps({'sdkOutput': output}), url])}",
            f"\nAn sdkOutput can be exchanged once (assumed, GAP-3). For another: workbook sdk-output{seed}{scenario}",
        ]
    return "\n".join([*lines, "Simulated data only. Stop with Ctrl-C.\n"])
