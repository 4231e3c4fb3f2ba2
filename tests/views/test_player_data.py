import json
import re
from functools import cache
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st
from plays import SCRIPTS, USUAL, played
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.checks import check
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record, Trace
from workbook.flows.variants import A_FROM_0_4_0
from workbook.lessons.script import Script, play
from workbook.views.film import film
from workbook.views.phone import draw
from workbook.views.player_data import player_data

WALK = Script().then("tap", 2.0)
LARGEST = 250_000
"""Bytes of a walk through platform A, at most."""


@cache
def _data(name):
    shown = played(name)
    return player_data(shown.film, shown.findings)


@rows("name", SCRIPTS)
def test_player_data_has_a_frame_and_a_row_for_each_line_and_plain_json_throughout(name):
    shown = _data(name)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert list(shown) == ["title", "frames", "screens", "exchange", "states", "limits", "found", "findings"]
    assert len(shown["frames"]) == len(shown["exchange"]["rows"]) == len(played(name).film.frames)
    lines = re.findall(r'data-line="(\d+)"', shown["exchange"]["svg"])
    assert lines == [str(number) for number in range(len(shown["frames"]))]


@rows("name", SCRIPTS)
def test_every_frame_names_what_the_pictures_hold(name):
    shown = _data(name)
    states = set(re.findall(r'data-state="([^"]+)"', shown["states"]["svg"]))
    moves = set(re.findall(r'data-move="([^"]+)"', shown["states"]["svg"]))
    for frame in shown["frames"]:
        assert frame["state"] in states
        assert frame["move"] is None or frame["move"].replace(">", "&gt;") in moves
        assert frame["allowed"]
        assert 0 <= frame["screen"] < len(shown["screens"])


@rows("name", SCRIPTS)
def test_each_screen_is_drawn_once_and_shows_what_the_frame_shows(name):
    shown, frames = _data(name), played(name).film.frames
    pictures = [(one["svg"], json.dumps(one["controls"])) for one in shown["screens"]]
    assert len(pictures) == len(set(pictures))
    for frame, drawn in zip(frames, shown["frames"], strict=True):
        picture = draw(frame.screen)
        screen = shown["screens"][drawn["screen"]]
        assert (screen["svg"], screen["alt"]) == (picture.svg, picture.alt)
        assert [one["act"] for one in screen["controls"]] == [control.act for control in picture.controls]


def test_a_walk_through_platform_a_is_small_enough_to_be_sent_after_each_tap():
    shown = play(WALK)
    size = len(json.dumps(player_data(shown.film, shown.findings), ensure_ascii=False).encode())
    assert size < LARGEST


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)</script>',
    "]]></style><script>",
    "' onload='x",
    "</svg><b>",
)
WORDS = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(codec="utf-8"), max_size=20))


@given(WORDS, WORDS, WORDS)
@settings(deadline=None)
def test_markup_in_a_value_never_gets_out_as_markup(card, error, name):
    trace = Trace(name)
    told = [
        (Kind.EVENT, m.Opened(card)),
        (Kind.EXCHANGE, m.ApiRequested("GET", card)),
        (Kind.EXCHANGE, m.ApiAnswered(422, told=error, basis=name)),
        (Kind.EXCHANGE, m.ApiFailed(error, name)),
        (Kind.EVENT, m.ProvisionWithProviderCalled(name, name)),
        (Kind.EVENT, m.CanProvisionError(error)),
        (Kind.EVENT, m.HandlerRaised(name, error)),
        (Kind.EVENT, m.EntryChosen(card)),
        (Kind.COMMAND, m.ShowEntries((card, name))),
        (Kind.EVENT, m.ActivationDataReceived(SdkInput(error or "x"))),
        (Kind.NOTE, m.Noted(error)),
        (Kind.REFUSED, m.Opened(card)),
    ]
    for kind, message in told:
        trace.append(Record(0.0, kind, message, name, error, (card,), 1))
    shown = player_data(film(trace, A_FROM_0_4_0.machine), check(trace))
    assert json.loads(json.dumps(shown)) == shown
    for svg in (*(one["svg"] for one in shown["screens"]), shown["exchange"]["svg"], shown["states"]["svg"]):
        _harmless_svg(svg)
    for html in (*(row["detail"] for row in shown["exchange"]["rows"]), shown["findings"]):
        Harmless().feed(html)


def _harmless_svg(svg):
    for element in ET.fromstring(svg).iter():
        assert element.tag.partition("}")[2] not in {"script", "image", "foreignObject", "a", "use", "b"}
        assert not any(name.lower().startswith("on") or "href" in name for name in element.attrib)


class Harmless(HTMLParser):
    """Refuses every tag and attribute that our own views never write."""

    def handle_starttag(self, tag, attrs):
        assert tag in {"div", "b", "i", "pre", "ul", "li", "p", "span", "code", "em"}
        assert {name for name, _value in attrs} <= {"style", "class", "title", "data-finding"}


@rows("name", USUAL)
def test_no_column_moves_when_another_actor_takes_part(name):
    whole = played(name).film
    svgs = (player_data(whole.until(frame.event))["exchange"]["svg"] for frame in whole.frames[::6])
    assert len({tuple(re.findall(r'wb-box" x="(\d+)" y="64"', svg)) for svg in svgs}) == 1


def test_the_data_counts_the_findings():
    shown = play(Script(fault="reset", operation="POST").then("tap", 2.0))
    told = player_data(shown.film, shown.findings)
    assert len(told["found"]) == told["findings"].count("data-finding") == len(shown.findings) > 0
    assert player_data(shown.film)["found"] == []


def test_a_finding_leads_to_the_line_that_rests_on_its_rule():
    shown = play(Script(fault="reset", operation="POST").then("tap", 2.0))
    [lost] = [one["frame"] for one in player_data(shown.film, shown.findings)["found"] if one["level"] == "note"][:1]
    assert "no answer: reset" in shown.film.sequence.lines[lost].label
