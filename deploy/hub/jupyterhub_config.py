"""A hub for one class on one server: `make hub`. What each setting is for stands in README.md."""

import getpass
import os
import sys
from pathlib import Path

import jupyterhub

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import rules  # noqa: E402

c = get_config()  # noqa: F821

try:
    told = rules.Settings.told()
    told.refuse_what_is_unsafe(allow_root=os.environ.get("HUB_ALLOW_ROOT") == "1")
    if told.sign_in == "pam" and os.geteuid() == 0:
        python = Path(sys.executable)
        rules.refuse_what_learners_cant_reach(
            *(python.parent, python, jupyterhub.__file__, rules.__file__, told.notebooks)
        )
    rules.refuse_without_proxy()
    rules.refuse_taken_ports(told.ip, told.port)
except rules.RefusalError as refusal:
    sys.exit(f"The hub does not start. {refusal}")

told.state.mkdir(mode=0o700, parents=True, exist_ok=True)
told.state.chmod(0o700)

# Where it listens. Only the first is for browsers; the proxy's secret is new at each start.
c.JupyterHub.ip, c.JupyterHub.port = told.ip, told.port
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{told.port + 1}"
c.JupyterHub.hub_ip, c.JupyterHub.hub_port = "127.0.0.1", told.port + 2
c.ConfigurableHTTPProxy.command = [str(rules.PROXY)]
c.ConfigurableHTTPProxy.pid_file = str(told.state / "proxy.pid")
c.JupyterHub.ssl_cert, c.JupyterHub.ssl_key = told.certificate, told.key
c.JupyterHub.db_url = f"sqlite:///{told.state / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(told.state / "cookie_secret")

# Who may sign in.
if told.sign_in == "pam":
    c.JupyterHub.authenticator_class = "pam"
    c.JupyterHub.spawner_class = "localprocess"
    c.Authenticator.blocked_users = {"root"}
    if os.geteuid() != 0:
        print(f"Not started as root, so only {getpass.getuser()} can sign in.", file=sys.stderr)
        c.Authenticator.allowed_users = {getpass.getuser()}
    elif told.group:
        c.PAMAuthenticator.allowed_groups = {told.group}
    else:
        c.Authenticator.allow_all = True
else:
    print(rules.DUMMY_WARNING, file=sys.stderr)
    c.JupyterHub.authenticator_class = "dummy"
    c.JupyterHub.spawner_class = "simple"
    # A name becomes a folder's name. The hub only looks whether a name begins as the pattern says.
    c.Authenticator.username_pattern = r"[a-z0-9][a-z0-9_-]{0,31}\Z"
    c.SimpleLocalProcessSpawner.home_dir_template = str(told.state / "homes" / "{username}")
    c.Spawner.args = ["--allow-root"] if os.geteuid() == 0 else []
announced = {"announcement_home": rules.AFRESH}
if told.sign_in == "dummy":
    announced["announcement_login"] = rules.DUMMY_WARNING
c.JupyterHub.template_vars = announced

# What a learner gets.
c.Spawner.cmd = [sys.executable, str(HERE / "learner.py")]
c.Spawner.environment = {"HUB_NOTEBOOKS": str(told.notebooks)}
c.Spawner.notebook_dir = "~/attnlib"
c.Spawner.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
# A kernel in which chapter 2 has run has 290 MB of data mapped, of which it uses a third.
c.Spawner.mem_limit = "1G"
c.Spawner.cpu_limit = 1
# Thirty servers that start in the same minute share two processors.
c.Spawner.start_timeout = c.Spawner.http_timeout = 180
# Seconds until the hub sees that a server has died, and starts it anew at the learner's next visit.
c.Spawner.poll_interval = 5

# A server that nobody has used for an hour ends; the learner's next visit starts it anew.
CULLING = ("--timeout=3600", "--cull-every=600")
c.JupyterHub.load_roles = [
    {
        "name": "idle-culler",
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
        "services": ["idle-culler"],
    }
]
c.JupyterHub.services = [
    {
        "name": "idle-culler",
        "command": [sys.executable, "-m", "jupyterhub_idle_culler", *CULLING],
    }
]
