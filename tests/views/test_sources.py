"""Everything that a person sees says where it is known from: a rule of the ledger, or a source's tag."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from any_record import CLASSES
from plays import USUAL, played
from rows import rows

import workbook as wb
from workbook.base.rules import Basis, bases, rules
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record
from workbook.lessons.display import LOOK_UPS
from workbook.lessons.faults import WAYS_TO_ADD
from workbook.simulation.faults import FAULTS
from workbook.tools.commands.cli import main
from workbook.views.exchange import Exchange
from workbook.views.sequence import Shape
from workbook.views.table import Stack, Table

LESSONS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def _record(message, kind=Kind.EVENT, source="spec"):
    return Record(0.0, kind, message, "a", "a", message.rules, source=source)


def test_each_source_has_its_meaning():
    assert [*Basis] == ["spec", "openapi", "sdk-a", "sdk-b", "wallet", "seen", "inferred", "assumed"]
    assert len({basis.meaning for basis in Basis} - {""}) == len(Basis)


def test_the_document_itself_needs_no_tag():
    assert bases("spec") == ()
    assert bases("spec wallet inferred") == (Basis.WALLET, Basis.INFERRED)
    with pytest.raises(ValueError, match="hearsay"):
        bases("hearsay")


@rows("message", CLASSES)
def test_each_message_and_each_value_of_it_has_a_source(message):
    bases(message.source)
    assert [name for name in message.value_names() if name not in {**m.VALUES, **message.sources}] == []
    assert set(message.sources) <= set(message.value_names())


def test_what_a_failure_is_called_more_exactly_is_a_failure_too():
    assert [
        one.__name__ for one in CLASSES for base in one.__bases__ if getattr(base, "fails", False) > one.fails
    ] == []


def test_no_value_has_a_source_that_no_message_carries():
    carried = {name for message in CLASSES for name in message.value_names()}
    assert set(m.VALUES) <= carried | {"call", "seconds"}


def test_a_step_bears_the_source_of_its_message_and_of_its_place_in_the_flow():
    assert _record(m.UnknownFailure()).bases == ()
    assert _record(m.CanProvisionCalled(), source="assumed").bases == (Basis.ASSUMED,)
    assert _record(m.HideButton(), Kind.COMMAND, "assumed").bases == (Basis.ASSUMED,)
    assert _record(m.DelegateTimeSpent("provision"), source="wallet").bases == (Basis.WALLET,)


def test_a_value_has_the_source_of_its_name_or_of_its_message():
    assert _record(m.ApiError(15009)).value_bases("status_code") == (Basis.WALLET, Basis.INFERRED)
    assert _record(m.ProvisionFailure("Canceled")).value_bases("reason") == (Basis.SDK_A,)
    assert _record(m.NoSdkInput("down")).value_bases("reason") == (Basis.ASSUMED,)
    assert _record(m.Opened("PI")).value_bases("payment_instrument_id") == ()


TAG = re.compile(rf"\b({'|'.join(basis for basis in Basis if basis is not Basis.SPEC)})\b|\b[A-Z]+(-[A-Z]+)*-\d+\b")
"""A source's tag or a rule's id."""
CLAIM = re.compile(
    r"\b[45]\d\d\b(?! ms| cases| bytes)|\b\d\d_\d\d\d\b|\b150\d\d\b|\b(OpcFetchError|walletKitError|invalidSDKInput)\b"
)
"""What the document does not show, by its form: a status, an error code, a wallet's code, an SDK's case."""


def _untagged(rows):
    return [row for row in rows if CLAIM.search(row) and not TAG.search(row)]


@rows("name", USUAL)
def test_each_line_of_a_picture_shows_a_rule_or_a_source(name):
    lines = played(name).film.sequence.lines
    assert [line.label for line in lines if not line.rules and line.shape is not Shape.NOTE] == []
    for line in lines:
        assert set(map(str, line.record.bases)) <= set(line.rules)


@rows("name", USUAL)
def test_each_value_in_a_detail_shows_its_source(name):
    shown = Exchange(played(name).film)
    for line, detail in zip(shown.lines, shown.details, strict=True):
        told = {row.partition(" = ")[0].strip(): row for part in detail.parts for row in part.lines if " = " in row}
        for value in line.record.values:
            spelled = re.sub("_([a-z])", lambda letter: letter[1].upper(), value)
            row = told.get(spelled, "")
            assert [basis for basis in line.record.value_bases(value) if row and basis not in row] == []
        rests = [part for part in detail.parts if part.heading == "What it rests on"]
        assert rests or line.shape is Shape.NOTE


@pytest.mark.parametrize("operation", ["GET", "POST"])
@pytest.mark.parametrize("platform", WAYS_TO_ADD)
def test_no_finding_shows_what_the_document_does_not_without_a_source_or_its_gap(platform, operation):
    for fault in FAULTS:
        run = wb.session().break_it(fault, operation, platform=platform)
        ids = {rule.id for rule in rules()}
        assert [found.rule for found in run.findings if found.rule not in ids] == []
        assert _untagged(found.text for found in run.findings if not found.rule.startswith("GAP-")) == []


COMMANDS = (
    *("serve", "proxy", "drift", "conform", "run", "render", "export", "lab", "new", "reset"),
    *("doctor", "rules", "openapi"),
)


@pytest.mark.parametrize(
    "arguments", [("--help",), ("rules",), ("conform", "--list"), *((c, "--help") for c in COMMANDS)]
)
def test_no_line_of_a_command_shows_what_the_document_does_not_without_a_source(arguments, capsys):
    with suppress(SystemExit):
        main([*arguments])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 3
    assert _untagged(printed) == []


@pytest.mark.slow
def test_no_row_of_a_table_shows_what_the_document_does_not_without_a_source():
    for name in LOOK_UPS:
        shown = wb.table(name)
        for one in shown.views if isinstance(shown, Stack) else [shown]:
            told = map(" | ".join, one.rows) if isinstance(one, Table) else one.text().splitlines()
            assert _untagged(told) == [], name


@rows("path", LESSONS)
def test_no_section_of_a_lesson_shows_what_the_document_does_not_without_a_source(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    sections = [section for text in prose for section in re.split(r"^#+ ", text, flags=re.MULTILINE)]
    assert _untagged(sections) == []
