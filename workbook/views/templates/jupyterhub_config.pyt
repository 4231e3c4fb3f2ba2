# A room of {{ room.seats | length }} seats. Start it: jupyterhub -f with the path of this file.
# `workbook course hub` makes this file anew; settings of your own go into local_config.py beside it.
import json
import os
import shlex
from pathlib import Path

from workbook.tools.course.hub import check_address, proxy_program, read_room, turns
from workbook.errors import ConfigurationError

c = get_config()
here = Path(__file__).resolve().parent
private = here / "private"  # pass phrases, keys, the simulated API's data and JupyterHub's own files
room = read_room(here)
keys = json.loads((private / "keys.json").read_text("utf-8"))
python = {{ python }}

# Everything that leaves this machine is encrypted: the pass phrase crosses the room's Wi-Fi.
c.JupyterHub.bind_url = {{ "https://" ~ room.address ~ ":" ~ room.port ~ "/" }}
c.JupyterHub.ssl_cert = str(private / "certificate.pem")
c.JupyterHub.ssl_key = c.JupyterHub.ssl_cert
program = proxy_program(here)
if program is None:
    raise SystemExit(f"The proxy is missing. Install it: npm install --prefix {here} configurable-http-proxy")
if not (private / "proxy.pid").exists():  # JupyterHub ends a proxy that a killed hub has left
    try:
        check_address(room)
    except ConfigurationError as error:
        raise SystemExit(str(error)) from None
c.ConfigurableHTTPProxy.command = [program]
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{{ room.port + 1 }}"
c.ConfigurableHTTPProxy.log_level = "warn"
c.ConfigurableHTTPProxy.pid_file = str(private / "proxy.pid")
c.JupyterHub.hub_bind_url = "http://127.0.0.1:{{ room.port + 2 }}"
c.JupyterHub.db_url = f"sqlite:///{private}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(private / "cookie-secret")

# Who comes in: a seat with the room's pass phrase; the trainer, who may stop and start servers, with a password.
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = (private / "pass-phrase").read_text("utf-8").strip()
c.SharedPasswordAuthenticator.admin_password = (private / "trainer-password").read_text("utf-8").strip()
c.Authenticator.allowed_users = set(room.seats)
c.Authenticator.admin_users = {"trainer"}
told = "Username: the name of your seat. Password: the pass phrase of the room."
c.JupyterHub.template_vars = {"announcement_login": told}

# What a seat gets: its own copy of the lessons, JupyterLab on the first one, and a key to the simulated API.
c.Spawner.cmd = [python, "-m", "workbook", "course", "seat", "--lessons", str(here / "lessons")]
c.Spawner.notebook_dir = "~/provisioning-workbook"
c.Spawner.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
c.Spawner.environment = {
    "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}",
    "WORKBOOK_BASE_URL": "http://127.0.0.1:{{ room.port + 3 }}",
    "WORKBOOK_SEAT": lambda spawner: spawner.user.name,  # in the progress, and so on the board
    "WORKBOOK_API_KEY": lambda spawner: keys[spawner.user.name],
}
# In a room all arrive at once. A start takes some seconds of a processor, so they follow each other.
c.Spawner.pre_spawn_hook = turns(seconds={{ seconds_apart }})
c.Spawner.start_timeout = 600  # seconds, which the last of many may wait for
c.Spawner.http_timeout = 180
c.Spawner.poll_interval = 10  # seconds until a server that was killed can be started again
c.JupyterHub.concurrent_spawn_limit = len(room.seats) + 1
{% if spawner == "systemd" %}
# Each seat runs in its own account, in a unit of systemd that limits memory and processors.
c.JupyterHub.spawner_class = "systemdspawner.SystemdSpawner"
c.SystemdSpawner.mem_limit = "1G"
c.SystemdSpawner.cpu_limit = 1.0
c.SystemdSpawner.isolate_tmp = True
c.SystemdSpawner.disable_user_sudo = True
{% elif spawner == "accounts" %}
# Each seat runs in its own account. NOTHING LIMITS its memory and processors: that needs systemd and
# pip install jupyterhub-systemdspawner; then make this file anew.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
{% else %}
# Made without root: ALL SEATS RUN IN ONE ACCOUNT AND CAN READ EACH OTHER, and this folder with its pass phrases.
# Nothing limits their memory and processors.
c.JupyterHub.spawner_class = "jupyterhub.spawner.SimpleLocalProcessSpawner"
c.SimpleLocalProcessSpawner.home_dir_template = str(here / "homes" / "{username}")
{% endif %}

serve = [python, "-m", "workbook", "serve", "--quiet", "--port={{ room.port + 3 }}", f"--state={private}/worlds.db"]
board = [python, "-m", "workbook", "course", "board", f"--folder={here}/homes", f"--history={private}/board.sqlite"]
c.JupyterHub.services = [
    # a server that nobody has used for an hour is stopped; its files stay
    {"name": "idle-culler", "command": [python, "-m", "jupyterhub_idle_culler", "--timeout=3600"]},
    # the simulated API: each seat's key opens a world of its own; what it prints has the keys
    {"name": "simulated-api", "command": ["sh", "-c", f"exec {shlex.join(serve)} > /dev/null"]},
    # the trainer's board, which reads each seat's progress; what it prints has the trainer's token
    {
        "name": "board",
        "url": "http://127.0.0.1:{{ room.port + 4 }}",
        "command": ["sh", "-c", f"exec {shlex.join(board)} > /dev/null"],
        "environment": {"WORKBOOK_BOARD_TRAINER_TOKEN": (private / "board-token").read_text("utf-8").strip()},
    },
]
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    },
]

if (here / "local_config.py").is_file():
    load_subconfig("local_config.py", path=str(here))
