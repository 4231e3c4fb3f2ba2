import os

import pytest

from workbook.base.files import NOTEBOOKS
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands.runner import notebooks_dir, select


@pytest.fixture
def directory(tmp_path):
    for name in ("01_activation_data", "00_start_here", "02_sdk", "extra"):
        (tmp_path / f"{name}.ipynb").write_text("{}")
    (tmp_path / ".hidden.ipynb").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    ["01", "activation_data", "01_activation_data", "01_activation_data.ipynb", "notebooks/01_activation_data.ipynb"],
)
def test_a_name_may_leave_things_out(directory, name):
    assert select([name], directory) == (directory / "01_activation_data.ipynb",)


def test_the_order_is_the_directorys(directory):
    everything = [path.stem for path in select([], directory)]
    assert everything == ["00_start_here", "01_activation_data", "02_sdk", "extra"]
    assert [path.stem for path in select(["extra", "01", "01"], directory)] == ["01_activation_data", "extra"]


def test_an_unknown_name_is_answered_with_the_list(directory):
    for name in ("activation_date", "99", "1"):
        with pytest.raises(ParameterError, match=rf"No notebook '{name}'\. Notebooks: 00_start_here, 01_"):
            select([name], directory)


def test_a_name_that_fits_two_is_refused(directory):
    (directory / "01_again.ipynb").write_text("{}")
    with pytest.raises(ParameterError, match="'01' fits 2 notebooks"):
        select(["01"], directory)


def test_notebooks_of_the_current_directory_are_never_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert notebooks_dir() == NOTEBOOKS
    here = tmp_path / "notebooks"
    here.mkdir()
    assert notebooks_dir() == NOTEBOOKS
    (here / "07_mine.ipynb").write_text("{}")
    assert notebooks_dir() == notebooks_dir(here) == here
    with pytest.raises(ConfigurationError, match="No notebooks"):
        notebooks_dir(tmp_path / "nowhere")


def test_a_pipe_and_a_folder_are_no_notebooks(directory):
    os.mkfifo(directory / "02_pipe.ipynb")
    (directory / "03_folder.ipynb").mkdir()
    assert [path.stem for path in select([], directory) if path.stem in {"02_pipe", "03_folder"}] == []
    with pytest.raises(ParameterError, match="No notebook '02_pipe'"):
        select(["02_pipe"], directory)
