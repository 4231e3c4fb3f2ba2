"""The client of the server-side HTTP API, and the opaque values it relays."""

from workbook.api.client import ActivationDataClient, AsyncActivationDataClient
from workbook.api.opaque import LAYERS, SIMULATED_PREFIX, SdkInput, SdkOutput, diagnose
from workbook.api.options import Clock, SystemClock, Timeouts
from workbook.api.protocol import API_PATH, ActivationData, RedactedRequest
from workbook.api.retry import RetryPolicy

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
