"""Every command, option and default, as `workbook --help` and the completion of a shell read them."""

import pytest

from workbook.commands.cli import _parsers


def spoken(action):
    """One argument on a line: its words, what it takes and what it is for."""
    words = ", ".join(action.option_strings) or action.dest
    facts = {
        "as": action.metavar,
        "takes": action.nargs,
        "one of": action.choices and " ".join(map(str, action.choices)),
        "default": action.default,
        "stores": action.const,
        "in": action.dest if action.option_strings else None,
        "required": action.required and bool(action.option_strings),
    }
    said = "; ".join(f"{name} {value}" for name, value in facts.items() if value not in (None, False, [], ""))
    return f"  {words} ({said}): {action.help}"


@pytest.mark.golden
def test_the_command_line_is_the_one_that_was_written_down(golden, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    parser, commands = _parsers()
    lines = [parser.description]
    for name, each in {"workbook": parser, **commands}.items():
        lines += ["", f"{name} -> {getattr(each.get_default('handler'), '__qualname__', '-')}", each.description]
        # what argparse adds to each parser, and the list of commands, are told by the rest
        lines += [spoken(action) for action in each._actions if action.dest not in ("help", "version", "==SUPPRESS==")]
        lines += each.epilog.splitlines() if each.epilog else []
    golden("command_line", "\n".join(lines))


def test_no_two_commands_say_that_they_do_the_same():
    said = [each.description for name, each in _parsers()[1].items() if name != "conform run"]  # is `conform`
    assert sorted({*said}) == sorted(said)
