import json
import os

import pytest

from workbook.base.files import NOTEBOOKS
from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands import cli
from workbook.tools.commands.runner import notebooks_dir, require_code, select


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


def test_notebooks_of_the_current_directory_are_never_passed_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert notebooks_dir() == NOTEBOOKS
    here = tmp_path / "notebooks"
    here.mkdir()
    (here / ".hidden.ipynb").write_text("{}")
    os.mkfifo(here / "02_pipe.ipynb")
    (here / "03_folder.ipynb").mkdir()
    for command in ("run", "render", "export"):
        assert cli.main([command]) == 2
        assert capsys.readouterr().err == (
            "workbook: No notebooks (*.ipynb) in 'notebooks'. Name their folder with --notebooks.\n"
        )
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


@pytest.mark.parametrize("cell", [{"cell_type": "markdown"}, {"cell_type": "raw"}, {"cell_type": "code"}])
@pytest.mark.parametrize("command", ["run", "render", "export"])
def test_notebooks_without_any_code_are_no_success(tmp_path, monkeypatch, capsys, command, cell):
    monkeypatch.chdir(tmp_path)
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell | {"source": ["# nothing\n", "\n"]}]}
    (tmp_path / "words.ipynb").write_text(json.dumps(book))
    assert cli.main([command, "--notebooks", "."]) == 2
    assert "None of these notebooks has a line of code" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["words.ipynb"]


def test_one_with_code_is_enough_and_one_that_cannot_be_read_is_tried(tmp_path):
    words, code, broken = (tmp_path / f"{name}.ipynb" for name in ("words", "code", "broken"))
    words.write_text('{"cells": []}')
    code.write_text('{"cells": [{"cell_type": "code", "source": "1 + 1"}]}')
    broken.write_text("no JSON")
    require_code([words, code])
    require_code([words, broken])
    with pytest.raises(ConfigurationError):
        require_code([words])
