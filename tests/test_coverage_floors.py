"""The gate that demands coverage lets whole packages through, and names what it stops."""

import json

import pytest
from coverage_floors import FLOORS, main, unreachable

SOURCE = "x = 1\n" * 100


@pytest.fixture
def gate(tmp_path):
    """Judges a report as slipcover writes it: a file of each package with 100 lines, reached but for those named."""

    def judge(source=SOURCE, **lines):
        files = {}
        for beginning in FLOORS:
            missing = lines.get(beginning.rstrip("/").rpartition("/")[2], [])
            reached = [line for line in range(1, 101) if line not in missing]
            name = f"{beginning}module.py"
            files[name] = {"executed_lines": reached, "missing_lines": missing}
            files[name] |= {"executed_branches": [], "missing_branches": []}
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(source)
        path = tmp_path / "coverage.json"
        path.write_text(json.dumps({"files": files}))
        return main(str(path), tmp_path)

    return judge


def test_what_is_reached_whole_passes(gate, capsys):
    assert gate() == 0
    assert "workbook/api/: 100.00 % reached, floor 100 %" in capsys.readouterr().out


def test_one_line_of_the_client_is_too_many_and_is_named(gate, capsys):
    assert gate(api=[7]) == 1
    assert "workbook/api/module.py: 7\n" in capsys.readouterr().out


def test_of_the_whole_package_one_in_twenty_may_be_missed(gate):
    most = 100 * len(FLOORS) // 20
    assert gate(workbook=list(range(1, most + 1))) == 0
    assert gate(workbook=list(range(1, most + 2))) == 1


def test_a_package_that_is_not_there_was_not_reached(tmp_path):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": {}}))
    assert main(str(path)) == 1


def test_a_file_that_no_test_imports_is_named(gate, tmp_path, capsys):
    (tmp_path / "workbook" / "new").mkdir(parents=True)
    (tmp_path / "workbook" / "new" / "other.py").touch()
    assert gate() == 1
    assert "workbook/new/other.py: no test imports it\n" in capsys.readouterr().out


def test_a_line_that_only_a_type_checker_reads_may_be_missed(gate):
    source = "if TYPE_CHECKING:\n    import a\n\n    import b\n" + SOURCE
    assert gate(source, api=[2, 4]) == 0
    assert gate(source, api=[2, 5]) == 1


def test_what_cannot_be_reached_ends_with_its_block():
    source = "if TYPE_CHECKING:\n    a\n\n    b\nif not TYPE_CHECKING:\n    def f():\n        ...\nassert_never(d)\n"
    assert [*unreachable(source)] == [1, 2, 3, 4, 7, 8]
