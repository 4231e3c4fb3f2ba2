"""How long a tap takes in real JupyterLab: to the first visual change, and to the result of the whole flow.

Run: python tests/bench/panels.py [taps]. It prints medians and the worst of so many taps; nothing is asserted. The aim
is below 100 ms to the first change and below 300 ms to the result.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "browser"))

from conftest import ARGS
from playwright.sync_api import sync_playwright

TAPS = int(sys.argv[1]) if len(sys.argv) > 1 else 20
MEASURE = """panel => new Promise(done => {
  const [key, begun] = [panel.querySelector('.wb-keys button'), performance.now()];
  const times = {};
  const seen = new MutationObserver(() => {
    const rows = [...panel.querySelectorAll('.wb-rows button')];
    if (rows.some(row => row.ariaLabel.includes('taps Add')) && !times.result) {
      times.result = performance.now() - begun;
      seen.disconnect();
      done(times);
    }
  });
  seen.observe(panel, {subtree: true, childList: true, attributes: true});
  key.click();
  requestAnimationFrame(() => setTimeout(() => { times.change = performance.now() - begun; }));
})"""
"""Milliseconds from a click to the frame in which the button shows it, and to the panels of the whole flow."""


def cell(source):
    return {"cell_type": "code", "id": "one", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "notebooks"
        folder.mkdir()
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        cells = [cell("from workbook.lessons.widgets.stage import stage\nstage()")]
        document = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        (folder / "00_start_here.ipynb").write_text(json.dumps(document))
        command = [sys.executable, "-m", "workbook", "lab", "--no-browser", "--notebooks", str(folder)]
        environment = {**os.environ, "HOME": scratch}
        lab = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            line = next(line for line in lab.stdout if "http://" in line)
            report(measured("http://" + line.split("http://", 1)[1].strip()))
        finally:
            lab.terminate()
            lab.wait(20)


def measured(url):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(url + "&reset")
        page.get_by_text("Python 3 | Idle").wait_for(timeout=60_000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        panel = page.locator(".wb-player")
        panel.wait_for()
        times = [one_tap(panel) for _tap in range(TAPS)]
        browser.close()
        return times


def one_tap(panel):
    panel.locator(".wb-keys button[aria-disabled=false]").wait_for()
    times = panel.evaluate(MEASURE)
    panel.get_by_role("button", name="Begin again").click()
    return times


def report(times):
    for name, words in (("change", "to the first change"), ("result", "to the result")):
        taken = [each[name] for each in times]
        median, worst = statistics.median(taken), max(taken)
        print(f"{words:<20}  median {median:6.1f} ms   worst {worst:6.1f} ms   of {len(taken)} taps")


if __name__ == "__main__":
    main()
