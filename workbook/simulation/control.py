"""The control API: what a test in any language asks of the stand-in, beside the API that the stand-in plays.

It has a token of its own, because who may call the operator's API may not thereby read its journal. Without the token
everything is answered alike, so nobody learns what there is. The same is there as Python calls, without HTTP: those of
`stand.Stand`, by the same names. What can be asked for is a table, see `control_endpoints`.

It is a responder like the service: a request in, a response out. Waiting is the exception, as it takes time: `respond`
blocks its thread, `respond_async` gives the loop back meanwhile and ends at once when its task is cancelled. A server
must call the latter, or nothing could arrive that is waited for. No key is part of any request or answer: a world is
meant by its short public name, see `journals`.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from workbook.errors import ConfigurationError, WorkbookError, did_you_mean
from workbook.simulation.asked import Denied, query, refused
from workbook.simulation.control_endpoints import ENDPOINTS, PREFIX, Actions, Call, Endpoint, wait, wait_async

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.simulation.http import Request, Response
    from workbook.simulation.journal import Journal

__all__ = ["ENDPOINTS", "PREFIX", "Actions", "Control"]

SHORTEST_TOKEN = 16
UNAUTHORISED = "This needs the control token of this stand-in, as authorization: Bearer and the token."


class Control:
    """The control API of one stand-in.

    Args:
        token: who says it may do everything; 16 printable ASCII characters or more, no blanks.
        journals: the worlds' journals by their public names, such as a `Journals`; looked at anew for each request.
        actions: what can be done besides reading.

    Raises:
        ConfigurationError: the token is too short, or cannot stand in a header.
    """

    def __init__(self, token: str, journals: Mapping[str, Journal], actions: Actions | None = None) -> None:
        if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
            message = f"A control token is {SHORTEST_TOKEN} printable ASCII characters or more, without blanks."
            raise ConfigurationError(f"{message} The one given is not repeated here.")
        self._token = token.encode()
        self.journals = journals
        self.actions = actions or Actions()

    def __repr__(self) -> str:
        return f"Control({len(self.journals)} worlds)"

    def respond(self, request: Request) -> Response:
        """The answer; a request to wait blocks this thread, for 30 seconds at most."""
        try:
            call = self._call(request)
            return call.endpoint.handler(call)
        except (Denied, WorkbookError) as error:
            return refused(error)

    async def respond_async(self, request: Request) -> Response:
        """The answer, for a server: waiting holds up nobody else."""
        try:
            call = self._call(request)
            return await wait_async(call) if call.endpoint.handler is wait else call.endpoint.handler(call)
        except (Denied, WorkbookError) as error:
            return refused(error)

    def _call(self, request: Request) -> Call:
        """Authenticated, routed, and its query read, in this order."""
        self._authenticate(request)
        path, _mark, text = request.target.partition("?")
        endpoint = _endpoint(request.method, path)
        return Call(endpoint, query(text, endpoint.query), request, self.journals, self.actions)

    def _authenticate(self, request: Request) -> None:
        scheme, _blank, said = (request.header("authorization") or "").partition(" ")
        same = hmac.compare_digest(said.strip().encode("utf-8", "replace"), self._token)
        if not same or scheme.lower() != "bearer":
            raise Denied(401, UNAUTHORISED, (("www-authenticate", "Bearer"),))


def _endpoint(method: str, path: str) -> Endpoint:
    """The endpoint that is asked for; what was asked instead is not repeated."""
    name = f"{path}/".removeprefix(PREFIX).strip("/") if f"{path}/".startswith(PREFIX) else path[:40]
    known = [one for one in ENDPOINTS if one.name == name]
    if not known:
        names = [one.name for one in ENDPOINTS if one.name]
        raise Denied(404, f"There is no such endpoint under {PREFIX}. {did_you_mean(name[:40], names)}")
    if (chosen := next((one for one in known if one.method == method), None)) is None:
        allowed = ", ".join(one.method for one in known)
        raise Denied(405, f"This endpoint takes {allowed}.", (("allow", allowed),))
    return chosen
