"""The whole site of `workbook course lite` in Chromium, offline: every cell of lessons 00 to 05, and every solution.

Run: python tests/bench/site.py [--lessons N] [--cache DIR] [--seconds 20]. It builds the site, serves it below a path
as a code host serves a project page, refuses every other address, and exits with 1 where a cell fails. It prints how
long the build took, the site's size, and the seconds from opening it (nothing cached) to a card on the live phone.
"""

import argparse
import functools
import json
import shutil
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

from workbook.lessons.exercises.model import all_exercises
from workbook.tools.course.lite import build_site

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))

from conftest import ARGS

BELOW = "/some/path/"
LEFT_OUT = {
    "00_start_here.ipynb cell-16": "It looks at the machine",  # ports, disk and kernel: a page has none
}
"""The cells that the site leaves out, and why."""
PATIENCE = 60_000  # milliseconds
FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden)"
SOLVED = """solutions => {
  for (const cell of window.jupyterapp.shell.currentWidget.content.widgets)
    if (cell.model.id in solutions) cell.model.sharedModel.setSource(solutions[cell.model.id]);
}"""
"""Puts the solution into each exercise's cell."""
RUN = """patience => Promise.race([
  window.jupyterapp.commands.execute("notebook:run-all-cells").then(() => true),
  new Promise(late => setTimeout(late, patience, false)),
])"""
SEEN = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => cell.model.type === "code").map(cell => ({
    id: cell.model.id, count: cell.model.executionCount,
    outputs: cell.model.outputs.toJSON().map(one => one.output_type === "error"
      ? "ERROR " + one.ename + ": " + one.evalue : String((one.data || {})["text/plain"] || one.text || "")),
  }))"""
"""Each code cell as the page has it: its id, the number of its run, and its outputs as text."""


class Below(SimpleHTTPRequestHandler):
    """Serves a folder below a path, and nothing above it."""

    def log_message(self, *_):
        pass

    def translate_path(self, path):
        return super().translate_path(path.removeprefix(BELOW) if path.startswith(BELOW) else "/nothing-here")


@contextmanager
def served(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Below, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{BELOW}"
    finally:
        server.shutdown()


@contextmanager
def chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGS)
        yield browser
        browser.close()


def new_page(browser, address, refused):
    """A page that has cached nothing, remembers nothing, and reaches only the site."""

    def only_the_site(route):
        if route.request.url.startswith((address, "data:", "blob:")):
            route.continue_()
        else:
            route.abort()
            if not route.request.url.endswith("/favicon.ico"):  # what a browser asks every host for by itself
                refused.append(route.request.url)

    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.route("**/*", only_the_site)
    context.set_default_timeout(PATIENCE)
    return context.new_page()


def opened(page, address):
    """A notebook in front, with its kernel ready."""
    page.goto(address)
    page.locator("#jp-main-statusbar :text-is('Python (Pyodide) | Idle')").wait_for()


def by_hand(page, began):
    """A lesson as a reader begins it: Shift+Enter, and a tap on the phone; the seconds to phone and card."""
    page.locator(f"{FRONT} .jp-CodeCell .cm-content").first.click()
    for _cell in range(2):
        page.keyboard.press("Shift+Enter")
    add = page.locator(f"{FRONT} .wb-keys button").first
    add.wait_for()
    drawn = time.monotonic() - began
    add.click()
    page.locator(f"{FRONT} .wb-rows button[aria-label*='taps Add']").first.wait_for(state="attached")
    return drawn, time.monotonic() - began


def kept(page):
    """Solves 00.1, saves and reloads; the answer must be there still, and the progress."""
    page.evaluate(SOLVED, {"exercise-00-1": all_exercises()["00.1"].solution})
    texts = ran_well(page)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    opened(page, page.url)
    source = page.evaluate("""() => window.jupyterapp.shell.currentWidget.content.widgets
      .find(cell => cell.model.id === "exercise-00-1").model.sharedModel.getSource()""")
    texts["after"] = ran_well(page)["cell-progress-2"]
    bad = [] if source == all_exercises()["00.1"].solution else ["the reload lost the answer"]
    return bad + [
        f"the progress was lost: {texts[one]}" for one in ("cell-progress-2", "after") if "✓" not in texts[one]
    ]


def ran_well(page):
    """Runs all cells; returns the text of each code cell, or raises at the first bad one."""
    if not page.evaluate(RUN, PATIENCE):
        raise TimeoutError("not every cell had run in time")
    cells = page.evaluate(SEEN)
    for cell in cells:
        if not cell["count"] or any(text.startswith("ERROR") for text in cell["outputs"]):
            raise AssertionError(f"{cell['id']}: {cell['outputs']}")
    return {cell["id"]: "\n".join(cell["outputs"]) for cell in cells}


def lesson(page, name):
    """What is wrong after all cells of a lesson have run, with the solution of each exercise."""
    solutions = {f"exercise-{one.id.replace('.', '-')}": one.solution for one in all_exercises().values()}
    page.evaluate(SOLVED, solutions)
    try:
        texts = ran_well(page)
    except (AssertionError, TimeoutError) as error:
        return [f"{name} {error}"]
    print(f"{name}: {len(texts)} cells", flush=True)
    return [f"{name} {cell}: {text}" for cell, text in texts.items() if cell in solutions and "done." not in text]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lessons", type=int, default=6)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0, help="from opening to a card in the wallet, at most")
    parser.add_argument("--screenshots", type=Path)
    options = parser.parse_args()
    bad, refused = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder, began = Path(scratch) / "site", time.monotonic()
        site = build_site(folder, options.cache)
        print(f"built in {time.monotonic() - began:.1f} s, {site.size / 1e6:.0f} MB")
        missing = {cell for cell in LEFT_OUT if not site.left_out.get(cell, "").startswith(LEFT_OUT[cell])}
        bad += [f"left out: {cell}" for cell in {*site.left_out} - {*LEFT_OUT} | missing]
        settings = folder / "jupyter-lite.json"  # JupyterLab's own commands, to wait until one is done
        shown = json.loads(settings.read_text())
        shown["jupyter-config-data"]["exposeAppInBrowser"] = "true"
        settings.write_text(json.dumps(shown))
        names = sorted(path.stem for path in (folder / "files" / "notebooks").glob("*.ipynb"))
        with served(folder) as address, chromium() as browser:
            for name in names[: options.lessons]:
                page, began = new_page(browser, address, refused), time.monotonic()
                first = name == names[0]  # what the site opens by itself
                opened(page, address if first else f"{address}lab/index.html?path=notebooks%2F{name}.ipynb")
                if name[:2] in {"00", "03"}:
                    ready = time.monotonic() - began
                    drawn, card = by_hand(page, began)
                    print(f"{name}: kernel {ready:.1f} s, live phone {drawn:.1f} s, card in the wallet {card:.1f} s")
                    bad += [f"{name}: the card took {card:.1f} s"] if card > options.seconds else []
                bad += kept(page) if first else []
                bad += lesson(page, name)
                if options.screenshots:
                    page.screenshot(path=options.screenshots / f"{name}.png")
                page.context.close()
    bad += [f"asked {url}" for url in refused]
    print("\n".join(["", *bad, f"{len(bad)} bad"]))
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
