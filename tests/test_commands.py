"""Every command, address and name of ours that a text names is one that exists."""

import re
import tomllib
from functools import cache, partial
from operator import attrgetter
from typing import get_args

import pytest
from texts import ROOT, demand_none, paths, read, texts

import workbook as wb
from workbook.api.protocol import API_PATH
from workbook.base.rules import rule, rules
from workbook.errors import ParameterError
from workbook.lessons.exercises.model import exercise_named
from workbook.simulation.http import Request
from workbook.simulation.scenario import load
from workbook.tools.commands import cli
from workbook.tools.commands.reports import _pattern
from workbook.tools.conform.app.cases import APP_CASES
from workbook.tools.conform.app.cases_b import APP_CASES_B
from workbook.tools.conform.app.run import AppForm
from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.config import BackEndForm
from workbook.tools.harness.model import choose_cases
from workbook.tools.mockserver.mock import MockServer
from workbook.tools.mockserver.serve import PREFIX, Control
from workbook.tools.preflight.run import PREFLIGHT_CASES

CALL = re.compile(r"(?<![\w/.=-])workbook ([a-z][^`|;&<>#\"'()*]*)(`?)")
OF_PROSE = re.compile(r"[^\w$]*|.*\b(?:the|this|import|from|a)\W+", re.IGNORECASE)
"""What stands before the word where it is no command but a noun or a package."""
NO_COMMAND = ("workbook simulation ", "workbook board", "workbook notebooks ")
"""How formats of ours begin, and a list of folders."""
NO_NAME = {"ReferenceHandler.extension_status"}
"""What an exercise shows as a mistake."""
JUDGED = CASES | APP_CASES | APP_CASES_B | PREFLIGHT_CASES
CODE = ("*.toml", ".ci/*", "fixtures/**/*", "workbook/**/*.py", "workbook/**/*.[jhs]*", "workbook/[st]*/**/*.toml")
STRANGE = """
eyJ ZXlK Dsun BuildConfig PapermillOperator airflow prefect input_nb output_nb DaskCluster NAMESPACE SLURMCluster
scheduler_address NAME-scheduler RUN MyRelay TheirHandler YourApp Conform m2 our-app apache-airflow-providers-papermill
prefect-jupyter blue-heron-42 seat-30 dump-package build-logic nil-after-500 res"""
"""Names of others, of no file here, or of what a reader writes."""


def refuse_values(parsed):
    """As the command refuses them once it runs; a word of capitals stands for what a reader has."""
    only = [each for each in parsed.get("only") or () if not re.search("[A-Z]", each)]
    choose_cases(JUDGED, [_pattern(each, JUDGED) for each in only])
    if re.match(r"\d\d\W", what := parsed.get("what", "")):
        exercise_named(what)
    if re.fullmatch("[a-z-]+", scenario := parsed.get("scenario") or ""):
        load(scenario)
    if re.fullmatch(r"[A-Z]+(-[A-Z]+)?-\d+", name := parsed.get("id") or ""):
        rule(name)


@cache
def mistake(words, is_whole):
    """What the parser says against a command line; in a sentence, more words may follow it."""
    try:
        refuse_values(vars(cli.parsed(words)))
    except ParameterError as error:
        told = str(error)
    except SystemExit:  # the help
        return ""
    else:
        return ""
    if is_whole or len(words) == 1 or words[-1].startswith("-"):
        return told
    return mistake(words[:-1], is_whole=False)


def test_every_choice_that_a_manual_lists_is_the_one_of_its_option():
    choice = re.compile(r"`(--[a-z-]+)` is ([\w-]+(?:, [\w-]+)* or [\w-]+)")
    found = [
        (path.name, option, {*re.split(", | or ", words)})
        for path in paths("notebooks/reference/*.md")
        for option, words in choice.findall(" ".join(text for _, text in read(path)))
    ]
    taken = [action for parser in cli._parsers()[1].values() for action in parser._actions if action.choices]
    known = [(option, {*map(str, action.choices)}) for action in taken for option in action.option_strings]
    demand_none(
        [f"{page}: {option} is {sorted(words)}" for page, option, words in found if (option, words) not in known]
    )
    assert len(found) >= 3


def test_every_command_of_the_readmes_table_is_one():
    (readme,) = paths("README.md")
    rows = re.findall(r"^\| (.*?`workbook .*?) \|", readme.read_text("utf-8"), re.MULTILINE)
    named = [name.removeprefix("workbook ") for row in rows for name in re.findall("`([^`]+)`", row)]
    demand_none([f"README.md: workbook {name}" for name in named if name not in cli._parsers()[1]])
    assert len(named) > 15


def test_every_default_that_the_help_names_is_the_one_that_is_taken():
    found = [
        (f"{name} {action.dest}", told[1], f"{action.default:g}")
        for name, parser in cli._parsers()[1].items()
        for action in parser._actions
        if isinstance(action.default, int | float) and (told := re.search(r"default: ([\d.]+)", action.help or ""))
    ]
    demand_none([f"{place}: {told}, and it is {taken}" for place, told, taken in found if told != taken])
    assert found


def unknown_options(words):
    """Those that the command does not have; a command that lacks an argument is refused for that first."""
    commands = cli._parsers()[1]
    known = commands.get(" ".join(words[:2]), commands[words[0]])._option_string_actions
    return [word for word in words if word.startswith("--") and word not in known]


def is_whole(place, before):
    """Whether a command is all that its line or its code span says."""
    return before.endswith("`") or before == "$ " or ("ci/" in place and not re.search(r"#|//|\(", before))


def test_every_command_that_a_text_names_is_one_that_the_parser_takes(monkeypatch):
    monkeypatch.setattr(cli, "_parsers", cache(cli._parsers))  # making them takes most of the time
    found, wrong = 0, []
    for place, text in texts():
        line = re.sub(r'"[^"]*"', "X", text) if text.startswith("$ ") else re.sub(r"\$(CONFORM|PREFLIGHT)\b", "", text)
        for call in CALL.finditer(line):
            before = line[: call.start()]
            words = tuple(call[1].rstrip(" .,:…").split())
            told = mistake(words, is_whole(place, before))
            is_named = before != "$ " and re.search("required|expected one", told) and not unknown_options(words)
            is_noun = told.startswith("No command") and OF_PROSE.fullmatch(before)
            found += 1
            if told and not is_named and not is_noun and not call[0].startswith(NO_COMMAND):
                wrong.append(f"{place}: {call[0]}: {told}")
    demand_none(wrong)
    assert found > 700


def test_every_option_that_a_text_names_is_one_of_the_commands_beside_it():
    """Of those that the text names, and of the one that a manual is about."""
    of_a_command, wrong, found = cli._parsers()[1], [], 0
    for path in paths("README.md", ".github/*.md", "notebooks/*.ipynb", "notebooks/reference/*.md"):
        lines = [] if path.name == "changes.md" else read(path)
        named = {path.stem, *re.findall(r"workbook ([a-z-]+)", "\n".join(text for _, text in lines))}
        known = {
            each
            for name in of_a_command
            if name.split()[0] in named
            for each in of_a_command[name]._option_string_actions
        }
        options = [(line, option) for line, text in lines for option in re.findall(r"(?<=`)--[a-z][a-z-]*", text)]
        wrong += [f"{path.name}:{line}: {option}" for line, option in options if option not in known]
        found += len(options)
    demand_none(wrong)
    assert found > 50


def called(path):
    """Each call of the control API that a page makes with curl: method, target and body."""
    for call in re.findall(r"curl .*CONTROL.*", path.read_text("utf-8").replace("\\\n", " ")):
        target = re.search(r'\$\{?CONTROL(?:_URL\}|/)([^" ]*)', call)[1]
        (body,) = re.findall(r"--data '([^']*)'", call) or [""]
        (method,) = re.findall(r"-X (\w+)", call) or ["POST" if body else "GET"]
        yield method, PREFIX + target, body


def test_every_call_of_the_control_api_is_answered():
    calls = [call for path in paths("README.md", "notebooks/**/*.md", "notebooks/*.ipynb") for call in called(path)]
    assert len(calls) >= 6
    for method, target, body in calls:
        control = Control(MockServer())
        headers = (("authorization", f"Bearer {control.token}"), ("content-type", "application/json"))
        answer = control.respond(Request(method, target.replace("world=w1&", ""), headers, body.encode()))
        assert answer.status == 200, (target, answer.body)


def test_every_path_of_the_api_that_a_text_names_is_the_one_that_is_called():
    whole = re.compile(re.escape(API_PATH).replace(r"\{id\}", r"[^/]+") + f"|{PREFIX}.*")
    named = [
        (place, path.rstrip("/."))
        for place, text in texts()
        if re.match(r"README|notebooks|workbook/base", place)
        for path in re.findall(r"/bcl/[\w/{}$.-]*|(?<![\w.}])/workbook/[a-z/]*", text)
    ]
    demand_none(
        [
            f"{place}: {path}"
            for place, path in named
            if not whole.fullmatch(path) and not API_PATH.startswith(path) and f"{path}/" != PREFIX
        ]
    )
    assert len(named) > 10


@cache
def unknown(root, names):
    """What is wrong with a dotted name of ours."""
    try:
        attrgetter(names)({"wb": wb, "session": wb.session()}[root])
    except AttributeError as error:
        return str(error)
    return ""


def test_every_public_name_that_a_text_uses_is_one_of_ours():
    """Also what follows a name, such as `wb.mock.MockServer`, and what a session has."""
    name = re.compile(r"(?<![\w.])(wb|session)\.([a-z_A-Z]\w*(?:\.[a-zA-Z]\w*)*)")
    named = [(place, *each) for place, text in texts() for each in name.findall(text)]
    demand_none(
        [
            f"{place}: {each}.{names}: {told}"
            for place, each, names in named
            if names not in NO_NAME and (told := unknown(each, names))
        ]
    )
    assert len(named) > 500


def takes(call, word):
    """Whether a call takes this word."""
    try:
        call(word)
    except ParameterError:
        return False
    return True


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
SETTINGS = {
    f"[{section}] {key}"
    for section, field in (*BackEndForm.model_fields.items(), *AppForm.model_fields.items())
    for form in (field.annotation, *get_args(field.annotation))
    for key in getattr(form, "model_fields", ())
}
NAMED = {
    "extra": (r"(?:\.|extras? `|WORKBOOK)\[([a-z,]+)\]", lambda names: {*names.split(",")} <= {*EXTRAS}),
    "setting": (r"`(\[(?!table)\w+\] \w+)", SETTINGS.__contains__),
    "table": (r'wb\.table\("([\w ]+)"', partial(takes, wb.table)),
    "view": (r'wb\.show\(\w+, "([\w ]+)"', partial(takes, partial(wb.show, wb.session().platform_a.play()))),
}


@pytest.mark.parametrize("kind", NAMED)
def test_every_such_name_that_a_text_has_is_one_of_ours(kind):
    pattern, is_known = NAMED[kind]
    found = [(place, name) for place, text in texts() for name in re.findall(pattern, text)]
    demand_none([f"{place}: no {kind} {name}" for place, name in found if not is_known(name)])
    assert len(found) > 1


def test_every_word_of_a_code_span_stands_in_code():
    """So a field, a header, a key, an error or a path that a text misspells is found."""
    pages = ("README.md", "notebooks/*.ipynb", "notebooks/reference/*.md", "workbook/**/*.toml")
    known = {*STRANGE.split(), *(each.id for each in rules())}
    for path in paths(*CODE):
        known.update(re.findall(r"(?=([\w-]+))\w+", f"{path} {path.read_text('utf-8')}"))
    spans = [
        (f"{path.relative_to(ROOT)}:{line}", word)
        for path in paths(*pages)
        if path.name not in ("clients.md", "changes.md")  # the first is about other people's code
        for line, text in read(path, outputs=False)
        for span in re.findall(r"`([^`]+)`", text)
        for word in re.findall(r"\b[A-Za-z_][\w-]*", span)
    ]
    demand_none([f"{place}: {word}" for place, word in spans if word not in known])
    assert len(spans) > 3000
