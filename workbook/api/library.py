"""The HTTP library: httpx, or its successor httpx2 with `WORKBOOK_HTTP_LIBRARY=httpx2` in the environment.

Every HTTP client takes the names `httpx` and `httpcore` from this module. So the choice is made once for a process, and
a transport that is handed to a client is of the library that the client uses.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from workbook.errors import ConfigurationError

VARIABLE: Final = "WORKBOOK_HTTP_LIBRARY"
CHOSEN: Final = os.environ.get(VARIABLE) or "httpx"

if CHOSEN not in ("httpx", "httpx2"):
    raise ConfigurationError(f"{VARIABLE} is {CHOSEN!r:.40}. Allowed: httpx, httpx2.")
if TYPE_CHECKING or CHOSEN == "httpx":
    import httpcore
    import httpx
else:
    try:
        import httpcore2 as httpcore
        import httpx2 as httpx
    except ModuleNotFoundError as missing:
        message = f"{VARIABLE} is httpx2, and {missing.name} is not installed: pip install httpx2"
        raise ConfigurationError(message) from None

__all__ = ["CHOSEN", "httpcore", "httpx"]
