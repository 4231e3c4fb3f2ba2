"""What conform, serve, proxy and drift say in their own words of an API, an SDK or a wallet bears its source."""

import ast
import re
from pathlib import Path

import pytest
from rows import rows

from workbook.base.rules import Basis
from workbook.simulation.faults import FAULTS, Chance
from workbook.simulation.http import Request
from workbook.simulation.service import Service
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.mockserver.serve import log_line

ROOT = Path(__file__).parents[4] / "workbook"
MODULES = [
    *sorted((ROOT / "tools/harness").glob("*.py")),
    *sorted((ROOT / "tools/conform/back_end").rglob("*.py")),
    *sorted((ROOT / "tools/proxy").glob("*.py")),
    ROOT / "tools/conform/notebook.py",
    ROOT / "tools/mockserver/serve.py",
    *(ROOT / "tools/commands" / f"{name}.py" for name in ("conform", "serving")),
]
TEMPLATES = sorted(
    path for path in ROOT.rglob("*") if path.suffix in {".md", ".html", ".toml"} and "{{" in path.read_text("utf-8")
)
"""Wherever they lie: each is beside its caller."""
SOURCE = re.compile(rf"\b({'|'.join(basis for basis in Basis if basis is not Basis.SPEC)})\b")
TAG = re.compile(rf"\([^()]*{SOURCE.pattern}[^()]*\)|\b[A-Z]+(-[A-Z]+)*-\d+\b|\bRFC \d+")
"""A source's tag in brackets, a rule's id, or the standard."""
CLAIM = re.compile(
    r"\b[45]\d\d\b(?! ms| cases| bytes)|\bwallets?\b|\bSDKs?\b|\boperator\b|\b20 s(econds)?\b|\bexchanged once\b"
    r"|\bthe (real )?API (expects|requires|limits|allows|forbids|never|always)\b|\ban app (takes|signs|shows)\b"
)
"""What only the document or another source can know, by its words."""
WORKBOOKS_OWN = re.compile(
    r"^the operator$|^Is the \w+|^Does it send|\bthe workbook plays\b|[Bb]ack end answered 4(13|29)|such as 502"
    r"|\bSDK stand-in\b|^of the SDK; default|^multiplies the SDK's seconds"
)
"""Who has to act, questions about a configuration, what the workbook plays and how, what a back end itself answers."""


def sentences(path):
    """Each text of a module that is no docstring, with its line; of a text in parts, the whole."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    apart |= {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(getattr(part, "value", "…") if isinstance(part, ast.Constant) else "…"
                                       for part in node.values)  # fmt: skip
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.lineno, node.value


def untagged(texts):
    claims = [text for text in texts if " " in text and CLAIM.search(text)]
    return [text for text in claims if not (TAG.search(text) or WORKBOOKS_OWN.search(text))]


@rows("path", MODULES)
def test_no_text_of_a_module_claims_something_without_its_source(path):
    found = {line: text for line, text in sentences(path) if untagged([text]) and text not in FAULTS}
    assert found == {}


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_line_of_a_template_claims_something_without_its_source(path):
    assert untagged(path.read_text("utf-8").splitlines()) == []


def test_each_case_says_where_it_is_known_from():
    assert untagged(case.says for case in CASES.values()) == []


PATH = "/bcl/v2/paymentInstruments/PISIMULATED00000000000001/networkTokenActivationData"
KEY = ("x-api-key", "SIMULATED-KEY-of-nobody")


def logged(request, response):
    return log_line(request, response, 0.001, ())


@rows("name", FAULTS)
def test_each_line_of_the_log_of_serve_names_the_source_of_a_status(name):
    service = Service()
    key = ("x-api-key", next(iter(service.world.credentials)))
    request = Request("GET", PATH, (key, ("content-type", "application/json")))
    response = FAULTS[name].played(service.respond(request), Chance(0.5, service.seal))
    line = logged(request, response)
    assert SOURCE.search(line) or not response.fault, line


@pytest.mark.parametrize(
    "request_",
    [Request(method, path, (KEY,)) for method, path in (("GET", PATH), ("POST", PATH), ("GET", "/"), ("PUT", PATH))],
    ids=["GET", "POST", "path", "method"],
)  # fmt: skip
def test_each_refusal_in_the_log_of_serve_names_the_source_of_its_status(request_):
    line = logged(request_, Service().respond(request_))
    assert re.search(r" 4\d\d .*\(.*\b(openapi|assumed)\b", line), line
