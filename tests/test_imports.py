"""A part imports only the parts below it, no two modules import each other, and heavy libraries have owners."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from rows import rows

PACKAGE = Path(__file__).parent.parent / "workbook"

FLOORS = """
    errors
    base
    api
    flows
    simulation
    play
    checks
    views
    lessons
    tools
    tools/harness tools/mockserver
    tools/conform tools/preflight tools/proxy tools/sweep tools/course tools/diagnose
    tools/commands
    __main__
"""
"""Every folder and top-level module, from the ground up: first the core, then the tools. A part imports those of the
lines above its own and itself, for types and inside functions too, so no tool imports another of its line."""

OWNERS = {
    "distributed": {"tools/sweep/run.py"},
    "anywidget": {"lessons"},
    "httpx": {
        "api",
        "simulation/transport.py",
        "play/back_end.py",
        "tools/mockserver/notifications.py",
        "tools/conform/back_end/phone.py",
    },
    "httpcore": {"api/net.py", "tools/proxy/upstream.py"},
    "ipywidgets": {"lessons", "tools/conform/app/panel.py"},
    "pandas": {"checks/durations.py"},
    "papermill": {"tools/commands"},
    "h11": {"tools/mockserver/server.py"},
    "tree_sitter": {"tools/preflight/parsing.py"},
    "tree_sitter_kotlin": {"tools/preflight/parsing.py"},
    "tree_sitter_swift": {"tools/preflight/parsing.py"},
}
"""The only places that may import these libraries: a package, or one module of it."""


def modules():
    return sorted(PACKAGE.rglob("*.py"))


MODULES = {".".join(("workbook", *path.relative_to(PACKAGE).with_suffix("").parts)): path for path in modules()}
NAMES = {name.removesuffix(".__init__"): path for name, path in MODULES.items()}


def part(name):
    """`workbook.views.table` is of `views`, `workbook.tools.proxy.record` of `tools/proxy`, `workbook` of none."""
    _package, first, *rest = [*name.split("."), ""]
    return f"tools/{rest[0]}" if first == "tools" and rest and rest[0] else first


def for_types(tree):
    """Every node under `if TYPE_CHECKING`."""
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {id(inner) for block in blocks for statement in block.body for inner in ast.walk(statement)}


@cache
def parse(path):
    return ast.parse(path.read_text())


@cache
def imported(path, skipped=lambda _tree: set()):
    """The full name of everything that a file imports: modules, and `module.name` where a name is taken from one."""
    tree = parse(path)
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


@rows("below", sorted(floors()))
def test_a_part_imports_only_the_parts_below_it(below):
    floor = floors()
    wrong = [
        f"{name} imports {other}"
        for name in [name for name in NAMES if part(name) == below]
        for other in imported(NAMES[name])
        if other.split(".")[0] == "workbook" and part(other) != below
        and not floor.get(part(other), len(floor)) < floor[below]
    ]  # fmt: skip
    assert wrong == []


def test_no_two_modules_import_each_other():
    """Directly or over others; imports inside a function and for types alone count, too."""
    graph = {}
    for name, path in NAMES.items():
        names = {other if other in NAMES else other.rpartition(".")[0] for other in imported(path)}
        graph[name] = {other for other in names & set(NAMES) - {name} if not name.startswith(f"{other}.")}
    while leaves := [name for name, others in graph.items() if not others & set(graph)]:
        for name in leaves:
            del graph[name]
    while tops := set(graph) - set().union(*graph.values()):  # what only imports a circle is in none
        for name in tops:
            del graph[name]
    assert graph == {}


@pytest.mark.parametrize("library", sorted(OWNERS))
def test_a_library_is_imported_only_by_its_owners(library):
    importers = {
        str(path.relative_to(PACKAGE))
        for path in modules()
        if any(name.split(".")[0] == library for name in imported(path, for_types))
    }
    owners = OWNERS[library]
    assert {name for name in importers if not name.startswith(tuple(owners))} == set()
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
}


def test_nothing_heavy_is_imported_on_the_way():
    """In one process, one after the other; the HTTP client is not loaded by a session either."""
    program = [
        "import sys, workbook; workbook.session(); print(*{'httpx'} & set(sys.modules))",
        "import workbook.flows.variants, workbook.api.opaque, workbook.simulation.transport, workbook.simulation.sdks",
        "from workbook.play.platform_a import PlatformARun; PlatformARun().walk()",
        "import workbook.lessons.session, workbook.checks, workbook.lessons.lesson",
        "import workbook.tools.commands.cli",
        f"print(*{HEAVY!r} & set(sys.modules))",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(program)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_module_says_what_it_is():
    assert [path for path in modules() if not ast.get_docstring(parse(path))] == []
