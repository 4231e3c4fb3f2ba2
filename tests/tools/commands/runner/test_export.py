import bz2
import gzip
import json
import re
from base64 import b64decode, b64encode
from functools import cache
from hashlib import sha256
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest
from contrast import contrast

import workbook as wb
from workbook.base.secrecy import Secrets
from workbook.errors import ConfigurationError
from workbook.lessons.pages import RECORDING_MIMETYPE, scrub_notebook, unpack
from workbook.lessons.widgets.panels import WAKE
from workbook.lessons.widgets.stage import stage
from workbook.tools.commands import cli
from workbook.tools.commands.runner.export import export, page
from workbook.views.html import POLICY, tag
from workbook.views.table import COPY

ROOT = Path(__file__).parents[4]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STYLE = (ROOT / "workbook/tools/commands/runner/export.css").read_text()
CANARY = "canary-0123456789"


class Parts(HTMLParser):
    """Every element of a page, and every address in it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.addresses += [value for name, value in attributes if name in ("src", "href", "action", "data")]


def written(tmp_path, *cells, name="a"):
    path = tmp_path / f"{name}.ipynb"
    path.write_text(json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def words(text):
    return {"cell_type": "markdown", "id": "w", "metadata": {}, "source": text}


def code(*bundles, source="show()"):
    outputs = [{"output_type": "display_data", "metadata": {}, "data": data} for data in bundles]
    return {
        "cell_type": "code",
        "execution_count": 1,
        "id": "c",
        "metadata": {},
        "outputs": outputs,
        "source": source,
    }


@cache
def page_of(path):
    return page(path, NOTEBOOKS)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_page_needs_nothing_but_itself(path):
    text = page_of(path)
    parts = Parts(text)
    assert text.count(f'http-equiv="Content-Security-Policy" content="{escape(POLICY)}') == 1
    assert len(text.encode()) < 1_000_000
    assert not {"link", "iframe", "object", "embed", "form", "base"} & set(parts.tags)
    pages = {"index.html", *(f"{lesson.stem}.html" for lesson in NOTEBOOKS)}
    assert all(
        address.startswith(("data:image/svg+xml;base64,", "#", "https://")) or address.partition("#")[0] in pages
        for address in parts.addresses
    )
    styles = " ".join(re.findall(r"<style>.*?</style>|style=\"[^\"]*\"", text, re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles


@pytest.mark.slow
def test_the_heading_is_the_title_and_markup_in_it_stays_text(tmp_path):
    text = page(written(tmp_path, words("# Cards & <b>keys</b>\n\nwords"), code({"text/plain": "7"})))
    assert "<title>Cards &amp; &lt;b&gt;keys&lt;/b&gt;</title>" in text
    assert "<title>plain</title>" in page(written(tmp_path, words("no heading"), name="plain"))


@pytest.mark.slow
def test_a_link_to_a_lesson_leads_to_its_page(tmp_path):
    links = "[next](01_b.ipynb), [part](01_b.ipynb#c), [file](https://host/x.ipynb), [manual](reference/run.md)"
    other = written(tmp_path, words("other"), name="01_b")
    text = page(written(tmp_path, words(links)), [other])
    assert 'href="01_b.html"' in text
    assert 'href="01_b.html#c"' in text
    assert 'href="https://host/x.ipynb"' in text
    assert "manual</p>" in text
    assert "01_b.ipynb" not in page(written(tmp_path, words("[next](01_b.ipynb)")))


@pytest.mark.slow
def test_a_link_to_a_heading_leads_to_it(tmp_path):
    text = page(written(tmp_path, words("[below](#The-story)\n\n## The story")))
    assert 'href="#The-story"' in text
    assert '<h2 id="The-story">The story</h2>' in text


@pytest.mark.slow
def test_no_link_within_a_page_leads_nowhere():
    pages = {f"{path.stem}.html": page_of(path) for path in NOTEBOOKS}
    assert pages["00_start_here.html"] == page(NOTEBOOKS[0], NOTEBOOKS)
    ids = {name: set(re.findall(r'\bid="([^"]+)"', text)) for name, text in pages.items()}
    links = [(name, *link) for name, text in pages.items() for link in re.findall(r'href="([^"#:]*)#([^"]+)"', text)]
    assert links
    assert [link for link in links if link[2] not in ids[link[1] or link[0]]] == []


RUN = wb.session().platform_a.play()


def scripts(text):
    return re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)


@pytest.mark.slow
def test_a_stored_run_can_be_played_on_the_page_by_the_one_script_that_the_policy_lets_run(tmp_path):
    text = page(written(tmp_path, code(RUN._repr_mimebundle_())))
    [script] = scripts(text)
    assert f"script-src &#x27;sha256-{b64encode(sha256(script.encode()).digest()).decode()}&#x27;" in text
    assert text.count("data-recording=") == 1
    packed = re.search(r'id="wb-recordings">([^<]*)<', text)[1]
    [recording] = json.loads(gzip.decompress(b64decode(packed)))
    assert recording["player_data"]["title"] == RUN.trace.title
    assert RECORDING_MIMETYPE not in text


@pytest.mark.slow
def test_a_panel_is_played_at_once_and_the_same_run_is_on_the_page_once(tmp_path):
    live = wb.show(RUN, "all")._repr_mimebundle_()
    text = page(written(tmp_path, code(live, live)))
    assert text.count('data-opened="yes" data-recording="0"') == 2


@pytest.mark.slow
def test_what_needs_a_kernel_says_so(tmp_path):
    chooser = wb.choose(wb.session().platform_a.play, taps=[1, 2])._repr_mimebundle_()
    text = page(written(tmp_path, words("# A\nRead this. Run a cell with **Shift + Enter**. Go on."), code(chooser)))
    assert "Shift" not in re.sub(r"data:[^\"]*", "", text)
    assert "Go on." in text
    assert "To choose here, open the notebook with <code>workbook lab</code>." in text


@pytest.mark.slow
def test_a_run_of_another_version_stays_a_picture(tmp_path):
    bundle = RUN._repr_mimebundle_() | {RECORDING_MIMETYPE: {"runs": [{"run": 0}], "panels": []}}
    text = page(written(tmp_path, code(bundle)))
    assert "data-recording=" not in text
    assert "How it ended" in text


@pytest.mark.slow
def test_the_sentences_of_the_rules_are_a_footnote(tmp_path):
    text = page(written(tmp_path, words("# A-BTN-1\nSee A-BTN-1, `A-BTN-2` and NO-SUCH-9."), code({"text/plain": "x"})))
    assert "NO-SUCH-9." in text
    assert re.findall("<dt>(.*?)</dt>", text) == ["A-BTN-1", "A-BTN-2"]


@pytest.mark.slow
def test_several_pages_have_an_index_and_lead_to_one_another(tmp_path):
    names = ("03_a", "b")
    first, second = (written(tmp_path, words(f"# Title {name}\n## `One`\n## Two"), name=name) for name in names)
    one, two, index = export([first, second], tmp_path / "out")
    assert '<li value="3"><a href="03_a.html">Title 03_a</a><p>One · Two</p>' in index.read_text()
    assert '<li><a href="b.html">' in index.read_text()
    assert 'href="b.html"' in one.read_text()
    assert 'href="index.html"' in two.read_text()
    assert "← 03 a" in two.read_text()
    with pytest.raises(ConfigurationError, match="Two notebooks are called 'index'"):
        export([first, written(tmp_path, words("x"), name="index")], tmp_path / "out")


@pytest.mark.slow
def test_a_live_view_is_left_out_and_its_snapshot_stays(tmp_path):
    live = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}}
    text = page(written(tmp_path, code(live | {"text/plain": "plain", "text/html": "<p>the snapshot</p>"}, live)))
    assert "<p>the snapshot</p>" in text
    assert "model_id" not in text
    assert "widget-view" not in text


@pytest.mark.slow
def test_a_page_does_not_say_how_to_bring_a_panel_to_life(tmp_path):
    stored = stage()._repr_mimebundle_()
    text = page(written(tmp_path, code(stored, {"text/plain": WAKE}, source="stage()")))
    assert 'class="wb-place"' in text
    assert "A recording. To press the phone's buttons yourself, open the notebook" in unescape(text)
    assert WAKE not in text


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "a" * 1_000_000,
        "Shift+Enter" * 100_000,
        "\\\\(" * 100_000,
        pytest.param('<a href="x">' * 100_000, marks=pytest.mark.nightly),
    ],
)
def test_a_long_line_of_words_is_read_once(tmp_path, line):
    """A pattern, and nbconvert's own, took the square of its length: minutes."""
    assert line[:10].replace("<", "&lt;") in page(written(tmp_path, words(line), code({"text/plain": "2"})))


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        '<a href="x"' * 100_000,
        *(pytest.param(line, marks=pytest.mark.nightly) for line in ("<" * 1_000_000, '<a href="x">' * 100_000)),
    ],
    ids=["open", "marks", "closed"],
)
def test_a_long_line_of_an_output_is_read_once(tmp_path, line):
    assert "rendered_html" in page(written(tmp_path, code({"text/html": line})))


@pytest.mark.slow
def test_a_long_line_of_code_is_broken(tmp_path):
    shown = re.sub("<[^<>]*>", "", page(written(tmp_path, code({"text/plain": "2"}, source="a." * 3_000))))
    assert max(map(len, re.findall("[a.]+", shown))) == 5000


@pytest.mark.slow
def test_an_output_of_many_marks_is_shown_as_it_was_written(tmp_path):
    few, many = (page(written(tmp_path, code({"text/markdown": "**a** " * times}))) for times in (10, 10_000))
    assert "<strong>a</strong>" in few
    assert "<pre>**a** **a** " in many


def test_a_button_that_copies_has_the_script_of_the_page(tmp_path):
    shown = {"text/html": tag("div", tag("button", "Copy", class_="wb-copy", onclick=COPY), tag("pre", "text"))}
    text = page(written(tmp_path, code(shown)))
    assert "onclick" not in re.sub("(?s)<script.*?</script>", "", text)
    assert ".wb-copy" in scripts(text)[-1]


def test_the_settings_are_folded(tmp_path):
    settings = code(source="seed = 7") | {"id": "s", "metadata": {"jupyter": {"source_hidden": True}}}
    shown = page(written(tmp_path, settings, code({"text/plain": "here"})))
    (folded,) = re.findall(r"<details><summary>Settings</summary>(.*?)</details>", shown, re.DOTALL)
    assert "seed" in folded


def test_a_notebook_that_was_never_run_is_refused(tmp_path):
    path = written(tmp_path, words("# A"), code())
    with pytest.raises(ConfigurationError, match=r"a\.ipynb has nothing to show.*workbook render"):
        page(path)


DEEP = "[" * 60_000
OUTPUT = {"output_type": "other"}
UNKNOWN_OUTPUT = json.dumps(
    {
        "metadata": {},
        "cells": [{"cell_type": "code", "metadata": {}, "source": "", "execution_count": 1, "outputs": [OUTPUT]}],
    }
)


@pytest.mark.parametrize(
    "content",
    ["", "not json", "{}", '{"cells": 7}', "[]", "\ud800", DEEP, UNKNOWN_OUTPUT],
    ids=lambda text: text[:20],
)
def test_what_is_no_notebook_is_refused(content, tmp_path):
    path = tmp_path / "a.ipynb"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigurationError, match=r"a\.ipynb is not a notebook that can be read"):
        page(path)


@pytest.mark.rule("REL-2")
def test_a_page_with_the_key_in_it_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    path = written(tmp_path, code({"text/plain": f"key: {CANARY}"}))
    with pytest.raises(ConfigurationError, match=r"a\.ipynb contains the API key") as error:
        export([path], tmp_path / "out")
    assert CANARY not in str(error.value)
    assert list((tmp_path / "out").iterdir()) == []


def packed(data):
    return {"text/html": "<b>x</b>", RECORDING_MIMETYPE: {"bz2": b64encode(bz2.compress(data)).decode()}}


@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("data", [json.dumps({"line": CANARY}).encode(), bytes(2**24 + 1)], ids=["key", "too large"])
def test_a_recording_with_the_key_in_it_or_that_cannot_be_searched_is_not_written(tmp_path, monkeypatch, data):
    monkeypatch.setenv("WORKBOOK_API_KEY", CANARY)
    path = written(tmp_path, code(packed(data)))
    with pytest.raises(ConfigurationError, match=r"a\.ipynb contains the API key"):
        export([path], tmp_path / "out")


@pytest.mark.rule("REL-2")
def test_a_notebook_loses_only_the_recordings_with_the_key_in_them():
    secrets = Secrets.of_keys([CANARY])
    good, bad = (json.dumps({"cells": [packed(text.encode())]}, indent=1) for text in ("[1]", f'["{CANARY}"]'))
    assert scrub_notebook(good, secrets) == good
    assert json.loads(scrub_notebook(bad, secrets))["cells"][0][RECORDING_MIMETYPE] == {"bz2": "[key]"}


def test_a_recording_that_is_larger_than_any_is_not_unpacked(tmp_path):
    large = packed(bytes(2**25))
    with pytest.raises(ValueError, match="larger than any recording"):
        unpack(large[RECORDING_MIMETYPE])
    assert "<b>x</b>" in page(written(tmp_path, code(large)))


@pytest.mark.slow
@pytest.mark.rule("REL-2")
@pytest.mark.parametrize("source", ["k = {}", "!curl -H x-api-key:{} host", "%%bash\nexport K={}"])
@pytest.mark.parametrize("key", ["ab12.cd34-ef56", "a+b/c==d-e.f0123", CANARY])
def test_a_key_that_the_highlighter_cuts_into_pieces_is_found(tmp_path, monkeypatch, source, key):
    monkeypatch.setenv("WORKBOOK_API_KEY", key)
    path = written(tmp_path, code({"text/plain": "7"}, source=source.format(key)))
    with pytest.raises(ConfigurationError, match="contains the API key"):
        export([path], tmp_path / "out")


def test_nothing_in_a_cell_leads_the_reader_to_another_site(tmp_path):
    refresh = '<meta http-equiv=refresh content="0;url=https://elsewhere.example">'
    split = refresh.replace("<meta", "<me<meta>ta")
    cells = [words(refresh), words(f"text {refresh.upper()}") | {"id": "more"}, code({"text/html": refresh + split})]
    text = page(written(tmp_path, *cells))
    assert text.lower().count("<meta") == 4
    assert Parts(text).tags.count("meta") == 4


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    path = written(tmp_path, code({"text/plain": "7"}))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigurationError, match="Cannot make the directory"):
        export([path], tmp_path / "file" / "out")
    (tmp_path / "out" / "a.html").mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="Cannot write"):
        export([path], tmp_path / "out")


def test_two_notebooks_of_one_name_are_refused_and_nothing_is_written(tmp_path):
    (tmp_path / "other").mkdir()
    twice = [written(folder, code({"text/plain": "7"})) for folder in (tmp_path, tmp_path / "other")]
    with pytest.raises(ConfigurationError, match="Two notebooks are called 'a'"):
        export(twice, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command_takes_names_and_files(tmp_path, capsys):
    own = written(tmp_path, words("# Mine"), code({"text/plain": "7"}), name="mine")
    assert cli.main(["export", "02", str(own), "--out", str(tmp_path / "out")]) == 0
    names = sorted(Path(line).name for line in capsys.readouterr().out.splitlines())
    assert names == sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["02_sdk_init_and_can_provision.html", "index.html", "mine.html"]


def test_a_file_that_is_not_there_is_explained(tmp_path, capsys):
    assert cli.main(["export", "07_nothing.ipynb", "--out", str(tmp_path)]) == 2
    assert "No notebook '07_nothing.ipynb'." in capsys.readouterr().err


def _themes():
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    colours = [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme)) for theme in (light, dark)]
    return {"light": colours[0], "dark": colours[1]}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("word", ["ink", "muted", "link", "keyword", "string", "number", "comment"])
def test_every_word_can_be_read(theme, word):
    colours = _themes()[theme]
    assert min(contrast(colours[word], colours[ground]) for ground in ("ground", "box")) >= 4.5


def test_nothing_in_a_cell_makes_the_page_ask_the_network_for_a_name(tmp_path):
    link = "<link rel=dns-prefetch href=//elsewhere.example>"
    text = page(written(tmp_path, words(link), code({"text/html": link.upper()})))
    assert "elsewhere.example" in text.lower()
    assert "link" not in Parts(text).tags
