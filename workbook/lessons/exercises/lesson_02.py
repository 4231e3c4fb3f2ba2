"""The judges of lesson 02: the button for every outcome, and the order of the calls that lead to it."""

import re
from typing import Any, NamedTuple

from workbook.base.values import quoted
from workbook.flows import messages as m
from workbook.lessons.exercises.model import Observed, Reason
from workbook.lessons.session import session
from workbook.simulation.phones import CAN_PROVISION_FAILURES, PHONES_A


def predicted_buttons() -> Observed:
    """The button at the end of four pages."""
    platform_a = session().platform_a
    scheme = platform_a.play("card not configured at the scheme")
    return Observed(
        scheme,
        in_the_wallet=platform_a.open_page("card already in the wallet").button,
        not_allowlisted=platform_a.open_page("app not allowlisted").button,
        error=platform_a.open_page("canProvision ends in Error").button,
        still_offered=scheme.button,
    )


def a_branch_for_every_outcome(decide: Any) -> Reason | Observed:
    """`button(outcome)` says show or hide for every outcome of create and canProvision, InvalidSdkInput included."""
    opened = session().platform_a
    rows = (
        ("CanBeProvisioned", "A-CAN-1", "ready", "show"),
        ("AlreadyExistsInWallet", "A-CAN-2", "card already in the wallet", "hide"),
        ("WalletPayNotSupported", "A-CREATE-2", "wallet payment not supported", "hide"),
        *(
            (type(outcome).__name__, outcome.rules[0], f"canProvision ends in {name}", "hide")
            for name, outcome in CAN_PROVISION_FAILURES.items()
        ),
    )  # its rule, a phone on which it comes, and what the button must do
    outcomes = [(name, rule, outcome_on(phone), must) for name, rule, phone, must in rows]
    outcomes.append(("InvalidSdkInput", "A-CREATE-3", opened.create(damage="cut off"), "hide"))
    for name, rule, outcome, must in outcomes:
        said = decide(outcome)
        if said is None:
            return Reason(rule, f"your function returned nothing for {name}; the answer is {must!r}.")
        if said != must:
            return Reason(rule, f"your function said {quoted(said)} for {name}; the answer is {must!r}.")
    return Observed(opened.open_page())


def outcome_on(phone: str) -> Any:
    """What create answers on this phone, or canProvision where create succeeds."""
    opened = session()
    created = opened.platform_a.create(phone=PHONES_A[phone](opened.payment_instrument_id))
    return created.card_provisioning.can_provision() if isinstance(created, m.CreateSuccess) else created


class Need(NamedTuple):
    """One line of a program needs another one before it: which rule says so, and what happens without."""

    line: str
    before: str
    rule: str
    without: str


def order_of_the_page(order: Any) -> Reason | Observed:
    """Hide the old button, GET, create, canProvision, and only then the branch."""
    needs = (
        Need(
            "1", "5", "A-CAN-1", "and the button of the last visit was still shown: it could be tapped. Hide it first."
        ),
        Need("2", "1", "API-10", "and there was no sdkInput yet. The GET comes before create."),
        Need("3", "2", "A-CREATE-1", "and there was no cardProvisioning yet. It comes with create's Success."),
        Need("4", "3", "A-CAN-1", "before canProvision had answered. The answer decides about the button."),
    )
    return out_of_order(order, needs) or Observed(session().platform_a.open_page())


def out_of_order(order: Any, needs: tuple[Need, ...]) -> Reason | None:
    """What is wrong with the answer's form, or the first line that lacks another one before it."""
    lines = sorted({line for need in needs for line in (need.line, need.before)})
    if isinstance(order, list | tuple):
        order = " ".join(map(str, order))
    if not isinstance(order, str):
        return Reason("", f'you handed in {quoted(order)}; give the numbers of the lines as text, such as "2 1 3".')
    given = re.findall(r"\d|[^\W\d]+", order)  # each number, whatever is between them
    if strange := [line for line in given if line not in lines]:
        return Reason("", f"{strange[0]!r} is no line. The lines are {', '.join(lines)}.")
    if odd := [line for line in lines if given.count(line) != 1]:
        times = given.count(odd[0])
        return Reason("", f"line {odd[0]} is {f'there {times} times' if times else 'missing'}. Use each line once.")
    for place, line in enumerate(given, 1):
        for need in needs:
            if need.line == line and given.index(need.before) >= place:
                return Reason(need.rule, f"line {line} came at place {place}, {need.without}")
    return None


def causes_of_tickets() -> Observed:
    """The rule of each ticket's run leads to its cause."""
    causes = {"A-CAN-5": "the allowlist", "A-CAN-6": "the scheme", "A-CREATE-3": "the data"}
    platform_a = session().platform_a
    offered = platform_a.play("card not configured at the scheme")
    ((invalid,),) = (type(platform_a.create(damage="wrapped into lines")).rules,)
    return Observed(
        offered,
        one_build_only=causes[platform_a.open_page("app not allowlisted").findings[0].rule],
        every_card=causes[invalid],
        still_offered=causes[offered.findings[0].rule],
    )
