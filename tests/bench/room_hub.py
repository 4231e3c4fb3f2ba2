"""A whole room under load: a real JupyterHub, its proxy, a server and a kernel for each learner.

    python tests/bench/room_hub.py [--seats 30] [--lesson 03]

All learners sign in over HTTPS at the same moment; each opens the lesson, runs its cells over the kernel protocol and
solves its exercises. Meanwhile five kernels and one server are killed. Nothing may be lost: in the end each learner's
progress says that each exercise is solved. The hub's configuration is fixtures/course/jupyterhub_config.py. It needs
npm.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import requests
import trustme
import websocket
from jupyter_client.manager import start_new_kernel

from workbook.base.files import FIXTURES
from workbook.lessons.exercises.editions import Edition, fill_in
from workbook.lessons.exercises.model import ExerciseState, lesson
from workbook.lessons.exercises.progress import PROGRESS, Progress

PORT = 18543
PASSWORD = "the password of a bench"


class Learner(threading.Thread):
    """One browser's worth of requests: signs in, opens the lesson, runs every cell, and begins again after a kill."""

    def __init__(self, folder, seat, victim, number):
        super().__init__(name=seat)
        self.base, self.seat, self.victim = f"https://127.0.0.1:{PORT}", seat, victim
        self.copy = folder / "homes" / seat / "provisioning-workbook"
        self.number, self.web = number, requests.Session()
        self.web.headers["connection"] = "close"  # the proxy ends an idle one, and a request may be on its way
        self.web.trust_env, self.web.verify = False, str(folder / "ca.pem")
        self.ready = self.done = self.recovered = 0.0
        self.kernel = self.error = None

    def run(self):
        try:
            self.began = time.monotonic()
            self.sign_in()
            self.open_lesson()
            self.ready = time.monotonic() - self.began
            self.work()
            self.done = time.monotonic() - self.began
        except Exception as error:  # noqa: BLE001  # told at the end
            self.error = error

    def sign_in(self):
        page = self.web.get(f"{self.base}/hub/login", timeout=120)
        form = {
            "username": self.seat,
            "password": PASSWORD,
            "_xsrf": re.search(r'name="_xsrf" value="([^"]+)"', page.text)[1],
        }
        assert self.web.post(f"{self.base}/hub/login", data=form, timeout=120).ok

    def wait_for_server(self):
        until = time.monotonic() + 600
        while time.monotonic() < until:
            answer = self.web.get(f"{self.base}/user/{self.seat}/lab", timeout=120)
            if answer.ok and answer.url.endswith(f"/user/{self.seat}/lab"):
                return
            time.sleep(1)
        raise TimeoutError(f"the server of {self.seat} was not ready in 600 s")

    def ask(self, method, path, body=None):
        [xsrf] = {
            cookie.value for cookie in self.web.cookies if cookie.name == "_xsrf" and cookie.path.startswith("/user/")
        }
        url = f"{self.base}/user/{self.seat}/api/{path}"
        answer = self.web.request(method, url, json=body, headers={"X-XSRFToken": xsrf}, timeout=120)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def open_lesson(self):
        self.wait_for_server()
        [name] = [path.name for path in (self.copy / "notebooks").glob(f"{self.number}_*.ipynb")]
        self.cells = self.ask("GET", f"contents/notebooks/{name}")["content"]
        about = {"name": name, "path": f"notebooks/{name}", "type": "notebook", "kernel": {"name": "python3"}}
        self.kernel = self.ask("POST", "sessions", about)["kernel"]["id"]
        self.connect()
        self.execute("1")

    def connect(self):
        cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.web.cookies)
        url = f"{self.base}/user/{self.seat}/api/kernels/{self.kernel}/channels".replace("https", "wss", 1)
        self.socket = websocket.create_connection(
            url, cookie=cookies, sslopt={"ca_certs": self.web.verify}, timeout=180
        )

    def execute(self, source):
        """Run a cell in the kernel, and return how it ended."""
        sent = uuid4().hex
        header = {
            "msg_id": sent,
            "msg_type": "execute_request",
            "username": self.seat,
            "session": "room",
            "version": "5.3",
        }
        content = {"code": source, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": False}
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
        self.socket.send(json.dumps(message))
        while True:
            told = self.socket.recv()
            if isinstance(told, bytes):  # a picture's buffers
                continue
            told = json.loads(told)
            if told["parent_header"].get("msg_id") == sent and told["msg_type"] == "execute_reply":
                return told["content"]["status"]

    def work(self):
        cells = [cell for cell in fill_in(self.cells, Edition.SOLVED)["cells"] if cell["cell_type"] == "code"]
        half = len(cells) // 2
        for at, cell in enumerate(cells):
            if at == half and self.victim:
                self.be_killed()
                assert [self.execute(earlier["source"]) for earlier in cells[:half]] == ["ok"] * half
            ended = self.execute(cell["source"])
            assert ended == "ok", f"{cell['id']} ended with {ended}"

    def be_killed(self):
        """Lose the kernel or the whole server, and open the lesson again."""
        began = time.monotonic()
        if self.victim == "kernel":
            os.kill(self.pid(self.kernel), signal.SIGKILL)
            self.socket.close()
            time.sleep(5)  # the server looks for it every three seconds, and starts another
            self.connect()
        else:
            os.kill(self.pid("singleuser"), signal.SIGKILL)
            while not self.web.get(f"{self.base}/hub/spawn/{self.seat}", timeout=120).ok:
                time.sleep(1)  # until the hub has seen that it is gone
            self.open_lesson()
        self.execute("1")
        self.recovered = time.monotonic() - began

    def pid(self, word):
        """The process of this seat whose command line has the word."""
        for path in Path("/proc").glob("[0-9]*"):
            try:
                line, environment = (path / "cmdline").read_bytes(), (path / "environ").read_bytes()
            except OSError:
                continue
            if word.encode() in line and f"HOME={self.copy.parent}".encode() in environment:
                return int(path.name)
        raise ProcessLookupError(f"{self.seat} has no process {word}")


def memory(pid):
    """The PSS of a process, in MB: what it has alone, and its part of what it shares."""
    return int(re.search(r"^Pss: +(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)[1]) / 1024


def bare_kernels(count=5):
    """The PSS of one of so many kernels that have only added one and one, among its like as a room's kernels are."""
    started = [start_new_kernel(stderr=subprocess.DEVNULL) for _ in range(count)]
    try:
        for _, client in started:
            client.execute_interactive("1 + 1", output_hook=lambda _message: None)
        return statistics.median(memory(manager.provisioner.process.pid) for manager, _ in started)
    finally:
        for manager, client in started:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


@contextmanager
def running(folder):
    """The hub of the room; its log is in the folder."""
    subprocess.run(
        ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, "configurable-http-proxy"],
        check=True,
    )
    environment = {
        **os.environ,
        "PATH": f"{folder / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}",
        "ROOM_PASSWORD": PASSWORD,
        "ROOM_CERTIFICATE": str(folder / "certificate.pem"),
        "ROOM_KEY": str(folder / "key.pem"),
    }
    with (folder / "hub.log").open("w") as log:
        command = [sys.executable, "-m", "jupyterhub", "-f", "jupyterhub_config.py"]
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            until = time.monotonic() + 120
            while "is now running at" not in (folder / "hub.log").read_text():
                assert process.poll() is None, (folder / "hub.log").read_text()[-2000:]
                assert time.monotonic() < until, "the hub did not start within 120 s"
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            try:
                process.wait(120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)


def make_room(folder, seats):
    """Write the sample's configuration with so many seats and a port of this bench, and a certificate."""
    folder.mkdir()
    text = (FIXTURES / "course" / "jupyterhub_config.py").read_text()
    assert "range(1, 31)" in text
    text = text.replace("range(1, 31)", f"range(1, {seats + 1})")
    (folder / "jupyterhub_config.py").write_text(f'{text}c.JupyterHub.bind_url = "https://127.0.0.1:{PORT}/"\n')
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
    return [f"seat-{number:02}" for number in range(1, seats + 1)]


def report(well, bare, number):
    """What was measured, and what of it is too much."""
    ready = sorted(each.ready for each in well)
    kernel, server = (statistics.median(each.memory[what] for each in well) for what in ("kernel", "server"))
    first, median, last = ready[0], statistics.median(ready), ready[-1]
    print(f"ready after the sign-in: first {first:.0f} s, median {median:.0f} s, last {last:.0f} s")
    print(f"lesson {number} solved by all: {max(each.done for each in well):.0f} s after the sign-in")
    for victim in ("kernel", "server"):
        times = [f"{each.recovered:.0f} s" for each in well if each.victim == victim]
        print(f"from a killed {victim} to working on: {', '.join(times)}")
    print(f"PSS of a seat: server {server:.0f} MB, kernel after lesson {number} {kernel:.0f} MB")
    print(f"PSS of a bare kernel among its like: {bare:.0f} MB; ratio {kernel / bare:.2f}")
    if last > 120:
        yield "the last was ready after more than 120 s"
    if kernel > 1.5 * bare and len(well) >= 20:  # in a small room, fewer share what they have in common
        yield "a kernel takes more than 1.5 times a bare one"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seats", type=int, default=30)
    parser.add_argument("--lesson", default="03")
    parser.add_argument("--kills", type=int, default=5, help="kernels; and one server")
    options = parser.parse_args()
    parent = Path(tempfile.mkdtemp(prefix="room-"))
    folder, failed = parent / "room", []
    victims = ["server", *["kernel"] * options.kills, *[""] * options.seats]
    try:
        names = make_room(folder, options.seats)
        with running(folder):
            print(
                f"{options.seats} learners, {os.cpu_count()} processors, load average before: {os.getloadavg()[0]:.1f}"
            )
            learners = [Learner(folder, *each, options.lesson) for each in zip(names, victims, strict=False)]
            for learner in learners:
                learner.start()
            for learner in learners:
                learner.join(1200)
            failed += [f"{each.seat}: {each.error!r}" for each in learners if not each.done]
            well = [each for each in learners if each.done]
            for each in well:
                each.memory = {"kernel": memory(each.pid(each.kernel)), "server": memory(each.pid("singleuser"))}
        failed += report(well, bare_kernels(), options.lesson) if well else []
        failed += [f"{each.seat} lost {lost}" for each in well if (lost := unsolved(each.copy, options.lesson))]
        if failed:
            print((folder / "hub.log").read_text()[-3000:])
    finally:
        shutil.rmtree(parent)
    print("\n".join(failed) or "nothing was lost")
    return 1 if failed else 0


def unsolved(copy, number):
    """The lesson's exercises that a copy's progress does not call solved."""
    progress = Progress.read(copy / PROGRESS)
    assert progress.seat == copy.parent.name
    return [name for name in lesson(number) if progress.state(name) is not ExerciseState.DONE]


if __name__ == "__main__":
    sys.exit(main())
