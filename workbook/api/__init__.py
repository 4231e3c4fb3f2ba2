"""The client of the server-side HTTP API, and the opaque values it relays.

The two clients are imported when they are asked for: they bring httpx along, and who only plays the API needs none.
"""

from typing import TYPE_CHECKING

from workbook.api.exchange import Clock, RetryPolicy, SystemClock, Timeouts
from workbook.api.opaque import LAYERS, SIMULATED_PREFIX, SdkInput, SdkOutput, diagnose
from workbook.api.protocol import API_PATH, ActivationData
from workbook.errors import RedactedRequest

if TYPE_CHECKING:
    from workbook.api.client import ActivationDataClient, AsyncActivationDataClient

__all__ = [
    "API_PATH",
    "LAYERS",
    "SIMULATED_PREFIX",
    "ActivationData",
    "ActivationDataClient",
    "AsyncActivationDataClient",
    "Clock",
    "RedactedRequest",
    "RetryPolicy",
    "SdkInput",
    "SdkOutput",
    "SystemClock",
    "Timeouts",
    "diagnose",
]


if not TYPE_CHECKING:  # a type checker would believe that every name is there

    def __getattr__(name: str) -> object:
        if name in ("ActivationDataClient", "AsyncActivationDataClient"):
            from workbook.api import client  # see above

            return getattr(client, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
