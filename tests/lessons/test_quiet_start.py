"""JupyterLab asks nothing, finds our kernel, and starts with room for a lesson."""

import json
import os

import pytest

from workbook.lessons.quiet_start import quiet_options, with_kernel, write_settings


def test_the_settings_are_private_and_leave_the_theme(tmp_path):
    write_settings(tmp_path)
    written = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.json"))
    shadow = "jupyter/labextensions/@jupyterlite/pyodide-kernel-extension/package.json"
    kernel = "jupyter/kernels/python3/kernel.json"
    assert written == [kernel, shadow, "settings/overrides.json", "settings/page_config.json"]
    overrides = json.loads((tmp_path / "settings/overrides.json").read_text())
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert not any("theme" in name for name in overrides)


@pytest.mark.slow
def test_it_starts_with_the_file_browser_closed_until_its_owner_opens_it(tmp_path):
    from jupyterlab_server.workspaces_handler import WorkspacesManager

    write_settings(tmp_path)
    layouts = WorkspacesManager(str(tmp_path / "workspaces"))
    assert layouts.load("default")["data"]["layout-restorer:data"]["left"]["collapsed"]
    assert f"--LabApp.workspaces_dir={tmp_path / 'workspaces'}" in quiet_options(tmp_path)
    (layout,) = (tmp_path / "workspaces").iterdir()
    layout.write_text(layout.read_text().replace("true", "false", 1))
    write_settings(tmp_path)
    assert not layouts.load("default")["data"]["layout-restorer:data"]["left"]["collapsed"]


def test_our_kernel_is_found_before_those_of_the_reader(tmp_path):
    ours = str(tmp_path / "jupyter")
    assert with_kernel(tmp_path, {"JUPYTER_PATH": "mine"}) == {"JUPYTER_PATH": os.pathsep.join([ours, "mine"])}
    assert with_kernel(tmp_path, {}) == {"JUPYTER_PATH": ours}
