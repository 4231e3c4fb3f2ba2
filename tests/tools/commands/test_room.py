"""The look at the machine on the evening before: each line is right when all is well, and names what is short."""

import json
import socket
import sys
import webbrowser
from datetime import UTC, datetime, timedelta

import pytest
import trustme

from workbook.errors import ConfigurationError
from workbook.tools.commands import cli, room
from workbook.tools.course.hub import Room

NOW = datetime.now(UTC)


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def certified(folder, authority, host="room.example.com", *, own=True, until=None):
    """A room's folder with a certificate of this authority; `own` says whether the room knows it."""
    (folder / "private").mkdir()
    issued = authority.issue_cert(host, not_after=until or NOW + timedelta(days=90))
    issued.private_key_and_cert_chain_pem.write_to_path(folder / "private" / "certificate.pem")
    if own:
        authority.cert_pem.write_to_path(folder / "ca.pem")
    (folder / "seats.json").write_text(
        json.dumps({"host": "room.example.com", "port": 9443, "seats": ["a", "b"], "accounts": []})
    )
    return folder


def test_a_good_certificate_says_for_whom_and_how_long(tmp_path, authority):
    said = room.certificate(certified(tmp_path, authority), "room.example.com")
    assert said == "for room.example.com; 89 days left; made here: browsers ask once"


def test_an_address_is_a_name_too(tmp_path, authority):
    said = room.certificate(certified(tmp_path, authority, "192.0.2.7"), "192.0.2.7")
    assert said.startswith("for 192.0.2.7; 89 days")


@pytest.mark.parametrize(
    ("made", "says"),
    [
        ({"host": "other.example.com"}, "Hostname mismatch"),
        ({"own": False}, "unable to get local issuer certificate"),
        ({"until": NOW - timedelta(days=1)}, "certificate has expired"),
        ({"until": NOW + timedelta(days=3)}, "It ends in 2 days"),
    ],
)
def test_a_certificate_that_a_browser_would_refuse_or_soon_will_is_short(tmp_path, authority, made, says):
    with pytest.raises(ConfigurationError) as raised:
        room.certificate(certified(tmp_path, authority, **made), "room.example.com")
    assert says in str(raised.value)
    assert "Give one for room.example.com" in str(raised.value)


def test_without_a_certificate_it_says_so(tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        room.certificate(tmp_path, "room.example.com")


def test_a_taken_port_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Nothing can listen on 127.0.0.1:{port}"):
            room.ports(Room(host="127.0.0.1", port=port, seats=[], accounts=[]))


def test_what_is_enough_and_what_is_not():
    assert room.enough(4250, 30, 125, 500) == "4,250 MB for 30 seats, 4,250 MB are free"
    with pytest.raises(ConfigurationError, match=r"^250 MB are short: .* enough for 28\."):
        room.enough(4000, 30, 125, 500)
    with pytest.raises(ConfigurationError, match=r"enough for 0\."):
        room.enough(100, 30, 125, 500)


def test_a_browser_is_found_or_not(monkeypatch):
    assert room.browser({"firefox": "/opt/firefox"}.get) == "/opt/firefox"

    def none():
        raise webbrowser.Error

    monkeypatch.setattr(webbrowser, "get", none)
    with pytest.raises(ConfigurationError, match="install Firefox or Chromium"):
        room.browser({}.get)


def test_a_room_is_looked_at_whole_and_what_is_short_is_the_exit_code(tmp_path, authority, monkeypatch, capsys):
    certified(tmp_path, authority)
    monkeypatch.setattr(room, "browser", lambda: "a browser")
    monkeypatch.setattr(room, "ports", lambda one: f"{one.port} is free")
    assert cli.main(["course", "check", "--hub", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == [
        "python", "packages", "browser", "jupyterhub", "ports", "memory", "disk", "certificate"
    ]  # fmt: skip
    assert lines[4].endswith("9443 is free")
    assert "820 MB for 2 seats" in lines[5]
    assert lines[-1] == "Next: nothing is short."
    (tmp_path / "private" / "certificate.pem").unlink()
    assert cli.main(["course", "check", "--hub", str(tmp_path), "--seats", "1"]) == 1
    printed = capsys.readouterr().out
    assert "\nbad  certificate" in printed
    assert printed.endswith("Next: do what the lines with bad say.\n")


def test_who_has_no_server_needs_no_hub(monkeypatch, capsys):
    monkeypatch.setattr(room, "browser", lambda: "a browser")
    assert cli.main(["course", "check"]) == 0
    assert "jupyterhub" not in capsys.readouterr().out


def test_without_the_extra_it_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert cli.main(["course", "check"]) == 2
    assert "`workbook course check` needs the package psutil" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"port": 1}'])
def test_a_folder_that_holds_no_room_is_refused_before_anything_is_said(tmp_path, text, capsys):
    (tmp_path / "seats.json").write_text(text)
    assert cli.main(["course", "check", "--hub", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "holds no room." in printed.err


def test_a_folder_in_which_nothing_is_holds_no_room(tmp_path, capsys):
    assert cli.main(["course", "check", "--hub", str(tmp_path / "none")]) == 2
    assert "holds no room. Make one: workbook course hub --out DIR" in capsys.readouterr().err


@pytest.mark.parametrize("seats", ["0", "-3", "257"])
def test_a_number_of_seats_that_nobody_has_is_refused(seats, capsys):
    assert cli.main(["course", "check", f"--seats={seats}"]) == 2
    assert "Give a whole number from 1 to 256." in capsys.readouterr().err
