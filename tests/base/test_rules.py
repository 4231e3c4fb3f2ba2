"""The ledger: its ids for ever, and the proof that each binding rule is tested."""

import ast
import inspect
import re
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from rows import rows
from texts import demand_none, texts

from workbook.api.protocol import API_PATH, Settings
from workbook.base.rules import Basis, Level, rule, rules
from workbook.errors import ParameterError
from workbook.flows import extension as plist
from workbook.flows import messages as m
from workbook.play import handler
from workbook.simulation.world import ROLE

TESTS = Path(__file__).parents[1]
BINDING = (Level.MUST, Level.SHOULD, Level.FACT)
WORDS = """
    API-1:1e3d API-2:5cfb API-3:1498 API-4:8ea7 API-5:af15 API-6:e4e1 API-7:2fa5 API-8:4b17 API-9:8105 API-10:490e
    API-11:3978 API-12:1187 API-13:36ac API-14:fdf8 API-15:27fd A-CREATE-1:0431 A-CREATE-2:3b7e A-CREATE-3:fa7f
    A-CAN-1:80c0 A-CAN-2:d308 A-CAN-3:9eee A-CAN-4:cbe3 A-CAN-5:2a65 A-CAN-6:a7cd A-OUT-1:f544 A-PROV-1:27a9
    A-PROV-2:4a7d A-PROV-3:1cd0 A-PROV-4:2d52 A-PROV-5:4f65 A-OPC-1:7427 A-ASYNC-1:67b3 A-BTN-1:d3e1 A-BTN-2:86df
    A-MIG-1:c8fd A-ALLOW-1:e9c1 A-ALLOW-2:811e A-ALLOW-3:939b A-ALLOW-4:b855 A-DEP-1:f8f1 A-DEP-2:9db7 A-DEP-3:f98f
    B-INIT-1:025a B-CAN-1:307f B-CAN-2:0e8a B-CAN-3:6121 B-WATCH-1:eab3 B-WATCH-2:6bcd B-START-1:c7c8 B-DEL-1:b930
    B-DEL-2:362e B-DEL-3:926e B-FIN-1:ad76 B-FIN-2:b7c5 X-PLIST-1:7a43 X-PLIST-2:554e X-PLIST-3:047c
    X-HANDLER-1:cffa X-AUTH-1:c28c X-AUTH-2:0855 X-INIT-1:2721 X-STATUS-1:57dd X-STATUS-2:bab8 X-STATUS-3:9ec0
    X-CACHE-1:791b X-ENTRIES-1:a0da X-ENTRIES-2:0125 X-ENTRIES-3:51a5 X-ART-1:20ba X-DEL-1:73a5 X-GEN-1:ce4b
    X-FLOW-1:f23a FLOW-1:51f7 FLOW-2:403d FLOW-3:c270 FLOW-4:0537 GAP-1:5cc0 GAP-2:d926 GAP-3:04d8 GAP-4:a69f
    GAP-5:fe67 GAP-6:5b17 GAP-7:1da1 GAP-8:1808 GAP-9:18b5 GAP-10:8051 GAP-11:d55d GAP-12:49aa REL-1:bdb9 REL-2:77c3
    REL-3:3e0b REL-4:d8b7 REL-5:2f21 REL-6:2f9d REL-7:06dd REL-8:a964 REL-9:9bde REL-10:519d REL-11:ea21 REL-12:4178
    REL-13:265d APP-1:ad71 APP-2:dcde APP-3:21fd APP-4:43bf APP-5:d0b4 APP-6:1ec7 APP-7:916b APP-8:4119 APP-9:737b
    APP-10:edac APP-11:d16e APP-12:e2c1 APP-13:e7d9
"""
IDS = dict(each.split(":") for each in WORDS.split())
"""Stable for ever: a test, a lesson and a report name them. A new rule gets a new id; none is ever renamed.

Behind each is a digest of its words: they rest on a document that is not here, so no test knows whether they are true.
"""


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
    assert [one for one in IDS if one not in {each.id for each in rules()}] == []
    assert [one.id for one in rules() if one.id in IDS] == [*IDS]
    assert len(IDS) == len(WORDS.split())


def test_the_words_of_a_rule_change_on_purpose():
    """Whoever changes them reads the document, and then whatever says the same in other words."""
    lines, wrong = (TESTS.parent / "workbook/base/rules.toml").read_text("utf-8").splitlines(), []
    for one in rules():
        digest = f"{crc32(f'{one.section}{one}{one.harm}'.encode()) % 65536:04x}"
        if digest != IDS.get(one.id):
            line = lines.index(f'id = "{one.id}"') + 1
            told = f"workbook/base/rules.toml:{line}: hold the words of {one.id} against the document"
            same = [place for place, text in texts() if re.search(rf"\b{one.id}\b", text) and "golden" not in place]
            digests = f"{one.id}:{digest} into WORDS of tests/base/test_rules.py"
            wrong.append(f"{told}, and these against them; then write {digests}. {' '.join(same)}")
    demand_none(wrong)


def test_levels_are_told_apart_by_the_ids():
    for one in rules():
        assert (one.level is Level.GAP) == one.id.startswith("GAP-"), one.id
        assert (one.level is Level.PRACTICE) == one.id.startswith(("REL-", "APP-")), one.id
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
