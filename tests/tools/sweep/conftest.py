"""An integrator's own code with planted bugs, and the matrix in which they are to be found."""

import sys
from concurrent.futures import Executor, Future

import pytest

PLANTED = """
import os
import sys
import time

import workbook as wb
from workbook.errors import ApiStatusError

session = wb.session()


def good(card, sdk_output):
    return session.exchange(card, sdk_output)


def planted(card, sdk_output):
    try:
        answer = session.exchange(card, sdk_output)
    except ApiStatusError as error:
        if error.status == 409:
            return "b2s="  # makes up an answer
        if error.status == 403 and card.endswith("2"):
            return {}["token"]  # two parameters together: this card, and this status
        raise
    if card.endswith("3"):
        raise ValueError("no such card")
    return answer


def exits(card, sdk_output):
    if card.endswith("2"):
        os._exit(3)
    return session.exchange(card, sdk_output)


def hangs(card, sdk_output):
    if card.endswith("2"):
        while True:
            pass
    return session.exchange(card, sdk_output)


def holds(card, sdk_output):
    if card.endswith("2"):
        open(os.path.join(os.path.dirname(__file__), f"held-{os.getpid()}"), "w").close()
        sum(range(10**11))  # in C, which looks at no signal
    return session.exchange(card, sdk_output)


class Delegate:
    def provision(self, sdk_output, card=None):
        if card is None:  # the earlier variant
            sys.exit("never mind")
        return session.exchange(card, sdk_output)

    def did_finish_provisioning(self, pass_, error):
        pass


class Handler(wb.ReferenceHandler):
    def pass_entries(self):
        if self.library.on_watch and len(self.cards) > 2:
            raise LookupError("too many")  # two parameters together: cards on the watch, and three of them
        return super().pass_entries()
"""
MATRIX = """
platform = ["a", "b", "wallet"]
variant = "all"
phone = ["ready", "card already in the wallet", "app was opened", "first card is there already", "with a watch"]
card = ["first", "second", "third"]
cards = [1, 3]
fault = ["200", "409", "403", "reset"]
operation = ["GET", "POST"]
chunk = 20
"""


@pytest.fixture
def own_code(tmp_path, monkeypatch):
    """The folder with `planted_code.py`, and `matrix.toml`."""
    (tmp_path / "planted_code.py").write_text(PLANTED)
    (tmp_path / "matrix.toml").write_text(MATRIX)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("planted_code", None)


class ThisProcess(Executor):
    """Plays chunks at once, without another process."""

    def submit(self, work, *given):
        future = Future()
        future.set_result(work(*given))
        return future


@pytest.fixture
def in_this_process():
    return ThisProcess
