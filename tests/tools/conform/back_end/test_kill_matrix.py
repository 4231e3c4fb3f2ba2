"""The proof that the cases work: every relay that is broken on purpose is caught by the cases made for that.

With each change so many broken relays are
tried that each kind of case has one; `WORKBOOK_EVERYTHING=1` tries all of them with every case, at night.
`WORKBOOK_TEMPO=at-random` and its like (`tempos.py`) make each relay slower or narrower: the verdicts must be the same.

The reference relay is tried with every case, and the others in order with an eighth. A broken one is tried with the
cases made for it, and with some of those that could tell besides, so that its first line has others to be ranked
before: an eighth of their groups and of the form of the requests, or of all where the cases made for it watch the
others. Which of them depends on its name.
"""

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from zlib import crc32

import pytest
import relays
from matrix import Matrix, Relay

from workbook.tools.conform.back_end.cases import CASES
from workbook.tools.conform.back_end.model import BackEndGroup
from workbook.tools.harness.model import Verdict

pytestmark = pytest.mark.slow

WAITS = ["OneConnection", "LimitForEachByte", "NoLimit", "BadBodyUnanswered", "OneAfterTheOther", "LocksTheSession"]
"""Relays whose cases take a quarter of a minute and more, and next to no work."""
SHARE = 8
"""Which part of the cases that could tell besides is tried."""
EVERYTHING = "WORKBOOK_EVERYTHING" in os.environ


def told(name):
    """What is wrong with a relay, and which cases are made for it."""
    kind = relays.kinds().get(name)
    if kind is None:
        return relays.WRONG.get(name, ("", ()))
    return (kind.__doc__, kind.catches) if hasattr(kind, "catches") else ("", ())


def tried(name):
    """The cases that this relay is tried with."""
    made = told(name)[1]
    if EVERYTHING or name == relays.REFERENCE:
        return tuple(CASES)
    watched = any(CASES[one].script.judges_run for one in made)  # a case that watches the others needs them
    shown = getattr(relays.kinds().get(name), "shown_by", ("relay.get.api-away",) if watched else ())
    groups = {BackEndGroup.FORM, *(CASES[one].group for one in made)}
    others = [one for one, case in CASES.items() if watched or not made or case.group in groups]
    some = set(others[crc32(name.encode()) % SHARE :: SHARE])
    return tuple(one for one in CASES if one in {*made, *shown, *some})


def kinds_of(name):
    """The kinds of the cases that are made for a relay: group, and the first word of what the case is about."""
    return {(CASES[case].group, case.split(".")[-1].split("-")[0]) for case in told(name)[1]}


def chosen():
    """The relays to try: all at night, else so many broken ones that each kind of case has one."""
    names = list(relays.kinds())
    if not EVERYTHING and "WORKBOOK_TEMPO" not in os.environ:
        names.sort(key=lambda name: (name in WAITS, -len(kinds_of(name))))
        few, covered = [], set()
        for name in names:
            if not told(name)[1] or kinds_of(name) - covered:
                few.append(name)
                covered |= kinds_of(name)
        names = few
    return [name for name in (*names, *relays.OTHERS) if "node" not in name or shutil.which("node")]


@pytest.fixture(scope="module")
def judged():
    """What came of each relay: its verdicts, what the report says first, and what it is to say."""
    names = chosen()
    right = [name for name in names if not told(name)[1]]
    wrong = [name for name in names if name not in right]
    longest_first = sorted(wrong, key=lambda name: (name not in WAITS, -len(tried(name))))
    # What is in order has to be in time: two at a time, before whom the others give way.
    with _processes(2) as in_order, _processes(5, gives_way=10) as others:
        running = {name: _start(in_order, name) for name in right}
        running |= {name: _start(others, name) for name in longest_first}
        found = {name: _join(runs) for name, runs in running.items()}
    # A time limit may have passed because the machine was busy: once more, as `conform` does, alone.
    with _processes(1) as alone:
        again = [name for name in names if not _as_it_should(name, *found[name])]
        return found | {name: _join(_start(alone, name)) for name in again}


def _start(pool, name):
    """The runs of a relay. The cases of the reference are two runs, side by side: in one they take half a minute."""
    cases = tried(name)
    parts = [cases[::2], cases[1::2]] if name == relays.REFERENCE else [cases]
    return [pool.submit(relays.judged, name, part) for part in parts]


def _join(runs):
    """The verdicts of a relay's runs together; what the report says first is that of the first run."""
    results = [run.result() for run in runs]
    verdicts = {case: verdict for verdicts, _first, _made in results for case, verdict in verdicts.items()}
    return verdicts, *results[0][1:]


def _processes(number, gives_way=0):
    context = get_context("spawn")
    return ProcessPoolExecutor(number, mp_context=context, initializer=os.nice, initargs=(gives_way,))


def _as_it_should(name, verdicts, first, made):
    """Whether a relay is caught by the cases made for it, and the first line of its report says so."""
    gaps = _matrix({name: verdicts}, cases=told(name)[1]).gaps()
    if not told(name)[1]:
        return not gaps
    return not gaps and Verdict.NOT_TESTABLE not in verdicts.values() and _says(name, verdicts, first, made)


def _says(name, verdicts, first, made):
    """Whether the first line says what a case made for the relay says; what no rule judges asks for nothing."""
    if all(verdicts[case] is Verdict.NOTE for case in told(name)[1]):
        return first == ""
    return any(todo in first for todo in made)


def _matrix(found, cases=tuple(CASES)):
    return Matrix(cases, tuple(Relay(name, *told(name), verdicts) for name, verdicts in found.items()))


@pytest.fixture(scope="module")
def matrix(judged):
    return _matrix({name: verdicts for name, (verdicts, _first, _made) in judged.items()})


def test_nothing_speaks_against_the_cases(matrix):
    nobody = {f"No relay is broken in the way that {case} is made for." for case in CASES}  # tried at night
    assert [gap for gap in matrix.gaps() if EVERYTHING or gap not in nobody] == []


def test_a_relay_that_is_in_order_passes_whatever_it_is_written_in(matrix):
    right = {relay.name: set(relay.verdicts.values()) for relay in matrix.relays if not relay.made}
    assert {relays.REFERENCE, "asgi"} <= set(right)
    assert set().union(*right.values()) <= {Verdict.PASS, Verdict.NOT_APPLICABLE}  # node has a contract of its own


@pytest.mark.parametrize("name", [name for name in chosen() if told(name)[1]])
def test_the_first_line_of_a_report_is_what_is_wrong_with_the_relay(judged, name):
    verdicts, first, made = judged[name]
    assert _says(name, verdicts, first, made), first


def test_no_run_of_a_broken_relay_breaks_the_workbook(matrix):
    kinds = {verdict for relay in matrix.relays for verdict in relay.verdicts.values()}
    assert Verdict.HARNESS_ERROR not in kinds
    assert Verdict.NOT_TESTABLE not in kinds


@pytest.mark.needs("node")
def test_the_language_does_not_matter(matrix):
    by_name = {relay.name: relay for relay in matrix.relays}
    assert by_name["node"].caught == frozenset()
    assert by_name["broken node"].caught >= set(relays.WRONG["broken node"][1])
