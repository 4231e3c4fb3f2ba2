"""The words of every command, and what a command hands on and prints."""

from pathlib import Path

import pytest

from workbook.tools.commands import cli
from workbook.tools.commands.cli import _parsers
from workbook.tools.course.lite import Site
from workbook.tools.harness.summary import Terminal


def words_of(parser):
    """The words of a parser's own arguments; what argparse adds to each parser is left out."""
    mine = [action for action in parser._actions if action.dest not in ("help", "version", "==SUPPRESS==")]
    return [" ".join(action.option_strings) or action.dest.upper() for action in mine]


@pytest.mark.golden
def test_the_command_line_is_the_one_that_was_written_down(golden):
    _parser, commands = _parsers()
    golden("command_line", "\n".join(f"{name}: {', '.join(words_of(each))}" for name, each in commands.items()))


def test_no_two_commands_say_that_they_do_the_same():
    said = [each.description for name, each in _parsers()[1].items() if name != "conform run"]  # is `conform`
    assert sorted({*said}) == sorted(said)


# What a command hands on and prints, without the work behind it.


@pytest.mark.parametrize(("words", "values"), [([], True), (["--format", "json"], False)])
@pytest.mark.parametrize("what", [["back-end.toml"], ["app", "../apps/reference.toml"]])
def test_values_are_told_on_stdout_only_where_text_is_printed(what, words, values, monkeypatch, capsys):
    told = []

    class Asked(Exception):  # noqa: N818  # it ends the command where the work would begin
        pass

    def begun(*given, **named):
        terminal = next(one for one in (*given, *named.values()) if isinstance(one, Terminal))
        terminal.exported({"WORKBOOK_URL": "x"}, "")
        told.append(bool(capsys.readouterr().out))
        raise Asked

    for name in ("ANN", "BOB"):  # the sessions of the sample
        monkeypatch.setenv(name, "Bearer a")
    monkeypatch.setattr("workbook.tools.conform.back_end.session.conform", begun)
    monkeypatch.setattr("workbook.tools.conform.app.run.conform_app", begun)
    monkeypatch.setattr("workbook.tools.conform.app.run.of_file", lambda _path, run: run)  # it compiles
    monkeypatch.chdir(Path(__file__).parents[3] / "fixtures/back_ends")
    options = cli.parsed(["conform", *what, *words])
    with pytest.raises(Asked):
        options.handler(options)
    assert told == [values]


def test_a_site_is_told_with_what_it_lacks_and_how_to_look_at_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "workbook.tools.course.lite.build_site", lambda *_given: Site(47_000_000, {"06 cell-3": "Why."})
    )
    assert cli.main(["course", "lite", "--out", str(tmp_path / "a site")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "left out: 06 cell-3. Why.",
        f"{tmp_path / 'a site'}: 47 MB. Any web server can serve it; to try it on this machine:",
        f"  python -m http.server --bind 127.0.0.1 --directory '{tmp_path / 'a site'}'",
    ]


@pytest.mark.parametrize("words", [["phone", "--phone", "list"], ["rules"], ["openapi"], ["sdk-output"]])
def test_what_only_prints_ends_well(words, capsys):
    assert cli.main(words) == 0
    assert capsys.readouterr().out.strip()


def test_a_stand_in_is_written_and_named(tmp_path, capsys):
    assert cli.main(["native", "kotlin", str(tmp_path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed
    assert all(Path(line).is_file() for line in printed)
