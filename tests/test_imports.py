"""The arrows between the package's parts point one way, and what is heavy is imported only where it is used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "workbook"

ALLOWED = {
    "flows": {"flows", "errors"},
    "api": {"api", "errors"},
    "proxy": {"proxy", "simulation", "api", "errors"},
    "simulation": {"simulation", "flows.messages", "api", "errors"},
    "timing": {"extension.calls", "timing", "flows", "trace", "errors", "simulation.clock"},
    "views": {"views", "trace", "flows", "checks", "rules", "errors", "api", "extension.plist"},
}
"""What each part may import of the package; the parts above them may import these freely."""

OWNERS = {
    "anywidget": {"widgets"},
    "httpx": {"api/client.py", "api/deadline.py", "conformance/reach.py", "simulation/transport.py"},
    "httpcore": {"api/client.py", "api/deadline.py", "proxy/upstream.py"},
    "ipywidgets": {"widgets"},
    "numpy": {"timing/distribution.py", "timing/totals.py", "timing/estimate.py", "timing/search.py"},
    "pandas": {"trace.py", "timing/recorded.py"},
    "papermill": {"runner"},
    "uvicorn": {"simulation/server.py", "simulation/guarded.py", "simulation/wire_protocol.py"},
}
"""The only places that may import these libraries."""


def modules():
    return sorted(PACKAGE.rglob("*.py"))


def imported(path, *, types_too=False):
    """Every module that a file imports when it runs (names under TYPE_CHECKING do not count)."""
    tree = ast.parse(path.read_text())
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not types_too:
            skipped.update(id(inner) for statement in node.body for inner in ast.walk(statement))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("part", sorted(ALLOWED))
def test_arrows_point_one_way(part):
    wrong = []
    for path in (PACKAGE / part).rglob("*.py"):
        for name in imported(path):
            inside = name.removeprefix("workbook.")
            if not name.startswith("workbook.") or name == "workbook.flows":
                continue
            if not any(inside == allowed or inside.startswith(f"{allowed}.") for allowed in ALLOWED[part]):
                wrong.append(f"{path.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_a_library_is_imported_only_by_its_owners(library):
    importers = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if any(name.split(".")[0] == library for name in imported(path))
    }
    owners = OWNERS[library]
    assert {name for name in importers if name not in owners and name.split("/")[0] not in owners} == set()
    assert importers, f"nothing imports {library} any more: take it out of this table and of pyproject"


HEAVY = {
    "anywidget",
    "pandas",
    "numpy",
    "jupyterlab",
    "papermill",
    "ipywidgets",
    "nbformat",
    "nbclient",
    "IPython",
    "uvicorn",
}


@pytest.mark.parametrize(
    "statement",
    [
        "import workbook",
        "import workbook.cli",
        "import workbook.flows.variants, workbook.api, workbook.simulation.transport, workbook.simulation.sdk_a",
        "from workbook.benches.bench_a import Bench; Bench().walk()",
        "from workbook.card_provisioning import CardProvisioning",
        "import workbook.desk, workbook.checks, workbook.lesson",
        "import workbook.timing, workbook.timing.verdict, workbook.timing.measured",
    ],
)
def test_nothing_heavy_is_imported_on_the_way(statement):
    program = f"{statement}\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_importing_the_package_alone_does_not_load_the_http_client():
    program = "import workbook, sys; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))
