"""A learner at a hub, as a browser is one: cookies, pages, a server, a kernel's websocket."""

import json
import time
import uuid
from urllib.parse import urlsplit

import requests
import websocket
from jupyter_server.services.kernels.connection.base import (
    deserialize_msg_from_ws_v1,
    serialize_msg_to_ws_v1,
)

PROTOCOL = "v1.kernel.websocket.jupyter.org"
PATIENCE = 180
"""Seconds after which a hub, a server or a kernel that does not answer is given up."""


class Visitor:
    """One learner's browser.

    Parameters
    ----------
    hub : str
        The hub's address, such as ``"http://127.0.0.1:8898"``.
    name : str
        Who signs in.
    """

    def __init__(self, hub, name):
        self.hub, self.name = hub, name
        self.session = requests.Session()
        # Nothing but loopback: a machine's own proxy settings have no say in it.
        self.session.trust_env = False
        self.sockets = []

    def close(self):
        """Close the browser; the server and its kernels go on."""
        for socket in self.sockets:
            socket.close()
        self.session.close()

    def sign_in(self, password):
        """Fill in the sign-in form; return whether it let the learner in."""
        page = self.session.get(f"{self.hub}/hub/login", timeout=PATIENCE)
        page.raise_for_status()
        form = {"username": self.name, "password": password, "_xsrf": self._token("/hub/")}
        answer = self.session.post(
            f"{self.hub}/hub/login", data=form, timeout=PATIENCE, allow_redirects=False
        )
        return answer.status_code == 302

    def start_server(self):
        """Ask for the own server, and wait until its first page is there.

        Returns
        -------
        requests.Response
            JupyterLab's page, after all redirections.
        """
        page = self.session.get(f"{self.hub}/hub/spawn", timeout=PATIENCE)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if page.ok and urlsplit(page.url).path.startswith(f"/user/{self.name}/"):
                return page
            time.sleep(0.2)
            # A server that died is still taken for running for a few seconds: then ask once more.
            again = page.url if page.ok else f"{self.hub}/hub/spawn"
            page = self.session.get(again, timeout=PATIENCE)
        raise TimeoutError(f"{self.name}: no server, but {page.status_code} at {page.url}")

    def ask(self, path, method="GET", owner=None, **options):
        """Send one request to a server's interface: the own one, or that of somebody else."""
        base = f"/user/{owner or self.name}/"
        return self.session.request(
            method,
            f"{self.hub}{base}{path}",
            headers={"X-XSRFToken": self._token(base) or self._token("/hub/") or ""},
            timeout=PATIENCE,
            **options,
        )

    def start_kernel(self, path="notebooks/02_scale_normalize_and_mix.ipynb"):
        """Open a session on a notebook, as JupyterLab does.

        Returns
        -------
        Kernel
            Connected.
        """
        answer = self.ask(
            "api/sessions",
            "POST",
            json={"path": path, "name": path, "type": "notebook", "kernel": {"name": "python3"}},
        )
        answer.raise_for_status()
        return Kernel(self, answer.json()["kernel"]["id"])

    def cookie_header(self, path):
        """What this browser would send along to a path."""
        request = requests.Request("GET", f"{self.hub}{path}")
        return self.session.prepare_request(request).headers.get("Cookie", "")

    def _token(self, path):
        matching = [each for each in self.session.cookies if each.name == "_xsrf"]
        return next((each.value for each in matching if each.path == path), None)


class Kernel:
    """A kernel, heard and told over the websocket of somebody's server.

    Parameters
    ----------
    visitor : Visitor
        Whose cookies are sent.
    kernel_id : str
        Which kernel.
    owner : str, optional
        Whose server; the visitor's own by default.

    Attributes
    ----------
    states : dict of str to dict
        What the kernel told of each widget, by comm; buffers stand under the names of their traits.
    """

    def __init__(self, visitor, kernel_id, owner=None):
        self.id, self.session, self.states = kernel_id, uuid.uuid4().hex, {}
        self.path = f"/user/{owner or visitor.name}/api/kernels/{kernel_id}/channels"
        self.socket = websocket.create_connection(
            f"ws{visitor.hub.removeprefix('http')}{self.path}?session_id={self.session}",
            header=[f"Cookie: {visitor.cookie_header(self.path)}"],
            origin=visitor.hub,
            subprotocols=[PROTOCOL],
            timeout=PATIENCE,
            http_no_proxy=["127.0.0.1"],
        )
        visitor.sockets.append(self.socket)

    def tell(self, kind, content, channel="shell"):
        """Send one message; return its id."""
        header = {
            "msg_id": uuid.uuid4().hex,
            "msg_type": kind,
            "session": self.session,
            "username": "",
            "version": "5.3",
            "date": "2020-01-01T00:00:00Z",
        }
        message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
        packed = serialize_msg_to_ws_v1(message, channel, lambda part: json.dumps(part).encode())
        self.socket.send_binary(packed)
        return header["msg_id"]

    def hear(self):
        """Wait for one message, and note what it says of widgets.

        Returns
        -------
        tuple
            Its type, the id of the message that it answers, its content and its buffers.
        """
        _, parts = deserialize_msg_from_ws_v1(self.socket.recv())
        header, parent, _, content = map(json.loads, parts[:4])
        buffers = list(map(bytes, parts[4:]))
        if header["msg_type"] in ("comm_open", "comm_msg"):
            self._note(content, buffers)
        return header["msg_type"], parent.get("msg_id"), content, buffers

    def _note(self, content, buffers):
        data = content["data"]
        if data.get("method", "update") not in ("update", "echo_update") or "state" not in data:
            return
        state = self.states.setdefault(content["comm_id"], {})
        state.update(data["state"])
        for path, bytes_ in zip(data.get("buffer_paths", ()), buffers, strict=True):
            state[path[0]] = bytes_

    def run(self, code):
        """Run code and wait until the kernel is idle again.

        Returns
        -------
        tuple of str and int
            What it printed, or its result as text; and the number of the cell.

        Raises
        ------
        RuntimeError
            The code raised something.
        """
        asked = self.tell("execute_request", {"code": code, "silent": False, "allow_stdin": False})
        said, count, idle, replied = [], None, False, False
        while not (idle and replied):
            kind, parent, content, _ = self.hear()
            if parent != asked:
                continue
            if kind == "stream":
                said.append(content["text"])
            elif kind == "execute_result":
                said.append(content["data"].get("text/plain", ""))
            elif kind == "error":
                raise RuntimeError("\n".join(content["traceback"]))
            elif kind == "execute_reply":
                replied, count = True, content.get("execution_count")
            elif kind == "status":
                idle = content["execution_state"] == "idle"
        return "".join(said), count
