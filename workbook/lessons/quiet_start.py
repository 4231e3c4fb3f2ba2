"""How JupyterLab starts for a learner: no question about news, the kernel at once, and a layout for a lesson.

`workbook lab` starts it so on one machine, and a hub for each seat.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from workbook.base.children import kernel_command


def quiet_options(private: Path) -> list[str]:
    """JupyterLab's own options; `private` is the folder that `write_settings` has written into."""
    return [
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        f"--LabApp.app_settings_dir={private / 'settings'}",
        f"--LabApp.workspaces_dir={private / 'workspaces'}",
        "--LanguageServerManager.autodetect=False",
        # Voila, where it is installed, is slow to load into the server and warns on the terminal
        "--ServerApp.jpserver_extensions={'voila.server_extension': False}",
        "--MultiKernelManager.default_kernel_name=python3",
        *(["--allow-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []),
    ]


def with_kernel(private: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The variable by which JupyterLab finds the kernel in `private`, before those that it knows already."""
    paths = [str(private / "jupyter"), *filter(None, [environ.get("JUPYTER_PATH")])]
    return {"JUPYTER_PATH": os.pathsep.join(paths)}


def write_settings(private: Path) -> None:
    """Write JupyterLab's settings and a kernel of this interpreter below `private`; a layout that is there stays.

    Raises:
        OSError: it cannot be written.
    """
    from ipykernel.kernelspec import get_kernel_dict  # heavy

    kernel = private / "jupyter" / "kernels" / "python3"
    settings, workspaces = private / "settings", private / "workspaces"
    for directory in (kernel, settings, workspaces):
        directory.mkdir(parents=True, exist_ok=True)
    options = {
        "log_level": "ERROR",  # the kernel warns at every start that loopback is not encrypted
        "kernel_class": "workbook.lessons.lesson_kernel.LessonKernel",
    }
    argv = kernel_command(*(f"--IPKernelApp.{name}={value}" for name, value in options.items()))
    spec = get_kernel_dict() | {"argv": argv, "display_name": "Python 3"}
    (kernel / "kernel.json").write_text(json.dumps(spec), "utf-8")
    overrides = {
        # JupyterLab asks about news at its first start; an override answers (its value "none": ask)
        "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
        # a reader who runs a cell before the kernel has started is otherwise asked to select one
        "@jupyterlab/notebook-extension:tracker": {"autoStartDefaultKernel": True},
    }
    (settings / "overrides.json").write_text(json.dumps(overrides), "utf-8")
    # The kernel of sites without a server fails to load here; of two extensions with one name the first one counts.
    shadow = private / "jupyter" / "labextensions" / "@jupyterlite" / "pyodide-kernel-extension" / "package.json"
    shadow.parent.mkdir(parents=True, exist_ok=True)
    shadow.write_text('{"name": "@jupyterlite/pyodide-kernel-extension", "version": "0"}', "utf-8")
    disabled = {"@jupyterlab/extensionmanager-extension": True, "@voila-dashboards/jupyterlab-preview": True}
    page_config = {"disabledExtensions": disabled, "buildAvailable": False, "buildCheck": False}
    (settings / "page_config.json").write_text(json.dumps(page_config), "utf-8")
    # a lesson needs the width of the file browser; the page 00 has links to all others
    left = {"collapsed": True, "visible": True, "widgets": ["filebrowser"]}
    layout = {
        "data": {"layout-restorer:data": {"left": left, "relativeSizes": [0, 1, 0]}},
        "metadata": {"id": "default"},
    }
    # JupyterLab's name for the file of the layout that it starts with
    started_with = workspaces / "default-37a8.jupyterlab-workspace"
    if not started_with.exists():
        started_with.write_text(json.dumps(layout), "utf-8")
