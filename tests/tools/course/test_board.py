"""The board over HTTP: two tokens, each with its own right; thirty seats at once; and a folder of files of any kind."""

import json
import os
import re
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import quote, urlsplit

import pytest

from tests.support.seats import NOON, progress, sent, work
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.progress import BoardAddress, Progress, send
from workbook.simulation.http import Request
from workbook.tools.commands import cli
from workbook.tools.course import board as board_module
from workbook.tools.course.board import LARGEST_PROGRESS, Board, BoardOptions, History, copies, serve_board
from workbook.tools.mockserver.server import Server, base_url, listening, on_thread

LEARNERS, TRAINER = "learners-0123456789", "trainer-0123456789"


@pytest.fixture
def board(tmp_path):
    with closing(History(tmp_path / "board.sqlite")) as history:
        yield Board(history, {"token": LEARNERS, "address": "http://127.0.0.1:1/"}, TRAINER)


def asked(board, method, target, token="", body=b""):
    headers = (("authorization", f"Bearer {token}"),) if token else ()
    answer = board.respond(Request(method, target, headers, body))
    return answer.status, json.loads(answer.body) if b"{" in answer.body[:1] else answer.body


def test_learners_send_and_the_trainer_sees(board):
    assert asked(board, "PUT", "/seats/owl", LEARNERS, sent("owl", "03.1", hand=3, _03_1=work())) == (
        200,
        {"newest": True},
    )
    status, room = asked(board, "GET", "/room", TRAINER)
    assert status == 200
    assert [row["seat"] for row in room["seats"]] == ["owl"]
    assert room["seats"][0]["hand"] >= 0


@pytest.mark.parametrize(
    ("method", "target", "token"),
    [
        ("GET", "/room", ""),
        ("GET", "/room", LEARNERS),
        ("GET", "/room", f"{TRAINER} "[:-2]),
        ("PUT", "/seats/owl", ""),
        ("PUT", "/seats/owl", TRAINER),
        ("PUT", "/seats/owl", "ü"),
    ],
)
def test_each_token_has_its_own_right(board, method, target, token):
    status, told = asked(board, method, target, token, sent("owl"))
    assert status == 401
    assert "authorization: Bearer TOKEN" in told["detail"]
    assert board.history.seats == {}


@pytest.mark.parametrize(
    ("target", "body", "status", "says"),
    [
        ("/seats/owl", b"{}", 400, "This is no progress"),
        ("/seats/owl", b"[" * 60_000, 400, "This is no progress"),
        ("/seats/owl", json.dumps(progress("owl") | {"code": "x = 1"}).encode(), 400, "code Extra inputs are not"),
        ("/seats/owl", b"x" * (LARGEST_PROGRESS + 1), 413, "larger than 65,536 bytes"),
        ("/seats/hawk", sent("owl"), 400, "another seat"),
        ("/seats/", sent("owl"), 404, "PUT seats/NAME"),
        ("/seats/<b>", sent("owl"), 400, "another seat"),
        ("/elsewhere", sent("owl"), 404, "PUT seats/NAME"),
    ],
)
def test_all_else_is_refused_in_a_sentence(board, target, body, status, says):
    got, told = asked(board, "PUT", target, LEARNERS, body)
    assert (got, says in told["detail"]) == (status, True)
    assert asked(board, "DELETE", "/seats/owl", LEARNERS)[0] == 404


def test_no_more_seats_than_there_is_room_for(board):
    board.most_seats = 2
    for seat in ("owl", "hawk", "owl"):
        assert asked(board, "PUT", f"/seats/{seat}", LEARNERS, sent(seat))[0] == 200
    status, told = asked(board, "PUT", "/seats/kite", LEARNERS, sent("kite"))
    assert (status, told["detail"]) == (403, "The board has 2 seats, and takes no more.")


def test_what_cannot_be_written_is_not_acknowledged(board):
    board.history.close()
    status, told = asked(board, "PUT", "/seats/owl", LEARNERS, sent("owl"))
    assert (status, told["detail"]) == (507, "The board cannot write its history. Send it again later.")
    assert board.history.seats == {}


def test_the_page_says_nothing_and_lies_below_its_prefix(board):
    board.prefix = "/services/board/"
    board.history.keep(Progress.of(sent("owl")))
    status, page = asked(board, "GET", "/services/board/?again")
    assert (status, b"owl" in page, TRAINER.encode() in page) == (200, False, False)
    assert asked(board, "GET", "/services/board/room", TRAINER)[0] == 200
    assert asked(board, "GET", "/room", TRAINER)[0] == 404


def test_a_name_in_any_language_is_a_seat(board):
    assert asked(board, "PUT", f"/seats/{quote('Zoë 2')}", LEARNERS, sent("Zoë 2"))[0] == 200


def test_thirty_write_at_once_and_nothing_is_lost(board):
    """Each seat sends ten documents, one after the other, over its own connection."""

    def learner(seat):
        with closing(HTTPConnection(place.hostname, place.port, timeout=30)) as connection:
            for n in range(10):
                body = sent(seat, _03_1=work(last=30 - n, wrong={"form": n}))
                connection.request("PUT", f"/seats/{seat}", body, {"Authorization": f"Bearer {LEARNERS}"})
                answer = connection.getresponse()
                told.append((answer.status, json.loads(answer.read())))

    told = []
    server = Server(board.respond, most_body=LARGEST_PROGRESS)
    with listening("127.0.0.1", 0) as listener:
        server.listen(listener)
        place = urlsplit(base_url(listener))
        with on_thread(server):
            threads = [threading.Thread(target=learner, args=[f"seat-{n}"]) for n in range(30)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert told == [(200, {"newest": True})] * 300
    assert {seat.exercises["03.1"].wrong["form"] for seat in board.history.seats.values()} == {9}
    assert len(board.history.seats) == 30


def test_only_what_has_changed_in_the_folder_is_read_and_what_is_wrong_is_said(board, tmp_path, monkeypatch):
    folder = tmp_path / "copies"
    for name in ("good", "garbage", "large", "link", "pipe", "tampered"):
        (folder / "group" / name).mkdir(parents=True)
    at = {path.name: path / "progress.json" for path in (folder / "group").iterdir()}
    at["good"].write_bytes(sent("owl", _03_1=work()))
    at["garbage"].write_bytes(b"\x00\x1b[31m")
    with at["large"].open("wb") as file:
        file.truncate(1_000_000_000)
    at["link"].symlink_to(at["good"])
    os.mkfifo(at["pipe"])
    at["tampered"].write_text(json.dumps(progress("hawk") | {"code": "print(1)"}))
    board.look(folder)
    assert [*board.history.seats] == ["owl"]
    assert board.unread.keys() == {f"group/{name}" for name in ("garbage", "large", "link", "pipe", "tampered")}
    assert "larger than 65,536 bytes" in board.unread["group/large"]
    assert board.unread["group/link"] == board.unread["group/pipe"] == "it is no regular file"
    assert "print" not in str(board.room(NOON)["unread"])

    read = []
    monkeypatch.setattr(
        "workbook.tools.course.board.read_regular", lambda path, _most: read.append(path) or sent("owl")
    )
    for name in ("garbage", "large", "link", "pipe", "tampered"):
        at[name].unlink()
    board.look(folder)
    assert (read, board.unread) == ([], {})
    at["good"].write_bytes(sent("owl", _03_1=work(last=0)))
    board.look(folder)
    assert read == [at["good"]]


def test_a_copy_is_found_above_its_own_folders_and_no_link_is_followed(tmp_path):
    for name in ("one/notebooks/deep", "rooms/two", ".hidden", "a/b/c/d/e"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("one", "one/notebooks/deep", ".hidden", "a/b/c/d/e"):
        (tmp_path / name / "progress.json").touch()
    (tmp_path / "rooms/two/.board.json").touch()
    (tmp_path / "circle").symlink_to(tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in copies(tmp_path)] == ["one", "rooms/two"]


def test_what_a_trainer_may_type_wrongly_is_refused_in_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="There is no folder 'nowhere'"):
        serve_board(BoardOptions(history=tmp_path / "b", folder=tmp_path.joinpath("nowhere").relative_to(tmp_path)))
    with pytest.raises(ConfigurationError, match="16 printable ASCII characters") as refused:
        serve_board(BoardOptions(history=tmp_path / "b", port=0, tokens=("with a blank in it", "")))
    assert "with a blank" not in str(refused.value)
    with listening("127.0.0.1", 0) as taken, pytest.raises(ConfigurationError, match="Address already in use"):
        serve_board(BoardOptions(history=tmp_path / "b", port=taken.getsockname()[1]))
    assert cli.main(["course", "board", "--certificate", "only.pem"]) == 2
    assert "A certificate and its key come together" in capsys.readouterr().err


def test_it_runs_with_its_own_certificate_and_goes_on_after_a_restart(tmp_path, monkeypatch, capsys):
    """On an address that is none of loopback; it is the one of loopback here."""
    copy = tmp_path / "copies" / "owl"
    copy.mkdir(parents=True)
    (copy / "progress.json").write_bytes(sent("owl"))

    def run(server, ready):
        join = json.loads((tmp_path / "board.join.json").read_text())
        with on_thread(server):
            ready()
            send(BoardAddress(**join), Progress.of(sent(next(names))))  # as a kernel does
        joins.append(join)

    monkeypatch.setattr("workbook.tools.course.board.is_loopback", lambda _host: False)
    monkeypatch.setattr("workbook.tools.course.board.run_until_signal", run)
    names, joins = iter(("hawk", "kite")), []
    for _start in range(2):
        serve_board(BoardOptions(history=tmp_path / "board.sqlite", folder=tmp_path / "copies", port=0, prefix="/b/"))
    assert joins[0]["token"] == joins[1]["token"]
    assert joins[0]["fingerprint"] == joins[1]["fingerprint"]
    said = capsys.readouterr().out
    assert len(re.findall("SHA-256: (?:[0-9A-F]{2}:){31}[0-9A-F]{2}\n", said)) == 2
    assert re.search(r"The board, for you alone: https://127\.0\.0\.1:\d+/b/#\S{32}\n", said)
    with closing(History(tmp_path / "board.sqlite")) as history:
        assert set(history.seats) == {"owl", "hawk", "kite"}


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8765/"),
        ("::1", "http://[::1]:8765/"),
        ("0.0.0.0", "https://192.0.2.7:8765/"),
        ("::", "https://192.0.2.7:8765/"),
        ("192.0.2.9", "https://192.0.2.9:8765/"),
    ],
)
def test_the_address_that_learners_get_is_one_that_they_can_reach(tmp_path, monkeypatch, capsys, host, address):
    @contextmanager
    def elsewhere(*_given, **_named):
        yield SimpleNamespace(getsockname=lambda: ("", 8765))

    monkeypatch.setattr(board_module, "listening", elsewhere)
    monkeypatch.setattr(board_module, "own_address", lambda: "192.0.2.7")
    monkeypatch.setattr(board_module, "run_until_signal", lambda _server, ready: ready())
    serve_board(BoardOptions(history=tmp_path / "board.sqlite", host=host))
    join = json.loads((tmp_path / "board.join.json").read_text())
    assert join["address"] == address
    assert ("fingerprint" in join) is address.startswith("https")
    said = capsys.readouterr().out
    assert re.match(rf"The board, for you alone: {re.escape(address)}#\S{{32}}\n", said)
    assert said.endswith("at the top of each copy.\n0 seats are known. Stop with Ctrl-C.\n")


@pytest.mark.parametrize(
    ("argv", "environment", "expected"),
    [
        ([], {}, BoardOptions),
        (["--port", "0"], {}, {"port": 0}),
        (["--prefix", "x"], {}, {"prefix": "/x/"}),
        ([], {"JUPYTERHUB_SERVICE_URL": "http://127.0.0.1:9", "JUPYTERHUB_SERVICE_PREFIX": "/services/board/"},
         {"port": 9, "prefix": "/services/board/"}),
        ([], {"WORKBOOK_BOARD_TOKEN": LEARNERS}, {"tokens": (LEARNERS, "")}),
        (["--certificate", "c", "--key", "k"], {}, "given"),
    ],
)  # fmt: skip
def test_where_it_listens_is_said_by_the_options_or_by_a_hub(argv, environment, expected, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    got = []
    monkeypatch.setattr("workbook.tools.course.board.serve_board", lambda options: got.append(options) or 0)
    assert cli.main(["course", "board", *argv]) == 0
    (options,) = got
    if expected == "given":
        assert [str(path) for path in options.given] == ["c", "k"]
    else:
        said = {} if expected is BoardOptions else expected
        assert {name: getattr(options, name) for name in said} == said
        assert str(options.history) == "board.sqlite"
