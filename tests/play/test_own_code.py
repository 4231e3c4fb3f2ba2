"""Code of the integrator's own: its line is told, its real time too, and nothing of what it was given."""

import linecache

import pytest
from IPython.core.compilerop import CachingCompiler

import workbook as wb
from workbook.errors import ParameterError, SdkError
from workbook.flows import messages as m
from workbook.flows.extension import State
from workbook.flows.variants import B_LATER
from workbook.lessons.session import session
from workbook.play import own_code
from workbook.play.handler import AuthorizationProvider, ReferenceHandler
from workbook.play.own_code import call_watched, exception_words, find_misspelt, own_line
from workbook.play.platform_a import AppA, PlatformARun
from workbook.play.platform_b import check_delegate, opened_phone
from workbook.play.wallet_app import WalletApp


def raised(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return error
    return None


def in_a_file(source, name="mine.py"):
    """The function `call` of a module of this source."""
    names = {}
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), names)
    return names["call"]


def test_the_line_is_the_integrators_and_neither_ours_nor_a_librarys():
    call = in_a_file("import json\ndef call():\n    return json.loads('')\n")
    assert own_line(raised(call)) == "mine.py, line 3: return json.loads('')"
    ours = in_a_file("from workbook.base.values import choice\ndef call():\n    choice('x', 'y', 'z')\n")
    assert own_line(raised(ours)) == "mine.py, line 3: choice('x', 'y', 'z')"


def test_an_error_of_ours_or_of_a_sample_file_alone_has_no_line():
    assert own_line(SdkError("x", "y")) == ""
    assert own_line(raised(lambda: wb.Relay.check(None, "no session", "no card"))).startswith("test_own_code.py")


def test_a_cell_is_named_by_its_number(monkeypatch):
    class Compile:
        format_code_name = staticmethod(lambda file: ("Cell", "In[3]") if file == "cell" else None)

    monkeypatch.setattr("IPython.get_ipython", lambda: type("Shell", (), {"compile": Compile}))
    assert own_line(raised(in_a_file("def call():\n    1 / 0\n", "cell"))) == "Cell In[3], line 2: 1 / 0"


def test_the_shell_can_still_be_asked_for_the_name_of_a_cell():
    assert callable(CachingCompiler.format_code_name)


@pytest.mark.rule("REL-3")
def test_long_text_in_a_line_is_left_out_and_a_long_line_is_cut():
    call = in_a_file(f"def call():\n    raise ValueError('{'QUJD' * 20}')\n")
    assert own_line(raised(call)) == "mine.py, line 2: raise ValueError(…)"
    code = "return 'a' if undefined.read('b') else 'c'"
    assert own_line(raised(in_a_file(f"def call():\n    {code}\n"))) == f"mine.py, line 2: {code}"
    apostrophe = in_a_file(f"def call():\n    return undefined('{'QUJ0' * 20}')  # don't\n")
    assert "QUJ0" not in own_line(raised(apostrophe))
    before = in_a_file(f"def call():\n    return [undefined, {'QUJ0' * 20}]  # it's\n")
    assert "QUJ0" not in own_line(raised(before))
    wide = in_a_file(f"def call():\n    return undefined{' + 1' * 60}\n")
    assert len(own_line(raised(wide))) < 110


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("undefined", "NameError: undefined"),
        ("(1).cache", "AttributeError: cache"),
        ("(lambda: 1)(2)", "TypeError: <lambda>() takes 0 positional arguments but 1 was given"),
        ("int('a secret')", "ValueError"),
    ],
)
def test_an_error_is_told_by_what_is_harmless(source, words):
    assert exception_words(raised(lambda: eval(source))).replace(f"{__name__}.", "").endswith(words)


def test_an_error_is_reported_once_however_many_calls_it_passes():
    seen, call = [], in_a_file("def call():\n    1 / 0\n")
    with pytest.raises(ZeroDivisionError):
        call_watched("outer", seen.append, lambda: call_watched("inner", seen.append, call))
    assert seen == [m.CodeFailed("inner", "ZeroDivisionError", "mine.py, line 2: 1 / 0")]


def test_time_that_really_passes_counts_once_where_it_is_long(monkeypatch):
    seen, spent, now = [], [], [0.0]
    monkeypatch.setattr(own_code, "NOTICEABLE", 0.3)
    monkeypatch.setattr(own_code, "own_time", lambda: now[0])

    def passes(seconds):
        now[0] += seconds

    def both():
        call_watched("inner", seen.append, passes, 2.0, spend=spent.append)
        call_watched("inner", seen.append, passes, 0.1, spend=spent.append)
        passes(0.33)

    for seconds in (0.29, 0.32):
        call_watched("status", seen.append, passes, seconds, spend=spent.append)
    assert (seen, spent) == ([m.CodeTookLong("status", 0.3)], [0.3])
    call_watched("outer", seen.append, both, spend=spent.append)
    assert seen[1:] == [m.CodeTookLong("inner", 2.0), m.CodeTookLong("outer", 0.4)]
    assert spent[1:] == [2.0, 0.4]


def test_a_busy_machine_makes_no_handler_of_the_workbooks_slow(monkeypatch):
    seen, ticks = [], iter([0.0, 9.0])
    monkeypatch.setattr(own_code, "own_time", lambda: next(ticks))
    call_watched("status", seen.append, lambda: None, spend=seen.append, owner=ReferenceHandler)
    assert seen == []


def test_a_misspelt_method_is_told_with_the_one_it_may_mean():
    class Mine(ReferenceHandler):
        def staus(self): ...
        def passEntries(self): ...  # noqa: N802
        def remote_pass_entries(self): ...
        def remote_pass_entry(self): ...
        def saved_cards(self): ...
        def _statuss(self): ...

    class Log(AuthorizationProvider):
        def view_did_apear(self): ...

    assert [*find_misspelt(Mine, ReferenceHandler)] == [
        m.NeverCalled("staus", "status"),
        m.NeverCalled("passEntries", "pass_entries"),
    ]
    assert [*find_misspelt(Log, AuthorizationProvider)] == [m.NeverCalled("view_did_apear", "view_did_appear")]
    assert not [*find_misspelt(ReferenceHandler, ReferenceHandler)]
    wallet = WalletApp(Mine)
    wallet.open_list()
    assert [note.name for _at, note in wallet.trace.seen(m.NeverCalled)] == ["staus", "passEntries"]


@pytest.mark.rule("B-DEL-2")
def test_a_delegate_without_its_method_is_told_the_one_that_looks_like_it():
    class Delegate:
        def provison(self, sdk_output, payment_instrument_id): ...
        def did_finish_provisioning(self, pass_, error): ...

    with pytest.raises(ParameterError, match=r"provison\(\) is never called\. A delegate needs a method provision"):
        check_delegate(Delegate(), B_LATER)


@pytest.mark.rule("X-DEL-1")
def test_what_a_handler_exchanges_through_the_session_is_in_its_own_call():
    opened = session()

    class Mine(ReferenceHandler):
        def provision(self, payment_instrument_id, sdk_output):
            return opened.exchange(payment_instrument_id, sdk_output)

    wallet = WalletApp(Mine, phone=opened_phone())
    wallet.walk()
    assert wallet.state == State.ADDED
    assert [asked.method for _at, asked in wallet.trace.seen(m.BackEndAsked)][-1] == "POST"


def asks_first(*post):
    own_code.RELAY.get()(*post)
    raise KeyError


def fails_at_once(*_post):
    raise KeyError


@pytest.mark.parametrize(("fetch_opc", "took"), [(asks_first, 0.3), (fails_at_once, 0.0)])
def test_a_line_that_failed_is_told_when_it_failed_and_the_call_ends_then(fetch_opc, took):
    trace = PlatformARun(app=AppA(fetch_opc=fetch_opc)).walk()
    (asked, failed, ended) = trace.select(m.FetchOpc, m.CodeFailed, m.ProviderFailed)
    assert failed.at == ended.at == pytest.approx(asked.at + took)
