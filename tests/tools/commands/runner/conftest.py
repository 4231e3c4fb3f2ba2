"""Tiny notebooks with real kernels."""

import os
from pathlib import Path

import pytest
from nbformat import write
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).resolve().parents[4]


class Books:
    """A directory of notebooks made on the spot."""

    def __init__(self, directory):
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)

    def add(self, name, *sources, parameters=None):
        cells = [new_code_cell(source) for source in sources]
        if parameters is not None:
            cells.insert(0, new_code_cell(parameters, metadata={"tags": ["parameters"]}))
        metadata = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        }
        path = self.directory / f"{name}.ipynb"
        write(new_notebook(cells=cells, metadata=metadata), path)
        return path


@pytest.fixture(scope="session")
def make_books(tmp_path_factory):
    """Directories of notebooks whose kernels find this checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield lambda: Books(tmp_path_factory.mktemp("books") / "notebooks")


@pytest.fixture
def books(make_books):
    return make_books()


def alive(pid):
    """Whether the process still runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.fixture
def is_alive():
    return alive
