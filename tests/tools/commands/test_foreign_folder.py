"""No command runs code, configuration or templates of the folder that it is started in, which may be anybody's."""

import os
import re
import signal
import subprocess
import sys
from importlib.metadata import entry_points, packages_distributions
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_path
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook, new_output
from rows import rows

from workbook.base.children import python_command
from workbook.tools.commands.cli import _parsers

pytestmark = [pytest.mark.slow, pytest.mark.rule("REL-2")]

ROOT = Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"
SERVERS = {
    "lab": "lab --no-browser --port 0",
    "serve": "serve --port 0",
    "proxy": "proxy --to http://127.0.0.1:9 --port 0 --out {out}/record.jsonl",
    "phone": "phone --port 0 --out {out}",
    "course board": "course board --port 0 --data {out}",
}
"""What serves until it is told to end."""
COMMANDS = {
    "new": "new {out}/copy",
    "reset": "reset 01 --dir {copy}",
    "run": "run --notebooks {books} --out {out}",
    "render": "render --notebooks {books}",
    "export": "export --notebooks {books} --out {out}",
    "course agenda": "course agenda --out {out}/agenda.html",
    "course bundle": "course bundle --out {out}/bundle.zip --wheel {wheel}",
    "course lite": "course lite --out {out}/site --cache {out}/cache",
    "course incidents": "course incidents",
    "sdk-output": "sdk-output",
    "openapi": "openapi",
    "drift": "drift {record}",
    "native": "native kotlin {out}",
    "conform": "conform {fixtures}/back_ends/back-end.toml --only relay.get.path --out {out}",
    "conform init": "conform init",
    "conform app init": "conform app init",
    "conform app": "conform app {fixtures}/apps/reference.toml --only app.form.activity --out {out}",
    "preflight": "preflight {fixtures}/projects/platform_a --out {out}",
    "preflight allowlist-request": "preflight allowlist-request {fixtures}/projects/platform_b",
    "sweep": "sweep --limit 3 --workers 1 --out {out}",
    "compare": "compare {report} {report}",
    "diagnose": "diagnose 503",
    "inspect": "inspect {fixtures}/native/kotlin/BackEnd.kt",
    "doctor": "doctor",
    "rules": "rules",
}
NEED_MORE = {"course bundle", "course lite", "conform app", "drift"}
"""What may end with a sentence: for want of the network, of Kotlin, and of an exchange in the record."""
WHEEL = "provisioning_workbook-1-py3-none-any.whl"
ABOVE = {"course", "conform run"}
"""A heading, and another name for `conform`."""
FEW = ("lab", "run", "export", "course bundle", "conform", "sweep")
"""Each starts programs of another kind: they are tried with each change, and all of them at night."""


def trap(mark):
    """A module's code: it says that it ran, and needs no other module."""
    return f"with open({str(mark)!r}, 'a') as file:\n    file.write(__name__ + '\\n')\n"


def configurations():
    """The name of each file that a program of Jupyter's would look for."""
    programs = {entry.name for entry in entry_points(group="console_scripts") if entry.name.startswith("jupyter")}
    return {f"{name.replace('-', '_')}_config.py" for name in programs} | {
        "ipython_config.py",
        "ipython_kernel_config.py",
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of traps, computed from what is installed, and beside it what the commands work with."""
    base = tmp_path_factory.mktemp("place")
    folder, mark = base / "foreign", base / "fired"
    (folder / ".jupyter").mkdir(parents=True)
    modules = {*packages_distributions(), *sys.stdlib_module_names, "ipykernel_launcher"}
    for name in {name for name in modules if name.isidentifier()}:
        (folder / f"{name}.py").write_text(trap(mark))
    for name in configurations():
        (folder / name).write_text(trap(mark))
        (folder / ".jupyter" / name).write_text(trap(mark))
    (folder / "uv.toml").write_text("a trap")
    for templates in filter(Path.is_dir, (Path(path, "nbconvert", "templates") for path in jupyter_path())):
        for name in (path.name for path in templates.iterdir() if path.is_dir()):
            (folder / name).mkdir(exist_ok=True)
            (folder / name / "conf.json").write_text('{"base_template": "", "mimetypes": {"text/html": true}}')
            shell = f"""{{{{ lipsum.__globals__["os"].system("echo template >> '{mark}'") }}}}"""
            (folder / name / "index.html.j2").write_text(shell)
    (base / "books").mkdir()
    cell = new_code_cell("1 + 1", outputs=[new_output("execute_result", data={"text/plain": "2"}, execution_count=1)])
    spec = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    write(new_notebook(cells=[cell], metadata=spec | {"language_info": {"name": "python"}}), base / "books" / "a.ipynb")
    (base / "report").mkdir()
    (base / WHEEL).touch()
    command(base, "sweep --limit 1 --workers 1 --out {report}")
    command(base, "new {copy}")
    return base


def command(base, line):
    """Carry out a command line of ours in the foreign folder; one that serves ends when it has told its address."""
    out = base / re.match(r"[a-z-]+( [a-z-]+(?= --))?", line)[0].replace(" ", "-")
    out.mkdir(exist_ok=True)
    names = {
        "books": base / "books",
        "copy": base / "copy",
        "report": base / "report",
        "fixtures": FIXTURES,
        "out": out,
    }
    names["wheel"] = base / WHEEL
    names["record"] = base / "proxy" / "record.jsonl"  # of a server's row, which comes first
    words = line.format(**names).split()
    env = os.environ | {"HOME": str(base), "PYTHONPATH": str(ROOT), "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    env |= {"WORKBOOK_API_KEY": "canary-0123456789", "ANN": "session-of-ann", "BOB": "session-of-bob"}
    with subprocess.Popen(
        python_command("-m", "workbook", *words),
        cwd=base / "foreign",
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        if line in SERVERS.values():
            said = next(line for line in process.stdout if "http" in line)
            process.send_signal(signal.SIGINT)
            return said, process.communicate(timeout=60)[0]
        return process.communicate(timeout=300)[0], ""


def fired(base):
    mark = base / "fired"
    names = mark.read_text().split() if mark.exists() else []
    mark.unlink(missing_ok=True)
    return names


@rows("kind", ["module", "template", "configuration"])
def test_a_trap_fires(place, kind):
    words, env = {
        "module": (["-m", "ipykernel_launcher"], {}),
        "template": (["-P", "-m", "nbconvert", "--to", "html", "--template", "basic", "{books}/a.ipynb"], {}),
        "configuration": (
            ["-P", "-m", "nbconvert", "--to", "html", "{books}/a.ipynb"],
            {"JUPYTER_CONFIG_DIR": ".jupyter"},
        ),
    }[kind]
    words = [word.format(books=place / "books") for word in words]
    subprocess.run(
        [sys.executable, *words], cwd=place / "foreign", env=os.environ | env, capture_output=True, check=False
    )
    (place / "books" / "a.html").unlink(missing_ok=True)
    assert fired(place)


def test_every_command_is_tried():
    assert {*SERVERS, *COMMANDS, *ABOVE} == {*_parsers()[1]}


@pytest.mark.parametrize(
    "names", [FEW, pytest.param((*SERVERS, *COMMANDS), marks=pytest.mark.nightly)], ids=["few", "all"]
)
def test_no_command_runs_what_lies_in_the_folder(place, names):
    for name in names:
        said = "".join(command(place, (SERVERS | COMMANDS)[name]))
        assert fired(place) == [], name
        assert "uv.toml" not in said, name  # what a program of ours says that reads it
        assert "Traceback" not in said, name
        assert name in NEED_MORE or "workbook: " not in said, name
        assert "canary-0123456789" not in said, name
