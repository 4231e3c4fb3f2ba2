"""A run that is saved or stored in a notebook can be played without a kernel, and holds nothing that was opaque."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html import escape
from types import SimpleNamespace

import pytest
from IPython.core.formatters import DisplayFormatter

import workbook as wb
from workbook.api.opaque import SdkInput
from workbook.errors import ConfigurationError
from workbook.lessons.pages import PANELS, RECORDING_MIMETYPE, player_values, unpack
from workbook.lessons.session import teach
from workbook.lessons.widgets.panels import film_of
from workbook.views.html import POLICY
from workbook.views.player_data import player_data

RUN = wb.session().platform_a.play()
QUICK_TAPS = wb.session().platform_a.play(taps=2, guarded=False)
GENUINE = "R2VudWluZSBkYXRhIG9mIGEgY2FyZA=="


@pytest.mark.parametrize("answer", [GENUINE, SdkInput(GENUINE)], ids=["text", "SdkInput"])
def test_nothing_opaque_is_recorded(answer):
    run = wb.session().platform_a.play(fetch_opc=lambda _instrument, _output: answer)
    assert GENUINE not in json.dumps(player_values(run))


def test_a_saved_file_has_no_link_and_no_address(tmp_path):
    path = RUN.save(tmp_path / "run.html")
    page = path.read_text("utf-8").replace("http://www.w3.org/", "")
    assert re.findall(r"<a |<link|<img|<iframe|url\(|https?://|import |fetch\(", page) == []
    assert path.stat().st_size < 1_000_000


def test_a_saved_file_lets_its_own_script_run_and_nothing_else(tmp_path):
    page = RUN.save(tmp_path / "run.html").read_text("utf-8")
    [script] = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"{escape(POLICY)}; script-src &#x27;sha256-{digest}&#x27;" in page


def test_a_title_with_markup_is_text_on_the_page(tmp_path):
    trace = type(RUN.trace)("</script><b>", list(RUN.trace))
    assert "</script><b>" not in replace(RUN, trace=trace).save(tmp_path / "run.html").read_text("utf-8")


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="Cannot write"):
        RUN.save(tmp_path / "none" / "run.html")


def test_a_trace_in_a_notebook_draws_itself():
    shell = SimpleNamespace(display_formatter=DisplayFormatter())
    teach(shell)
    drawn, _metadata = shell.display_formatter.format(RUN.trace)
    assert "opens the card" in drawn["text/plain"]
    assert "Sequence diagram" in drawn["text/html"]


def test_what_a_notebook_shows_carries_a_recording():
    alone = player_data(film_of(RUN), RUN.findings)
    for shown, values in [
        (RUN, {"player_data": alone, "panels": list(PANELS)}),
        (wb.show(RUN, "states"), {"player_data": alone, "panels": ["states"]}),
    ]:
        recorded = json.loads(json.dumps(shown._repr_mimebundle_()))[RECORDING_MIMETYPE]
        assert unpack(recorded) == json.loads(json.dumps(values))
