"""Durations and budgets as drawings and as pictures. The durations are told by hand: nothing is measured here."""

import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from contrast import contrast
from hypothesis import given
from hypothesis import strategies as st

from workbook.checks.timing.verdict import judge_durations
from workbook.flows.messages import LIMITS, limit_of
from workbook.views.durations import VERDICTS, bars, budgets, durations
from workbook.views.paint import DARK, LIGHT, sheet
from workbook.views.table import width

NS = {"svg": "http://www.w3.org/2000/svg"}
HOSTILE = "<script>alert('x')</script>\u202e\x00]]>"


def status(label, *milliseconds, **given):
    return judge_durations([one / 1000 for one in milliseconds], "status", label=label, **given)


def builds():
    good = status("build 0041, warm", *range(3, 12), *range(4, 9), 5, 5, 6, 7)
    near = status("build 0042, warm", 20, 25, 31, 40, 40, 52, 70, 85)
    late = status("build 0042, cold", 31, 60, 75, 80, 90, 95, 100, 110, 120, 130, 190, 240, 900)
    return durations("status() of two builds", [good, near, late])


def plans():
    one_by_one = [3.0] * 20 + [6.0] * 300 + [8.0] * 900 + [12.0] * 500 + [18.0] * 70 + [22.0, 28.0, 60.0]
    calls = {"one by one": one_by_one, "concurrent": [one / 4 for one in one_by_one]}
    return durations(
        "passEntries()", [judge_durations(took, "pass_entries", label=label) for label, took in calls.items()]
    )


def walk():
    took = {"status": 0.004, "pass_entries": 17.2, "remote_pass_entries": 25.0, "provision": 0.0}
    exact = [judge_durations([seconds], call, exact=True) for call, seconds in took.items()]
    return budgets("one walk through the extension", [*exact, status("recorded", 12, 50, 100)])


PICTURES = {"durations": builds, "durations_plans": plans, "durations_budgets": walk}


@pytest.fixture(params=sorted(PICTURES))
def picture(request):
    """A name and a view."""
    return request.param, PICTURES[request.param]()


def test_the_text_form_says_what_the_picture_shows(picture, golden):
    golden(picture[0], picture[1].text())


def test_a_text_form_is_at_most_110_columns_wide(picture):
    assert max(map(width, picture[1].text().splitlines())) <= 110


def test_everything_stands_on_the_page(picture):
    root = ET.fromstring(picture[1].svg())
    high = int(root.get("height"))
    assert int(root.get("width")) == 1000
    for one in root.iter():
        x, y = float(one.get("x", 0)), float(one.get("y", 0))
        assert 0 <= x <= x + float(one.get("width", 0)) <= 1000
        assert 0 <= y <= y + float(one.get("height", 0)) <= high


def test_hostile_text_stays_text():
    for view in (durations(HOSTILE, [status(HOSTILE, 1)]), budgets(HOSTILE, [status(HOSTILE, 1)])):
        ET.fromstring(view.svg())
        assert "<script>" not in view.svg() + view.html()
        assert "\u202e" not in view.text() + view.svg()


@pytest.mark.parametrize("view", [durations("new", []), budgets("new", [])])
def test_nothing_is_a_picture_too(view):
    assert view.text() == "new\nNothing was measured yet."
    root = ET.fromstring(view.svg())
    assert root.find("svg:desc", NS).text == "Nothing was measured yet."
    assert "Nothing was measured yet." in [text.text for text in root.findall("svg:text", NS)]


@pytest.mark.rule("X-STATUS-3")
def test_exactly_100_ms_is_drawn_on_the_near_side_of_the_line():
    judged = status("", 100, 100.001)
    assert [(bar.low, bar.high, bar.over) for bar in bars(judged)] == [(0.08, 0.1, False), (0.1, 0.125, True)]


def test_a_step_in_which_a_limit_lies_is_parted_there():
    own = replace(limit_of("pass_entries"), seconds=9.0)
    judged = judge_durations([8.5, 9.0, 9.5, 9.9], own)
    assert [(bar.low, bar.high, bar.share) for bar in bars(judged)] == [(8.0, 9.0, 0.5), (9.0, 10.0, 0.5)]


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=50), st.sampled_from(sorted(LIMITS)), st.floats(1e-6, 5e3))
def test_any_durations_and_any_limit_make_a_drawing_and_a_picture(took, call, seconds):
    view = durations(
        "any", [judge_durations(took, replace(limit_of(call), seconds=seconds)), judge_durations(took, call)]
    )
    assert all(sum(bar.share for bar in bars(one)) == pytest.approx(1) for one in view.judgements)
    assert max(map(width, view.text().splitlines())) <= 110
    root = ET.fromstring(view.svg())
    boxes = [one for one in root.findall("svg:rect", NS) if one.get("class") in {"wb-bar", "wb-over"}]
    *drawn, _in_time, _over = [(float(one.get("width")), float(one.get("height"))) for one in boxes]
    assert all(wide >= 1 and high >= 3 for wide, high in drawn)


def test_over_the_limit_differs_in_form_and_is_said_in_words():
    root = ET.fromstring(builds().svg())
    texts = [text.text for text in root.iter(f"{{{NS['svg']}}}text")]
    assert [one for one in texts if one.startswith("over: ")] == ["over: none", "over: none", "over: 46 %"]
    assert texts.count("limit 100 ms") == 3
    assert any(one.get("class") == "wb-hatch" for one in root.findall("svg:path", NS))
    assert ".wb-over{fill:var(--ground);stroke:" in sheet("durations")


def test_each_verdict_has_a_sign_of_its_own_form():
    assert set(VERDICTS) == {"pass", "warn", "fail", "running"}
    forms = [form for verdict, signs in VERDICTS.items() for form in (signs if verdict != "running" else signs[:1])]
    assert len(set(forms)) == len(forms)
    assert "" not in forms
    svg = builds().svg()
    assert [svg.count(f'class="is-{word}"') for word in ("pass", "warn", "fail")] == [1, 1, 1]


def test_a_bar_is_as_long_as_the_share_that_was_used():
    root = ET.fromstring(walk().svg())
    tracks = [one for one in root.findall("svg:rect", NS) if one.get("class") == "wb-track"]
    used = [float(one.get("width")) for one in root.findall("svg:rect", NS) if one.get("class") == "wb-bar"][:-1]
    whole = float(tracks[0].get("width"))
    assert len(tracks) == 5
    assert [round(one / whole, 2) for one in used] == [0.04, 0.86, 1.0, 0.0, 1.0]


def test_what_is_beyond_a_limit_is_striped_and_said():
    assert walk().svg().count('class="wb-hatch"') == 1
    assert "the worst used 120 % of 20 s; 1 of 1 over 20 s" in walk().text()


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_the_words_on_the_tinted_ground_have_contrast(colours):
    shade = float(re.search(r"\.wb-shade\{fill:var\(--refused\);fill-opacity:([\d.]+)\}", sheet("durations"))[1])
    assert contrast(colours["refused"], _blend(colours["refused"], colours["ground"], shade)) >= 4.5


def _blend(one, other, share):
    mixed = (round(int(one[at : at + 2], 16) * share + int(other[at : at + 2], 16) * (1 - share)) for at in (1, 3, 5))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)
