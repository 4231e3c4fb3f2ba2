"""The project files of the two extensions: what they have to say, and each way of getting it wrong."""

import plistlib
from types import MappingProxyType

import pytest
from rows import rows

from workbook.errors import ParameterError
from workbook.flows.extension import EXTENSIONS, POINT, PRINCIPAL, plist, plist_problems

NAMES = tuple(EXTENSIONS)
MINE, OTHER = (EXTENSIONS[name] for name in NAMES)


def told(**keys):
    return plist_problems("extension", {"NSExtension": {**MINE, **keys}})


@pytest.mark.rule("X-PLIST-1", "X-PLIST-2", "X-PLIST-3")
@pytest.mark.parametrize("name", NAMES)
def test_what_it_has_to_say_has_no_problem(name):
    assert plist(name) == {"NSExtension": EXTENSIONS[name]}
    assert plist_problems(name, plist(name)) == []
    assert plist_problems(name, plistlib.loads(plistlib.dumps(plist(name)))) == []
    assert plist_problems(name, MappingProxyType({"CFBundleName": "x", **plist(name)})) == []


@pytest.mark.rule("X-PLIST-1")
@pytest.mark.parametrize(
    "point", ["com.vendor.kit.issuer-provisioning", "com.a-b.PassKit2.issuer-provisioning", MINE[POINT]]
)
def test_a_real_project_file_holds_the_real_names_where_the_workbook_has_placeholders(point):
    assert told(**{POINT: point}) == []


@pytest.mark.rule("X-PLIST-1")
@rows(
    "point",
    [
        OTHER[POINT],
        "com.vendor.issuer-provisioning",
        "com.vendor.kit.more.issuer-provisioning",
        "com.vendor.kit.issuer-provisioning ",
        "com.vendor.kit.issuer-provisioning.authorization",
        "comXvendorXkitXissuer-provisioning",
        "COM.vendor.kit.issuer-provisioning",
        "",
        None,
        5,
        ["com.vendor.kit.issuer-provisioning"],
    ],
)
def test_another_identifier_is_told_with_what_it_should_be(point):
    (problem,) = told(**{POINT: point})
    assert problem == f"{POINT} is {repr(point)[:90]}, not '{MINE[POINT]}' (X-PLIST-1)"


@pytest.mark.rule("X-PLIST-3")
@pytest.mark.parametrize("principal", [OTHER[PRINCIPAL], "ExtensionHandler", "MyExtension.ExtensionHandler", None])
def test_another_principal_class_is_told_with_what_it_should_be(principal):
    (problem,) = told(**{PRINCIPAL: principal})
    assert problem == f"{PRINCIPAL} is {principal!r}, not '{MINE[PRINCIPAL]}' (X-PLIST-3)"


@pytest.mark.rule("X-PLIST-2")
def test_the_earlier_descriptions_string_is_not_a_dictionary():
    (problem,) = plist_problems("extension", {"NSExtension": MINE[POINT]})
    assert problem == f"NSExtension is a dictionary; the identifier is in it, under {POINT} (X-PLIST-2)"


@pytest.mark.rule("X-PLIST-2")
@rows("document", [{}, {"NSExtension": None}, {"NSExtension": [POINT]}, None, "text", 5, [], b""])
def test_without_the_dictionary_there_is_nothing_to_find(document):
    assert plist_problems("extension", document) == ["there is no dictionary NSExtension (X-PLIST-2)"]


def test_both_keys_can_be_wrong_at_once():
    assert [problem.split()[0] for problem in plist_problems("extension", plist("authorization UI"))] == [
        POINT,
        PRINCIPAL,
    ]
    assert len(plist_problems("extension", {"NSExtension": {}})) == 2


def test_a_long_value_is_not_repeated_whole():
    (problem,) = told(**{POINT: "x" * 100_000})
    assert len(problem) < 300


@rows("call", [plist, lambda name: plist_problems(name, {})])
@rows("name", ["extention", "app", 5, None])
def test_an_unknown_extension_is_explained(call, name):
    with pytest.raises(ParameterError, match="No extension"):
        call(name)
