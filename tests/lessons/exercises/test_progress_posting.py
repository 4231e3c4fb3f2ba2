"""The way of a learner's progress to the trainer's board."""

import json
import socket
import ssl
import subprocess
import sys
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest
import trustme

import workbook as wb
from workbook.errors import ConfigurationError
from workbook.lessons.exercises import progress
from workbook.lessons.exercises.progress import PROGRESS, Progress, board_of, not_reached

TOKEN = "the-token-of-the-room"


class Board(BaseHTTPRequestHandler):
    """Keeps what was put on it; answers 403 without the token, and a redirect to the seat `away`."""

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        allowed = self.headers["Authorization"] == f"Bearer {TOKEN}"
        self.server.seen.append((self.path, allowed, body))
        self.send_response(307 if "away" in self.path else 204 if allowed else 403)
        if "away" in self.path:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_given):
        """Says nothing."""


@pytest.fixture
def board():
    server = HTTPServer(("127.0.0.1", 0), Board)
    server.seen = []
    Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / PROGRESS).write_text(Progress.of({"version": 1, "seat": "Ann B"}).text())
    return tmp_path / PROGRESS


def named(file, server, scheme="http", **more):
    document = {"address": f"{scheme}://127.0.0.1:{server.server_port}/", "token": TOKEN} | more
    file.with_name(".board.json").write_text(json.dumps(document))


def until(condition):
    ends = time.monotonic() + 60
    while not (met := condition()) and time.monotonic() < ends:
        time.sleep(0.005)
    return met


def test_an_answer_is_on_the_board_and_so_is_a_raised_hand(board, file):
    named(file, board)
    assert TOKEN not in repr(board_of(file))
    with pytest.MonkeyPatch.context() as browser:
        browser.setattr("sys.platform", "emscripten")  # which has no threads
        progress.post(file)
    wb.exercise("00.1", posts="App", makes_sdk_output="SDK", wallet_needs="POST", button="disabled")
    assert until(lambda: board.seen)
    path, allowed, body = board.seen[0]
    assert (path, allowed, len(board.seen)) == ("/seats/Ann%20B", True, 1)
    assert Progress.of(body) == Progress.read(file)


def test_the_environment_names_the_board_before_the_file(board, file, monkeypatch):
    named(file, board, token="other")
    monkeypatch.setenv("WORKBOOK_BOARD", f"http://127.0.0.1:{board.server_port}/class/a")
    monkeypatch.setenv("WORKBOOK_BOARD_TOKEN", TOKEN)
    progress.post(file)
    assert until(lambda: board.seen)
    assert board.seen[0][:2] == ("/class/a/seats/Ann%20B", True)


def test_a_board_that_is_not_reached_disturbs_nobody_and_the_table_says_it(board, file, monkeypatch):
    named(file, board, token="wrong")
    assert "board" not in wb.exercise().text()
    assert until(lambda: file in not_reached)
    assert "The trainer's board was not reached: it answered 403. Nothing is lost" in wb.exercise().text()
    monkeypatch.setenv("WORKBOOK_BOARD", "http://127.0.0.1:9/")
    monkeypatch.setenv("WORKBOOK_BOARD_TOKEN", TOKEN)
    began = time.monotonic()
    assert wb.exercise("00.1", posts="App", makes_sdk_output="SDK", wallet_needs="POST", button="disabled").unkept == ""
    assert time.monotonic() - began < 2
    assert until(lambda: "Connection refused" in not_reached[file])
    monkeypatch.delenv("WORKBOOK_BOARD")
    named(file, board)
    progress.post(file)
    assert until(lambda: file not in not_reached)


def test_a_redirect_does_not_take_the_token_away(board, file):
    file.write_text(Progress.of({"version": 1, "seat": "away"}).text())
    named(file, board)
    progress.post(file)
    assert until(lambda: not_reached.get(file) == "it answered 307")
    assert [path for path, *_ in board.seen] == ["/seats/away"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"address": "ftp://x", "token": TOKEN}, "see address"),
        ({"address": "http://x", "token": f"{TOKEN}\n"}, "see token"),
        (
            {"address": "http://x", "token": TOKEN, "fingerprint": "aa"},
            "see fingerprint",
        ),
        ([], ""),
    ],
)
def test_a_wrong_file_is_said_without_the_token(file, document, said):
    file.with_name(".board.json").write_text(json.dumps(document))
    with pytest.raises(ConfigurationError, match=f"the board's address is not right.*{said}") as told:
        board_of(file)
    assert TOKEN not in str(told.value)


def test_a_rooms_own_certificate_is_trusted_by_its_fingerprint_and_no_other(board, file):
    own = trustme.CA().issue_cert("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.configure_cert(context)
    board.socket = context.wrap_socket(board.socket, server_side=True)
    printed = sha256(ssl.PEM_cert_to_DER_cert(own.cert_chain_pems[0].bytes().decode())).hexdigest()
    for trusted in ({}, {"fingerprint": printed[:-2] + ("00" if printed[-2:] != "00" else "01")}):
        named(file, board, "https", **trusted)
        progress._post(file)
        assert board.seen == [], "nothing is sent, the token least of all"
    assert not_reached.pop(file) == "it has another certificate"
    for number, trusted in enumerate(({"fingerprint": printed}, {"fingerprint": printed.upper()}), 1):
        named(file, board, "https", **trusted)
        progress._post(file)
        assert len(board.seen) == number


def test_exercises_are_judged_where_there_is_no_ssl_module(tmp_path):
    program = "import sys; sys.modules['ssl'] = None; import workbook as wb; print(wb.exercise('03.3', '3 1 4 2').done)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_what_answers_in_another_language_is_no_board(file, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        monkeypatch.setenv("WORKBOOK_BOARD", f"http://127.0.0.1:{listener.getsockname()[1]}")
        monkeypatch.setenv("WORKBOOK_BOARD_TOKEN", TOKEN)
        progress.post(file)
        with listener.accept()[0] as caller:
            caller.recv(10_000)
            caller.sendall(b"220 mail\r\n\r\n")
        assert until(lambda: not_reached.get(file) == "what answered is no board")
