"""Every error this package raises on purpose, as one tree.

    WorkbookError
    ├── ConfigurationError            a setting is missing or wrong; nothing was sent
    │   └── ParameterError            a notebook parameter or command-line value is wrong
    ├── OpaqueDataError               sdkInput or sdkOutput is not what it should be; says which layer is wrong
    ├── OutOfOrderError               the app made a call at a moment that the document does not allow
    ├── DefinitionError               a flow's table contradicts itself
    ├── SdkError                      platform B's SDK threw; carries the public name of its case
    ├── LeakError                     a report held a secret, so no report was written
    ├── NotInstalledError            a program that the work needs is not on this machine
    ├── ChecksFailedError             a strict lesson sums up, and some of its checks do not hold; names them
    └── ActivationDataError           a call of the HTTP API failed; carries request, elapsed, attempts
        ├── NotSentError              the request provably never left: safe to send again
        ├── MaybeSentError            it may have arrived: a POST is never sent again by itself (REL-1)
        ├── DeadlineError             the total deadline passed; `sent` says whether it may have arrived
        ├── ApiStatusError            an answer other than 200; status and body are kept
        ├── ResponseTooLargeError     the decoded body exceeds the cap
        └── MalformedResponseError    a 200 that cannot be read as the document says
            └── SdkInputError         sdkInput is missing, null, empty or not a string (API-9)

Each message says what happened, what is allowed, and what to do next. None ever holds the API key.

Example:
    >>> with wb.MockServer() as server, wb.ActivationDataClient(server.url, server.key) as api:
    ...     try: api.get("PIUNKNOWN")
    ...     except wb.errors.ApiStatusError as error: print(error.status)
    422
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """What a command's process returns; the help of each command says what it means there."""

    OK = 0
    FAILED = 1
    # The command line or a setting is wrong; from `conform` and `preflight`: nothing could be judged.
    NOTHING_DONE = 2
    ERROR = 3
    TIME_LIMIT = 4
    KERNEL_DIED = 5
    # As a shell says it of Ctrl-C.
    INTERRUPTED = 130
    # As a shell says it of a program whose reader has gone.
    BROKEN_PIPE = 141
    # From `conform`, where 2 has another meaning: the configuration or the command line is wrong.
    CONFIGURATION = 254
    # The workbook itself failed.
    BROKEN = 255

    __repr__ = int.__repr__  # a result that is shown in a cell shows the number


class WorkbookError(Exception):
    """Base of every error that this package raises on purpose."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows instead of a traceback: the sentence says what to do, and our frames do not."""
        return [f"{type(self).__name__}: {self}", *getattr(self, "__notes__", ())]


class ConfigurationError(WorkbookError, ValueError):
    """A setting is missing or wrong; nothing was sent."""


class ParameterError(ConfigurationError):
    """A notebook parameter or a command-line value is wrong."""


class NotInstalledError(WorkbookError):
    """A program that the work needs is not on this machine."""


class OpaqueDataError(WorkbookError, ValueError):
    """An sdkInput or sdkOutput is not what it should be.

    Attributes:
        layer: which layer is wrong, one of `workbook.api.opaque.LAYERS`.
    """

    def __init__(self, message: str, *, layer: str) -> None:
        super().__init__(message)
        self.layer = layer


class OutOfOrderError(WorkbookError):
    """The app made a call at a moment that the document does not allow; nothing changed."""


class DefinitionError(WorkbookError):
    """A table of rows contradicts itself."""


class LeakError(WorkbookError):
    """A report held a secret or opaque data, so no report was written (REL-2, REL-3)."""


class ChecksFailedError(WorkbookError):
    """A strict lesson sums up, and some of its checks do not hold; the message names them."""


class SdkError(WorkbookError):
    """Platform B's SDK threw, in a call that the document lets throw.

    Attributes:
        case: the case's name in the public interface (sdk-b), such as `invalidSDKInput`.
        why: the simulator's explanation; the document shows none.
    """

    def __init__(self, case: str, why: str) -> None:
        super().__init__(f"{case} (sdk-b): {why}.")
        self.case = case
        self.why = why


@dataclass(frozen=True, slots=True)
class RedactedRequest:
    """A request without its headers and its body, as an error keeps it (REL-2, REL-3).

    Attributes:
        method: GET or POST.
        url: the whole address; it contains the payment instrument id, and never a secret.
        body_length: bytes of the body, 0 for none.
    """

    method: str
    url: str
    body_length: int


class ActivationDataError(WorkbookError):
    """A call of the HTTP API failed.

    Attributes:
        request: the request, without the key and without its body.
        elapsed: seconds from the first attempt to this error.
        attempts: how many times the request was tried, 1 or more.
    """

    def __init__(self, message: str, *, request: RedactedRequest, elapsed: float, attempts: int) -> None:
        super().__init__(message)
        self.request = request
        self.elapsed = elapsed
        self.attempts = attempts


class NotSentError(ActivationDataError):
    """The request provably never left this machine: sending it again is safe."""


class MaybeSentError(ActivationDataError):
    """The request may have arrived; a POST is never sent again by itself (REL-1)."""


class DeadlineError(ActivationDataError):
    """The total deadline passed.

    Attributes:
        sent: False when no byte of the request can have left.
    """

    def __init__(self, message: str, *, sent: bool, **call: Any) -> None:
        super().__init__(message, **call)
        self.sent = sent


class ApiStatusError(ActivationDataError):
    """The API answered with something other than 200 (GAP-1: the document shows no codes).

    Attributes:
        status: the HTTP status.
        body: the answer's body without the key, cut to the client's cap.
    """

    def __init__(self, message: str, *, status: int, body: bytes, **call: Any) -> None:
        super().__init__(message, **call)
        self.status = status
        self.body = body


class ResponseTooLargeError(ActivationDataError):
    """The decoded body is larger than the client's cap, in bytes."""


class MalformedResponseError(ActivationDataError):
    """A 200 answer that is not the JSON object the document shows."""


class SdkInputError(MalformedResponseError):
    """The answer carries no usable sdkInput: missing, null, empty or not a string (API-9)."""
