"""Notebooks as a reader has them: opened in JupyterLab, all cells run, and the controls used.

With each change nbval runs every cell of every notebook, and test_panels opens one notebook in JupyterLab.
"""

import json
from urllib.parse import urlsplit

import pytest
from lessons import LESSONS

PATIENCE = 120_000  # milliseconds; 07 compiles Kotlin
READY = "#jp-main-statusbar :text-is('Python 3 | Idle')"
"""Looked for where it is: to search every text of twelve notebooks takes longer than to run one."""
TAB = ".lm-DockPanel .lm-TabBar-tab.lm-mod-current"
FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook"
RUN_AND_SAVE = """patience => {
  const { commands } = window.jupyterapp;
  const ran = commands.execute("notebook:run-all-cells");
  const done = ran.then(() => commands.execute("docmanager:save")).then(() => true);
  return Promise.race([done, new Promise(late => setTimeout(late, patience, false))]);
}"""
"""What the menus do. Who clicks them does not learn when it is done; to save again and again made JupyterLab ask."""

pytestmark = [pytest.mark.browser, pytest.mark.nightly]


@pytest.fixture(scope="module")
def jupyterlab(board, lab):
    """One JupyterLab for all notebooks, as a reader has it: to load it takes longer than to run a lesson."""
    board.set_default_timeout(PATIENCE)
    board.goto(lab[0])
    board.locator(READY).wait_for()
    assert not board.locator(".jp-DirListing").is_visible()  # a lesson needs the width
    board.locator('.lm-TabBar-tab[data-id="filebrowser"]').click()
    return board


def opened(page, name):
    """The notebook in front, opened from the list of files, with its kernel ready; no trouble yet."""
    page.troubles.clear()
    page.locator(f'.jp-DirListing-item[title^="Name: {name}"]').dblclick()
    page.locator(TAB, has_text=name).wait_for()
    page.locator(FRONT).wait_for()
    page.locator(READY).wait_for()
    assert page.locator(f"{TAB}.jp-mod-dirty").count() == 0  # what the kernel says of itself is stored already


def ran(page, lab, name):
    """Has run all cells, without an error, and saved them."""
    if not page.evaluate(RUN_AND_SAVE, PATIENCE):
        pytest.fail(f"not every cell of {name} had run in time")
    document = json.loads((lab[1] / f"{name}.ipynb").read_text())
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert [output for cell in cells for output in cell["outputs"] if output["output_type"] == "error"] == []
    assert all(cell["execution_count"] for cell in cells)


@pytest.mark.parametrize("name", [path.stem for path in LESSONS])
def test_all_cells_run_without_a_complaint(jupyterlab, lab, name):
    opened(jupyterlab, name)
    ran(jupyterlab, lab, name)
    assert jupyterlab.troubles == []
    jupyterlab.locator(f"{TAB} .lm-TabBar-tabCloseIcon").click()  # the page gets slower with each that stays open
    assert {urlsplit(url).hostname for url in jupyterlab.asked if url.startswith(("http", "ws"))} == {"127.0.0.1"}


def test_a_choice_is_made_and_run(jupyterlab, lab):
    opened(jupyterlab, "02_sdk_init_and_can_provision")
    ran(jupyterlab, lab, "02_sdk_init_and_can_provision")
    notebook = jupyterlab.locator(FRONT)
    phone = notebook.get_by_label("phone", exact=True)
    phone.scroll_into_view_if_needed()
    phone.select_option("app not allowlisted")
    call = notebook.locator(".widget-html", has_text='compared(phone="app not allowlisted"')
    call.filter(has_text="CannotBeProvisioned.ApiError").first.wait_for()
    assert jupyterlab.troubles == []
