"""The contract of the simulated API: an OpenAPI 3.1 document, and what the service reads of it.

`contracts/spec.json` does only what the interface document says. `contracts/field-changes.json` is a JSON merge patch
(RFC 7386) over it that adds what is publicly known besides. The service checks requests against these very documents
and `workbook openapi` prints them, so neither can say what the other does not.

The interface document shows no status, no error's body (GAP-1) and no limit (GAP-2). Even `spec` must answer
something, so it borrows the published statuses and codes (openapi) and chooses the rest (assumed). Each part says in
`x-basis` what it rests on: rule ids and sources, separated by blanks. Several statements are separated by "; ". Each
may begin with its subject, as in "API-1 API-9; content: assumed". `x-basis-of` does so for single keywords.

Four extensions say what OpenAPI has no word for: `x-most-bytes` of a body, `x-sent` for headers that OpenAPI
ignores when they are declared, `x-other-query` (whether unknown query parameters are accepted), and `x-elsewhere` for
the answers that come before an operation is found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbook.base.values import lookup

Document = Mapping[str, Any]


class Broken(StrEnum):
    """What can be wrong with a request, in the order of the checks; the last is no fault of the request.

    The document's answers hold an example of each refusal, under this name in small letters.
    """

    PATH = "the path"
    METHOD = "the method"
    NO_KEY = "no API key"
    SEVERAL_KEYS = "several API keys"
    WRONG_KEY = "a wrong API key"
    ROLE = "a credential without the role"
    POST_ROLE = "a credential without the role, on the POST"
    UNKNOWN = "an unknown payment instrument"
    INACTIVE = "an unusable payment instrument"
    QUERY = "a query parameter"
    BODY = "a body where none belongs"
    MEDIA_TYPE = "the content-type"
    SIZE = "a body that is too large"
    JSON = "a body that is not JSON"
    FIELDS = "the body's fields"
    NO_OUTPUT = "no sdkOutput in the body"
    OUTPUT = "the sdkOutput"
    USED = "an sdkOutput that was exchanged already"
    OURS = "a failure of the API"


JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Problem:
    """One way to be refused.

    Attributes:
        status: the HTTP status.
        code: the body's `errorCode`.
        title: the body's `title`.
        source: where status and code are published; `assumed` where they are not.
        rules: the rules that the request broke, separated by blanks, and what is assumed; may be empty.
        media_type: of the body.
    """

    status: int
    code: str
    title: str
    source: str
    rules: str = ""
    media_type: str = JSON

    @property
    def basis(self) -> str:
        """What the answer rests on: the broken rules, the code's source, and that pairing the two is ours."""
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
        """The problem-details body with only its required fields."""
        return write_json(self.fields(detail))


def write_json(document: Mapping[str, Any]) -> bytes:
    """A JSON body; its fields keep their order."""
    return json.dumps(document, ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where a request may carry its API key.

    Attributes:
        place: `header`, `query` or `basic` (HTTP basic, RFC 7617).
        parameter: the header's name in small letters, or the query parameter's.
        basis: what it rests on.
    """

    place: str
    parameter: str
    basis: str

    @classmethod
    def of(cls, scheme: Document) -> KeyPlace:
        """The place that a security scheme of the document describes."""
        if scheme["type"] == "http":
            return cls("basic", "authorization", scheme["x-basis"])
        return cls(scheme["in"], scheme["name"], scheme["x-basis"])


@dataclass(frozen=True, slots=True)
class Operation:
    """One of the two operations.

    Attributes:
        method: GET or POST.
        basis: what a success rests on.
        other_query: whether unknown query parameters are accepted.
        statuses: every status that it may be answered with.
        media_type: of its request body; empty where no body belongs.
        most_bytes: the largest size of its request body.
        schema: of its request body.
        unchecked: the source for answering a GET without its content-type (API-4).
    """

    method: str
    basis: str
    other_query: bool
    statuses: tuple[int, ...]
    media_type: str = ""
    most_bytes: int = 0
    schema: Document = field(default_factory=dict)
    unchecked: str = ""

    @classmethod
    def of(cls, method: str, operation: Document) -> Operation:
        """What the document says of a path's method."""
        basis = operation["responses"]["200"]["x-basis"]
        statuses = tuple(sorted(map(int, operation["responses"])))
        common = (method, basis, operation["x-other-query"]["allowed"], statuses)
        if (body := operation.get("requestBody")) is None:
            (sent,) = operation["x-sent"]
            return cls(*common, unchecked=sent["x-basis"].rpartition(": ")[2])
        (media_type, content), *_others = body["content"].items()
        return cls(*common, media_type, body["x-most-bytes"]["value"], content["schema"])


class Contract:
    """A contract's document, and what the service reads of it at each request.

    Args:
        document: the whole OpenAPI document.
        published: the document with every published place of the API key, accepted here or not.

    Attributes:
        path: of both operations, with `{id}` in it; `before_id` and `after_id` are its two parts.
        operations: by method.
        key_places: the places where the API key is accepted; any one will do.
        places_not_taken: the published places that this contract does not accept; a refusal says so.
        problems: every refusal, in the order of the checks.
        answer_fields: the fields of a success's body that this contract knows.
        problem_schema: the schema of a refusal's body.
    """

    def __init__(self, document: Document, published: Document | None = None) -> None:
        self.document = document
        ((self.path, item),) = document["paths"].items()
        self.before_id, self.after_id = self.path.split("{id}")
        methods = {name: item[name] for name in ("get", "post") if name in item}
        self.operations = {name.upper(): Operation.of(name.upper(), operation) for name, operation in methods.items()}
        ways = [name for alternative in document["security"] for name in alternative]
        schemes: Document = (published or document)["components"]["securitySchemes"]
        schemes = {**schemes, **document["components"]["securitySchemes"]}
        self.key_places = tuple(KeyPlace.of(schemes[name]) for name in ways)
        self.places_not_taken = tuple(KeyPlace.of(scheme) for name, scheme in schemes.items() if name not in ways)
        answers = (item["x-elsewhere"], *(operation["responses"] for operation in methods.values()))
        self.problems = _problems(answers)
        self.answer_fields = tuple(document["components"]["schemas"]["Answer"]["properties"])
        self.problem_schema: Document = document["components"]["schemas"]["Problem"]


def _problems(answers: tuple[Document, ...]) -> Mapping[Broken, Problem]:
    """Every refusal in the answers by the check that failed, in the order of the checks."""
    problems = {}
    for response in (response for by_status in answers for response in by_status.values()):
        for media_type, content in response["content"].items():
            for name, example in content.get("examples", {}).items():
                *rules, code, _pairing = example["x-basis"].split("; ")
                body, source = example["value"], code.removeprefix("code: ")
                rest = (body["title"], source, "; ".join(rules), media_type)
                problems[name] = Problem(body["status"], body["errorCode"], *rest)
    order = (broken for broken in Broken if broken.name.lower() in problems)
    return MappingProxyType({broken: problems[broken.name.lower()] for broken in order})


def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((Path(__file__).parent / "contracts" / name).read_bytes())
    return document


def _merge(document: Any, patch: Any) -> Any:
    """A document after a JSON merge patch (RFC 7386): a null removes, and an object is merged."""
    if not isinstance(patch, dict):
        return patch
    fields = document if isinstance(document, dict) else {}
    changed = fields | {name: _merge(fields.get(name), value) for name, value in patch.items()}
    return {name: value for name, value in changed.items() if patch.get(name, value) is not None}


def _contracts() -> Mapping[str, Contract]:
    spec = _read("spec.json")
    field = _merge(spec, _read("field-changes.json"))
    return MappingProxyType({"spec": Contract(spec, published=field), "field": Contract(field)})


# Each contract by its profile: `spec` holds what the interface document says, and tags whatever it does not show;
# `field` adds the published schemas, places for the API key and statuses.
CONTRACTS = _contracts()
SPEC = CONTRACTS["spec"]


def contract(profile: str) -> Contract:
    """The contract of a profile.

    Raises:
        ParameterError: there is no such profile.
    """
    return lookup("profile", profile, CONTRACTS)
