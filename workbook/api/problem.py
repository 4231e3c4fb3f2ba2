"""An error in the making: what is wrong, before request, elapsed time and attempts are known.

The pure parts return problems instead of raising. So the one place that raises is far from any frame that
holds a body or a header, and a traceback rendered with its local variables has nothing to give away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbook.errors import ActivationDataError, RedactedRequest

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of error, its message, and the fields that only this kind has.

    Attributes:
        kind: the error to raise.
        message: what happened, what is allowed, what to do next.
        extra: keyword arguments of the kind, beyond request, elapsed and attempts.
    """

    kind: type[ActivationDataError]
    message: str
    extra: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def error(self, request: RedactedRequest, elapsed: float, attempts: int) -> ActivationDataError:
        """The error itself; elapsed in seconds."""
        tries = "" if attempts == 1 else f" ({attempts} attempts)"
        message = f"{request.method} {request.url}: {self.message}{tries}"
        return self.kind(message, request=request, elapsed=elapsed, attempts=attempts, **self.extra)
