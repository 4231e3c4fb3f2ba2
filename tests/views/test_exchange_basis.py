from rows import rows

from workbook.base.rules import rule
from workbook.flows import messages as m
from workbook.flows.trace import Kind, Record
from workbook.views.exchange import rests_on


def _record(message, rules=(), kind=Kind.EXCHANGE, **more):
    return Record(0.0, kind, message, "a", "a", rules, **more)


def test_a_rule_is_told_in_full():
    assert rests_on(_record(m.AddTapped(), ("A-BTN-1",))) == (str(rule("A-BTN-1")),)


@rows(
    ("basis", "told"),
    [
        ("API-1", [str(rule("API-1"))]),
        ("API-1 API-9", [str(rule("API-1")), str(rule("API-9"))]),
        ("content: assumed", ["content: assumed (our choice"]),
        ("API-3; code: openapi; pairing: assumed", ["API-3 (must)", "code: openapi (the op", "pairing: assumed (our"]),
        ("of a day: wallet", ["of a day: wallet (public"]),
        ("API-999", ["API-999: not in the ledger of rules"]),
        ("hearsay", ["hearsay"]),
        (" ; ", []),
    ],
)
def test_a_basis_is_told_statement_by_statement(basis, told):
    found = rests_on(_record(m.ApiAnswered(200, basis=basis)))
    assert len(found) == len(told)
    assert all(one.startswith(beginning) for one, beginning in zip(found, told, strict=True))


def test_nothing_is_told_twice():
    assert len(rests_on(_record(m.ApiAnswered(200, basis="API-9"), ("API-9",)))) == 1
