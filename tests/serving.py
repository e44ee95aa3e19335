"""A real Jupyter server on loopback, with nothing of this machine's own settings in it."""

import json
import os
import secrets
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 90
"""Seconds until a server that does not answer is given up; no test measures anything by it."""


def environment(home):
    """The environment of a server that reads and writes settings below one folder only."""
    own = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        "MPLCONFIGDIR": home / "matplotlib",
        "PYTHONPATH": ROOT,
    }
    return os.environ | {name: str(path) for name, path in own.items()}


@contextmanager
def serving(module, folder, home, *options):
    """Serve a folder for as long as the block runs.

    Yields the server's `url`, `token` and `log` (a file).
    """
    log, token = home / "server.log", secrets.token_hex(16)
    command = [sys.executable, "-m", module, "--no-browser", f"--ServerApp.root_dir={folder}"]
    command += ["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", *options]
    command += [f"--IdentityProvider.token={token}"]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        command.append("--allow-root")
    with log.open("w") as written:
        process = subprocess.Popen(
            command, env=environment(home), cwd=folder, stdout=written, stderr=subprocess.STDOUT
        )
    try:
        url = _wait_for(process, home / "runtime" / f"jpserver-{process.pid}.json", token, log)
        yield SimpleNamespace(url=url, token=token, log=log)
    finally:
        process.terminate()
        process.wait()


def _wait_for(process, about, token, log):
    """The address of the server, as soon as it answers."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        try:
            url = json.loads(about.read_text())["url"]
            ask(url, "api/status", token)
        except (OSError, ValueError):
            time.sleep(0.1)
        else:
            return url
    raise RuntimeError(f"the server does not answer:\n{log.read_text()}")


def ask(url, path, token, method="GET"):
    """What the server's REST interface answers."""
    headers = {"Authorization": f"token {token}"}
    request = urllib.request.Request(url + path, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return json.loads(answer.read() or "null")
