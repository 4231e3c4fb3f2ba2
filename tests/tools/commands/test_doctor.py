import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError

import pytest

from workbook.tools.commands import doctor
from workbook.tools.commands.doctor import Health

BOTH = {"WORKBOOK_BASE_URL": "https://example.org", "WORKBOOK_API_KEY": "canary-0123456789"}
REQUIRES = ["alpha>=1,<2", "beta>=2", 'delta>=3; extra == "lab"', 'gamma>=9; extra == "test"']


def raising(error):
    def call(*_):
        raise error

    return call


def packages(**versions):
    def installed(name):
        try:
            return versions[name]
        except KeyError:
            raise PackageNotFoundError(name) from None

    return doctor.packages(lambda: REQUIRES, installed)


GOOD = {
    "packages": lambda: packages(alpha="1.5", beta="2.1"),
    "packages with the lab": lambda: packages(alpha="1.5", beta="2.1", delta="3", jupyterlab="4"),
    "kernel": lambda: doctor.kernel(lambda: "2"),
    "no kernel without the lab": lambda: doctor.kernel(raising(ModuleNotFoundError("x", name="nbclient"))),
    "no settings": lambda: doctor.environment({}),
    "both settings": lambda: doctor.environment(BOTH),
}
BAD = {
    "not installed": (
        lambda: doctor.packages(raising(PackageNotFoundError("x")), lambda _: "1"),
        "provisioning-workbook is not installed; pip install -e '.[lab]'",
    ),
    "missing": (lambda: packages(alpha="1.5"), "beta is missing; install"),
    "lab is missing": (lambda: packages(alpha="1.5", beta="2", jupyterlab="4"), "delta is missing; install"),
    "too new": (lambda: packages(alpha="2.0", beta="2"), "alpha is 2.0, needed <2,>=1; install"),
    "kernel raises": (lambda: doctor.kernel(raising(OSError("no\nsuch"))), "did not start (no such); reinstall"),
    "kernel lies": (lambda: doctor.kernel(lambda: "3"), "1 + 1 is '3'"),
    "bad address alone": (lambda: doctor.environment({"WORKBOOK_BASE_URL": "canary"}), "has neither the scheme"),
    "bad key alone": (lambda: doctor.environment({"WORKBOOK_API_KEY": "canary 1"}), "a blank at position 7"),
    "bad address": (lambda: doctor.environment(BOTH | {"WORKBOOK_BASE_URL": "canary"}), "has neither the scheme"),
    "bad bracket": (lambda: doctor.environment(BOTH | {"WORKBOOK_BASE_URL": "https://[canary"}), "has "),
    "bad key": (lambda: doctor.environment(BOTH | {"WORKBOOK_API_KEY": "canary1\n"}), "ends in a line end"),
    "empty key": (lambda: doctor.environment(BOTH | {"WORKBOOK_API_KEY": ""}), "No API key is given"),
}


@pytest.mark.parametrize("name", BOTH)
def test_one_setting_alone_is_noted_because_the_simulation_needs_none(name):
    found = doctor.environment({name: BOTH[name]})
    assert found.ok
    assert f"{name} set" in found.text
    assert found.text.endswith("; a real API needs both, the simulation neither")
    assert BOTH[name] not in found.text


@pytest.mark.parametrize("name", GOOD)
def test_a_good_machine_is_ok(name):
    found = GOOD[name]()
    assert found.ok
    assert str(found).startswith("ok   ")
    assert "canary" not in str(found)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_one_says_what_to_do(name):
    make, told = BAD[name]
    found = make()
    assert not found.ok
    assert str(found).startswith("bad  ")
    assert told in found.text
    assert "canary" not in str(found)


def test_a_parser_without_one_of_its_grammars_is_not_found(monkeypatch):
    for missing in ("tree_sitter", "tree_sitter_kotlin", "tree_sitter_swift"):
        monkeypatch.setattr(doctor, "find_spec", lambda name, gone=missing: None if name == gone else name)
        assert "not found" in [*doctor.extras()][-1].text


@pytest.mark.slow
def test_this_machine_can_run_it():
    found = list(doctor.examine())
    names = "python packages kernel environment kotlin java swift tree-sitter"
    assert [each.name for each in found] == names.split()
    for each in found:
        assert each.ok or each.name == "packages", str(each)


@pytest.mark.parametrize("there", [True, False])
def test_an_extra_is_found_or_not_and_names_the_commands_that_need_it(there):
    found = doctor.extra("kotlin", there, "`conform app`", "kotlin")
    assert found.ok
    assert "`conform app`" in found.text
    assert ("pip install" in found.text) is not there


def test_results_come_one_by_one(monkeypatch):
    monkeypatch.setattr(doctor, "packages", raising(AssertionError("it was not asked for yet")))
    assert next(iter(doctor.examine())).name == "python"


@pytest.mark.parametrize(
    ("ok", "advice"), [(True, "nothing is to be done"), (False, "do what the lines with 'bad' say")]
)
def test_what_was_examined_shows_itself_and_says_what_to_do(ok, advice, monkeypatch):
    monkeypatch.setattr(doctor.Examination, "__iter__", lambda _: iter([Health("a", ok=ok, text="found")]))
    assert repr(doctor.examine()).endswith(f"found\nNext: {advice}.")


@pytest.mark.slow
def test_ctrl_c_while_the_kernel_starts_is_no_finding():
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "workbook", "doctor"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().startswith("ok   python")
    assert process.stdout.readline().split()[1] == "packages"
    time.sleep(0.3)  # no kernel has answered by then
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    # a signal within the text of a class that is being made has Python end by it; a shell calls both 130
    assert process.returncode in (130, -signal.SIGINT)
    assert (out, err) == ("", "workbook: interrupted\n")


def test_a_machine_without_the_lab_learns_how_to_get_it():
    assert packages(alpha="1.5", beta="2").text == (
        "2 within their bounds; the notebooks need more: pip install -e '.[lab]'"
    )
