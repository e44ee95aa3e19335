"""JupyterLab on loopback, in directories of its own, with the prompt wire or without."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

TOKEN = "benchmark"
ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def lab(folder, prompt):
    """Run a server until the block ends, and give the start of its addresses.

    Parameters
    ----------
    folder : pathlib.Path
        Holds the notebooks; settings and runtime files go beside them.
    prompt : bool
        Whether `attnlib.server` is loaded.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    place = Path(tempfile.mkdtemp(prefix=".jupyter-", dir=folder))
    kinds = ("CONFIG", "DATA", "RUNTIME")
    own = {f"JUPYTER_{kind}_DIR": str(place / kind.lower()) for kind in kinds}
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    _write(
        place / "config" / "jupyter_server_config.json",
        {"ServerApp": {"jpserver_extensions": {"attnlib.server": prompt}}},
    )
    user = place / "settings" / "@jupyterlab" / "apputils-extension"
    _write(user / "notification.jupyterlab-settings", {"fetchNews": "false"})
    log = place / "server.log"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1"),
            *(f"--port={port}", f"--ServerApp.root_dir={folder}", "--allow-root"),
            *(f"--IdentityProvider.token={TOKEN}", "--ServerApp.open_browser=False"),
            # So that a page can be told to clear a cell.
            "--LabApp.expose_app_in_browser=True",
            f"--LabApp.workspaces_dir={place / 'workspaces'}",
            f"--LabApp.user_settings_dir={place / 'settings'}",
        ],
        env={**os.environ, **own, "PYTHONPATH": path, "JUPYTER_PREFER_ENV_PATH": "0"},
        stdout=subprocess.DEVNULL,
        stderr=log.open("w"),
    )
    try:
        yield _wait(process, f"http://127.0.0.1:{port}", log)
    finally:
        process.terminate()
        process.wait(20)


def _write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content))


def _wait(process, address, log):
    for _ in range(240):
        if process.poll() is not None:
            break
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5)
            return address
        time.sleep(0.25)
    raise RuntimeError(f"JupyterLab did not start: {log.read_text()[-2000:]}")
