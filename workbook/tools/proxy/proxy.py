"""`workbook proxy`: passes every request on to the real API, byte for byte, and records each exchange.

Both bodies are read whole before they go on, each up to a limit. So the answer is either the API's, byte for byte, or
the proxy's own error, and never half of one.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from time import monotonic
from urllib.parse import unquote

from workbook.base.terminal import say
from workbook.errors import ConfigurationError
from workbook.simulation.http import PHRASES, Request
from workbook.tools.mockserver.server import (
    Handler,
    RawAnswer,
    Server,
    is_own_host,
    listeners,
    print_log,
    run_until_signal,
)
from workbook.tools.proxy import upstream as api
from workbook.tools.proxy.record import Head, Recording

# The largest body of a request that is passed on, in bytes (our choice).
LARGEST_REQUEST = 8 * 1_048_576

# Gets each exchange before it is answered: the request, the answer, and both times on a monotonic clock.
Keep = Callable[[Request, api.ProxyReply, tuple[float, float]], None]


def forwarding(upstream: api.Upstream, keep: Keep) -> Handler:
    """A handler that passes requests on to `upstream`, and calls `keep` with each exchange."""

    async def answer(request: Request) -> RawAnswer:
        arrived = monotonic()
        refused = _refused(request, upstream.target.prefix)
        request = replace(request, body=request.body[:LARGEST_REQUEST])
        try:
            reply = api.ProxyReply.failed(refused) if refused else await upstream.ask(request)
        except asyncio.CancelledError:  # the server stops; what was sent may have arrived, so it belongs in the record
            reply = api.ProxyReply.failed(api.ProxyFailure.STOPPED)
        keep(request, reply, (arrived, monotonic()))
        headers, framing = api.for_the_back_end(reply.response, request.method, chunks=request.version == "1.1")
        status = reply.response.status
        phrase = reply.reason if reply.failure is None else PHRASES[status]
        lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
        head = "".join(f"{line}\r\n" for line in lines).encode("latin-1")
        return RawAnswer(head, reply.response.body if framing else b"", framing == "transfer-encoding")

    return answer


def _refused(request: Request, prefix: str) -> api.ProxyFailure | None:
    """Why this request is not passed on; None where it is."""
    if not is_own_host(request):
        return api.ProxyFailure.MISDIRECTED
    if len(request.body) > LARGEST_REQUEST:
        return api.ProxyFailure.REQUEST_TOO_LARGE
    if request.method == "CONNECT" or not request.target.startswith("/"):
        return api.ProxyFailure.BAD_REQUEST
    path = request.target.partition("?")[0]
    for _layer in range(4):  # what is between here and the API may decode it more than once
        path = unquote(path)
    segments = (segment.partition(";")[0] for segment in path.replace("\\", "/").split("/"))
    leaves = not {".", ".."}.isdisjoint(segments)  # the API's server may resolve it to a path above the prefix
    return api.ProxyFailure.BAD_REQUEST if prefix and (leaves or unquote(path) != path) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyOptions:
    """How to pass requests on and record them.

    Attributes:
        to: the real API's base URL.
        port: 0 takes any free one; TLS always takes another free one.
        tls: serve https as well, with a throw-away certificate.
        ca_file: the authority to trust instead of the public ones.
        deadline: seconds for a whole exchange with the API.
        out: the record's file; None makes a name from the current time.
        as_json: print the addresses, and at the end the summary, as one line of JSON each.
        quiet: log no requests.
    """

    to: str
    port: int = 0
    tls: bool = False
    ca_file: Path | None = None
    deadline: float = 30.0
    out: Path | None = None
    as_json: bool = False
    quiet: bool = False


def serve_proxy(options: ProxyOptions) -> int:
    """Pass everything on until Ctrl-C, SIGTERM or SIGHUP, then print what was recorded; returns the exit code.

    Raises:
        ConfigurationError: an address, a file or a limit is invalid; nothing was sent.
    """
    target = api.ApiOrigin.of(options.to)
    upstream = api.Upstream(target, api.trusting(options.ca_file), options.deadline)
    began = datetime.now(UTC)
    head = Head(target.base_url, began.isoformat(timespec="seconds"))
    path = options.out or Path(f"proxy-{began:%Y%m%dT%H%M%SZ}.jsonl")
    with ExitStack() as stack:
        opened, addresses = listeners(stack, "127.0.0.1", options.port, tls=options.tls)
        recording = stack.enter_context(closing(Recording(path, head)))

        def keep(request: Request, reply: api.ProxyReply, times: tuple[float, float]) -> None:
            try:
                line = recording.keep(request, reply, times)
            except OSError as error:  # a full disk must not cost the back end its answer, and must not be hidden
                print_log(f"Not recorded: {error.strerror or error}.")
                return
            if not options.quiet:
                print_log(line)

        server = Server(forwarding(upstream, keep), most_body=LARGEST_REQUEST)
        for listener, certificate in opened:
            server.listen(listener, certificate)
        addresses |= {"to": target.base_url, "record": str(path)}

        def announce() -> None:
            lines = [f"{name}: {value}" for name, value in addresses.items()]
            lines.append("Point your back end at base_url instead of the API. Stop with Ctrl-C.")
            _print(json.dumps(addresses) if options.as_json else "\n".join(lines))

        run_until_signal(server, announce)
        command = f"workbook drift {quote(str(path))}"
        count = recording.count
        if options.as_json:
            _print(json.dumps({"exchanges": count, "record": str(path), "next": command}))
        else:
            noun = "exchange" if count == 1 else "exchanges"
            _print(f"{count} {noun} in {path}. Compare them with the simulator: {command}")
    return 0


def _print(text: str) -> None:
    """Write a line to stdout; a closed stdout is no reason to stop."""
    with suppress(OSError, ConfigurationError):
        say(text)
