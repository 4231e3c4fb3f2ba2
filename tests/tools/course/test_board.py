"""The board: who needs help comes first; two tokens, each with its own right; and progress files of any kind."""

import json
import os
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from cryptography import x509

from tests.support.seats import NOON, progress, sent, work
from workbook.errors import ConfigurationError
from workbook.lessons.exercises.model import all_exercises
from workbook.lessons.exercises.progress import PROGRESS, BoardAddress, Progress, has_board, send
from workbook.simulation.http import Request
from workbook.tools.course import board as board_module
from workbook.tools.course.board import LARGEST_PROGRESS, Board, overview, progress_files, serve_board, stuck
from workbook.tools.mockserver.server import listening, on_thread

LEARNERS, TRAINER = "learners-0123456789", "trainer-0123456789"


def room(*documents):
    return overview([Progress.of(json.dumps(document)) for document in documents], NOON)


def test_raised_hands_come_first_the_longest_before_the_others_then_who_is_stuck():
    seats = room(
        progress("calm", "03.1", _03_1=work()),
        progress("stuck", "03.1", _03_1=work(wrong={"A-CAN-2": 3})),
        progress("asks", "03.1", hand=2, _03_1=work()),
        progress("waits", "03.1", hand=9, _03_1=work()),
    )["seats"]
    assert [(row["seat"], row["hand"]) for row in seats] == [("waits", 9), ("asks", 2), ("stuck", -1), ("calm", -1)]
    assert seats[2]["stuck"].startswith("wrong 3 times: A-CAN-2, canProvision returns")
    assert seats[3] == {
        "seat": "calm",
        "exercise": f"03.1 {all_exercises()['03.1'].title}",
        "since": 5,
        "wrong": 0,
        "solved": 0,
        "of": len(all_exercises()),
        "hand": -1,
        "for": "",
        "stuck": "",
    }
    solved = room(progress("calm", "03.1", _03_1=work(passed=3)))["seats"][0]
    assert (solved["exercise"], solved["since"]) == (f"{seats[3]['exercise']}, solved", None)


@pytest.mark.parametrize(
    ("done", "meant", "why"),
    [
        ({"wrong": {"form": 3}}, 5, "wrong 3 times: form"),
        ({"wrong": {"form": 2, "A-CAN-2": 2}}, 5, ""),
        ({"wrong": {"form": 2, "A-CAN-2": 2, "API-4": 1}}, 5, "5 different wrong answers"),
        ({"first": 10}, 5, "10 min, meant for 5"),
        ({"first": 9.9}, 1, ""),  # never before ten minutes
        ({"first": 19}, 10, ""),
        ({"first": 19}, 9, "19 min, meant for 9"),
        ({"first": 60, "passed": 3, "wrong": {"form": 9}}, 5, ""),
    ],
)
def test_who_is_stuck(done, meant, why):
    (standing,) = Progress.of(sent("owl", "03.1", _03_1=work(**done))).exercises.values()
    assert stuck(standing, meant, NOON) == why
    assert stuck(None, meant, NOON) == ""


def test_what_costs_most_comes_first_with_its_most_frequent_wrong_answer():
    costs = room(
        progress("one", _03_1=work(minutes=4, wrong={"form": 1, "API-4": 1}), _00_1=work(minutes=7, passed=1)),
        progress("two", _03_1=work(minutes=5.4, wrong={"API-4": 1}, passed=2), _99_9=work(minutes=1) | {"hints": 1}),
        progress("only ran it", _03_1=work(minutes=9), _02_1=work(minutes=9)),
    )["costs"]
    assert [(row["exercise"][:4], row["minutes"], row["seats"], row["solved"]) for row in costs] == [
        ("03.1", 9, 2, 1),
        ("00.1", 7, 1, 1),
        ("99.9", 1, 1, 0),
    ]
    assert re.fullmatch(r"API-4, Both calls send .*\(2 times\)", costs[0]["wrong"])
    assert costs[1]["wrong"] == ""


@pytest.fixture
def board(tmp_path):
    (tmp_path / "seats").mkdir()
    return Board(tmp_path / "seats", {"token": LEARNERS, "address": "http://127.0.0.1:1/"}, TRAINER)


def ask(board, method, target, token="", body=b""):
    headers = (("authorization", f"Bearer {token}"),) if token else ()
    answer = board.respond(Request(method, target, headers, body))
    return answer.status, json.loads(answer.body) if b"{" in answer.body[:1] else answer.body


def test_learners_send_and_the_trainer_sees(board):
    assert ask(board, "PUT", "/seats/owl", LEARNERS, sent("owl", "03.1", hand=3, _03_1=work()))[0] == 200
    assert ask(board, "PUT", f"/seats/{quote('Zoë 2')}", LEARNERS, sent("Zoë 2"))[0] == 200
    status, shown = ask(board, "GET", "/room", TRAINER)
    assert (status, [row["seat"] for row in shown["seats"]]) == (200, ["owl", "Zoë 2"])
    status, page = ask(board, "GET", "/?again")
    assert (status, b"owl" in page, TRAINER.encode() in page) == (200, False, False)


@pytest.mark.parametrize(
    ("method", "target", "token"),
    [
        ("GET", "/room", ""),
        ("GET", "/room", LEARNERS),
        ("GET", "/room", TRAINER[:-1]),
        ("PUT", "/seats/owl", ""),
        ("PUT", "/seats/owl", TRAINER),
        ("PUT", "/seats/owl", "ü"),
    ],
)
def test_each_token_has_its_own_right(board, method, target, token):
    status, refusal = ask(board, method, target, token, sent("owl"))
    assert status == 401
    assert "authorization: Bearer TOKEN" in refusal["detail"]
    assert board.room(NOON)["seats"] == []


@pytest.mark.parametrize(
    ("asked", "body", "status", "says"),
    [
        ("PUT /seats/owl", b"{}", 400, "This is no progress"),
        ("PUT /seats/owl", b"[" * 60_000, 400, "This is no progress"),
        (
            "PUT /seats/owl",
            json.dumps(progress("owl") | {"code": "x"}).encode(),
            400,
            "This is no progress of a learner (see code)",
        ),
        ("PUT /seats/owl", b"x" * (LARGEST_PROGRESS + 1), 413, "larger than 65,536 bytes"),
        ("PUT /seats/hawk", sent("owl"), 400, "another seat"),
        ("PUT /seats/..%2Fowl", sent("../owl"), 400, "This is no progress"),
        ("PUT /seats/", sent("owl"), 404, "PUT seats/NAME"),
        ("PUT /elsewhere", sent("owl"), 404, "PUT seats/NAME"),
        ("DELETE /seats/owl", b"", 404, "PUT seats/NAME"),
    ],
)
def test_all_else_is_refused_in_a_sentence(board, asked, body, status, says):
    answered, refusal = ask(board, *asked.split(), LEARNERS, body)
    assert (answered, says in refusal["detail"]) == (status, True)
    assert [*board.sent.iterdir()] == []


def test_no_more_seats_than_there_is_room_for(board):
    board.most_seats = 2
    for seat in ("owl", "hawk", "owl"):
        assert ask(board, "PUT", f"/seats/{seat}", LEARNERS, sent(seat))[0] == 200
    status, refusal = ask(board, "PUT", "/seats/kite", LEARNERS, sent("kite"))
    assert (status, refusal["detail"]) == (403, "The board has 2 seats, and takes no more.")


def test_a_seat_whose_clock_is_ahead_is_refused_and_freezes_nothing(board):
    ahead = json.loads(sent("owl", _03_1=work(last=1)))
    ahead["exercises"]["03.1"]["last"] = "2999-12-31T00:00:00Z"
    status, refusal = ask(board, "PUT", "/seats/owl", LEARNERS, json.dumps(ahead).encode())
    assert (status, refusal["detail"][:24]) == (400, "The clock of this seat i")
    assert board.take(sent("owl", _03_1=work(last=1)), "owl")


def test_what_cannot_be_written_is_not_acknowledged(board, monkeypatch):
    monkeypatch.setattr(board_module, "write_whole", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    status, refusal = ask(board, "PUT", "/seats/owl", LEARNERS, sent("owl"))
    assert (status, refusal["detail"]) == (507, "The board cannot keep this. Send it again later.")
    assert board.room(NOON)["seats"] == []


def test_the_newest_stays_whatever_comes_last(board):
    old, new = sent("owl", _03_1=work(last=5)), sent("owl", _03_1=work(last=1, wrong={"form": 2}))
    assert [board.take(content, "owl") for content in (old, new, old, new)] == [True, True, False, True]
    assert board.take(sent("owl", "03.1", hand=0, _03_1=work(last=1)), "owl")  # a hand, without a new answer
    assert board.room(NOON)["seats"][0]["hand"] == 0
    (board.sent / "owl" / "progress.json").write_text("damaged")
    assert board.take(old, "owl")


def test_the_newest_of_a_folder_and_of_what_was_sent_is_shown_and_bad_files_are_named(board, tmp_path):
    board.folder = tmp_path / "copies"
    names = ("good", "garbage", "large", "link", "pipe", "tampered")
    at = {name: board.folder / "group" / name / "progress.json" for name in names}
    for path in at.values():
        path.parent.mkdir(parents=True)
    at["good"].write_bytes(sent("owl", _03_1=work(passed=2)))
    at["garbage"].write_bytes(b"\x00\x1b[31m")
    with at["large"].open("wb") as file:
        file.truncate(1_000_000_000)
    at["link"].symlink_to(at["good"])
    os.mkfifo(at["pipe"])
    at["tampered"].write_text(json.dumps(progress("hawk") | {"code": "print(1)"}))
    board.take(sent("owl", _03_1=work(last=5)), "owl")
    board.take(sent("hawk", _03_1=work(last=5)), "hawk")
    shown = board.room(NOON)
    assert [(row["seat"], row["solved"]) for row in shown["seats"]] == [("hawk", 0), ("owl", 1)]
    unread = dict(line.split(": ", 1) for line in shown["unread"])
    assert unread.keys() == {f"group/{name}" for name in names[1:]}
    assert "larger than 65,536 bytes" in unread["group/large"]
    assert unread["group/link"] == unread["group/pipe"] == "it is not a regular file"
    assert "print" not in str(unread)


def test_a_copy_is_found_above_its_own_folders_and_no_link_is_followed(tmp_path):
    for name in ("one", "one/notebooks/deep", "rooms/two", ".hidden", "a/b/c/d", "a/b/c/e/f"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "progress.json").touch()
    (tmp_path / "circle").symlink_to(tmp_path)
    found = [str(path.parent.relative_to(tmp_path)) for path in progress_files(tmp_path)]
    assert found == ["a/b/c/d", "one", "rooms/two"]


def test_what_a_trainer_may_type_wrongly_is_refused_in_a_sentence(tmp_path, capsys):
    with listening("127.0.0.1", 0) as taken, pytest.raises(ConfigurationError, match="Choose another port"):
        serve_board(tmp_path / "b", port=taken.getsockname()[1])
    (tmp_path / "file").touch()
    for given in ({"data": tmp_path / "file"}, {"data": tmp_path / "b", "folder": tmp_path / "file"}):
        with pytest.raises(ConfigurationError, match=r".*file' cannot be used: File exists\."):
            serve_board(**given, port=0)


def test_a_board_starts_before_the_first_seat_and_a_seat_knows_that_it_looks(tmp_path, monkeypatch, capsys):
    copy = tmp_path / "room" / "homes" / "seat-01" / "provisioning-workbook" / PROGRESS
    seen = []

    def run(server, ready):
        seen.append(has_board(copy))
        ready()

    monkeypatch.setattr(board_module, "run_until_signal", run)
    for count in range(2):
        serve_board(tmp_path / "board", tmp_path / "room" / "homes", port=0)
        told = capsys.readouterr().out
        assert f"It shows the copies below {str(tmp_path / 'room' / 'homes')!r}: {count} so far.\n" in told
        assert "join.json" not in told
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text("{}")
    assert seen == [True, True]
    assert not has_board(copy)


def test_it_runs_with_its_own_certificate_and_goes_on_after_a_restart(tmp_path, monkeypatch, capsys):
    """On an address that is none of loopback; it is the one of loopback here."""
    data, joins, names = tmp_path / "board", [], iter(("hawk", "kite"))

    def run(server, ready):
        join = json.loads((data / "join.json").read_text())
        with on_thread(server):
            ready()
            send(BoardAddress(**join), Progress.of(sent(next(names))))  # as a kernel does
        joins.append(join)

    monkeypatch.setattr(board_module, "is_loopback", lambda _host: False)
    monkeypatch.setattr(board_module, "run_until_signal", run)
    for _start in range(2):
        serve_board(data, port=0)
    assert joins[0]["token"] == joins[1]["token"]
    assert joins[0]["fingerprint"] == joins[1]["fingerprint"]
    output = capsys.readouterr().out
    assert len(re.findall("SHA-256: (?:[0-9A-F]{2}:){31}[0-9A-F]{2}\n", output)) == 2
    assert len(set(re.findall(r"The board, for you alone: https://127\.0\.0\.1:\d+/#(\S{32})\n", output))) == 1
    assert sorted(path.name for path in (data / "seats").iterdir()) == ["hawk", "kite"]
    assert [path.stat().st_mode & 0o077 for path in (data, data / "tokens", data / "127.0.0.1.pem")] == [0, 0, 0]
    assert "PRIVATE" not in (data / "127.0.0.1.ca.pem").read_text()
    certificate = x509.load_pem_x509_certificates((data / "127.0.0.1.pem").read_bytes())[0]
    assert 700 < (certificate.not_valid_after_utc - datetime.now(UTC)).days < 825


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8765/"),
        ("::1", "http://[::1]:8765/"),
        ("0.0.0.0", "https://192.0.2.7:8765/"),
        ("::", "https://192.0.2.7:8765/"),
        ("2001:db8::9", "https://[2001:db8::9]:8765/"),
    ],
)
def test_the_address_that_learners_get_is_one_that_they_can_reach(tmp_path, monkeypatch, capsys, host, address):
    listener = SimpleNamespace(getsockname=lambda: ("", 8765), close=lambda: None)
    monkeypatch.setattr(board_module, "listening", lambda *_given, **_named: listener)
    monkeypatch.setattr(board_module, "own_address", lambda: "192.0.2.7")
    monkeypatch.setattr(board_module, "run_until_signal", lambda _server, ready: ready())
    serve_board(tmp_path / "board", host=host)
    join = json.loads((tmp_path / "board" / "join.json").read_text())
    assert join["address"] == address
    assert ("fingerprint" in join) is address.startswith("https")
    assert re.match(rf"The board, for you alone: {re.escape(address)}#\S{{32}}\n", capsys.readouterr().out)


def test_a_file_of_tokens_that_was_never_written_is_written(tmp_path):
    (tmp_path / "tokens").touch()
    made = board_module._tokens(tmp_path)
    assert len(made) == 2
    assert board_module._tokens(tmp_path) == made
