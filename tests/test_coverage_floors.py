"""The gate that demands coverage lets whole packages through, and names what it stops."""

import json

from coverage_floors import FLOORS, main


def report(tmp_path, **lines):
    """A file as slipcover writes it: 100 lines of each package reached, but for those named."""
    files = {}
    for beginning in FLOORS:
        missing = lines.get(beginning.rstrip("/").rpartition("/")[2], [])
        counts = {"covered_lines": 100 - len(missing), "missing_lines": len(missing)}
        counts |= {"covered_branches": 0, "missing_branches": 0}
        files[f"{beginning}module.py"] = {"missing_lines": missing, "missing_branches": [], "summary": counts}
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": files}))
    return str(path)


def test_what_is_reached_whole_passes(tmp_path, capsys):
    assert main(report(tmp_path)) == 0
    assert "workbook/api/: 100.00 % reached, floor 100 %" in capsys.readouterr().out


def test_one_line_of_the_client_is_too_many_and_is_named(tmp_path, capsys):
    assert main(report(tmp_path, api=[7])) == 1
    assert "workbook/api/module.py: 7\n" in capsys.readouterr().out


def test_of_the_whole_package_one_in_twenty_may_be_missed(tmp_path):
    assert main(report(tmp_path, workbook=list(range(20)))) == 0
    assert main(report(tmp_path, workbook=list(range(21)))) == 1


def test_a_package_that_is_not_there_was_not_reached(tmp_path):
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps({"files": {}}))
    assert main(str(path)) == 1
