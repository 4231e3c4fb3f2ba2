"""Each damage does what its name says, and the misspelt name is explained."""

import base64

import pytest

from workbook.simulation.seal import Content, Seal, damaged

TEXTS = [Seal(7).close(Content.ACTIVATION, "PI1" + "x" * extra, 1) for extra in range(6)]


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_the_damages_do_what_they_are_called(text):
    assert base64.b64encode(damaged(text, "decoded").encode()).decode() == text
    assert base64.b64decode(damaged(text, "encoded twice")).decode() == text
    assert damaged(text, "quoted") == f'"{text}"'
    assert "".join(damaged(text, "wrapped into lines").split("\n")) == text
    assert text.startswith(damaged(text, "cut off"))
    assert len(damaged(text, "padding trimmed")) % 4
    changed = zip(text, damaged(text, "one character changed"), strict=True)
    assert sum(old != new for old, new in changed) == 1
