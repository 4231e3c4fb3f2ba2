"""The API's error answers, as a table. The document shows none (GAP-1), so each carries its sources.

The body's shape and the generic codes are published (openapi). Which code a given broken request
gets is not: that pairing is this simulator's choice (assumed), and an answer says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Problem:
    """One way to be refused.

    Attributes:
        status: the HTTP status.
        code: the body's `errorCode`.
        title: the body's `title`.
        source: where status and code are published; `assumed` where they are not.
        rules: the rules that the request broke, with blanks between; empty where none is.
    """

    status: int
    code: str
    title: str
    source: str
    rules: str = ""

    @property
    def basis(self) -> str:
        """What the answer rests on: the broken rules, the code's source, and that the pairing is ours."""
        return "; ".join(filter(None, (self.rules, f"code: {self.source}", "pairing: assumed")))

    def fields(self, detail: str) -> dict[str, Any]:
        """The five required fields of the problem-details body (openapi), in a fixed order."""
        return {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": detail,
            "errorCode": self.code,
        }

    def body(self, detail: str) -> bytes:
        """The problem-details body with nothing but its required fields."""
        return written(self.fields(detail))


def written(document: Mapping[str, Any]) -> bytes:
    """A body's bytes; each field stands where it stood in `document`."""
    return json.dumps(document, ensure_ascii=False).encode()


BAD_REQUEST = "Bad request"
WRONG_INSTRUMENT = "Invalid Payment Instrument information provided"

NO_KEY = Problem(401, "00_401", "Unauthorized", "openapi", "API-4")
SEVERAL_KEYS = Problem(401, "00_401", "Unauthorized", "openapi", "API-4")
WRONG_KEY = Problem(401, "00_401", "Unauthorized", "openapi", "API-4")
NO_ROLE = Problem(403, "00_403", "Forbidden", "openapi", "API-15")
UNKNOWN_INSTRUMENT = Problem(422, "30_031", WRONG_INSTRUMENT, "openapi", "API-3")
INACTIVE_INSTRUMENT = Problem(422, "30_031", WRONG_INSTRUMENT, "openapi")
GET_WITH_BODY = Problem(400, "00_400", BAD_REQUEST, "openapi", "API-5")
GET_WITH_QUERY = Problem(400, "00_400", BAD_REQUEST, "openapi", "API-5")
WRONG_CONTENT_TYPE = Problem(400, "00_400", BAD_REQUEST, "openapi", "API-4")
NOT_JSON = Problem(400, "00_400", BAD_REQUEST, "openapi", "API-6")
WRONG_FIELDS = Problem(400, "00_400", BAD_REQUEST, "openapi", "API-6")
NO_OUTPUT = Problem(422, "30_031", WRONG_INSTRUMENT, "openapi", "API-6")
BAD_OUTPUT = Problem(422, "30_031", WRONG_INSTRUMENT, "openapi", "API-11")
NO_SUCH_PATH = Problem(404, "00_404", "Not found", "assumed", "API-1")
NO_SUCH_METHOD = Problem(405, "00_405", "Method not allowed", "assumed", "API-1 API-2")
TOO_LARGE = Problem(413, "00_413", "Content too large", "assumed")
TOO_LARGE_TO_SAY = Problem(400, "00_400", BAD_REQUEST, "openapi")
INTERNAL = Problem(500, "00_500", "An internal error happened", "openapi")
