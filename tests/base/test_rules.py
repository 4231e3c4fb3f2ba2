"""The ledger: its ids for ever, and the proof that each binding rule is tested."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest
from rows import rows

from workbook.api.protocol import API_PATH, Settings
from workbook.base.rules import Basis, Level, rule, rules
from workbook.errors import ParameterError
from workbook.flows import extension as plist
from workbook.flows import messages as m
from workbook.play import handler
from workbook.simulation.world import ROLE

TESTS = Path(__file__).parents[1]
BINDING = (Level.MUST, Level.SHOULD, Level.FACT)
IDS = """
    API-1 API-2 API-3 API-4 API-5 API-6 API-7 API-8 API-9 API-10 API-11 API-12 API-13 API-14 API-15
    A-CREATE-1 A-CREATE-2 A-CREATE-3 A-CAN-1 A-CAN-2 A-CAN-3 A-CAN-4 A-CAN-5 A-CAN-6 A-OUT-1 A-PROV-1 A-PROV-2
    A-PROV-3 A-PROV-4 A-PROV-5 A-OPC-1 A-ASYNC-1 A-BTN-1 A-BTN-2 A-MIG-1 A-ALLOW-1 A-ALLOW-2 A-ALLOW-3 A-ALLOW-4
    A-DEP-1 A-DEP-2 A-DEP-3
    B-INIT-1 B-CAN-1 B-CAN-2 B-CAN-3 B-WATCH-1 B-WATCH-2 B-START-1 B-DEL-1 B-DEL-2 B-DEL-3 B-FIN-1 B-FIN-2
    X-PLIST-1 X-PLIST-2 X-PLIST-3 X-HANDLER-1 X-AUTH-1 X-AUTH-2 X-INIT-1 X-STATUS-1 X-STATUS-2 X-STATUS-3 X-CACHE-1
    X-ENTRIES-1 X-ENTRIES-2 X-ENTRIES-3 X-ART-1 X-DEL-1 X-GEN-1 X-FLOW-1
    FLOW-1 FLOW-2 FLOW-3 FLOW-4
    GAP-1 GAP-2 GAP-3 GAP-4 GAP-5 GAP-6 GAP-7 GAP-8
    GAP-9 GAP-10 GAP-11 GAP-12
    REL-1 REL-2 REL-3 REL-4 REL-5 REL-6 REL-7 REL-8 REL-9 REL-10 REL-11
    REL-12 REL-13
    APP-1 APP-2 APP-3 APP-4 APP-5 APP-6 APP-7 APP-8 APP-9 APP-10 APP-11 APP-12
    APP-13
""".split()  # noqa: SIM905  # a list of ids is read more easily as words  # a person reads and compares this list
"""Stable for ever: a test, a lesson and a report name them. A new rule gets a new id; none is ever renamed."""


@cache
def marked():
    """Each id that a test is marked with, and where; read from the sources, so nothing has to run."""
    return list(marks())


def marks():
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text("utf-8")
        for call in re.finditer(r"([\w.]*)mark\.rule\(([^)]*)\)", text):
            where = f"{path.relative_to(TESTS)}:{text.count(chr(10), 0, call.start()) + 1}"
            assert call[1] == "pytest.", where
            yield from ((name, where) for name in ast.literal_eval(f"({call[2]},)"))


def test_the_ids_are_those_of_this_list_in_this_order_and_unique():
    assert [one.id for one in rules()] == IDS
    assert len(IDS) == len(set(IDS))


def test_levels_are_told_apart_by_the_ids():
    assert {one.id for one in rules(Level.GAP)} == {one for one in IDS if one.startswith("GAP-")}
    assert {one.id for one in rules(Level.PRACTICE)} == {one for one in IDS if one.startswith(("REL-", "APP-"))}
    assert all(one.section == "practice" for one in rules(Level.PRACTICE))
    assert not any(one.harm for one in rules() if one.level is not Level.PRACTICE)


def test_rules_are_chosen_by_level_in_the_ledgers_order():
    assert [one.id for one in rules(Level.SHOULD)] == ["A-BTN-2", "A-ALLOW-3"]
    assert len(rules()) == sum(len(rules(level)) for level in Level)
    assert rules(*Level) == rules()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("A-CAN-06", "Did you mean 'A-CAN-6'?"),  # ids have no leading zeros, so this one can never exist
        ("a-btn-1", "Did you mean 'A-BTN-1'?"),
        (" A-BTN-1", "Did you mean 'A-BTN-1'?"),
        ("", "Known: A-ALLOW-1, "),
    ],
)
def test_an_unknown_id_is_explained(name, hint):
    with pytest.raises(ParameterError) as caught:
        rule(name)
    assert str(caught.value).startswith(f"No rule {name!r}. {hint}")


@pytest.mark.parametrize("wrong", [3, None, ["A-BTN-1"], {}])
def test_what_is_no_id_is_refused(wrong):
    with pytest.raises(
        ParameterError, match=rf"text such as 'A-CAN-2', not {type(wrong).__name__}; give one at a time"
    ):
        rule(wrong)


def test_a_long_id_is_not_repeated_whole():
    with pytest.raises(ParameterError) as caught:
        rule("x" * 100_000)
    assert len(str(caught.value)) < 2_000


def test_every_mark_names_a_rule_that_exists():
    assert [(name, where) for name, where in marked() if name not in IDS] == []


CODE = "\n".join(
    path.read_text("utf-8")
    for path in (*(TESTS.parent / "workbook").rglob("*.py"), *(TESTS.parent / "fixtures/native").rglob("*.[ks]*t*"))
    if path.is_file()
)
CALLED = re.compile(r"\b(\w+)\(((?:\w+, )*\w+)\)")
"""A call with the names of its arguments, as a rule and a message have it."""


def calls():
    """Each call whose arguments the code names in the document's spelling."""
    yield from (found.groups() for kind in vars(m).values() for found in CALLED.finditer(getattr(kind, "says", "")))
    for kind in (handler.ExtensionProvisioningService, handler.ReferenceHandler):
        for name, call in inspect.getmembers(kind, inspect.isfunction):
            names = [re.sub(r"_(\w)", lambda found: found[1].upper(), each) for each in (name, *signature(call))]
            yield names[0], ", ".join(names[1:])


def signature(call):
    return [name for name in inspect.signature(call).parameters if name != "self"]


@rows("one", rules())
def test_a_call_that_a_rule_spells_out_is_one_of_the_code(one):
    known = {*calls()}
    spelled = [each for each in CALLED.findall(one.text) if re.match("[a-z]", each[0])]
    assert [each for each in spelled if each not in known and each[0] in {name for name, _ in known}] == []


@rows("one", rules())
def test_a_name_that_a_rule_has_is_one_of_the_code(one):
    named = re.findall(r"\b[A-Za-z]+[a-z][A-Z]\w*|(?<=\bcom)\.[\w.<>-]+(?=\))", one.text)
    assert [name for name in named if not re.search(rf"{re.escape(name)}(?![\w-])", CODE)] == []


@pytest.mark.rule("API-1", "API-4", "API-14", "API-15", "B-DEL-2", "X-PLIST-2", "X-PLIST-3")
def test_what_is_sent_and_configured_stands_in_the_rules_as_in_the_code():
    (key, _), (kind, value), *_ = Settings("https://api.example", "a-key-8f3a9c1e").headers
    earlier, later = (
        event.says.partition("(")[2][:-1] for event in (m.DelegateProvisionCalled, m.DelegateProvisionWithIdCalled)
    )
    said = {
        "API-1": f"GET {{base_url}}{API_PATH}.",
        "API-4": f"the headers {key} and {kind}: {value}.",
        "API-14": f"version segment {API_PATH.split('/')[2]} (/bcl/{API_PATH.split('/')[2]})",
        "API-15": f"the role '{ROLE}'",
        "B-DEL-1": f"takes {earlier} only.",
        "B-DEL-2": f"takes {' and '.join(later.split(', '))}.",
        "X-PLIST-2": f"the key {plist.POINT} (string)",
        "X-PLIST-3": " and ".join(each[plist.PRINCIPAL] for each in plist.EXTENSIONS.values()),
    }
    assert [name for name, words in said.items() if words not in rule(name).text] == []


@rows("one", rules(*BINDING))
def test_a_binding_rule_is_named_by_a_test(one):
    assert one.id in {name for name, _where in marked()}, f"No test proves {one}"


@rows("one", rules(Level.PRACTICE))
def test_a_practice_whose_breach_does_harm_is_named_by_a_test(one):
    assert one.id in {name for name, _where in marked()} or not one.harm


@rows("basis", Basis)
def test_each_source_has_a_meaning_of_its_own(basis):
    assert [other for other in Basis if other.meaning == basis.meaning] == [basis]
    named = {Basis.OPENAPI: "OpenAPI", Basis.SDK_A: "platform A", Basis.SDK_B: "platform B", Basis.WALLET: "wallet"}
    assert named.get(basis, "") in basis.meaning
    assert ("not" in basis.meaning or "leaves it open" in basis.meaning) is (basis not in {Basis.SPEC, Basis.INFERRED})
