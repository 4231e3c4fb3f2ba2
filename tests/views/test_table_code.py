"""Source code to read, as it stands."""

import pytest

from workbook.errors import ParameterError
from workbook.runs.extension.handler import ReferenceHandler
from workbook.views.table import code, files


def test_a_class_is_shown_as_it_stands():
    shown = code(ReferenceHandler)
    assert shown.text().startswith("class ReferenceHandler(ExtensionHandler):")
    assert shown.text().endswith("return None")
    assert "dict(" not in shown.html()
    assert "<pre" in shown.html()
    assert "-&gt;" in shown.html()


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
