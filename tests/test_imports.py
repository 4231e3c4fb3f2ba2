"""A part imports only the parts below it, no two modules import each other, and heavy libraries have owners."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "workbook"

FLOORS = """
    ending  errors
    values
    files  junit  rules  secrecy
    diagnosis  forms
    api
    flows  parameters  redaction
    simulation
    trace
    inspector  timing  proxy
    runs
    extension
    checks
    card_provisioning  provisioning_service
    views
    lesson  templates
    plays
    sessions  widgets
    exercises
    runner
    conformance  doctor  lab
    app  preflight
    display  symptoms
    commands
    cli
    __main__
"""
"""Every package and top-level module, from the ground up. A part imports those of the lines above its own and itself,
for types too; two parts of one line do not import each other. A new part goes on the lowest line that fits."""

UPWARD = {
    ("trace", "views"): "a trace draws itself in a notebook, and imports the picture when it is asked for it",
    ("views", "plays"): "the type of a run, for a type checker alone",
    ("exercises", "conformance"): "the judge of a prediction about a case, which runs that case when it is asked",
    ("exercises", "preflight"): "the judge of a mended project, which reads it when it is asked",
    ("conformance", "app"): "wb.conform takes an app's file, too, and loads the cases for apps when it does",
    ("exercises", "app"): "the judge of an app core, which plays it when it is handed in",
    ("plays", "app"): "the phone for an app of one's own, served when a notebook asks for it",
    ("plays", "widgets"): "the live stage, imported when a notebook asks for it",
}
"""The only imports upward, each inside a function or for types, with the reason."""

OWNERS = {
    "anywidget": {"widgets"},
    "httpx": {"api/library.py"},
    "httpcore": {"api/library.py"},
    "httpx2": {"api/library.py"},
    "httpcore2": {"api/library.py"},
    "ipywidgets": {"widgets", "app/live.py"},
    "numpy": {"timing/planner.py"},
    "pandas": {"trace.py", "timing/recorded.py"},
    "papermill": {"runner"},
    "httptools": {"simulation/server.py"},
    "tree_sitter": {"preflight/sources.py"},
    "tree_sitter_kotlin": {"preflight/sources.py"},
    "tree_sitter_swift": {"preflight/sources.py"},
    "cryptography": {"preflight/signing.py", "simulation/ecc_v2.py"},
}
"""The only places that may import these libraries: a package, or one module of it."""


def modules():
    return sorted(PACKAGE.rglob("*.py"))


MODULES = {".".join(("workbook", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in modules()}
NAMES = {name.removesuffix(".__init__"): path for name, path in MODULES.items()}


def part(name):
    """`workbook.views.table` is of the part `views`; the package's own `__init__` is of none."""
    return [*name.split("."), ""][1]


def in_functions(tree):
    """Every node inside a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {id(inner) for function in functions for inner in ast.walk(function)}


def for_types(tree):
    """Every node under `if TYPE_CHECKING`."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {id(inner) for block in blocks for statement in block.body for inner in ast.walk(statement)}


def late(tree):
    """Every node that does not run when the module is loaded."""
    return in_functions(tree) | for_types(tree)


@cache
def imported(path, skipped=lambda _tree: set()):
    """The full name of everything that a file imports: modules, and `module.name` where a name is taken from one."""
    tree = ast.parse(path.read_text())
    left_out, names = skipped(tree), []
    for node in ast.walk(tree):
        if id(node) not in left_out and isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif id(node) not in left_out and isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def floors():
    lines = FLOORS.split("\n")
    return {name: floor for floor, line in enumerate(lines) for name in line.split()}


def test_every_part_has_a_floor_and_every_floor_a_part():
    assert set(floors()) == {part(name) for name in NAMES} - {""}


@pytest.mark.slow
@pytest.mark.parametrize("below", sorted(floors()))
def test_a_part_imports_only_the_parts_below_it(below):
    floor, wrong = floors(), []
    for name in [name for name in NAMES if part(name) == below]:
        on_load = set(imported(NAMES[name], late))
        for other in imported(NAMES[name]):
            above = part(other) if other.startswith("workbook.") else ""
            known = (below, above) in UPWARD and other not in on_load
            if above in floor and above != below and floor[above] >= floor[below] and not known:
                wrong.append(f"{name} imports {other}")
    assert wrong == []


@pytest.mark.slow
def test_no_two_modules_import_each_other():
    """Directly or over others, when they are loaded; imports inside a function and for types alone do not count."""
    graph = {}
    for name, path in NAMES.items():
        names = set(imported(path, late))
        graph[name] = {other if other in NAMES else other.rpartition(".")[0] for other in names} & set(NAMES) - {name}
    while leaves := [name for name, others in graph.items() if not others & set(graph)]:
        for name in leaves:
            del graph[name]
    while tops := set(graph) - set().union(*graph.values()):  # what only imports a circle is in none
        for name in tops:
            del graph[name]
    assert graph == {}


@pytest.mark.slow
@pytest.mark.parametrize("library", sorted(OWNERS))
def test_a_library_is_imported_only_by_its_owners(library):
    importers = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if any(name.split(".")[0] == library for name in imported(path, for_types))
    }
    owners = OWNERS[library]
    assert {name for name in importers if name not in owners and name.split("/")[0] not in owners} == set()
    assert importers, f"nothing imports {library} any more: take it out of this table and of pyproject"


HEAVY = {
    "anywidget",
    "cryptography",
    "pandas",
    "numpy",
    "jupyterlab",
    "papermill",
    "ipywidgets",
    "nbformat",
    "nbclient",
    "IPython",
    "httptools",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "import workbook",
        "import workbook.cli",
        "import workbook.flows.variants, workbook.api.opaque, workbook.simulation.transport, workbook.simulation.sdks",
        "from workbook.runs.platform_a import PlatformARun; PlatformARun().walk()",
        "from workbook.card_provisioning import CardProvisioning",
        "import workbook.sessions, workbook.checks, workbook.lesson",
        "import workbook.timing, workbook.timing.verdict, workbook.timing.measured",
    ],
)
def test_nothing_heavy_is_imported_on_the_way(statement):
    program = f"{statement}\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


@pytest.mark.parametrize("statement", ["import workbook", "import workbook; workbook.session()"])
def test_the_http_client_is_not_loaded_before_it_is_needed(statement):
    program = f"{statement}; import sys; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_every_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))
