"""What `workbook serve` does: a mock server on its sockets, with its control API and its live page.

Over the control API a test in any language plans faults and reads the journal. It has a token of its own: the right to
call the operator's API is not the right to read its journal. Without the token every request gets the same answer,
which tells nothing of what there is. The same calls exist in Python, without HTTP: the methods of `MockServer`, by the
same names. No API key is part of any request or answer: a world is named by its short public name, such as w1.

Every endpoint is a row of `ENDPOINTS`.

The live page shows each request as it arrives, with the reason of each refusal, redacted. The page itself is public and
says nothing: it holds no entry and no token. Its script reads the control token from the address's fragment, which a
browser sends to nobody, and asks the control API for the journal with it. So whatever guards the control API guards the
page.
"""

import hmac
import json
import re
import secrets
import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from workbook.api.protocol import API_PATH, as_curl
from workbook.base.rules import sentence
from workbook.base.terminal import say
from workbook.base.values import did_you_mean
from workbook.errors import ConfigurationError, WorkbookError
from workbook.simulation.http import JSON_HEADERS, MAX_BODY, PHRASES, UNANSWERED, Request, Response
from workbook.simulation.scenario import load, parse, scenarios
from workbook.simulation.world import World
from workbook.tools.mockserver import server as http
from workbook.tools.mockserver.journal import LOST, REDACTED, Entry, as_dict, scrub_target, secrets_of
from workbook.tools.mockserver.mock import MockServer, OpenWorld, fresh_output

# The basis of every answer of the control API: it is ours, not the operator's.
BASIS = "workbook: control"

# Where the control API is served; the operator's API has no such path.
PREFIX = "/workbook/control/"
# Where the live page is; the operator's API has no such path.
LIVE_PAGE = "/workbook/"
# Faults in one request.
MOST_FAULTS = 1_000


class Denied(Exception):  # an answer on its way out, not an error of ours  # noqa: N818
    """The request is refused: holds the status, the sentence for `detail`, and headers."""

    def __init__(self, status: int, detail: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


class ControlCall(NamedTuple):
    """A request that may be carried out: its token was right, and there is such an endpoint.

    Attributes:
        server: whose control API it is.
        query: its parameters.
        body: as it came.
    """

    server: MockServer
    query: dict[str, str]
    body: bytes

    @property
    def world(self) -> OpenWorld:
        """The world that is meant."""
        return self.server.named(self.query.get("world"))

    def document(self) -> Any:
        """The body as JSON values."""
        if len(self.body) > MAX_BODY:
            raise Denied(413, f"The body is larger than {MAX_BODY} bytes.")
        try:
            return json.loads(self.body)
        except json.JSONDecodeError as error:
            raise Denied(400, f"The body is not JSON: {error}.") from None
        except (ValueError, RecursionError):
            raise Denied(400, "The body is not JSON: it is no UTF-8, or nested too deep.") from None


def as_json(value: object) -> Response:
    """An answer with these JSON values."""
    return Response(200, JSON_HEADERS, json.dumps(value).encode(), BASIS)


def _index(call: ControlCall) -> Response:
    cards = {name: [*opened.world.instruments] for name, opened in call.server.worlds.items()}
    gets = {name: as_curl("GET", API_PATH.format(id=ids[0]), sends=False) for name, ids in cards.items() if ids}
    endpoints = [{"method": row.method, "path": PREFIX + row.name, "does": row.does} for row in ENDPOINTS]
    return as_json({"worlds": [*cards], "gets": gets, "endpoints": endpoints})


def _journal(call: ControlCall) -> Response:
    journal = call.world.journal
    after = call.query.get("after", "0")
    if not re.fullmatch("[0-9]{1,9}", after):
        raise Denied(400, "The parameter after is the number of an entry.")
    entries = [_show(entry, journal.now()) for entry in journal.entries(int(after))]
    return as_json({"count": journal.count, "entries": entries})


def _show(entry: Entry, now: float) -> dict[str, Any]:
    """One entry, redacted: the journal's values, the reason of a refusal, the rules, and a command to copy.

    Its age in seconds is for the clock of the page's reader: a journal has none.
    """
    values = as_dict(entry)
    why = refusal(values["basis"], values["status"], values["fault"], values["responseBody"])
    named = dict.fromkeys(re.findall(r"\b[A-Z]+(?:-[A-Z]+)*-\d+\b", f"{values['basis']} {why}"))
    curl = entry.operation and as_curl(values["method"], values["target"], sends=bool(values["bodyLength"]))
    return values | {
        "age": now - entry.arrived,
        "why": why,
        "lost": values["ending"] in LOST,
        "rules": {rule_id: text for rule_id in named if (text := sentence(rule_id))},
        "copies": {"curl": curl} if curl else {},
    }


def refusal(basis: str, status: int | None, fault: str, body: Any) -> str:
    """Why a request did not get what it asked for: the fault that was played, or our own sentence; else empty.

    Args:
        basis: what the answer rests on; a part of the sentence.
        status: the answer's.
        fault: the name of the fault that was played, empty for none.
        body: the answer's, as JSON values.
    """
    if fault:  # a faulted body has nothing that could be shown
        return basis[basis.index("fault: ") :]
    if status == 200:
        unkept = re.search(r"API-4; (a GET with \w+ content-type): (\w+)", basis)
        return f"{unkept[1]} is answered ({unkept[2]}): application/json belongs there (API-4)" if unkept else ""
    return f"{body['detail']} ({basis})" if isinstance(body, dict) and "detail" in body else ""


def _reset(call: ControlCall) -> Response:
    call.world.reset()
    return as_json({"world": call.world.name, "reset": True})


def _faults(call: ControlCall) -> Response:
    tables = call.document()
    is_list = isinstance(tables, list) and all(isinstance(table, dict) for table in tables)
    if not is_list or len(tables) > MOST_FAULTS:
        raise Denied(400, f"The body is a list of at most {MOST_FAULTS} objects, each a planned fault.")
    call.world.play(tuple(tables))
    return as_json({"world": call.world.name, "faults": len(tables)})


def _scenario(call: ControlCall) -> Response:
    """Open one of the package's scenarios by its name, or a TOML document: over HTTP no file is read."""
    match call.document():
        case {"name": str(name), **others} if not others:
            if name not in scenarios():
                hint = did_you_mean(name[:40], scenarios())
                raise ConfigurationError(f"There is no scenario of that name. {hint}")
            scenario = load(name)
            source = name
        case {"toml": str(text), **others} if not others:
            scenario = parse(text.encode("utf-8", "replace"), name="yours", file="the request")
            source = "from TOML"
        case _:
            raise Denied(400, "The body is an object with one text: either name or toml.")
    call.server.scenario(scenario, world=call.world.name)
    return as_json({"world": call.world.name, "scenario": source})


class Endpoint(NamedTuple):
    """One thing that can be asked for.

    Attributes:
        method: GET, POST or PUT.
        name: the path under `PREFIX`.
        handler: does it, and answers.
        does: what it does, with an example of its body, in a sentence.
    """

    method: str
    name: str
    handler: Callable[[ControlCall], Response]
    does: str


# Everything that can be asked for; the index is this table.
ENDPOINTS = (
    Endpoint("GET", "", _index, "Lists the worlds and what can be asked for."),
    Endpoint("GET", "journal", _journal, "Gives the requests; after=N gives the later ones."),
    Endpoint("POST", "reset", _reset, "Puts the world back to its beginning, with an empty journal."),
    Endpoint("POST", "faults", _faults, 'Plans faults: [{"fault": "reset"}].'),
    Endpoint("PUT", "scenario", _scenario, 'Opens a scenario: {"name": "class-room"}, or TOML: {"toml": "..."}.'),
)
# The parameters of a query. The world may be left out where there is one.
PARAMETERS = ("world", "after")


class Control:
    """The control API of one mock server.

    Args:
        server: the mock server.

    Attributes:
        token: every request has to carry it.
    """

    def __init__(self, server: MockServer) -> None:
        self.server = server
        self.token = secrets.token_urlsafe(24)

    def respond(self, request: Request) -> Response:
        """The answer to a request of the control API."""
        try:
            endpoint, call = self._route(request)
            return endpoint.handler(call)
        except (Denied, WorkbookError) as error:
            return problem(error, BASIS)

    def _route(self, request: Request) -> tuple[Endpoint, ControlCall]:
        """Check the token, find the endpoint, and read the query, in this order; no word of the request is repeated."""
        if not bears(request, self.token):
            wanted = "Send the control token of this mock server in the header authorization: Bearer TOKEN."
            raise Denied(401, wanted, (("www-authenticate", "Bearer"),))
        path, _mark, query = request.target.partition("?")
        name = f"{path}/".removeprefix(PREFIX).strip("/")
        by_method = {endpoint.method: endpoint for endpoint in ENDPOINTS if endpoint.name == name}
        if not by_method:
            names = [endpoint.name for endpoint in ENDPOINTS if endpoint.name]
            raise Denied(404, f"There is no such endpoint under {PREFIX}. {did_you_mean(name[:40], names)}")
        if request.method not in by_method:
            allowed = ", ".join(by_method)
            raise Denied(405, f"This endpoint takes {allowed}.", (("allow", allowed),))
        endpoint = by_method[request.method]
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        for parameter in parameters.keys() - PARAMETERS:
            raise Denied(400, f"There is no such parameter. {did_you_mean(parameter[:40], PARAMETERS)}")
        return endpoint, ControlCall(self.server, parameters, request.body)


def bears(request: Request, token: str) -> bool:
    """Whether the request carries this token; how long the look takes tells nothing of it."""
    scheme, _blank, credentials = (request.header("authorization") or "").partition(" ")
    return (
        hmac.compare_digest(credentials.strip().encode("utf-8", "replace"), token.encode())
        and scheme.lower() == "bearer"
    )


def problem(error: Denied | WorkbookError, basis: str) -> Response:
    """Why it was not done, in the form of the API's own problems; an error of the package becomes a 400."""
    denied = error if isinstance(error, Denied) else Denied(400, str(error))
    body = {
        "type": "about:blank",
        "title": PHRASES[denied.status],
        "status": denied.status,
        "detail": str(denied),
    }
    return Response(denied.status, JSON_HEADERS + denied.headers, json.dumps(body).encode(), basis)


@cache
def make_page(stem: Path, basis: str) -> Response:
    """The page of `STEM.html`, with `STEM.js` and `STEM.css` put into it.

    It may use its own script and style, by their hashes, and connect to its server only.
    """
    html, script, style = (stem.with_suffix(f".{kind}").read_text("utf-8") for kind in ("html", "js", "css"))
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = (
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", policy),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "no-store"),
    )
    filled = html.replace("/*style*/", style).replace("/*script*/", script)
    return Response(200, headers, filled.encode(), basis)


def live_page() -> Response:
    """The live page."""
    return make_page(Path(__file__).with_name("live"), "workbook: live page")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


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
