"""The wallet as the extension's host: it survives every handler, keeps the time exactly, and tells no secret."""

import asyncio
import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from workbook.api.opaque import SdkInput
from workbook.checks import Severity, check
from workbook.errors import ActivationDataError, OpaqueDataError, ParameterError, RedactedRequest, SdkError
from workbook.flows import messages as m
from workbook.flows.extension import POINT, PRINCIPAL, State, plist
from workbook.flows.trace import Kind
from workbook.play.handler import (
    AddPaymentPassRequest,
    AuthorizationProvider,
    ExtensionProvisioningService,
    ExtensionStatus,
    PassEntry,
    ReferenceHandler,
)
from workbook.play.mistakes import HANDLERS, NetworkInStatus, OwnEntries, ReportsTwice
from workbook.play.platform_b import opened_phone
from workbook.play.wallet_app import WalletApp
from workbook.simulation.phones import LatenciesB, PhoneB
from workbook.simulation.sdks import CURRENT
from workbook.simulation.wallet import Watch
from workbook.simulation.world import INSTRUMENT_IDS
from workbook.views.sequence import sequence

FIRST, SECOND, THIRD = INSTRUMENT_IDS
GENERATE = "generate_add_payment_pass_request_for_pass_entry_with_identifier"
CALLS = ("status", "pass_entries", GENERATE)
ENDS = {"status": State.NOT_LISTED, "pass_entries": State.EMPTY, GENERATE: State.NOT_ADDED}
"""Where the wallet stands when a call comes to nothing."""
NO_TIME = LatenciesB(
    get=0.0, post=0.0, service=0.0, storage=0.0, handler=0.0, card_art=0.0, authorization=0.0, wallet=0.0
)


def doing(call, what):
    """A handler whose one method does this instead."""
    return type("Mine", (ReferenceHandler,), {call: what})


def walked(handler=ReferenceHandler, **settings):
    settings.setdefault("phone", opened_phone())
    host = WalletApp(handler, **settings)
    host.walk()
    return host


def raising(error):
    def method(self, *_given, **_named):
        raise error

    return method


def names(host):
    return [f"{'!' if record.kind is Kind.REFUSED else ''}{record.name}" for record in host.trace]


def raised(host):
    return [(one.call, one.error) for _, one in host.trace.seen(m.HandlerRaised)]


class Own(Exception):  # noqa: N818  # an error of the handler's own
    """An exception that this package does not know."""


class Nasty(Exception):  # noqa: N818  # an error of the handler's own
    """An exception that cannot even be printed."""

    def __str__(self):
        raise RuntimeError


EXCEPTIONS = [
    Exception("x"), Own("x"), Nasty(), ValueError("x"), MemoryError(), RecursionError(), StopIteration(),
    StopAsyncIteration(), OSError(5, "x"), TimeoutError(), asyncio.CancelledError(), KeyError("x"),
    UnicodeDecodeError("u", b"x", 0, 1, "x"), AttributeError("x"), SystemError(), NotImplementedError(),
    SdkError("invalidSDKInput", "x"), OpaqueDataError("x", layer="empty"), ParameterError("x"), AssertionError("x"),
    ActivationDataError("x", request=RedactedRequest("GET", "u", 0), elapsed=0.0, attempts=1),
    ExceptionGroup("x", [ValueError("x")]),
]  # fmt: skip


@rows("call", CALLS)
@rows("error", EXCEPTIONS)
def test_whatever_a_call_raises_the_wallet_goes_on_and_tells_its_type_alone(call, error):
    host = walked(doing(call, raising(error)))
    assert (host.state, CURRENT.get()) == (ENDS[call], None)
    assert raised(host) == [(call, type(error).__name__)]
    assert any(f"failed: {type(error).__name__}." in finding.text for finding in check(host.trace))


@rows("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
@rows("call", [*CALLS, "__init__"])
def test_an_interrupt_is_nobodys_outcome_and_leaves_a_wallet_that_can_be_opened_again(call, error):
    host = WalletApp(doing(call, raising(error())), phone=opened_phone())
    with pytest.raises(error):
        host.walk()
    assert CURRENT.get() is None
    host.handler = ReferenceHandler
    host.run()
    assert raised(host)[-1][1] == "it was interrupted"
    host.walk()
    assert host.state is State.ADDED


def endless(*given, **named):
    return endless(*given, **named)


@pytest.mark.rule("X-HANDLER-1")
@pytest.mark.parametrize(
    ("init", "error"),
    [
        (raising(ValueError("secret")), "ValueError"),
        (lambda self: None, "TypeError: <lambda>() takes 1 positional argument but 5 were given"),
        (lambda self, one, two: None, "TypeError: <lambda>() takes 3 positional arguments but 5 were given"),
        (lambda self, *_, must: None, "TypeError: <lambda>() missing 1 required keyword-only argument: 'must'"),
    ],
    ids=["raises", "takes none", "takes two", "takes another"],
)
def test_a_handler_that_cannot_be_made_is_a_call_that_failed(init, error):
    host = walked(doing("__init__", init))
    assert raised(host) == [("status", error)]
    assert (host.state, CURRENT.get()) == (State.NOT_LISTED, None)


JUNK = [5, "text", b"bytes", object(), True, {}, {"a": 1}, {1}, 1.5, ExtensionStatus, PassEntry, iter(()), ...,
        [None], ["PI1"], [PassEntry(FIRST, "a", None, FIRST), 5], list, NotImplemented]  # fmt: skip


@rows("call", CALLS)
@rows("junk", JUNK)
def test_whatever_a_call_returns_that_it_must_not_is_told_by_its_type(call, junk):
    host = walked(doing(call, lambda self, *_given, **_named: junk))
    assert host.state is ENDS[call]
    (said,) = raised(host)
    assert said[0] == call
    assert f" {type(junk).__name__}" in said[1]


def test_entries_may_be_a_tuple_and_calls_may_be_coroutines():
    class Patient(ReferenceHandler):
        async def status(self):
            await asyncio.sleep(0)
            return super().status()

        async def pass_entries(self):
            await asyncio.sleep(0)
            return tuple(super().pass_entries())

        async def generate_add_payment_pass_request_for_pass_entry_with_identifier(self, identifier, **wallet):
            await asyncio.sleep(0)
            return getattr(super(), GENERATE)(identifier, **wallet)

        async def card_art(self, which):
            return super().card_art(which)

        async def provision(self, payment_instrument_id, sdk_output):
            return super().provision(payment_instrument_id, sdk_output)

    async def kernel():
        return walked(Patient)

    for host in (walked(Patient), asyncio.run(kernel())):
        assert (host.state, check(host.trace)) == (State.ADDED, [])
        assert host.trace[-1].at == walked().trace[-1].at


def test_an_empty_list_is_no_entry_and_no_error():
    host = walked(doing("pass_entries", lambda self: []))
    assert (host.state, raised(host), host.entries) == (State.EMPTY, [], ())


def slow(call, seconds):
    """A handler that takes exactly so long for this call, on a phone where nothing else takes any time."""

    def method(self, *given, **named):
        from workbook.simulation.sdks import current  # as the stand-ins do

        current().clock.sleep(seconds)
        return getattr(ReferenceHandler, call)(self, *given, **named)

    return doing(call, method)


@pytest.mark.rule("X-STATUS-3", "X-ENTRIES-3")
@rows("more", [0.0, 0.0001, 0.001])
@rows("call", [call for call in m.LIMITS if call != "provision"])
def test_exactly_the_limit_is_in_time_and_a_moment_more_is_late_and_ignored(call, more):
    phone = opened_phone("with a watch")
    phone.latencies = NO_TIME
    surface = "watch" if call == "remote_pass_entries" else "phone"
    host = WalletApp(slow(call, m.LIMITS[call].seconds + more), phone=phone, surface=surface)
    host.walk()
    late = bool(more)
    assert bool(host.trace.select(m.BudgetSpent)) is late
    assert bool(host.trace.select(m.IgnoreLate)) is late
    assert host.state is ({**ENDS, "remote_pass_entries": State.EMPTY}[call] if late else State.ADDED)
    assert any("took more than" in finding.text for finding in check(host.trace)) is late


@pytest.mark.rule("X-STATUS-3")
@pytest.mark.parametrize("after", [0.11, 0.2, 0.2599])
def test_the_late_answer_of_an_earlier_call_is_not_taken_for_the_next_ones(after):
    host = WalletApp(NetworkInStatus, phone=opened_phone())
    host.soon(m.IssuerListOpened(), after)
    host.open_list()
    assert host.state is State.NOT_LISTED
    assert [record.at for record in host.trace.select(m.BudgetSpent)] == [0.1, pytest.approx(after + 0.1)]
    assert not host.trace.select(m.ListIssuer)


def test_the_same_host_walked_again_opens_the_list_anew_and_offers_what_is_left():
    host = walked()
    host.walk()
    host.walk()
    assert host.phone.cards == set(INSTRUMENT_IDS)
    assert [record.attempt for record in host.trace.select(m.IssuerListOpened)] == [1, 2, 3]
    host.walk()
    assert (host.state, host.entries) == (State.EMPTY, ())
    assert check(host.trace) == []


def test_what_the_wallet_no_longer_shows_is_no_longer_there():
    host = walked()
    assert len(host.entries) == 3
    host.phone.app_group_shared = False
    host.open_list()
    assert (host.state, host.entries) == (State.NOT_LISTED, ())
    with pytest.raises(ParameterError, match="The wallet shows no card to choose"):
        host.choose_card()


@pytest.mark.rule("X-HANDLER-1")
def test_a_remembered_entry_can_be_chosen_before_anything_was_listed():
    host = WalletApp(phone=opened_phone())
    host.choose_card(SECOND)
    assert (host.state, host.phone.cards, check(host.trace)) == (State.ADDED, {SECOND}, [])


@pytest.mark.parametrize("identifier", ["PIUNKNOWN", "", "..", "x" * 500])
def test_an_identifier_that_nobody_knows_adds_nothing(identifier):
    host = WalletApp(phone=opened_phone())
    host.choose_card(identifier)
    assert (host.state, host.phone.cards) == (State.NOT_ADDED, set())
    assert host.trace.select(m.NoRequest, kind=Kind.EVENT)


@pytest.mark.parametrize("junk", [5, b"PI", ["PI"], PassEntry(FIRST, "a", None, FIRST)])
def test_an_identifier_is_text(junk):
    with pytest.raises(ParameterError, match=r"identifier is .*; give the text of an entry's identifier"):
        WalletApp(phone=opened_phone()).choose_card(junk)


def test_without_entries_there_is_no_first_card():
    host = WalletApp(phone=opened_phone())
    with pytest.raises(ParameterError, match=r"Call choose_app\(\) first, or name an identifier"):
        host.choose_card()
    assert len(host.trace) == 0


def test_a_card_that_was_added_is_refused_the_second_time():
    host = walked()
    host.choose_card(FIRST)
    assert host.state is State.NOT_ADDED
    assert host.trace.select(m.PassRefused)[0].message.why == "the card is in the wallet already"
    host.choose_card(SECOND)
    assert (host.state, host.phone.cards) == (State.ADDED, {FIRST, SECOND})


def test_what_is_not_allowed_now_is_refused_and_recorded():
    host = WalletApp(phone=opened_phone())
    host.choose_app()
    assert names(host) == ["!IssuerChosen"]
    assert host.allowed == (m.IssuerListOpened, m.EntryChosen)


MOVES = st.sampled_from([m.IssuerListOpened(), m.IssuerChosen(), m.EntryChosen(FIRST), m.EntryChosen("PI")])


@given(st.lists(st.tuples(st.integers(0, 30_000), MOVES), max_size=5), st.sampled_from(sorted(HANDLERS)))
def test_any_moves_at_any_time_leave_the_wallet_at_rest(moves, name):
    host = WalletApp(HANDLERS[name], phone=opened_phone("slow network"))
    for milliseconds, move in moves:
        host.soon(move, milliseconds / 1000)
    host.run()
    assert host.state in host.machine.final | {host.machine.initial}
    assert host.due is None
    assert host.trace.to_jsonl() is not None
    assert check(host.trace) is not None
    assert CURRENT.get() is None


def test_where_no_watch_is_paired_nothing_is_offered_on_it_and_nothing_can_be_added():
    host = walked(surface="watch")
    assert (host.state, check(host.trace)) == (State.EMPTY, [])
    host.open_list()
    host.choose_card(FIRST)
    assert (host.state, host.phone.cards) == (State.NOT_ADDED, set())
    assert host.trace.select(m.PassRefused)[0].message.why == "no watch is paired"


@pytest.mark.rule("X-ENTRIES-2")
def test_what_is_there_on_the_watch_is_told_with_the_watchs_rule():
    remote = doing("remote_pass_entries", OwnEntries.pass_entries)
    host = walked(remote, surface="watch", phone=opened_phone("first card is there already"))
    assert [r.message.payment_instrument_id for r in host.trace.select(m.AlreadyThere)] == [FIRST]
    assert "X-ENTRIES-2" in {f.rule for f in check(host.trace) if "there already" in f.text}


@pytest.mark.rule("X-STATUS-1")
@pytest.mark.parametrize(("surface", "listed"), [("phone", False), ("watch", True)])
def test_a_status_may_say_that_there_are_cards_for_the_watch_alone(surface, listed):
    status = ExtensionStatus(requires_authentication=True, pass_entries_available=False)
    host = WalletApp(doing("status", lambda self: status), surface=surface, phone=PhoneB(watch=Watch()))
    host.open_list()
    assert (host.state is State.LISTED) is listed


FILES = {
    "earlier description": {"NSExtension": "com.<platform>.<kit>.issuer-provisioning"},
    "no dictionary": {},
    "another point": {"NSExtension": plist("extension")["NSExtension"] | {POINT: "com.vendor.kit.other"}},
    "another class": {"NSExtension": plist("extension")["NSExtension"] | {PRINCIPAL: "Handler"}},
    "the other extension's": plist("authorization UI"),
    "no file": None,
}


@pytest.mark.rule("X-PLIST-1", "X-PLIST-2", "X-PLIST-3")
@pytest.mark.parametrize("name", FILES)
def test_an_extension_with_a_wrong_project_file_is_never_called(name):
    host = walked(plists={"extension": FILES[name]})
    assert names(host)[:4] == ["IssuerListOpened", "CallStatus", "StartStatusBudget", "ExtensionNotFound"]
    assert host.state is State.NOT_LISTED
    assert not host.trace.select(m.StorageRead)
    (found,) = check(host.trace)
    assert (found.rule, found.level) == ("X-PLIST-1", "fail")
    assert "X-PLIST-" in found.text


@pytest.mark.rule("X-PLIST-1", "X-PLIST-2", "X-PLIST-3")
@pytest.mark.parametrize("name", [*FILES][:4])
def test_an_authorization_ui_with_a_wrong_project_file_is_not_found(name):
    host = walked(plists={"authorization UI": FILES[name]})
    assert (host.state, host.phone.cards) == (State.NOT_AUTHENTICATED, set())
    assert not host.trace.select(m.CallGenerate)
    assert any("X-PLIST-" in finding.text for finding in check(host.trace))


@pytest.mark.rule("X-AUTH-1")
@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, Nasty])
@pytest.mark.parametrize("method", ["__init__", "view_did_appear"])
def test_an_authorization_ui_that_fails_authenticates_nobody(error, method):
    broken = type(
        "Broken", (AuthorizationProvider,), {method: raising(error("CANARY") if error is ValueError else error())}
    )
    host = walked(authorization=broken)
    assert host.state is State.NOT_AUTHENTICATED
    assert host.trace.select(m.AuthorizationMissing)[0].message.why == f"the authorization UI failed: {error.__name__}"


def test_an_interrupt_in_the_authorization_ui_comes_through_and_authenticates_nobody():
    stopped = type("Stopped", (AuthorizationProvider,), {"view_did_appear": raising(KeyboardInterrupt())})
    host = WalletApp(authorization=stopped, phone=opened_phone())
    with pytest.raises(KeyboardInterrupt):
        host.walk()
    host.run()
    assert (host.state, host.phone.cards) == (State.NOT_AUTHENTICATED, set())


class NoTruth:
    """Cannot say whether it is true."""

    def __bool__(self):
        raise ValueError


@pytest.mark.rule("X-AUTH-1", "X-AUTH-2")
@pytest.mark.parametrize("junk", [None, 1, 0, "no", NoTruth(), [], "authorized"], ids=lambda one: type(one).__name__)
def test_what_is_neither_true_nor_false_authenticates_nobody(junk):
    ui = type("Odd", (AuthorizationProvider,), {"view_did_appear": lambda self: self.completion_handler(junk)})
    host = walked(authorization=ui)
    assert (host.state, host.phone.cards) == (State.NOT_AUTHENTICATED, set())
    assert "neither True nor False" in host.trace.select(m.AuthorizationMissing)[0].message.why


@pytest.mark.rule("X-AUTH-1")
@pytest.mark.parametrize(("words", "state"), [((True, False), State.ADDED), ((False, True), State.NOT_AUTHENTICATED)])
def test_the_first_word_of_the_authorization_ui_counts(words, state):
    ui = type("Two", (AuthorizationProvider,), {"view_did_appear": lambda self: [*map(self.completion_handler, words)]})
    host = walked(authorization=ui)
    assert host.state is state
    assert [record.message.succeeded for record in host.trace.select(m.CompletionHandlerCalled)] == [*words]
    assert any("more than once" in finding.text for finding in check(host.trace))


@pytest.mark.rule("X-AUTH-1")
def test_the_authorization_ui_reports_when_it_is_done_and_not_before():
    host = walked(authorization=ReportsTwice)
    (asked,), reports = host.trace.select(m.Authenticate), host.trace.select(m.CompletionHandlerCalled)
    assert {record.at - asked.at for record in reports} == {host.phone.latencies.authorization}


@pytest.mark.rule("X-HANDLER-1")
def test_a_new_authorization_ui_is_made_each_time():
    made = []

    class Counted(AuthorizationProvider):
        def __init__(self):
            made.append(self)

    host = walked(authorization=Counted)
    host.choose_card(SECOND)
    assert len(made) == 2


@pytest.mark.rule("X-HANDLER-1")
def test_every_call_gets_a_new_handler():
    made = []

    class Counted(ReferenceHandler):
        def __init__(self, *given):
            super().__init__(*given)
            made.append(self)

    host = walked(Counted)
    assert len(made) == len({id(one) for one in made}) == 3
    assert not host.trace.select(m.HandlerKept)


def left(handler, **settings):
    return [(one.where, one.names) for _, one in walked(handler, **settings).trace.seen(m.HandlerKept)]


@pytest.mark.rule("X-HANDLER-1")
def test_what_every_handler_makes_for_itself_is_not_kept_for_later():
    class Prepared(ReferenceHandler):
        def __init__(self, *given):
            super().__init__(*given)
            self.mine, self._cache = object(), {}

    assert left(Prepared) == []


@pytest.mark.rule("X-HANDLER-1")
@pytest.mark.parametrize(
    ("what", "kept"),
    [
        (lambda self: setattr(self, "service", 1), ("the handler", ("service",))),
        (lambda self: setattr(type(self), "service", object()), ("its class", ("service",))),
        (lambda self: self.shelf.append(1), ("its class", ("shelf",))),
        (lambda self: self.shop.update(a=object()), ("its class", ("shop",))),
        (lambda self: self.bag.add(object()), ("its class", ("bag",))),
        (lambda self: setattr(Base, "service", object()), ("its class", ("service",))),
    ],
    ids=["in self", "in its class", "in a list", "in a mapping", "in a set", "in a class above"],
)
def test_what_a_call_leaves_behind_is_seen(what, kept):
    def status(self):
        what(self)
        return ReferenceHandler.status(self)

    Base.service = None
    kind = type("Keeps", (Base,), {"status": status, "shelf": [], "shop": {}, "bag": set()})
    assert left(kind) == [kept]


class Base(ReferenceHandler):
    """A class between the reference and the handler."""

    service = None


@pytest.mark.rule("X-HANDLER-1")
def test_a_service_that_init_sets_to_none_and_status_makes_is_missed_in_the_next_call():
    class Forgets(ReferenceHandler):
        def __init__(self, *given):
            super().__init__(*given)
            self.service = None

        def status(self):
            self.service = ExtensionProvisioningService(sdk_inputs=list(self.storage.read_all().values()))
            return self.service.extension_status(requires_authentication=True)

        def pass_entries(self):
            return self.service.pass_entries(with_delegate=self)

    host = walked(Forgets)
    assert raised(host) == [("pass_entries", "AttributeError: pass_entries")]
    (found, *_) = [finding for finding in check(host.trace) if finding.rule == "X-HANDLER-1"]
    assert "an earlier call left self.service in another handler" in found.text


CANARIES = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=8, max_size=200).map(lambda text: f"CANARY{text}")


def everything(host):
    """Every text that can come of a run."""
    lines = sequence(host.trace)
    texts = [host.trace.to_jsonl(), *map(repr, host.trace), *map(str, check(host.trace)), repr(host), repr(host.phone)]
    return "".join([*texts, lines.text(), repr(host.entries)])


def with_words(canary):
    """An error of each kind that holds these words."""
    request = RedactedRequest("GET", canary, 0)
    plain = [kind(canary) for kind in (ValueError, KeyError, AttributeError, ParameterError)]
    api = ActivationDataError(canary, request=request, elapsed=0.0, attempts=1)
    return [*plain, SdkError(canary, canary), OpaqueDataError(canary, layer=canary), api]


@pytest.mark.rule("REL-2", "REL-3")
@given(
    st.sampled_from((*CALLS, "card_art", "provision", "__init__")), CANARIES.map(with_words).flatmap(st.sampled_from)
)
def test_no_word_of_an_exception_is_told(call, error):
    host = walked(doing(call, raising(error)))
    assert "CANARY" not in everything(host)


@pytest.mark.rule("REL-3")
@given(CANARIES)
def test_opaque_data_that_is_looked_up_as_a_name_is_not_told(canary):
    secret = canary.ljust(60, "x")
    host = walked(doing("status", lambda self: getattr(self, secret)))
    assert raised(host) == [("status", "AttributeError")]
    assert "CANARY" not in everything(host)


@pytest.mark.rule("REL-3", "API-7")
@given(CANARIES, st.sampled_from(["bytes", "text", "wrapped"]))
def test_what_the_delegate_or_the_storage_holds_is_not_told(canary, form):
    value = {"bytes": canary.encode(), "text": canary, "wrapped": SdkInput(canary)}[form]
    assert "CANARY" not in everything(walked(doing("provision", lambda self, *_: value)))
    phone = PhoneB()
    phone.storage.save(FIRST, canary.encode())
    host = walked(phone=phone)
    assert host.state is State.NOT_LISTED
    assert "CANARY" not in everything(host)


@pytest.mark.rule("REL-3")
def test_a_request_of_the_handlers_own_is_not_told():
    def own(self, identifier, **wallet):
        return AddPaymentPassRequest(identifier, b"CANARY-sdk-input", 1, b"CANARY-nonce")

    assert "CANARY" not in everything(walked(doing(GENERATE, own)))


@pytest.mark.rule("REL-3")
def test_crossed_arguments_do_not_put_the_sdk_output_where_an_id_is_shown():
    host = walked(doing("provision", lambda self, sdk_output, card: self.back_end.post(card, sdk_output)))
    assert host.state is State.NOT_ADDED
    assert '"attempt":1,"phone"' not in everything(host)
    assert "mind the order of the arguments" not in everything(walked())


def test_what_this_package_itself_says_is_told_because_it_helps():
    def pass_entries(self):
        return self.back_end.get_all(FIRST)

    ((_call, error),) = raised(walked(doing("pass_entries", pass_entries)))
    assert error == "ParameterError: get_all takes a list of payment instrument ids; for one, call get."


WRONG = {
    "an instance": ({"handler": ReferenceHandler(None, None, None, ())}, "A wallet app takes a handler class"),
    "another class": (
        {"handler": dict},
        "not the class dict, which is no ExtensionHandler. Write one: class",
    ),
    "a name": ({"handler": "reference"}, "A wallet app takes a handler class"),
    "a surface": ({"surface": "wach"}, "Did you mean 'watch'?"),
    "no surface": ({"surface": None}, "surface is None"),
    "a ui": (
        {"authorization": AuthorizationProvider()},
        "allowed: a class below AuthorizationProvider, or None",
    ),
    "a ui's name": ({"authorization": "none"}, "allowed: a class below AuthorizationProvider"),
    "one card": ({"cards": FIRST}, "allowed: a list of payment instrument ids"),
    "cards": ({"cards": [FIRST, 5]}, "allowed: a list of payment instrument ids"),
    "no cards": ({"cards": None}, "allowed: a list of payment instrument ids"),
    "a plist's name": ({"plists": {"extention": {}}}, "Did you mean 'extension'?"),
}


@rows("name", WRONG)
def test_a_wrong_setting_is_told_before_anything_runs(name):
    settings, told = WRONG[name]
    with pytest.raises(ParameterError) as caught:
        WalletApp(**settings)
    assert told in str(caught.value)
    assert " at 0x" not in str(caught.value)


def test_a_run_leaves_nothing_that_was_never_awaited():
    async def forgotten(self):
        return []

    walked(doing("pass_entries", forgotten))
    gc.collect()  # a warning would be an error


@pytest.mark.rule("X-ENTRIES-1")
def test_a_list_of_something_else_is_told_by_what_is_in_it():
    host = walked(doing("pass_entries", lambda self: ["PI1", 5]))
    assert raised(host) == [("pass_entries", "it returned a list of int, str")]


@pytest.mark.rule("X-FLOW-1")
def test_an_app_that_is_chosen_before_the_list_was_opened_is_a_finding():
    host = WalletApp(phone=opened_phone())
    host.choose_app()
    (finding,) = check(host.trace)
    assert (finding.rule, finding.level) == ("X-FLOW-1", Severity.WARN)
    assert "came while the wallet was 'list closed'" in finding.text
    host.walk()
    assert host.state is State.ADDED


@pytest.mark.rule("X-GEN-1")
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"configuration": None}, "configuration"),
        ({"certificate_chain": [b"of another wallet"]}, "certificate chain"),
        ({"nonce": b"another"}, "nonce"),
        ({"nonce_signature": b"forged"}, "nonce signature"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_the_wallet_gave_and_the_handler_changed_is_noticed(changed, words):
    class Changes(ReferenceHandler):
        def generate_add_payment_pass_request_for_pass_entry_with_identifier(self, identifier, **wallet):
            mine = {**wallet, **changed}
            return super().generate_add_payment_pass_request_for_pass_entry_with_identifier(identifier, **mine)

    host = WalletApp(Changes, phone=opened_phone())
    host.walk()
    assert host.state is State.NOT_ADDED
    texts = [finding.text for finding in check(host.trace) if finding.rule == "X-GEN-1"]
    assert texts == [f"The wallet cannot use the request: the request was made with another {words} than the wallet's."]


@pytest.mark.rule("X-DEL-1")
def test_a_delegate_of_the_wrong_arity_is_told_how_it_is_called():
    class Short(ReferenceHandler):
        def provision(self, sdk_output):
            return sdk_output

    host = WalletApp(Short, phone=opened_phone())
    host.walk()
    (threw,) = host.trace.select(m.SdkThrew)
    assert threw.message.why.startswith(
        "the delegate needs a method provision(payment_instrument_id, sdk_output), given"
    )


def test_a_wallet_app_says_the_next_step_in_every_state():
    host = WalletApp(phone=opened_phone())
    told = [repr(host).partition("Next: ")[2]]
    for step in (host.open_list, host.choose_app, host.choose_card):
        step()
        told.append(repr(host).partition("Next: ")[2])
    rest = "choose_card(), .entries, .trace."
    may_choose = f"open_list(), choose_app(), {rest}"
    assert told == [f"open_list(), {rest}", may_choose, may_choose, f"open_list(), {rest}"]
