"""The live panels in real JupyterLab: pressed, played, scrubbed, by mouse and by keyboard, with and without a kernel.

One notebook, run once; each test has panels of its own in it. The last tests end its kernel and open it again.
"""

import json
import os
import re
import signal
from inspect import signature
from urllib.parse import urlsplit

import pytest
from accessibility import complaints

from workbook.lessons.widgets.panels import WAKE
from workbook.views.phone import word

NAME = "panels"
PATIENCE = 60_000  # milliseconds
CELLS = {
    "tap": "import os\nfrom workbook.lessons.widgets.stage import stage\nprint('process', os.getpid())\nstage()",
    "careless": "stage(guarded=False)",
    "keys": "stage()",
    "wallet": 'stage("from the wallet")',
    "walk": 'import workbook as wb\nwb.show(wb.session().platform_a.play(), "all")',
    "one": "twice = stage()\ntwice",
    "other": "twice",
    "still": "stage()",
    "break": "stage()",
    "pair": 'stage("platform B", phone="with a watch")',
    "mine": (
        "class Mine(wb.ReferenceHandler):\n    def status(self):\n        print('asked')\n        return self.cache\n\n"
        "wb.session().wallet.live(handler=Mine)"
    ),
}
BOXES = {
    "inspect": "wb.inspect()",
    "chooser": "wb.choose(wb.session().platform_a.play, taps=[1, 2], phone=wb.session().platform_a.phones)",
}
LIVE = len(CELLS) + len(BOXES)
"""The cells with a panel, then those with ordinary controls."""
NUMBERS = {name: number for number, name in enumerate(CELLS)}

pytestmark = pytest.mark.browser


def written(path):
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [code | {"id": name, "source": source} for name, source in (CELLS | BOXES).items()]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    path.write_text(
        json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})
    )


def ready(page, url):
    page.set_default_timeout(PATIENCE)
    page.goto(url.replace("00_start_here", NAME) + "&reset")
    page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook").wait_for()
    page.get_by_text("Python 3 | Idle").wait_for()


def chosen(page, menu, *items):
    page.get_by_role("menuitem", name=menu, exact=True).click()
    *parents, last = items
    for parent in parents:
        page.locator(".lm-Menu-item", has_text=parent).first.hover()
    page.locator(".lm-Menu-item", has_text=last).first.click()


@pytest.fixture(scope="module")
def notebook(board, lab):
    """The notebook on its page, all cells run."""
    url, folder = lab
    written(folder / f"{NAME}.ipynb")
    ready(board, url)
    chosen(board, "Run", "Run All Cells")
    board.locator(".wb-player").nth(len(CELLS) - 1).wait_for()
    board.set_default_timeout(20_000)
    return board


@pytest.fixture
def panel(notebook):
    """The panels of a cell, in sight."""

    def find(name):
        found = notebook.locator(".wb-player").nth(NUMBERS[name])
        found.evaluate("element => element.scrollIntoView({block: 'start'})")
        return found

    yield find
    notebook.emulate_media(reduced_motion="no-preference")


def key(panel, name="Add to"):
    return panel.locator(".wb-keys").get_by_role("button", name=name)


def to_the_end(panel):
    """All of it is seen: by End on the slider."""
    panel.locator("input[type=range]").press("End")


def told(panel):
    return panel.locator(".wb-caption").inner_text()


def settled(panel, state):
    """Waits until the panel's last frame is in this state."""
    panel.locator(".wb-keys button[aria-busy=true]").first.wait_for(state="detached")
    for _ in range(100):
        to_the_end(panel)
        if f"State: {state}." in told(panel):
            return
        panel.page.wait_for_timeout(50)
    pytest.fail(f"{told(panel)!r} is not {state!r}")


def added(panel):
    """The panel of a stage on which one tap has added the card, whatever was done on it before."""
    panel.get_by_role("button", name="Begin again").click()
    settled(panel, "button shown")
    key(panel).click()
    settled(panel, "in the wallet")
    return panel


def taps(panel):
    return panel.locator('.wb-rows button[aria-label*="taps Add"]').count()


def pressed_twice(panel):
    """Two clicks in one turn of the browser's loop: no answer can come between them."""
    return panel.locator(".wb-keys button").first.evaluate(
        "key => { key.click(); const at = key.getAttribute('aria-disabled'); key.click(); return at; }"
    )


@pytest.mark.rule("A-BTN-1")
def test_a_tap_adds_the_card_and_the_button_is_disabled_at_once(panel):
    stage = panel("tap")
    assert pressed_twice(stage) == "true"
    settled(stage, "in the wallet")
    assert taps(stage) == 1
    assert key(stage).count() == 0
    assert "opens the card" in stage.locator(".wb-rows button").first.get_attribute("aria-label")


@pytest.mark.rule("A-BTN-1", "A-BTN-2")
def test_an_app_that_misbehaves_takes_two_taps_and_the_findings_say_so(panel):
    stage = panel("careless")
    assert stage.get_by_role("checkbox", name="Misbehaving app").is_checked()
    assert pressed_twice(stage) == "false"
    stage.locator('.wb-rows button[aria-label*="taps Add"]').nth(1).wait_for(state="attached")
    assert taps(stage) == 2
    stage.get_by_role("tab", name="Findings").click()
    assert "A-BTN-1" in stage.get_by_role("tabpanel", name="Findings").inner_text()
    stage.get_by_role("checkbox", name="Misbehaving app").uncheck()
    settled(stage, "button shown")
    assert taps(stage) == 0


@pytest.mark.rule("X-STATUS-1")
def test_the_app_is_not_listed_where_my_handler_fails_and_my_line_is_told(panel):
    stage = panel("mine")
    settled(stage, "app not listed")
    assert stage.locator("svg.wb-phone text", has_text="No apps with cards").count() == 1
    stage.get_by_role("tab", name="Findings").click()
    found = stage.get_by_role("tabpanel", name="Findings").inner_text()
    assert re.search(r"AttributeError: cache\. Cell In\[\d+\], line 4: return self\.cache\.", found)
    assert "Traceback" not in found
    assert stage.locator(".wb-printed").inner_text().strip() == "asked"


def test_the_wallet_waits_for_the_cardholder(panel):
    stage = panel("wallet")
    for act, state in (("Example Bank", "cards offered"), ("0001", "authenticating")):
        key(stage, act).click()
        settled(stage, state)
    assert {one.get_attribute("aria-label") for one in stage.locator(".wb-keys button").all()} == {"Confirm", "Cancel"}
    assert stage.locator(".wb-limit").count() == 2
    key(stage, "Confirm").click()
    settled(stage, "added")
    full = stage.locator(".wb-limit i").last
    assert full.evaluate("bar => bar.offsetWidth") > 0
    stage.get_by_role("slider", name="Step").press("Home")
    assert full.evaluate("bar => bar.offsetWidth") == 0


@pytest.mark.nightly
def test_scrubbing_shows_what_had_happened_by_then(panel):
    shown = panel("walk")
    slider, rows = shown.get_by_role("slider", name="Step"), shown.locator(".wb-rows button")
    last = rows.count() - 1
    slider.press("Home")
    pale = "element => getComputedStyle(element).opacity < 0.5"
    for _step in range(3):
        shown.get_by_role("button", name="One step on").click()
    assert shown.locator('[data-line="4"]').last.evaluate(pale)
    assert not shown.locator('[data-line="3"]').last.evaluate(pale)
    rows.nth(4).click()
    assert slider.input_value() == "4"
    assert not shown.locator('[data-line="4"]').last.evaluate(pale)
    rows.nth(4).click()
    slider.press("ArrowLeft")
    shown.get_by_role("button", name="One step back").click()
    assert slider.input_value() == "2"
    slider.press("End")
    assert rows.nth(last).is_visible()
    shown.get_by_role("tab", name="States").click()
    assert shown.locator('[data-state="in the wallet"]').get_attribute("class").endswith("wb-here")
    shown.get_by_role("tab", name="Exchange").click()


LIES_WITHIN = """(element, box) => {
    const [one, edges] = [element.getBoundingClientRect(), document.querySelectorAll(box[0])[box[1]]];
    const { left, top } = edges.getBoundingClientRect();
    const [x, y] = [left + edges.clientLeft, top + edges.clientTop];
    const across = one.left >= x - 1 && one.right <= x + edges.clientWidth + 1;
    return across && one.top >= y && one.bottom <= y + edges.clientHeight + 1;
}"""
"""Whether an element is seen in whole in its box."""


@pytest.mark.nightly
def test_the_newest_line_and_the_present_state_are_seen_in_whole(panel):
    shown = panel("walk")
    slider, number = shown.get_by_role("slider", name="Step"), NUMBERS["walk"]
    assert shown.locator(".wb-scroll").evaluate("box => box.clientWidth") in range(540, 900)
    assert shown.locator(".wb-scroll").evaluate("box => box.scrollWidth <= box.clientWidth")
    for name, box, newest in (
        ("Exchange", ".wb-scroll", ".wb-rows button.wb-now"),
        ("States", ".wb-page-states", "[data-state].wb-here"),
    ):
        shown.get_by_role("tab", name=name).click()
        for pressed in ("Home", "End", *["ArrowLeft"] * 4, "End"):
            slider.press(pressed)
            assert shown.locator(newest).evaluate(LIES_WITHIN, [box, number]), (name, pressed)
    shown.get_by_role("tab", name="Exchange").click()
    api = shown.locator(".wb-heads .wb-actor").last.bounding_box()
    edge = shown.locator(".wb-scroll").bounding_box()
    assert api["x"] + api["width"] < edge["x"] + edge["width"]


def test_no_word_of_the_exchange_or_the_phone_is_smaller_than_11_pixels(panel):
    shown = panel("walk")
    scale = "svg => svg.getBoundingClientRect().width / svg.viewBox.baseVal.width"
    smallest = 11.5  # in the drawing's own units
    for width in (1280, 1024, 900):  # in the smallest window the messages are below the phone
        shown.page.set_viewport_size({"width": width, "height": 800})
        shown.page.wait_for_timeout(100)
        assert smallest * shown.locator(".wb-sheet svg").evaluate(scale) >= 11
        least = signature(word).parameters["size"].default
        assert least * shown.locator(".wb-handset svg").evaluate(scale) >= 11
    shown.page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.parametrize(
    ("name", "width", "height"),
    [("pair", 1024, 768), ("wallet", 1024, 768), ("wallet", 1280, 720), ("wallet", 640, 360)],  # 1280 x 720 at 200 %
)
@pytest.mark.nightly
def test_on_a_projector_nothing_is_cut_and_the_phone_is_beside_its_messages(panel, name, width, height):
    shown = panel(name)
    shown.page.keyboard.press("Control+b")  # the list of files
    metrics = shown.page.context.new_cdp_session(shown.page)
    metrics.send(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1280 // width, "mobile": False},
    )
    shown.page.wait_for_timeout(300)
    for tab in ("States", "Exchange"):
        shown.get_by_role("tab", name=tab).click()
        box = shown.locator(".wb-scroll:visible, .wb-page-states:visible").last
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") <= 0, tab
    [phone, messages] = (shown.locator(part).bounding_box() for part in (".wb-handset", ".wb-scroll"))
    assert (abs(phone["y"] - messages["y"]) < phone["height"] / 2) == (width > 640)
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    shown.page.keyboard.press("Control+b")
    metrics.detach()
    shown.page.set_viewport_size({"width": 1280, "height": 800})


@pytest.mark.nightly
def test_in_full_screen_the_chosen_line_lies_below_the_heads_and_the_button_leads_back(panel):
    shown = panel("walk")
    to_the_end(shown)
    shown.get_by_role("button", name="Full screen").click()
    row = shown.locator('.wb-rows button[aria-label*="POST"]').first
    row.click()
    back = shown.get_by_role("button", name="Leave full screen")
    heads, line, box = (one.bounding_box() for one in (shown.locator(".wb-heads"), row, shown.locator(".wb-scroll")))
    assert heads["y"] + heads["height"] <= line["y"] + 1
    assert line["y"] + line["height"] <= box["y"] + box["height"]
    back.click()
    shown.get_by_role("button", name="Full screen").wait_for()
    shown.get_by_role("button", name="Close the details").click()


@pytest.mark.nightly
def test_playing_moves_the_lines_in_their_own_box_and_never_the_page(panel):
    shown = panel("walk")
    shown.get_by_role("combobox", name="Speed").select_option("five times as fast")
    page_at = "element => element.closest('.jp-WindowedPanel-outer, .jp-Notebook').scrollTop"
    shown.get_by_role("slider", name="Step").press("Home")
    before = shown.evaluate(page_at)
    shown.get_by_role("button", name="Play", exact=True).click()
    shown.get_by_role("button", name="Pause", exact=True).wait_for()
    shown.get_by_role("button", name="Play", exact=True).wait_for()
    assert "State: in the wallet." in told(shown)
    assert shown.locator(".wb-scroll").evaluate("box => box.scrollTop") > 0
    assert shown.evaluate(page_at) == before
    assert shown.get_by_role("status").text_content() == told(shown).split("\n")[0]


@pytest.mark.nightly
def test_a_line_opens_its_details_and_escape_closes_them(panel):
    shown = panel("walk")
    to_the_end(shown)
    row = shown.locator(".wb-rows button").nth(2)
    row.focus()
    for pressed in ("ArrowDown", "ArrowUp", "Enter"):
        shown.page.keyboard.press(pressed)
    detail = shown.locator(".wb-about")
    assert "GET" in detail.inner_text()
    assert row.get_attribute("aria-expanded") == "true"
    detail.get_by_role("button", name="Close the details").focus()
    shown.page.keyboard.press("Escape")
    assert detail.is_hidden()
    assert row.evaluate("row => row === document.activeElement")


def focused(page):
    return page.evaluate("document.activeElement.getAttribute('aria-label')")


def test_the_keyboard_alone_will_do_and_the_notebook_takes_no_key(panel):
    stage = panel("keys")
    page, cells = stage.page, stage.page.locator(".jp-Cell").count()
    key(stage).focus()
    for pressed in ("a", "b", "d", "d", "ArrowUp", "ArrowDown", "x"):
        page.keyboard.press(pressed)
    assert focused(page).startswith("Add to")
    page.keyboard.press("Enter")
    assert focused(page).startswith("Add to")
    key(stage).wait_for(state="detached")
    assert focused(page) == "Phone"
    settled(stage, "in the wallet")
    stage.get_by_role("tab", name="Exchange").focus()
    page.keyboard.press("ArrowRight")
    assert stage.get_by_role("tab", name="States").get_attribute("aria-selected") == "true"
    assert (page.locator(".jp-Cell").count(), taps(stage)) == (cells, 1)


def test_the_focus_of_every_control_is_seen(notebook, panel):
    panel("mine").get_by_role("slider", name="Step").focus()
    seen = set()
    for _ in range(60):
        notebook.keyboard.press("Tab")
        kind, style, width = notebook.evaluate("""() => {
            const host = document.activeElement, one = host.shadowRoot?.activeElement ?? host;
            const ring = getComputedStyle(one);
            const ours = host.closest(".wb-player, .wb-panel");
            return [ours ? one.type || one.localName : "", ring.outlineStyle, parseFloat(ring.outlineWidth)];
        }""")
        assert not kind or (style, width >= 3) == ("solid", True), (kind, style, width)
        seen.add(kind)
    assert seen >= {"button", "range", "select-one", "textarea", "checkbox", "radio"}


@pytest.mark.nightly
def test_a_choosers_list_keeps_its_keys(notebook):
    cells, phone = notebook.locator(".jp-Cell").count(), notebook.get_by_label("phone", exact=True)
    phone.focus()
    for pressed in ("a", "b", "d", "d", "Escape", "b"):
        notebook.keyboard.press(pressed)
    assert notebook.locator(".jp-Cell").count() == cells
    phone.select_option("wallet times out")
    notebook.get_by_text('phone="wallet times out")').first.wait_for()


def test_two_views_of_one_panel_have_places_of_their_own_and_both_get_the_answer(panel):
    one, other = panel("one"), panel("other")
    one.get_by_role("slider", name="Step").press("Home")
    assert "opens the card" in told(one)
    assert "shows Add" in told(other)
    key(other).click()
    settled(other, "in the wallet")
    assert "opens the card" in told(one)
    settled(one, "in the wallet")


def test_whoever_wants_no_motion_gets_the_end_at_once(panel):
    stage = panel("still")
    stage.page.emulate_media(reduced_motion="reduce")
    key(stage).click()
    stage.locator('.wb-rows button[aria-label*="hides Add"]').wait_for()
    assert "State: in the wallet." in told(stage)
    assert stage.get_by_role("button", name="Play", exact=True).is_hidden()
    assert stage.locator("select[aria-label=Speed]").is_hidden()


@pytest.mark.nightly
def test_axe_has_no_complaint_in_either_theme(panel):
    shown = panel("walk")
    page = shown.page
    to_the_end(shown)
    shown.locator('.wb-rows button[aria-label*="POST"]').first.click()  # with its details
    light = complaints(page, ".jp-OutputArea-output")
    ink = "svg => getComputedStyle(svg).getPropertyValue('--ink')"
    before = shown.locator("svg.wb-sequence").last.evaluate(ink)
    chosen(page, "Settings", "Theme", "JupyterLab Dark")
    page.locator('body[data-jp-theme-light="false"]').wait_for(state="attached")
    page.wait_for_timeout(500)
    assert shown.locator("svg.wb-sequence").last.evaluate(ink) != before
    assert light + complaints(page, ".jp-OutputArea-output") == []


def test_a_choice_of_two_is_a_named_group_of_radio_buttons(notebook):
    group = notebook.get_by_role("radiogroup", name="taps", exact=True)
    group.get_by_role("radio", name="2").check()
    notebook.get_by_text("session.platform_a.play(taps=2").first.wait_for()


def test_nothing_went_wrong_and_nothing_left_the_machine(notebook):
    assert notebook.troubles == []
    asked = {urlsplit(url).hostname for url in notebook.asked if url.startswith(("http", "ws"))}
    assert asked == {"127.0.0.1"}


ENDED = "The kernel has ended. Run the cells down to this one again to go on."


def test_a_kernel_that_was_killed_leaves_the_film_and_says_how_to_go_on(panel):
    page = panel("tap").page
    chosen(page, "Run", "Run All Cells")
    page.get_by_role("radiogroup", name="taps", exact=True).wait_for()
    stage = panel("tap")
    stage.get_by_text(ENDED).wait_for(state="hidden")
    process = page.locator(".jp-OutputArea-output", has_text=re.compile(r"^\s*process \d+")).inner_text()
    os.kill(int(process.split()[-1]), signal.SIGKILL)
    page.get_by_role("button", name="Ok", exact=True).click()
    stage.get_by_text(ENDED).wait_for()
    to_the_end(stage)
    assert key(stage).get_attribute("aria-disabled") == "true"
    assert page.get_by_text(ENDED).locator("visible=true").count() == LIVE


@pytest.mark.nightly
def test_a_notebook_that_is_opened_again_shows_the_snapshots_and_how_to_go_on(panel, lab):
    page = panel("tap").page
    page.keyboard.press("Escape")
    chosen(page, "File", "Save Notebook")
    path = lab[1] / f"{NAME}.ipynb"
    for _ in range(100):
        page.wait_for_timeout(100)
        if "widget-view" in path.read_text():
            break
    ready(page, lab[0])
    page.locator(".wb-snapshot").first.wait_for()
    dead = page.locator(".jp-OutputArea-output.jupyter-widgets")
    dead.nth(LIVE - 1).wait_for(state="attached")
    assert page.locator(".wb-snapshot:visible").count() == LIVE
    assert page.locator(".jp-OutputArea-output:visible", has_text="Error displaying widget").count() == 0
    hint = "element => getComputedStyle(element, '::after').content"
    assert {one.evaluate(hint) for one in dead.all()} == {f'"{WAKE}"'}
