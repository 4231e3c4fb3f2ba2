"""Every way through the wallet's tables, from every place where it rests, and the proof that no row stands idle."""

from collections import Counter

import pytest
from vocabulary import EXTENSIONS, routes, sample

from workbook.flows import messages as m
from workbook.flows.extension import FINAL_EXTENSION, State
from workbook.flows.messages import LIMITS

S = State
RESTING = (S.CLOSED, *FINAL_EXTENSION)
LATE = {
    (S.NOT_LISTED, event) for event in (m.EntriesAvailable, m.EntriesUnavailable, m.HandlerRaised)
} | {
    (S.EMPTY, event) for event in (m.EntriesReturned, m.NoEntries, m.HandlerRaised)
} | {
    (S.NOT_ADDED, event) for event in (m.RequestReturned, m.NoRequest, m.HandlerRaised)
}  # fmt: skip
"""Answers after their time; each leads from a place to itself."""

AUTHENTICATED = (m.Authorized, m.AuthenticatedByWallet)
"""By the authorization UI, or by the wallet itself."""
LOOPS = LATE | {
    (state, art) for state in (S.LISTING, S.EMPTY) for art in (m.CardArtForBrandAsked, m.CardArtForIdAsked)
} | {(S.NOT_ADDED, m.ExtensionProvisionCalled)}  # fmt: skip
"""The only rows that lead back to where they begin: what comes late, and card art, which is asked for card by card."""

EACH = pytest.mark.parametrize("name", EXTENSIONS)


def every_route(machine):
    return [(start, route) for start in RESTING for route in routes(machine, start)]


@EACH
def test_every_route_from_every_resting_place_can_be_walked_to_the_next_one(name):
    machine = EXTENSIONS[name]
    for start, route in every_route(machine):
        state = start
        for row in route:
            step = machine.step(state, sample(row.event))
            assert (step.row, [type(one) for one in step.commands]) == (row, [*row.commands])
            state = step.state
        assert state in machine.final


@EACH
def test_every_resting_place_has_a_way_on_and_every_row_is_on_some_route_or_a_named_loop(name):
    machine = EXTENSIONS[name]
    found = every_route(machine)
    assert {start for start, _ in found} == set(RESTING)
    on_a_route = {row for _, route in found for row in route}
    rest = {(row.state, row.event) for row in machine.rows if row not in on_a_route}
    assert rest == {loop for loop in LOOPS if loop in {(row.state, row.event) for row in machine.rows}}


@EACH
def test_the_routes_from_each_place_are_counted(name):
    """One more or one less is a change of the flow, and has to be meant."""
    counts = Counter(start for start, _ in every_route(EXTENSIONS[name]))
    status, entries, card = 5, 4, 20
    assert counts == {
        S.CLOSED: status + card,
        S.LISTED: status + entries + card,
        S.NOT_LISTED: status,
        S.OFFERED: status + entries + card,
        S.EMPTY: status + entries,
        S.NOT_AUTHENTICATED: status + card,
        S.ADDED: status + card,
        S.NOT_ADDED: status + card,
    }


@pytest.mark.rule("FLOW-4")
@EACH
def test_the_flow_begins_in_the_wallet_app_and_not_in_the_issuers(name):
    machine = EXTENSIONS[name]
    assert machine.initial is S.CLOSED
    begins = machine.allowed(S.CLOSED)
    assert begins == (m.IssuerListOpened, m.EntryChosen)
    assert {(one.sender, one.receiver) for one in begins} == {(m.Actor.CARDHOLDER, m.Actor.WALLET_APP)}
    actors = {end for row in machine.rows for one in (row.event, *row.commands) for end in (one.sender, one.receiver)}
    assert m.Actor.APP not in actors


@pytest.mark.rule("X-AUTH-2")
@EACH
def test_the_cardholder_is_authenticated_before_anything_is_provisioned(name):
    machine = EXTENSIONS[name]
    for _, route in every_route(machine):
        events = [row.event for row in route]
        commands = [command for row in route for command in row.commands]
        for later in (m.CallGenerate, m.AddPass):
            if later in commands:
                assert commands.index(m.Authenticate) < commands.index(later)
        if m.ExtensionProvisionCalled in events and m.Authenticate in commands:
            allowed = next(index for index, one in enumerate(events) if one in AUTHENTICATED)
            assert allowed < events.index(m.ExtensionProvisionCalled)
    into = [row for row in machine.rows if row.to is S.GENERATING]
    assert {(row.state, row.event) for row in into} == {(S.AUTHENTICATING, one) for one in AUTHENTICATED}
    assert {row.state for row in machine.rows if m.AddPass in row.commands} == {S.PROVISIONING}


SECONDS = {
    m.StartStatusBudget: ("X-STATUS-3", 0.100),
    m.StartPassEntriesBudget: ("X-ENTRIES-3", 20.0),
    m.StartRemotePassEntriesBudget: ("X-ENTRIES-3", 20.0),
    m.StartGenerateBudget: ("X-GEN-1", 20.0),
}
WITH = {
    m.CallStatus: m.StartStatusBudget,
    m.CallPassEntries: m.StartPassEntriesBudget,
    m.CallRemotePassEntries: m.StartRemotePassEntriesBudget,
    m.CallGenerate: m.StartGenerateBudget,
}


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@EACH
def test_every_call_starts_its_own_budget_and_nothing_else_does(name):
    for row in EXTENSIONS[name].rows:
        calls = [command for command in row.commands if command in WITH]
        budgets = [command for command in row.commands if issubclass(command, m.StartBudget)]
        assert budgets == [WITH[call] for call in calls]
        for budget in budgets:
            made = budget()
            assert (budget.rules, made.seconds) == ((SECONDS[budget][0],), SECONDS[budget][1])
            assert LIMITS[made.call].seconds == made.seconds


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@EACH
def test_every_budget_is_stopped_or_spent_on_each_way_out(name):
    machine = EXTENSIONS[name]
    for start in RESTING:
        for route in routes(machine, start):
            running = 0
            for row in route:
                running += any(issubclass(command, m.StartBudget) for command in row.commands)
                ended = (row.event is m.BudgetSpent) + (m.StopBudget in row.commands)
                assert ended <= running <= 1
                running -= ended
            assert running == 0


@EACH
def test_a_budget_is_spent_only_where_one_is_running_and_that_is_told(name):
    spent = {row.state: row for row in EXTENSIONS[name].rows if row.event is m.BudgetSpent}
    assert set(spent) == {S.ASKING, S.LISTING, S.GENERATING, S.PROVISIONING}
    assert {state: row.to for state, row in spent.items()} == {
        S.ASKING: S.NOT_LISTED, S.LISTING: S.EMPTY, S.GENERATING: S.NOT_ADDED, S.PROVISIONING: S.NOT_ADDED,
    }  # fmt: skip
    assert all(row.commands for row in spent.values())


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@EACH
def test_every_answer_that_can_come_late_is_an_edge_that_changes_nothing(name):
    machine = EXTENSIONS[name]
    rows = {(row.state, row.event): row for row in machine.rows}
    assert {key for key, row in rows.items() if m.IgnoreLate in row.commands} == LATE
    for key in LATE:
        assert (rows[key].to, rows[key].commands, rows[key].source) == (key[0], (m.IgnoreLate,), "wallet")
    for state, late_in in ((S.ASKING, S.NOT_LISTED), (S.LISTING, S.EMPTY), (S.GENERATING, S.NOT_ADDED)):
        answers = {event for at, event in rows if at is state} - {m.BudgetSpent, m.ExtensionNotFound}
        assert answers <= {event for at, event in rows if at is late_in}


def test_phone_and_watch_differ_in_the_entries_they_ask_for_and_the_variants_in_card_art():
    def rows(name):
        return set(EXTENSIONS[name].rows)

    for variant in ("earlier", "later"):
        only = rows(f"extension {variant} on the phone") ^ rows(f"extension {variant} on the watch")
        assert {row.event for row in only} == {m.IssuerChosen}
    for surface in ("phone", "watch"):
        only = rows(f"extension earlier on the {surface}") ^ rows(f"extension later on the {surface}")
        assert {row.event for row in only} == {m.CardArtForBrandAsked, m.CardArtForIdAsked}
