"""The board's page: a raised hand is there within seconds; a projector, a keyboard and a screen reader can use it."""

import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from urllib.request import Request, urlopen

import pytest
from accessibility import complaints, complaints_in_both_schemes

from tests.support import seats

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@contextmanager
def running(folder, *words):
    """A board that `workbook course board` runs: its page's address."""
    command = [sys.executable, "-m", "workbook", "course", "board", "--port", "0", *words]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().split()[-1]
        process.terminate()


@pytest.fixture
def room(tmp_path):
    """A board over a folder of copies: its page's address, and what sends a seat's progress to it."""
    (tmp_path / "copies").mkdir()
    with running(tmp_path, "--folder", "copies") as address:
        join = json.loads((tmp_path / "board/join.json").read_text())

        def send(seat, *args, **exercises):
            headers = {"Authorization": f"Bearer {join['token']}"}
            body = seats.sent(seat, *args, **exercises)
            urlopen(Request(f"{join['address']}seats/{seat}", body, headers, method="PUT")).close()

        yield address, send, tmp_path / "copies"


@pytest.fixture(autouse=True)
def _now(monkeypatch):
    monkeypatch.setattr(seats, "ago", lambda minutes: (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat())


def test_without_a_folder_the_page_has_the_line_that_a_copy_needs(page, tmp_path):
    with running(tmp_path) as address:
        page.goto(address)
        page.get_by_text("Show the line").click()
        assert '{"token":' in page.locator("#join").inner_text()


def test_a_trainer_sees_who_is_stuck_and_a_raised_hand_within_five_seconds(page, room):
    address, send, copies = room
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(address)
    page.get_by_text("Nobody is here yet").wait_for()
    assert page.get_by_text("Show the line").is_hidden()  # copies in a folder need no token
    assert "#" not in page.url  # a projector does not show the trainer's
    assert complaints(page) == []
    send("calm", "03.1", _03_1=seats.work(), _00_1=seats.work(passed=3))
    send("stuck", "03.1", _03_1=seats.work(wrong={"A-CAN-2": 3}))
    (copies / "asks").mkdir()
    file = copies / "asks" / "progress.json"
    file.write_bytes(seats.sent("asks", "03.1", _03_1=seats.work()))
    page.locator("#rows tr").nth(2).wait_for()
    began = time.monotonic()
    file.write_bytes(seats.sent("asks", "03.1", hand=0, _03_1=seats.work()))
    page.locator("tr.hand").wait_for()
    assert time.monotonic() - began < 5
    first, second, third = page.locator("#rows tr").all_inner_texts()
    assert re.match(r"asks\s+Hand up for 0 min\s+03.1 ", first)
    assert re.match(r"stuck\s+wrong 3 times: A-CAN-2, canProvision ", second)
    assert re.match(r"calm\s+03.1 ", third)
    assert page.title() == "(1) The room"
    page.get_by_label("Only who needs help").focus()
    page.keyboard.press("Space")
    assert page.locator("#rows tr").count() == 2
    page.keyboard.press("Space")
    page.get_by_role("button", name="Seat").focus()
    page.keyboard.press("Enter")
    assert page.locator("#rows th").all_inner_texts() == ["asks", "calm", "stuck"]
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("Seat")
    page.reload()
    page.locator("#rows tr").nth(2).wait_for()  # the tab remembers the token
    for width in (1280, 1024, 512):  # the last is 1024 at 200 %
        page.set_viewport_size({"width": width, "height": 720})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    levels = ["wcag2a", "wcag2aa", "wcag2aaa", "wcag21aa", "wcag22aa", "best-practice"]
    colours = ["color-contrast", "color-contrast-enhanced"]
    assert complaints_in_both_schemes(page, colours, runOnly=levels) == []
    assert {url.partition("#")[0].removesuffix("room") for url in page.asked} == {address.partition("#")[0]}
    assert page.troubles == []


def test_without_the_trainers_token_nothing_is_shown(page, room):
    address, send, _copies = room
    send("owl", "03.1", _03_1=seats.work())
    bare, token = address.split("#")
    page.goto(bare)
    page.get_by_text("Give the trainer's token").wait_for()
    assert not page.locator("#room").is_visible()
    page.get_by_label("Trainer's token").fill(token)
    page.keyboard.press("Enter")
    page.locator("#rows tr").wait_for()
