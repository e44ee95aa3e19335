"""A hub on loopback for as long as a block runs, with everything it remembers in one folder."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import requests

ROOT = Path(__file__).parents[2]
PROXY = ROOT / "deploy" / "hub" / "node_modules" / ".bin" / "configurable-http-proxy"
PATIENCE = 60
"""Seconds in which the sign-in page must be there."""


def free_port():
    """Find a port that is free, and the next two as well."""
    for port in range(18000 + os.getpid() % 1000 * 8, 60000, 8):
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            for each in range(port, port + 3):
                held.enter_context(socket.socket()).bind(("127.0.0.1", each))
            return port
    raise RuntimeError("no three free ports in a row on loopback")


@contextlib.contextmanager
def running(state, command=None, folder=ROOT, **told):
    """Run a hub until the block ends; its learners' servers end with it.

    Parameters
    ----------
    state : pathlib.Path
        Holds the hub's memory and, with the dummy sign-in, learners' homes.
    command : list of str, optional
        What starts it; Python itself by default. It is told the port by ``HUB_PORT``.
    folder : pathlib.Path
        Where it is started.
    **told : str
        Settings, such as ``HUB_SIGN_IN="dummy"``.

    Yields
    ------
    SimpleNamespace
        Its `url`, the file of its `log`, its `process`, and the `seconds` to the sign-in page.
    """
    port, log = free_port(), state.parent / f"{state.name}.log"
    command = command or [
        sys.executable,
        "-m",
        "jupyterhub",
        "-f",
        "deploy/hub/jupyterhub_config.py",
    ]
    # The attnlib that stands there, whichever is installed.
    own = {"HUB_PORT": str(port), "HUB_STATE": str(state), "PYTHONPATH": str(folder)}
    environment = {**os.environ, **own, **told}
    began = time.monotonic()
    with log.open("w") as written:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(process, url, log)
        seconds = time.monotonic() - began
        yield SimpleNamespace(url=url, log=log, process=process, seconds=seconds)
    finally:
        _end(process)


def _wait(process, url, log):
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(requests.ConnectionError):
            page = requests.get(f"{url}/hub/login", timeout=PATIENCE)
            if page.status_code == 200 and "password_input" in page.text:
                return
        time.sleep(0.1)
    raise RuntimeError(f"no sign-in page within {PATIENCE} s:\n{log.read_text()[-3000:]}")


def _end(process):
    """End a hub, which ends its learners' servers first; what hangs is killed."""
    if process.poll() is None:
        # As Ctrl-C does: to all of the session, so that `make` in front of the hub ends too.
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(40)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
