"""Source code to read, as it stands."""

import re
import sys
from html import unescape

import pytest

from workbook.errors import ParameterError
from workbook.play.extension.handler import ReferenceHandler
from workbook.views.table import code, files


def test_a_class_is_shown_as_it_stands():
    shown = code(ReferenceHandler)
    assert shown.text().startswith("class ReferenceHandler(ExtensionHandler):")
    assert shown.text().endswith("return None")
    assert "dict(" not in shown.html()
    assert "<pre" in shown.html()
    assert "-&gt;" in shown.html()


@pytest.mark.parametrize(
    ("name", "source", "keyword"),
    [
        ("A.kt", "val one = 1", "val"),
        ("A.swift", "let one = 1", "let"),
        ("a.toml", "[get]", "[get]"),
        ("a.json", '{"one": 1}', "&quot;one&quot;"),
    ],
)
def test_a_listing_has_its_languages_colours_and_the_words_of_its_file(tmp_path, name, source, keyword):
    (tmp_path / name).write_text(source)
    html = code(tmp_path / name).html()
    assert f'<span class="k">{keyword}</span>' in html
    assert unescape(re.sub("<style.*?</style>|<[^>]*>", "", html)) == f"{name}Copy{source}"


def test_a_listing_is_folded_beyond_25_lines_and_can_be_scrolled_by_keyboard(tmp_path):
    for lines, opened in ((25, True), (26, False)):
        (tmp_path / "a.unknown").write_text("<b>\n" * lines)
        html = code(tmp_path / "a.unknown").html()
        assert ('<details class="wb-listing" open="">' in html) == opened
        assert f"</b>, {lines} lines</summary>" in html
        assert '<pre tabindex="0"' in html
        assert "&lt;b&gt;" in html


def test_without_the_library_a_listing_has_no_colours(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments.token", None)
    assert "<span" not in code(ReferenceHandler).html()


def test_the_marks_for_a_linter_are_left_out_and_the_words_beside_them_are_kept():
    shown = code(ReferenceHandler).text()
    assert "noqa" not in shown
    assert "except Exception:  # nil when it throws" in shown
    assert max(map(len, shown.splitlines())) <= 95


@pytest.mark.parametrize("thing", [7, "text", len, None])
def test_what_has_no_source_is_explained(thing):
    with pytest.raises(ParameterError, match="Give a class or a function"):
        code(thing)


def test_several_files_stand_each_below_its_name(tmp_path):
    for name in ("a.swift", "b.swift"):
        (tmp_path / name).write_text(f"let name = {name[0]}\n")
    assert files([tmp_path / "a.swift", tmp_path / "b.swift"]).text() == (
        "a.swift\n\nlet name = a\n\nb.swift\n\nlet name = b"
    )
