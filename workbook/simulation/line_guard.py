"""uvicorn's protocol as the stand-in needs it: it knows its line, and gives up a peer that goes too far."""

from __future__ import annotations

from workbook.simulation.guarded import GuardedProtocol
from workbook.simulation.wire_protocol import LineProtocol


class GuardedLine(LineProtocol, GuardedProtocol):
    """Both at once; each calls the next one's methods."""
