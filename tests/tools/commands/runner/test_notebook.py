import json

import pytest

from workbook.errors import ConfigurationError
from workbook.tools.commands.runner import read_notebook, with_ids, without_widgets

LIVE = {"application/vnd.jupyter.widget-view+json": {"model_id": "m"}}


def test_ids_are_kept_or_numbered():
    cells = [{"id": "own"}, {}, {"id": ""}, {"id": "cell-03"}]
    ids = [cell["id"] for cell in with_ids({"cells": cells})["cells"]]
    assert ids == ["own", "cell-02", "cell-03-2", "cell-03"]


@pytest.mark.parametrize("stored", [b"", b"[]", b"{}", b'{"cells": 7}', b"\xff"], ids=repr)
def test_what_is_no_notebook_is_refused_in_one_line(stored):
    with pytest.raises(ConfigurationError, match=r"^not a notebook: .+$"):
        read_notebook(stored)


def test_a_live_view_is_taken_out_and_what_was_nothing_else_goes():
    outputs = [{"data": LIVE | {"text/plain": "kept"}}, {"data": dict(LIVE)}, {"name": "stdout", "text": "told"}]
    content = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "source": "", "execution_count": 1}
    cell["outputs"] = [{"output_type": "display_data", "metadata": {}} | one for one in outputs[:2]]
    cell["outputs"].append({"output_type": "stream"} | outputs[2])
    notebook = read_notebook(json.dumps(content | {"cells": [cell]}).encode())
    kept = list(without_widgets(notebook.cells[0].outputs))
    assert [one.get("data", one.get("text")) for one in kept] == [{"text/plain": "kept"}, "told"]


def test_a_cells_lines_in_a_file_are_one_text():
    cell = {"cell_type": "markdown", "id": "one", "metadata": {}, "source": ["# First\n", "second"]}
    content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}
    assert read_notebook(json.dumps(content).encode()).cells[0].source == "# First\nsecond"
