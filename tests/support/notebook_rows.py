"""The table of a lesson that is made of the code, in the cell that holds it."""

import json


def with_rows(path, pattern, rows):
    """The notebook's file with these rows where the pattern finds the old ones, in the one text cell that has them."""
    notebook = json.loads(path.read_text("utf-8"))
    texts = (cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    (cell,) = (cell for cell in texts if pattern.search("".join(cell["source"])))
    told = pattern.sub(lambda old: rows if old[0].endswith("\n") else rows.rstrip("\n"), "".join(cell["source"]))
    cell["source"] = told.splitlines(keepends=True)
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
