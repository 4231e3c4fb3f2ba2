"""A room: what is written, who may read it, what stays when it is made anew, and that JupyterHub takes it."""

import asyncio
import copy
import json
import os
import pwd
import re
import socket
import ssl
import stat
import subprocess
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbook.errors import ConfigurationError, ParameterError
from workbook.tools.commands import cli
from workbook.tools.course import hub
from workbook.tools.course.hub import Room, _fill, make_room, read_room, seat_names, turns
from workbook.tools.mockserver.mock import Worlds


@pytest.fixture(autouse=True)
def without_root(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def free_port():
    """A port that is free with the three above it, below those that systems hand out to whoever asks for any."""
    for port in range(20_000 + os.getpid() % 3_000 * 4, 32_000, 4):
        with suppress(OSError), ExitStack() as stack:
            for each in range(port, port + 4):
                stack.enter_context(socket.create_server(("127.0.0.1", each)))
            return port
    raise AssertionError("no four free ports")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A room of two seats, and what was told; few files stand for the lessons, which take half a second."""
    folder = tmp_path_factory.mktemp("rooms") / "room"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: 1000)
        patched.setattr("workbook.tools.course.hub.lay_out", few_lessons)
        told = make_room(folder, seats=2, host="127.0.0.1", port=free_port())
    proxy = folder / "node_modules" / ".bin" / "configurable-http-proxy"
    proxy.parent.mkdir(parents=True)
    proxy.touch(0o755)
    return folder, told


def few_lessons(folder):
    (folder / "notebooks").mkdir(parents=True)
    (folder / "notebooks" / "00_start_here.ipynb").write_text("{}")


@pytest.fixture
def anew(made, monkeypatch):
    monkeypatch.setattr("workbook.tools.course.hub.lay_out", few_lessons)
    return lambda **values: make_room(made[0], **values)


def test_the_pass_phrase_is_shown_once_and_stands_in_no_file_that_others_may_read(made, anew):
    folder, told = made
    phrase = (folder / "private" / "pass-phrase").read_text()
    secrets = [phrase, (folder / "private" / "trainer-password").read_text()]
    secrets.append((folder / "private" / "board-token").read_text())
    secrets += json.loads((folder / "private" / "keys.json").read_text()).values()
    assert re.fullmatch("[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}", phrase)
    assert phrase in told
    assert phrase not in anew()
    assert (folder / "private" / "pass-phrase").read_text() == phrase
    assert stat.S_IMODE((folder / "private").stat().st_mode) == 0o700
    for path in folder.rglob("*"):
        if path.is_file() and path.parent.name == "private" and not path.name.endswith(".ca.pem"):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
        elif path.is_file():
            assert not [secret for secret in secrets if secret in path.read_text()], path


def test_each_seat_and_the_trainer_have_a_key_of_their_own(made):
    keys = json.loads((made[0] / "private" / "keys.json").read_text())
    assert list(keys) == ["amber-heron", "black-heron", "trainer"]
    assert len(set(keys.values())) == 3


def test_more_seats_are_added_and_none_is_taken_away(made, anew):
    folder, _ = made
    before = json.loads((folder / "private" / "keys.json").read_text())
    anew(seats=3)
    anew(seats=1)
    room = read_room(folder)
    assert room.seats == seat_names(3)
    assert before.items() < json.loads((folder / "private" / "keys.json").read_text()).items()
    assert room.accounts == []


def test_a_lesson_that_the_trainer_mended_in_the_room_stays(made, anew):
    lesson = made[0] / "lessons" / "notebooks" / "00_start_here.ipynb"
    lesson.write_text("mended by the trainer")
    anew()
    assert lesson.read_text() == "mended by the trainer"


def test_the_certificate_is_the_one_whose_fingerprint_was_told_and_stays(made, anew):
    folder, told = made
    file = folder / "private" / "certificate.pem"
    before = file.read_bytes()
    context = ssl.create_default_context(cafile=folder / "private" / "certificate.ca.pem")
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    inner = server.wrap_bio(there, back, server_side=True)
    outer = context.wrap_bio(back, there, server_hostname="127.0.0.1")
    for _ in range(3):
        for side in (outer, inner):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    import hashlib

    assert hashlib.sha256(outer.getpeercert(binary_form=True)).digest().hex(":").upper() in told
    anew()
    assert file.read_bytes() == before


def test_a_certificate_of_ones_own_is_taken_with_its_key(made, anew, tmp_path):
    import trustme

    issued = trustme.CA().issue_cert("room.example.com")
    certificate, key = tmp_path / "room.pem", tmp_path / "room.key"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    before = (made[0] / "private" / "certificate.pem").read_bytes()
    with pytest.raises(ConfigurationError, match="are no certificate and its key"):
        anew(certificate=(certificate, certificate))
    assert (made[0] / "private" / "certificate.pem").read_bytes() == before
    anew(certificate=(certificate, key))
    assert certificate.read_text() in (made[0] / "private" / "certificate.pem").read_text()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"seats": 0}, "--seats is 0. Give a whole number from 1 to 256"),
        ({"seats": 5000}, "--seats is 5000"),
        ({"port": 70000}, "--port is 70000"),
        ({"host": "a room"}, "--host is 'a room'. Give a name"),
        ({"host": "-x"}, "--host is '-x'"),
        ({"host": "192.0.2.1"}, "Nothing can listen on 192.0.2.1:8443"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(tmp_path, values, why):
    with pytest.raises(ConfigurationError, match=re.escape(why)):
        make_room(tmp_path / "room", **values)
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_refused(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"Nothing can listen on 127.0.0.1:{port}: Address already in use"):
            make_room(tmp_path / "room", host="127.0.0.1", port=port)


def test_a_folder_with_something_else_is_refused(tmp_path):
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(ConfigurationError, match="is not empty, and holds no room"):
        make_room(tmp_path)
    (tmp_path / "seats.json").write_text("[1")
    with pytest.raises(ConfigurationError, match="is not empty, and holds no room"):
        make_room(tmp_path)


def test_as_root_a_folder_that_the_accounts_could_not_enter_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    closed = tmp_path / "closed"
    closed.mkdir(0o700)
    with pytest.raises(ConfigurationError, match="The seats' accounts could not enter"):
        make_room(closed / "room", host="127.0.0.1", port=free_port())
    assert list(closed.iterdir()) == []


def test_an_account_is_made_with_its_own_group_and_a_home_that_is_closed_to_others(tmp_path, monkeypatch):
    asked, owned = [], []
    accounts = iter((KeyError, SimpleNamespace(pw_uid=7, pw_gid=8)))

    def getpwnam(_name):
        account = next(accounts)
        if account is KeyError:
            raise KeyError
        return account

    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: asked.append(words) or SimpleNamespace(returncode=0))
    monkeypatch.setattr(os, "chown", lambda *given: owned.append(given))
    hub._make_account("owl", tmp_path / "owl")
    (words,) = asked
    assert (words[0], words[-2:]) == ("useradd", ["--user-group", "owl"])
    assert words[words.index("--home-dir") + 1] == str(tmp_path / "owl")
    assert words[words.index("--shell") + 1] == "/bin/bash"
    assert owned == [(tmp_path / "owl", 7, 8)]
    assert stat.S_IMODE((tmp_path / "owl").stat().st_mode) == 0o700


def test_an_account_that_cannot_be_made_is_told_in_the_systems_words(tmp_path, monkeypatch):
    monkeypatch.setattr(pwd, "getpwnam", {}.__getitem__)
    failed = SimpleNamespace(returncode=9, stderr="useradd: group full\n")
    monkeypatch.setattr(subprocess, "run", lambda *_given, **_named: failed)
    with pytest.raises(ConfigurationError, match="The account owl cannot be made: useradd: group full"):
        hub._make_account("owl", tmp_path / "owl")
    assert not (tmp_path / "owl").exists()


def test_a_room_that_was_made_without_root_is_not_made_anew_with_it(anew, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(ConfigurationError, match="Another user made this room"):
        anew()


def test_the_names_are_fit_for_an_account_and_all_differ():
    names = seat_names(256)
    assert len(set(names)) == 256
    assert all(re.fullmatch("[a-z]{3,7}-[a-z]{3,5}", name) for name in names)
    assert seat_names(30) == names[:30]
    with pytest.raises(ParameterError):
        seat_names(257)


def test_servers_start_one_after_the_other():
    began, started = time.monotonic(), []

    async def one(hook):
        await copy.deepcopy(hook)(None)  # as JupyterHub does for each seat
        started.append(time.monotonic() - began)

    async def all_at_once():
        hook = turns(seconds=0.02)
        await asyncio.gather(*(one(hook) for _ in range(4)))

    asyncio.run(all_at_once())
    assert started == sorted(started)
    assert [second >= 0.019 * number for number, second in enumerate(started)] == [True] * 4


ROOM = Room(host="room.example.com", port=8443, seats=["amber-heron"], accounts=["amber-heron", "trainer"])


def test_a_name_is_listened_to_on_every_address_and_an_address_on_itself():
    assert ROOM.address == "0.0.0.0"
    assert replace(ROOM, host="192.0.2.1").address == "192.0.2.1"


@pytest.mark.parametrize(
    ("accounts", "systemd", "spawner", "told"),
    [
        ([], False, "SimpleLocalProcessSpawner", "a learner can read every other seat"),
        (["amber-heron"], False, "LocalProcessSpawner", "no other seat can read its files"),
        (["amber-heron"], True, "SystemdSpawner", "A seat has at most 1 GiB of memory"),
    ],
)
def test_the_spawner_is_the_safest_that_there_is_and_its_limits_are_told(accounts, systemd, spawner, told, monkeypatch):
    monkeypatch.setattr("workbook.tools.course.hub.find_spec", lambda _name: systemd or None)
    monkeypatch.setattr(Path, "is_dir", lambda _path: True)
    room = replace(ROOM, accounts=accounts)
    config, sheet = (_fill(name, Path("/srv/room"), room, "AB:CD") for name in ("jupyterhub_config.pyt", "room.md"))
    assert f'.{spawner}"' in config
    assert told in sheet
    assert ("NOTHING LIMITS" in config or "Nothing limits" in config) is (spawner != "SystemdSpawner")
    assert ("Nothing limits" in sheet) is (spawner != "SystemdSpawner")


@pytest.mark.slow
def test_jupyterhub_knows_every_name_in_the_configuration_and_takes_every_value(made, monkeypatch):
    """JupyterHub only warns of a name that it does not know, and looks at a value when it first needs it."""
    from jupyterhub.app import JupyterHub
    from jupyterhub.authenticators.shared import SharedPasswordAuthenticator
    from jupyterhub.proxy import ConfigurableHTTPProxy
    from jupyterhub.spawner import SimpleLocalProcessSpawner
    from traitlets.config.loader import PyFileConfigLoader

    folder, _ = made
    config = PyFileConfigLoader(str(folder / "jupyterhub_config.py")).load_config()
    taken = {
        "JupyterHub": JupyterHub(config=config),
        "ConfigurableHTTPProxy": ConfigurableHTTPProxy,
        "Authenticator": SharedPasswordAuthenticator,
        "SharedPasswordAuthenticator": SharedPasswordAuthenticator(config=config),
        "Spawner": SimpleLocalProcessSpawner(config=config),
        "SimpleLocalProcessSpawner": SimpleLocalProcessSpawner,
    }
    assert config.keys() == taken.keys()
    for section, values in config.items():
        assert values.keys() <= set(taken[section].class_trait_names(config=True)), section
    hub = taken["JupyterHub"]
    assert hub.authenticator_class is SharedPasswordAuthenticator
    assert hub.spawner_class is SimpleLocalProcessSpawner
    assert hub.bind_url.startswith("https://127.0.0.1:")
    assert hub.ssl_key == str(folder / "private" / "certificate.pem")
    assert taken["SharedPasswordAuthenticator"].allowed_users >= {"amber-heron", "black-heron"}


def test_a_proxy_that_is_missing_is_one_sentence_with_the_line_that_installs_it(made, monkeypatch):
    from traitlets.config.loader import PyFileConfigLoader

    monkeypatch.setattr("workbook.tools.course.hub.which", lambda _name, path: None)
    with pytest.raises(SystemExit, match=r"npm install --prefix .* configurable-http-proxy"):
        PyFileConfigLoader(str(made[0] / "jupyterhub_config.py")).load_config()


def test_a_port_that_is_taken_when_the_hub_starts_is_one_sentence(made):
    from traitlets.config.loader import PyFileConfigLoader

    with socket.create_server(("127.0.0.1", read_room(made[0]).port)):
        with pytest.raises(SystemExit, match=r"Nothing can listen on 127\.0\.0\.1"):
            PyFileConfigLoader(str(made[0] / "jupyterhub_config.py")).load_config()
        (made[0] / "private" / "proxy.pid").write_text("1")  # of a hub that was killed
        PyFileConfigLoader(str(made[0] / "jupyterhub_config.py")).load_config()
    (made[0] / "private" / "proxy.pid").unlink()


@pytest.mark.slow
def test_seats_are_not_added_while_the_hub_runs(made, anew):
    before = (made[0] / "seats.json").read_text()
    with closing(Worlds(made[0] / "private" / "worlds.db")):
        anew()  # a lesson may be handed out
        with pytest.raises(ConfigurationError, match="Seats are added while the hub is stopped"):
            anew(seats=9)
    assert (made[0] / "seats.json").read_text() == before


def test_settings_of_the_trainers_own_are_read_last(made):
    from traitlets.config.loader import PyFileConfigLoader

    (made[0] / "local_config.py").write_text("c = get_config()\nc.Spawner.start_timeout = 5\n")
    assert PyFileConfigLoader(str(made[0] / "jupyterhub_config.py")).load_config().Spawner.start_timeout == 5
    (made[0] / "local_config.py").unlink()


def test_a_certificate_without_its_key_is_refused_on_the_command_line(tmp_path, capsys):
    assert cli.main(["course", "hub", "--out", str(tmp_path / "room"), "--certificate", "room.pem"]) == 2
    assert "give --certificate and --key, or neither" in capsys.readouterr().err


VALUES = Path(__file__).parents[3] / "fixtures" / "course" / "z2jh-values.yaml"


def test_the_values_for_kubernetes_are_what_the_chart_takes():
    import jsonschema
    import yaml

    schema = yaml.safe_load(Path(__file__).with_name("z2jh-schema.yaml").read_text())
    values = yaml.safe_load(VALUES.read_text())
    jsonschema.validate(values, schema)
    values["singleuser"]["memory"]["limits"] = "1G"
    with pytest.raises(jsonschema.ValidationError, match="'limits' was unexpected"):
        jsonschema.validate(values, schema)


def test_a_seat_on_kubernetes_starts_as_one_of_a_room_does(made):
    import yaml

    values = yaml.safe_load(VALUES.read_text())
    config = (made[0] / "jupyterhub_config.py").read_text()
    assert cli.parsed(values["singleuser"]["cmd"][1:]).handler.__name__ == "seat"
    assert '"workbook", "course", "seat"' in config
    assert f'"{values["singleuser"]["defaultUrl"]}"' in config
    assert f'"{values["hub"]["config"]["Spawner"]["notebook_dir"]}"' in config
    assert values["hub"]["config"]["Authenticator"]["allowed_users"] == seat_names(3)
